# SPDX-License-Identifier: BSD-3-Clause
"""The process: backend, threads, counters, memory order, what happens at its end and at a fork."""

from __future__ import annotations

import atexit
import os
from typing import Any, Literal, cast

from . import _core, _load
from ._calls import PROJECTIONS, VOLUME, ArrayT, Axes, Event, device_array, event, integer, like
from ._calls import order, shown, word

atexit.register(_core.end)
os.register_at_fork(after_in_child=_core.after_fork_in_child)


def use(backend: Literal["openmp", "serial"]) -> None:
    """Choose where calls on host arrays run from now on.

    Parameters
    ----------
    backend : {'openmp', 'serial'}
        OpenMP, on all cores, is the default. Results have the same bits on both.

    Raises
    ------
    ValueError
        For a name that is none of these.

    Notes
    -----
    A `Projector` stays on the backend on which it was made.
    """
    _core.use(word(backend, "use: backend"))


def set_threads(count: int | None) -> None:
    """Choose how many threads of OpenMP calls use from now on. No result changes by a bit.

    Parameters
    ----------
    count : int or None
        Number of threads; None: as many as OpenMP gives, by ``OMP_NUM_THREADS`` or the cores that
        the process may use.

    Raises
    ------
    ValueError
        For a number out of range, or more than OpenMP grants.
    RuntimeError
        In a process that was forked after its parent computed.

    Notes
    -----
    The numbers of threads of other libraries in the process stay as they are. A `Projector` stays
    on the threads with which it was made.
    """
    threads = 0 if count is None else integer(count, "set_threads: count")
    if not 0 < threads <= 512 and count is not None:
        raise ValueError(
            f"set_threads: {threads} threads (from 1 to 512 are possible); choose another number, "
            "or None for as many as OpenMP gives"
        )
    _core.set_threads(threads)


def counters(*, reset: bool = False) -> dict[str, int]:
    """Return what calls have done beside computing, since the process began.

    Parameters
    ----------
    reset : bool
        Begin to count anew.

    Returns
    -------
    dict
        'reorders': arrays copied into another order of memory; 'allocations': of results and
        reordered copies; 'synchronisations': waits for a device, 0 on the host.
    """
    return _core.counters(reset)


def native(
    x: ArrayT,
    *,
    kind: Literal["volume", "projections"] = "volume",
    axes: Axes = "zyx",
    cancel: Event | None = None,
) -> ArrayT:
    """Return an array with the same values in the library's order of memory.

    Calls take such arrays without a copy. In volumes z is fastest in memory, then y, then x; in
    projections v, then u, then the view. A volume of shape (z, y, x) has this order if it is in
    Fortran order, one of shape (x, y, z) if it is in C order.

    Parameters
    ----------
    x : array of float32 or float64
        A volume, shape (z, y, x), or projections, shape (view, v, u).
    kind : {'volume', 'projections'}
        What it is.
    axes : {'zyx', 'xyz'}
        'xyz': the shapes are (x, y, z) and (view, u, v).
    cancel
        As `project`.

    Returns
    -------
    array
        ``x`` itself where it has this order already, else a new array.

    Notes
    -----
    Determinism: the same values everywhere.
    """
    of_projections, laid = _is_projections(kind), order(axes, "native")
    asked = event(cancel, "native")
    result = _core.native(x, None, of_projections, laid, asked)
    if result is None:  # on a GPU
        shape = cast(Any, x).shape
        turn = PROJECTIONS[laid] if of_projections else VOLUME[laid]
        extents = tuple(shape[turn.index(axis)] for axis in range(3))
        made = device_array(x, extents, turn)
        if made is None:
            raise TypeError(
                "native: x lies on a GPU and its framework makes no array here (there is no "
                "empty); copy it in that framework"
            )
        result = _core.native(x, made, of_projections, laid, asked)
    return cast(ArrayT, result if result is x else like(x, result, None))


def _is_projections(kind: str) -> bool:
    if not isinstance(kind, str) or kind not in ("volume", "projections"):
        raise ValueError(
            f"native: kind is {shown(kind)} (there are 'volume' and 'projections'); choose one of "
            "them"
        )
    return kind == "projections"


def info() -> dict[str, Any]:
    """Return what calls run on, and what the module was built from.

    Returns
    -------
    dict
        'version', 'backend', 'processor', 'threads', 'vector_isa', 'memory_bytes' and others;
        'gpu': facts about the GPU whose arrays calls take, or a text that says why there is none.
    """
    facts = {"version": _core.version, **_core.facts()}
    if _core.has_cuda:
        try:
            facts["gpu"] = _core.gpu_facts()
        except RuntimeError as error:  # in a child that was forked
            facts["gpu"] = f"none is used: {error}"
    else:
        facts["gpu"] = (
            f"none is used ({_load.reason}): arrays on a GPU are refused; install isocenter-cu13, "
            "or copy them to the host first"
        )
    return facts
