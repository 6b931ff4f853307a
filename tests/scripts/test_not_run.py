# SPDX-License-Identifier: BSD-3-Clause
"""test_not_run.py TOP: no test leaves out a part in silence.

A part that cannot run here is said by `not_run` (tests/support/not_run.hpp, tests/app/expect.sh) or
by a line that begins with `not run: `; a test of which nothing runs ends with 77; one that a build
has not is said by iso_left_out. This finds what does none of these:

- C++: a message that is followed by `return` or `continue`, or that speaks of what is skipped; a
  test case that doctest skips, but for want of DCMTK, which CMake says;
- bash: `exit 0` or a bare `exit` within a condition; `skipped`; a condition on a file, a program or
  a Python that has neither `not_run`, `skip`, `fail` nor exit code 77;
- Python: a sentence that is printed and speaks of what is skipped or left out;
- CMake: a test behind a condition on a file, a package or a program, without iso_left_out.

The tests of the Python package skip by pytest, which prints its reasons.
"""
import ast
import pathlib
import re
import sys

FOLDERS = ("tests", "examples", "perf")
# A comment of this form in or above a condition says why nothing is missing.
EXCEPTION = re.compile(r"#.*\bnothing is left out\b|exit 0 # as the rest ran")
ASKS = re.compile(r"\[ !? ?-[efdxrs] |\[ -[nz] \"\$\{ISO_TEST|command -v|import numpy")
ASKED = re.compile(r"ISO_TEST_\w+|command -v \w+")
SAYS = re.compile(r"\bnot_run\b|\bskip\b|\bfail\b|exit 77|not run: |\binstall\b")


def in_cpp(text):
    """(line, what is wrong) of a C++ source."""
    for found in re.finditer(r"\bMESSAGE\((?:[^;]|;(?=[^\n]))*?\);", text):
        rest = text[found.end():found.end() + 60].lstrip()
        if re.match(r"(return|continue)\b", rest) or re.search(
                r"\b(skipped|left out|not run)\b", found.group()):
            yield text.count("\n", 0, found.start()) + 1, "a part is left out: say so by not_run"
    for found in re.finditer(r"\bdoctest::skip\((?!!files::has_dicom\))", text):
        yield text.count("\n", 0, found.start()) + 1, "doctest skips it in silence: use not_run"


def in_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            said = "".join(part.value for part in ast.walk(node) if isinstance(part, ast.Constant)
                           and isinstance(part.value, str))
            if (re.search(r"\b(skipped|skipping|left out|not run)\b", said)
                    and "not run: " not in said):
                yield node.lineno, "say so by a line that begins with 'not run: '"


def blocks(lines, begins, ends):
    """(first line, last line) of what begins and ends with the same indent."""
    for number, line in enumerate(lines):
        opened = re.match(rf"( *){begins}", line)
        if opened:
            for last in range(number, len(lines)):
                if re.match(rf"{opened.group(1)}{ends}", lines[last]):
                    yield number, last
                    break


def in_bash(text):
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if re.search(r"(^ +|(&&|\|\||then) )exit( 0)?\s*(;|\}|$)", line):
            yield number + 1, "exit 0 where something is missing: end by skip"
        if re.search(r"echo .skipped", line):
            yield number + 1, "say so by not_run or skip"
        if re.match(r"\s*command -v .*&&", line) and not SAYS.search(line):
            yield number + 1, "what is not there is not said: use not_run"
    for first, last in blocks(lines, "if ", "fi\\b"):
        block = "\n".join(lines[max(first - 1, 0):last + 1])
        asked = ASKED.search(lines[first])
        if asked and re.search(rf"^.*{re.escape(asked.group())}.*\|\| not_run ", text, re.M):
            continue  # said of the whole test
        if ASKS.search(lines[first]) and not EXCEPTION.search(block):
            said = "\n".join(lines[first:last + 1])
            other = said.split("\nelse\n")[-1] if "\nelse\n" in said else said
            if "\nelse\n" not in said and re.search(r"if (!|\[ !|\[ -z)", lines[first]):
                other = said
            elif "\nelse\n" not in said and not re.search(r"\bnot_run\b|\bskip\b", said):
                other = ""
            if not SAYS.search(other):
                yield first + 1, "a part is left out in silence: say so by not_run"


def in_cmake(text):
    lines = text.split("\n")
    programs = re.findall(r"find_program\((\w+)", text)
    asks = re.compile(r"\bEXISTS\b|_FOUND\b" + "".join(rf"|\b{name}\b" for name in programs))
    for first, last in blocks(lines, r"if\(", r"endif\("):
        head = "\n".join(lines[first:last]).split(")\n", 1)[0]
        block = "\n".join(lines[max(first - 1, 0):last + 1])
        if (asks.search(head) and re.search(r"\b(add_test|iso_add_\w*test)\(", block)
                and "iso_left_out" not in block and not EXCEPTION.search(block)):
            yield first + 1, "tests vanish without iso_left_out"


def faults_of(path, text):
    if path.suffix in (".cpp", ".hpp"):
        return in_cpp(text)
    if path.suffix == ".sh":
        return in_bash(text)
    if path.suffix == ".py":
        return in_python(text)
    return in_cmake(text) if path.name == "CMakeLists.txt" else ()


def self_test():
    """What each kind finds, and what it does not."""
    wrong = {
        "a.cpp": ['MESSAGE("no file");\n  return;', 'MESSAGE("skipped: x");',
                  'MESSAGE("no");\ncontinue;', 'TEST_CASE("a" * doctest::skip(!has_git)) {'],
        "a.py": ['print("skipped: x")',
                 'print(f"{x}: the CT is left out "\n      f"({y})", file=z)'],
        "a.sh": ["if x; then\n  exit\nfi", "if x; then\n  exit 0\nfi", "echo 'skipped: x'",
                 'if [ -e "$chest" ]; then\n  expect 0\nfi',
                 'if [ -e "$chest" ]; then\n  expect 0 || fail x\nfi',
                 'if [ -n "${ISO_TEST_PYTHON:-}" ]; then\n  expect 0\nfi',
                 'if command -v groff; then\n  expect 0\nfi'],
        "CMakeLists.txt": ["if(EXISTS x)\n  add_test(\nendif()",
                           "find_program(P p)\nif(\n  P\n)\n  iso_add_test(\nendif()"],
    }
    right = {
        "a.cpp": ['MESSAGE("rms ", x);', 'MESSAGE("rms ", x);\n  CHECK(x);\n  return;',
                  'not_run("x");\n  return;',
                  'TEST_CASE("a" * doctest::skip(!files::has_dicom)) {'],
        "a.py": ['print(f"not run: x ({y} is not there); run z")', 'fail("x is left out")'],
        "a.sh": ["if x; then\n  exit 77\nfi", "exit 1",
                 'if [ -e "$x" ]; then\n  a\nelse\n  not_run x\nfi',
                 'if [ ! -e "$x" ]; then\n  fail x\nfi',
                 '# Twice: nothing is left out.\nif [ -e "$x" ]; then\n  a\nfi'],
        "CMakeLists.txt": ["if(EXISTS x)\n  add_test(\nelse()\n  iso_left_out(\nendif()",
                           "if(EXISTS x)\n  set(y)\nendif()",
                           "if(TARGET iso)\n  add_test(\nendif()"],
    }
    for name in wrong:
        for text in wrong[name]:
            if not list(faults_of(pathlib.Path(name), text)):
                return f"does not find: {text}"
        for text in right[name]:
            if list(faults_of(pathlib.Path(name), text)):
                return f"finds what is none: {text}"
    return ""


def main():
    top = pathlib.Path(sys.argv[1])
    failed = self_test()
    if failed:
        sys.exit(failed)
    count = 0
    for folder in FOLDERS:
        for path in sorted((top / folder).rglob("*")):
            if path.is_file() and path.suffix in (".cpp", ".hpp", ".sh", ".py", ".txt"):
                for line, sentence in faults_of(path, path.read_text(encoding="utf-8")):
                    print(f"{path.relative_to(top)}:{line}: {sentence}")
                    count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
