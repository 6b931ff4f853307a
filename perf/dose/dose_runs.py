# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of the dose papers share: volumes for isocenter_dose, names of its rows."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import CHEST_CT, TOP, read_json  # noqa: E402, F401
from volumes import read_nifti  # noqa: E402

DENSITIES = TOP / "model/data/density_schneider_2000.csv"


def table_of_csv(path):
    """The numbers behind the comments and the line of names."""
    with open(path, encoding="utf-8") as file:
        return np.loadtxt([line for line in file if not line.startswith("#")][1:], delimiter=",")


def phantom(name, side, voxel):
    """Densities of the cube, float32 [x, y, z]."""
    what = read_json(TOP / "perf/dose/phantoms.json")["phantoms"][name]
    n = round(side / voxel)
    at = (np.arange(n) - (n - 1) / 2) * voxel
    values = np.full((n, n, n), what.get("outside", 0), np.float32)
    if "layers" in what:
        table = table_of_csv(TOP / what["layers"])
        ends, densities = 10 * table[:, 3], np.append(table[:, 4], 0)
        values[:] = densities[np.searchsorted(ends, at + side / 2, "right")][:, None]
        return values
    place = np.meshgrid(at, at, at, indexing="ij", sparse=True)
    for shape in what.get("shapes", ()):
        kind, body = next(iter(shape.items()))
        off = [x - middle for x, middle in zip(place, body["middle"])]
        if kind == "box":
            size = body["size"]
            inside = (abs(off[0]) < size[0] / 2) & (abs(off[1]) < size[1] / 2)
            length = size[2]
        else:
            inside = off[0] ** 2 + off[1] ** 2 < body["radius"] ** 2
            length = body["length"]
        values[inside & (abs(off[2]) < length / 2)] = shape["density"]
    return values


def is_there(ct, script):
    """Whether the chest CT was fetched; says so if not."""
    if not ct.is_file():
        print(f"{script}: {ct} is not there: the chest CT is left out "
              "(scripts/get_example_data.sh fetches it)", file=sys.stderr)
    return ct.is_file()


def ct_density(path, every=1):
    """(extent, spacing, densities) of every n-th voxel of a CT, by the library's table of
    densities."""
    values, spacing, _ = read_nifti(path)
    table = table_of_csv(DENSITIES)
    out = density_of(table, values[::every, ::every, ::every]).astype(np.float32)
    return out.shape, tuple(x * every for x in spacing), out


def density_of(table, hu):
    return np.interp(hu, table[:, 0], table[:, 1])


def machine(row):
    threads = {"cuda": "", "serial": ", one core"}.get(row["backend"],
                                                      f", {row['threads']} threads")
    return f"{row['processor']} ({row['backend']}{threads})"


def directions(text):
    """'8x8': (8, 8)."""
    cones, azimuths = text.split("x")
    return int(cones), int(azimuths)


def numbers(text):
    return tuple(float(x) for x in text.split(","))
