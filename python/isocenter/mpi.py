# SPDX-License-Identifier: BSD-3-Clause
"""Calls on several processes, the ranks of a job, by mpi4py.

Each rank holds some planes of a volume, and of a scan some rows of the detector, or some rows of a
matrix. Results have the bits of one process, for any number of ranks. All ranks make the same calls
in the same order, with their own parts of the arrays. A rank that raises alone leaves the others
waiting: start programs by ``mpirun -n 4 python -m mpi4py program.py``, which then ends all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack, cast

import numpy as np
import numpy.typing as npt

from . import _core, _dvh, dose
from ._calls import ArrayT, Axes, Closing, Event, PROJECTIONS, Progress, VOLUME, device_array
from ._calls import event, how, integer, like, number, order, progress_of, words
from ._dvh import Structure
from ._gamma import GammaResult, made_arrays, result_of
from ._geometry import Geometry, Grid, cores, grid_core
from ._options import CalculatorOptions, FdkOptions, GammaOptions, ProjectorOptions

__all__ = [
    "Calculator",
    "DoseMatrix",
    "Dvh",
    "Plan",
    "Planes",
    "Ranks",
    "back_project",
    "fdk",
    "gamma",
    "project",
]

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

    __slots__ = ("_carrier", "_core", "_rank", "_size")

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
        self._carrier = _Carrier(MPI, comm)
        self._core = _core.Ranks.make(self._carrier, self._rank, self._size, name)

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


def _ranks_of(ranks: object, function: str) -> _core.Ranks:
    """Return what the extension module takes for ranks."""
    if not isinstance(ranks, Ranks):
        raise TypeError(
            f"{function}: ranks is of type {type(ranks).__name__} (a Ranks is needed); make one "
            "by mpi.Ranks()"
        )
    return ranks._core


def _speeds(speeds: Sequence[float] | None, function: str) -> list[float]:
    """Return the speeds of ranks, none where all are alike."""
    if speeds is not None and not isinstance(speeds, (list, tuple)):
        raise TypeError(
            f"{function}: speeds is of type {type(speeds).__name__} (a list of numbers is "
            "needed); give one"
        )
    return [number(speed, f"{function}: speeds") for speed in speeds or ()]


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
        own = _ranks_of(ranks, "mpi.Plan")
        scan, box = cores("mpi.Plan", geometry, grid)
        self._core = _core.RankPlan.make(own, scan, box, _speeds(speeds, "mpi.Plan"))
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
        """Return the planes along z that a rank holds.

        Parameters
        ----------
        rank : int, optional
            This one by default.

        Returns
        -------
        slice
            Its part is ``volume[planes]``.
        """
        return slice(*self._core.planes(self._of(rank)))

    def rows(self, rank: int | None = None) -> slice:
        """Return the rows along v that a rank holds.

        Parameters
        ----------
        rank : int, optional
            This one by default.

        Returns
        -------
        slice
            Its part is ``projections[:, rows]``.
        """
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


def _on_scan(
    name: str,
    function: Callable[..., Any],
    plan: Plan,
    given: ArrayT,
    out: object,
    batch: int,
    options: dict[str, Any],
    rest: tuple[Axes, bool | None, Event | None, Progress],
) -> ArrayT:
    """Call a function of the extension module that has this rank's part of a scan or a volume."""
    axes, copy, cancel, progress = rest
    core, laid = core_of(plan, name), order(axes, name)
    if out is None and function is _core.ranked_project:
        view, v, u = plan.projections_shape
        out = device_array(given, (view, u, v), PROJECTIONS[laid])
    elif out is None:
        out = device_array(given, extents_of(plan.shape), VOLUME[laid])
    result = function(
        core,
        given,
        out,
        integer(batch, f"{name}: batch"),
        *how(name, options, laid, copy, cancel, progress),
    )
    return cast(ArrayT, like(given, result, out))


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
    summed: dict[str, Any] = {"sum": "reproducible", **options}
    rest = axes, copy, cancel, progress
    return _on_scan("mpi.project", _core.ranked_project, plan, volume, out, batch, summed, rest)


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
    summed: dict[str, Any] = {"sum": "reproducible", **options}
    rest = axes, copy, cancel, progress
    function = _core.ranked_back_project
    return _on_scan("mpi.back_project", function, plan, projections, out, batch, summed, rest)


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
    rest = axes, copy, cancel, progress
    return _on_scan("mpi.fdk", _core.ranked_fdk, plan, projections, out, batch, dict(options), rest)


class Planes:
    """Who holds what of a grid alone, as of a dose: each rank some planes along z.

    Parameters
    ----------
    ranks : Ranks
        The processes.
    grid : Grid
        The whole grid.
    speeds : sequence of float, optional
        As `Plan`.

    Raises
    ------
    ValueError
        As `Plan`.
    """

    __slots__ = ("_core", "_grid", "_ranks")

    def __init__(
        self, ranks: Ranks, grid: Grid, *, speeds: Sequence[float] | None = None
    ) -> None:
        own = _ranks_of(ranks, "mpi.Planes")
        box = grid_core("mpi.Planes", grid)
        self._core = _core.RankPlanes.make(own, box, _speeds(speeds, "mpi.Planes"))
        self._ranks, self._grid = ranks, grid

    @property
    def ranks(self) -> Ranks:
        """The processes."""
        return self._ranks

    @property
    def grid(self) -> Grid:
        """The whole grid."""
        return self._grid

    def planes(self, rank: int | None = None) -> slice:
        """Return the planes along z that a rank holds.

        Parameters
        ----------
        rank : int, optional
            This one by default.

        Returns
        -------
        slice
            Its part is ``dose[planes]``.
        """
        own = self._ranks.rank if rank is None else integer(rank, "mpi.Planes: rank")
        return slice(*self._core.planes(own))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (z, y, x) of this rank's part."""
        _, y, x = self._grid.shape
        own = self.planes()
        return own.stop - own.start, y, x

    def __repr__(self) -> str:
        return f"Planes({self._ranks!r}, {self._grid!r})"


def _planes_of(planes: object, function: str) -> Planes:
    if not isinstance(planes, Planes):
        raise TypeError(
            f"{function}: planes is of type {type(planes).__name__} (a mpi.Planes is needed); make "
            "one by mpi.Planes(mpi.Ranks(), grid)"
        )
    return planes


def gamma(
    reference: object,
    evaluated: object,
    planes: Planes,
    evaluated_planes: Planes | None = None,
    *,
    criteria: str | Sequence[str] = "3%/3mm",
    axes: Axes = "zyx",
    copy: bool | None = None,
    cancel: Event | None = None,
    progress: Progress = None,
    **options: Unpack[GammaOptions],
) -> GammaResult:
    """Compare two doses whose planes ranks hold, as `isocenter.gamma`.

    Parameters
    ----------
    reference, evaluated : array of float32 or float64, shape (z, y, x)
        This rank's planes of doses of one unit and one type.
    planes, evaluated_planes : Planes
        Who holds what of them; those of ``evaluated`` are the same unless given.
    criteria, axes, copy, cancel, progress, **options
        As `isocenter.gamma`.

    Returns
    -------
    GammaResult
        Values and status of this rank's planes, and the summaries of the whole.

    Raises
    ------
    ValueError
        On every rank: what `isocenter.gamma` refuses; grids, criteria or options that differ
        between ranks.

    Notes
    -----
    Determinism: for any number of ranks the bits of `isocenter.gamma`.
    """
    name = "mpi.gamma"
    named, laid = words(criteria, f"{name}: criteria"), order(axes, name)
    own = _planes_of(planes, name)
    other = own if evaluated_planes is None else _planes_of(evaluated_planes, name)
    found = _core.ranked_gamma(
        own._core,
        reference,
        other._core,
        evaluated,
        named,
        made_arrays(reference, len(named), extents_of(own.shape), laid),
        *how(name, options, laid, copy, cancel, progress),
    )
    return result_of(named, found)


class Calculator(dose.Calculator):
    """A dose calculation whose planes ranks hold, as `isocenter.dose.Calculator`.

    A call takes the whole density, the same on all ranks, and returns this rank's planes of the
    dose, as ``out`` takes them. Arrays lie on the host.

    Parameters
    ----------
    planes : Planes
        Who holds what of the patient's grid.
    kernel, spectrum, dtype, axes, copy, **options
        As `isocenter.dose.Calculator`.

    Raises
    ------
    ValueError
        On every rank: what `isocenter.dose.Calculator` refuses; arguments that differ between
        ranks.

    Notes
    -----
    Determinism: for any number of ranks the bits of `isocenter.dose.Calculator`.
    """

    __slots__ = ("_planes",)

    def __init__(
        self,
        planes: Planes,
        *,
        kernel: str = "6mv",
        spectrum: str = "mohan_6mv",
        dtype: npt.DTypeLike = np.float32,
        axes: Axes = "zyx",
        copy: bool | None = None,
        **options: Unpack[CalculatorOptions],
    ) -> None:
        name = "mpi.Calculator"
        self._planes = _planes_of(planes, name)
        self._patient, self._axes = planes.grid, order(axes, name)
        own = grid_core(name, planes.grid)
        self._begin(name, own, planes._core, (kernel, spectrum), dtype, copy, dict(options))

    @property
    def planes(self) -> Planes:
        """Who holds what."""
        return self._planes


class Dvh(_dvh.Dvh):
    """A structure in a dose whose planes ranks hold, as `isocenter.Dvh`.

    All ranks make it and call its methods together, which return the figures of the whole.

    Parameters
    ----------
    structure : Structure
        The contours, the same on all ranks.
    planes : Planes
        Who holds what of the dose.
    dose : array of float32 or float64, shape (z, y, x)
        This rank's planes, Gy, or another unit. It is kept, and must not change.
    subdivision, axes, copy, cancel, progress
        As `isocenter.Dvh`.

    Raises
    ------
    ValueError
        On every rank: what `isocenter.Dvh` refuses; arguments that differ between ranks.

    Notes
    -----
    Determinism: for any number of ranks the bits of `isocenter.Dvh`.
    """

    __slots__ = ("_planes",)

    def __init__(
        self,
        structure: Structure,
        planes: Planes,
        dose: object,
        *,
        subdivision: int = 0,
        axes: Axes = "zyx",
        copy: bool | None = None,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> None:
        name = "mpi.Dvh"
        self._planes = _planes_of(planes, name)
        rest = order(axes, name), copy is not False, cancel, progress
        own = grid_core(name, planes.grid)
        self._begin(name, structure, own, planes._core, dose, subdivision, rest)

    @property
    def planes(self) -> Planes:
        """Who holds what."""
        return self._planes


class DoseMatrix(Closing[_core.RankedMatrix]):
    """A sparse matrix of which each rank holds some rows, ready for products with it and its
    transpose.

    Parameters
    ----------
    ranks : Ranks
        The processes.
    matrix : scipy.sparse array or matrix, CSR
        This rank's rows, float32 or float64, all columns: those behind the rows of the ranks before
        it. There may be none. It is copied.
    vectors : int
        The largest number of vectors that a product multiplies at once.
    cancel, progress
        As `isocenter.project`.

    Raises
    ------
    TypeError
        For what is no CSR matrix.
    ValueError
        On every rank: numbers of columns, types of values or numbers of vectors that differ between
        ranks. On one: values that are not finite, indices out of range.

    Notes
    -----
    ``A @ x`` takes this rank's ``columns()`` of x, float64, and returns its ``rows()`` of the
    product; ``A.T @ y`` the other way round. Determinism: for any number of ranks the bits of
    `isocenter.DoseMatrix` of the whole matrix with the same sum, where its values keep their type.
    """

    __slots__ = ("_ranks", "_transposed")

    def __init__(
        self,
        ranks: Ranks,
        matrix: Any,
        *,
        vectors: int = 1,
        cancel: Event | None = None,
        progress: Progress = None,
    ) -> None:
        name = "mpi.DoseMatrix"
        own = _ranks_of(ranks, name)
        if getattr(matrix, "format", None) != "csr" or not hasattr(matrix, "indptr"):
            raise TypeError(
                f"{name}: matrix is of type {type(matrix).__name__} (SciPy's CSR is needed); call "
                "its method tocsr"
            )
        if matrix.data.dtype not in (np.float32, np.float64):
            raise TypeError(
                f"{name}: values of {matrix.data.dtype} (float32 and float64 are taken); call "
                "matrix.astype(numpy.float32)"
            )
        rows = int(matrix.shape[0])
        self._ranks = ranks
        self._core = _core.RankedMatrix(
            own,
            ranks._carrier.comm.allgather(rows),
            _csr_arrays(matrix),
            _csr_arrays(matrix.T.tocsr()),
            integer(vectors, f"{name}: vectors"),
            event(cancel, name),
            progress_of(progress, name),
        )
        self._transposed: TransposedDoseMatrix | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self._core.shape

    @property
    def bytes(self) -> int:
        """Bytes that products hold beside the matrix; 0 once it is closed."""
        return self._core.bytes

    def rows(self, rank: int | None = None) -> slice:
        """Return the rows that a rank holds.

        Parameters
        ----------
        rank : int, optional
            This one by default.

        Returns
        -------
        slice
            Its part is ``matrix[rows]``.
        """
        return slice(*self._core.rows(self._of(rank)))

    def columns(self, rank: int | None = None) -> slice:
        """Return the columns whose elements of x a rank holds.

        Parameters
        ----------
        rank : int, optional
            This one by default.

        Returns
        -------
        slice
            Its part is ``x[columns]``.
        """
        return slice(*self._core.columns(self._of(rank)))

    def _of(self, rank: int | None) -> int:
        return self._ranks.rank if rank is None else integer(rank, "mpi.DoseMatrix: rank")

    @property
    def T(self) -> TransposedDoseMatrix:
        """The transpose, which shares the memory."""
        if self._transposed is None:
            self._transposed = TransposedDoseMatrix(self)
        return self._transposed

    def __call__(
        self,
        x: npt.NDArray[np.float64],
        *,
        sum: Literal["ordered", "reproducible"] = "reproducible",
        cancel: Event | None = None,
    ) -> npt.NDArray[np.float64]:
        """Multiply vectors.

        Parameters
        ----------
        x : array of float64, shape (own columns,) or (own columns, vectors)
            This rank's part.
        sum : {'reproducible', 'ordered'}
            How the products of a row are added.
        cancel
            As `isocenter.project`.

        Returns
        -------
        ndarray of float64, shape (own rows,) or (own rows, vectors)
        """
        return self._core.apply(x, False, str(sum), event(cancel, "mpi.DoseMatrix"))

    def __matmul__(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return self(x)

    def __repr__(self) -> str:
        return f"DoseMatrix({self._ranks!r}, shape {self.shape})"


class TransposedDoseMatrix:
    """The transpose of a `DoseMatrix`: its attribute ``T``."""

    __slots__ = ("_matrix",)

    def __init__(self, matrix: DoseMatrix) -> None:
        self._matrix = matrix

    @property
    def T(self) -> DoseMatrix:
        """The matrix."""
        return self._matrix

    def __call__(
        self, x: npt.NDArray[np.float64], *, cancel: Event | None = None
    ) -> npt.NDArray[np.float64]:
        """Multiply vectors, whose sums are reproducible.

        Parameters
        ----------
        x : array of float64, shape (own rows,) or (own rows, vectors)
            This rank's part.
        cancel
            As `isocenter.project`.

        Returns
        -------
        ndarray of float64, shape (own columns,) or (own columns, vectors)
        """
        own = self._matrix._core
        return own.apply(x, True, "reproducible", event(cancel, "mpi.DoseMatrix.T"))

    def __matmul__(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return self(x)

    def __repr__(self) -> str:
        return f"{self._matrix!r}.T"


def _csr_arrays(matrix: Any) -> tuple[Any, ...]:
    """Return rows, columns and the arrays of a CSR matrix."""
    return (
        int(matrix.shape[0]),
        int(matrix.shape[1]),
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int32),
        np.ascontiguousarray(matrix.data),
    )
