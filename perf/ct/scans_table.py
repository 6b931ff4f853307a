#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of what iso_bench_scans has written: what scans cost beside an upright one.

A line a scan: ms a view of the projection, of the adjoint and of filtered backprojection, and in
parentheses how many times as long as the upright scan of the same run they take, of projections
for each pixel and plane, of the others for each voxel. Rows of another projector on a tilted scan
stand beside the upright scan by that projector, a rolled fan beside an upright one, rows of two
threads beside one. Where a scan has two sizes, a second table has ns a sample, and in parentheses
how many times as long as at the size before.

What is above its goal is `missed`, with the goal: 1.5 times the scan beside, but on a processor 3
times for projections and adjoints of tilted scans (with --avx2, registers of 32 bytes, 4), of two
threads the time of one over 1.9, and 1.3 times a sample of the size before. A missed row wants a
reason among the goals of perf/results/page.json, which scripts/performance_page.py asks for.

Usage: scans_table.py FILE... [--avx2]
                                     files of --benchmark_out, of one machine
       scans_table.py FILE... --record FILE --date 2026-11-30 --machine NAME --revision REVISION
                                     the rows, and those of growth, as perf/results has them
       scans_table.py --self-test
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import markdown, parser_of, read_json, write_json  # noqa: E402

SCANS = {
    "upright": "upright, beside itself",
    "yaw": "detector yawed by 3 degrees",
    "pitch": "detector pitched by 1.7 degrees",
    "roll": "detector rolled by 0.6 degrees",
    "aside": "detector moved aside",
    "aside_roll": "detector moved aside, rolled by 0.6 degrees",
    "helix": "helix",
    "helix_roll": "helix, detector rolled by 0.6 degrees",
    "parallel": "parallel rays",
    "parallel_roll": "parallel rays, detector rolled by 0.6 degrees",
    "laminography": "laminography, 29 degrees",
    "along_z": "rays along z (laminography, 80 degrees)",
    "slices": "voxels of 1 x 1 x 3 mm",
    "coarse": "pixels of two voxels",
    "fine": "pixels of half a voxel",
    "slices_roll": "voxels of 1 x 1 x 3 mm, detector rolled by 0.6 degrees",
    "coarse_roll": "pixels of two voxels, detector rolled by 0.6 degrees",
    "fine_roll": "pixels of half a voxel, detector rolled by 0.6 degrees",
    "fan": "fan beam, one plane of voxels",
    "fan_roll": "fan beam, detector rolled by 0.1 degrees",
    "spline": "spline weights",
    "spline_pitch": "spline weights, detector pitched by 1.7 degrees",
    "spline_roll": "spline weights, detector rolled by 0.6 degrees",
    "exact": "exact lengths",
    "exact_pitch": "exact lengths, detector pitched by 1.7 degrees",
    "exact_roll": "exact lengths, detector rolled by 0.6 degrees",
    "two_threads": "two threads",
    "two_threads_roll": "two threads, detector rolled by 0.6 degrees",
}
# What a row is held against, where it is not the upright scan by linear Joseph.
PEERS = {
    "fan_roll": "as much of the upright fan beam",
    "spline_pitch": "as much of the upright scan by spline weights",
    "spline_roll": "as much of the upright scan by spline weights",
    "exact_pitch": "as much of the upright scan by exact lengths",
    "exact_roll": "as much of the upright scan by exact lengths",
    "two_threads": "one thread",
    "two_threads_roll": "one thread",
}
MAX_GROWTH = 1.3
CALLS = {"forward": "projection", "adjoint": "adjoint", "fdk": "filtered backprojection"}


def runs_of(documents):
    """(scan, backend, size) -> counters, in the order of SCANS."""
    found = {}
    for document in documents:
        for run in document["benchmarks"]:
            _, scan, _, backend, size = run["name"].split("/")[:5]
            found[scan, backend, int(size)] = run
    order = list(SCANS)
    return dict(sorted(found.items(), key=lambda item: (item[0][1:], order.index(item[0][0]))))


def goal_of(scan, backend, call, avx2=False):
    """How many times as long as the scan beside it a row may take."""
    if scan.startswith("two_threads"):
        return 1 / 1.9
    tilted = scan.endswith(("roll", "pitch")) or scan in ("laminography", "along_z")
    if tilted and backend != "cuda" and call != "fdk":
        return 4 if avx2 else 3
    return 1.5


def held(ratio, goal):
    return f"({ratio:.2f})" if ratio <= goal else f"({ratio:.2f}, missed: {goal:.3g})"


def table(runs, avx2=False):
    rows = []
    for (scan, backend, size), run in runs.items():
        cells = [f"{run[call + '_ms']:.3g} "
                 + held(run[call + "_ratio"], goal_of(scan, backend, call, avx2))
                 if run[call + "_ms"] > 0 else "" for call in CALLS]
        rows.append([SCANS[scan], f"{size}^3", backend, *cells])
    return markdown(["scan", "voxels", "backend", *CALLS.values()], rows)


def growth_of(runs):
    """(scan, backend, size, size before, [(ns a sample, before)] of the calls), where there are
    several sizes; the one before is the next smaller."""
    sizes = {}
    for scan, backend, size in runs:
        sizes.setdefault((scan, backend), []).append(size)
    for (scan, backend), all_sizes in sizes.items():
        for before, size in zip(sorted(all_sizes), sorted(all_sizes)[1:]):
            took = [[runs[scan, backend, n].get(call + "_ns", 0) for call in CALLS]
                    for n in (size, before)]
            yield scan, backend, size, before, list(zip(*took))


def growth(runs):
    """The table of ns a sample by size."""
    rows = []
    for scan, backend, size, before, took in growth_of(runs):
        cells = [f"{ours:.3g} {held(ours / theirs, MAX_GROWTH)}"
                 if ours > 0 and theirs > 0 else "" for ours, theirs in took]
        rows.append([SCANS[scan], f"{size}^3 after {before}^3", backend, *cells])
    return markdown(["scan", "voxels", "backend", *CALLS.values()], rows) if rows else ""


def record(runs, machine):
    """The rows as perf/results has them: a peer that takes 1.5 times less gives a ratio of 0.67."""
    rows = []
    for (scan, _, size), run in runs.items():
        for call, name in CALLS.items():
            ms, longer = run[call + "_ms"], run[call + "_ratio"]
            if ms > 0 and scan != "upright":
                rows.append({"machine": machine, "what": f"{name}, {size}^3, {SCANS[scan]}",
                             "unit": "ms a view", "value": float(f"{ms:.4g}"),
                             "peer": PEERS.get(scan, "as much of the upright scan"),
                             "peer_value": float(f"{ms / longer:.4g}"),
                             "ratio": float(f"{1 / longer:.3g}"),
                             "error": float(f"{run['error']:.2g}")})
    for scan, backend, size, before, took in growth_of(runs):
        for name, (ours, theirs) in zip(CALLS.values(), took):
            if ours > 0 and theirs > 0:
                rows.append({"machine": machine,
                             "what": f"{name}, {size}^3 after {before}^3, {SCANS[scan]}",
                             "unit": "ns a sample", "value": float(f"{ours:.4g}"),
                             "peer": f"of {before}^3", "peer_value": float(f"{theirs:.4g}"),
                             "ratio": float(f"{theirs / ours:.3g}"),
                             "error": float(f"{runs[scan, backend, size]['error']:.2g}")})
    return rows


def self_test():
    run = {"name": "scans/pitch/float/cuda/512/iterations:3/manual_time", "forward_ms": 0.2,
           "forward_ns": 3, "forward_ratio": 1.25, "adjoint_ms": 0.3, "adjoint_ns": 2,
           "adjoint_ratio": 1.5, "fdk_ms": 0, "fdk_ns": 0, "fdk_ratio": 0, "error": 1e-5}
    runs = runs_of([{"benchmarks": [run]}])
    lines = table(runs).splitlines()
    rows = record(runs, "a GPU")
    smaller = {**run, "name": run["name"].replace("512", "256"), "forward_ns": 2}
    threads = {**run, "name": run["name"].replace("pitch", "two_threads")}
    grown = growth(runs_of([{"benchmarks": [run, smaller]}])).splitlines()
    host = {**run, "name": run["name"].replace("cuda", "serial"), "forward_ratio": 3.5,
            "adjoint_ratio": 2.5, "fdk_ms": 1, "fdk_ratio": 1.6}
    on_host = [table(runs_of([{"benchmarks": [host]}]), avx2) for avx2 in (False, True)]
    in_step = {**host, "name": host["name"].replace("pitch", "slices")}
    goals = ("0.2 (3.50, missed: 3)" in on_host[0] and "0.2 (3.50) |" in on_host[1]
             and all("0.3 (2.50) |" in one and "1 (1.60, missed: 1.5)" in one for one in on_host)
             and "0.3 (2.50, missed: 1.5)" in table(runs_of([{"benchmarks": [in_step]}]))
             and goal_of("two_threads_roll", "openmp", "forward") == 1 / 1.9
             and goal_of("roll", "cuda", "forward") == 1.5)
    return (goals and "0.2 (1.25)" in lines[-1] and lines[-1].rstrip().endswith("|  |")
            and [row["ratio"] for row in rows] == [0.8, 0.667]
            and rows[0]["peer_value"] == 0.16 and growth(runs) == ""
            and [(row["what"], row["ratio"]) for row in record(runs_of(
                [{"benchmarks": [run, smaller]}]), "")[-2:]]
            == [(f"{name}, 512^3 after 256^3, detector pitched by 1.7 degrees", ratio)
                for name, ratio in (("projection", 0.667), ("adjoint", 1.0))]
            and "3 (1.50, missed: 1.3)" in grown[-1] and "2 (1.00)" in grown[-1] and len(grown) == 3
            and record(runs_of([{"benchmarks": [threads]}]), "")[0]["peer"] == "one thread")


def main():
    parser = parser_of(__doc__, self_test)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--avx2", action="store_true")
    for name in ("record", "date", "machine", "revision"):
        parser.add_argument("--" + name)
    given = parser.parse_args()
    runs = runs_of([read_json(name) for name in given.files])
    print(table(runs, given.avx2))
    if grown := growth(runs):
        print("\n" + grown)
    if given.record:
        if not (given.date and given.machine and given.revision):
            parser.error("--record without --date, --machine or --revision (rows need all three); "
                         "give them")
        write_json(given.record, {
            "date": given.date, "machine": given.machine, "revision": given.revision,
            "command": "iso_bench_scans", "topic": "scans",
            "rows": record(runs, given.machine)})


if __name__ == "__main__":
    main()
