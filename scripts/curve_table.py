# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts that draw a table of curves have in common: dose_curves.py, dvh_plot.py,
gamma_plot.py."""
import csv
import pathlib
import sys
import tempfile

from python_modules import need


def rows_of(text, header, command, empty="it has no curves"):
    """Rows below the header, without lines of comment; raises ValueError."""
    rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    if next(rows, None) != header:
        raise ValueError(f"it was not written by `{command}`")
    rows = list(rows)
    if not rows:
        raise ValueError(empty)
    return rows


def pyplot():
    """matplotlib's, for files alone."""
    need("matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plots

    return plots


def works(read, draw, header, text):
    """Whether `text` becomes a picture, and what is no table of curves is refused."""
    for wrong in ("", "a,b\n1,2\n", ",".join(header) + "\n"):
        try:
            read(wrong)
            return False
        except ValueError:
            pass
    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder) / "c.png"
        draw(read(text), picture)
        return picture.read_bytes().startswith(b"\x89PNG")


def main(words, usage, read, draw, self_test, most=2):
    """SCRIPT CURVES.csv PICTURE.png, or SCRIPT --self-test, which returns whether all is well.
    Up to `most` words; draw() gets those after the curves."""
    if words in (["-h"], ["--help"]):
        print(usage)
        return 0
    if words == ["--self-test"]:
        return 0 if self_test() else 1
    if not 2 <= len(words) <= most or words[0].startswith("-"):
        print(usage)
        return 2
    try:
        curves = read(pathlib.Path(words[0]).read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError) as failure:
        print(f"'{words[0]}' cannot be read: {failure}", file=sys.stderr)
        return 2
    try:
        draw(curves, *words[1:])
    except (OSError, ValueError, KeyError) as failure:
        print(f"{' '.join(words[1:])}: {failure}", file=sys.stderr)
        return 2
    return 0
