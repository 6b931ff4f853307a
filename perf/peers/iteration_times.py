# SPDX-License-Identifier: BSD-3-Clause
"""Times an iteration of ASTRA's SIRT3D_CUDA and CGLS3D_CUDA beside Isocenter's, on one GPU.

    iteration_times.py --bench .../iso_bench_iterative [--size 512] [--views 360] [--json FILE]

Both have N^3 voxels and N^2 pixels in the cone of scan.py, upright and with the detector rolled by
one degree and pitched by two, in float. ASTRA's time is the difference of runs of 4 and of 14
iterations over ten, so that its copies to and from the GPU do not count; its readings are its own
projections of a phantom. Isocenter's is the row of iso_bench_iterative, whose scan is the same.
The error of both is the l1 distance from the phantom over its l1, after six iterations; the
phantoms differ, so that errors say that the methods converge, and no more.
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
import time

import astra
import numpy as np
import scan

METHODS = {"sirt": "SIRT3D_CUDA", "cgls": "CGLS3D_CUDA"}


def turned(u, v, pitch, roll):
    """u and v after a turn about u, then about the normal: as ct::turn_detector has it."""
    def about(axis, x, angle):
        return (x * math.cos(angle) + np.cross(axis, x) * math.sin(angle)
                + axis * np.dot(axis, x) * (1 - math.cos(angle)))

    v = about(u, v, pitch)
    normal = np.cross(u, v)
    return about(normal, u, roll), about(normal, v, roll)


def geometry_of(s, tilted):
    rows = []
    for angle in s.angles():
        source, middle, u, v = (np.asarray(x, float) for x in s.frame(angle))
        if tilted:
            u, v = turned(u, v, math.radians(2), math.radians(1))
        rows.append(np.concatenate([source, middle, s.pitch * u, s.pitch * v]))
    return astra.create_proj_geom("cone_vec", s.size, s.size, np.array(rows))


def phantom(size):
    at = (np.arange(size, dtype=np.float32) - (size - 1) / 2) / (size / 2)
    z, y, x = np.meshgrid(at, at, at, indexing="ij", sparse=True)
    return np.float32(0.02) * np.exp(-6 * (x * x + y * y + z * z), dtype=np.float32)


def of_astra(s, method, tilted):
    """(ms an iteration, error)"""
    cone, voxels = geometry_of(s, tilted), astra.create_vol_geom(s.size, s.size, s.size)
    truth = phantom(s.size)
    sinogram, _ = astra.create_sino3d_gpu(truth, cone, voxels)
    volume = astra.data3d.create("-vol", voxels)
    task = astra.astra_dict(METHODS[method])
    task["ProjectionDataId"], task["ReconstructionDataId"] = sinogram, volume

    def seconds(count):
        astra.data3d.store(volume, 0)
        work = astra.algorithm.create(task)
        began = time.perf_counter()
        astra.algorithm.run(work, count)
        taken = time.perf_counter() - began
        astra.algorithm.delete(work)
        return taken

    seconds(6)
    error = float(np.abs(astra.data3d.get(volume) - truth).sum() / np.abs(truth).sum())
    few, many = min(seconds(4) for _ in range(2)), min(seconds(14) for _ in range(2))
    astra.data3d.delete([sinogram, volume])
    return 100 * (many - few), error


def of_isocenter(given):
    """{(method, tilted): (ms, error)}"""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        words = [given.bench, "--benchmark_filter=^iteration/(sirt|cgls)/.*/float/cuda/"
                 f"{given.size}/", f"--benchmark_out={file.name}", "--benchmark_out_format=json"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        rows = json.load(open(file.name, encoding="utf-8"))["benchmarks"]
    found = {}
    for row in rows:
        _, method, how = row["name"].split("/")[:3]
        found[method, how == "tilted"] = (row["ms"], row["error"])
    return found


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    a.add_argument("--bench", required=True)
    a.add_argument("--size", type=int, default=512)
    a.add_argument("--views", type=int, default=360)
    a.add_argument("--json")
    given = a.parse_args()
    s = scan.scan(given.size, given.views)
    ours = of_isocenter(given)
    rows = []
    for (method, tilted), (ms, error) in sorted(ours.items()):
        theirs, their_error = of_astra(s, method, tilted)
        rows.append({"method": method, "scan": "tilted" if tilted else "upright", "ms": ms,
                     "error": error, "peer": f"ASTRA {astra.__version__} {METHODS[method]}",
                     "peer_ms": theirs, "peer_error": their_error, "ratio": theirs / ms})
        print("{method} {scan}: {ms:.1f} ms (error {error:.4f}), {peer}: {peer_ms:.1f} ms "
              "(error {peer_error:.4f}), {ratio:.2f} times as long".format(**rows[-1]), flush=True)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
