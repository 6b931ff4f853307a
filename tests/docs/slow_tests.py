# SPDX-License-Identifier: BSD-3-Clause
"""slow_tests.py BUILD: docs/building.md names each test that scripts/test.sh leaves out.

--list instead of looking at the page prints these tests by label. Reads what CMake wrote for
ctest: another ctest would replace the log of the one that runs this.
"""
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/building.md"
SECTION = r"^### What runs only by `--all` or before a release\n(.*?)^#"
PROPERTIES = r"^set_tests_properties\((?:\[=\[)?([^\s\]]+)(?:\]=\])? +PROPERTIES +(.*)\)$"
LABELS = ("slow", "perf-smoke", "documents")


def tests_of(folder):
    """The labels of each test of a folder of the build, and of those below it."""
    path, tests = folder / "CTestTestfile.cmake", {}
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for name, properties in re.findall(PROPERTIES, text, re.M):
        labels = re.search(r'\bLABELS "([^"]*)"', properties)
        tests[name] = labels.group(1).split(";") if labels else []
    for below in re.findall(r'^subdirs\("(.*)"\)$', text, re.M):
        tests.update(tests_of(folder / below))
    return tests


def main():
    tests = tests_of(pathlib.Path(sys.argv[1]))
    left_out = [name for name in tests if set(tests[name]) & set(LABELS)]
    if "--list" in sys.argv:
        for label in LABELS:
            print(f"{label}: {' '.join(name for name in left_out if label in tests[name])}")
        return 0
    found = re.search(SECTION, PAGE.read_text(encoding="utf-8"), re.S | re.M)
    rows = re.findall(r"^\| .*", found.group(1), re.M) if found else []
    named = {name for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    # Of a test that this build has, one whose rest the page names and that has none is stale.
    stale = [name for name in named if name not in left_out and (
        name in tests or name.endswith("_slow") and name.removesuffix("_slow") in tests)]
    faults = [f"does not name {name}, which scripts/test.sh leaves out"
              for name in sorted(set(left_out) - named)]
    faults += [f"names {name}, which is not left out" for name in sorted(stale)]
    if not left_out or not named:
        faults.append("names no test, or none is left out")
    for fault in faults:
        print(f"FAILED: docs/building.md {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
