# SPDX-License-Identifier: BSD-3-Clause
"""Volumes as MetaImage, NRRD and NIfTI, whose headers SimpleITK reads."""

from __future__ import annotations

import contextlib
import gzip
import math
import os
import pathlib
import struct
import tempfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from ._common import (
    Floats,
    Path,
    along_world,
    axis_along,
    check_finite,
    check_regular,
    check_spacing,
    ending,
    floats_of,
    library,
    refuse,
    replacing,
    unchanged,
)
from .._geometry import Grid

ENDINGS = (".mha", ".mhd", ".nrrd", ".nhdr", ".nii", ".nii.gz")
#: Compression packs so many bytes into one at most.
_PACKED = 1032
_TRUNCATED = "is truncated or damaged (not all of its voxels can be read); fetch or write it again"


class _Layout(NamedTuple):
    """Where the voxels of a file lie."""

    file: pathlib.Path
    offset: int
    compressed: bool
    swapped: bool
    packed: int = 0


def _itk() -> Any:
    itk = library("SimpleITK", "volumes are read and written")
    itk.ProcessObject.SetGlobalWarningDisplay(False)
    return itk


def _meta_fields(path: Path) -> tuple[dict[str, str], int]:
    """Return the fields of a MetaImage, and where its header ends."""
    fields: dict[str, str] = {}
    number = 0
    with open(path, "rb") as file:
        while "ElementDataFile" not in fields and (line := file.readline(4096)):
            number += 1
            text = line.decode("latin-1")
            places = [at for at in (text.find("="), text.find(":")) if at >= 0]
            if not fields and not places:
                refuse(
                    path,
                    f"is no MetaImage (line {number} of its header is not of the form 'name = "
                    "value'); check its ending",
                )
            at = min(places, default=len(text))
            name, value = (" ".join(part.split()) for part in (text[:at], text[at + 1 :]))
            if max(len(name), len(value)) > 254:
                refuse(
                    path,
                    f"has a name or value of {max(len(name), len(value))} characters in line "
                    f"{number} of its header (a MetaImage has at most 254); shorten it",
                )
            fields[name] = value
        return fields, file.tell()


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _check_meta_numbers(path: Path, fields: dict[str, str]) -> None:
    """Refuse a field of too few numbers, or of something else, which ITK takes for a default."""
    axes = int(_number(fields["NDims"]))
    one = ("DimSize", "ElementSpacing", "ElementSize", "Offset", "Origin", "Position")
    counts = {name: axes for name in (*one, "CenterOfRotation")}
    counts |= {name: axes * axes for name in ("TransformMatrix", "Rotation", "Orientation")}
    for name, count in counts.items():
        words = fields.get(name, "0 " * count).split()
        try:
            good = len(words) >= count and all(math.isfinite(float(word)) for word in words)
        except ValueError:
            good = False
        if not good:
            refuse(path, f"has no {count} numbers as {name} in its header; fetch or write it again")


def _check_listed(path: Path, end: int, size: int) -> None:
    """Refuse voxels in several files that are too short for them."""
    with open(path, "rb") as file:
        file.seek(end)
        names = file.read().decode("latin-1").split("\n")
    listed = [pathlib.Path(path).parent / name.strip() for name in names if name.strip()]
    for name in listed:
        if not name.is_file():
            refuse(path, f"has no data file '{name.name[:80]}' beside it; put it there")
    if sum(name.stat().st_size for name in listed) < size:
        refuse(path, _TRUNCATED)


def _meta_layout(path: Path, size: int) -> _Layout | None:
    """Return where the voxels lie, and refuse headers that ITK does not take as they are meant."""
    fields, end = _meta_fields(path)
    for wanted in ("NDims", "DimSize", "ElementType", "ElementDataFile"):
        if wanted not in fields:
            refuse(
                path,
                f"is no whole MetaImage (its header has no field {wanted}); write it again",
            )
    for name, neutral in (
        ("ElementToIntensityFunctionSlope", 1.0),
        ("ElementToIntensityFunctionOffset", 0.0),
    ):
        if name in fields and _number(fields[name]) != neutral:
            refuse(
                path,
                f"has {name} = {fields[name][:24]} in its header (values are read as they are "
                f"stored); scale them, and write it with {neutral:.0f}",
            )

    _check_meta_numbers(path, fields)

    def is_true(name: str) -> bool:
        return fields.get(name, "").lower()[:1] in ("t", "1")

    name = fields["ElementDataFile"]
    lower = name.lower()
    folder = pathlib.Path(path).parent
    many = lower.startswith("list") or "%" in lower
    if lower != "local" and not many and not (folder / name).exists():
        refuse(
            path,
            f"has no data file '{name[:80]}' beside it (ElementDataFile names it); put it there",
        )
    if not is_true("BinaryData") and "BinaryData" in fields:
        refuse(path, "is no volume of binary numbers; convert it to such a file")
    skipped = int(_number(fields.get("HeaderSize", "0")))
    compressed = is_true("CompressedData")
    if lower.startswith("list"):
        _check_listed(path, end, size)
    if many or (compressed and skipped < 0):
        return None
    file = pathlib.Path(path) if lower == "local" else folder / name
    offset = end if lower == "local" else 0
    if skipped > 0:
        offset = skipped
    elif skipped < 0:
        offset = max(file.stat().st_size - size, 0)
    order = "ElementByteOrderMSB" if "ElementByteOrderMSB" in fields else "BinaryDataByteOrderMSB"
    packed = int(_number(fields.get("CompressedDataSize", "0")))
    return _Layout(file, offset, compressed, is_true(order), packed)


def _nrrd_layout(path: Path, size: int) -> _Layout | None:
    fields: dict[str, str] = {}
    with open(path, "rb") as file:
        while (line := file.readline()).strip(b"\r\n"):
            text = line.decode("latin-1").strip()
            name, colon, value = text.partition(":")
            if not text.startswith("#") and colon and not value.startswith("="):
                fields[name.strip().lower().replace(" ", "")] = value.strip()
        end = file.tell()
    encoding = fields.get("encoding", "").lower()
    if encoding in ("ascii", "text", "txt", "hex"):
        refuse(path, "is no volume of binary numbers; convert it to such a file")
    name = fields.get("datafile", "")
    skip, lines = int(_number(fields.get("byteskip", "0"))), fields.get("lineskip", "0")
    compressed = encoding in ("gz", "gzip")
    plain = encoding == "raw" or (compressed and skip == 0)
    if not plain or lines != "0" or "%" in name or name.upper().startswith("LIST"):
        return None
    file_name = pathlib.Path(path).parent / name if name else pathlib.Path(path)
    check_regular(file_name)
    offset = 0 if name else end
    offset = max(file_name.stat().st_size - size, 0) if skip < 0 else offset + skip
    return _Layout(file_name, offset, compressed, fields.get("endian", "").lower() == "big")


def _inflated(path: Path, file: BinaryIO, size: int) -> bytes:
    """Return so many bytes of what gzip or zlib has packed, and read it to its checksum."""
    inflate = zlib.decompressobj(47)
    parts, got = [], 0
    try:
        while not inflate.eof and (some := file.read(1 << 20)):
            part = inflate.decompress(some)
            if got < size:
                parts.append(part)
            got += len(part)
    except zlib.error:
        refuse(path, _TRUNCATED)
    if got < size or not inflate.eof:
        refuse(path, _TRUNCATED)
    return b"".join(parts)[:size]


def _stored(path: Path, layout: _Layout, dtype: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    """Return the numbers as they lie in the file."""
    size = count * dtype.itemsize
    held = layout.file.stat().st_size - layout.offset
    if held < (max(size / _PACKED, layout.packed) if layout.compressed else size):
        refuse(
            path,
            f"claims {count} voxels of {dtype.itemsize} bytes, for which the file is too short "
            "(truncated, or its header is wrong); fetch or write it again",
        )
    stored = dtype.newbyteorder(">" if layout.swapped else "<")
    with open(layout.file, "rb") as file:
        file.seek(layout.offset)
        if layout.compressed:
            return np.frombuffer(_inflated(path, file, size), stored)
        return np.fromfile(file, stored, count)


def _nifti_header(path: Path) -> tuple[bytes, str]:
    """Return the header of a NIfTI, and the order of its bytes as `struct` has it."""
    with gzip.open(path) if ending(path) == ".nii.gz" else open(path, "rb") as file:
        try:
            header = file.read(348)
        except (OSError, EOFError, zlib.error):
            header = b""
    if len(header) < 348:
        refuse(path, "is no whole NIfTI (it ends within its header); fetch or write it again")
    little = struct.unpack_from("<h", header, 40)[0]
    return header, "<" if 1 <= little <= 7 else ">"


def _check_nifti(path: Path) -> None:
    """Refuse what ITK reads otherwise than the header says."""
    header, order = _nifti_header(path)
    axes, along_first = struct.unpack_from(order + "hh", header, 40)
    kind = struct.unpack_from(order + "h", header, 70)[0]
    known = (2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304)
    if not 1 <= axes <= 7 or along_first < 1 or kind not in known:
        refuse(
            path,
            f"is no NIfTI (its header has {axes} axes, {along_first} voxels along the first, and "
            f"voxels of type {kind}); check its ending, or fetch or write it again",
        )
    slope, shift = (float(x) for x in struct.unpack_from(order + "ff", header, 112))
    least = float(np.finfo(np.float64).eps)
    if slope != 0 and not least < abs(slope) < np.inf:
        refuse(
            path,
            f"has a slope of {slope} for its values (0, or a number from 2.3e-16 to 3.4e+38, is "
            "expected); scale its values, and write it again",
        )
    is_added = np.isfinite(shift) and abs(shift) > least
    if slope == 0 if is_added else slope == 1 and np.isfinite(shift) and shift != 0:
        refuse(
            path,
            f"has an offset of {shift} for its values beside a slope of {slope} (ITK takes them "
            "otherwise); correct the header",
        )
    for what, at, count in (("spacing", 80, 3), ("turn", 256, 6), ("direction", 280, 12)):
        code = (
            1 if at == 80 else struct.unpack_from(order + "h", header, 252 if at == 256 else 254)[0]
        )
        for x in struct.unpack_from(f"{order}{count}f", header, at):
            if code > 0 and not abs(x) <= 1e9:
                refuse(
                    path,
                    f"has a {what} of {x} in its header (numbers between -1e9 and 1e9 are "
                    "expected); correct the header",
                )


def _check_nifti_length(path: Path, count: int) -> None:
    """Refuse voxels that end early: ITK reads zeros there."""
    header, order = _nifti_header(path)
    bits = struct.unpack_from(order + "h", header, 72)[0]
    needed = count * bits / 8 + struct.unpack_from(order + "f", header, 108)[0]
    held = 0
    if ending(path) == ".nii.gz":
        try:
            with gzip.open(path) as file:
                while some := file.read(1 << 20):
                    held += len(some)
        except (OSError, EOFError, zlib.error):
            refuse(path, _TRUNCATED)
    else:
        held = os.path.getsize(path)
    if not needed <= held:
        refuse(
            path,
            f"claims {count} voxels, for which the file is too short (truncated, or its header is "
            "wrong); fetch or write it again",
        )


def _check_nifti_scale(path: Path, values: Floats) -> None:
    """Refuse floats that their slope makes too small for floats."""
    header, order = _nifti_header(path)
    kind = struct.unpack_from(order + "h", header, 70)[0]
    slope = float(struct.unpack_from(order + "f", header, 112)[0])
    shift = float(struct.unpack_from(order + "f", header, 116)[0])
    if kind != 16 or slope == 0 or abs(slope) >= 1 or largest(values) >= np.finfo(np.float32).tiny:
        return
    with gzip.open(path) if ending(path) == ".nii.gz" else open(path, "rb") as file:
        file.seek(int(struct.unpack_from(order + "f", header, 108)[0]))
        stored = np.frombuffer(file.read(4 * values.size), order + "f4")
    with np.errstate(all="ignore"):
        floats_of(path, slope * stored.astype(np.float64) + shift)


def largest(values: npt.NDArray[Any]) -> float:
    """Return the largest finite magnitude."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


def _types(itk: Any) -> dict[int, str]:
    names = {"UInt8": "u1", "Int8": "i1", "UInt16": "u2", "Int16": "i2", "UInt32": "u4"}
    names |= {"Int32": "i4", "UInt64": "u8", "Int64": "i8", "Float32": "f4", "Float64": "f8"}
    return {getattr(itk, "sitk" + name): dtype for name, dtype in names.items()}


@contextlib.contextmanager
def _named(path: Path) -> Iterator[Path]:
    """Give a name that ITK reads: of NAME.nii.gz it takes the voxels of a NAME.nii beside it."""
    plain = os.fspath(path)[:-3]
    if ending(path) != ".nii.gz" or not os.path.exists(plain):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "voxels.nii.gz")
        os.symlink(os.path.abspath(path), name)
        yield name


def _header(path: Path, name: Path) -> tuple[Any, tuple[int, ...], np.dtype[Any]]:
    """Return ITK's reader of a volume by a name of it, its size and the type of its numbers."""
    itk = _itk()
    reader = itk.ImageFileReader()
    reader.SetFileName(os.fspath(name))
    kinds = {".m": "MetaImageIO", ".nr": "NrrdImageIO", ".nh": "NrrdImageIO", ".ni": "NiftiImageIO"}
    reader.SetImageIO(next(io for end, io in kinds.items() if ending(path).startswith(end)))
    try:
        reader.ReadImageInformation()
    except RuntimeError as error:
        last = str(error).strip().splitlines()[-1].rpartition("): ")[2]
        refuse(path, f"cannot be read ({last[:200]}); check its ending, or write it again")
    size = reader.GetSize()
    kind = _types(itk).get(reader.GetPixelID())
    if (
        len(size) < 3
        or min(size) < 1
        or max(size[3:], default=1) > 1
        or max(size) >= 1 << 40
        or reader.GetNumberOfComponents() != 1
        or kind is None
    ):
        refuse(
            path,
            "is no volume (three axes and one binary number a voxel are expected); convert it to "
            "such a file",
        )
    return reader, size[:3], np.dtype(kind)


def _unit(path: Path, reader: Any) -> str:
    if ending(path) in (".mha", ".mhd"):
        return _meta_fields(path)[0].get("Unit", "")
    unit = reader.GetMetaData("Unit") if reader.HasMetaDataKey("Unit") else ""
    return " ".join(unit.split())


def read_image(path: Path) -> tuple[Floats, Grid, str]:
    """Read a MetaImage, NRRD or NIfTI: voxels, shape (z, y, x), their grid and unit."""
    end = ending(path)
    _itk()
    check_regular(path)
    with unchanged(path), _named(path) as name:
        if end.startswith(".nii"):
            _check_nifti(path)
        elif end in (".mha", ".mhd"):
            _meta_layout(path, 0)
        reader, size, dtype = _header(path, name)
        count = size[0] * size[1] * size[2]
        rank = len(reader.GetSize())
        direction = reader.GetDirection()
        how: list[tuple[int, int]] = []
        for axis in range(3):
            column = tuple(direction[rank * row + axis] for row in range(3))
            along = axis_along(column)
            if along is None or along[0] in (world for world, _ in how):
                refuse(
                    path,
                    f"has {column} as axis {axis} of its direction matrix (only flips and "
                    "permutations of the axes are read); resample it to an axis-aligned grid",
                )
            how.append(along)
        for spacing in reader.GetSpacing()[:3]:
            check_spacing(path, spacing)
        layout = None
        if count * dtype.itemsize >= 1 << 48:
            refuse(path, f"claims {size} voxels (its header is wrong); fetch or write it again")
        if end.startswith(".nii"):
            _check_nifti_length(path, count)
        else:
            find = _meta_layout if end in (".mha", ".mhd") else _nrrd_layout
            layout = find(path, count * dtype.itemsize)
        if layout is not None:
            stored = _stored(path, layout, dtype, count)
        else:
            try:
                stored = _itk().GetArrayFromImage(reader.Execute())
            except RuntimeError:
                refuse(path, _TRUNCATED)
        values = floats_of(path, stored.reshape(size[::-1]))
        if end.startswith(".nii"):
            _check_nifti_scale(path, values)
        voxels, grid = along_world(
            path, values, reader.GetSpacing()[:3], reader.GetOrigin()[:3], tuple(how)
        )
    check_finite(path, voxels.transpose(2, 1, 0))
    return voxels, grid, _unit(path, reader)


def write_image(path: Path, values: npt.NDArray[Any], grid: Grid, unit: str) -> None:
    """Write voxels of float32, shape (z, y, x)."""
    end = ending(path)
    if end in (".mhd", ".nhdr"):
        refuse(
            path, "would be two files (they cannot be replaced in one step); write .mha or .nrrd"
        )
    if end not in ENDINGS:
        refuse(
            path, f"has the ending '{end}' (.mha, .nrrd, .nii and .nii.gz are written); choose one"
        )
    itk = _itk()
    image = itk.GetImageFromArray(np.ascontiguousarray(values))
    image.SetSpacing(grid.spacing)
    image.SetOrigin(grid.origin)
    if unit:
        image.SetMetaData("Unit", unit)
    with replacing(path) as temporary:
        try:
            itk.WriteImage(image, str(temporary), end == ".nii.gz")
        except RuntimeError as error:
            last = str(error).strip().splitlines()[-1].rpartition("): ")[2]
            refuse(path, f"cannot be written ({last[:200]}); choose another format or folder")
