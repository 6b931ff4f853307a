#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/determinism.md: every public function with the level that its doc comment promises.

A level is the words `Determinism: LEVEL` in a `///` comment, LEVEL being backend_to_backend,
run_to_run or not_guaranteed; what follows in the same sentence, or the next one, is the remark.
Functions are read from the public headers, outside of `detail` folders and namespaces, and classes
that state a level, which is that of their members. A level is
required of all functions in algorithms/ and core/ and of those backends/ headers whose functions
compute (REQUIRED below); a function elsewhere is listed when it states one. Overloads and later
definitions of one name count as one.

Usage: determinism_table.py              writes docs/determinism.md
       determinism_table.py --check      status 1 where a level is missing or the file is stale
       determinism_table.py --self-test
"""
import re
import sys

from harness import TOP, words_of

LEVELS = ("backend_to_backend", "run_to_run", "not_guaranteed")
HEADERS = ("algorithms/include/iso/*/*.hpp", "algorithms/synthetic/include/iso/*/*.hpp",
           "model/include/iso/*/*.hpp",
           "backends/include/iso/backend/*.hpp", "backends/ceilings/include/iso/ceilings/*.hpp",
           "core/include/iso/core/*.hpp")
REQUIRED = re.compile(
    r"^algorithms/|^core/|^model/|^backends/ceilings/"
    r"|^backends/include/iso/backend/(device_facts|lane_group)\.hpp$"
)
NOT_A_FUNCTION = re.compile(
    r"^(?:extern\s|using\s|static_assert|template\s*<\s*>|struct\s|class\s|enum\s|union\s|concept\s"
    r"|friend\s|typedef\s)"
)
HEAD = """# Determinism of every public function

Made from the doc comments of the public headers by `scripts/determinism_table.py`; do not edit.

| level | what is promised |
| --- | --- |
| `backend_to_backend` | the same bits on every backend, thread count and launch shape |
| `run_to_run` | the same bits on one machine, with one backend and launch shape |
| `not_guaranteed` | may differ from run to run |

What the promise rests on: [strict numerics](adr/0002-strict-numerics.md), the
[lane group](adr/0003-lane-group.md), the [order of sums](adr/0004-order-of-sums.md).
"""


def plain(text):
    """Doc comments stay; other comments, preprocessor lines and macro calls become blanks."""
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    lines = []
    for line in text.split("\n"):
        if re.match(r"\s*(?:#|ISO_\w+\(.*\)\s*$|//(?!/(?!<)))", line):
            line = ""
        elif not line.lstrip().startswith("///"):
            line = re.sub(r"//.*", "", line)
        lines.append(line)
    return lines


def without_template_head(statement):
    """`template <...>` and attributes off the front; the rest in one line."""
    statement = re.sub(r"\[\[.*?\]\]", " ", " ".join(statement.split())).strip()
    while statement.startswith("template"):
        depth, at = 0, statement.index("<")
        while True:
            depth += {"<": 1, ">": -1}.get(statement[at], 0)
            at += 1
            if depth == 0:
                break
        statement = statement[at:].strip()
    return statement


def function_name(statement):
    """The name that the declaration gives, or None where it is no function's."""
    if NOT_A_FUNCTION.match(" ".join(statement.split())):
        return None
    rest = without_template_head(statement)
    if NOT_A_FUNCTION.match(rest) or re.match(r"(?:\w+::)*(\w+)::\1\s*\(", rest):
        return None
    for found in re.finditer(r"([\w:]+)\s*\(", rest):
        name = found.group(1)
        before = rest[: found.start()].strip()
        if name in ("requires", "decltype", "noexcept", "sizeof", "alignas") or not before:
            continue
        return None if "operator" in before or "=" in before else name
    return None


def class_name(statement):
    """The name of the class that the statement begins, or None."""
    found = re.match(r"(?:class|struct)\s+(\w+)", without_template_head(statement))
    return found.group(1) if found else None


class Reader:
    """Namespace-scope declarations of one header, with the doc comment before each."""

    def __init__(self, text):
        self.scopes, self.found = [], []
        self.statement, self.doc = "", []
        self.round, self.skipped = 0, 0  # open brackets of the statement; open braces of a body
        for line in plain(text):
            if line.lstrip().startswith("///"):
                if self.skipped == 0 and not self.statement.strip():
                    self.doc.append(line.strip()[3:].strip())
                continue
            for character in line + "\n":
                self.take(character)

    def take(self, c):
        if self.skipped:
            self.skipped += {"{": 1, "}": -1}.get(c, 0)
            return
        if self.round == 0 and c in "{};":
            self.end(c)
            return
        self.round += {"(": 1, ")": -1}.get(c, 0)
        self.statement += c

    def end(self, c):
        namespace = re.match(r"\s*(?:inline\s+)?namespace\s*([\w:]*)\s*$", self.statement)
        if c == "}":
            if self.scopes:
                self.scopes.pop()
        elif c == "{" and namespace:
            self.scopes.append(namespace.group(1).removesuffix("::ISO_SET"))
        else:
            name = function_name(self.statement)
            if not name and c == "{" and level_of(self.doc):
                name = class_name(self.statement)
            if name:
                self.found.append(("::".join([*self.scopes, name]), self.doc))
            if c == "{":
                self.skipped = 1
        self.statement, self.doc = "", []


def level_of(doc):
    """(level, remark) of a doc comment; None where it has none, (None, word) for an unknown one."""
    # Joined by paragraphs: a formatter may have moved the words to the end of another line.
    lines = ["\n" if not line or line.startswith("\\") else line for line in doc]
    found = re.search(r"Determinism: *(\w*)[.,;:]? *(.*)", " ".join(lines))
    if not found:
        return None
    level, remark = found.groups()
    if level not in LEVELS:
        return None, level
    return level, re.match(r"(.*?)(?:\.(?:\s|$)|\s*$)", remark).group(1)


def functions_of(text):
    """{qualified name: (level, remark) or None}, in the header's order."""
    levels = {}
    for name, doc in Reader(text).found:
        # `words` and `describe` say what iso/model/describe.hpp reads: nothing computes there.
        if "detail" in name.split("::") or name.split("::")[-1] in ("words", "describe"):
            continue
        levels[name] = levels.get(name) or level_of(doc)
    return levels


def collect(headers):
    """(rows, faults) of [(path, text)]."""
    rows, faults = [], []
    for path, text in headers:
        for name, level in functions_of(text).items():
            if level and level[0] is None:
                faults.append(f"{path}: {name}: '{level[1]}' is none of: {', '.join(LEVELS)}")
            elif level:
                rows.append((path, name, *level))
            elif REQUIRED.search(path):
                faults.append(f"{path}: {name} states no level (a line '/// Determinism: LEVEL.')")
    return rows, faults


def page(rows):
    text = HEAD
    for path in dict.fromkeys(row[0] for row in rows):
        header = path.split("include/", 1)[1]
        text += f"\n## `{header}`\n\n| function | level | remark |\n| --- | --- | --- |\n"
        for row_path, name, level, remark in rows:
            if row_path == path:
                text += f"| `{name}` | `{level}` | {remark.replace('|', chr(92) + '|')} |\n"
    return text


def public_headers():
    for pattern in HEADERS:
        for path in sorted(TOP.glob(pattern)):
            yield str(path.relative_to(TOP)), path.read_text(encoding="utf-8")


SELF_TEST = """
namespace iso::ct {
namespace detail {
void hidden(int);
}
/// Good. Determinism: backend_to_backend; one
/// order.
///
/// more
template <class E, class T = View<E>>
  requires accesses<E, T>
void stated(E const& e, options const& o = {});
/// Silent.
template <class E>
[[nodiscard]] std::int64_t silent(E const& e) {
  return helper(e);
}
/// Determinism: perhaps.
int odd();
struct thing {
  void member();
};
/// Of all its members. Determinism: run_to_run.
template <class E>
class promising {
  void member();
};
template <class E, class T>
void stated(E const& e, options const& o) {}
}  // namespace iso::ct
"""


def self_test():
    rows, faults = collect([("algorithms/include/iso/ct/x.hpp", SELF_TEST)])
    good = [row[1:] for row in rows] == [
        ("iso::ct::stated", "backend_to_backend", "one order"),
        ("iso::ct::promising", "run_to_run", ""),
    ]
    bad = len(faults) == 2 and "iso::ct::silent" in faults[0] and "perhaps" in faults[1]
    return good and bad


def main():
    checks = sys.argv[1:] == ["--check"] or words_of(__doc__, self_test, most=0, least=0)
    rows, faults = collect(public_headers())
    target = TOP / "docs" / "determinism.md"
    text = page(rows)
    if checks:
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            faults.append("docs/determinism.md is stale: run scripts/determinism_table.py")
    else:
        target.write_text(text, encoding="utf-8")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
