# SPDX-License-Identifier: BSD-3-Clause
"""How the time of forward_project grows with N, for N views of N^2 pixels of N^3 voxels.

    scaling.py <iso_bench_forward_project> [--backend serial] [--repeats 3] [--json growth.json]

Runs the rows forward_project_growth of the benchmark (four sizes), takes the least time of each
size over the repeats, since whatever disturbs a run makes it slower, and fits log time against log
N by least squares. The work is N^4 samples: the slope must be 4.0 +- 0.15, or the exit status is 1.
Rounds of all sizes follow one another, so that a disturbance of some seconds meets every size.
Times are of the wall clock, for serial of the processor: so that it can be had on a busy machine.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

_EXPECTED = 4.0
_TOLERANCE = 0.15
_FAMILY = "forward_project_growth/joseph_linear/ordered/float"


def run_once(program, backend):
    """Milliseconds of a call by N, and what they were measured on."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "rows.json"
        subprocess.run(
            [
                program,
                f"--benchmark_filter=^{_FAMILY}/{backend}/",
                f"--benchmark_out={out}",
                "--benchmark_out_format=json",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        result = json.loads(out.read_text(encoding="utf-8"))
    rows = {}
    for row in result["benchmarks"]:
        if row.get("error_occurred"):
            raise SystemExit(f"{row['name']}: {row['error_message']}")
        size = int(row["name"].removeprefix(f"{_FAMILY}/{backend}/").split("/")[0])
        rows[size] = row["cpu_time" if backend == "serial" else "real_time"]
    if len(rows) < 4:
        raise SystemExit(f"{program} has {len(rows)} rows {_FAMILY}/{backend} (four are needed)")
    return rows, result["context"]


def slope_of(times):
    """Of log time over log N, by least squares."""
    x = [math.log(n) for n in times]
    y = [math.log(t) for t in times.values()]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y))
    return above / sum((a - x_mean) ** 2 for a in x)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="iso_bench_forward_project")
    parser.add_argument("--backend", default="serial", help="serial, openmp or cuda")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, help="file to write the figures to")
    return parser.parse_args()


def main():
    given = arguments()
    times, context = {}, {}
    for _ in range(given.repeats):
        rows, context = run_once(given.program, given.backend)
        for size, milliseconds in rows.items():
            times[size] = min(milliseconds, times.get(size, math.inf))
    times = dict(sorted(times.items()))
    slope = slope_of(times)
    good = abs(slope - _EXPECTED) <= _TOLERANCE
    for size, milliseconds in times.items():
        per_sample = 1e6 * milliseconds / size**4
        print(f"N = {size:5d}  {milliseconds:12.4f} ms  {per_sample:.5f} ns over N^4")
    print(f"slope {slope:.3f} (must be {_EXPECTED} +- {_TOLERANCE}): {'good' if good else 'BAD'}")
    if given.json:
        result = {
            "work": "forward_project, N views of N^2 pixels of N^3 voxels",
            "clock": "processor" if given.backend == "serial" else "wall",
            "backend": given.backend,
            "milliseconds": {str(n): t for n, t in times.items()},
            "slope": slope,
            "expected": _EXPECTED,
            "tolerance": _TOLERANCE,
            "context": context,
        }
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
