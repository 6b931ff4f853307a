#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the time of calls from Python with that of the same calls of C++, in turn.

Projection, its adjoint, FDK, an iteration of SIRT and products with a dose matrix run in processes
of their own: one of Python on arrays in the library's order, one on arrays in C order where a call
has such, and one of iso_python_calls. Each takes the least of its calls, and the ratios of several
rounds are told: the least, the median and the largest. On processors it is the processor time of
all threads that counts; on a GPU, for arrays of CuPy or PyTorch, the time until its work is done.
One ray with a kept Projector, by one thread, result included, is told in microseconds. The table
says of each median whether its goal is met. Threads that wait sleep in both programs
(OMP_WAIT_POLICY=passive), unless the environment says otherwise: spinning counts as processor time.

Usage: python_calls.py --program build/openmp/perf/ct/iso_python_calls [--size N] [--views N]
           [--rounds N] [--repeats N] [--call NAME...] [--check] [--json FILE]
       python_calls.py --program build/cuda/perf/ct/iso_python_calls --backend cuda
           [--framework cupy|torch] ...
       python_calls.py ... --record FILE --date 2026-11-30 --machine NAME --revision REVISION
       python_calls.py --self-test

The Python that runs this has isocenter, for a GPU isocenter-cu13 too. --check: exit status 1 where
a median is above its goal. --size is 256 on processors and 512 on GPUs unless given. --record
writes the rows as perf/results has them.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import types

#: Goals of the ratio to C++, by the order of memory; of the ray microseconds.
LIMITS = {
    "openmp": {
        "project": {"native": 1.02, "C order": 1.06},
        "adjoint": {"native": 1.02, "C order": 1.06},
        "fdk": {"native": 1.03},
        "sirt": {"native": 1.03},
        "matrix": {"native": 1.03},
        "ray": {"native": 10.0},
    },
    "cuda": {
        "project": {"native": 1.01, "C order": 1.04},
        "adjoint": {"native": 1.01, "C order": 1.04},
        "fdk": {"native": 1.03},
        "sirt": {"native": 1.03},
        "matrix": {"native": 1.03},
    },
}
#: Voxels along a side, and pixels.
SIZES = {"openmp": 256, "cuda": 512}
NAMES = {
    "project": "projection",
    "adjoint": "adjoint",
    "fdk": "filtered backprojection",
    "sirt": "iteration of SIRT",
    "matrix": "product with a dose matrix",
    "ray": "one ray with a kept Projector, result included",
}


class Host:
    """Arrays of NumPy, and the processor time of all threads."""

    seconds = staticmethod(time.process_time)

    def put(self, x):
        return x

    def wait(self):
        pass


class Device(Host):
    """Arrays of CuPy or PyTorch on the GPU, and the time that passes."""

    seconds = staticmethod(time.perf_counter)

    def __init__(self, framework):
        self.module = importlib.import_module(framework)

    def put(self, x):
        if self.module.__name__ == "cupy":
            return self.module.asarray(x)
        return self.module.from_numpy(x).cuda()

    def wait(self):
        if self.module.__name__ == "cupy":
            self.module.cuda.Device().synchronize()
        else:
            self.module.cuda.synchronize()


def frameworks_here():
    return [name for name in ("cupy", "torch") if importlib.util.find_spec(name)]


def one_ray():
    """Return what projects one ray a thousand times."""
    import numpy as np

    import isocenter as iso

    scan = iso.Geometry.circular_cone(
        pixels=(1, 1), pitch=1.0, source_axis=100.0, source_detector=150.0, angles=[0.3]
    )
    grid = iso.Grid((32, 32, 32), 1.0)
    pair, volume = iso.Projector(scan, grid), np.ones(grid.shape, np.float32, order="F")

    def rays():
        for _ in range(1000):
            pair(volume)

    return rays


def calls(name, order, size, views, space):
    """Return what is called."""
    if name == "ray":
        return one_ray()

    import numpy as np

    import isocenter as iso

    def filled(shape):
        k = np.arange(int(np.prod(shape)), dtype=np.int64)
        return (k * 7919 % 10007 / np.float32(10007)).astype(np.float32).reshape(shape)

    if name == "matrix":
        rows, columns = size**3 // 32, 2000
        indices = (np.arange(rows)[:, None] % 50 + 50 * np.arange(40)).astype(np.int32)
        values = 1 + filled((rows * 40,))
        offsets = np.arange(rows + 1, dtype=np.int64) * 40
        there = {"indptr": offsets, "indices": indices.ravel(), "data": values}
        matrix = types.SimpleNamespace(
            format="csr", shape=(rows, columns), **{k: space.put(v) for k, v in there.items()}
        )
        a, x = iso.DoseMatrix(matrix), space.put(filled((columns,)))
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
    volume, lines = space.put(filled(grid.shape)), space.put(filled(scan.shape))
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


def measure(name, order, size, views, repeats, space):
    """Print the time of each call; the first is not counted."""
    call = calls(name, order, size, views, space)
    call()
    space.wait()
    seconds = []
    for _ in range(repeats):
        begin = space.seconds()
        call()
        space.wait()
        seconds.append(space.seconds() - begin)
    print(json.dumps({"call": name, "seconds": seconds}))


def answer(command, environment=None):
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        env={"OMP_WAIT_POLICY": "passive", **os.environ, **(environment or {})},
    )
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
    return min(json.loads(done.stdout.splitlines()[-1])["seconds"])


def rows_of(ratios, limits):
    """Return the rows of the table: a call, its order, and what the ratios of the rounds were."""
    return [
        (name, order, min(of), statistics.median(of), max(of), limits[name][order])
        for (name, order), of in ratios.items()
    ]


def text_of(rows):
    """Return the table: ratios to C++, of the ray microseconds, beside the goal of the median."""
    lines = [f"{'call':10}{'order':10}{'min':>8}{'median':>8}{'max':>8}{'goal':>8}"]
    for row in rows:
        name, order, *numbers = row
        unit = " us, " if name == "ray" else "     "
        outcome = "missed" if beyond([row]) else "met"
        told = "".join(f"{value:8.3f}" for value in numbers)
        lines.append(f"{name:10}{order:10}{told}{unit}{outcome}")
    return "\n".join(lines)


def beyond(rows):
    """Return the rows whose median is above the limit."""
    return [row for row in rows if row[3] > row[5]]


def ratios_of(times):
    """Return (call, order) -> of each round the ratio to C++, or microseconds where it has none."""
    return {
        key: [mine / base if base else 1e6 * mine for mine, base in of]
        for key, of in times.items()
    }


def recorded(times, options):
    """Return the rows as perf/results has them, of the medians; above 1 Python is faster."""
    rows = []
    for (name, order), of in times.items():
        mine = statistics.median(pair[0] for pair in of)
        if name == "ray":
            rows.append({"what": NAMES[name], "unit": "us", "value": float(f"{1e6 * mine:.4g}")})
            continue
        ratio = statistics.median(pair[0] / pair[1] for pair in of)
        size = f"{options.size}^3 x {options.views} views, " if name != "matrix" else ""
        rows.append(
            {
                "what": f"{NAMES[name]}, {size}{order}",
                "unit": "s of processor time" if options.backend == "openmp" else "s",
                "value": float(f"{mine:.4g}"),
                "peer": "C++",
                "peer_value": float(f"{mine / ratio:.4g}"),
                "ratio": float(f"{1 / ratio:.3f}"),
            }
        )
    return rows


def take_times(options):
    """Return (call, order) -> of each round the seconds of Python and of C++."""
    times = {}
    sizes = ["--size", options.size, "--views", options.views, "--repeats", options.repeats]
    here = ["--backend", options.backend, "--framework", options.framework]
    for _ in range(options.rounds):
        for name in options.call:
            base = 0.0
            if name != "ray":
                base = answer(
                    [options.program, "--backend", options.backend, "--call", name, *sizes]
                )
            for order in LIMITS[options.backend][name]:
                mine = [sys.executable, "-P", __file__, "--measure", name, order, *sizes, *here]
                if name == "ray":  # of a thousand; many, of which the least counts
                    mine += ["--repeats", 30]
                    took = answer(mine, {"OMP_NUM_THREADS": "1"}) / 1000
                else:
                    took = answer(mine)
                times.setdefault((name, order), []).append((took, base))
    return times


def compare(options):
    """Print the table, write what is wanted, and return whether a goal is missed."""
    times = take_times(options)
    ratios = ratios_of(times)
    rows = rows_of(ratios, LIMITS[options.backend])
    print(text_of(rows))
    if options.json:
        told = [{"call": n, "order": o, "ratios": of} for (n, o), of in ratios.items()]
        pathlib.Path(options.json).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if options.record:
        command = f"perf/ct/python_calls.py --backend {options.backend} --size {options.size}"
        document = {
            "date": options.date,
            "machine": options.machine,
            "revision": options.revision,
            "command": f"{command} --views {options.views}",
            "topic": "python",
            "rows": recorded(times, options),
        }
        text = json.dumps(document, indent=1) + "\n"
        pathlib.Path(options.record).write_text(text, encoding="utf-8")
    for name, order, _, median, _, limit in beyond(rows):
        print(f"{name}, {order}: {median:.3f} is above the goal {limit:g}", file=sys.stderr)
    return bool(beyond(rows))


def self_test():
    times = {("fdk", "native"): [(1.0, 1.0), (2.4, 2.0), (1.1, 1.0)]}
    times["ray", "native"] = [(9e-6, 0)]
    ratios = ratios_of(times)
    assert ratios["fdk", "native"] == [1.0, 1.2, 1.1], ratios
    rows = rows_of(ratios, LIMITS["openmp"])
    assert rows[0] == ("fdk", "native", 1.0, 1.1, 1.2, 1.03), rows
    assert [row[0] for row in beyond(rows)] == ["fdk"]
    told = text_of(rows).splitlines()
    assert told[1].split() == ["fdk", "native", "1.000", "1.100", "1.200", "1.030", "missed"], told
    assert told[2].endswith("   9.000  10.000 us, met"), told
    assert set(SIZES) == set(LIMITS)
    options = argparse.Namespace(size=64, views=9, backend="openmp")
    fdk, ray = recorded(times, options)
    assert fdk["ratio"] == 0.909 and fdk["value"] == 1.1 and fdk["peer_value"] == 1.0, fdk
    assert ray == {"what": NAMES["ray"], "unit": "us", "value": 9.0}, ray
    for limits in LIMITS.values():
        assert set(limits) <= set(NAMES)
        assert {order for of in limits.values() for order in of} == {"native", "C order"}


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--backend", choices=LIMITS, default="openmp")
    parser.add_argument("--framework", choices=("cupy", "torch"), help="of arrays on a GPU")
    parser.add_argument("--size", type=int, help="voxels along a side, and pixels")
    parser.add_argument("--views", type=int, default=360)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=2, help="calls of a process")
    parser.add_argument("--call", nargs="+", choices=NAMES, help="all that have limits by default")
    parser.add_argument("--check", action="store_true", help="fail where a goal is missed")
    parser.add_argument("--json", help="a file for the ratios of all rounds")
    for name in ("record", "date", "machine", "revision"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--measure", nargs=2, metavar=("CALL", "ORDER"), help=argparse.SUPPRESS)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    options.framework = options.framework or (frameworks_here() or ["cupy"])[0]
    options.size = options.size or SIZES[options.backend]
    options.call = options.call or list(LIMITS[options.backend])
    strangers = set(options.call) - set(LIMITS[options.backend])
    if strangers:
        parser.error(
            f"{', '.join(sorted(strangers))} has no limit on {options.backend} (it is not compared "
            f"there); choose of {', '.join(LIMITS[options.backend])}"
        )
    if options.record and not (options.date and options.machine and options.revision):
        parser.error(
            "--record without --date, --machine or --revision (rows need all three); give them"
        )
    if options.program is None and not (options.self_test or options.measure):
        parser.error("no program (--program names iso_python_calls); build it first")
    return options


def main():
    options = arguments()
    if options.self_test:
        self_test()
    elif options.measure:
        space = Device(options.framework) if options.backend == "cuda" else Host()
        measure(*options.measure, options.size, options.views, options.repeats, space)
    elif compare(options) and options.check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
