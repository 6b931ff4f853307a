# SPDX-License-Identifier: BSD-3-Clause
"""Isocenter's forward projection beside ASTRA's and RTK's, in one run on one machine.

    compare_projection.py --size 512 --views 360 --device cuda --peers astra,rtk \
        --isocenter BUILD/perf/peers/isocenter_project --json out.json

The scan is scan.py's: N^3 voxels of 1 mm, a circle of cone-beam views at 5.7 N mm from the axis,
6.7 N mm to a detector of N^2 pixels of 1.1754 mm; N = 512: 2918.4 mm and 3430.4 mm.

Every program is a process of its own that holds its arrays where it computes (a GPU's in the GPU's
memory), has projected twice before anything is timed, and waits for the GPU before its clock stops.
The timed calls take turns, one call of each program a round, so that whatever slows the machine
slows all; the time is the median over the rounds, the spread its quartiles. On a shared processor
look at processor time too, which waiting for a core does not lengthen. Accuracy is part of every
row: relative l1 difference from the closed form and from Isocenter, over up to six views.

A program that fails is reported and left out; the exit status is then 1.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import scan
import table

_HERE = pathlib.Path(__file__).resolve().parent


class program:
    """A process that speaks worker.py's language."""

    def __init__(self, key, command, environment):
        self.key, self.ms, self.cpu_ms = key, [], []
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def answer(self, want):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.key}: ended with status {self._process.wait()}")
        said = json.loads(line)
        if want not in said:
            raise RuntimeError(f"{self.key}: said {line.strip()} (expected '{want}')")
        return said

    def ask(self, order, want):
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()
        return self.answer(want)

    def leave(self):
        try:
            self._process.stdin.close()
            self._process.wait(timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()


def command_of(key, given, s, volume):
    common = ["--size", str(s.size), "--views", str(s.views), "--volume", volume]
    if key.startswith("isocenter"):
        return [
            given.isocenter, *common,
            "--backend", "cuda" if given.device == "cuda" else "openmp",
            "--sum", "reproducible" if key.endswith("reproducible") else "ordered",
            "--source-axis", repr(s.source_axis), "--source-detector", repr(s.source_detector),
            "--pitch", repr(s.pitch), "--keep", ",".join(map(str, s.kept_views())),
        ]  # fmt: skip
    script = [sys.executable, str(_HERE / f"peer_{key}.py"), *common]
    if key == "rtk":
        script += ["--device", given.device, "--threads", str(given.threads)]
    return script


def start(key, given, s, folder):
    """The program, ready and warm, with its kept views and what it says of itself."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(given.threads))
    # No program is bound to cores: RTK's threads cannot be, and the machine may be shared.
    environment.setdefault("OMP_PROC_BIND", "false")
    one = program(key, command_of(key, given, s, str(folder / "volume.raw")), environment)
    try:
        one.about = one.answer("ready")
        pixels = folder / f"{key}.raw"
        one.ask(f"write {pixels}", "written")
        one.kept = np.fromfile(pixels, np.float32).reshape(-1, s.size, s.size)
        one.ask("time 1", "ms")
    except Exception:
        one.leave()
        raise
    return one


def take_turns(programs, given):
    """Rounds of one call each; a program that fails leaves the rest running."""
    failed = {}
    for _ in range(given.rounds):
        for one in [p for p in programs if p.key not in failed]:
            # What the program before left spinning or clocked up shall settle.
            time.sleep(given.pause)
            try:
                took = one.ask("time 1", "ms")
                one.ms += took["ms"]
                one.cpu_ms += took["cpu_ms"]
            except (RuntimeError, OSError) as e:
                failed[one.key] = str(e)
    return failed


def row(one, s, truth, isocenter):
    ms = [t / s.views for t in one.ms]
    quarters = statistics.quantiles(ms, n=4) if len(ms) > 1 else ms * 3
    exact = scan.difference(one.kept, truth)
    result = {
        "key": one.key,
        **{k: one.about[k] for k in ("name", "version", "what")},
        "ms_per_view": statistics.median(ms),
        "ms_per_view_quartiles": [quarters[0], quarters[2]],
        "ms_per_view_least": min(ms),
        "cpu_ms_per_view": statistics.median(one.cpu_ms) / s.views,
        "calls": len(ms),
        "l1_from_closed_form": exact[0],
        "max_from_closed_form": exact[1],
    }
    if isocenter is not None:
        result["ratio"] = statistics.median(one.ms) / statistics.median(isocenter.ms)
        result["l1_from_isocenter"] = scan.difference(one.kept, isocenter.kept)[0]
    return result


def machine(given):
    about = {"processor": platform.processor() or platform.machine(), "threads": given.threads}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
        about["processor"] = names[0] if names else about["processor"]
    except OSError:
        pass
    if given.device == "cuda":
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        asked = subprocess.run(query, capture_output=True, text=True, check=False)
        about["gpu"] = asked.stdout.strip()
    return about


def parse():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--size", type=int, default=512, help="N of volume and detector")
    a.add_argument("--views", type=int, default=360)
    a.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    a.add_argument("--peers", default="astra,rtk", help="of astra (GPU only), rtk; may be empty")
    a.add_argument("--isocenter", help="path of isocenter_project")
    a.add_argument("--sums", default="ordered,reproducible", help="Isocenter's; the first is 1.00")
    a.add_argument("--threads", type=int, default=2, help="of the processor, for each program")
    a.add_argument("--rounds", type=int, default=11)
    a.add_argument("--pause", type=float, default=0.05, help="s, before each timed call")
    a.add_argument("--scratch", help="folder for the volume: 4 N^3 bytes")
    a.add_argument("--json", help="where the result goes")
    return a.parse_args()


def main():
    given = parse()
    s = scan.scan(given.size, given.views)
    keys = [f"isocenter_{x}" for x in given.sums.split(",")] if given.isocenter else []
    keys += [p for p in given.peers.split(",") if p]
    programs, failed = [], {}
    with tempfile.TemporaryDirectory(dir=given.scratch) as name:
        folder = pathlib.Path(name)
        scan.phantom(s.size).tofile(folder / "volume.raw")
        for key in keys:
            try:
                programs.append(start(key, given, s, folder))
            except (RuntimeError, OSError, ValueError) as e:
                failed[key] = str(e)
        failed |= take_turns(programs, given)
        for one in programs:
            one.leave()
    programs = [p for p in programs if p.ms]
    truth = np.stack([scan.line_integrals(s, v) for v in s.kept_views()])
    yardstick = next((p for p in programs if p.key == keys[0]), None) if given.isocenter else None
    result = {
        "work": "forward projection",
        "size": s.size,
        "views": s.views,
        "device": given.device,
        "machine": machine(given),
        "rows": [row(p, s, truth, yardstick) for p in programs],
        "failed": failed,
    }
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table.markdown([result]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
