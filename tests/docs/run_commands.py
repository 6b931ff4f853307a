#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of README.md, CONTRIBUTING.md, docs/ and perf/cluster/README.md, fenced or
indented, and compares what the pages show.

Every command runs as it stands, page after page, in one scratch folder that has links to all that
this repository has. The built tool is build/openmp/apps/iso/iso there, and iso. What a command
needs or why it does not run stands in RULES and nowhere else: a command without a rule runs in
every test, and fails where it takes two minutes of processor time; a rule without a command fails.
So does a warning of `iso` that WARNINGS does not have.

A block ```text below a block of commands shows lines of their output. They are compared by columns:
text, numbers and hashes are equal, times and backends are free. With --all a command whose comment
says how many minutes it takes may take twice as long, and the first pages have five minutes each.

Usage: run_commands.py --iso PROGRAM --build FOLDER          short ones that need no data
       run_commands.py --iso PROGRAM --build FOLDER --data   short ones that need data; status 77
                                                             without the data
       run_commands.py --iso PROGRAM --build FOLDER --all    all, those by mpirun where the
                                                             build has MPI; without data it fails
       run_commands.py --list                                every command, and its rule
       run_commands.py --self-test
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
CHEST, PLAN = ".deps/data/chest_ct.nii.gz", ".deps/data/plan/rtss.dcm"
# Those whose files others read first.
FIRST = ["dose", "gamma", "reconstruction", "scans", "dicom"]

SLOW = "slow"
SHORT = 120  # seconds of processor time
# The first pages promise a picture in five minutes: by the clock with --all, where nothing else
# should run, and always by the time of two processors.
FIRST_PAGES, FIRST_PICTURE = "docs/start/", 300  # seconds


def data(path):
    """Needs a file of scripts/get_example_data.sh."""
    return ("data", path)


def mpi(kind):
    """Needs a build with MPI, its mpirun, and in a build with CUDA a GPU a rank; else as `kind`."""
    return ("mpi", kind)


def never(reason):
    """Does not run, for a reason."""
    return ("never", reason)


BUILT = never("scripts/test.sh, which runs this check, does it before")
SLURM = never("needs SLURM; tests of perf/cluster run both scripts with a stand-in")
TESTS = never("this check is one of these tests; the release's stage tests runs all of them")
ALL_CHECKS = never("starts this check")
CUDA = never("needs a GPU")

# (page, expression that the whole command matches, what holds for it); the first match counts.
RULES = [
    ("README.md", r"\./scripts/setup\.sh|cmake --preset openmp .*", BUILT),
    ("README.md", r"cmake (--preset tool|--install|-S) .*", SLOW),
    ("README.md", r"\S+/iso (demo|verify|sweep .*)", SLOW),
    ("README.md", r"\S+/iso dvh .*", data(CHEST)),
    ("docs/building.md", r"\./scripts/demo\.sh", SLOW),
    ("docs/building.md", r"(\./)?scripts/test\.sh( --all)?", TESTS),
    ("docs/building.md", r"scripts/test\.sh --label quick", never(
        "a ctest within a ctest writes its log; the release's stage documents begins with it")),
    ("docs/building.md", r"cmake --preset openmp && .*", BUILT),
    ("docs/building.md", r"scripts/compilers\.sh 'clang\+\+ .*", never(
        "the release's stages clang and gcc have a row each")),
    ("docs/building.md", r"scripts/compilers\.sh --all", never(
        "hours; no run has all rows, and the release two of them")),
    ("docs/building.md", r"scripts/compilers\.sh --root .*", never(
        "downloads another release of Debian; no run has it")),
    ("docs/building.md", r"\.ci/run|scripts/release\.sh", ALL_CHECKS),
    ("CONTRIBUTING.md", r"scripts/test\.sh", TESTS),
    ("CONTRIBUTING.md", r"scripts/lint\.sh --fix", never(
        "changes files; docs/building.md's scripts/lint.sh finds what it would change")),
    ("CONTRIBUTING.md", r"\.ci/run|scripts/release\.sh", ALL_CHECKS),
    ("docs/building.md", r"perf/compare_revisions\.py .*", never(
        "builds two revisions, or needs a GPU; perf/test_compare_revisions.py runs it on fakes")),
    ("docs/building.md", r"scripts/lint\.sh", SLOW),
    ("docs/building.md", r"cmake (--install|--build|-S) .*", SLOW),
    ("docs/building.md", r"build/openmp/perf/.*", SLOW),
    ("docs/sweep.md", r"iso sweep --file .*", SLOW),
    ("docs/sweep.md", r"iso sweep --merge .*|scripts/sweep_report\.py .*", SLOW),
    ("docs/sweep.md", r"mpirun .*|iso sweep --scaling .*", mpi("short")),
    ("docs/algorithms/dose.md", r"iso dose --ct .*|scripts/chest_structures\.py .*", data(CHEST)),
    ("docs/algorithms/dose_matrices.md", r"iso matrix bench .*|\S+ scripts/matrix_roofline\.py .*",
     SLOW),
    ("docs/algorithms/dose_matrices.md", r"python scripts/pyradplan_matrices\.py .*", never(
        "pyRadPlan wants an environment of its own, of many packages")),
    ("docs/algorithms/dvh.md", r".*FOLDER.*|scripts/dvh_plot\.py dvh\.csv dvh\.png #2", SLOW),
    ("docs/algorithms/dvh.md", r"(iso|scripts/dvh_plot\.py) .*", data(PLAN)),
    ("docs/algorithms/dvh.md", r".*peers.*", SLOW),
    ("docs/algorithms/dvh.md", r"scripts/get_example_data\.sh", SLOW),
    ("docs/algorithms/gamma.md", r".*peers.*|cmake --build .*", SLOW),
    ("docs/algorithms/iterative.md", r"iso reconstruct .*", SLOW),
    ("docs/algorithms/numerics.md", r"ISO_MATH_SEARCH=.*", SLOW),
    ("docs/algorithms/ranks.md", r"mpirun .*", mpi("short")),
    ("docs/algorithms/scans.md", r".*", data(CHEST)),
    ("docs/notes/dose_papers.md", r".*--backend cuda.*", CUDA),
    ("docs/notes/dose_papers.md", r".*", SLOW),
    ("docs/start/cluster.md", r"(ISO_\w+=\w+ )*scripts/.*", never(
        "they build for a GPU; the release's stage cuda does it by `ISO_CUDA=on scripts/setup.sh` "
        "and `scripts/build.sh cuda all benchmarks`")),
    ("docs/start/cluster.md", r"cmake .*", never("needs NCCL, which no machine of CI has")),
    ("docs/start/cluster.md", r"mpirun .*", mpi("short")),
    ("docs/start/cluster.md", r"sbatch .*", SLURM),
    ("perf/cluster/README.md", r"sbatch .*", SLURM),
    ("perf/cluster/README.md", r"git clone .*", never("REPOSITORY is where the source is")),
    ("perf/cluster/README.md", r"\./scripts/setup\.sh|scripts/build\.sh openmp iso", BUILT),
    ("perf/cluster/README.md", r"mpirun .*", mpi(SLOW)),
    ("perf/cluster/README.md", r"\"\$ISO\" sweep --merge .*|.*(sweep_report|shares_of)\.py .*",
     mpi(SLOW)),
    ("perf/cluster/README.md", r"pip install reframe-hpc|reframe .*", never(
        "perf.reframe_sweep and perf.reframe_ranks run ReFrame where it is installed")),
    ("docs/start/dicom.md", r"scripts/get_example_data\.sh", SLOW),
    ("docs/start/dicom.md", r".*", data(CHEST)),
    ("docs/start/code.md", r".*", SLOW),
    ("docs/start/scan.md", r"iso (project|reconstruct) .*|iso info head_scan/.*", SLOW),
    ("docs/python.md", r".*--cuda", CUDA),
    ("docs/python.md", r".*", never(
        "scripts/test.sh --label python builds, installs and runs these")),
    ("docs/peers.md", r".*--device cuda .*", CUDA),
    ("docs/peers.md", r".* backprojection\.json", never("backprojection.json comes from a GPU")),
    ("docs/peers.md", r".*", SLOW),
    ("docs/product_benchmarks.md", r".*--backend cuda.*", CUDA),
    ("docs/product_benchmarks.md", r".* rows\.json .*", never(
        "rows.json is what iso_bench_spmv wrote on a GPU")),
    ("docs/product_benchmarks.md", r".*", SLOW),
]

OF_OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # as cmake/iso_add_ranks_test.cmake

# Warnings that the pages explain: (expression of the command, of the warning).
WARNINGS = [(r".*iso gamma .*", r".* of the compared points lie outside of .*"),
            (r"iso reconstruct --projections 'scan/.*", r".* readings are too dark .*"),
            (r"(.*iso|.*\"\$ISO\") sweep .*", r".* backend cuda is not in this build.*")]

# Words of the pages that stand for something of the reader's.
PLACEHOLDERS = {
    "README.md": {"REFERENCE": "reference.mha", "EVALUATED": "evaluated.mha",
                  "DOSE": "chest_dose.mha", "SET": "chest_structures.dcm",
                  "DIR": "prefix"},
    # Two processes of a thread each, on any machine with two cores.
    "perf/cluster/README.md": {"4 --map-by numa:PE=16": "2", "OMP_NUM_THREADS=16":
                               "OMP_NUM_THREADS=1"},
    "docs/algorithms/dvh.md": {"FOLDER": "patient", "plan.json": "examples/plans/chest_ct.json"},
    "docs/building.md": {"DIR": "$PWD/prefix", "KOKKOS_DIR": "$PWD/kokkos"},
}

PROGRAM = re.compile(
    r"(?:\w+=\S* )*(?:\. |(?:iso|iso_\w+|cmake|ctest|python[\d.]*|pip|git|sed|source|export|cd|"
    r"mpirun|srun|sbatch|reframe|apt|apt-get|[\w.-]+\.(?:py|sh)|(?:\./)?(?:[\w.-]+/)+[\w.-]+)"
    r"(?: |$))")


class command:
    def __init__(self, page, line, text, number, seconds=None):
        self.page, self.line, self.text = page, line, text
        self.seconds = seconds  # that the page says it takes
        self.rule = rule_of(page, text, number)

    def name(self):
        return f"{self.page}:{self.line}: {self.text}"


def rule_of(page, text, number=1):
    """Equal commands of a page are numbered: ' #2' behind an expression is the second alone."""
    for rule in RULES:
        if rule[0] == page and (re.fullmatch(rule[1], text)
                                or re.fullmatch(rule[1], f"{text} #{number}")):
            return rule
    return None


def seconds_said(line):
    """Of a command's comment, such as `# 2 cores: a minute` or `# 3 min`; or None."""
    said = re.search(r"\s#.*\b(a|\d+) min(?:ute)?\b", line)
    return said and 60 * int(said.group(1).replace("a", "1"))


def without_comment(line):
    return re.sub(r"(^|\s+)#\s.*$", "", line).rstrip()


def blocks(page):
    """(line, kind, lines) of the blocks: "commands", "output" or another language's."""
    lines = page.split("\n")
    number, marked = 0, False
    while number < len(lines):
        fence = re.match(r"^( *)```(\w*)", lines[number])
        begin = number + 1
        if fence:
            number = begin
            while number < len(lines) and lines[number].strip() != "```":
                number += 1
            kind = {"sh": "commands", "bash": "commands", "": "commands", "text": "output"}.get(
                fence.group(2), fence.group(2))
            yield begin + 1, "marked" if marked else kind, lines[begin:number]
            marked = False
        elif lines[number].startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            while number < len(lines) and lines[number].startswith("    "):
                number += 1
            block = [line[4:] for line in lines[begin - 1:number]]
            if any(PROGRAM.match(line.lstrip()) for line in block):
                yield begin, "commands", block
            continue
        else:
            marked = lines[number].startswith("<!-- from ") or marked and not lines[number].strip()
        number += 1


def commands_of(page, text):
    """Lists of (commands of a block, lines that are shown of their output or None)."""
    found, seen = [], {}
    for line, kind, lines in blocks(text):
        if kind == "output" and found and found[-1][1] is None:
            found[-1] = (found[-1][0], lines)
        if kind != "commands":
            continue
        whole, begin, here, seconds = "", line, [], None
        for number, part in enumerate(lines, line):
            seconds = seconds_said(part) or seconds
            part = without_comment(part)
            begin = begin if whole else number
            whole = f"{whole} {part.strip()}".strip()
            if whole.endswith("\\"):
                whole = whole[:-1].rstrip()
                continue
            if whole:
                seen[whole] = seen.get(whole, 0) + 1
                here.append(command(page, begin, whole, seen[whole], seconds))
            whole, seconds = "", None
        found.append((here, None))
    return found


def free(line):
    """A line of output without what differs between runs and machines."""
    line = re.sub(r"\bin [\d.e+-]+ m?s\b", "in * s", line)
    line = re.sub(r"[\d.e+-]+ (GUPS|GB/s|TB/s|GFLOP/s|Gflop/s|Tflop/s)\b", r"* \1", line)
    return re.sub(r"\bon (serial|openmp|threads|cuda)\b", "on *", line).split()


def missing_lines(shown, printed):
    """Those that do not stand, in this order, in what was printed."""
    left = [free(line) for line in printed.split("\n")]
    missing = []
    for line in filter(str.strip, shown):
        wanted = free(line)
        if wanted in left:
            left = left[left.index(wanted) + 1:]
        else:
            missing.append(line)
    return missing


def pages():
    def place(path):
        return (path.name == "README.md", path.stem not in FIRST,
                FIRST.index(path.stem) if path.stem in FIRST else 0, path)

    found = sorted((TOP / "docs").rglob("*.md"), key=place)
    return [*found, TOP / "README.md", TOP / "CONTRIBUTING.md", TOP / "perf/cluster/README.md"]


def all_commands():
    """[(page, [(commands, shown)])]"""
    return [(str(path.relative_to(TOP)),
             commands_of(str(path.relative_to(TOP)), path.read_text(encoding="utf-8")))
            for path in pages()]


def stale_rules(everything):
    used = {id(c.rule) for _, found in everything for block, _ in found for c in block}
    return [f"no command of {rule[0]} matches '{rule[1]}'" for rule in RULES
            if id(rule) not in used]


def kind_of(rule):
    what = rule[2] if rule else "short"
    return what[0] if isinstance(what, tuple) else what


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def launcher_of(build):
    """The program that starts ranks of this build, or None."""
    cache = build / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.is_file() else ""
    found = re.search(r"^MPIEXEC_EXECUTABLE:\w+=(/.*)$", text, re.M)
    return pathlib.Path(found.group(1)) if found and os.access(found.group(1), os.X_OK) else None


def count_gpus():
    """Those of this machine, by its driver."""
    if not shutil.which("nvidia-smi"):
        return 0
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return len(re.findall(r"^GPU ", listed.stdout, re.M))


def ranks_of(text):
    """How many processes a command starts."""
    asked = re.match(r"mpirun -n (\d+) ", text)
    return int(asked.group(1)) if asked else 1


def lack_of_gpus(text, gpus):
    """Why a command does not run with so many GPUs, or None: two ranks on one are refused. In a
    build without CUDA `gpus` is None."""
    if gpus is None or ranks_of(text) == 1 or ranks_of(text) <= gpus:
        return None
    return f"it takes {ranks_of(text)} GPUs, and {gpus} are here"


class runner:
    def __init__(self, folder, given):
        self.folder, self.given = pathlib.Path(folder), given
        self.failures = 0
        self.ran = 0
        for path in TOP.iterdir():
            if path.name not in ("build", ".git"):
                (self.folder / path.name).symlink_to(path)
        (self.folder / "build").mkdir()
        (self.folder / "build/openmp").symlink_to(given.build.resolve())
        (self.folder / "kokkos").symlink_to(TOP / ".deps/kokkos/openmp")
        (self.folder / "bin").mkdir()
        (self.folder / "bin/iso").symlink_to(given.iso.resolve())
        self.environment = {}
        self.without_gpus = set()  # pages of which ranks did not run
        lacks = given.build / "left_out.txt"
        launcher = launcher_of(given.build)
        self.has_mpi = bool(launcher) and lacks.is_file() and (
            "iso::mpi" not in lacks.read_text(encoding="utf-8"))
        if self.has_mpi:
            # Another MPI's mpirun on PATH would start processes that do not know each other.
            # MPICH's looks for its own programs beside itself, and so is no link.
            mpirun = self.folder / "bin/mpirun"
            mpirun.write_text(f"#!/bin/sh\nexec {shlex.quote(str(launcher))} \"$@\"\n",
                              encoding="utf-8")
            mpirun.chmod(0o755)
        on_cuda = subprocess.run([given.iso, "info", "--backend", "cuda", "--no-ceilings"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                 check=False)
        self.gpus = None if "this build has" in on_cuda.stderr else count_gpus()

    def open_page(self):
        """Without the environment of Python that an earlier page has made."""
        shutil.rmtree(self.folder / "peers", ignore_errors=True)
        self.environment = dict(os.environ, PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}",
                                **OF_OPEN_MPI)

    def fail(self, what):
        self.failures += 1
        print(f"FAILED: {what}", flush=True)

    def text_of(self, c):
        text = c.text
        for word, for_it in PLACEHOLDERS.get(c.page, {}).items():
            text = re.sub(rf"(?<![\w]){word}(?!\w)", for_it, text)
        # A script of bash looks for the repository beside itself.
        return re.sub(r"(^|\s)(?:\./)?(scripts/\w+\.sh)", rf"\1{TOP}/\2", text)

    def run(self, c):
        """What it prints, or None."""
        begin, before = time.monotonic(), processor_time()
        limit = 7200 if self.given.all else 1500  # of the clock: on a busy machine, too
        with subprocess.Popen(["bash", "-e", "-o", "pipefail", "-c", self.text_of(c)],
                              cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True) as process:
            try:
                printed, errors = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                self.fail(f"{c.name()}: takes longer than {limit} s")
                return None
        used, took = processor_time() - before, time.monotonic() - begin
        print(f"{took:6.1f} s  {c.name()}", flush=True)
        self.ran += 1
        if used > SHORT and not self.given.all:
            self.fail(f"{c.name()}: takes {used:.0f} s of processor time; give it the rule SLOW")
        if self.given.all and c.seconds and took > 2 * c.seconds:
            self.fail(f"{c.name()}: takes {took:.0f} s, and its page says {c.seconds}")
        if process.returncode:
            self.fail(f"{c.name()}: status {process.returncode}: {printed[-2000:]}{errors[-2000:]}")
            return None
        active = re.search(r"\. (\S+)/bin/activate$", c.text)
        if active:
            self.environment["PATH"] = (f"{self.folder / active.group(1) / 'bin'}:"
                                        f"{self.environment['PATH']}")
        for name, value in re.findall(r"(\w+)=(\S+)", self.text_of(c)):
            if c.text.startswith("export ") and name != "PATH":
                self.environment[name] = value.replace("$PWD", str(self.folder))
        warnings = [line for line in re.findall(r"^iso: warning: .*$", errors, re.M)
                    if not any(re.fullmatch(on, c.text) and re.fullmatch(explained, line)
                               for on, explained in WARNINGS)]
        if warnings:
            self.fail(f"{c.name()}: {warnings}")
        return printed

    def wanted(self, c):
        kind = kind_of(c.rule)
        is_mpi = kind == "mpi"
        kind = c.rule[2][1] if is_mpi else kind
        if kind == "never" or self.given.page and c.page not in self.given.page:
            return False
        if is_mpi and not self.has_mpi and (self.given.all or kind == "short" and
                                            not self.given.data):
            print(f"not run: {c.name()} (the build has no MPI, or its mpirun is not there); "
                  "install libopenmpi-dev", flush=True)
            return False
        lack = lack_of_gpus(c.text, self.gpus) if is_mpi else None
        if is_mpi and not lack and c.page in self.without_gpus:
            lack = "it reads what ranks write that did not run"
        if lack:
            self.without_gpus.add(c.page)
        if lack and (self.given.all or kind == "short" and not self.given.data):
            print(f"not run: {c.name()} ({lack}); test the preset openmp", flush=True)
        if lack:
            return False
        if self.given.all:
            return True
        if kind == "data" and self.given.data and not (TOP / c.rule[2][1]).is_file():
            print(f"not run: {c.name()} ({c.rule[2][1]} is not there); run "
                  "scripts/get_example_data.sh", flush=True)
            return False
        return kind == ("data" if self.given.data else "short")

    def block(self, block, shown):
        """One after the other; the output is compared where all of them ran. What they print."""
        printed = [self.run(c) if self.wanted(c) else None for c in block]
        text = "".join(filter(None, printed))
        if shown is not None and None not in printed:
            for line in missing_lines(shown, text):
                self.fail(f"{block[-1].page}:{block[-1].line}: does not print '{line}' but\n{text}")
        return text


def written_program(run):
    """The program and the CMakeLists.txt of README.md, which its commands build."""
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    program = re.search(r"^```cpp\n(.*?)^```", readme, re.S | re.M).group(1)
    lists = re.search(r"^`app/CMakeLists.txt`:\n\n((?:    .*\n)+)", readme, re.M).group(1)
    (run.folder / "app").mkdir()
    (run.folder / "app/main.cpp").write_text(program, encoding="utf-8")
    (run.folder / "app/CMakeLists.txt").write_text(re.sub("^    ", "", lists, flags=re.M),
                                                   encoding="utf-8")


def maxima_of_dose(run, page, printed):
    """The rows of the table that the commands' lines make; chest doses come twice."""
    text = (TOP / page).read_text(encoding="utf-8")
    for line in filter(re.compile(" voxels, ").search, printed.split("\n")):
        found = re.match(r"(\d+ x \d+ x \d+) voxels, (\d+) beam.* at most (\S+) Gy for 1 photon.*, "
                         r"at \(([^)]*)\) mm", line)
        row = f"| {' | '.join(found.groups())} |" if found else line
        if row not in text:
            run.fail(f"{page} does not have '{row}'")


def scan_comes_back(run, page, _):
    """The volume of the scan is the CT that was scanned."""
    python = TOP / ".deps/venv/bin/python"
    if not (run.folder / "scan").is_dir():
        return
    if not python.exists():
        print(f"not run: the comparison of a scan with its CT ({python} is not there); run "
              "scripts/setup.sh")
        return
    done = subprocess.run([python, "-B", TOP / "tests/docs/compare_with_ct.py", TOP / CHEST,
                           run.folder / "volume.mha"], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    if done.returncode:
        run.fail(f"the scan of {page} does not come back onto its CT: {done.stderr}")


def remedies_of(text):
    """Options and fields of a geometry that the rows below `If the slices look wrong` name: lists
    (options to leave out, options, fields) of what each row says to change, one list a way."""
    table = re.search(r"^## If the slices look wrong\n(.*?)(?=^## |\Z)", text, re.S | re.M).group(1)
    for row in (line.split("|")[3] for line in table.split("\n")
                if re.match(r"\| (?!picture|---)", line)):
        codes = re.findall(r"`([^`]*)`", row)
        out = [code for code in codes if f"replace `{code}`" in row]
        fields = [code for code in codes if code.startswith('"')]
        ways = [code for code in codes if code.startswith("--") and code not in out]
        yield row.strip(), [(" ".join(out), way, fields) for way in ways or [""]]


def remedies_run(run, page, _):
    """What the page says to do where slices look wrong runs, on a small scan of the same form."""
    if not run.given.all:
        return
    text = (TOP / page).read_text(encoding="utf-8")
    scan = json.loads((TOP / "examples/start/micro_ct.json").read_text(encoding="utf-8"))
    scan["detector"] = {"pixels": [40, 40], "pitch_mm": [1.28, 1.28]}
    scan["angles_deg"]["count"] = 40
    (run.folder / "pixels.txt").write_text("3 5\n", encoding="utf-8")
    reconstruct = next(c.text for block, _ in commands_of(page, text) for c in block
                       if c.text.startswith("iso reconstruct "))
    reconstruct = reconstruct.replace("head_scan/", "small_scan/").replace(
        "examples/start/micro_ct.json", "small.json")
    project = ("iso project --phantom shepp-logan --width 16 --size 40 --geometry small.json "
               "--scan small_scan --photons 50000")
    (run.folder / "small.json").write_text(json.dumps(scan), encoding="utf-8")
    run.run(command(page, 0, project, 1))
    for row, ways in remedies_of(text):
        for out, way, fields in ways:
            if not way and not fields or out not in reconstruct:
                run.fail(f"{page}: '{row}' names nothing that can be run")
                continue
            changed = json.loads(json.dumps(scan))
            for field in fields:
                name, value = next(iter(json.loads(f"{{{field}}}").items()))
                changed["angles_deg" if name in scan["angles_deg"] else "detector"][name] = value
            (run.folder / "small.json").write_text(json.dumps(changed), encoding="utf-8")
            run.run(command(page, 0, f"{reconstruct.replace(out, '')} {way}", 1))


# What else is held against a page, once its commands ran.
CHECKS = {"docs/start/scan.md": remedies_run, "docs/algorithms/dose.md": maxima_of_dose,
          "docs/algorithms/scans.md": scan_comes_back}


def self_test():
    page = ("A\n\n```sh\niso a \\\n  --b # c\nsed 's/#/x/' f\n```\n\nprints\n\n"
            "```text\nx 1 ok\n```\n\n"
            "    y = a/b c\n    z = 2\n\n    ISO_X=1 scripts/a.py --d  # e\n    # f\n\n- item\n"
            "    iso within an item\n\n<!-- from e.txt -->\n```text\nno output\n```\n")
    found = commands_of("p.md", page)
    texts = [[c.text for c in block] for block, _ in found]
    good = texts == [["iso a --b", "sed 's/#/x/' f"], ["ISO_X=1 scripts/a.py --d"]]
    good = good and [shown for _, shown in found] == [["x 1 ok"], None]
    shown = ["a   b", "n 12 in 3.1 s; hash 0a"]
    printed = "iso\na b\nn   12 in 0.2 s; hash 0a\n"
    good = good and not missing_lines(shown, printed)
    good = good and len(missing_lines(shown, printed.replace("12", "13"))) == 1
    good = good and len(missing_lines(shown, printed.replace("0a", "0b"))) == 1
    good = good and len(missing_lines(shown[::-1], printed)) == 1
    good = good and not missing_lines(["2 on openmp in 1 ms"], "2 on serial in 7.5e-05 s")
    lines = ("x  # 2 cores: a minute", "x  # b; 3 min", "x  # minutes", "3 min")
    said = [seconds_said(line) for line in lines]
    good = good and said == [60, 180, None, None]
    rows = ("## If the slices look wrong\n| picture | a | b |\n| --- | --- | --- |\n"
            "| p | q | add `--a b` |\n| p | q | replace `--w h` by `--c 1`, or `--d`, with "
            "`\"r\": 2` |\n| p | q | pray |\n")
    good = good and [ways for _, ways in remedies_of(rows)] == [
        [("", "--a b", [])], [("--w h", "--c 1", ['"r": 2']), ("--w h", "--d", ['"r": 2'])],
        [("", "", [])]]
    good = good and lack_of_gpus("mpirun -n 4 iso x", None) is None
    good = good and lack_of_gpus("mpirun -n 4 iso x", 4) is None
    good = good and lack_of_gpus("iso sweep --scaling x", 0) is None
    good = good and lack_of_gpus("mpirun -n 2 iso x", 1) == "it takes 2 GPUs, and 1 are here"
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        good = good and launcher_of(build) is None
        cache = build / "CMakeCache.txt"
        cache.write_text("A:B=c\nMPIEXEC_EXECUTABLE:FILEPATH=MPIEXEC_EXECUTABLE-NOTFOUND\n",
                         encoding="utf-8")
        good = good and launcher_of(build) is None
        cache.write_text(f"MPIEXEC_EXECUTABLE:FILEPATH={sys.executable}\n", encoding="utf-8")
        good = good and launcher_of(build) == pathlib.Path(sys.executable)
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iso", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--data", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--page", action="append", help="these pages alone")
    given = parser.parse_args()
    if given.self_test:
        return self_test()
    everything = all_commands()
    faults = stale_rules(everything)
    for fault in faults:
        print(f"FAILED: {fault}")
    if given.list:
        for _, found in everything:
            for c in (c for block, _ in found for c in block):
                what = c.rule[2][1] if c.rule and isinstance(c.rule[2], tuple) else ""
                print(f"{kind_of(c.rule):5}  {c.name()}" + (f"  ({what})" if what else ""))
        return 1 if faults else 0
    if not given.iso or not given.build:
        parser.error("--iso and --build are needed")
    absent = [name for name in (CHEST, PLAN) if not (TOP / name).is_file()]
    if CHEST in absent and given.data or absent and given.all:
        print(f"not run: commands on data ({' and '.join(absent)}: not there); run "
              "scripts/get_example_data.sh")
        return 1 if given.all else 77
    with tempfile.TemporaryDirectory() as folder:
        run = runner(folder, given)
        run.failures = len(faults)
        written_program(run)
        for page, found in everything:
            run.open_page()
            before, began = processor_time(), time.monotonic()
            printed = "".join([run.block(block, shown) for block, shown in found])
            used, took = processor_time() - before, time.monotonic() - began
            if page.startswith(FIRST_PAGES) and (used > 2 * FIRST_PICTURE or
                                                 given.all and took > FIRST_PICTURE):
                run.fail(f"{page}: takes {took:.0f} s, {used:.0f} s of processor time, and has "
                         "five minutes")
            if page in CHECKS and printed:
                CHECKS[page](run, page, printed)
        print(f"{run.ran} commands, {run.failures} failures")
        if not run.ran:
            print("FAILED: no command ran")
        return 1 if run.failures or not run.ran else 0


if __name__ == "__main__":
    sys.exit(main())
