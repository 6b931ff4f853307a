# SPDX-License-Identifier: BSD-3-Clause
"""What scripts share: their words and options, tests of their own, files, tables and pictures."""
import argparse
import io
import json
import math
import os
import pathlib
import sys

from python_modules import need

TOP = pathlib.Path(__file__).resolve().parent.parent
ISO = TOP / "build/openmp/apps/iso/iso"
CHEST_CT = TOP / ".deps/data/chest_ct.nii.gz"


def _tested(self_test):
    """Ends a script after its own test, which fails by False or by an exception."""
    if self_test() is False:
        raise SystemExit(1)
    print("ok")
    raise SystemExit(0)


class _SelfTest(argparse.Action):
    """--self-test, which takes the place of all other arguments, as --help does."""

    def __call__(self, *_):
        _tested(self.const)


def parser_of(document, self_test=None):
    """Makes the parser of a script whose help is `document`."""
    parser = argparse.ArgumentParser(description=document,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if self_test:
        parser.add_argument("--self-test", action=_SelfTest, nargs=0, const=self_test)
    return parser


def words_of(document, self_test=None, least=1, most=math.inf):
    """The words that a script without a parser was given. --help and --self-test end it, and so
    does another number of words, or an option."""
    words = sys.argv[1:]
    if words in (["-h"], ["--help"]):
        print(document)
        raise SystemExit(0)
    if self_test and words == ["--self-test"]:
        _tested(self_test)
    if not least <= len(words) <= most or words[:1] and words[0].startswith("-"):
        print(document, file=sys.stderr)
        raise SystemExit(2)
    return words


def lint(document, self_test, faults_of):
    """Prints what `faults_of` (text, path) finds in the files that are named: (line, sentence).
    Exit status 1 where it finds any."""
    found = False
    for path in words_of(document, self_test, least=0):
        for line, sentence in faults_of(pathlib.Path(path).read_text(encoding="utf-8"), path):
            print(f"{path}:{line}: {sentence}")
            found = True
    return found


def read_json(path):
    """A document; ends the script where there is none."""
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as failure:
        raise SystemExit(f"{path}: {failure.strerror}") from None
    except ValueError as failure:
        raise SystemExit(f"{path}: is no JSON ({failure}); write it again") from None


def write_json(path, what):
    """Where a path is given."""
    if path:
        put(path, (json.dumps(what, indent=1) + "\n").encode())


def put(path, content):
    """Puts a file in place as a whole, or leaves what was there; a device is written to."""
    target = pathlib.Path(path).resolve()
    is_file = target.is_file() or not target.exists()
    temporary = target.with_name(f".{target.name}.{os.getpid()}") if is_file else target
    try:
        temporary.write_bytes(content)
        if is_file:
            temporary.replace(target)
    except OSError:
        if is_file:
            temporary.unlink(missing_ok=True)
        raise


def skip(why):
    """Ends the script with ctest's status of a test that was skipped."""
    print(f"not run: {why}", file=sys.stderr)
    raise SystemExit(77)


def fetched(path):
    """A file of the example data, which are no part of the source."""
    if not path.is_file():
        skip(f"what reads {path.name} ({path} is not there); run scripts/get_example_data.sh")
    return path


def status_of(script, shortfalls):
    """Prints what the paper finds and the run does not show; 1 where there is any."""
    for sentence in shortfalls:
        print(f"{script}: {sentence}", file=sys.stderr)
    return 1 if shortfalls else 0


def markdown(head, rows, rule="---"):
    """A table."""
    lines = [head, [rule] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def pyplot():
    """matplotlib's, for files alone."""
    need("matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plots

    return plots


def picture_of(figure, dpi=100, kind="png"):
    """The same bytes of the same figure, by whatever version of matplotlib."""
    content = io.BytesIO()
    always = {"metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}
    figure.savefig(content, format=kind, dpi=dpi, **(always if kind == "png" else {}))
    return content.getvalue()


def save(figure, path, dpi=100):
    put(path, picture_of(figure, dpi, pathlib.Path(path).suffix[1:] or "png"))


def is_png(path):
    return pathlib.Path(path).read_bytes().startswith(b"\x89PNG")
