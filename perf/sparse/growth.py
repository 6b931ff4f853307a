#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a product grows with the number of non-zeros.

    growth.py <iso_bench_spmv or its JSON> [--backend cuda] [--repeats 3] [--json growth.json]

Runs the rows growth/ of the benchmark (four sizes, rows lengthened by numbers alone: a liver-like
matrix with more rows), or reads them, and fits log time against log non-zeros by least squares. The
slope must be 1.00 +- 0.03 for ordered and reproducible sums, or the exit status is 1.

Of each size the least of the repeats counts, since whatever disturbs a run makes it slower; rounds
of all sizes follow one another, so that a disturbance of some seconds meets every size.
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import document_of, parser_of, slope_of, write_json  # noqa: E402

TOLERANCE = 0.03


def main():
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path, help="iso_bench_spmv, or JSON of it")
    parser.add_argument("--backend", default="cuda", help="serial, openmp or cuda")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="file to write the figures to")
    given = parser.parse_args()
    times, document = {}, {}
    for _ in range(1 if given.program.suffix == ".json" else given.repeats):
        document = document_of(given.program, f"^growth/.*/{given.backend}/")
        for row in document["benchmarks"]:
            by_size = times.setdefault(row["name"].split("/")[4], {})
            least = by_size.get(row["nonzeros"], math.inf)
            by_size[row["nonzeros"]] = min(1e-6 * row["flops"] / row["gflops"], least)
    if not times or any(len(by_size) < 4 for by_size in times.values()):
        raise SystemExit(f"{given.program}: fewer than four rows growth/ of {given.backend} "
                         "(a slope wants four); measure them all")
    slopes = {}
    for summation, by_size in times.items():
        times[summation] = by_size = dict(sorted(by_size.items()))
        slopes[summation] = slope_of(by_size.keys(), by_size.values())
        for size, milliseconds in by_size.items():
            print(f"{summation:14s} {size:14.0f} {milliseconds:12.4f} ms "
                  f"{1e6 * milliseconds / size:10.3g} ns a non-zero")
        print(f"{summation}: slope {slopes[summation]:.3f} (must be 1 +- {TOLERANCE})")
    good = all(abs(slope - 1) <= TOLERANCE for slope in slopes.values())
    print("good" if good else "BAD")
    write_json(given.json, {
        "backend": given.backend, "milliseconds": times, "slopes": slopes, "tolerance": TOLERANCE,
        "good": good, "context": document["context"]})
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
