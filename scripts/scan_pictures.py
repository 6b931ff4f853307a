#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/figures/scans.png: where source and detector of every file in examples/geometry stand.

    scan_pictures.py build/openmp/apps/iso/iso

The vectors of the views are those that `iso info --geometry FILE --json -` writes. Needs numpy and
matplotlib (scripts/setup.sh makes .deps/venv).
"""
import io
import itertools
import json
import subprocess

from harness import TOP, need, put, pyplot, words_of

need("numpy", "matplotlib", "PIL")

import numpy as np  # noqa: E402
import PIL.Image  # noqa: E402

PICTURE = TOP / "docs" / "figures" / "scans.png"
COLUMNS = 4
OBJECT = 256  # mm, side of the phantom's cube
RAY = 700  # mm, what is drawn of parallel rays before the detector
OUTLINES = 3  # detectors drawn of a scan


def views_of(program, file):
    """(rays, {name: [views, 3]}, corners of the detectors [views, 5, 3])."""
    text = subprocess.run([program, "info", "--geometry", file, "--json", "-"], check=True,
                          capture_output=True, text=True).stdout
    scan = json.loads(text)
    names = scan["views"][0].keys()
    vectors = {name: np.array([view[name] for view in scan["views"]]) for name in names}
    count = scan["detector"]["pixels"]
    corners = [vectors["detector_origin_mm"] + (u - 0.5) * vectors["u_step_mm"]
               + (v - 0.5) * vectors["v_step_mm"]
               for u, v in ((0, 0), (count[0], 0), count, (0, count[1]), (0, 0))]
    return scan["rays"], vectors, np.stack(corners, axis=1)


def draw(place, title, rays, vectors, corners):
    half = OBJECT / 2
    for a, b in itertools.combinations(itertools.product((-half, half), repeat=3), 2):
        if sum(p != q for p, q in zip(a, b)) == 1:
            place.plot(*zip(a, b), color="0.6", linewidth=0.6)
    place.plot((0, 0), (0, 0), (-1.9 * half, 1.9 * half), color="black", linewidth=0.8,
               linestyle="--")
    chosen = [n * len(corners) // OUTLINES for n in range(OUTLINES)]
    for color, view in zip(("tab:blue", "tab:orange", "tab:green"), dict.fromkeys(chosen)):
        place.plot(*corners[view].T, color=color, linewidth=1.1)
        place.scatter(*corners[view][:1].T, color=color, s=6)  # the corner of pixel (0, 0)
        for corner in corners[view][:4]:
            start = (vectors["source_mm"][view] if rays == "cone" else
                     corner - RAY * unit(vectors["direction"][view]))
            place.plot(*zip(start, corner), color=color, linewidth=0.3)
    if rays == "cone":
        place.plot(*vectors["source_mm"].T, color="tab:red", linewidth=0.6, marker=".",
                   markersize=2)
    place.set_title(title, fontsize=8, y=0.93)
    place.set(xlim=(-1000, 1000), ylim=(-1000, 1000), zlim=(-560, 560))
    place.set_box_aspect((2000, 2000, 1120), zoom=1.35)
    place.view_init(elev=24, azim=-62)
    place.set_axis_off()


def unit(vector):
    return vector / np.linalg.norm(vector)


def main():
    (program,) = words_of(__doc__, most=1)
    files = sorted((TOP / "examples" / "geometry").glob("*.json"))
    rows = -(-len(files) // COLUMNS)
    figure = pyplot().figure(figsize=(10, 2.1 * rows))
    for n, file in enumerate(files):
        place = figure.add_subplot(rows, COLUMNS, n + 1, projection="3d")
        draw(place, file.name, *views_of(program, str(file)))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.98, wspace=0, hspace=0.02)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=80)
    # A few colours make a file of a third of the size.
    small = io.BytesIO()
    PIL.Image.open(drawn).convert("RGB").quantize(48).save(small, "PNG", optimize=True)
    put(PICTURE, small.getvalue())

if __name__ == "__main__":
    main()
