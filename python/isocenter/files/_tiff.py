# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes detector images as a series of TIFF files, by SimpleITK."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from ._common import Floats, Path, check_finite, filling, library, refuse

_STORED = ("uint8", "uint16", "float32", "float64")
_ENDINGS = (".tif", ".tiff")


def _itk() -> Any:
    itk = library("SimpleITK", "TIFF is read and written")
    itk.ProcessObject.SetGlobalWarningDisplay(False)
    return itk


def _series(name: Path) -> list[pathlib.Path]:
    """Return the files of a folder, in the order of the last number in their names, or one file."""
    path = pathlib.Path(name)
    if not path.is_dir():
        return [path]
    numbered: dict[int, pathlib.Path] = {}
    frames = set()
    for file in sorted(path.iterdir()):
        if file.suffix.lower() not in _ENDINGS:
            continue
        found = re.search(r"([0-9]+)([^0-9]*)$", file.name)
        if found is None:
            refuse(file, "has no number in its name (images are put in order by it); add one")
        number = int(found[1])
        frames.add((file.name[: found.start()], found[2]))
        if number in numbered or len(frames) > 1:
            refuse(
                file,
                "is of another series, or has a number that stands twice (names differ in nothing "
                "but their number); put it into a folder of its own",
            )
        numbered[number] = file
    if not numbered:
        refuse(name, "has no TIFF file; name another folder")
    for number in range(min(numbered), max(numbered) + 1):
        if number not in numbered:
            refuse(name, f"has no image of number {number} (a view is missing); add it")
    return [numbered[number] for number in sorted(numbered)]


def _image(itk: Any, path: pathlib.Path) -> npt.NDArray[Any]:
    """Return the images of one file, shape (images, rows from the top, columns)."""
    if not path.is_file():
        refuse(path, "cannot be read (no such file); check its name")
    if path.suffix.lower() not in _ENDINGS:
        refuse(path, "is no TIFF by its ending (.tif and .tiff are read); name one of these")
    try:
        read = itk.ReadImage(str(path), imageIO="TIFFImageIO")
        values: npt.NDArray[Any] = itk.GetArrayFromImage(read)
    except RuntimeError:
        refuse(path, "cannot be read as TIFF (damaged, or of a kind that is not read); export it")
    if values.dtype.name not in _STORED or values.ndim not in (2, 3) or 0 in values.shape:
        refuse(
            path,
            f"has pixels of {values.dtype} and shape {values.shape} (one channel of uint8, uint16, "
            "float32 or float64 is read); export it so",
        )
    return values if values.ndim == 3 else values[np.newaxis]


def read_images(name: Path) -> tuple[Floats, str]:
    """Return images of shape (view, v, u) in the library's order of memory, and what is stored."""
    itk = _itk()
    parts: list[npt.NDArray[Any]] = []
    for path in _series(name):
        images = _image(itk, path)
        first = parts[0] if parts else images
        if images.shape[1:] != first.shape[1:] or images.dtype != first.dtype:
            refuse(path, "differs in size or type of pixels from the first image; take it out")
        check_finite(path, images)
        parts.append(images)
    stored = parts[0].dtype.name
    whole = np.concatenate(parts).astype(np.float32)[:, ::-1]  # the bottom row is v = 0
    views = np.empty((whole.shape[0], whole.shape[2], whole.shape[1]), np.float32)
    views[...] = whole.transpose(0, 2, 1)
    return views.transpose(0, 2, 1), stored


def write_images(folder: Path, views: npt.NDArray[Any], stored: str) -> None:
    """Write a TIFF for each view into a new or empty folder: all of them, or none."""
    itk = _itk()
    check_finite(folder, views)
    if stored == "uint16":
        images = np.floor(views.astype(np.float64) + 0.5)
        if images.size and not 0 <= images.min() <= images.max() <= 65535:
            refuse(
                folder,
                f"cannot hold values from {images.min():g} to {images.max():g} in 16 bits (0 to "
                "65535 are possible); store them as float32",
            )
    else:
        images = views
    images = images.astype(stored)
    digits = max(4, len(str(len(images))))
    with filling(folder) as made:
        for number, image in enumerate(images):
            file = os.path.join(made, f"view_{number:0{digits}d}.tif")
            itk.WriteImage(itk.GetImageFromArray(np.ascontiguousarray(image[::-1])), file)
