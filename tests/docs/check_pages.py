#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""README.md and docs/: quoted C++ really stands in the example, links lead to files and headings,
and names of programs, sources and geometry files to those of this repository.

A quotation is a fenced block under a line `<!-- from examples/xyz.cpp -->`; its lines must follow
one another in that file, an indentation that they share aside. Every fenced block of C++ in these
pages must be a quotation.

Usage: check_pages.py               status 1 where something is wrong
       check_pages.py --self-test
"""
import pathlib
import re
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
MARK = re.compile(r"^<!-- from (\S+) -->$")
FENCE = re.compile(r"^```(\w*)\s*$")
NAMED = re.compile(
    r"(?<![\w/.-])((?:apps|examples|perf|scripts|tests)/[\w./-]+\.(?:cpp|hpp|json|py|sh))\b"
)
GEOMETRY = re.compile(r"--geometry ([\w./-]+)")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def shifted(lines):
    """The lines without what they are all indented by, nor blanks at their ends."""
    return textwrap.dedent("\n".join(line.rstrip() for line in lines)).split("\n")


def stands_in(block, text):
    lines = text.split("\n")
    wanted, count = shifted(block), len(block)
    return any(shifted(lines[i : i + count]) == wanted for i in range(len(lines) - count + 1))


def blocks(page):
    """(line number, language, example or None, lines) of every fenced block."""
    source, fence, inside, start, language = None, False, [], 0, ""
    for number, line in enumerate(page.split("\n"), 1):
        found = FENCE.match(line)
        if fence and line.rstrip() == "```":
            yield start, language, source, inside
            fence, source = False, None
        elif fence:
            inside.append(line)
        elif found:
            fence, inside, start, language = True, [], number, found.group(1)
        elif MARK.match(line):
            source = MARK.match(line).group(1)
        elif line.strip():
            source = None


def anchors(page):
    """Of the headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
    texts = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text) for text in HEADING.findall(prose)]
    return {re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-") for text in texts}


def check(page, read, exists, linked):
    """What is wrong with a page. `read` takes paths from the repository, `exists` and `linked` (the
    text of a page) from the page."""
    wrong = []
    for number, language, source, lines in blocks(page):
        if source is None:
            if language in ("cpp", "c++"):
                wrong.append(f"{number}: C++ without <!-- from examples/... -->")
            continue
        text = read(source)
        if text is None:
            wrong.append(f"{number}: {source} does not exist")
        elif not lines or not stands_in(lines, text):
            wrong.append(f"{number}: these lines do not stand in {source}")
    for name in NAMED.findall(page):
        if read(name) is None:
            wrong.append(f"{name} does not exist")
    for found in GEOMETRY.finditer(page):
        name = found.group(1)
        if read(name) is None and f">{name}\n" not in page[: found.start()]:
            wrong.append(f"--geometry {name}: neither in the repository nor written before")
    prose = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
    for target, anchor in LINK.findall(prose):
        if "://" in target or target.startswith("mailto:"):
            continue
        if target and not exists(target):
            wrong.append(f"a link leads nowhere: {target}")
        elif anchor and (not target or target.endswith(".md")) and (
                anchor not in anchors(linked(target) if target else page)):
            wrong.append(f"a link leads to no heading: {target}#{anchor}")
    return wrong


def self_test():
    example = "int main() {\n  call(1);\n  call(2);\n}\n"
    mark = "<!-- from e.cpp -->\n"
    good = mark + "```cpp\ncall(1);\ncall(2);\n```\n[here](e.cpp) [there](https://x.y)\n"
    good += "scripts/a.sh >g.json\n--geometry g.json\n"
    good += "# A `b`, c\n[a](#a-b-c) [d](d.md#one-two)\n"
    bad = (
        mark + "```cpp\ncall(1);\ncall(3);\n```\n",
        "```cpp\ncall(1);\n```\n",
        mark.replace("e.cpp", "f.cpp") + "```cpp\ncall(1);\n```\n",
        "[nowhere](g.md)\n",
        "[nowhere](#g)\n",
        "[nowhere](d.md#two)\n",
        "perf/peers/b.py --size 3\n",
        "--geometry g.json\nscripts/a.sh >g.json\n",
    )

    def found(page):
        files = {"e.cpp": example, "scripts/a.sh": ""}
        pages = {"d.md": "# One [two](e.cpp)\n"}
        return check(page, files.get, lambda p: p in ("e.cpp", "d.md"), pages.get)

    return 0 if not found(good) and all(len(found(page)) == 1 for page in bad) else 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    failed = False
    for path in [TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))]:
        folder = path.parent

        def read(name):
            source = TOP / name
            return source.read_text(encoding="utf-8") if source.is_file() else None

        def linked(name):
            return (folder / name).read_text(encoding="utf-8")

        text = path.read_text(encoding="utf-8")
        for fault in check(text, read, lambda t: (folder / t).exists(), linked):
            print(f"{path.relative_to(TOP)}: {fault}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
