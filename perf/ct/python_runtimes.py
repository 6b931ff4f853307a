#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times calls from Python beside other packages that compute by OpenMP in the same process.

A projection with a kept Projector and an iteration of SIRT run in processes of their own: alone,
and where another package is loaded first and has just computed by as many threads, once with what
the environment says of waiting threads, once with OMP_WAIT_POLICY=passive. PyTorch brings
libgomp.so.1, which the package then uses too: one runtime. scikit-learn brings a copy under another
name: two runtimes, each with threads of its own. "copy" is the package's own libgomp under another
name, where neither is installed. The table has the medians over the rounds of the least time that
passed in each process, and their ratios to those alone.

Usage: python_runtimes.py [--threads 16] [--size 256] [--views 90] [--rounds N] [--repeats N]
           [--others NAME...] [--json FILE]
       python_runtimes.py --self-test

The Python that runs this has isocenter; of the others it takes those that are installed. --threads:
by default as many as there are processors for the process.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

#: The packages, by what is looked for.
OTHERS = {"none": None, "torch": "torch", "scikit-learn": "sklearn", "copy": None}
WAITING = {"": {}, "passive": {"OMP_WAIT_POLICY": "passive"}}
CALLS = ("project", "sirt")


def own_runtime():
    """Return the file of the package's libgomp, without loading the package."""
    found = importlib.util.find_spec("isocenter")
    return pathlib.Path(found.origin).with_name("libgomp.so.1")


def copied_runtime(folder):
    """Return the package's runtime under another name."""
    file = folder / "libgomp-0000.so.1.0.0"
    text = own_runtime().read_bytes()
    file.write_bytes(text.replace(b"libgomp.so.1\0", b"libgomq.so.1\0"))
    return ctypes.CDLL(str(file))


def other_work(name, threads, folder):
    """Load another package; return what has it compute by so many threads."""
    if name == "torch":
        import torch

        torch.set_num_threads(threads)
        x = torch.ones(1 << 22)
        return lambda: x.mul_(1.0)
    if name == "scikit-learn":
        import numpy as np
        import sklearn.cluster

        points = np.random.default_rng(1).random((20_000, 8))
        method = sklearn.cluster.KMeans(8, n_init=1, max_iter=2, tol=0)
        return lambda: method.fit(points)
    if name == "copy":
        runtime, libc = copied_runtime(folder), ctypes.CDLL("libc.so.6")
        nothing = ctypes.cast(libc.labs, ctypes.c_void_p)
        return lambda: runtime.GOMP_parallel(nothing, None, threads, 0)
    return lambda: None


def runtimes_here():
    """Return the files of OpenMP's runtimes that this process has loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        files = {line.split()[-1] for line in maps if re.search(r"/lib(gomp|iomp5|omp)[-.]", line)}
    return sorted(pathlib.Path(file).name for file in files)


def measure(name, options):
    """Print the seconds of each call, and the runtimes that are loaded."""
    with tempfile.TemporaryDirectory() as folder:
        threads = options.threads or len(os.sched_getaffinity(0))
        others = other_work(name, threads, pathlib.Path(folder))
        import numpy as np

        import isocenter as iso

        iso.set_threads(threads)
        size = options.size
        scan = iso.Geometry.circular_cone(
            pixels=(size, size),
            pitch=1.5,
            source_axis=2.5 * size,
            source_detector=3.75 * size,
            angles=iso.even_angles(options.views, 2 * np.pi),
        )
        grid = iso.Grid((size, size, size), 1.0)
        pair, volume = iso.Projector(scan, grid), iso.native(np.ones(grid.shape, np.float32))
        lines = pair(volume)
        method = iso.Sart(scan, grid, lines)
        calls = {"project": lambda: pair(volume, out=lines), "sirt": method.step}
        seconds = {}
        for call in CALLS:
            for _ in range(options.repeats + 1):
                others()
                began = time.perf_counter()
                calls[call]()
                seconds.setdefault(call, []).append(time.perf_counter() - began)
        told = {call: min(of[1:]) for call, of in seconds.items()}
        print(json.dumps({"seconds": told, "runtimes": runtimes_here()}))


def answer(name, waiting, options):
    """Return what a process of its own measures."""
    sizes = {"threads": options.threads, "size": options.size, "views": options.views}
    command = [sys.executable, "-P", __file__, "--measure", name, "--repeats", options.repeats]
    for key, value in sizes.items():
        command += [f"--{key}", value]
    variables = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {key: value for key, value in os.environ.items() if key not in variables}
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        env={**environment, **WAITING[waiting]},
    )
    if done.returncode != 0:
        raise SystemExit(f"beside {name}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def rows_of(found):
    """Return the rows of the table: of each kind of process medians, and ratios to the first."""
    rows = []
    for key, answers in found.items():
        medians = {c: statistics.median(a["seconds"][c] for a in answers) for c in CALLS}
        alone = rows[0][2] if rows else medians
        ratios = {call: medians[call] / alone[call] for call in CALLS}
        rows.append((key, answers[-1]["runtimes"], medians, ratios))
    return rows


def text_of(rows):
    heads = "".join(f"{name:>11}{'ratio':>7}" for name in ("project", "SIRT"))
    lines = [f"{'beside':14}{'waiting':9}{'runtimes':>9}{heads}"]
    for (name, waiting), runtimes, medians, ratios in rows:
        times = "".join(f"{1e3 * medians[c]:8.1f} ms{ratios[c]:7.2f}" for c in CALLS)
        lines.append(f"{name:14}{waiting or 'default':9}{len(runtimes):9}{times}")
    return "\n".join(lines)


def compare(options):
    found = {}
    for _ in range(options.rounds):
        for name in options.others:
            for waiting in WAITING:
                found.setdefault((name, waiting), []).append(answer(name, waiting, options))
    rows = rows_of(found)
    print(text_of(rows))
    for (name, waiting), runtimes, *_ in rows:
        if not waiting:
            print(f"beside {name}: {', '.join(runtimes)}")
    if options.json:
        told = [
            {"beside": key[0], "waiting": key[1] or "default", "answers": of}
            for key, of in found.items()
        ]
        pathlib.Path(options.json).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def self_test():
    def said(project, sirt, *runtimes):
        return {"seconds": {"project": project, "sirt": sirt}, "runtimes": list(runtimes)}

    found = {
        ("none", ""): [said(0.1, 0.2, "a"), said(0.3, 0.4, "a"), said(0.2, 0.4, "a")],
        ("copy", "passive"): [said(0.4, 0.4, "a", "b")],
    }
    rows = rows_of(found)
    assert rows[0][2] == {"project": 0.2, "sirt": 0.4}, rows
    assert rows[0][3] == {"project": 1.0, "sirt": 1.0}, rows
    assert rows[1][3] == {"project": 2.0, "sirt": 1.0}, rows
    lines = text_of(rows).splitlines()
    assert lines[2].split() == [
        "copy", "passive", "2", "400.0", "ms", "2.00", "400.0", "ms", "1.00"
    ], lines
    assert len({len(line) for line in lines}) == 1, lines


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--views", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="calls of a process")
    parser.add_argument("--others", nargs="+", choices=OTHERS, help="all that are here by default")
    parser.add_argument("--json", help="a file for what each process has measured")
    parser.add_argument("--measure", choices=OTHERS, help=argparse.SUPPRESS)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    here = [name for name, of in OTHERS.items() if of is None or importlib.util.find_spec(of)]
    options.others = options.others or here
    missing = set(options.others) - set(here)
    if missing:
        named = ", ".join(sorted(missing))
        parser.error(f"{named} is not installed (calls are timed beside it); leave it out")
    # What others are compared with.
    options.others = ["none", *(name for name in options.others if name != "none")]
    return options


def main():
    options = arguments()
    if options.self_test:
        self_test()
    elif options.measure:
        measure(options.measure, options)
    else:
        compare(options)


if __name__ == "__main__":
    main()
