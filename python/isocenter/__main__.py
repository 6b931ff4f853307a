# SPDX-License-Identifier: BSD-3-Clause
"""Print what calls run on and whether their bits are right, and draw a picture."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from . import Geometry, Grid, even_angles, fdk, info, phantom, plot, verify


def main() -> int:
    """Print and draw; return 1 where a bit differs."""
    parser = argparse.ArgumentParser(
        prog="python -m isocenter", description=__doc__, epilog="Exit status 1: a bit differs."
    )
    parser.add_argument(
        "picture", nargs="?", default="isocenter.png", help="file to draw (default: %(default)s)"
    )
    file = parser.parse_args().picture
    for name, value in info().items():
        print(f"{name:18} {value}")
    began = time.perf_counter()
    checks = verify()
    wrong = [check for check in checks if not check.passed]
    for check in wrong:
        print(f"DIFFERS: {check.name}: {check.found} (expected: {check.expected})")
    seconds = time.perf_counter() - began
    print(f"{'verify':18} {len(checks) - len(wrong)} of {len(checks)} results have the same bits")
    print(f"{'':18} in {seconds:.1f} s")

    began = time.perf_counter()
    scan = Geometry.circular_cone(
        pixels=(192, 160),
        pitch=1.6,
        source_axis=600.0,
        source_detector=900.0,
        angles=even_angles(240, 2 * np.pi),
    )
    grid = Grid((128, 128, 128), 1.5)
    lines = phantom.project(phantom.shepp_logan(90), scan, subsamples=2)
    volume = fdk(scan, grid, lines, window="hann")
    print(f"{'picture':18} a head of {grid.shape} voxels, in {time.perf_counter() - began:.1f} s")
    try:
        figure = plot.slices(grid, volume, low=0.1, high=0.4)
    except ImportError as missing:
        print(f"{'':18} not drawn: {missing}")
    else:
        figure.savefig(file)
        print(f"{'':18} {file}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
