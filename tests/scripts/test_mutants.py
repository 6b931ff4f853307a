#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/mutants.py with edits of a small program, in a repository of its own.

Usage: test_mutants.py SCRIPTS
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FILES = {
    ".gitignore": "/build/\n",
    "CMakePresets.json": """{ "version": 6,
  "configurePresets": [ { "name": "openmp", "generator": "Ninja",
                          "binaryDir": "${sourceDir}/build/openmp" } ],
  "buildPresets": [ { "name": "openmp", "configurePreset": "openmp" } ] }
""",
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(sums CXX)
enable_testing()
function(iso_add_test name)
  add_executable(test_${name} tests/${name}.cpp sums.cpp)
  add_test(NAME ${name} COMMAND test_${name})
endfunction()
include(tests/CMakeLists.txt)
""",
    "tests/CMakeLists.txt": "iso_add_test(sums)\n",
    "tests/sums.cpp": """#include <cstdio>
int twice(int);
int sum(int, int);
int main() {
  // TEST_CASE("sums: twice and sum")
  bool const good = twice(3) == 6 && sum(4, 5) == 9;
  std::printf("TEST CASE:  sums: twice and sum\\n");
  return good ? 0 : 1;
}
""",
    "sums.cpp": """int twice(int x) { return 2 * x; }
int sum(int x, int y) { return x + y + 0; }
int untested(int x) { return x - 1; }
""",
}
EDITS = {
    "killed": "-2 * x\n+3 * x\n",
    "survived": "-x - 1\n+x + 1\n",
    "equivalent": "-x + y + 0\n+y + x\n= Sums of integers have no order.\n",
    "not_equivalent": "-x + y + 0\n+x - y\n= A mistake.\n",
    "uncompiled": "-return 2 * x;\n+return 2 * z;\n",
}
failures = 0


def expect(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print(f"FAILED: {what}: {found!r} instead of {wanted!r}")


def main():
    scripts = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)

        def put(name, text):
            (tree / name).parent.mkdir(exist_ok=True)
            (tree / name).write_text(text)

        def put_edits(*names):
            put("scripts/mutants.txt", "! test_sums sums\n" + "".join(
                f"@ {name} | sums.cpp | sums | sums: *\n{EDITS[name]}" for name in names))

        def git(*words):
            who = ["-c", "user.name=a", "-c", "user.email=a@b"]
            return subprocess.run(["git", *who, *words], cwd=tree, check=True, capture_output=True,
                                  text=True).stdout

        def commit():
            git("add", ".")
            git("commit", "-qm", "a")

        def mutants(*arguments):
            """Exit code, and what is said of each edit."""
            done = subprocess.run([sys.executable, "-B", tree / "scripts/mutants.py", *arguments],
                                  cwd=tree, capture_output=True, text=True, check=False,
                                  env=dict(os.environ, ISO_JOBS="1"))
            said = [line.split()[:2] for line in done.stdout.splitlines()
                    if line.split() and line.split()[0] in EDITS]
            return done.returncode, [" ".join(words) for words in said], done.stdout + done.stderr

        for name, text in FILES.items():
            put(name, text)
        put_edits(*EDITS)
        shutil.copy(scripts / "mutants.py", tree / "scripts")
        git("init", "-q", ".")
        commit()

        expect("what --list says", mutants("--list")[:2], (0, [f"{name} not" for name in EDITS]))
        expect("exit code of --check", mutants("--check")[0], 0)
        bad = ["survived survived", "not_equivalent broken", "uncompiled broken"]
        code, said, output = mutants()
        expect("exit code with bad edits", code, 1)
        expect("results", said, ["killed killed", bad[0], "equivalent equivalent", *bad[1:], *bad])
        expect("the test case that killed", "sums: twice and sum" in output, True)
        expect("this tree", git("status", "--porcelain"), "")
        expect("the copy", (tree / "build/mutants/tree/sums.cpp").read_text(), FILES["sums.cpp"])
        expect("a second call", mutants()[1], [*bad, *bad])
        expect("--only", mutants("--only", "^killed$")[:2], (0, ["killed killed"]))
        expect("an unknown name", mutants("--only", "nope")[0], 2)
        expect("this tree as the copy", mutants("--tree", tree)[0], 2)

        put_edits("killed", "equivalent")
        commit()
        expect("good edits", mutants()[:2], (0, ["killed killed", "equivalent equivalent"]))
        expect("good edits again", mutants()[:2], (0, []))
        # What the copy has of another revision goes.
        put("sums.cpp", FILES["sums.cpp"].replace("2 * x", "x + x"))
        code, said, output = mutants("--check")
        expect("exit code of --check where a text is gone", code, 1)
        expect("what is gone", "killed: its text stands 0 times in sums.cpp" in output, True)
        expect("exit code where a text is gone", mutants()[0], 1)
        put("tests/sums.cpp", FILES["tests/sums.cpp"].replace("== 6", "== 7"))
        put_edits("equivalent")
        code, said, output = mutants()
        expect("a test that fails without an edit", code, 1)
        expect("what is said of it", "does not pass without an edit" in output, True)
    print("all passed" if not failures else f"{failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
