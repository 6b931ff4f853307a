# SPDX-License-Identifier: BSD-3-Clause
"""Calls as a typed program writes them. Checked by mypy --strict, never run."""

import threading

import numpy as np
import numpy.typing as npt

import isocenter as iso

scan: iso.Geometry = iso.Geometry.circular_cone(
    pixels=(64, 48),
    pitch=1.0,
    source_axis=200.0,
    source_detector=300.0,
    angles=iso.even_angles(32, 2 * np.pi),
)
grid = iso.Grid((32, 32, 32), (1.0, 1.0, 2.0))
volume: npt.NDArray[np.float32] = np.zeros(grid.shape, np.float32)
lines: npt.NDArray[np.float32] = iso.project(
    scan, grid, volume, projector="siddon", cancel=threading.Event(), progress=print
)
back: npt.NDArray[np.float32] = iso.back_project(scan, grid, lines, edge="truncate")
doubles: npt.NDArray[np.float64] = iso.project(scan, grid, volume.astype(np.float64))
projector = iso.Projector(scan, grid, dtype=np.float32, region="cylinder")
lines = projector(volume, out=lines)
back = projector.T @ lines
shape: tuple[int, int, int] = grid.shape
iso.use("serial")
