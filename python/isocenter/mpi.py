# SPDX-License-Identifier: BSD-3-Clause
"""Projection and reconstruction on several processes, the ranks of a job, by mpi4py.

Each rank holds some planes of the volume and some rows of the detector. Results have the bits of
one process, for any number of ranks. All ranks make the same calls in the same order, with their
own parts of the arrays. A rank that raises alone leaves the others waiting: start programs by
``mpirun -n 4 python -m mpi4py program.py``, which then ends all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Unpack, cast

from . import _core
from ._calls import ArrayT, Axes, Event, PROJECTIONS, Progress, VOLUME, device_array, how
from ._calls import integer, like, number, order
from ._geometry import Geometry, Grid, cores
from ._options import FdkOptions, ProjectorOptions

__all__ = ["Plan", "Ranks", "back_project", "fdk", "project"]

#: At most so many bytes go in one message: MPI counts to 2^31 - 1.
_CHUNK = 1 << 28


class _Carrier:
    """What the extension module calls, on duplicates of a communicator of mpi4py."""

    def __init__(self, mpi: Any, comm: Any) -> None:
        self.mpi = mpi
        self.comm = comm.Dup()
        self.meeting = comm.Dup()  # of meet(), which others need not call when this one does

    def _reduce(self, words: memoryview, kind: Any, operation: Any) -> None:
        for first in range(0, len(words), _CHUNK):
            part = [words[first : first + _CHUNK], kind]
            self.comm.Allreduce(self.mpi.IN_PLACE, part, op=operation)

    def sum(self, words: memoryview, word_bytes: int) -> None:
        kind = self.mpi.UINT32_T if word_bytes == 4 else self.mpi.UINT64_T
        self._reduce(words, kind, self.mpi.SUM)

    def maximum(self, words: memoryview, word_bytes: int) -> None:
        # Of numbers with a sign: MPICH 4.0.2 and Open MPI 4.1.4 take words for such.
        kind = self.mpi.INT32_T if word_bytes == 4 else self.mpi.INT64_T
        self._reduce(words, kind, self.mpi.MAX)

    def exchange(
        self, out: list[tuple[int, memoryview]], into: list[tuple[int, memoryview]]
    ) -> None:
        requests = []
        for start, parcels in ((self.comm.Irecv, into), (self.comm.Isend, out)):
            for rank, data in parcels:
                for first in range(0, len(data), _CHUNK):
                    part = [data[first : first + _CHUNK], self.mpi.BYTE]
                    requests.append(start(part, rank, 1))
        self.mpi.Request.Waitall(requests)

    def broadcast(self, data: memoryview, rank: int) -> None:
        for first in range(0, len(data), _CHUNK):
            self.comm.Bcast([data[first : first + _CHUNK], self.mpi.BYTE], rank)

    def barrier(self) -> None:
        self.comm.Barrier()

    def meet(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        request = self.meeting.Ibarrier()
        while not request.Test():
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def abort(self, code: int) -> None:
        self.comm.Abort(code)


class Ranks:
    """The processes that share a job.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm, optional
        Of one group; ``MPI.COMM_WORLD`` by default. The ranks work on duplicates of it, so that no
        message is mistaken for one of the program's.

    Raises
    ------
    ImportError
        Without mpi4py.
    TypeError
        For what is no communicator of mpi4py.
    ValueError
        For a communicator that is null or between two groups, or threads that MPI does not allow.
    RuntimeError
        Where known words come out wrong by way of this MPI.

    Notes
    -----
    All ranks of ``comm`` make theirs together. mpi4py may be built for any MPI.
    """

    __slots__ = ("_core", "_rank", "_size")

    def __init__(self, comm: Any = None) -> None:
        try:
            from mpi4py import MPI
        except ImportError as error:
            raise ImportError(
                f"mpi.Ranks: mpi4py or its MPI is not installed ({error}); call pip install "
                "'isocenter[mpi]', and install an MPI such as Open MPI"
            ) from None
        if comm is None:
            comm = MPI.COMM_WORLD
        if not isinstance(comm, MPI.Comm):
            raise TypeError(
                f"mpi.Ranks: comm is of type {type(comm).__name__} (a communicator of mpi4py is "
                "needed); give MPI.COMM_WORLD"
            )
        if comm == MPI.COMM_NULL or comm.Is_inter():
            raise ValueError(
                "mpi.Ranks: comm is null or between two groups (sums need one group); give one "
                "that holds this process, or merge both"
            )
        if MPI.Query_thread() < MPI.THREAD_FUNNELED:
            raise ValueError(
                "mpi.Ranks: MPI was initialised for one thread (calls have threads beside the one "
                "that speaks to MPI); leave mpi4py.rc.threads as it is"
            )
        self._rank, self._size = comm.Get_rank(), comm.Get_size()
        name = f"mpi4py, {MPI.get_vendor()[0]}"
        self._core = _core.Ranks.make(_Carrier(MPI, comm), self._rank, self._size, name)

    @property
    def rank(self) -> int:
        """The number of this process, from 0 on."""
        return self._rank

    @property
    def size(self) -> int:
        """The number of processes."""
        return self._size

    def __repr__(self) -> str:
        return f"Ranks(rank {self._rank} of {self._size})"


class Plan:
    """Who holds what: each rank some planes of a volume along z, and some rows of the detector.

    Parameters
    ----------
    ranks : Ranks
        The processes.
    geometry : Geometry
        The whole scan.
    grid : Grid
        The whole volume.
    speeds : sequence of float, optional
        Of each rank, in any unit: planes are shared in proportion. All are alike by default.

    Raises
    ------
    ValueError
        For another number of speeds than of ranks, or a speed that is negative.

    Notes
    -----
    Rows are shared so that a rank has, of the readings that see the volume, the share that it has
    of the planes. Where there are more ranks than planes some have none, and empty arrays.
    """

    __slots__ = ("_core", "_geometry", "_grid", "_ranks")

    def __init__(
        self,
        ranks: Ranks,
        geometry: Geometry,
        grid: Grid,
        *,
        speeds: Sequence[float] | None = None,
    ) -> None:
        if not isinstance(ranks, Ranks):
            raise TypeError(
                f"mpi.Plan: ranks is of type {type(ranks).__name__} (a Ranks is needed); make one "
                "by mpi.Ranks()"
            )
        scan, box = cores("mpi.Plan", geometry, grid)
        if speeds is not None and not isinstance(speeds, (list, tuple)):
            raise TypeError(
                f"mpi.Plan: speeds is of type {type(speeds).__name__} (a list of numbers is "
                "needed); give one"
            )
        shares = [number(speed, "mpi.Plan: speeds") for speed in speeds or ()]
        self._core = _core.RankPlan.make(ranks._core, scan, box, shares)
        self._ranks, self._geometry, self._grid = ranks, geometry, grid

    @property
    def ranks(self) -> Ranks:
        """The processes."""
        return self._ranks

    @property
    def geometry(self) -> Geometry:
        """The whole scan."""
        return self._geometry

    @property
    def grid(self) -> Grid:
        """The whole volume."""
        return self._grid

    def planes(self, rank: int | None = None) -> slice:
        """Return the planes along z that a rank holds, by default this one: ``volume[planes]``."""
        return slice(*self._core.planes(self._of(rank)))

    def rows(self, rank: int | None = None) -> slice:
        """Return the rows along v that a rank holds: ``projections[:, rows]``."""
        return slice(*self._core.rows(self._of(rank)))

    def _of(self, rank: int | None) -> int:
        return self._ranks.rank if rank is None else integer(rank, "mpi.Plan: rank")

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (z, y, x) of this rank's part of the volume."""
        _, y, x = self._grid.shape
        own = self.planes()
        return own.stop - own.start, y, x

    @property
    def projections_shape(self) -> tuple[int, int, int]:
        """Shape (view, v, u) of this rank's part of the projections."""
        view, _, u = self._geometry.shape
        own = self.rows()
        return view, own.stop - own.start, u

    def __repr__(self) -> str:
        return f"Plan({self._ranks!r}, {self._geometry!r}, {self._grid!r})"


def core_of(plan: object, function: str) -> _core.RankPlan:
    """Return what the extension module takes for a plan."""
    if not isinstance(plan, Plan):
        raise TypeError(
            f"{function}: plan is of type {type(plan).__name__} (a mpi.Plan is needed); make one "
            "by mpi.Plan(mpi.Ranks(), geometry, grid)"
        )
    return plan._core


def extents_of(shape: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return a shape (z, y, x) in the library's order."""
    z, y, x = shape
    return x, y, z


def project(
    plan: Plan,
    volume: ArrayT,
    *,
    out: object = None,
    batch: int = 0,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[ProjectorOptions],
) -> ArrayT:
    """Compute line integrals of a volume whose planes ranks hold, as `isocenter.project`.

    Parameters
    ----------
    plan : Plan
        Who holds what.
    volume : array of float32 or float64, shape ``plan.shape``
        This rank's planes, 1/mm.
    out : array, shape ``plan.projections_shape``, optional
        What is overwritten and returned in place of a new array.
    batch : int
        Views that are computed at a time, a multiple of 16; 0: a rank's share of them.
    axes, copy, cancel, progress
        As `isocenter.project`. Where one rank is cancelled all are.
    **options
        See `ProjectorOptions`. Sums are reproducible.

    Returns
    -------
    array of the same type, shape ``plan.projections_shape``
        This rank's rows of all views, dimensionless.

    Raises
    ------
    ValueError
        On every rank: scans, grids, options or types of numbers that differ between ranks.

    Notes
    -----
    Determinism: for any number of ranks the bits of `isocenter.project` with
    ``sum="reproducible"``.
    """
    name = "mpi.project"
    core, laid = core_of(plan, name), order(axes, name)
    if out is None:
        view, v, u = plan.projections_shape
        out = device_array(volume, (view, u, v), PROJECTIONS[laid])
    result = _core.ranked_project(
        core,
        volume,
        out,
        integer(batch, f"{name}: batch"),
        *how(name, {"sum": "reproducible", **options}, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(volume, result, out))


def back_project(
    plan: Plan,
    projections: ArrayT,
    *,
    out: object = None,
    batch: int = 0,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[ProjectorOptions],
) -> ArrayT:
    """Compute the exact adjoint of `project`.

    Parameters
    ----------
    plan : Plan
        Who holds what.
    projections : array of float32 or float64, shape ``plan.projections_shape``
        This rank's rows of all views, dimensionless.
    out : array, shape ``plan.shape``, optional
        What is overwritten and returned in place of a new array.
    batch, axes, copy, cancel, progress, **options
        As `project`.

    Returns
    -------
    array of the same type, shape ``plan.shape``
        This rank's planes, mm.

    Raises
    ------
    ValueError
        As `project`.

    Notes
    -----
    Determinism: for any number of ranks the bits of `isocenter.back_project`.
    """
    name = "mpi.back_project"
    core, laid = core_of(plan, name), order(axes, name)
    if out is None:
        out = device_array(projections, extents_of(plan.shape), VOLUME[laid])
    result = _core.ranked_back_project(
        core,
        projections,
        out,
        integer(batch, f"{name}: batch"),
        *how(name, {"sum": "reproducible", **options}, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(projections, result, out))


def fdk(
    plan: Plan,
    projections: ArrayT,
    *,
    out: object = None,
    batch: int = 0,
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[FdkOptions],
) -> ArrayT:
    """Reconstruct by filtered backprojection, as `isocenter.fdk`.

    Parameters
    ----------
    plan : Plan
        Who holds what.
    projections : array of float32 or float64, shape ``plan.projections_shape``
        This rank's rows of all views: line integrals, dimensionless.
    out : array, shape ``plan.shape``, optional
        What is overwritten and returned in place of a new array.
    batch, axes, copy, cancel, progress
        As `project`.
    **options
        See `FdkOptions`.

    Returns
    -------
    array of the same type, shape ``plan.shape``
        This rank's planes, 1/mm.

    Raises
    ------
    ValueError
        On every rank: what `isocenter.fdk` refuses; scans, grids or options that differ between
        ranks.

    Notes
    -----
    Determinism: for any number of ranks the bits of `isocenter.fdk`.
    """
    name = "mpi.fdk"
    core, laid = core_of(plan, name), order(axes, name)
    if out is None:
        out = device_array(projections, extents_of(plan.shape), VOLUME[laid])
    result = _core.ranked_fdk(
        core,
        projections,
        out,
        integer(batch, f"{name}: batch"),
        *how(name, options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(projections, result, out))
