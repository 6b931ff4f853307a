#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No object may call an operation of the lane instruction sets: no_lane_calls.py FILE...

FILE is an object or a static library. An operation that GCC leaves out of line is slow, and one
that AVX2 code calls for AVX-512 takes its arguments through memory. Needs objdump.
"""

import collections
import re
import subprocess
import sys

# Members of iso::backend::detail::avx2_lanes and avx512_lanes, and clones (.isra, .constprop).
OPERATION = re.compile(r"\b(_ZNK?3iso7backend6detail1[02]avx(?:2|512)_lanes[\w.]+)")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# A call or a jump to another function: by address, or by a relocation in the line after it.
CALL = re.compile(r"\s(?:call|jmp)q?\s|\sR_X86_64_(?:PLT32|PC32|GOTPCRELX?|REX_GOTPCRELX)\s")


def calls_in(lines):
    """Functions, and the operations that they call, with their number."""
    found = collections.Counter()
    function = "?"
    for line in lines:
        begins = FUNCTION.match(line)
        if begins:
            function = begins[1]
        elif CALL.search(line):
            called = OPERATION.search(line)
            if called and called[1] != function:
                found[function, called[1]] += 1
    return found


def calls_of(file):
    command = ["objdump", "-dr", "--no-show-raw-insn", file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dump:
        found = calls_in(dump.stdout)
    if dump.returncode != 0:
        sys.exit(f"no_lane_calls: objdump cannot read {file} (exit code {dump.returncode})")
    return found


def main(files):
    if not files:
        sys.exit("no_lane_calls: no file is named (usage: no_lane_calls.py FILE...)")
    total = 0
    for file in files:
        for (function, operation), count in calls_of(file).most_common():
            print(f"{file}: {count} calls of {operation} in {function}")
            total += count
    print(f"{total} calls of lane operations in {len(files)} files")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
