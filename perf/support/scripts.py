# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share: runs of programs, rows of benchmarks, tables, ends of papers."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from python_modules import need  # noqa: E402, F401


def surroundings(environment):
    """Threads that wait do not count as work; that they are not bound is said, so that Kokkos does
    not warn."""
    return {"OMP_WAIT_POLICY": "passive", "OMP_PROC_BIND": "false"} | os.environ | environment


def output_of(command, **environment):
    """What a program prints."""
    environment = surroundings(environment)
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    except OSError as failure:
        raise SystemExit(f"{command[0]}: {failure.strerror}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise SystemExit(f"{' '.join(map(str, command))}: ended with status {done.returncode}: "
                         + "\n".join(said))
    return done.stdout


def command_of(program, settings):
    command = [str(program)]
    for name, value in settings.items():
        if isinstance(value, (tuple, list)):
            value = ",".join(f"{x:.9g}" for x in value)
        command.append(f"--{name.replace('_', '-')}={value}")
    return command


def run(program, settings, **environment):
    """What a program is asked for, without files, and the JSON that it prints."""
    return asked(settings) | json.loads(output_of(command_of(program, settings), **environment))


def asked(settings):
    return {name: x for name, x in settings.items() if not isinstance(x, pathlib.Path)}


class Session:
    """A program that stays, and answers one command line after the other (run_lines of
    support/program.hpp)."""

    def __init__(self, program, **environment):
        self._name = str(program)
        try:
            self._process = subprocess.Popen(
                [self._name, "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=surroundings(environment))
        except OSError as failure:
            raise SystemExit(f"{program}: {failure.strerror}") from None

    def run(self, settings):
        """As run() above."""
        said = ""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(shlex.join(command_of("", settings)[1:]) + "\n")
            self._process.stdin.flush()
            said = self._process.stdout.readline()
        if not said:  # It said why on the standard error.
            raise SystemExit(f"{self._name}: ended with status {self._process.wait()}")
        return asked(settings) | json.loads(said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def document_of(program, pattern=".*"):
    """What a benchmark writes of the rows whose names match, or those of a JSON file. Without
    aggregates; a row that is an error ends the script."""
    program = pathlib.Path(program)
    if program.suffix == ".json":
        document = read_json(program)
    else:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.json"
            output_of([program.resolve(), f"--benchmark_filter={pattern}",
                       f"--benchmark_out={out}", "--benchmark_out_format=json"])
            document = read_json(out)
    if not isinstance(document, dict) or "benchmarks" not in document:
        raise SystemExit(f"{program}: has no rows (Google Benchmark's JSON is expected); name a "
                         "benchmark or its file")
    rows = [row for row in document["benchmarks"]
            if re.search(pattern, row["name"]) and row.get("run_type") != "aggregate"]
    for row in rows:
        if row.get("error_occurred"):
            raise SystemExit(f"{row['name']}: {row['error_message']}")
    return document | {"benchmarks": rows}


def read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as failure:
        raise SystemExit(f"{path}: {failure.strerror}") from None
    except ValueError as failure:
        raise SystemExit(f"{path}: is no JSON ({failure}); write it again") from None


def write_json(path, what):
    """Where a path is given."""
    if path:
        pathlib.Path(path).write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def figure(x, digits=3):
    """Three digits, without an exponent above 1e-4."""
    if x is None:
        return "-"
    return f"{x:.0f}" if x >= 10 ** digits else f"{x:.{digits}g}"


def slope_of(sizes, times):
    """Of log time over log size, by least squares."""
    x, y = [[math.log(v) for v in values] for values in (sizes, times)]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
    return above / sum((a - x_mean) ** 2 for a in x)


def parser_of(document):
    """Of a script that repeats a paper's tables; `document` is the help."""
    parser = argparse.ArgumentParser(description=document,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--backend", default="serial")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    return parser


def status_of(script, shortfalls):
    """Prints what the paper finds and the run does not show; 1 where there is any."""
    for sentence in shortfalls:
        print(f"{script}: {sentence}", file=sys.stderr)
    return 1 if shortfalls else 0
