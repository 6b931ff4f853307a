#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What FDK and an iteration of SIRT would take on many GPUs, from the rates of one.

The model of docs/algorithms/ranks.md: ranks own slabs of planes and shares of the detector's rows;
kernels take their share of the work; what the planes of a rank need and another rank owns is sent.
An upright cone scan (cases::cone_scan) with as many pixels a side as asked for, float. Rates are
those of rates.json: what was measured is said there, and so is what is assumed. What every rank
does for all pixels, and its waiting, is what four GPUs took beyond that at 1024^3. The time that
SIRT takes for a voxel grows with the volume as it did from 1024^3 to 1536^3 on one GPU.

It leaves out: files, the start of a job, and a network that is shared. It hides nothing behind
kernels. The library sends the words of a projection behind the kernels of its next batch, which
made two GPUs no faster.

Usage: scaling_model.py [--rates FILE] [--sizes N...] [--views N] [--gpus N...]
       scaling_model.py --points     the model beside the points of rates.json
       scaling_model.py --self-test
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import markdown, parser_of, read_json  # noqa: E402

NUMBER = 4  # bytes
SOURCE = 5.7  # distance of the source from the axis, in widths of the volume
# Planes of a slab that a GPU's kernels take at once; a slab of fewer leaves threads idle.
GRAIN = {"FDK": 128, "SIRT": 64}
# Rays that walk together in a projection.
TOGETHER = 64


def magnifications():
    """Of the farthest and the nearest voxel's rows, over those on the axis."""
    reach = math.sqrt(0.5)
    return SOURCE / (SOURCE + reach), SOURCE / (SOURCE - reach)


def halo(pixels_a_voxel):
    """Planes that a projection reads beyond a slab, each way."""
    return math.ceil(TOGETHER / 2 / pixels_a_voxel * magnifications()[1]) + 1


def shares(count, ranks):
    """[first, last) of each rank."""
    return [(count * r // ranks, count * (r + 1) // ranks) for r in range(ranks)]


def rows_met(planes, size, rows):
    """Rows that see planes [first, last) of a volume of `size` planes."""
    far, near = magnifications()
    pixels_a_voxel = rows / size
    low, high = (at - size / 2 for at in planes)
    first = min(low * far, low * near) * pixels_a_voxel + rows / 2
    last = max(high * far, high * near) * pixels_a_voxel + rows / 2
    return max(math.floor(first), 0), min(math.ceil(last) + 1, rows)


def overlap(a, b):
    return max(min(a[1], b[1]) - max(a[0], b[0]), 0)


def rows_received(size, rows, ranks, beyond=0):
    """The most rows of other ranks that a rank's planes, and so many beyond, meet."""
    owners = shares(rows, ranks)
    most = 0
    for rank, (first, last) in enumerate(shares(size, ranks)):
        met = rows_met((max(first - beyond, 0), min(last + beyond, size)), size, rows)
        most = max(most, met[1] - met[0] - overlap(met, owners[rank]))
    return most


def seconds(rates, size, views, rows, ranks):
    """{call: (kernels, sending)} of a rank, and the bytes that FDK and SIRT hold."""
    at = rates["measured"]
    work = size ** 3 * views / ranks
    rays = size * rows ** 2 * views / ranks
    of_one = at["size"] ** 3 * at["views"]
    planes = size / ranks

    def idle(call):
        grain = GRAIN[call]
        return math.ceil(planes / grain) * grain / planes if ranks > 1 else 1

    growth = math.log(at["sirt_iteration_1536_s"] / at["sirt_iteration_s"], 1536 / at["size"]) - 3
    larger = (size / at["size"]) ** growth
    forward = at["forward_s"] * rays / of_one * idle("SIRT") * larger
    adjoint = at["adjoint_s"] * work / of_one * idle("SIRT") * larger
    fdk = at["fdk_s"] * work / of_one * idle("FDK")
    pixels = rows ** 2 * views / (at["size"] ** 2 * at["views"]) * (1 - 1 / ranks)
    of_all = {call: rates["every_rank"][call.lower() + "_s"] * pixels for call in GRAIN}
    # What an iteration does beside its pair: passes over volume and stack.
    rest = at["sirt_iteration_s"] - at["forward_s"] - at["adjoint_s"]
    steps = max(rest, 0) * (size ** 3 + rows ** 2 * views) / ranks / (
        at["size"] ** 3 + at["size"] ** 2 * at["views"])
    speed = rates["link_bytes_per_s" if ranks <= rates["gpus_a_host"] else "network_bytes_per_s"]
    readings = rows_received(size, rows, ranks) * rows * views * NUMBER
    beyond = halo(rows / size)
    words = rows_received(size, rows, ranks, beyond) * rows * views * NUMBER
    halos = (min(2 * beyond, size - planes) if ranks > 1 else 0) * size ** 2 * NUMBER
    volume = size ** 3 * NUMBER / ranks
    stack = rows ** 2 * views * NUMBER / ranks
    return {
        "FDK": (fdk + of_all["FDK"], readings / speed, volume + 2 * stack),
        "SIRT": (forward + adjoint + steps + of_all["SIRT"], (readings + words + halos) / speed,
                 3 * volume + 4 * stack + halos),
    }


def table(rates, sizes, views, counts):
    rows = []
    for size in sizes:
        pixels = size // 2 if size > 2048 else size
        for ranks in counts:
            found = seconds(rates, size, views, pixels, ranks)
            cells = [f"{size}^3, {pixels}^2", str(ranks)]
            for kernels, sending, held in found.values():
                fits = held <= rates["memory_bytes"]
                cells.append(f"{kernels:.3g} + {sending:.2g}" if fits else "too large")
            rows.append(cells)
    return markdown(["voxels, pixels", "GPUs", "FDK, s: kernels + sending",
                     "iteration of SIRT, s: kernels + sending"], rows)


def points(rates):
    """Rows of what was measured on several GPUs, and of what the model says."""
    rows = []
    for at in rates["points"]:
        size, views, gpus = at["size"], at["views"], at["gpus"]
        of_model = sum(seconds(rates, size, views, size, gpus)[at["what"]][:2])
        rows.append([at["what"], f"{size}^3, {views}", str(gpus), f"{at['s']:.3f}",
                     f"{of_model:.3f}", f"{of_model / at['s']:.2f}"])
    return rows


def self_test(rates):
    at = rates["measured"]
    size, views = at["size"], at["views"]
    one = seconds(rates, size, views, size, 1)
    assert math.isclose(one["FDK"][0], at["fdk_s"]) and one["FDK"][1] == 0
    assert math.isclose(one["SIRT"][0], max(at["sirt_iteration_s"],
                                            at["forward_s"] + at["adjoint_s"]))
    # The halo that streaming.md tells of such a scan.
    assert halo(1) == 38
    two = seconds(rates, size, views, size, 2)
    assert one["FDK"][0] < 2 * two["FDK"][0] < 1.1 * one["FDK"][0] and two["FDK"][1] > 0
    # Rows by brute force, over the corners of every plane.
    for ranks in (2, 3, 7):
        for planes in shares(64, ranks):
            met = rows_met(planes, 64, 64)
            seen = [z * m + 32 for z in (planes[0] - 32, planes[1] - 32) for m in magnifications()]
            assert met[0] <= max(min(seen), 0) and met[1] >= min(max(seen), 64)
            assert met[0] >= min(seen) - 1 or met[0] == 0
    # Slabs below the grain gain nothing.
    thin = [seconds(rates, size, views, size, ranks)["FDK"][0] for ranks in (8, 16)]
    assert thin[0] <= thin[1]
    # Within a tenth of what was measured.
    for row in points(rates):
        assert abs(float(row[-1]) - 1) < 0.1, row
    print("scaling_model: self-test passed")


def main():
    parser = parser_of(__doc__)
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--rates", type=pathlib.Path, default=here / "rates.json")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2048, 4096, 8192])
    parser.add_argument("--views", type=int, default=4096)
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2, 8, 64, 256, 1024])
    parser.add_argument("--points", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    asked = parser.parse_args()
    rates = read_json(asked.rates)
    if asked.self_test:
        self_test(rates)
        return
    if asked.points:
        print(markdown(["call", "voxels, views", "GPUs", "measured, s", "model, s", "ratio"],
                       points(rates)))
        return
    print(table(rates, asked.sizes, asked.views, asked.gpus))


if __name__ == "__main__":
    main()
