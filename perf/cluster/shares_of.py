#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""References of reframe_sweep.py from a report of `iso sweep --merge`.

Of each operation and precision on each backend: the share of the ceiling at the largest size with
all groups in one launch, rounded; of several numbers of threads the least. Points that other
processes disturbed are left out.

Usage: shares_of.py REPORT.json > shares.json
       shares_of.py --self-test
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import read_json, words_of  # noqa: E402


def largest_points(report):
    """{(backend, "operation precision", threads): point} of the largest size."""
    largest = {}
    for point in report["points"]:
        key = (point["backend"], f"{point['operation']} {point['precision']}", point["threads"])
        if point["disturbed"] or point["groups_per_launch"] > 0:
            continue
        if point["size"] >= largest.get(key, point)["size"]:
            largest[key] = point
    return largest


def shares_of(report):
    shares = {}
    for (backend, name, _), point in sorted(largest_points(report).items()):
        found = shares.setdefault(backend, {})
        share = float(f"{point['share_of_ceiling']:.2g}")
        found[name] = min(share, found.get(name, share))
    return shares


def self_test():
    point = {"operation": "fdk", "precision": "float", "backend": "openmp", "threads": 1,
             "groups_per_launch": 0, "size": 32, "share_of_ceiling": 0.1234, "disturbed": False}
    points = [point, point | {"size": 64, "share_of_ceiling": 0.2345},
              point | {"size": 64, "threads": 2, "share_of_ceiling": 0.2},
              point | {"size": 128, "groups_per_launch": 9, "share_of_ceiling": 0.9},
              point | {"size": 256, "share_of_ceiling": 0.02, "disturbed": True},
              point | {"backend": "cuda", "share_of_ceiling": 0.5}]
    found = shares_of({"points": points})
    assert found == {"openmp": {"fdk float": 0.2}, "cuda": {"fdk float": 0.5}}, found


def main():
    (report,) = words_of(__doc__, self_test, most=1)
    print(json.dumps({"shares": shares_of(read_json(report))}, indent=2))


if __name__ == "__main__":
    main()
