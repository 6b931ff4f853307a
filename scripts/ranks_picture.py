#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws who owns what of a scan that four ranks share, and how much faster several GPUs are.

On the left a cone scan from the side, with four slabs of the volume and the rows of the detector in
the colours of their owners; grey are the rows that two slabs are seen in, whose words go to the
row's owner. On the right the rows of topic `ranks` in perf/results; dashed is as many times as fast
as there are GPUs.

Usage: ranks_picture.py [PICTURE.png]   docs/figures/ranks.png unless it is named
       ranks_picture.py --self-test
"""
import json
import pathlib
import sys
import tempfile

from harness import TOP, is_png, pyplot, save, words_of

COLOURS = ["#4477aa", "#66ccee", "#228833", "#ccbb44"]
RESULTS = TOP / "perf" / "results"
CALLS = ["projection", "adjoint", "filtered backprojection", "SIRT", "CGLS", "total variation",
         "OS-SART, 4 blocks", "OS-SART, blocks of 8 views"]


def speeds(results):
    """{GPUs: {call: times as fast}} of the newest rows of 1024^3 voxels."""
    found = {}
    for path in sorted(results.glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(run, dict) or run.get("topic") != "ranks":
            continue
        for row in run["rows"]:
            machine = row.get("machine", run.get("machine", ""))
            call, _, size = row["what"].rpartition(", 1024^3")
            if "NCCL" in machine and call in CALLS and size and "ratio" in row:
                found.setdefault(int(machine.split()[0]), {})[call] = row["ratio"]
    return found


def draw_scan(axes):
    source, detector, half = -5.7, 3.0, 1.0
    reach = 0.5
    scale = (detector - source) / -source
    seen = half * (detector - source) / (-source - reach)  # of the nearest voxels
    for rank, colour in enumerate(COLOURS):
        low = -half + rank * half / 2
        axes.fill([-reach, reach, reach, -reach], [low, low, low + half / 2, low + half / 2],
                  color=colour)
        axes.text(0, low + half / 4, f"planes of rank {rank}", ha="center", va="center", fontsize=8)
        rows = [-seen + rank * seen / 2, -seen + (rank + 1) * seen / 2]
        axes.plot([detector] * 2, rows, color=colour, linewidth=9, solid_capstyle="butt")
        axes.text(detector + 0.25, sum(rows) / 2, f"rows of rank {rank}", va="center", fontsize=8)
    for bound in (-half / 2, 0, half / 2):
        # Where the nearest and the farthest voxels of a bound between slabs are seen.
        ends = [bound * (detector - source) / (x - source) for x in (-reach, reach)]
        axes.plot([detector - 0.22] * 2, [min(ends) - 0.03, max(ends) + 0.03], color="grey",
                  linewidth=5, solid_capstyle="butt")
    for bound in (-half, -half / 2, 0, half / 2, half):
        axes.plot([source, detector], [0, bound * scale], color="black", linewidth=0.5)
    axes.plot([source], [0], "ko")
    axes.text(source, 0.12, "source", ha="center", fontsize=8)
    axes.text(-2.6, -1.45, "grey: rows that two slabs are seen in", fontsize=8)
    axes.set_xlim(source - 0.6, detector + 2.2)
    axes.set_ylim(-1.9, 1.9)
    axes.axis("off")
    axes.set_title("Each voxel and each reading has one owner", fontsize=10)


def draw_speeds(axes, found):
    height = 0.8 / max(len(found), 1)
    for n, (gpus, calls) in enumerate(sorted(found.items())):
        places = [-CALLS.index(call) - n * height for call in calls]
        axes.barh(places, list(calls.values()), height * 0.9, color=COLOURS[n * 2],
                  label=f"{gpus} GPUs")
        axes.axvline(gpus, color=COLOURS[n * 2], linestyle="--", linewidth=1)
    axes.set_yticks([-n - height / 2 for n in range(len(CALLS))], CALLS, fontsize=8)
    axes.set_xlabel("times as fast as one GPU", fontsize=8)
    axes.set_title("1024³ voxels, 720 views, H200, NCCL", fontsize=10)
    axes.legend(fontsize=8, loc="lower right")


def draw(results, path):
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    draw_scan(left)
    draw_speeds(right, speeds(results))
    save(figure, path)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        rows = [{"machine": "2 X, NCCL", "what": "SIRT, 1024^3, 720 views", "ratio": 1.9},
                {"machine": "2 X, by the host", "what": "SIRT, 1024^3, 720 views", "ratio": 1.2}]
        (place / "a.json").write_text(json.dumps({"topic": "ranks", "rows": rows}))
        (place / "b.json").write_text(json.dumps({"topic": "gamma", "rows": rows}))
        assert speeds(place) == {2: {"SIRT": 1.9}}, speeds(place)
        draw(place, place / "ranks.png")
        return is_png(place / "ranks.png")


def main():
    words = words_of(__doc__, self_test, 0, 1)
    draw(RESULTS, words[0] if words else str(TOP / "docs" / "figures" / "ranks.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
