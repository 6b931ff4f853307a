#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the benchmarks of two revisions by one compiler and runs their rows in turn: a Markdown
table of how many times as fast the newer one is.

    perf/compare_revisions.py OLD NEW [--compiler g++-13] [--rows REGEX] [--turns 5]
                                      [--at-least 0.95]

OLD and NEW are revisions, or folders: a source tree, or a build that has the programs already. A
revision is checked out under --folder, where builds stay. Rows are those of one core, and those
that both have. The figure is OLD's least time over NEW's, of all turns: what else the machine does
only adds to a time. The least and largest quotient of one turn stand beside it. Exit code 1: a
row's figure lies below --at-least.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support.scripts import surroundings  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ["forward_project", "back_project", "fdk", "traverse", "convolution", "spmv"]
# Rows of docs/performance.md that one core ends in a second or so.
ROWS = (r"^forward_project/joseph_(linear|linear_avx2|spline)/(ordered|reproducible)/"
        r"(float|double)/serial/256$"
        r"|^forward_project/(siddon|branchless)/ordered/float/serial/128$"
        r"|^back_project/(joseph_linear|joseph_linear_avx2|siddon)/pixels_as_voxels/float/serial/"
        r"256$"
        r"|^fdk(_avx2)?/ram_lak/(float|double)/serial/256$"
        r"|^traverse/coherent/.*/serial"
        r"|^(convolution|terma).*/serial$"
        r"|^spmv/prostate/AT?/(csr16|csr32|row_block4)_half(_k4)?/(ordered|reproducible)/serial")


def said(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def build_of(name, asked):
    """The folder of the build of a revision, a source tree, or a build that is there."""
    folder = pathlib.Path(name)
    if list(folder.glob("**/iso_bench_*")):
        return folder
    if (folder / "CMakeLists.txt").exists():
        source = folder.resolve()
        label = source.name
    else:
        label = said(["git", "-C", TOP, "rev-parse", "--short", "--verify",
                      f"{name}^{{commit}}"]).strip()
        source = asked.folder / label
        if not source.exists():
            subprocess.run(["git", "-C", TOP, "worktree", "add", "--detach", source, label],
                           check=True)
    compiler = re.sub(r"[^A-Za-z0-9]+", "_", asked.compiler)
    build = asked.folder / f"{label}-{compiler}"
    options = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_CXX_COMPILER": asked.compiler,
               "CMAKE_CXX_FLAGS_RELEASE": "-O3 -DNDEBUG", "Kokkos_ROOT": asked.kokkos,
               "ISO_CUDA": "OFF", "ISO_BUILD_TESTS": "OFF", "ISO_BUILD_EXAMPLES": "OFF",
               "ISO_BUILD_FILES": "OFF", "ISO_BUILD_APPS": "OFF"}
    subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja",
                    *(f"-D{k}={v}" for k, v in options.items())],
                   check=True, stdout=subprocess.DEVNULL)
    targets = [f"iso_bench_{p}" for p in asked.programs]
    subprocess.run(["cmake", "--build", build, "--target", *targets], check=True, stdout=sys.stderr)
    return build


def program_of(build, name):
    found = [p for p in build.glob(f"**/iso_bench_{name}") if p.is_file()]
    if len(found) != 1:
        raise SystemExit(f"{build}: {len(found)} programs iso_bench_{name}, of which one is needed")
    return found[0].resolve()


def plain(name):
    """A row's name without what Google Benchmark adds: /iterations:5/manual_time."""
    return re.sub(r"/iterations:.*", "", name)


def rows_of(program, asked):
    listed = said([*asked.launcher, program, "--benchmark_list_tests"],
                  env=surroundings(asked.environment))
    return [name for name in map(plain, listed.splitlines()) if re.search(asked.rows, name)]


def times_of(program, rows, asked):
    """Of a run of the program: milliseconds and error of each row."""
    names = "|".join(map(re.escape, rows))
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        said([*asked.launcher, program, f"--benchmark_filter=^({names})(/iterations.*)?$",
              f"--benchmark_out={file.name}", "--benchmark_out_format=json"],
             env=surroundings(asked.environment))
        found = json.loads(pathlib.Path(file.name).read_text(encoding="utf-8"))["benchmarks"]
    for row in found:
        if row.get("error_occurred"):
            raise SystemExit(f"{program}: {row['name']}: {row['error_message']}")
    # A row without an error is one that was left out: a format that the matrix does not allow.
    return {plain(row["name"]): (row["real_time"], row["error"])
            for row in found if row.get("error") is not None}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--kokkos", default=TOP / ".deps/kokkos/openmp",
                        help="where Kokkos is installed")
    parser.add_argument("--folder", type=pathlib.Path, default=TOP / "build/revisions")
    parser.add_argument("--programs", nargs="+", default=PROGRAMS,
                        help="iso_bench_NAME (default: %(default)s)")
    parser.add_argument("--rows", default=ROWS,
                        help="a regular expression of names (default: ROWS of this file)")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--at-least", type=float, default=0.0)
    parser.add_argument("--launcher", type=shlex.split, default=[],
                        help="before each program: 'taskset -c 1'")
    asked = parser.parse_args()
    asked.environment = {"OMP_NUM_THREADS": "1"}
    builds = [build_of(name, asked) for name in (asked.old, asked.new)]

    slow = 0
    print("| row | times as fast | least of a turn | largest | error |\n"
          "| --- | --- | --- | --- | --- |")
    for name in asked.programs:
        programs = [program_of(build, name) for build in builds]
        old, new = (rows_of(program, asked) for program in programs)
        rows = [row for row in new if row in old]
        if not rows:
            continue
        turns = []
        for turn in range(asked.turns):
            # Which one is first changes, as a processor that warms up favours one of them.
            order = programs if turn % 2 == 0 else programs[::-1]
            times = {program: times_of(program, rows, asked) for program in order}
            turns.append([times[program] for program in programs])
        for row in rows:
            took = [(a[row][0], b[row][0]) for a, b in turns if row in a and row in b]
            if not took:
                continue
            ratios = [a / b for a, b in took]
            figure = min(a for a, _ in took) / min(b for _, b in took)
            slow += figure < asked.at_least
            error = turns[-1][1][row][1]
            print(f"| {row} | {figure:.3f} | {min(ratios):.3f} | {max(ratios):.3f} | "
                  f"{error:.2g} |", flush=True)
    if slow:
        raise SystemExit(f"{slow} rows lie below {asked.at_least:g}")


if __name__ == "__main__":
    main()
