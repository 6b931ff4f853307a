#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A build without preset compiles the library as a preset does: plain_flags.py PRESET NAME=OTHER...

PRESET and every OTHER are the compile_commands.json of a configured build. For each source of
iso_algorithms the options that decide about code (-O..., -m..., -f...) must be the preset's.
"""

import json
import re
import shlex
import sys

SOURCE = re.compile(r"/(algorithms/src/.+\.cpp)$")
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
            found[source[1]] = code_options(entry["command"])
    return found


def main(preset_file, others):
    preset = by_source(preset_file)
    if not preset:
        sys.exit(f"plain_flags: {preset_file} names no source of iso_algorithms")
    failures = 0
    for argument in others:
        name, file = argument.split("=", 1)
        found = by_source(file)
        for source, options in preset.items():
            here = found.get(source, {"no command"})
            if here != options:
                print(
                    f"{name}: {source} lacks {sorted(options - here)} of the preset, "
                    f"and adds {sorted(here - options)}"
                )
                failures += 1
    print(f"{failures} of {len(preset) * len(others)} sources have other options")
    return 1 if failures or not others else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("plain_flags: usage: plain_flags.py PRESET NAME=OTHER...")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
