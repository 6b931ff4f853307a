#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the speed of two revisions, row by row, and their hashes: a Markdown table.

    perf/compare_revisions.py OLD NEW [--device cuda] [--at-least 0.98] [--turns 3] [--max-turns 9]
    perf/compare_revisions.py --list [BUILD] [--device cuda]

OLD and NEW are revisions, or folders: a build, or a source tree. A revision is checked out under
--folder, where builds stay. A build in which programs are missing is built further by CMake.

The rows are those of ROWS for the device; on a processor they use one core (Kokkos::Serial).
--rows takes others instead, by a regular expression: all that both builds have. --list prints the
rows, and fails where BUILD lacks one.

The programs of OLD and NEW run in turn. A row's figure is OLD's least time over NEW's, of all
turns: what else the machine does only adds to a time. It is the time of a view where both
programs tell it (ms_per_view), as the number of views may differ between revisions. Rows below
--at-least run again, --max-turns times in all. The least and largest quotient of one turn stand
beside the figure.

Every hash that iso_parity of OLD prints must be the same in NEW; --no-hashes leaves this out.

Exit code 1: a figure lies below --at-least, a row is missing, or a hash differs.
"""
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from support.scripts import TOP, document_of, output_of, parser_of, surroundings  # noqa: E402

# What a row shows, the benchmark, its row, what stands for {} on a processor and on a GPU; last the
# counter of the time, where that is not the row's own.
ROWS = [
    ("forward, upright", "forward_project", "forward_project/joseph_linear/ordered/float/{}",
     "serial/256", "cuda/512"),
    ("forward, tilted", "back_project", "back_project/joseph_linear/tilted/float/{}",
     "serial/256", "cuda/512", "forward_ms_per_view"),
    ("adjoint, upright", "back_project", "back_project/joseph_linear/pixels_as_voxels/float/{}",
     "serial/256", "cuda/512"),
    ("adjoint, tilted", "back_project", "back_project/joseph_linear/tilted/float/{}",
     "serial/256", "cuda/512"),
    ("adjoint, spline", "back_project", "back_project/joseph_spline/pixels_as_voxels/float/{}",
     "serial/256", "cuda/512"),
    ("adjoint, spline, tilted", "back_project", "back_project/joseph_spline/tilted/float/{}",
     "serial/256", "cuda/512"),
    ("adjoint, exact lengths", "back_project", "back_project/siddon/pixels_as_voxels/float/{}",
     "serial/256", "cuda/512"),
    ("adjoint, exact lengths, tilted", "back_project", "back_project/siddon/tilted/float/{}",
     "serial/256", "cuda/512"),
    ("FDK", "fdk", "fdk/ram_lak/float/{}", "serial/128", "cuda/512"),
    ("FDK, tilted", "scans", "scans/pitch/float/{}", "serial/160", "cuda/512", "fdk_ms"),
    ("SIRT", "iterative", "iteration/sirt/upright/float/{}", "serial/128", "cuda/512"),
    ("SIRT, tilted", "iterative", "iteration/sirt/tilted/float/{}", "serial/128", "cuda/512"),
    ("CGLS", "iterative", "iteration/cgls/upright/float/{}", "serial/128", "cuda/512"),
    ("CGLS, tilted", "iterative", "iteration/cgls/tilted/float/{}", "serial/128", "cuda/512"),
    ("total variation", "iterative", "iteration/total_variation/upright/float/{}",
     "serial/128", "cuda/512"),
    ("total variation, tilted", "iterative", "iteration/total_variation/tilted/float/{}",
     "serial/128", "cuda/512"),
    ("dose, lattice", "convolution", "convolution/lattice/{}",
     "cube/72/float/serial", "x/64/float/cuda"),
    ("dose, voxel lines", "convolution", "convolution/voxel_lines/{}",
     "small/16/float/serial", "x/64/float/cuda"),
    ("dose, voxel samples", "convolution", "convolution/voxel_samples/{}",
     "small/16/float/serial", "x/64/float/cuda"),
    ("dose, non-voxel", "convolution", "convolution/non_voxel/{}",
     "small/16/float/serial", "x/64/float/cuda"),
    ("TERMA", "convolution", "terma/{}", "cube/float/serial", "x/float/cuda"),
    ("product, ordered", "spmv", "spmv/prostate/A/{}",
     "row_block4_half/ordered/serial", "row_block8_half/ordered/cuda"),
    ("product of the transpose, reproducible", "spmv", "spmv/prostate/AT/{}",
     "row_block4_half/reproducible/serial", "row_block4_half/reproducible/cuda"),
    ("product with four vectors", "spmv", "spmv/prostate/A/{}",
     "row_block4_half_k4/ordered/serial", "row_block4_half_k4/ordered/cuda"),
    ("gamma index", "gamma", "gamma/trilinear/3_3/float/{}", "serial/64", "cuda/256"),
    ("dose-volume histogram", "dvh", "dvh/float/{}", "serial/128", "cuda/256"),
]


def rows_of_device(device):
    """(what, benchmark, row, counter) of each row."""
    return [(what, program, row.format(cuda if device == "cuda" else host), *(counter or [None]))
            for what, program, row, host, cuda, *counter in ROWS]


class Build:
    """The programs of a build, which is made where `name` is a revision or a source tree."""

    def __init__(self, name, programs, asked):
        self.name = name
        self.folder = self._folder(name, asked)
        self._build(programs)
        self._asked = asked

    @staticmethod
    def _folder(name, asked):
        folder = pathlib.Path(name)
        if folder.is_dir() and not (folder / "CMakeLists.txt").exists():
            return folder
        if folder.is_dir():
            source, label = folder.resolve(), folder.resolve().name
        else:
            label = output_of(["git", "-C", TOP, "rev-parse", "--short", "--verify",
                               f"{name}^{{commit}}"]).strip()
            source = asked.folder.resolve() / label
            if not source.exists():
                subprocess.run(["git", "-C", TOP, "worktree", "add", "--detach", source, label],
                               check=True, stdout=sys.stderr)
        kind = "cuda" if asked.device == "cuda" else "openmp"
        build = asked.folder / re.sub(r"[^\w.]+", "_", f"{label}-{kind}-{asked.compiler}")
        options = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_CXX_COMPILER": asked.compiler,
                   "CMAKE_CXX_FLAGS_RELEASE": "-O3 -DNDEBUG",
                   "Kokkos_ROOT": asked.kokkos or TOP / ".deps/kokkos" / kind,
                   "ISO_CUDA": "ON" if kind == "cuda" else "OFF", "ISO_BUILD_TESTS": "OFF",
                   "ISO_BUILD_EXAMPLES": "OFF", "ISO_BUILD_FILES": "OFF", "ISO_BUILD_APPS": "OFF"}
        subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja",
                        *(f"-D{k}={v}" for k, v in options.items()),
                        *(f"-D{option}" for option in asked.option)],
                       check=True, stdout=sys.stderr)
        return build

    def _find(self, program):
        return [p.resolve() for p in self.folder.glob(f"**/{program}") if p.is_file()]

    def _build(self, programs):
        missing = [p for p in programs if not self._find(p)]
        if missing and (self.folder / "CMakeCache.txt").exists():
            subprocess.run(["cmake", "--build", self.folder, "--target", *missing], check=True,
                           stdout=sys.stderr)
        self.programs = {}
        for program in programs:
            found = self._find(program)
            if len(found) != 1:
                raise SystemExit(f"{self.folder}: {len(found)} programs {program} (one is needed); "
                                 "build it there, and once")
            self.programs[program] = found[0]

    def rows(self, program):
        """The names of a benchmark's rows."""
        listed = output_of([*self._asked.launcher, self.programs[f"iso_bench_{program}"],
                            "--benchmark_list_tests"])
        return [plain(name) for name in listed.splitlines()]

    def run(self, program, rows):
        """What the benchmark writes of each row."""
        names = "|".join(map(re.escape, rows))
        environment = {} if self._asked.device == "cuda" else {"OMP_NUM_THREADS": "1"}
        found = document_of(self.programs[f"iso_bench_{program}"],
                            f"^({names})(/iterations.*)?$", self._asked.launcher,
                            **environment)["benchmarks"]
        # A row without an error was not measured: a format that the matrix does not allow.
        return {plain(row["name"]): row for row in found if row.get("error") is not None}

    def hashes(self):
        """Of iso_parity: the hash of each operation, and the lines that say what differs."""
        done = subprocess.run([self.programs["iso_parity"]], check=False, capture_output=True,
                              text=True, env=surroundings({}))
        if done.returncode not in (0, 1):
            raise SystemExit(f"{self.programs['iso_parity']}: ended with status {done.returncode}: "
                             f"{done.stderr.strip()}")
        lines = done.stdout.splitlines()
        return (dict(line.rsplit(" ", 1) for line in lines if re.search(r" [0-9a-f]{16}$", line)),
                [line for line in lines if line.startswith("DIFFERS")])


def plain(name):
    """A row's name without what Google Benchmark adds: /iterations:5/manual_time."""
    return re.sub(r"/iterations:.*", "", name)


class Figure:
    """The times of a row, of the old and the new program, in each turn."""

    def __init__(self, what, row, counter):
        self.what, self.row, self.counter = what, row, counter
        self.turns, self.error = [], 0

    def add(self, old, new):
        if self.row in old and self.row in new:
            rows = old[self.row], new[self.row]
            # Of a view, where both tell it: the number of views may have changed meanwhile.
            usual = "ms_per_view" if all("ms_per_view" in row for row in rows) else "real_time"
            self.turns.append([row[self.counter or usual] for row in rows])
            self.error = new[self.row]["error"]

    def least(self):
        return [min(times) for times in zip(*self.turns)]

    def quotient(self):
        old, new = self.least()
        return old / new

    def line(self, at_least):
        old, new = self.least()
        of_turns = [a / b for a, b in self.turns]
        figure = f"{self.quotient():.3f}"
        if self.quotient() < at_least:
            figure = f"**{figure}**"
        return (f"| {self.what} | {old:.4g} | {new:.4g} | {figure} | {min(of_turns):.3f} | "
                f"{max(of_turns):.3f} | {len(of_turns)} | {self.error:.2g} |")


def measure(builds, program, figures, asked):
    """Fills the figures of one benchmark."""
    turn = 0
    while figures and turn < asked.max_turns:
        rows = sorted({figure.row for figure in figures})
        # Which one is first changes, as a processor that warms up favours one of them.
        found = {build: build.run(program, rows)
                 for build in (builds if turn % 2 == 0 else builds[::-1])}
        for figure in figures:
            figure.add(*(found[build] for build in builds))
        turn += 1
        if turn >= asked.turns:
            figures = [figure for figure in figures
                       if figure.turns and figure.quotient() < asked.at_least]


def compare_speed(builds, rows, asked):
    """Prints the table; returns how many rows are slow or missing."""
    faults = 0
    print("| row | old, ms | new, ms | times as fast | least of a turn | largest | turns | error "
          "|\n| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for program in dict.fromkeys(program for _, program, _, _ in rows):
        there = [set(build.rows(program)) for build in builds]
        figures = []
        for what, _, row, counter in (row for row in rows if row[1] == program):
            lacking = [build.name for build, names in zip(builds, there) if row not in names]
            if lacking:
                print(f"| {what} | missing in {' and '.join(lacking)}: {row} |")
                faults += 1
            else:
                figures.append(Figure(what, row, counter))
        measure(builds, program, figures, asked)
        for figure in figures:
            if figure.turns:
                print(figure.line(asked.at_least), flush=True)
                faults += figure.quotient() < asked.at_least
            elif not asked.rows:
                print(f"| {figure.what} | not measured: {figure.row} |")
                faults += 1
    return faults


def compare_hashes(builds):
    """Prints how many are equal; returns how many are not."""
    (old, old_apart), (new, new_apart) = (build.hashes() for build in builds)
    other = [name for name in old if new.get(name) != old[name]]
    print(f"\n{len(old) - len(other)} of {len(old)} hashes of iso_parity are the same; the new one "
          f"prints {len(new)}.")
    for name in other:
        print(f"    {name}: {old[name]} and {new.get(name, 'none')}")
    for build, apart in zip(builds, (old_apart, new_apart)):
        for line in apart:
            print(f"    {build.name}: {line}")
    return len(other) + len(new_apart) + (0 if old else 1)


def list_rows(build, rows):
    """Prints them; returns how many the build lacks."""
    there = {} if build is None else {program: set(build.rows(program))
                                      for program in {program for _, program, _, _ in rows}}
    faults = 0
    for what, program, row, counter in rows:
        lacks = build is not None and row not in there[program]
        faults += lacks
        print(f"{what}: iso_bench_{program} {row}" + (f", {counter}" if counter else "") +
              (" (missing)" if lacks else ""))
    return faults


def main():
    parser = parser_of(__doc__)
    parser.add_argument("revisions", nargs="*", metavar="OLD NEW")
    parser.add_argument("--device", choices=("host", "cuda"), default="host")
    parser.add_argument("--at-least", type=float, default=0.98)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--max-turns", "--most-turns", type=int, default=9)
    parser.add_argument("--rows", help="a regular expression of names of benchmarks' rows")
    parser.add_argument("--programs", nargs="+", default=sorted({row[1] for row in ROWS}),
                        help="with --rows: iso_bench_NAME (default: %(default)s)")
    parser.add_argument("--no-hashes", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--folder", type=pathlib.Path, default=TOP / "build/revisions")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--kokkos", help="where Kokkos is installed (default: that of .deps)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable of CMake for builds of revisions and source trees")
    parser.add_argument("--launcher", type=shlex.split, default=[],
                        help="before each benchmark: 'taskset -c 1'")
    asked = parser.parse_args()
    if len(asked.revisions) != 2 and not (asked.list and len(asked.revisions) < 2):
        parser.error(f"{len(asked.revisions)} revisions or folders (two are compared, and --list "
                     "takes one or none); name two")
    asked.max_turns = max(asked.turns, asked.max_turns)
    rows = rows_of_device(asked.device)
    programs = asked.programs if asked.rows else sorted({program for _, program, _, _ in rows})
    targets = [f"iso_bench_{program}" for program in programs]
    if not (asked.no_hashes or asked.list):
        targets.append("iso_parity")
    builds = [Build(name, targets, asked) for name in asked.revisions]
    if asked.list:
        faults = list_rows(builds[0] if builds else None, rows)
        raise SystemExit(f"{faults} rows are missing" if faults else 0)
    if asked.rows:
        rows = [(row, program, row, None) for program in programs for row in builds[1].rows(program)
                if re.search(asked.rows, row) and row in builds[0].rows(program)]
    faults = compare_speed(builds, rows, asked)
    differences = 0 if asked.no_hashes else compare_hashes(builds)
    if faults or differences:
        raise SystemExit(f"{faults} rows lie below {asked.at_least:g} or are missing, "
                         f"{differences} hashes or bits differ (each is printed above); mend them")


if __name__ == "__main__":
    main()
