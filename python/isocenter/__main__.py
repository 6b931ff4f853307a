# SPDX-License-Identifier: BSD-3-Clause
"""Print what calls run on and whether their bits are right, and draw a picture."""

from __future__ import annotations

import argparse
import importlib.util
import struct
import sys
import time
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from . import Geometry, Grid, _core, even_angles, fdk, info, phantom, verify


def write_png(file: str, grey: npt.NDArray[np.uint8]) -> None:
    """Write a picture, top row first, without a package that draws."""

    def part(kind: bytes, content: bytes) -> bytes:
        whole = kind + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    rows, columns = grey.shape
    head = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)  # 8 bits of grey
    lines = np.hstack([np.zeros((rows, 1), np.uint8), grey])  # each line as it is
    with open(file, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head))
        out.write(part(b"IDAT", zlib.compress(lines.tobytes())) + part(b"IEND", b""))


def three_slices(volume: npt.NDArray[Any], low: float, high: float) -> npt.NDArray[np.uint8]:
    """The middle slices of a cube across z, y and x, side by side; z and y go up."""
    middle = volume.shape[0] // 2
    side_by_side = np.hstack([volume[middle], volume[:, middle], volume[:, :, middle]])[::-1]
    return (np.clip((side_by_side - low) / (high - low), 0, 1) * 255).astype(np.uint8)


def verified(arrays: Any) -> int:
    """Print how many results have the right bits; return how many have not."""
    began = time.perf_counter()
    checks = verify(arrays)
    wrong = [check for check in checks if not check.passed]
    for check in wrong:
        print(f"DIFFERS: {check.name}: {check.found} (expected: {check.expected})")
    seconds = time.perf_counter() - began
    print(f"{'verify':18} {len(checks) - len(wrong)} of {len(checks)} results have the same bits")
    print(f"{'':18} in {seconds:.1f} s, on arrays of {arrays}")
    return len(wrong)


def main() -> int:
    """Print and draw; return 1 where a bit differs."""
    parser = argparse.ArgumentParser(
        prog="python -m isocenter", description=__doc__, epilog="Exit status 1: a bit differs."
    )
    parser.add_argument(
        "picture",
        nargs="?",
        default="isocenter.png",
        help="PNG file to write (default: %(default)s)",
    )
    file = parser.parse_args().picture
    for name, value in info().items():
        print(f"{name:18} {value}")
    # On the host, and on the GPU where there is one.
    frameworks = ["cupy", "torch"] if _core.has_cuda else []
    found = [name for name in frameworks if importlib.util.find_spec(name) is not None]
    wrong = sum(verified(arrays) for arrays in ["numpy", *found[:1]])

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
    write_png(file, three_slices(volume, 0.1, 0.4))
    print(f"{'':18} {file}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
