# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share: runs of programs, rows of benchmarks, tables, growth, ends of papers."""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def output_of(command):
    """What a program prints; its threads that wait do not count as work."""
    environment = {"OMP_WAIT_POLICY": "passive"} | os.environ
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    except OSError as failure:
        raise SystemExit(f"{command[0]}: {failure.strerror}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise SystemExit(f"{' '.join(map(str, command))}: ended with status {done.returncode}: "
                         + "\n".join(said))
    return done.stdout


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
        raise SystemExit(f"{program}: no rows of a benchmark")
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
        raise SystemExit(f"{path}: no JSON ({failure})") from None


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


def growth(description, program, backend, family, time_of, expected, tolerance):
    """The main of a script that fits how the time of a benchmark's rows grows. time_of(row,
    backend): (series, size, milliseconds). Of each size the least of the repeats counts, since
    whatever disturbs a run makes it slower; rounds of all sizes follow one another, so that a
    disturbance of some seconds meets every size. Returns 1 where a slope is not as expected."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help=f"{program}, or JSON of it")
    parser.add_argument("--backend", default=backend, help="serial, openmp or cuda")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="file to write the figures to")
    given = parser.parse_args()
    times, document = {}, {}
    for _ in range(1 if given.program.suffix == ".json" else given.repeats):
        document = document_of(given.program, f"^{family}/.*/{given.backend}/")
        for row in document["benchmarks"]:
            series, size, milliseconds = time_of(row, given.backend)
            by_size = times.setdefault(series, {})
            by_size[size] = min(milliseconds, by_size.get(size, math.inf))
    if not times or any(len(by_size) < 4 for by_size in times.values()):
        raise SystemExit(f"{given.program}: four rows {family}/ of {given.backend} are needed")
    slopes = {}
    for series, by_size in times.items():
        times[series] = by_size = dict(sorted(by_size.items()))
        slopes[series] = slope_of(by_size.keys(), by_size.values())
        for size, milliseconds in by_size.items():
            print(f"{series:14s} {size:14.0f} {milliseconds:12.4f} ms "
                  f"{1e6 * milliseconds / size ** expected:10.3g} ns over size^{expected:g}")
        print(f"{series}: slope {slopes[series]:.3f} (must be {expected} +- {tolerance})")
    good = all(abs(slope - expected) <= tolerance for slope in slopes.values())
    print("good" if good else "BAD")
    write_json(given.json, {
        "backend": given.backend, "milliseconds": times, "slopes": slopes, "expected": expected,
        "tolerance": tolerance, "good": good, "context": document["context"]})
    return 0 if good else 1


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
