#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a run left something out that .ci/not_run.txt does not name.

    scripts/check_not_run.py ci|release LOG...

LOG: what scripts/test.sh printed (`left out: ...`, `not run: ...`, and tests that ctest calls
skipped without such a line), with --label python too (the skipped tests of pytest). .ci/run and
scripts/release.sh call it.
"""
import pathlib
import re
import sys

from harness import words_of

LIST = pathlib.Path(__file__).resolve().parent.parent / ".ci/not_run.txt"
OURS = re.compile(r"^(?:\[isocenter\] )?(?:left out|not run): (.*)$")
CTEST = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (\S+) \.*\s*\*\*\*Skipped\b")
PYTEST = re.compile(r"^SKIPPED \[\d+\] ([^:]+):(?:\d+:)? (.*)$")


def allowed(whose, lines):
    """Return the expressions of one list."""
    found = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            on, rest = line.split(None, 1)
            expression, dashes, reason = rest.partition(" -- ")
            if on not in ("both", "ci") or not dashes or not reason.strip():
                raise SystemExit(f"{LIST}: '{line.strip()}' (a line has a list, an expression, "
                                 "' -- ' and a reason); write it so")
            if not expression.startswith("^"):
                raise SystemExit(f"{LIST}: '{expression.strip()}' (it would let anything through "
                                 "that holds it somewhere); begin it with ^ and what it is of")
            if on in ("both", whose):
                found.append(re.compile(expression.strip()))
    return found


def left_out(text):
    """Yield what a log says was left out."""
    for line in text.splitlines():
        ours, skipped, silent = OURS.match(line), PYTEST.match(line), CTEST.match(line)
        if silent and not re.search(rf"^(\[isocenter\] )?not run: {re.escape(silent[1])}: ", text,
                                    re.M):
            yield f"{silent[1]}: skipped, and does not say why"
        if ours:
            yield ours[1]
        elif skipped:
            yield f"{skipped[1]}: {skipped[2]}"


def main():
    whose, *logs = words_of(__doc__, least=2)
    if whose not in ("ci", "release"):
        raise SystemExit(f"check_not_run.py: '{whose}' (a list is ci or release); name one")
    known = allowed(whose, LIST.read_text().splitlines())
    texts = [pathlib.Path(name).read_text(errors="replace") for name in logs]
    found = sorted({what for text in texts for what in left_out(text)})
    unknown = [what for what in found if not any(one.search(what) for one in known)]
    for what in unknown:
        print(f"left out: {what}")
    if unknown:
        raise SystemExit(f"{len(unknown)} of {len(found)} things that were left out are not named "
                         "in .ci/not_run.txt (each is printed above); run them, or give a reason "
                         "there")


if __name__ == "__main__":
    main()
