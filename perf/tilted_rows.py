#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether each row that projects an upright scan has one of a tilted scan beside it, so that what a
tilt costs shows: status 1 and a sentence for each that has none. Detectors of calibrated scans are
never upright.

Rows are paired by their names, from which the words of a tilt and of a path are left out:
forward_project/joseph_linear/... has forward_project/joseph_linear_tilted/..., as has
joseph_linear_general. EXCEPTIONS has the names that stand alone, each with its reason; one that no
row has is reported too. What the page shows is checked by scripts/performance_page.py.

Usage: tilted_rows.py --benchmarks BUILD    rows of the benchmarks of perf/ct
       tilted_rows.py --iso PROGRAM         operations of iso sweep, and of examples/sweeps
       tilted_rows.py --self-test
"""
import fnmatch
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
from scripts import TOP, output_of, parser_of, read_json  # noqa: E402

TILTED = {"tilted", "roll", "pitch", "laminography", "along"}
# What a tilted row's name has no word for: pixels_as_voxels is the detector that `tilted` has, and
# a tilted scan takes the general path anyway.
LEFT_OUT = {"upright", "general", "pixels", "as", "voxels"}
EXCEPTIONS = {
    # benchmarks; those of CUDA are in builds for CUDA alone
    "fdk/hann/*": "the window is the filter's, which knows nothing of a tilt; ram_lak has the twin",
    "fdk_error/*": "an error and no time; test_fdk_tilt.cpp has errors of tilted detectors",
    "original/*": "kernels of a report that has upright scans alone",
    "strategy_*": "kernels of a report that has upright scans alone",
    "library_backprojection/*": "beside those kernels; fdk_tilted and scans/pitch have the tilt",
    "project_ellipsoids/*": "closed forms, whose kernel knows no axes",
    "rasterise_ellipsoids/*": "no projection",
    "scans/yaw/*": "itself a turn of the detector; pitch and roll are the others",
    "forward_project*/raw_twin/*/cuda/*": "the fast path by hand, which has upright scans alone",
    "forward_project*/reproducible_given_maximum/*/cuda/*": "the search that it saves is of voxels",
    # operations of sweeps
    "memory_*": "no projection",
    "fma": "no projection",
    "dose_*": "no projection",
    "gamma_index": "no projection",
    "radiological_path": "rays one by one, none of which knows its neighbours",
    "spmv_*": "no projection",
}  # fmt: skip


def parts_of(name):
    return [part.split("_") for part in name.split("/")]


def is_tilted(name):
    return any(word in TILTED for part in parts_of(name) for word in part)


def key_of(name):
    parts = [tuple(w for w in part if w not in TILTED | LEFT_OUT) for part in parts_of(name)]
    return tuple(part for part in parts if part)


def reason_of(name):
    """The pattern of the exception that a name is, if any."""
    return next((pattern for pattern in EXCEPTIONS if fnmatch.fnmatch(name, pattern)), None)


def alone(names):
    """Names of upright rows without a twin, without those that are exceptions."""
    tilted = {key_of(name) for name in names if is_tilted(name)}
    return [name for name in dict.fromkeys(names)
            if not is_tilted(name) and key_of(name) not in tilted and not reason_of(name)]


def benchmarks_of(build):
    """The names of the rows of all programs, without what Google Benchmark adds."""
    programs = sorted(p for p in pathlib.Path(build, "perf", "ct").glob("iso_bench_*")
                      if p.is_file())
    if not programs:
        raise SystemExit(f"{build}: has no benchmarks (perf/ct/iso_bench_*); build the target "
                         "benchmarks")
    return [line.split("/iterations:")[0] for program in programs
            for line in output_of([program, "--benchmark_list_tests"]).splitlines()
            if "/iterations:" in line]


def operations_of(iso):
    lines = output_of([iso, "sweep", "--list"]).splitlines()
    return [line.split()[0] for line in lines[1:] if line.strip()]


def faults_of_sweeps(folder):
    """Sets whose operations stand alone."""
    faults = []
    for path in sorted(folder.glob("*.json")):
        for number, one in enumerate(read_json(path)["sets"]):
            faults += [f"{path.name}: set {number}: {name}" for name in alone(one["operations"])]
    return faults


def unused(names, benchmarks):
    """Exceptions that are no row; of a program without CUDA, no rows of CUDA are wanted."""
    patterns = [p for p in EXCEPTIONS if ("/" in p or p == "strategy_*") == benchmarks]
    return [p for p in patterns if not fnmatch.filter(names, p)
            and ("/cuda/" not in p or any("/cuda/" in name for name in names))]


def self_test():
    names = ["forward_project/joseph_linear/ordered/float/serial/128",
             "forward_project/joseph_linear_general/ordered/float/serial/128",
             "forward_project/joseph_linear_tilted/ordered/float/serial/128",
             "back_project/siddon/pixels_as_voxels/float/serial/256",
             "back_project/siddon/tilted/float/serial/256", "scans/upright/float/serial/160",
             "scans/roll/float/serial/160", "scans/laminography/float/serial/160",
             "fdk/hann/float/serial/128"]
    lone = ["fdk/ram_lak/float/serial/128", "scans/aside/float/serial/160",
            "forward_project/joseph_linear/ordered/double/serial/128"]
    return (not alone(names) and alone(names + lone) == lone
            and alone(["fdk", "fdk_tilted", "sirt", "fma", "memory_read"]) == ["sirt"]
            and "fma" not in unused(["fma"], False) and "spmv_*" in unused(["fma"], False)
            and "fdk/hann/*" in unused(["fma"], True)
            and not any("cuda" in p for p in unused(["fma"], True)))


def main():
    parser = parser_of(__doc__, self_test)
    parser.add_argument("--benchmarks")
    parser.add_argument("--iso")
    given = parser.parse_args()
    if not given.benchmarks and not given.iso:
        parser.error("neither --benchmarks nor --iso (nothing to look at); give one")
    faults, stale, count = [], [], 0
    if given.benchmarks:
        names = benchmarks_of(given.benchmarks)
        faults, stale, count = alone(names), unused(names, True), len(names)
    if given.iso:
        names = operations_of(given.iso)
        faults += alone(names) + faults_of_sweeps(TOP / "examples" / "sweeps")
        stale, count = stale + unused(names, False), count + len(names)
    for fault in faults:
        print(f"FAILED: {fault} has no tilted row beside it (a calibrated scan is tilted); add one "
              "or, to EXCEPTIONS, a reason")
    for pattern in stale:
        print(f"FAILED: EXCEPTIONS has {pattern} (no row is named so); take it out")
    print(f"{count} rows, {len(faults)} upright ones alone")
    return 1 if faults or stale or not count else 0


if __name__ == "__main__":
    sys.exit(main())
