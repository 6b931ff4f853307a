#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Keeps instruction sets apart in compiled code: instruction_sets.py FILE...

FILE is an object or a static library of x86-64. A function belongs to the set whose namespace it is
in (iso/backend/for_each_set.hpp). Two things are refused:

- AVX-512 registers outside of the set avx512: where such a function is not one of ours, the linker
  may choose this copy of it for a processor without them;
- a call from a function of one set, or of none, to a function of another: what is compiled for a
  lesser set inlines nothing of a greater one, and is slow. for_each_lane_group takes addresses.

Needs objdump, grep, c++filt, and ld and ar of binutils.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
# A call or a jump to a function, and a relocation, which stands in the line after what it changes,
# a byte or two on.
CALL = re.compile(r"^\s*([0-9a-f]+):.*\s(?:call|jmp)q?\s+\w+ <([^>+]+)>")
RELOCATION = re.compile(r"^\s*([0-9a-f]+): R_X86_64_P(LT|C)32\s+([^\s+-]+)")
# An instruction whose first byte, after prefixes, is 62 is one of AVX-512, whatever registers it
# names. Those of masks alone begin otherwise.
AVX512 = re.compile(r"^\s*[0-9a-f]+:\s(?:(?:2e|36|3e|26|64|65|67) )*62 |%k[0-7]")
# Lines that one of these may match: grep finds them in a fraction of the time that Python takes.
LINES = (
    r"^[0-9a-f]+ <|\s(call|jmp)q?\s+\w+ <[^>+]+>|R_X86_64_P(LT|C)32|:\s([0-9a-f]{2} )*62 |%k[0-7]"
)
SETS = re.compile(r"\b(avx512|avx2|portable)::")
# All code in one section: objdump looks at every symbol for every section, of which templates have
# thousands.
ONE_SECTION = "SECTIONS { .text : { *(.text .text.*) } }"


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
    calls, wide, function, last = collections.Counter(), set(), None, None
    for line in lines:
        begins = FUNCTION.match(line)
        if begins:
            function, last = begins[1], None
            continue
        call = CALL.match(line)
        relocation = None if call else RELOCATION.match(line)
        if relocation and last and int(relocation[1], 16) - last[0] in (1, 2):
            # Until it is changed the call is one of what follows it.
            calls[function, last[1]] -= 1
        last = (int(call[1], 16), call[2]) if call else None
        if call and function:
            calls[function, call[2]] += 1
        elif relocation and function:
            # The other kind is that of data, and of a function's own cold part.
            calls[function, relocation[3]] += relocation[2] == "LT"
        elif AVX512.search(line):
            wide.add(function)
    return +calls, wide


def sets_of(names):
    """The set of each mangled name; None where it is of no set."""
    # Clones (.isra.0, .cold) have the name of what they are made from.
    plain = [n.split(".")[0] for n in names]
    shown = subprocess.run(
        ["c++filt"], input="\n".join(plain), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = {}
    for name, text in zip(names, shown):
        its = SETS.search(text) and SETS.findall(without_brackets(text))
        found[name] = its[0] if its else None
    return found


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"instruction_sets: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def objects_of(file, folder):
    """The object, or those of a library, which are taken out of it."""
    with open(file, "rb") as f:
        if f.read(8) != b"!<arch>\n":
            return [file]
    objects, seen = [], collections.Counter()
    for name in run(["ar", "t", file]).splitlines():
        seen[name] += 1
        objects.append(os.path.join(folder, f"{len(objects)}.o"))
        run(["ar", "xN", str(seen[name]), "--output", folder, file, name])
        os.rename(os.path.join(folder, name), objects[-1])
    return objects


def look_at_file(file):
    """As look_at, of an object or a library."""
    calls, wide = collections.Counter(), set()
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script")
        with open(script, "w") as f:
            f.write(ONE_SECTION)
        for number, one in enumerate(objects_of(file, folder)):
            joined = os.path.join(folder, f"joined{number}")
            run(["ld", "-r", "--force-group-allocation", "-T", script, "-o", joined, one])
            its_calls, its_wide = look_at_object(joined)
            calls += its_calls
            wide |= its_wide
    return calls, wide


def look_at_object(file):
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
    return calls, wide


def faults_of(file):
    calls, wide = look_at_file(file)
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
