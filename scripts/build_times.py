#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints where the time of a build and of its tests went, as the table of docs/building.md.

    scripts/build_times.py build/openmp
"""
import collections
import pathlib
import re

from harness import parser_of


def compile_seconds(build):
    """Of .ninja_log: (seconds, steps) of each folder; the last run of a step counts."""
    last = {}
    for line in (build / ".ninja_log").read_text().splitlines()[1:]:
        begin, end, _, output, _ = line.split("\t")
        last[output] = (int(end) - int(begin)) / 1000
    folders = collections.defaultdict(lambda: [0.0, 0])
    for output, seconds in last.items():
        parts = [p for p in output.split("/") if p != "CMakeFiles" and not p.endswith(".dir")]
        of = folders["/".join(parts[:2]) if parts[0] in ("tests", "apps") else parts[0]]
        of[0] += seconds
        of[1] += 1
    return folders


def test_seconds(build):
    """Of the costs that ctest keeps: seconds by the clock of each test in the last runs."""
    costs = pathlib.Path(build) / "Testing/Temporary/CTestCostData.txt"
    rows = re.findall(r"^(\S+) \d+ ([\d.]+)$", costs.read_text(), re.M) if costs.exists() else []
    return {name: float(seconds) for name, seconds in rows}


def table(kind, rows, most):
    print(f"| {kind} | s |\n| --- | --- |")
    rows = sorted(rows, key=lambda row: -row[1])
    for name, seconds in rows[:most]:
        print(f"| {name} | {seconds:.0f} |")
    rest = sum(seconds for _, seconds in rows[most:])
    print(f"| {len(rows[most:])} others | {rest:.0f} |")
    print(f"| all | {sum(seconds for _, seconds in rows):.0f} |\n")


def main():
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder of a build by Ninja")
    parser.add_argument("--rows", type=int, default=10, help="of each table")
    args = parser.parse_args()
    folders = compile_seconds(args.build)
    table("compiled", [(f"`{k}`, {n} steps", s) for k, (s, n) in folders.items()], args.rows)
    tests = test_seconds(args.build)
    if tests:
        table("tests", [(f"`{k}`", s) for k, s in tests.items()], args.rows)


if __name__ == "__main__":
    main()
