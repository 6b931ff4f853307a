#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps instruction sets apart in compiled code: instruction_sets.py FILE...

FILE is an object or a static library of x86-64. A function belongs to the set whose namespace it is
in (iso/backend/for_each_set.hpp). Two things are refused:

- AVX-512 registers outside of the set avx512: where such a function is not one of ours, the linker
  may choose this copy of it for a processor without them;
- a call from a function of one set, or of none, to a function of another: what is compiled for a
  lesser set inlines nothing of a greater one, and is slow. for_each_lane_group takes addresses.

Needs objdump, grep and c++filt.
"""

import collections
import os
import re
import subprocess
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# A call or a jump: by address, or by a relocation in the line after it.
CALL = re.compile(r"\s(?:call|jmp)q?\s+\w+ <([^>+]+)>|\sR_X86_64_(?:PLT32)\s+([^\s+-]+)")
# An instruction whose first byte, after prefixes, is 62 is one of AVX-512, whatever registers it
# names. Those of masks alone begin otherwise.
AVX512 = re.compile(r"^\s*[0-9a-f]+:\s(?:(?:2e|36|3e|26|64|65|67) )*62 |%k[0-7]")
# Lines that one of these may match: grep finds them in a fraction of the time that Python takes.
LINES = r"^[0-9a-f]+ <|\s(call|jmp)q?\s+\w+ <[^>+]+>|R_X86_64_PLT32|:\s([0-9a-f]{2} )*62 |%k[0-7]"
SETS = re.compile(r"\b(avx512|avx2|portable)::")


def without_brackets(name):
    """A demangled name without the arguments of templates and functions."""
    name = name.replace("operator()", "operator").replace("->", "")
    name = re.sub(r"operator(<=>|<<=?|>>=?|<=?|>=?)", "operator", name)
    out, depth = [], 0
    for c in name:
        depth -= c in ">)"
        if depth == 0 and c not in ">)":
            out.append("" if c in "<(" else c)
        depth += c in "<("
    return "".join(out)


def look_at(lines):
    """Calls by (caller, callee), and functions that have instructions of AVX-512."""
    calls, wide, function = collections.Counter(), set(), None
    for line in lines:
        begins = FUNCTION.match(line)
        if begins:
            function = begins[1]
            continue
        call = CALL.search(line)
        if call and function:
            calls[function, call[1] or call[2]] += 1
        elif AVX512.search(line):
            wide.add(function)
    return calls, wide


def sets_of(names):
    """The set of each mangled name; None where it is of no set."""
    # Clones (.isra.0, .cold) have the name of what they are made from.
    plain = [n.split(".")[0] for n in names]
    shown = subprocess.run(
        ["c++filt"], input="\n".join(plain), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = {}
    for name, text in zip(names, shown):
        its = SETS.findall(without_brackets(text))
        found[name] = its[0] if its else None
    return found


def faults_of(file):
    command = ["objdump", "-dr", "--insn-width=15", file]
    chosen = ["grep", "-aE", LINES]
    plain = dict(os.environ, LC_ALL="C")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as dump:
        with subprocess.Popen(
            chosen, stdin=dump.stdout, stdout=subprocess.PIPE, text=True, env=plain
        ) as lines:
            calls, wide = look_at(lines.stdout)
    if dump.returncode != 0:
        sys.exit(f"instruction_sets: objdump cannot read {file} (exit code {dump.returncode})")
    sets = sets_of(sorted({n for pair in calls for n in pair} | wide))
    faults = [f"AVX-512 outside of its set: {n}" for n in sorted(wide) if sets[n] != "avx512"]
    for (caller, callee), count in calls.most_common():
        of, to = sets[caller], sets[callee]
        # The portable form is what runs where no set is chosen.
        if to is not None and of != to and not (of is None and to == "portable"):
            faults.append(f"{count} calls from {of} to {to}: {caller} -> {callee}")
    return faults


def main(files):
    if not files:
        sys.exit("instruction_sets: no file is named (usage: instruction_sets.py FILE...)")
    total = 0
    for file in files:
        for fault in faults_of(file):
            print(f"{file}: {fault}")
            total += 1
    print(f"{total} faults in {len(files)} files")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
