# SPDX-License-Identifier: BSD-3-Clause
"""What readers and writers share: sentences, checks, and files that are whole or absent."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import pathlib
import shutil
import stat
import tempfile
from collections.abc import Iterator
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from .._geometry import Grid
from .._process import native

Path: TypeAlias = "str | os.PathLike[str]"
Floats: TypeAlias = npt.NDArray[np.float32]

#: The largest float32, and the least that has all digits.
_MAX, _MIN_NORMAL = float(np.finfo(np.float32).max), float(np.finfo(np.float32).tiny)


def refuse(path: Path, sentence: str) -> NoReturn:
    """Raise the error of a file."""
    raise OSError(f"'{os.fspath(path)}': {sentence}")


def library(name: str, use: str) -> Any:
    """Import a package of the extra ``isocenter[files]``."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"isocenter.files: {name} is not installed ({use} by it); "
            "call pip install 'isocenter[files]'"
        ) from error


def ending(path: Path) -> str:
    """Return the ending of a file's name in small letters; '.nii.gz' counts as one."""
    name = os.path.basename(os.fspath(path)).lower()
    return ".nii.gz" if name.endswith(".nii.gz") else name[name.rfind(".") :] if "." in name else ""


def check_regular(path: Path) -> None:
    """Refuse what is not there, no regular file (a pipe may never begin) or closed."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        refuse(path, "cannot be opened (no such file); check its name")
    if not stat.S_ISREG(mode):
        refuse(path, "cannot be opened (not a regular file); name a file")
    if not os.access(path, os.R_OK):
        refuse(path, f"cannot be opened ({os.strerror(errno.EACCES)}); check its permissions")


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@contextlib.contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Refuse a file that another program changes while it is read."""
    before = _state(path)

    def check() -> None:
        if before is not None and _state(path) != before:
            refuse(
                path,
                "was changed while it was read (another program writes it); read it again when "
                "that program has ended",
            )

    try:
        yield
    except OSError:
        check()
        raise
    check()


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[pathlib.Path]:
    """Give a temporary name in the file's folder, which takes its place where nothing is raised."""
    to = pathlib.Path(path)
    if not to.parent.is_dir():
        refuse(path, "cannot be written (its folder is not there); make the folder")
    try:
        folder = tempfile.mkdtemp(prefix=".iso-", dir=to.parent)
    except OSError as error:
        refuse(path, f"cannot be written ({error.strerror}); choose another folder")
    temporary = pathlib.Path(folder) / to.name
    try:
        yield temporary
        with open(temporary, "rb") as written:
            os.fsync(written.fileno())
        if to.exists():
            os.chmod(temporary, stat.S_IMODE(to.stat().st_mode))
        os.replace(temporary, to)
    finally:
        temporary.unlink(missing_ok=True)
        os.rmdir(folder)


@contextlib.contextmanager
def filling(folder: Path) -> Iterator[pathlib.Path]:
    """Give a temporary folder, which becomes a new or empty one where nothing is raised."""
    to = pathlib.Path(folder).absolute()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        refuse(folder, "is no empty folder (the files have one of their own); name another")
    if not to.parent.is_dir():
        refuse(folder, "cannot be made (the folder around it is not there); make that first")
    try:
        made = pathlib.Path(tempfile.mkdtemp(prefix=".iso-", dir=to.parent))
    except OSError as error:
        refuse(folder, f"cannot be made ({error.strerror}); choose another place")
    try:
        yield made
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(stat.S_IMODE(to.stat().st_mode) if to.exists() else 0o777 & ~mask)
        os.replace(made, to)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def check_range(path: Path, largest: float) -> None:
    """Refuse doubles of which the largest has no float, or not all of its digits."""
    if largest > _MAX or 0 < largest < _MIN_NORMAL:
        refuse(
            path,
            f"holds values up to {largest:.6g} (they become floats, which end at 3.4e+38 and lose "
            "digits below 1.2e-38); scale them, and write it again",
        )


def largest_of(values: npt.NDArray[Any]) -> float:
    """Return the largest magnitude of the finite numbers."""
    size = np.abs(values)
    if not np.isfinite(size).all():
        size = size[np.isfinite(size)]
    return float(size.max(initial=0.0))


def floats_of(path: Path, values: npt.NDArray[Any]) -> Floats:
    """Return numbers as floats, or refuse doubles that have none."""
    if values.dtype.itemsize > 4 and values.dtype.kind == "f":
        check_range(path, largest_of(values))
    with np.errstate(over="ignore"):
        return values.astype(np.float32, copy=False)


def check_finite(path: Path, values: npt.NDArray[Any]) -> None:
    """Refuse a volume, shape (x, y, z), with a value that is not finite."""
    if not np.isfinite(values).all():
        x, y, z = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        refuse(
            path,
            f"has the value {values[x, y, z]} in voxel ({x}, {y}, {z}) (every value must be "
            "finite); replace it by a number",
        )


def axis_along(direction: tuple[float, ...]) -> tuple[int, int] | None:
    """Return the world's axis that a direction runs along, and which way; None: it is oblique."""
    slack = 1e-5
    along = None
    for world, size in enumerate(direction):
        if abs(size) <= slack:
            continue
        if along is not None or not abs(abs(size) - 1) <= slack:
            return None
        along = (world, 1 if size > 0 else -1)
    return along


def along_world(
    path: Path,
    values: Floats,
    spacing: tuple[float, ...],
    first: tuple[float, ...],
    how: tuple[tuple[int, int], ...],
) -> tuple[Floats, Grid]:
    """Return the voxels of a file and their grid.

    Parameters
    ----------
    path
        The file, for messages.
    values
        Shape (z, y, x) in C order: of the file's axes, the first one fastest.
    spacing, first
        Of the file's axes, and of the first voxel in the world, mm.
    how
        Along which of the world's axes each of the file's runs, and which way.

    Returns
    -------
    array, Grid
        Shape (z, y, x) in the library's order of memory.
    """
    steps, origin, size = [0.0] * 3, list(first), [0] * 3
    of_file = values.transpose(2, 1, 0)
    for axis, (world, sign) in enumerate(how):
        steps[world], size[world] = spacing[axis], of_file.shape[axis]
        if sign < 0:
            origin[world] = first[world] - (of_file.shape[axis] - 1) * spacing[axis]
    for coordinate in origin:
        check_coordinate(path, coordinate)
    if how == ((0, 1), (1, 1), (2, 1)):
        voxels = native(values)
    else:
        turned = of_file[tuple(slice(None, None, sign) for _, sign in how)]
        axes = [world for world, _ in how]
        turned = turned.transpose(axes.index(0), axes.index(1), axes.index(2))
        voxels = np.ascontiguousarray(turned).transpose(2, 1, 0)
    return voxels, Grid(size, steps, origin)


def check_spacing(path: Path, spacing: float) -> None:
    """Refuse a spacing out of range."""
    if not 1e-6 <= spacing <= 1e9:
        refuse(
            path,
            f"has a spacing of {spacing} (mm, from 1e-6 to 1e9, are expected); export it again",
        )


def check_coordinate(path: Path, coordinate: float) -> None:
    """Refuse a coordinate out of range."""
    if not abs(coordinate) <= 1e9:
        refuse(
            path,
            f"has a position of {coordinate} (mm, between -1e9 and 1e9, are expected); "
            "export it again",
        )
