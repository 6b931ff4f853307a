# SPDX-License-Identifier: BSD-3-Clause
"""What tests of isocenter.mpi run on ranks: it fails where a result is not that of one process."""

import sys

import numpy as np
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
        if ranks.size > 1:  # a part of the ranks, which call alone
            part = WORLD.Split(int(ranks.rank > 0))
            plan = iso.mpi.Plan(iso.mpi.Ranks(part), SCAN, GRID)
            found = iso.mpi.fdk(plan, LINES[:, plan.rows()].copy())
            mine = np.concatenate(part.allgather(np.ascontiguousarray(found)))
            assert np.array_equal(mine, iso.fdk(SCAN, GRID, LINES))
    print("same on rank", ranks.rank, "of", ranks.size, flush=True)


main()
