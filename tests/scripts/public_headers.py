#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Public headers declare and bring no kernels: public_headers.py SOURCE_FOLDER

Follows the #include lines of each header of algorithms/include/iso/<area>, whatever their
conditions. A header may bring neither the implementation of an operation (detail/*_impl.hpp) nor
kernels (detail/*_kernel*.hpp), and back_project.hpp at most 1,500 of the library's lines.
"""

import pathlib
import re
import sys

INCLUDE = re.compile(r"^#\s*include <(iso/[^>]+)>", re.MULTILINE)
FORBIDDEN = re.compile(r"/detail/\w+(_impl|_kernels?)\.hpp$")
MAX_LINES = {"iso/ct/back_project.hpp": 1500}


def text_of(source, header):
    for layer in ("core", "backends", "model", "algorithms"):
        for name in (header, header + ".in"):
            file = source / layer / "include" / name
            if file.exists():
                return file.read_text(encoding="utf-8")
    sys.exit(f"public_headers: {header} is in no layer of {source}")


def brought_by(source, header):
    """Each of the library's headers that `header` brings, itself among them, and its text."""
    found = {}
    todo = [header]
    while todo:
        name = todo.pop()
        if name not in found:
            found[name] = text_of(source, name)
            todo += INCLUDE.findall(found[name])
    return found


def main(source):
    root = source / "algorithms/include"
    folders = (folder for folder in (root / "iso").iterdir() if folder.name != "detail")
    files = (file for folder in folders for file in folder.glob("*.hpp"))
    headers = sorted(str(file.relative_to(root)) for file in files)
    faults = 0
    for header in headers:
        brought = brought_by(source, header)
        lines = sum(text.count("\n") for text in brought.values())
        kernels = sorted(name for name in brought if FORBIDDEN.search(name))
        for name in kernels:
            print(f"{header} brings {name} (it may only declare) include that where it is used")
        if lines > MAX_LINES.get(header, lines):
            print(f"{header} brings {lines} lines of ours (at most {MAX_LINES[header]})")
            faults += 1
        faults += len(kernels)
    print(f"{faults} faults in {len(headers)} public headers")
    return 1 if faults or not headers else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("public_headers: one folder is wanted (usage: public_headers.py SOURCE_FOLDER)")
    sys.exit(main(pathlib.Path(sys.argv[1])))
