# SPDX-License-Identifier: BSD-3-Clause
"""What compare_ct.py and its programs say to each other, one line at a time.

A program prepares itself, does its work once, and prints {"ready": true, "name": ..., "version":
..., "what": ..., "gives": one of compare_ct.py's kinds of result}. Then it obeys, from its standard
input: `write PATH` (what it keeps of its first result, float32, {"written": n} back), `time K`
(K timed calls; {"ms": [...], "cpu_ms": [...]} back, milliseconds a call, on the wall and of all
threads that do the work), end of input (leave).
"""
import argparse
import concurrent.futures
import ctypes
import json
import os
import sys
import time

import numpy as np

import scan


class cuda:
    """The few functions of the runtime that are needed here."""

    def __init__(self):
        self._runtime = ctypes.CDLL("libcudart.so.12")

    def __call__(self, function, *arguments):
        status = getattr(self._runtime, function)(*arguments)
        if status != 0:
            raise RuntimeError(f"{function}: CUDA error {status}")

    def synchronise(self):
        self("cudaDeviceSynchronize")


class voice:
    """Answers on the original standard output; what libraries print goes to standard error."""

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "w", buffering=1)
        os.dup2(2, 1)

    def say(self, **what):
        print(json.dumps(what), file=self._out, flush=True)


def arguments():
    """Those that every peer takes."""
    a = argparse.ArgumentParser()
    a.add_argument("--work", required=True)
    a.add_argument("--size", type=int, required=True)
    a.add_argument("--views", type=int, required=True)
    a.add_argument("--tilt", type=float, nargs=2, default=(0, 0))
    a.add_argument("--input", required=True, help="the volume or the projections")
    a.add_argument("--device", choices=("cuda", "cpu"), required=True)
    a.add_argument("--threads", type=int, required=True)
    a.add_argument("--variant", default="", help="what follows '_' in the peer's name")
    a.add_argument("--iso", help="of Isocenter: the tool")
    given = a.parse_args()
    return given, scan.scan(given.size, given.views, *given.tilt)


def read(path, shape, axes):
    """The file's array of this shape with its axes in another order, of which the last was not last
    before. By planes, in threads, since the arrays hold gigabytes."""
    ours = np.memmap(path, np.float32, "r", shape=shape)
    theirs = np.empty([shape[a] for a in axes], np.float32)
    slow = 1 - axes[-1]  # the axis that is last neither here nor there
    planes = np.moveaxis(theirs.transpose(np.argsort(axes)), slow, 0)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(np.copyto, planes, np.moveaxis(ours, slow, 0)))
    return theirs


def clocked(call, prepare):
    """What `count` calls take, as a function of it; `prepare()` before each is not timed."""
    def timed(count):
        wall, busy = [], []
        for _ in range(count):
            prepare()
            start = time.perf_counter(), time.process_time()
            call()
            wall.append(1e3 * (time.perf_counter() - start[0]))
            busy.append(1e3 * (time.process_time() - start[1]))
        return wall, busy

    return timed


def serve(out, ready, call, kept, prepare=lambda: None, timed=None):
    """`call()` does the work and returns when it is done; `kept()` gives what is compared; what
    `prepare()` does before each further call is not timed. `timed(count)` gives the milliseconds of
    calls where it is not for this process to take them."""
    timed = timed or clocked(call, prepare)
    call()
    first = np.ascontiguousarray(kept(), np.float32)
    out.say(ready=True, **ready)
    for line in sys.stdin:
        order, _, argument = line.strip().partition(" ")
        if order == "write":
            first.tofile(argument)
            out.say(written=int(first.size))
        elif order == "time":
            wall, busy = timed(int(argument))
            out.say(ms=wall, cpu_ms=busy)
        else:
            raise ValueError(f"order '{order}' (one of write, time)")
