#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the processor time of calls from Python with that of the same calls of C++, in turn.

Projection, its adjoint, FDK, an iteration of SIRT and products with a dose matrix run in processes
of their own: one of Python on arrays in the library's order, one on arrays in C order where a call
has such, and one of iso_python_calls. Each takes the least of its calls, and the ratios of several
rounds are told: the least, the median and the largest. The Python that runs this has isocenter.

Usage: python_calls.py --program build/openmp/perf/ct/iso_python_calls [--size N] [--views N]
           [--rounds N] [--call NAME...] [--json FILE]
       python_calls.py --self-test
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

#: Limits of the ratio to C++, by the order of memory.
LIMITS = {
    "project": {"native": 1.02, "C order": 1.06},
    "adjoint": {"native": 1.02, "C order": 1.06},
    "fdk": {"native": 1.03},
    "sirt": {"native": 1.03},
    "matrix": {"native": 1.03},
}


def calls(name, order, size, views):
    """Return what is called."""
    import numpy as np

    import isocenter as iso

    def filled(shape):
        k = np.arange(int(np.prod(shape)), dtype=np.int64)
        return (k * 7919 % 10007 / np.float32(10007)).astype(np.float32).reshape(shape)

    if name == "matrix":
        import scipy.sparse

        rows, columns = size**3 // 32, 2000
        indices = (np.arange(rows)[:, None] % 50 + 50 * np.arange(40)).astype(np.int32)
        values = 1 + filled((rows * 40,))
        offsets = np.arange(rows + 1, dtype=np.int64) * 40
        matrix = scipy.sparse.csr_array((values, indices.ravel(), offsets), (rows, columns))
        a, x = iso.DoseMatrix(matrix), filled((columns,))
        y = a @ x

        def products():
            for _ in range(20):
                a(x, out=y)

        return products
    scan = iso.Geometry.circular_cone(
        pixels=(size, size),
        pitch=1.5,
        source_axis=2.5 * size,
        source_detector=3.75 * size,
        angles=iso.even_angles(views, 2 * np.pi),
    )
    grid = iso.Grid((size, size, size), 1.0)
    volume, lines = filled(grid.shape), filled(scan.shape)
    if order == "native":
        volume, lines = iso.native(volume), iso.native(lines, kind="projections")
    if name == "sirt":
        return iso.Sart(scan, grid, lines).step
    if name == "fdk":
        method = iso.Fdk(scan, grid)
        return lambda: method(lines, out=volume)
    pair = iso.Projector(scan, grid)
    if name == "project":
        return lambda: pair(volume, out=lines)
    return lambda: pair.T(lines, out=volume)


def measure(name, order, size, views, repeats):
    """Print the processor time of each call; the first is not counted."""
    call = calls(name, order, size, views)
    call()
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        seconds.append(time.process_time() - begin)
    print(json.dumps({"call": name, "seconds": seconds}))


def answer(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
    return min(json.loads(done.stdout.splitlines()[-1])["seconds"])


def rows_of(ratios):
    """Return the rows of the table: a call, its order, and what the ratios of the rounds were."""
    return [
        (name, order, min(of), statistics.median(of), max(of), LIMITS[name][order])
        for (name, order), of in ratios.items()
    ]


def compare(options):
    ratios = {}
    sizes = ["--size", options.size, "--views", options.views, "--repeats", options.repeats]
    for _ in range(options.rounds):
        for name in options.call:
            base = answer([options.program, "--backend", "openmp", "--call", name, *sizes])
            for order in LIMITS[name]:
                mine = [sys.executable, "-P", __file__, "--measure", name, order, *sizes]
                ratios.setdefault((name, order), []).append(answer(mine) / base)
    print(f"{'call':10}{'order':10}{'least':>8}{'median':>8}{'most':>8}{'limit':>8}")
    for name, order, *numbers in rows_of(ratios):
        print(f"{name:10}{order:10}" + "".join(f"{value:8.3f}" for value in numbers))
    if options.json:
        told = [{"call": n, "order": o, "ratios": of} for (n, o), of in ratios.items()]
        pathlib.Path(options.json).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def self_test():
    rows = rows_of({("fdk", "native"): [1.0, 1.2, 1.1]})
    assert rows == [("fdk", "native", 1.0, 1.1, 1.2, 1.03)], rows
    assert {order for of in LIMITS.values() for order in of} == {"native", "C order"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--views", type=int, default=360)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=2, help="calls of a process")
    parser.add_argument("--call", nargs="+", choices=LIMITS, default=list(LIMITS))
    parser.add_argument("--json", help="a file for the ratios of all rounds")
    parser.add_argument("--measure", nargs=2, metavar=("CALL", "ORDER"), help=argparse.SUPPRESS)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        self_test()
    elif options.measure:
        measure(*options.measure, options.size, options.views, options.repeats)
    elif options.program is None:
        parser.error("no program (--program names iso_python_calls); build it first")
    else:
        compare(options)


if __name__ == "__main__":
    main()
