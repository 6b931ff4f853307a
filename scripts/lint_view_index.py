#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Flags View accesses of two or more indices in which every index is narrower than 64 bits.

Kokkos computes the offset of v(i, j, k) in the common type of its indices: with int alone, 2^31
elements wrap round. One std::int64_t among them is enough. This is a reading of the text, not of
the types: a name counts as a View where the file declares it with a type that ends in `View<...>`,
`view_type`, `data_type` or `mirror_type`, where `auto` takes it from create_mirror_view or on_host,
or where it is a member called `data`. An index is narrow where it is an integer literal, or built
from literals and names that the file declares int, unsigned, short, (u)int32_t and narrower.
A name that one file declares both ways is left alone.

Usage: lint_view_index.py FILE...   prints file:line for each; exit status 1 where there is one
       lint_view_index.py --self-test
"""
import re
import sys

NARROW_TYPE = r"(?:unsigned(?:\s+(?:int|short|char))?|int|short|char|(?:std::)?u?int(?:8|16|32)_t)"
WIDE_TYPE = r"(?:(?:std::)?(?:u?int64_t|size_t|ptrdiff_t)|(?:unsigned\s+)?long(?:\s+long)?|auto)"
DECLARED = r"(?:^|[(,;{{<\s]){}\s+(?:const\s+)?(\w+)\s*(?=[=;,){{:])"
VIEW_DECLARED = re.compile(
    r"(?:View\s*<[^;{}()]*>|\b(?:view_type|data_type|mirror_type))\s*(?:const\b)?\s*&?\s*"
    r"((?:\w+\s*,\s*)*\w+)\s*[;,(){=]"
)
VIEW_BY_AUTO = re.compile(
    r"auto\s+(?:const\s*)?&?\s*(\w+)\s*=\s*(?:[\w:]*::)?(?:create_mirror\w*|on_host)\s*\("
)
CALL = re.compile(r"(?:\b(\w+)|\.(data))\s*\(")
LITERAL = re.compile(r"^\d[\d']*[uU]?$")


def strip_comments(text):
    """Comments and strings become blanks, line for line."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\""
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def arguments(text, opening):
    """The top-level arguments of the bracket at `opening`, or None where it does not close."""
    depth, start, found = 0, opening + 1, []
    for at in range(opening, min(len(text), opening + 2000)):
        c = text[at]
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                found.append(text[start:at].strip())
                return found
        elif c == "," and depth == 1:
            found.append(text[start:at].strip())
            start = at + 1
    return None


def is_narrow(expression, narrow):
    words = re.findall(r"[\w']+", expression)
    if not words or not re.fullmatch(r"[\w'\s+\-*/%()]+", expression):
        return False
    return all(LITERAL.match(w) or w in narrow for w in words)


def check(text):
    """Line numbers of accesses whose indices are all narrow."""
    text = strip_comments(text)
    narrow = set(re.findall(DECLARED.format(NARROW_TYPE), text, flags=re.M))
    narrow -= set(re.findall(DECLARED.format(WIDE_TYPE), text, flags=re.M))
    views = {"data"}
    for names in VIEW_DECLARED.findall(text):
        views.update(n.strip() for n in names.split(","))
    views.update(VIEW_BY_AUTO.findall(text))
    lines = []
    for call in CALL.finditer(text):
        name = call.group(1) or call.group(2)
        before = text[: call.start()].rstrip()
        # A declaration with a constructor call is not an access.
        if name not in views or before.endswith((">", "_type", "const", "auto")):
            continue
        found = arguments(text, call.end() - 1)
        if found and len(found) >= 2 and all(is_narrow(a, narrow) for a in found):
            lines.append(text.count("\n", 0, call.start()) + 1)
    return lines


SELF_TEST = """
Kokkos::View<float***, Space> v("v", 2, 3, 4);
std::int64_t const wide = 0;
int const slim = 0;
v(0, 1, 2) = 1;
v(slim, slim + 1, 0) = 1;
volume.data(slim, 0, 0) = 1;
v(wide, 1, 2) = 1;
v(std::int64_t(0), 1, 2) = 1;
other(0, 1, 2);
v(7) = 1;
auto const mirror = Kokkos::create_mirror_view(v);
mirror(0, slim) = 1;
"""


def main(paths):
    if paths in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if paths == ["--self-test"]:
        found = check(SELF_TEST)
        print(found)
        return 0 if found == [5, 6, 7, 13] else 1
    failed = False
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in check(file.read()):
                print(f"{path}:{line}: every index is narrower than 64 bits: pass std::int64_t")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
