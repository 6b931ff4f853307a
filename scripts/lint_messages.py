#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the messages of exceptions, of CMake and of the scripts: the grammar is in
docs/adr/0006-errors-and-messages.md.

    prefix: problem (reason); advice

This is a reading of the text. A message is seen where its words stand in a call that throws or
warns: in ISO_VALIDATE, fail_argument, spdlog::warn, `throw some_error(...)`, refuse, refuse_it and
refuse_line, an HDF5 handle, or a table called `sentences`. Of `a ? b : c` both are read, of
`a + b` what is no literal counts as a word, as a {} of fmt does. Words that come from elsewhere
are not seen.
Of CMake's it reads message(FATAL_ERROR or WARNING) and why a package is not found, of Python's
SystemExit, sys.exit() and a parser's error(), in python/ also the errors that are raised, of the
shell's `misused`; `fail` has an advice of its own, which must be there.

Usage: lint_messages.py [--list] FILE...   prints file:line of each; exit status 1 where one is
       lint_messages.py --self-test
"""
import ast
import re
import sys

from harness import lint

# What an advice begins with. Another verb is added here.
VERBS = set("""
add align allocate ask begin bin build call check choose clamp compare convert copy correct count
crop discard displace divide draw end export fetch find fit flatten free give guess increase
install join keep leave let level link lower make mask measure mend move name number obtain pass
project put raise read register remove rename repeat replace resample reserve reshape revise round
run scale scan see set shift shorten sort split start store swap tabulate take transpose try turn
unpack unset use wait write
""".split())

LITERAL = r'"(?:\\.|[^"\\\n])*"'
# Callee, and which argument holds the message (-1: the last one).
CALLS = [
    (re.compile(r"\bISO_VALIDATE\s*\("), 1),
    (re.compile(r"\bfail_argument\s*\("), 0),
    (re.compile(r"\bspdlog::warn\s*\("), 0),
    (re.compile(r"\bthrow\s+(?:\w+::)*(?:\w*error|invalid_argument|out_of_memory|cancelled)\s*\("),
     0),
    (re.compile(r"(?<![\w.])(?:\w+::)*refuse(?:_it)?\s*\((?=[^()]*[,(])"), -1),
    (re.compile(r"\brefuse_line\s*\("), 0),
    (re.compile(r"\breturn\s*\{path,"), -1),
    (re.compile(r"\b(?:detail::)?(?:hdf5_)?handle\s+(?:const\s+)?\w+\s*\("), -1),
]
TABLE = re.compile(r"\bsentences\[\]\s*=\s*\{")
WRAPPER = re.compile(r"^(?:fmt::format|(?:iso::)?message|std::string|error|out_of_memory)\s*\(")
LIBRARY = ("core/", "backends/", "model/", "algorithms/")
PREFIX = re.compile(r"^(?:iso::[\w:]*(?:\{\})?|\{\})(?:, line \{\})?(?:: | (?=has |absorbs ))")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*|"
                    r"\biso (?:demo|dose|dvh|gamma|info|matrix|project|reconstruct|sweep|verify)\b")


def without_comments(text):
    """Comments become blanks, line for line; strings stay."""
    pattern = LITERAL + r"|'(?:\\.|[^'\\\n])+'|//[^\n]*|/\*.*?\*/"
    return re.sub(pattern, lambda m: m.group() if m.group()[0] in "\"'" else
                  re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def split(text, separator, start=0):
    """Parts of `text` between separators outside of brackets and strings, each with where it
    begins, up to the bracket that closes what is open at `start`; and where that stands."""
    parts, depth, begin, at = [], 0, start, start
    while at < len(text):
        c = text[at]
        if c == '"':
            at = re.compile(LITERAL).match(text, at).end()
            continue
        if c == "'" and (quoted := re.compile(r"'(?:\\.|[^'\\\n])'").match(text, at)):
            at = quoted.end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and text.startswith(separator, at):
            parts.append((begin, text[begin:at]))
            begin = at + len(separator)
        at += 1
    parts.append((begin, text[begin:at]))
    return parts, at


def words_of(expression):
    """What an expression says: its alternatives, with {} for what is no literal."""
    expression = expression.strip()
    if wrapped := WRAPPER.match(expression):
        parts, end = split(expression, ",", wrapped.end())
        if end == len(expression) - 1:
            return words_of(parts[0][1])
    chosen, _ = split(expression, "?")
    if len(chosen) > 1:
        rest = expression[chosen[1][0]:]
        yes, _ = split(rest, " : ")
        no = rest[yes[1][0]:] if len(yes) > 1 else ""
        return words_of(yes[0][1]) + words_of(no)
    sum_, _ = split(expression, "+")
    said, seen = "", False
    for _, part in sum_:
        part = part.strip()
        if re.fullmatch(rf"(?:{LITERAL}\s*)+", part):
            said += "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', part))
            seen = True
        elif len(sum_) > 1 and (inner := WRAPPER.match(part)) and part.endswith(")"):
            said += (words_of(part) or ["{}"])[0]
            seen = True
        else:
            said += "{}"
    return [said] if seen else []


def divided(text):
    """Problem, reason and advice, or None."""
    depth, opening = 0, 0
    for at, c in enumerate(text):
        if c == "(":
            opening = at if depth == 0 else opening
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0 and text.startswith("; ", at + 1):
                return text[:opening].rstrip(), text[opening + 1:at], text[at + 3:]
    return None


def fault_of(text, path):
    """What is wrong with a message, or None."""
    if not re.search(r"[a-z]{2}", re.sub(r"\{[^}]*\}", "", text)):
        return None
    if path.startswith(LIBRARY) and not PREFIX.match(text):
        return "does not begin with the function's full name"
    if path.startswith("apps/") and "iso::" in text:
        return "the tool names a C++ function"
    parts = divided(text)
    if parts is not None and parts[2] == "":
        return "has no advice"
    if parts is None and text.endswith("{}") and "; " not in text:
        return None  # which another message follows
    if parts is None:
        return "is not of the form 'problem (reason); advice'"
    problem, reason, advice = parts
    if not problem or not reason:
        return "has no problem or no reason"
    first = re.match(r"\{[^}]*\}|[\w-]+", advice)
    if first is None or not (first.group().startswith("{") or first.group() in VERBS):
        return "its advice does not begin with a verb of scripts/lint_messages.py"
    if advice[-1] in ".?!":
        return "its advice ends with a full stop or a question mark"
    return None


def messages(text):
    """Places and words of all messages that are seen in a source without comments."""
    for pattern, which in CALLS:
        for call in pattern.finditer(text):
            parts, _ = split(text, ",", call.end())
            if len(parts) <= max(which, 0):
                continue
            begin, expression = parts[which]
            begin += len(expression) - len(expression.lstrip())
            for words in words_of(expression):
                yield begin, words
    for table in TABLE.finditer(text):
        parts, _ = split(text, ",", table.end())
        for begin, part in parts:
            begin += len(part) - len(part.lstrip())
            for words in words_of(part):
                yield begin, "{}: " + words if words else words


CMAKE = re.compile(r'(?:\bmessage\(\s*(?:FATAL_ERROR|SEND_ERROR|WARNING)|'
                   r'\biso_(?:not_found|left_out)\(|\bset\(\s*Isocenter_NOT_FOUND_MESSAGE)'
                   r'((?:\s*"(?:\\.|[^"\\])*")+)')
SHELL = re.compile(r'(?:(?<=^)|(?<=[;|&)] )|(?<=  ))(misused|fail) "((?:\\.|[^"\\])*)"(.?)', re.M)


def line_of(match):
    return match.string.count("\n", 0, match.start()) + 1


def cmake_messages(text):
    """(line, words) of the messages in a file of CMake."""
    for call in CMAKE.finditer(text):
        said = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', call.group(1)))
        yield line_of(call), re.sub(r"\$\{\w+\}|@\w+@", "{}", said)


def shell_messages(text):
    # Innermost first: what stands within them is no message.
    text, replaced = re.sub(r"\$\{[^{}]*\}", "{}", text), 1
    while replaced:
        text, replaced = re.subn(r"\$\((?!\()[^()\n]*\)", "{}", text)
    text = re.sub(r"\$(?:\w+|[#?*@])", "{}", text)
    for call in SHELL.finditer(text):
        if call.group(1) == "misused":
            yield line_of(call), call.group(2)
        elif call.group(3) != " ":
            yield line_of(call), call.group(2) + " (why); "


RAISED = {"ValueError", "TypeError", "RuntimeError", "OSError", "ImportError", "MemoryError",
          "FileError", "NotImplementedError"}


def python_messages(text, path):
    def words(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.JoinedStr):
            return "".join(words(part) for part in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return words(node.left) + words(node.right)
        return "{}"

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            called = ast.unparse(node.exc.func).split(".")[-1]
            if path.startswith("python/") and called in RAISED and node.exc.args:
                yield node.lineno, words(node.exc.args[0])
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            continue
        called = ast.unparse(node.func)
        if called in ("SystemExit", "sys.exit") or called.endswith("parser.error"):
            yield node.lineno, words(node.args[0])


def check_script(text, path):
    if path.endswith(".py"):
        found = python_messages(text, path)
    elif re.search(r"\.cmake(\.in)?$|CMakeLists\.txt$", path):
        found = cmake_messages(re.sub(r"^[ \t]*#.*", "", text, flags=re.M))
    else:
        found = shell_messages(text)
    return [(line, f'{fault}: "{words}"') for line, words in found
            if (fault := fault_of(words, path))]


def check(text, path):
    """(line, the fault and the words) of each fault."""
    if not re.search(r"\.[ch]pp(\.in)?$", path):
        return check_script(text, path)
    text = without_comments(text)
    found = []
    for at, words in messages(text):
        if fault := fault_of(words, path):
            found.append((at, fault, words))
    for run in re.finditer(rf"(?:{LITERAL}\s*)+", text):
        words = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', run.group()))
        if path.startswith(LIBRARY + ("files/", "documents/")) and (named := OPTION.search(words)):
            found.append((run.start(), f"the library names the tool's {named.group()}", words))
        if VERBS & set(re.findall(r"(?<=\w\) )[a-z]+\b", words)):
            found.append((run.start(), "a semicolon is missing before the advice", words))
    return [(text.count("\n", 0, at) + 1, f'{fault}: "{words}"')
            for at, fault, words in sorted(found)]


SELF_TEST = r'''
// ISO_VALIDATE(false, "no message");
ISO_VALIDATE(n > f(1, 2), "iso::f: n {} (must be {}); give more", n, 2);
ISO_VALIDATE(n > 0, "iso::f: n {} (must be above 0)", n);
fail_argument("{}: n ({}, {}) of " "two (must be above 0); use more", function, n, m);
fail_argument("n (must be above 0); use more");
throw file_error(fmt::format("{}: n {} (is less than one, (or) none) use 1", n));
refuse(path, good ? "{}: is good (very); keep it" : fmt::format("{}: is bad ({})", why));
throw std::runtime_error("{}: " + name + " is bad (" + why + "); is it there?");
ISO_VALIDATE(n > 0, "iso::f: n (must be above 0); the rest follows");
throw error(what);
fail_argument("iso::f: n (it is 0); give --size");
constexpr char const* sentences[] = {"", "n {0} (must be 1); give 1", "n {0} (must be 2)"};
'''
SELF_TEST_FAULTS = [4, 6, 7, 7, 8, 9, 10, 12, 13]
SELF_TEST_SCRIPTS = {
    "a.cmake": """
message(FATAL_ERROR "${name} is old (1.0 is needed) build it")
message(
  WARNING
  "${name} is old (1.0 is needed; "
  "0.9 is there); build it"
)
# message(WARNING "nothing")
message(STATUS "nothing")
  iso_not_found("there is no ${component} (files is the only one)")
""",
    "a.sh": """
[ $# = 0 ] || misused "unknown argument: $1 (${0##*/} takes $(count "a b")); leave it out"
[ $# = 0 ] || misused "unknown argument: $1 (${0##*/} takes none)"
  fail "$name is missing (log: $log)" "Run it."
misused() { echo "what"; }
  fail "$name is missing"
""",
    "a.py": """
raise SystemExit(f"{path}: is no table ({why}); "
                 "name another")
sys.exit(main(sys.argv))
parser.error("no files")
raise SystemExit(f"{path}: {failure}")
sys.exit("it failed " + name + " times")
raise ValueError("bad")
""",
    "python/a.py": """
raise ValueError(f"{name}: {size} numbers " "(one is needed); give one")
raise
raise TypeError(f"{name}: {size} numbers; give one")
raise files.FileError("no file")
""",
}
SELF_TEST_SCRIPT_FAULTS = {"a.cmake": [2, 10], "a.sh": [3, 6], "a.py": [5, 7],
                           "python/a.py": [4, 5]}


def self_test():
    found = [line for line, _ in check(SELF_TEST, "core/self_test.cpp")]
    named = 'fail_argument("iso::f: n (is 0); give 1");'
    tool = [line for line, _ in check(named, "apps/self_test.cpp")]
    scripts = {path: [line for line, _ in check(text, path)]
               for path, text in SELF_TEST_SCRIPTS.items()}
    return found == SELF_TEST_FAULTS and tool == [1] and scripts == SELF_TEST_SCRIPT_FAULTS


def main():
    """--list: the faults, and before each further file its messages, at last their number."""
    listed = "--list" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--list"]
    number = 0

    def check_and_list(text, path):
        nonlocal number
        yield from check(text, path)
        for _, words in messages(without_comments(text)) if listed else ():
            number += 1
            print(f"{path}: {words}")

    found = lint(__doc__, self_test, check_and_list)
    if listed:
        print(f"{number} messages")
    return found


if __name__ == "__main__":
    sys.exit(main())
