# SPDX-License-Identifier: BSD-3-Clause
"""Times iterations of peers beside Isocenter's, whose rows are those of iso_bench_iterative.

    iteration_times.py --bench .../iso_bench_iterative [--peer astra] [--size 512] [--views 360]
    iteration_times.py --bench .../iso_bench_iterative --peer rtk --size 256 --views 64
                       [--json FILE]

astra: SIRT3D_CUDA and CGLS3D_CUDA on one GPU, upright and with the detector rolled by one degree
and pitched by two. The difference of runs of 4 and of 14 iterations over ten, so that copies to and
from the GPU do not count.
rtk: its filters for a processor, on one thread, upright and tilted alike: SART with blocks of 8
views and of all of them, and conjugate gradients, each with the transpose of Joseph's projection
and with its backprojection by voxels. Processor time, the difference of runs of one and of three
iterations over two.

All have N^3 voxels and N^2 pixels in the cone of scan.py, in float. A peer's readings are its own
projections of a phantom. The error of both is the l1 distance from the phantom over its l1, after
six iterations (rtk: three); the phantoms differ, so that errors say that the methods converge, and
no more.
"""
import functools
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import document_of, parser_of, write_json  # noqa: E402
from python_modules import np  # noqa: E402
import scan  # noqa: E402

METHODS = {"sirt": "SIRT3D_CUDA", "cgls": "CGLS3D_CUDA"}
BLOCK = 8  # views a block of iso_bench_iterative's os_sart


def scan_of(given, tilted):
    return scan.scan(given.size, given.views, *((2, 1) if tilted else ()))


def phantom(size):
    at = (np.arange(size, dtype=np.float32) - (size - 1) / 2) / (size / 2)
    z, y, x = np.meshgrid(at, at, at, indexing="ij", sparse=True)
    return np.float32(0.02) * np.exp(-6 * (x * x + y * y + z * z), dtype=np.float32)


def of_astra(s, method):
    """[(name, ms an iteration, error)]"""
    import astra
    import peer_astra

    cone, voxels = peer_astra.geometries(s)
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
    error, _ = scan.difference(astra.data3d.get(volume), truth)
    few, many = min(seconds(4) for _ in range(2)), min(seconds(14) for _ in range(2))
    astra.data3d.delete([sinogram, volume])
    return [(f"ASTRA {astra.__version__} {METHODS[method]}", 100 * (many - few), error)]


@functools.cache
def rtk_readings(s):
    from iterations import by_rtk

    rtk = by_rtk(s, 1)
    return rtk, rtk.project(phantom(s.size))


def of_rtk(s, method):
    """[(name, ms of processor time an iteration, error)]"""
    rtk, readings = rtk_readings(s)
    kind = "CG" if method == "cgls" else "SART"
    block = BLOCK if method == "os_sart" else s.views
    found = []
    for pair in ("joseph", "voxelbased"):
        def run(count, pair=pair):
            began = time.process_time()
            volume = rtk.iterate(kind, pair, readings, count, block)
            return time.process_time() - began, volume

        few = min(run(1)[0] for _ in range(2))
        many, volume = run(3)
        what = kind + (f", blocks of {block}" if kind == "SART" else "")
        found.append((f"RTK {rtk.version} {what}, {pair} backprojection", 500 * (many - few),
                      scan.difference(volume, phantom(s.size))[0]))
    return found


def of_isocenter(given):
    """{(method, tilted): (ms, error)}"""
    rows_of = {"astra": "(sirt|cgls)/.*/float/cuda",
               "rtk": "(sirt|os_sart|cgls)/(upright|tilted)/float/serial"}
    rows = document_of(given.bench, f"^iteration/{rows_of[given.peer]}/{given.size}/")["benchmarks"]
    found = {}
    for row in rows:
        _, method, how = row["name"].split("/")[:3]
        found[method, how == "tilted"] = (row["ms"], row["error"])
    return found


def main():
    a = parser_of(__doc__)
    a.add_argument("--bench", required=True)
    a.add_argument("--peer", choices=("astra", "rtk"), default="astra")
    a.add_argument("--size", type=int, default=512)
    a.add_argument("--views", type=int, default=360)
    a.add_argument("--methods", nargs="+", metavar="NAME", help="cgls, os_sart, sirt; default: all")
    a.add_argument("--scans", nargs="+", choices=("upright", "tilted"),
                   default=("upright", "tilted"))
    a.add_argument("--json")
    given = a.parse_args()
    of_peer = {"astra": of_astra, "rtk": of_rtk}[given.peer]
    rows = []
    for (method, tilted), (ms, error) in sorted(of_isocenter(given).items()):
        if given.methods and method not in given.methods:
            continue
        if ("tilted" if tilted else "upright") not in given.scans:
            continue
        for name, peer_ms, peer_error in of_peer(scan_of(given, tilted), method):
            rows.append({"method": method, "scan": "tilted" if tilted else "upright", "ms": ms,
                         "error": error, "peer": name, "peer_ms": peer_ms,
                         "peer_error": peer_error, "ratio": peer_ms / ms})
            print("{method} {scan}: {ms:.1f} ms (error {error:.4f}), {peer}: {peer_ms:.1f} ms "
                  "(error {peer_error:.4f}), {ratio:.2f} times as long".format(**rows[-1]),
                  flush=True)
    write_json(given.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
