# SPDX-License-Identifier: BSD-3-Clause
"""What tests of isocenter.mpi run on ranks: it fails where a result is not that of one process."""

import sys
import threading

import numpy as np
import scipy.sparse
from mpi4py import MPI

import isocenter as iso

WORLD = MPI.COMM_WORLD
SCAN = iso.Geometry.circular_cone(
    pixels=(20, 18), pitch=2.0, source_axis=100.0, source_detector=150.0,
    angles=iso.even_angles(24, 2 * np.pi),
)  # fmt: skip
GRID = iso.Grid((12, 11, 10), 1.5)
VOLUME = np.random.default_rng(1).random(GRID.shape)
LINES = np.random.default_rng(2).random(SCAN.shape)
METHODS = {
    "sart": {"block": 6},
    "mlem": {},
    "cgls": {},
    "lsqr": {"damping": 0.5},
    "total_variation": {"weight": 0.01, "stop_gap": 0.0},
}


def whole(parts, axis):
    """The parts of all ranks, one behind the other, on every rank."""
    return np.concatenate(WORLD.allgather(np.ascontiguousarray(parts)), axis=axis)


def in_order(plan, rows):
    """Rows of all ranks in the order of the detector: where v runs against z they are reversed."""
    parts = WORLD.allgather(np.ascontiguousarray(rows))
    ranks = sorted(range(len(parts)), key=lambda rank: plan.rows(rank).start)
    return np.concatenate([parts[rank] for rank in ranks], axis=1)


def compare(ranks, dtype, axes, speeds):
    plan = iso.mpi.Plan(ranks, SCAN, GRID, speeds=speeds)
    planes, rows = plan.planes(), plan.rows()
    volume, lines = VOLUME.astype(dtype), LINES.astype(dtype)
    assert volume[planes].shape == plan.shape
    assert lines[:, rows].shape == plan.projections_shape

    turned = {"zyx": lambda x: x, "xyz": lambda x: x.transpose(2, 1, 0)}[axes]
    swapped = {"zyx": lambda x: x, "xyz": lambda x: x.transpose(0, 2, 1)}[axes]
    x, y = turned(volume[planes].copy()), swapped(lines[:, rows].copy())
    told = []
    found = iso.mpi.project(plan, x, axes=axes, progress=told.append, projector="siddon")
    assert told[-1] == 1.0
    theirs = iso.project(SCAN, GRID, volume, sum="reproducible", projector="siddon")
    assert np.array_equal(in_order(plan, swapped(found)), theirs)
    found = iso.mpi.back_project(plan, y, axes=axes, batch=16)
    assert np.array_equal(whole(turned(found), 0), iso.back_project(SCAN, GRID, lines))
    out = np.empty_like(x)
    assert iso.mpi.fdk(plan, y, out=out, axes=axes, window="hann") is out
    assert np.array_equal(whole(turned(out), 0), iso.fdk(SCAN, GRID, lines, window="hann"))
    for name, options in METHODS.items():
        run = getattr(iso, name)
        start = np.full_like(volume, 0.01)
        mine = {"plan": plan, "axes": axes, "start": turned(start[planes])}
        ours = run(SCAN, GRID, y, iterations=3, **mine, **options)
        single = run(SCAN, GRID, lines, iterations=3, start=start, sum="reproducible", **options)
        assert np.array_equal(whole(turned(ours.volume), 0), single.volume), name
        assert np.array_equal(ours.history["residual"], single.history["residual"]), name


def treatment(ranks, dtype, axes, speeds):
    """Gamma, histograms, dose and products have the bits of one process."""
    turned = {"zyx": lambda x: x, "xyz": lambda x: x.transpose(2, 1, 0)}[axes]
    grid, other = iso.Grid((14, 13, 12), 4.0), iso.Grid((9, 10, 11), 5.0)
    planes = iso.mpi.Planes(ranks, grid, speeds=speeds)
    of_other = iso.mpi.Planes(ranks, other)
    rng = np.random.default_rng(3)
    doses = [10 + rng.random(g.shape).astype(dtype) for g in (grid, other)]
    parts = [turned(d[p.planes()].copy()) for d, p in zip(doses, (planes, of_other), strict=True)]
    assert turned(parts[0]).shape == planes.shape
    criteria = ["3%/3mm", "1%/2mm"]
    mine = iso.mpi.gamma(*parts, planes, of_other, criteria=criteria, axes=axes, cut_off=0.2)
    single = iso.gamma(*doses, grid, other, criteria=criteria, cut_off=0.2)
    for n in range(len(criteria)):
        assert np.array_equal(whole(turned(mine.values[n]), 0), single.values[n], equal_nan=True)
        for key, value in vars(single.summaries[n]).items():
            assert np.array_equal(getattr(mine.summaries[n], key), value), key
    assert np.array_equal(whole(turned(mine.status), 0), single.status)

    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.stack([2 + 15 * np.cos(angle), 1 + 15 * np.sin(angle), 0 * angle], 1)
    organ = iso.Structure([circle + (0, 0, z) for z in (-8.0, -4.0, 0.0, 4.0)], "organ")
    mine = iso.mpi.Dvh(organ, planes, parts[0], axes=axes)
    single = iso.Dvh(organ, grid, doses[0])
    assert mine.statistics() == single.statistics()
    names = ["D95", "V10.5Gy", "mean", "CI10.5Gy"]
    assert mine.evaluate(names, prescription=10.5) == single.evaluate(names, prescription=10.5)
    assert np.array_equal(mine.histogram().cumulative, single.histogram().cumulative)

    density = np.full(grid.shape, 0.9, dtype)
    beams = [
        iso.dose.Beam.rectangle(-8, 8, -8, 8, isocentre=(2, 1, 0), gantry_deg=a, weight=1e10)
        for a in (0.0, 60.0)
    ]
    options = {"dtype": dtype, "azimuths": 4, "cones": 6}
    single = iso.dose.Calculator(grid, **options)(beams, density)
    with iso.mpi.Calculator(planes, axes=axes, **options) as calculator:
        found = calculator(beams, turned(density))
        assert np.array_equal(whole(turned(found), 0), single)
        again = calculator(beams, turned(density), out=found)
        assert again is found and calculator.planes is planes

    rng = np.random.default_rng(4)  # the same matrix on all ranks, which take their rows
    a = scipy.sparse.random(50, 37, 0.2, "csr", dtype, rng)
    first = [0, *np.cumsum([1 + 2 * rank for rank in range(ranks.size - 1)]), 50]
    own = slice(first[ranks.rank], first[ranks.rank + 1])
    x, y = rng.random((37, 3)), rng.random((50, 3))
    with iso.DoseMatrix(a, vectors=3) as single:
        with iso.mpi.DoseMatrix(ranks, a[own], vectors=3) as mine:
            assert mine.shape == (50, 37) and mine.rows() == own
            here = mine.columns()
            for kind in ("ordered", "reproducible"):
                found = mine(x[here].copy(), sum=kind)
                assert np.array_equal(found, single(x, sum=kind)[own]), kind
            assert np.array_equal(mine @ x[here, 0].copy(), single(x[:, 0].copy(), sum=kind)[own])
            assert np.array_equal(mine.T @ y[own].copy(), single.T(y, sum=kind)[here])
            assert mine.bytes > 0
        assert mine.bytes == 0


def raised(kind, call, words):
    """All ranks raise the same."""
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)
    WORLD.Barrier()


def refusals(ranks):
    mine = GRID if ranks.rank == 0 else iso.Grid((12, 11, 10), 1.25)
    plan = iso.mpi.Plan(ranks, SCAN, mine)
    lines = np.zeros(plan.projections_shape, np.float32)
    if ranks.size > 1:
        raised(ValueError, lambda: iso.mpi.fdk(plan, lines), "differ")
    plan = iso.mpi.Plan(ranks, SCAN, GRID)
    lines = np.zeros(plan.projections_shape, np.float32)
    part = np.zeros(plan.shape, np.float32)
    raised(ValueError, lambda: iso.mpi.project(plan, part, sum="ordered"), "sum")
    raised(ValueError, lambda: iso.sart(SCAN, GRID, lines, plan=plan, memory="1MB"), "plan")
    raised(ValueError, lambda: iso.sart(SCAN, GRID, lines, plan=plan, checkpoint="x.h5"), "plan")
    raised(ValueError, lambda: iso.sart(SCAN, iso.Grid((3, 3, 3)), lines, plan=plan), "differs")
    raised(TypeError, lambda: iso.sart(SCAN, GRID, lines, plan=3), "plan")
    raised(ValueError, lambda: iso.mpi.fdk(plan, lines[:, :, :-1].copy()), "shape")
    raised(ValueError, lambda: iso.mpi.fdk(plan, lines, batch=3), "mpi.fdk: batch")
    box = iso.mpi.Planes(ranks, mine)
    dose = np.ones(box.shape, np.float32)
    if ranks.size > 1:
        raised(ValueError, lambda: iso.mpi.gamma(dose, dose, box), "differ")
        raised(ValueError, lambda: iso.mpi.Calculator(box), "differ")
        a = scipy.sparse.csr_array(np.ones((3, 4 + ranks.rank)))
        raised(ValueError, lambda: iso.mpi.DoseMatrix(ranks, a), "mpi.DoseMatrix")
    # One rank is cancelled: all are.
    stop = type("Stop", (), {"is_set": lambda self: ranks.rank == 0 and bool(self.asked())})()
    count = [0]
    stop.asked = lambda: count.append(0) or len(count) > 3
    big = iso.Geometry.circular_cone(
        pixels=(64, 64), pitch=3.0, source_axis=300.0, source_detector=450.0,
        angles=iso.even_angles(120, 2 * np.pi),
    )  # fmt: skip
    large = iso.mpi.Plan(ranks, big, iso.Grid((64, 64, 64), 2.0))
    lines = np.zeros(large.projections_shape, np.float32)
    method = iso.Cgls(big, large.grid, lines + 1, plan=large)

    def forever():
        while True:
            method.step(cancel=stop)

    raised(iso.Cancelled, forever, "cancelled")
    # Also before the call begins, of an array that is reordered first.
    ends = threading.Event()
    if ranks.rank == 0:
        ends.set()
    ones = np.ones(large.shape, np.float32)
    raised(iso.Cancelled, lambda: iso.mpi.project(large, ones, cancel=ends), "cancelled")


def main():
    assert MPI.Query_thread() >= MPI.THREAD_FUNNELED
    ranks = iso.mpi.Ranks()
    assert (ranks.rank, ranks.size) == (WORLD.rank, WORLD.size)
    kind = sys.argv[1]
    if kind == "refuse":
        refusals(ranks)
    else:
        compare(ranks, np.float32, "zyx", None)
        # The last rank has no plane.
        few = [1.0] * (ranks.size - 1) + [0.0] if ranks.size > 2 else None
        compare(iso.mpi.Ranks(WORLD.Dup()), np.float64, "xyz", few)
        treatment(ranks, np.float32, "zyx", None)
        treatment(ranks, np.float64, "xyz", few)
        if ranks.size > 1:  # a part of the ranks, which call alone
            part = WORLD.Split(int(ranks.rank > 0))
            plan = iso.mpi.Plan(iso.mpi.Ranks(part), SCAN, GRID)
            found = iso.mpi.fdk(plan, LINES[:, plan.rows()].copy())
            mine = np.concatenate(part.allgather(np.ascontiguousarray(found)))
            assert np.array_equal(mine, iso.fdk(SCAN, GRID, LINES))
    print("same on rank", ranks.rank, "of", ranks.size, flush=True)


main()
