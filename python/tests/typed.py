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
volume = iso.fdk(scan, grid, lines, window="hann", truncation_correction=4)
with iso.Fdk(scan, grid, dtype=np.float32) as reconstruct:
    volume = reconstruct(lines)
found: iso.Reconstruction[npt.NDArray[np.float32]] = iso.sart(
    scan, grid, lines, block=8, iterations=3, lower=0.0, proceed=lambda now: now.residual > 1.0
)
volume = found.volume
with iso.Cgls(scan, grid, lines, start=volume) as method:
    told: iso.Iteration = method.step()
result: iso.GammaResult = iso.gamma(volume, volume, grid, criteria=["2%/2mm"], cut_off=0.2)
rate: float = result.summaries[0].pass_rate
organ = iso.Structure([np.zeros((3, 3))], "organ", caps="none")
values: dict[str, float] = iso.Dvh(organ, grid, volume).evaluate(["D95", "mean"])
beam = iso.dose.Beam.rectangle(-10, 10, -10, 10, gantry_deg=30.0)
dose: npt.NDArray[np.float32] = iso.dose.Calculator(grid, cones=8)(beam, volume)
checks: list[iso.Check] = iso.verify()
iso.use("serial")
