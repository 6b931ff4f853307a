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

from harness import lint
from lint_messages import split, without_comments

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


def is_narrow(expression, narrow):
    words = re.findall(r"[\w']+", expression)
    if not words or not re.fullmatch(r"[\w'\s+\-*/%()]+", expression):
        return False
    return all(LITERAL.match(w) or w in narrow for w in words)


def check(text, _=None):
    """(line, what is wrong) of accesses whose indices are all narrow."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', without_comments(text))
    narrow = set(re.findall(DECLARED.format(NARROW_TYPE), text, flags=re.M))
    narrow -= set(re.findall(DECLARED.format(WIDE_TYPE), text, flags=re.M))
    views = {"data"}
    for names in VIEW_DECLARED.findall(text):
        views.update(n.strip() for n in names.split(","))
    views.update(VIEW_BY_AUTO.findall(text))
    for call in CALL.finditer(text):
        name = call.group(1) or call.group(2)
        before = text[: call.start()].rstrip()
        # A declaration with a constructor call is not an access.
        if name not in views or before.endswith((">", "_type", "const", "auto")):
            continue
        found, _ = split(text, ",", call.end())
        if len(found) >= 2 and all(is_narrow(a.strip(), narrow) for _, a in found):
            yield (text.count("\n", 0, call.start()) + 1,
                   "every index is narrower than 64 bits: pass std::int64_t")


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


def self_test():
    return [line for line, _ in check(SELF_TEST)] == [5, 6, 7, 13]


if __name__ == "__main__":
    sys.exit(lint(__doc__, self_test, check))
