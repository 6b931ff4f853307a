# SPDX-License-Identifier: BSD-3-Clause
"""Reads volumes that `iso` writes as MetaImage."""
import pathlib

from python_modules import need


def read_mha(path):
    """(values [x, y, z], spacing, origin), lengths in mm; raises ValueError."""
    need("numpy")
    import numpy as np

    head, mark, rest = pathlib.Path(path).read_bytes().partition(b"ElementDataFile = LOCAL\n")
    fields = dict(line.split(" = ", 1) for line in head.decode("latin-1").splitlines()
                  if " = " in line)
    if (not mark or fields.get("ElementType") != "MET_FLOAT"
            or fields.get("CompressedData") != "False"):
        raise ValueError("not a MetaImage of float without compression")

    def numbers(name):
        return [float(x) for x in fields[name].split()]

    values = np.frombuffer(rest, "<f4").reshape(*map(int, numbers("DimSize")), order="F")
    return values, numbers("ElementSpacing"), numbers("Offset")
