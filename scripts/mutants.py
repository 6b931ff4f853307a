#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the edits of scripts/mutants.txt, one at a time, and says which test fails by each.

    scripts/mutants.py [--list | --check] [--only REGEX] [--tree DIR]

--list        prints the edits, and what is known of each at this revision; runs none
--check       looks whether each text to replace stands there once, and each test, and whether
              docs/building.md has the numbers that it prints; builds nothing
--only REGEX  edits whose names match, also where the result is known
--tree DIR    a folder with a build of its own, of which the sources become a copy of these
              (default: build/mutants/tree, made where it is missing)

Edits are made in the copy, never in this tree. An edit is `killed` where one of its test cases
fails by it, and `equivalent` where the list says why no test can. Anything else is a failure:
`survived`, or `broken` (it does not compile, or its test does not run). Results stand in
build/mutants/REVISION.txt. Called again, the script makes the edits that have no good result yet;
with changes that are not committed, all of them. Exit code 1: an edit has another result.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
LIST = TOP / "scripts/mutants.txt"
GOOD = ("killed", "equivalent")
# The tests see the same bits at -O1, which compiles in half the time.
OPTIONS = ["-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DISO_BUILD_PERF=OFF",
           "-DISO_BUILD_EXAMPLES=OFF"]
HANGS = 900  # seconds of a test
FOREIGN = {".git", ".deps", "build"}  # of a tree: not copied


def fail(sentence, code=1):
    sys.stderr.write(f"[isocenter] error: {sentence}\n")
    sys.exit(code)


@dataclasses.dataclass
class Mutant:
    """An edit. `cases` is a pattern of doctest, of the test cases of `test` that are run."""

    name: str
    file: str
    test: str
    cases: str
    old: str = ""
    new: str = ""
    reason: str = ""  # why it is equivalent; empty: it is not
    area: str = ""  # the heading that it stands under


def mutants_of(text):
    """Mutants, and the program of each test, by its name."""
    programs, mutants, area = {}, [], ""
    for number, line in enumerate(text.splitlines(), 1):
        mark, rest = line[:1], line[1:]
        heading = re.match(r"# -+ (.+?) -+$", line)
        area = heading.group(1) if heading else area
        if mark in ("", "#"):
            continue
        if mark == "!":
            program, *tests = rest.split()
            programs.update(dict.fromkeys(tests, program))
        elif mark == "@":
            words = [word.strip() for word in rest.split("|")]
            if len(words) != 4:
                fail(f"{LIST.name}, line {number}: {len(words)} words (name | file | test | cases)")
            mutants.append(Mutant(*words, area=area))
        elif mark in "-+" and mutants:
            of = mutants[-1]
            if mark == "-":
                of.old += rest + "\n"
            else:
                of.new += rest + "\n"
        elif mark == "=" and mutants:
            mutants[-1].reason += rest.strip() + " "
        else:
            fail(f"{LIST.name}, line {number} begins with '{mark}' (# ! @ - + or = is expected)")
    for m in mutants:
        # A line alone may be a part of one in the file.
        if m.old.count("\n") == 1 and m.new.count("\n") <= 1:
            m.old, m.new = m.old.strip(), m.new.strip()
    return mutants, programs


def edited(m, top):
    """The file's text with the edit, or why there is none."""
    try:
        text = (top / m.file).read_text(encoding="utf-8")
    except OSError as error:
        return None, f"{m.file} cannot be read ({error.strerror})"
    found = text.count(m.old) if m.old else 0
    if found != 1 or m.old == m.new:
        return None, f"its text stands {found} times in {m.file} (once, and another, is expected)"
    return text.replace(m.old, m.new), ""


def case_names():
    """The names of all test cases."""
    names = []
    for path in (TOP / "tests").rglob("*.cpp"):
        for parts in re.findall(r'TEST_CASE(?:_TEMPLATE)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)',
                                path.read_text(encoding="utf-8")):
            names.append("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', parts)))
    return names


def matches(pattern, name):
    """As doctest's patterns do."""
    expression = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern)
    return re.fullmatch(expression, name, re.IGNORECASE) is not None


def split_of(mutants):
    """How many there are, and in which areas, as docs/building.md says it."""
    areas = [m.area or "other places" for m in mutants]
    counts = [f"{areas.count(area)} in {area}" for area in dict.fromkeys(areas)]
    return f"{len(mutants)} edits: {', '.join(counts)}"


def check(mutants, programs):
    faults = []
    known = set(re.findall(r"iso_add_(?:test|file_test_program)\(\s*(\w+)|^  (\w+)$",
                           "\n".join(p.read_text(encoding="utf-8") for p in
                                     (TOP / "tests").rglob("CMakeLists.txt")), re.M))
    tests = {name for pair in known for name in pair if name}
    cases = case_names()
    names = [m.name for m in mutants]
    for m in mutants:
        why = edited(m, TOP)[1]
        if names.count(m.name) > 1:
            why = "there are two of this name"
        elif not why and m.test not in programs:
            why = f"no line with ! names the program of its test '{m.test}'"
        elif not why and m.test not in tests and m.test.removeprefix("app_") not in tests:
            why = f"there is no test '{m.test}'"
        elif not why:
            unknown = [p for p in m.cases.split(",") if not any(matches(p, c) for c in cases)]
            why = f"no test case is called '{unknown[0]}'" if unknown else ""
        if why:
            faults.append(f"{m.name}: {why}")
    page = TOP / "docs/building.md"
    if page.exists() and split_of(mutants) not in " ".join(
            page.read_text(encoding="utf-8").split()):
        faults.append(f"docs/building.md does not say '{split_of(mutants)}'")
    for fault in faults:
        print(f"FAILED: {fault}")
    print(split_of(mutants))
    print(f"{len(mutants)} edits, {sum(1 for m in mutants if m.reason)} of them equivalent, "
          f"{len(faults)} faults")
    return 1 if faults else 0


def git(*words):
    return subprocess.run(["git", *words], cwd=TOP, capture_output=True, check=True).stdout.decode()


class Tree:
    """The copy in which edits are made."""

    def __init__(self, folder, is_own):
        self.folder = folder
        self.build = folder / "build/openmp"
        self.original = None  # (path, bytes) of the file that is edited

        folder.mkdir(parents=True, exist_ok=True)
        files = [f for f in git("ls-files", "-z", "-co", "--exclude-standard").split("\0")
                 if f and (TOP / f).is_file()]
        for name in files:
            self.write(folder / name, (TOP / name).read_bytes(), (TOP / name).stat().st_mode)
        if is_own:
            kept = set(files)
            for path in [p for p in folder.rglob("*") if p.is_file() or p.is_symlink()]:
                name = path.relative_to(folder)
                if name.parts[0] not in FOREIGN and str(name) not in kept:
                    path.unlink()
            if (TOP / ".deps").exists() and not (folder / ".deps").exists():
                (folder / ".deps").symlink_to(TOP / ".deps")

    @staticmethod
    def write(path, content, mode):
        """Where it is another: a build takes what is newer."""
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)

    def run(self, command, folder=None, environment=None, seconds=None):
        """Exit code and output. Where this script is stopped, so is all that the command started:
        a compiler that went on would write an edit's object after the file is restored."""
        with subprocess.Popen(command, cwd=folder or self.folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as process:
            try:
                output = process.communicate(timeout=seconds)[0]
                return process.returncode, output
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                raise

    def configure(self):
        if (self.build / "build.ninja").exists():
            return
        code, output = self.run(["cmake", "--preset", "openmp", *OPTIONS])
        if code:
            fail("the copy does not configure; see its output\n" + output[-4000:])

    def make(self, program):
        """What the build printed; empty: it is built."""
        jobs = os.environ.get("ISO_JOBS", str(os.cpu_count()))
        code, output = self.run(
            ["cmake", "--build", "--preset", "openmp", "-j", jobs, "--target", program])
        return output if code else ""

    def test(self, name, cases):
        """('passed' | 'failed' | 'broken', the first test case that failed or what is wrong)"""
        listed = self.run(["ctest", "--test-dir", self.build, "-R", f"^{re.escape(name)}$",
                           "--show-only=json-v1"])[1]
        tests = json.loads(listed)["tests"]
        if len(tests) != 1 or "command" not in tests[0]:
            return "broken", f"ctest knows no built test {name}"
        properties = {p["name"]: p["value"] for p in tests[0].get("properties", [])}
        environment = dict(os.environ)
        for pair in properties.get("ENVIRONMENT", []):
            environment.update([pair.split("=", 1)] if "=" in pair else [])
        command = [*tests[0]["command"], f"--test-case={cases}", "--abort-after=1"]
        try:
            code, output = self.run(command, properties["WORKING_DIRECTORY"], environment, HANGS)
        except subprocess.TimeoutExpired:
            return "failed", f"no end within {HANGS} s"
        if code == 77 or re.search(r"test cases: +0 ", output):
            return "broken", f"{name} has run no test case '{cases}'"
        if code == 0:
            return "passed", ""
        case = re.search(r"^TEST CASE:\s+(.+)", output, re.M)
        signalled = f"signal {-code}" if code < 0 else "no test case named"
        return "failed", case.group(1).strip() if case else signalled

    def edit(self, m, text):
        path = self.folder / m.file
        self.original = (path, path.read_bytes())
        path.write_text(text, encoding="utf-8")

    def restore(self):
        if self.original:
            path, content = self.original
            path.write_bytes(content)  # newer than what was built of the edit
            self.original = None


def result_of(tree, m, program):
    """(result, what says so)"""
    text, why = edited(m, tree.folder)
    if text is None:
        return "broken", why
    tree.edit(m, text)
    try:
        output = tree.make(program)
        if output:
            return "broken", "it does not build: " + " ".join(
                re.findall(r"^.*\berror\b.*", output, re.M)[:1])[:200]
        verdict, what = tree.test(m.test, m.cases)
    finally:
        tree.restore()
    if verdict == "broken":
        return verdict, what
    if m.reason:
        return (("equivalent", m.reason.strip()) if verdict == "passed" else
                ("broken", f"not equivalent, as the list has it: {what} fails"))
    return ("killed", what) if verdict == "failed" else ("survived", f"{m.test}: {m.cases}")


class Results:
    """One edit a line: name, result, seconds, what says so."""

    def __init__(self, lists_only):
        revision = git("rev-parse", "--short=12", "HEAD").strip()
        changed = bool(git("status", "--porcelain").strip())
        self.path = TOP / f"build/mutants/{revision}{'-changed' if changed else ''}.txt"
        self.lines = {}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and not (changed and not lists_only):
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self.lines[line.split()[0]] = line

    def is_good(self, name):
        return name in self.lines and self.lines[name].split()[1] in GOOD

    def put(self, name, result, seconds, what):
        self.lines[name] = f"{name:<40} {result:<10} {seconds:5.0f} s  {what}"
        self.path.write_text("".join(line + "\n" for line in self.lines.values()), encoding="utf-8")
        print(self.lines[name], flush=True)


def run_all(mutants, programs, results, folder, is_own):
    def stop(number, _):  # what is edited is restored on the way out
        sys.exit(128 + number)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    tree = Tree(folder, is_own)
    tree.configure()
    # Without an edit, all pass; else it is not the edit that fails a test.
    begun = set()
    for m in mutants:
        program = programs[m.test]
        if (m.test, m.cases) in begun:
            continue
        begun.add((m.test, m.cases))
        output = tree.make(program)
        if output:
            fail("the copy does not build without an edit; see its output\n" + output[-4000:])
        verdict, what = tree.test(m.test, m.cases)
        if verdict != "passed":
            fail(f"{m.test} does not pass without an edit ({what}); mend this first")
    for m in mutants:
        begin = time.monotonic()
        result, what = result_of(tree, m, programs[m.test])
        results.put(m.name, result, time.monotonic() - begin, what)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print what is known; run nothing")
    parser.add_argument("--check", action="store_true", help="look whether texts are there")
    parser.add_argument("--only", metavar="REGEX", help="edits whose names match")
    parser.add_argument("--tree", type=pathlib.Path, metavar="DIR", help="where edits are made")
    args = parser.parse_args()
    mutants, programs = mutants_of(LIST.read_text(encoding="utf-8"))
    if args.check:
        sys.exit(check(mutants, programs))
    folder = (args.tree or TOP / "build/mutants/tree").resolve()
    if folder == TOP or folder in TOP.parents:
        fail(f"--tree is {folder}, which holds this tree (edits would be made in it)", 2)
    wanted = [m for m in mutants if not args.only or re.search(args.only, m.name)]
    if not wanted:
        fail(f"no edit's name matches '{args.only}' (--list prints them)", 2)
    results = Results(args.list)
    if not args.list:
        if check(mutants, programs):
            fail("the list does not fit this tree; mend what is printed above")
        chosen = [m for m in wanted if args.only or not results.is_good(m.name)]
        run_all(chosen, programs, results, folder, args.tree is None)
    bad = 0
    for m in wanted:
        bad += 0 if results.is_good(m.name) else 1
        if args.list or not results.is_good(m.name):
            print(results.lines.get(m.name, f"{m.name:<40} not run"))
    print(f"{len(wanted) - bad} of {len(wanted)} killed or equivalent ({results.path})")
    sys.exit(1 if bad and not args.list else 0)


if __name__ == "__main__":
    main()
