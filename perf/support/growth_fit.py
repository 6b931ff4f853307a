# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share that fit how a benchmark's time grows."""
import argparse
import json
import math
import pathlib
import re

from bench_rows import document_of


def rows_of(program, pattern):
    """The document of a benchmark's rows whose names match: run, or read where it is JSON."""
    result = document_of(program, pattern)
    rows = [row for row in result["benchmarks"] if re.search(pattern, row["name"])]
    result["benchmarks"] = rows
    for row in rows:
        if row.get("error_occurred"):
            raise SystemExit(f"{row['name']}: {row['error_message']}")
    return result


def keep_least(times, size, milliseconds):
    """Whatever disturbs a run makes it slower."""
    times[size] = min(milliseconds, times.get(size, math.inf))


def slope_of(times):
    """Of log time over log size, by least squares."""
    x = [math.log(n) for n in times]
    y = [math.log(t) for t in times.values()]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
    return above / sum((a - x_mean) ** 2 for a in x)


def arguments(description, program, backend):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help=f"{program}, or JSON of it")
    parser.add_argument("--backend", default=backend, help="serial, openmp or cuda")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="file to write the figures to")
    given = parser.parse_args()
    if given.program.suffix == ".json":
        given.repeats = 1
    return given


def write(path, result):
    if path:
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
