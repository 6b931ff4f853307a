#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A build without preset compiles the library as a preset does: plain_flags.py PRESET NAME=OTHER...

PRESET and every OTHER are the compile_commands.json of a configured build. For each source of the
library the options that decide about code (-O..., -m..., -f...) must be the preset's, and those
of the preset ask for AVX2 and fma, save in files/, which has no kernels.
"""

import json
import re
import shlex
import sys

# Those that are compiled together are one of CMake's.
SOURCE = re.compile(
    r"/((core|backends|algorithms|files)/"
    r"(?:(?:[a-z]+/)?src/.+\.cpp|CMakeFiles/iso_(?!tests?_)\w+\.dir/Unity/.+\.cxx))$"
)
FOLDERS = ("core", "backends", "algorithms")
VECTORS = {"-mavx2", "-mfma"}
CODE = re.compile(r"-(O|m|f|-fmad)")
# Of these only the last one counts.
SETTING = re.compile(r"-O|-m(arch|tune)=")


def code_options(command):
    """The options that decide about code, in no order."""
    options = {}
    for word in shlex.split(command):
        if CODE.match(word):
            setting = SETTING.match(word)
            options[setting[0] if setting else word] = word
    return set(options.values())


def by_source(file):
    with open(file, encoding="utf-8") as text:
        entries = json.load(text)
    found = {}
    for entry in entries:
        source = SOURCE.search(entry["file"])
        if source:
            # A source may be compiled more than once.
            found.setdefault(source[1], []).append(code_options(entry["command"]))
    return found


def main(preset_file, others):
    preset = by_source(preset_file)
    for folder in FOLDERS:
        if not any(source.startswith(folder + "/") for source in preset):
            sys.exit(f"plain_flags: {preset_file} names no source of {folder}/")
    failures = 0
    for source, compilations in preset.items():
        for options in compilations:
            if not source.startswith("files/") and not VECTORS <= options:
                print(f"the preset: {source} lacks {sorted(VECTORS - options)}")
                failures += 1
    for argument in others:
        name, file = argument.split("=", 1)
        found = by_source(file)
        for source, compilations in preset.items():
            here = found.get(source, [])
            if len(here) != len(compilations):
                print(f"{name}: {source} has {len(here)} of {len(compilations)} commands")
                failures += 1
            for options, own in zip(compilations, here):
                if own != options:
                    print(
                        f"{name}: {source} lacks {sorted(options - own)} of the preset, "
                        f"and adds {sorted(own - options)}"
                    )
                    failures += 1
    print(f"{len(preset)} sources, {len(others)} ways to build: {failures} differences")
    return 1 if failures or not others else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("plain_flags: usage: plain_flags.py PRESET NAME=OTHER...")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
