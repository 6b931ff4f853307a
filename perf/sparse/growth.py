#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a product grows with the number of non-zeros.

    growth.py <iso_bench_spmv or its JSON> [--backend cuda] [--repeats 3] [--json growth.json]

Runs the rows growth/ of the benchmark (four sizes, rows lengthened by numbers alone: a liver-like
matrix with more rows), or reads them, takes the least time of each size over the repeats, and fits
log time against log non-zeros by least squares. The slope must be 1.00 +- 0.03 for ordered and
reproducible sums, or the exit status is 1.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from growth_fit import arguments, keep_least, rows_of, slope_of, write  # noqa: E402

_EXPECTED = 1.0
_TOLERANCE = 0.03


def add_times(times, rows, backend):
    """Milliseconds by sum and number of non-zeros; the least of what was seen."""
    for row in rows:
        parts = row["name"].split("/")
        if parts[0] == "growth" and parts[5] == backend and "gflops" in row:
            milliseconds = 1e-6 * row["flops"] / row["gflops"]
            by_size = times.setdefault(parts[4], {})
            keep_least(by_size, row["nonzeros"], milliseconds)


def main():
    given = arguments(__doc__, "iso_bench_spmv", "cuda")
    times = {}
    for _ in range(given.repeats):
        rows = rows_of(given.program, f"^growth/.*/{given.backend}/")["benchmarks"]
        add_times(times, rows, given.backend)
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
    write(given.json, {"backend": given.backend, "milliseconds": times, "slopes": slopes,
                       "expected": _EXPECTED, "tolerance": _TOLERANCE, "good": good})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
