#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a product grows with the number of non-zeros.

    growth.py <iso_bench_spmv or its JSON> [--backend cuda] [--repeats 3] [--json growth.json]

Runs the rows growth/ of the benchmark (four sizes, rows lengthened by numbers alone: a liver-like
matrix with more rows), or reads them, takes the least time of each size over the repeats, and fits
log time against log non-zeros by least squares. The slope must be 1.00 +- 0.03 for ordered and
order-free sums, or the exit status is 1.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

_EXPECTED = 1.0
_TOLERANCE = 0.03


def rows_of(program, backend):
    """The benchmark's rows growth/ of a backend, run or read."""
    if program.suffix == ".json":
        return json.loads(program.read_text(encoding="utf-8"))["benchmarks"]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        command = [
            program,
            f"--benchmark_filter=^growth/.*/{backend}/",
            f"--benchmark_out={out}",
            "--benchmark_out_format=json",
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(out.read_text(encoding="utf-8"))["benchmarks"]


def add_times(times, rows, backend):
    """Milliseconds by sum and number of non-zeros; the least of what was seen."""
    for row in rows:
        parts = row["name"].split("/")
        if parts[0] == "growth" and parts[5] == backend and "gflops" in row:
            milliseconds = 1e-6 * row["flops"] / row["gflops"]
            by_size = times.setdefault(parts[4], {})
            size = row["nonzeros"]
            by_size[size] = min(milliseconds, by_size.get(size, math.inf))


def slope_of(times):
    """Of log time over log non-zeros, by least squares."""
    x = [math.log(n) for n in times]
    y = [math.log(t) for t in times.values()]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
    return above / sum((a - x_mean) ** 2 for a in x)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help="iso_bench_spmv, or JSON of it")
    parser.add_argument("--backend", default="cuda", help="serial, openmp or cuda")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="file to write the figures to")
    return parser.parse_args()


def main():
    given = arguments()
    times = {}
    for _ in range(1 if given.program.suffix == ".json" else given.repeats):
        add_times(times, rows_of(given.program, given.backend), given.backend)
    if not times or any(len(by_size) < 4 for by_size in times.values()):
        raise SystemExit(f"{given.program}: four rows growth/ of {given.backend} are needed")
    slopes = {}
    for total, by_size in times.items():
        by_size = dict(sorted(by_size.items()))
        slopes[total] = slope_of(by_size)
        for size, milliseconds in by_size.items():
            print(f"{total:12s} {size:14.0f} {milliseconds:10.4f} ms "
                  f"{1e9 * milliseconds / size:8.4f} ps a non-zero")
    good = all(abs(slope - _EXPECTED) <= _TOLERANCE for slope in slopes.values())
    for total, slope in slopes.items():
        print(f"slope {slope:.3f} {total} (must be {_EXPECTED} +- {_TOLERANCE})")
    print("good" if good else "BAD")
    if given.json:
        result = {"backend": given.backend, "milliseconds": times, "slopes": slopes,
                  "expected": _EXPECTED, "tolerance": _TOLERANCE, "good": good}
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
