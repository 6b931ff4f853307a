#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the processor seconds of every test, and writes those above 5 s into
cmake/iso_test_costs.cmake, by which ctest starts the longest first.

    scripts/test_costs.py build/openmp [--only REGEX] [--last-run] [--dry] [--check]

Runs the tests that are not slow, one after the other, with two threads each; the machine should be
idle. --last-run takes the seconds by the clock of the last run of ctest instead, and runs nothing.
--check does so too, and fails where a test has no row and took more than 10 s there.
"""
import json
import os
import re
import subprocess
import sys
import time

from build_times import test_seconds
from harness import TOP, parser_of

TABLE = TOP / "cmake/iso_test_costs.cmake"
MIN_COST = 5  # processor seconds
ROW = re.compile(r'"(\S+) (\d+) (\d+)"')


def tests_of(build):
    """(name, labels) of each test that scripts/test.sh runs."""
    listed = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, check=True
    )
    for test in json.loads(listed.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        labels = properties.get("LABELS", [])
        if not {"slow", "perf-smoke", "documents"} & set(labels):
            yield test["name"], labels


def measure(build, name):
    """Exit code, processor seconds and seconds of one test."""
    command = ["ctest", "--test-dir", build, "-R", f"^{re.escape(name)}$"]
    command += ["-FA", "iso_installed"] if name != "install_package" else []
    begin = time.monotonic()
    with open(os.devnull, "wb") as nowhere:
        run = subprocess.Popen(
            command, stdout=nowhere, stderr=nowhere, env=dict(os.environ, OMP_NUM_THREADS="2")
        )
        _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    return run.returncode, used.ru_utime + used.ru_stime, time.monotonic() - begin


def with_rows(text, rows):
    """The table's text with these rows: name, processor seconds, cores that it keeps busy."""
    lines = "".join(f'    "{name} {cost} {cores}"\n' for name, cost, cores in rows)
    return re.sub(r"set\(\s*costs\b[^)]*\)", f"set(costs\n{lines})", text)


def check(build, rows):
    """Exits with a sentence where a test of the last run should have a row and has none."""
    last = test_seconds(build)
    missing = [n for n, _ in tests_of(build) if n not in rows and last.get(n, 0) > 2 * MIN_COST]
    if missing:
        sys.exit(f"test_costs: no row for {', '.join(missing)} (each took more than "
                 f"{2 * MIN_COST} s); run scripts/test_costs.py {build}")


def main():
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a build")
    parser.add_argument("--only", default="", help="tests whose names match; the other rows stay")
    parser.add_argument("--last-run", action="store_true", help="run nothing, take the last run")
    parser.add_argument("--check", action="store_true", help="look for rows that are missing")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    args = parser.parse_args()
    text = TABLE.read_text()
    rows = {name: (int(cost), int(cores)) for name, cost, cores in ROW.findall(text)}
    if args.check:
        check(args.build, rows)
        return
    tests = [(n, labels) for n, labels in tests_of(args.build) if re.search(args.only, n)]
    before = dict(rows)
    if not args.only:
        rows = {}
    last = test_seconds(args.build) if args.last_run else {}
    total = quick = 0.0
    failed = []
    # What others need is installed first.
    for name, labels in sorted(tests, key=lambda test: test[0] != "install_package"):
        if args.last_run:
            cores = before.get(name, (0, 1))[1]
            code, cost, seconds = 0, last.get(name, 0) * cores, last.get(name, 0)
        else:
            code, cost, seconds = measure(args.build, name)
        total += cost
        quick += cost if "quick" in labels else 0
        failed += [name] if code else []
        rows.pop(name, None)
        if cost >= MIN_COST:
            rows[name] = (round(cost), 2 if cost > 1.5 * seconds else 1)
        print(f"{name:<40} {cost:8.1f} s of processor time in {seconds:.1f} s", flush=True)
    print(f"{total:.0f} s of processor time, {quick:.0f} of them in quick tests")
    if failed:
        sys.exit(f"test_costs: these failed, and the table stays as it is: {', '.join(failed)}")
    if not args.dry:
        order = sorted(rows.items(), key=lambda row: (-row[1][0], row[0]))
        TABLE.write_text(with_rows(text, [(name, *row) for name, row in order]))


if __name__ == "__main__":
    main()
