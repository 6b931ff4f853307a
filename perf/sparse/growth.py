#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How the time of a product grows with the number of non-zeros.

    growth.py <iso_bench_spmv or its JSON> [--backend cuda] [--repeats 3] [--json growth.json]

Runs the rows growth/ of the benchmark (four sizes, rows lengthened by numbers alone: a liver-like
matrix with more rows), or reads them, and fits log time against log non-zeros by least squares. The
slope must be 1.00 +- 0.03 for ordered and reproducible sums, or the exit status is 1.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import scripts  # noqa: E402


def time_of(row, _):
    return row["name"].split("/")[4], row["nonzeros"], 1e-6 * row["flops"] / row["gflops"]


if __name__ == "__main__":
    sys.exit(scripts.growth(__doc__, "iso_bench_spmv", "cuda", "growth", time_of, 1.0, 0.03))
