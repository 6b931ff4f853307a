#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flags functions of C++ of more than 80 lines, from the one of their name on.

The files must have clang-format's format: the brace that closes a block stands in the column in
which the line that begins it does.

Usage: lint_functions.py FILE...   prints file:line for each; exit status 1 where there is one
       lint_functions.py --self-test
"""
import re
import sys

from harness import lint

MAX_LINES = 80
NO_FUNCTION = re.compile(r"((inline )?namespace|class|struct|union|enum|extern|template)\b|.*= \{$")


def blocks(lines):
    """(first, last) line of each block, those within before the one around them."""
    begun = []  # (column, line) of what may begin a block that is still open
    for number, line in enumerate(lines):
        text = line.lstrip()
        column = len(line) - len(text)
        if not text or text.startswith(("#", "//", "{", ")")):
            continue
        while begun and begun[-1][0] > column:
            begun.pop()
        same = begun and begun[-1][0] == column
        if text.startswith("}"):
            if same:
                yield begun[-1][1], number
            continue
        if same:
            begun.pop()
        begun.append((column, number))


def check(text, _=None):
    """(line, what is wrong) of functions that are too long and stand in no other one."""
    lines = text.splitlines()
    found = [(first, last) for first, last in blocks(lines)
             if last - first >= MAX_LINES and not NO_FUNCTION.match(lines[first].lstrip())]
    for first, last in found:
        if not any(a <= first and last <= b for a, b in found if (a, b) != (first, last)):
            yield first + 1, f"{last - first + 1} lines: cut it to at most {MAX_LINES}"


def self_test():
    body = "  int x;\n" * 77
    head = "void f(int a,\n       int b) {\n"
    longer = head + body + "  if (x) {\n    g();\n  }\n}\n"
    inner = "".join("  " + line for line in longer.splitlines(True))
    within = "namespace a {\nstruct b {\n" + inner
    return (
        not list(check(head + body + "}\n"))
        and [line for line, _ in check(longer)] == [1]
        and [line for line, _ in check(within + "};\n}  // namespace a\n")] == [3]
        and not list(check("constexpr int table[] = {\n" + body * 2 + "};\n"))
    )


if __name__ == "__main__":
    sys.exit(lint(__doc__, self_test, check))
