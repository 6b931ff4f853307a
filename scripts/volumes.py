# SPDX-License-Identifier: BSD-3-Clause
"""Volumes [x, y, z] in files: MetaImage as `iso` writes it, and the NIfTI of the chest CT."""
import gzip
import pathlib
import struct

from python_modules import np


def read_mha(path):
    """(values, spacing, origin), lengths in mm; raises ValueError."""
    head, mark, rest = pathlib.Path(path).read_bytes().partition(b"ElementDataFile = LOCAL\n")
    fields = dict(line.split(" = ", 1) for line in head.decode("latin-1").splitlines()
                  if " = " in line)
    if (not mark or fields.get("ElementType") != "MET_FLOAT"
            or fields.get("CompressedData") != "False"):
        raise ValueError(f"{path}: not a MetaImage of float without compression")

    def numbers(name):
        return [float(x) for x in fields[name].split()]

    values = np.frombuffer(rest, "<f4").reshape(*map(int, numbers("DimSize")), order="F")
    return values, numbers("ElementSpacing"), numbers("Offset")


def write_mha(path, volume, spacing, unit, middle=(0, 0, 0)):
    """A volume of cubes, or of voxels with three sides."""
    size = volume.shape
    spacing = list(map(float, spacing)) if np.ndim(spacing) else [float(spacing)] * 3
    origin = [at - 0.5 * (n - 1) * side for at, n, side in zip(middle, size, spacing)]
    head = {"ObjectType": "Image", "NDims": 3, "BinaryData": True, "BinaryDataByteOrderMSB": False,
            "CompressedData": False, "TransformMatrix": "1 0 0 0 1 0 0 0 1",
            "Offset": " ".join(repr(float(x)) for x in origin),
            "ElementSpacing": " ".join(map(repr, spacing)),
            "Unit": unit, "DimSize": " ".join(map(str, size)), "ElementType": "MET_FLOAT",
            "ElementDataFile": "LOCAL"}
    text = "".join(f"{name} = {value}\n" for name, value in head.items())
    pathlib.Path(path).write_bytes(text.encode() + volume.astype("<f4").tobytes(order="F"))


def read_nifti(path):
    """(values, spacing, first voxel's middle) of a NIfTI-1 file of 16-bit integers whose axes run
    to the patient's left, back and head; ends the script where it is none."""
    try:
        data = gzip.decompress(pathlib.Path(path).read_bytes())
    except OSError as failure:
        raise SystemExit(f"'{path}' cannot be read ({failure.strerror or failure}); run "
                         "scripts/get_example_data.sh") from None
    size = struct.unpack_from("<8h", data, 40)
    spacing = struct.unpack_from("<8f", data, 76)[1:4]
    start, slope, shift = struct.unpack_from("<3f", data, 108)
    axes = np.array(struct.unpack_from("<12f", data, 280)).reshape(3, 4)
    wanted = np.diag([-1, -1, 1]) * spacing
    if size[0] != 3 or data[70:72] != b"\x04\0" or not np.allclose(axes[:, :3], wanted, atol=1e-4):
        raise SystemExit(f"'{path}' is not read (three axes of 16-bit integers along the patient's "
                         "are expected); run scripts/get_example_data.sh")
    voxels = np.frombuffer(data, "<i2", int(np.prod(size[1:4])), int(start))
    volume = voxels.reshape(size[1:4], order="F").astype(np.float32)
    values = volume * np.float32(slope or 1) + np.float32(shift)
    return values, spacing, axes[:, 3] * (-1, -1, 1)
