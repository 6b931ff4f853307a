#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processor time of the library built without a preset, beside that of a preset's build.

    plain_build.py [--preset openmp] [--ways plain subfolder] [--turns 5] [--launcher ccache]

Builds two benchmarks by the preset, by a plain `cmake -S .` (plain) and in a project that has this
one as a subfolder by add_subdirectory (subfolder), in build/plain_build; then runs them on one
thread, in turns. Prints the rows for perf/results, as JSON: the least time of each. Exit code 1: a
build without a preset takes more than 1.1 times as long.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import TOP, document_of  # noqa: E402

_MAX_RATIO = 1.1
# What a row says, the program, its benchmark.
_CASES = (
    ("forward_project, 256^3, float", "forward_project",
     "forward_project/joseph_linear/ordered/float/serial/256"),
    ("fdk, 256^3, float", "fdk", "fdk/ram_lak/float/serial/256"),
)  # fmt: skip
_WAYS = {"plain": "cmake -S .", "subfolder": "add_subdirectory"}


def build(folder, source, options):
    targets = [f"iso_bench_{program}" for _, program, _ in _CASES]
    for step in (["-S", source, "-B", folder, *options],
                 ["--build", folder, "--parallel", "--target", *targets]):
        subprocess.run(["cmake", *step], check=True, stdout=subprocess.DEVNULL)


def builds(preset, ways, launcher):
    """The folder of the benchmarks of each build: of the preset, and of each way."""
    folders = {"preset": TOP / "build" / preset}
    build(folders["preset"], TOP, ["--preset", preset])
    cache = (folders["preset"] / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
    kokkos = next(line.split("=", 1)[1] for line in cache if line.startswith("Kokkos_DIR:"))
    options = ["-G", "Ninja", f"-DKokkos_DIR={kokkos}"]
    if launcher:
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    for way in ways:
        folders[way] = folder = TOP / "build" / "plain_build" / way
        if way == "plain":
            build(folder, TOP, options)
            continue
        source = folder.parent / "program"
        source.mkdir(parents=True, exist_ok=True)
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(program LANGUAGES C CXX)\n"
            f'add_subdirectory("{TOP}" isocenter)\n', encoding="utf-8")
        build(folder, source, [*options, "-DCMAKE_BUILD_TYPE=Release", "-DISO_BUILD_PERF=ON"])
        folders[way] = folder / "isocenter"
    return folders


def milliseconds(folder, program, benchmark):
    """Processor time of one iteration."""
    program = folder / f"perf/ct/iso_bench_{program}"
    (row,) = document_of(program, f"^{benchmark}/")["benchmarks"]
    return row["cpu_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[row["time_unit"]]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--preset", default="openmp")
    parser.add_argument("--ways", nargs="+", choices=_WAYS, default=list(_WAYS))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--launcher", default="")
    given = parser.parse_args()
    folders = builds(given.preset, given.ways, given.launcher)
    os.environ["OMP_NUM_THREADS"] = "1"
    rows, slow = [], False
    for what, program, benchmark in _CASES:
        least = dict.fromkeys(folders, float("inf"))
        for _ in range(given.turns):
            for name, folder in folders.items():
                least[name] = min(least[name], milliseconds(folder, program, benchmark))
        for way in given.ways:
            slow = slow or least[way] > _MAX_RATIO * least["preset"]
            rows.append(json.dumps({
                "what": f"{what}, {_WAYS[way]}", "unit": "ms", "value": round(least[way], 1),
                "peer": f"preset {given.preset}", "peer_value": round(least["preset"], 1),
                "ratio": round(least["preset"] / least[way], 3)}))
    print(",\n".join(rows))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
