# SPDX-License-Identifier: BSD-3-Clause
"""Stacks, matrices, vectors and checkpoints in HDF5, in the layout of the tool ``iso``."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ._common import Path, check_range, check_regular, ending, largest_of, library, refuse
from ._common import replacing, unchanged

_DAMAGED = "(truncated or damaged); fetch or write it again"


def _h5py() -> Any:
    return library("h5py", "stacks, matrices and checkpoints are read and written")


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file for reading."""
    h5py = _h5py()
    check_regular(path)
    if not h5py.is_hdf5(path):
        refuse(path, "is not an HDF5 file (it does not begin as one); name another file")
    with unchanged(path):
        try:
            file = h5py.File(path, "r", locking=False)
        except (OSError, RuntimeError):
            refuse(path, f"is not a whole HDF5 file {_DAMAGED}")
        with file:
            yield file


@contextlib.contextmanager
def written(path: Path) -> Iterator[Any]:
    """Make a file whose structure bears checksums, and which is whole or absent."""
    h5py = _h5py()
    with replacing(path) as temporary:
        # The name of what a format is called changes with HDF5's version.
        with h5py.File(temporary, "w", libver=("v110", "latest"), track_order=False) as file:
            yield file


def hash_of_text(text: bytes) -> str:
    """Return the checksum of a text."""
    return _core.hash_bits(np.frombuffer(text, np.uint8).copy())


def put_text(at: Any, name: str, text: str) -> None:
    """Write an attribute of fixed length, as the tool does."""
    h5py = _h5py()
    raw = text.encode()
    at.attrs.create(name, raw, (), h5py.string_dtype("utf-8", len(raw) + 1))


def attribute(path: Path, at: Any, name: str) -> str | None:
    """Return the text of an attribute; None where there is none, or no text."""
    try:
        if name not in at.attrs:
            return None
        value = at.attrs[name]
    except (OSError, RuntimeError, TypeError, ValueError, KeyError):
        refuse(path, f"has an attribute '{name}' that cannot be read {_DAMAGED}")
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, bytes):
        return value.partition(b"\0")[0].decode("utf-8", "replace")
    return str(value) if isinstance(value, str) else None


def dataset(path: Path, file: Any, name: str, rank: int) -> Any:
    """Return a dataset that lies in the file itself."""
    h5py = _h5py()
    try:
        link = file.get(name, getlink=True)
        if link is None:
            refuse(path, f"has no dataset /{name} (the format has it); name another file")
        if not isinstance(link, h5py.HardLink):
            refuse(
                path, f"has a link as /{name} (a dataset of this file is expected); copy it there"
            )
        found = file[name]
        is_set = isinstance(found, h5py.Dataset)
        shape = found.shape if is_set else None
        outside = is_set and (found.external or found.is_virtual)
        stored = found.id.get_storage_size() if is_set else 0
        needed = math.prod(shape or ()) * found.dtype.itemsize if is_set else 0
        packed = 1032 if is_set and found.chunks else 1
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, OverflowError):
        refuse(path, f"has a dataset /{name} that cannot be opened {_DAMAGED}")
    if not is_set or shape is None:
        refuse(path, f"has no values in /{name} (a dataset is expected); write one")
    if len(shape) != rank:
        refuse(path, f"has {len(shape)} axes in dataset /{name} ({rank} are expected); write those")
    if outside:
        refuse(path, f"has the values of dataset /{name} in other files; write it in one piece")
    if found.dtype.kind in "iuf" and needed > stored * packed:
        refuse(path, f"claims more values in dataset /{name} than it has {_DAMAGED}")
    return found


def numbers(path: Path, found: Any, name: str) -> npt.NDArray[Any]:
    """Return the values of a dataset of numbers as they are stored."""
    if found.dtype.kind not in "iuf":
        refuse(path, f"has no numbers in dataset /{name} (these are expected); store some")
    try:
        values: npt.NDArray[Any] = found[()]
    except (OSError, RuntimeError, ValueError, TypeError):
        refuse(path, f"has a dataset /{name} that cannot be read {_DAMAGED}")
    return values


def put(file: Any, name: str, values: npt.NDArray[Any]) -> None:
    """Write a dataset whose pieces bear checksums."""
    if values.size == 0:
        file.create_dataset(name, data=values, track_times=False)
        return
    stored = values.astype(values.dtype.newbyteorder("<"), copy=False)
    piece, row = list(stored.shape), stored.dtype.itemsize
    for axis in range(stored.ndim - 1, -1, -1):
        piece[axis] = max(1, min(stored.shape[axis], (1 << 20) // row))
        row *= piece[axis]
    file.create_dataset(name, data=stored, chunks=tuple(piece), fletcher32=True, track_times=False)


def _text(path: Path, file: Any, name: str) -> str:
    """Return the text of a dataset without axes."""
    found = dataset(path, file, name, 0)
    if found.dtype.kind not in "OS":
        refuse(path, f"has no text in dataset /{name} (a string is expected); write one")
    try:
        raw = found[()]
    except (OSError, RuntimeError, ValueError, TypeError):
        refuse(path, f"has a dataset /{name} that cannot be read {_DAMAGED}")
    raw = raw.encode() if isinstance(raw, str) else bytes(raw)
    raw = raw.partition(b"\0")[0]
    checksum = attribute(path, found, "checksum")
    if found.dtype.kind == "S" and checksum is not None and checksum != hash_of_text(raw):
        refuse(path, f"has another text in dataset /{name} than its checksum says {_DAMAGED}")
    return raw.decode("utf-8", "replace")


def _stored_as(path: Path, found: Any) -> tuple[float, float] | None:
    """Return scale and offset of integers of 16 bits without sign."""
    if found.dtype.kind != "u" or found.dtype.itemsize != 2:
        return None
    result = []
    for name, default in (("scale", 1.0), ("offset", 0.0)):
        value = found.attrs.get(name, default)
        if np.size(value) != 1 or np.asarray(value).dtype.kind not in "iuf":
            refuse(path, f"has an attribute '{name}' that is not one number; write it as a number")
        result.append(float(np.asarray(value, np.float64).reshape(())))
    if not np.isfinite(result).all():
        refuse(path, f"has scale {result[0]} and offset {result[1]} (both must be finite)")
    return result[0], result[1]


def read_stack(
    path: Path, dtype: np.dtype[Any] | None, with_geometry: bool
) -> tuple[npt.NDArray[Any], str, str]:
    """Read readings, shape (view, v, u) with v fastest, their unit, and the geometry's text."""
    with opened(path) as file:
        found = dataset(path, file, "projections", 3)
        stored = _stored_as(path, found)
        if found.dtype.kind != "f" and stored is None:
            refuse(
                path,
                "has other numbers in dataset /projections (floating-point ones, or integers of 16 "
                "bits without sign, are expected); store it as one of these",
            )
        unit = attribute(path, found, "unit") or ""
        geometry = _text(path, file, "geometry") if with_geometry and "geometry" in file else ""
        values = numbers(path, found, "projections")
    wide = values.dtype.itemsize > 4
    to = np.dtype(np.float64 if wide else np.float32) if dtype is None else dtype
    if stored is not None:
        scale, offset = stored
        shape = values.shape
        decoded = _core.decode_readings(values.astype(np.int32).ravel(), scale, offset)
        values = decoded.reshape(shape)
    if to == np.float32 and values.dtype.itemsize > 4:
        check_range(path, largest_of(values))
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(values, to)
    if not np.isfinite(values).all():
        view, u, v = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        refuse(
            path,
            f"has the value {values[view, u, v]} at view {view}, u {u}, v {v} of /projections "
            "(every value must be finite); replace it by a number",
        )
    return values.transpose(0, 2, 1), unit, geometry


def write_stack(path: Path, values: npt.NDArray[Any], unit: str, geometry: str) -> None:
    """Write readings, shape (view, v, u)."""
    _check_ending(path, "a stack of projections")
    h5py = _h5py()
    with written(path) as file:
        put(file, "projections", np.ascontiguousarray(values.transpose(0, 2, 1)))
        put_text(file["projections"], "unit", unit)
        put_text(file["projections"], "axes", "view, u, v")
        raw = geometry.encode()
        kind = h5py.string_dtype("utf-8", len(raw) + 1)
        file.create_dataset("geometry", data=raw, dtype=kind, track_times=False)
        put_text(file["geometry"], "checksum", hash_of_text(raw))


def _check_ending(path: Path, what: str) -> None:
    if ending(path) not in (".h5", ".hdf5"):
        refuse(path, f"has the ending '{ending(path)}' ({what} has .h5 or .hdf5); choose one")


def read_arrays(
    path: Path, belongs: Mapping[str, str], names: list[str]
) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of a checkpoint that belongs to a computation."""
    with opened(path) as file:
        form = attribute(path, file, "checkpoint_format")
        if (form or "2") != "2" or (form is None and "history" in file):
            told = "an earlier version" if form is None else f"format {form[:40]}"
            refuse(path, f"is a checkpoint of {told} (format 2 is read); remove it and begin anew")
        for key, value in belongs.items():
            found = attribute(path, file, key)
            if found is None:
                refuse(path, f"is no checkpoint of this kind (attribute '{key}' is missing)")
            if found != value:
                refuse(
                    path,
                    f"is a checkpoint of another {key} ({found[:200]}, here {value[:200]}); remove "
                    "it, or name another file",
                )
        arrays = {}
        for name in names:
            values = numbers(path, dataset(path, file, name, 1), name)
            if values.dtype.kind != "f" or values.dtype.itemsize not in (4, 8):
                refuse(path, f"has no floats or doubles in dataset /{name}; remove the file")
            # Histories have NaN for what a method does not tell.
            if name != "history" and not np.isfinite(values).all():
                refuse(path, f"has values in dataset /{name} that are not finite; remove the file")
            arrays[name] = values.astype(values.dtype.newbyteorder("="), copy=False)
    return arrays


def write_arrays(
    path: Path, belongs: Mapping[str, str], arrays: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Write a checkpoint."""
    _check_ending(path, "a checkpoint")
    with written(path) as file:
        for name, values in arrays.items():
            put(file, name, values)
        put_text(file, "checkpoint_format", "2")
        for key, value in belongs.items():
            put_text(file, key, value)


def _integers(path: Path, file: Any, name: str) -> npt.NDArray[np.int64]:
    values = numbers(path, dataset(path, file, name, 1), name)
    if values.dtype.kind not in "iu":
        refuse(path, f"has no whole numbers in dataset /{name}; store integers in it")
    if values.dtype.kind == "u" and values.size and values.max() >= 2**63 - 1:
        refuse(path, f"has {values.max()} in dataset /{name} (less than 2^63 is expected)")
    return values.astype(np.int64)


def _exact(path: Path, values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Return halves, floats and doubles as they are, and other numbers as the doubles they are."""
    if values.dtype.kind == "f" and values.dtype.itemsize <= 8:
        return values.astype(values.dtype.newbyteorder("="), copy=False)
    with np.errstate(over="ignore"):
        near = values.astype(np.float64)
    if values.dtype.kind in "iu":
        same = all(int(x) == y for x, y in zip(near.tolist(), values.tolist()))
    else:
        same = bool(((near == values) | ~np.isfinite(values)).all())
    if not same:
        refuse(path, f"has a number in dataset /{name} that no double is; round it first")
    return near


def read_vector(path: Path) -> npt.NDArray[np.float64]:
    """Read finite numbers."""
    _check_ending(path, "a vector")
    with opened(path) as file:
        values = _exact(path, numbers(path, dataset(path, file, "values", 1), "values"), "values")
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        refuse(path, f"has {values[at]} as number {at} of /values (every value must be finite)")
    return values.astype(np.float64)


def write_vector(path: Path, values: npt.NDArray[np.float64]) -> None:
    """Write a vector."""
    _check_ending(path, "a vector")
    with written(path) as file:
        put(file, "values", values)


def read_matrix(path: Path) -> tuple[npt.NDArray[Any], ...]:
    """Read data, indices, indptr and shape of a CSR matrix; data may be of float16."""
    with opened(path) as file:
        form = attribute(path, file, "format")
        if form != "csr":
            refuse(path, f"has the attribute format {form!r} ('csr' is expected); convert it")
        shape = _integers(path, file, "shape")
        if shape.shape != (2,) or not ((shape >= 0) & (shape < 2**31)).all():
            refuse(path, "has no two numbers from 0 to 2^31 - 1 in dataset /shape; write these")
        indptr, indices = _integers(path, file, "indptr"), _integers(path, file, "indices")
        data = _exact(path, numbers(path, dataset(path, file, "data", 1), "data"), "data")
    check_matrix(path, data, indices, indptr, shape)
    return data, indices.astype(np.int32), indptr, shape


def check_matrix(
    path: Path,
    data: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    indptr: npt.NDArray[Any],
    shape: Any,
) -> None:
    """Refuse arrays that make no CSR matrix."""
    rows, columns = (int(n) for n in shape)
    problem = ""
    if data.size != indices.size:
        problem = f"{data.size} values for {indices.size} columns"
    elif indptr.size != rows + 1:
        problem = f"{indptr.size} row offsets for {rows} rows"
    elif indptr[0] != 0 or indptr[-1] != indices.size or (np.diff(indptr) < 0).any():
        problem = "row offsets that do not rise from 0 to the number of entries"
    elif indices.size and not ((indices >= 0) & (indices < columns)).all():
        problem = f"a column outside of its {columns}"
    elif not np.isfinite(data).all():
        problem = "a value that is not finite"
    if problem:
        refuse(path, f"has {problem} (it is no matrix); write it again")


def write_matrix(path: Path, data: Any, indices: Any, indptr: Any, shape: Any) -> None:
    """Write a CSR matrix in SciPy's layout."""
    with written(path) as file:
        put(file, "shape", np.asarray(shape, np.int64))
        put(file, "indptr", np.asarray(indptr, np.int64))
        put(file, "indices", np.asarray(indices, np.int32))
        put(file, "data", np.asarray(data))
        file.attrs["format"] = "csr"
