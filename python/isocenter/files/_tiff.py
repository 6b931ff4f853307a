# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes detector images as a series of TIFF files, by SimpleITK.

Its reader turns, inverts and mixes channels without a word, and takes no floats of 64 bits: tags
are looked at here, and such floats read here where they are not compressed.
"""

from __future__ import annotations

import mmap
import os
import pathlib
import re
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ._common import Floats, Path, check_finite, check_range, filling, largest_of, library, refuse

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


_Tags = dict[int, tuple[int, ...]]

#: Tags of TIFF 6.0.
_WIDTH, _LENGTH, _BITS, _COMPRESSION, _SHOWN, _TURNED = 256, 257, 258, 259, 262, 274
_OFFSETS, _CHANNELS, _COUNTS, _TILES, _FORMAT = 273, 277, 279, 322, 339


class _Damaged(Exception):
    """Tags that no TIFF has."""


class _Tiff:
    """The tags of a file's images, and what they say where floats of 64 bits lie."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.order = {b"II": "<", b"MM": ">"}[bytes(data[:2])]
        self.is_big = self._numbers("H", 2) == (43,)
        if not self.is_big and self._numbers("H", 2) != (42,):
            raise _Damaged
        self.images = list(self._images())

    def _numbers(self, kinds: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(self.order + kinds, self.data, at)

    def _images(self) -> Iterator[_Tags]:
        word, entry = ("Q", 20) if self.is_big else ("I", 12)
        size = struct.calcsize("<" + word)
        (at,) = self._numbers(word, 8 if self.is_big else 4)
        seen = set()
        while at != 0:
            if at in seen:
                raise _Damaged  # a circle
            seen.add(at)
            (count,) = self._numbers("Q" if self.is_big else "H", at)
            first = at + (8 if self.is_big else 2)
            tags = {}
            for n in range(count):
                place = first + entry * n
                tag, kind, length = self._numbers("HH" + word, place)
                letter = {1: "B", 3: "H", 4: "I", 16: "Q"}.get(kind)  # of the tags above
                if letter is not None and length <= len(self.data):
                    bytes_of = length * struct.calcsize("<" + letter)
                    value = place + 4 + size
                    if bytes_of > size:
                        (value,) = self._numbers(word, value)
                    tags[tag] = self._numbers(f"{length}{letter}", value)
            yield tags
            (at,) = self._numbers(word, first + entry * count)

    def doubles(self, tags: _Tags) -> npt.NDArray[np.float64]:
        """An image of them, of strips that are not compressed."""
        width, length = tags[_WIDTH][0], tags[_LENGTH][0]
        strips = zip(tags[_OFFSETS], tags[_COUNTS], strict=True)
        whole = b"".join(self.data[at : at + count] for at, count in strips)
        values = np.frombuffer(whole, self.order + "f8", width * length)
        return values.reshape(length, width).astype(np.float64)


def _check(path: pathlib.Path, tags: _Tags) -> bool:
    """Refuse what the library refuses; return whether pixels are floats of 64 bits."""
    one = (1,)
    if tags.get(_CHANNELS, one) != one:
        refuse(path, f"has {tags[_CHANNELS][0]} channels (one is read); convert it to greyscale")
    bits, kind = tags.get(_BITS, one), tags.get(_FORMAT, one)
    if (kind, bits) not in ((one, (8,)), (one, (16,)), ((3,), (32,)), ((3,), (64,))):
        refuse(
            path,
            f"stores pixels of {bits[0]} bits and format {kind[0]} (8 or 16 bits unsigned, 32 or "
            "64 bits floating point are read); convert it to one of these",
        )
    if _TILES in tags:
        refuse(path, "is stored in tiles (images in strips are read); store it in strips")
    for tag, name in ((_SHOWN, "photometric interpretation"), (_TURNED, "orientation")):
        if tags.get(tag, one if tag == _TURNED else (0,)) != one:
            refuse(
                path,
                f"has another {name} than 1 (rows from the top left, black 0 are read); export it "
                "so",
            )
    return bits == (64,)


def _doubles(path: pathlib.Path) -> tuple[int, npt.NDArray[Any] | None]:
    """Return how many images a file has, and all of them if they are floats of 64 bits."""
    try:
        with (
            open(path, "rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            tiff = _Tiff(data)
            are_double = [_check(path, tags) for tags in tiff.images]
            if not all(are_double):
                return len(are_double), None
            if any(tags.get(_COMPRESSION, (1,)) != (1,) for tags in tiff.images):
                refuse(
                    path,
                    "has compressed floats of 64 bits (they are read as they are); export it "
                    "without compression",
                )
            return len(are_double), np.stack([tiff.doubles(tags) for tags in tiff.images])
    except (_Damaged, struct.error, ValueError, KeyError, IndexError):
        refuse(path, "is not a TIFF file, or damaged; fetch or write it again")


def _image(itk: Any, path: pathlib.Path) -> npt.NDArray[Any]:
    """Return the images of one file, shape (images, rows from the top, columns)."""
    if not path.is_file():
        refuse(path, "cannot be read (no such file); check its name")
    if path.suffix.lower() not in _ENDINGS:
        refuse(path, "is no TIFF by its ending (.tif and .tiff are read); name one of these")
    count, doubles = _doubles(path)
    if doubles is not None:
        check_range(path, largest_of(doubles))
        return doubles
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
    images = values if values.ndim == 3 else values[np.newaxis]
    if len(images) != count:
        refuse(path, "is damaged (its images cannot be counted); fetch or write it again")
    return images


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
