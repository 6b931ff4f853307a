# SPDX-License-Identifier: BSD-3-Clause
"""How the time of forward_project grows with N, for N views of N^2 pixels of N^3 voxels.

    scaling.py <iso_bench_forward_project or its JSON> [--backend serial] [--repeats 3]
        [--json growth.json]

Runs the rows forward_project_growth of the benchmark (four sizes), or reads them, and fits log time
against log N by least squares. The work is N^4 samples: the slope must be 4.0 +- 0.15, or the exit
status is 1. Times are of the wall clock, for serial of the processor: so that it can be had on a
busy machine.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import scripts  # noqa: E402


def time_of(row, backend):
    size = int(row["name"].split("/")[5])
    return "views as voxels", size, row["cpu_time" if backend == "serial" else "real_time"]


if __name__ == "__main__":
    sys.exit(scripts.growth(__doc__, "iso_bench_forward_project", "serial",
                            "forward_project_growth", time_of, 4.0, 0.15))
