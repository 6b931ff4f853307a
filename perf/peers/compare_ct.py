# SPDX-License-Identifier: BSD-3-Clause
"""Isocenter's projection, backprojection or FDK beside ASTRA's and RTK's: one run, one machine.

    compare_ct.py --work fdk --size 512 --views 512 --device cuda --peers astra \
        --iso BUILD/apps/iso/iso --json out.json

    --work projection      a volume to its projections
           backprojection  projections to a volume, voxel by voxel, as FDK does after its filter
           adjoint         the same by the transpose of the projection
           fdk             projections to a volume, weights and filter included

The scan is scan.py's: N^3 voxels of 1 mm, a circle of cone-beam views at 5.7 N mm from the axis,
6.7 N mm to a detector of N^2 pixels of 1.1754 mm; N = 512: 2918.4 mm and 3430.4 mm. --tilt 2 1
pitches the detector by two degrees and rolls it by one, of projections and adjoints:
turned_detectors.py compares FDK on such scans.

Every program is a process of its own that holds its arrays where it computes (a GPU's in the GPU's
memory), has done its work before anything is timed (the tool once in each round, for which it is
started; the others twice), and waits for the GPU before its clock stops. The timed calls take
turns, one call of each program a round, so that whatever slows the machine slows all; the time is
the median over the rounds, the spread its quartiles. On a shared processor look at processor time
too, which waiting for a core does not lengthen. Accuracy is part of every row: relative l1
difference from the closed form and from Isocenter, over up to six views of projections, or three
slices of volumes where every view sees them.

A program that fails is reported and left out; the exit status is then 1.
"""
import contextlib
import functools
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import parser_of, write_json  # noqa: E402
from python_modules import np  # noqa: E402
import scan  # noqa: E402
import table  # noqa: E402

_HERE = pathlib.Path(__file__).resolve().parent
_WORKS = {
    "projection": "forward projection",
    "backprojection": "backprojection",
    "adjoint": "adjoint of the projection",
    "fdk": "FDK",
}


class program:
    """A process that speaks worker.py's language."""

    def __init__(self, key, command, environment):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True, env=environment)
        self.key, self.ms, self.cpu_ms = key, [], []

    def told(self, want, order=None):
        """The answer to an order, or the next one; it must have `want`."""
        if order:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(order + "\n")
                self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:  # It said why on the standard error.
            raise RuntimeError(f"{self.key}: ended with status {self._process.wait()}")
        said = json.loads(line)
        if want not in said:
            raise RuntimeError(f"{self.key}: said {json.dumps(said)} (expected '{want}')")
        return said

    def end(self):
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.stdout.close()


def command_of(key, given, path):
    common = ["--work", given.work, "--size", str(given.size), "--views", str(given.views),
              "--tilt", *map(str, given.tilt), "--input", path]
    name, _, variant = key.partition("_")
    script = [sys.executable, str(_HERE / f"peer_{name}.py"), *common, "--variant", variant]
    script += ["--iso", given.iso] if name == "isocenter" else []
    return [*script, "--device", given.device, "--threads", str(given.threads)]


def start(key, given, s, folder):
    """The program, ready and warm, with its kept views and what it says of itself."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(given.threads))
    # No program is bound to cores: RTK's threads cannot be, and the machine may be shared.
    environment.setdefault("OMP_PROC_BIND", "false")
    one = program(key, command_of(key, given, str(folder / "input.raw")), environment)
    try:
        one.about = one.told("ready")
        kept = folder / f"{key}.raw"
        one.told("written", f"write {kept}")
        one.kept = np.fromfile(kept, np.float32).reshape(-1, s.size, s.size)
        if given.work != "projection":
            one.kept = one.kept[:, s.seen()]
        one.told("ms", "time 1")
    except Exception:
        one.end()
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
                took = one.told("ms", "time 1")
                one.ms += took["ms"]
                one.cpu_ms += took["cpu_ms"]
            except (RuntimeError, OSError) as e:
                failed[one.key] = str(e)
    return failed


@functools.cache
def closed_form(s, gives):
    """What programs should give; None of what has no closed form."""
    if gives == "projections":
        return np.stack([scan.line_integrals(s, v) for v in s.kept_views()])
    if gives == "reconstruction":
        return scan.phantom_slices(s)[:, s.seen()]
    if gives in ("sum", "weighted sum"):
        return scan.back_projections(s, 2 if gives == "weighted sum" else 0)[:, s.seen()]
    return None


def row(one, s, work, isocenter):
    ms = [t / s.views for t in one.ms]
    quarters = statistics.quantiles(ms, n=4) if len(ms) > 1 else ms * 3
    result = {
        "key": one.key,
        **{k: one.about[k] for k in ("name", "version", "what", "gives")},
        "ms_per_view": statistics.median(ms),
        "ms_per_view_quartiles": [quarters[0], quarters[2]],
        "ms_per_view_min": min(ms),
        "cpu_ms_per_view": statistics.median(one.cpu_ms) / s.views,
        "cpu_ms_per_view_min": min(one.cpu_ms) / s.views,
        "calls": len(ms),
    }
    if work != "projection":
        result["gups"] = 1e-6 * s.size**3 / statistics.median(ms)
    truth = closed_form(s, one.about["gives"])
    if truth is not None:
        exact = scan.difference(one.kept, truth)
        result |= {"l1_from_closed_form": exact[0], "max_from_closed_form": exact[1]}
    if isocenter is not None:
        result["ratio"] = statistics.median(one.ms) / statistics.median(isocenter.ms)
        result["cpu_ratio_of_min"] = min(one.cpu_ms) / min(isocenter.cpu_ms)
        if one.about["gives"] == isocenter.about["gives"]:
            result["l1_from_isocenter"] = scan.difference(one.kept, isocenter.kept)[0]
    return result


def machine(threads, gpu=False):
    about = {"processor": platform.processor() or platform.machine(), "threads": threads}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
        about["processor"] = names[0] if names else about["processor"]
    except OSError:
        pass
    if gpu:
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        asked = subprocess.run(query, capture_output=True, text=True, check=False)
        about["gpu"] = asked.stdout.strip()
    return about


def parse():
    a = parser_of(__doc__.splitlines()[0])
    a.add_argument("--work", choices=_WORKS, default="projection")
    a.add_argument("--size", type=int, default=512, help="N of volume and detector")
    a.add_argument("--views", type=int, default=360)
    a.add_argument("--tilt", type=float, nargs=2, default=(0, 0), metavar=("PITCH", "ROLL"),
                   help="of the detector, degrees")
    a.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    a.add_argument(
        "--peers",
        default="astra,rtk",
        help="of astra (GPU only), rtk, rtk_unweighted (backprojection on a GPU); may be empty",
    )
    a.add_argument("--iso", help="path of the tool")
    a.add_argument(
        "--variants",
        help="Isocenter's, of ordered, reproducible (sums of a projection), avx2 (ordered, and a "
        "processor's registers of 32 bytes); the first is 1.00",
    )
    a.add_argument("--threads", type=int, default=2, help="of the processor, for each program")
    a.add_argument("--rounds", type=int, default=11)
    a.add_argument("--pause", type=float, default=0.05, help="s, before each timed call")
    a.add_argument("--scratch", help="folder for the input: 4 N^3 or 4 N^2 VIEWS bytes")
    a.add_argument("--json", help="where the result goes")
    given = a.parse_args()
    projects = given.work == "projection"
    if any(given.tilt) and given.work not in ("projection", "adjoint"):
        a.error(f"--tilt with --work {given.work} (the weights of its closed form are an upright "
                "detector's); use turned_detectors.py for FDK")
    given.variants = given.variants or ("ordered,reproducible" if projects else "ordered")
    return given


def main():
    given = parse()
    s = scan.scan(given.size, given.views, *given.tilt)
    keys = [f"isocenter_{x}" for x in given.variants.split(",")] if given.iso else []
    keys += [p for p in given.peers.split(",") if p]
    programs, failed = [], {}
    with tempfile.TemporaryDirectory(dir=given.scratch) as name:
        folder = pathlib.Path(name)
        write = scan.write_phantom if given.work == "projection" else scan.write_projections
        write(s, folder / "input.raw")
        for key in keys:
            try:
                programs.append(start(key, given, s, folder))
            except (RuntimeError, OSError, ValueError) as e:
                failed[key] = str(e)
        failed |= take_turns(programs, given)
        for one in programs:
            one.end()
    programs = [p for p in programs if p.ms]
    yardstick = next((p for p in programs if p.key == keys[0]), None) if given.iso else None
    result = {
        "work": _WORKS[given.work],
        "size": s.size,
        "views": s.views,
        "tilt": list(given.tilt),
        "device": given.device,
        "machine": machine(given.threads, given.device == "cuda"),
        "rows": [row(p, s, given.work, yardstick) for p in programs],
        "failed": failed,
    }
    write_json(given.json, result)
    print(table.markdown([result]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
