# SPDX-License-Identifier: BSD-3-Clause
"""How the time of forward_project grows with N, for N views of N^2 pixels of N^3 voxels.

    scaling.py <iso_bench_forward_project or its JSON> [--backend serial] [--repeats 3]
        [--json growth.json]

Runs the rows forward_project_growth of the benchmark (four sizes), takes the least time of each
size over the repeats, since whatever disturbs a run makes it slower, and fits log time against log
N by least squares. The work is N^4 samples: the slope must be 4.0 +- 0.15, or the exit status is 1.
Rounds of all sizes follow one another, so that a disturbance of some seconds meets every size.
Times are of the wall clock, for serial of the processor: so that it can be had on a busy machine.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from growth_fit import arguments, keep_least, rows_of, slope_of, write  # noqa: E402

_EXPECTED = 4.0
_TOLERANCE = 0.15
_FAMILY = "forward_project_growth/joseph_linear/ordered/float"


def run_once(program, backend):
    """Milliseconds of a call by N, and what they were measured on."""
    family = f"{_FAMILY}/{backend}/"
    result = rows_of(program, f"^{family}")
    rows = {}
    for row in result["benchmarks"]:
        size = int(row["name"].removeprefix(family).split("/")[0])
        keep_least(rows, size, row["cpu_time" if backend == "serial" else "real_time"])
    if len(rows) < 4:
        raise SystemExit(f"{program} has {len(rows)} rows {family} (four are needed)")
    return rows, result["context"]


def main():
    given = arguments(__doc__, "iso_bench_forward_project", "serial")
    times, context = {}, {}
    for _ in range(given.repeats):
        rows, context = run_once(given.program, given.backend)
        for size, milliseconds in rows.items():
            keep_least(times, size, milliseconds)
    times = dict(sorted(times.items()))
    slope = slope_of(times)
    good = abs(slope - _EXPECTED) <= _TOLERANCE
    for size, milliseconds in times.items():
        per_sample = 1e6 * milliseconds / size**4
        print(f"N = {size:5d}  {milliseconds:12.4f} ms  {per_sample:.5f} ns over N^4")
    print(f"slope {slope:.3f} (must be {_EXPECTED} +- {_TOLERANCE}): {'good' if good else 'BAD'}")
    write(given.json, {
        "work": "forward_project, N views of N^2 pixels of N^3 voxels",
        "clock": "processor" if given.backend == "serial" else "wall",
        "backend": given.backend,
        "milliseconds": {str(n): t for n, t in times.items()},
        "slope": slope,
        "expected": _EXPECTED,
        "tolerance": _TOLERANCE,
        "context": context,
    })
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
