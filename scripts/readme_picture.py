#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/figures/first_projection.png: a phantom, its projection, and the projection's error.

    readme_picture.py build/openmp/examples/iso_example_first_projection

Runs the example, which writes a slice of the Shepp-Logan head, the first view of its projections
and the exact line integrals of that view as 128 x 128 floats each. Needs numpy and matplotlib
(scripts/setup.sh makes .deps/venv).
"""
import pathlib
import subprocess
import tempfile

from harness import TOP, need, pyplot, save, words_of

need("numpy", "matplotlib")

import numpy as np  # noqa: E402

PICTURE = TOP / "docs" / "figures" / "first_projection.png"


def images(program):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "images"
        subprocess.run([program, str(file)], check=True)
        return np.fromfile(file, dtype=np.float32).reshape(3, 128, 128)


def main():
    head, projected, exact = images(*words_of(__doc__, most=1))
    error = projected - exact
    panels = (
        # picture, half its side in mm, title, axes, bar, limits, which of them cut values off
        (head, 128, "slice of the head", "xy", "attenuation, 1/mm", (0, 0.4), "max"),
        (projected, 160, "cone-beam projection", "uv", "line integral", (0, None), "neither"),
        (error, 160, "projection - closed form", "uv", "line integral", (-1, 1), "both"),
    )
    figure, places = pyplot().subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    for place, (picture, half, title, axes, bar, limits, cut) in zip(places, panels):
        drawn = place.imshow(picture.T, origin="lower", extent=(-half, half, -half, half),
                             cmap="RdBu" if limits[0] else "gray", vmin=limits[0], vmax=limits[1])
        place.set(title=title, xlabel=f"{axes[0]}, mm", ylabel=f"{axes[1]}, mm")
        figure.colorbar(drawn, ax=place, label=bar, shrink=0.85, extend=cut)
    save(figure, PICTURE, 80)


if __name__ == "__main__":
    main()
