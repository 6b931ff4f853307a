# SPDX-License-Identifier: BSD-3-Clause
"""What compare_projection.py and its programs say to each other, one line at a time.

A program prepares itself, projects once, and prints {"ready": true, ...}. Then it obeys, from its
standard input: `write PATH` (the kept views, float32 [view, u, v], {"written": n} back), `time K`
(K timed calls over all views; {"ms": [...], "cpu_ms": [...]} back, milliseconds a call, on the wall
and of all this process's threads), end of input (leave).
isocenter_project.cpp speaks the same.
"""
import json
import os
import sys
import time

import numpy as np


class voice:
    """Answers on the original standard output; what libraries print goes to standard error."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)

    def say(self, **what):
        print(json.dumps(what), file=self._out, flush=True)


def serve(out, ready, call, kept):
    """`call()` projects all views and returns when they are there; `kept()` gives [view, u, v]."""
    call()
    first = np.ascontiguousarray(kept(), np.float32)
    out.say(ready=True, **ready)
    for line in sys.stdin:
        order, _, argument = line.strip().partition(" ")
        if order == "write":
            first.tofile(argument)
            out.say(written=int(first.size))
        elif order == "time":
            wall, busy = [], []
            for _ in range(int(argument)):
                start = time.perf_counter(), time.process_time()
                call()
                wall.append(1e3 * (time.perf_counter() - start[0]))
                busy.append(1e3 * (time.process_time() - start[1]))
            out.say(ms=wall, cpu_ms=busy)
        else:
            raise ValueError(f"order '{order}' (one of write, time)")
