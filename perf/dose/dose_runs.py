# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of the dose papers share: volumes for iso_dose_paper, and its runs."""
import array
import csv
import gzip
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import output_of  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
CHEST_CT = TOP / ".deps/data/chest_ct.nii.gz"


def run(program, **settings):
    """The JSON that iso_dose_paper prints."""
    return json.loads(output_of(command_of(program, settings)))


def command_of(program, settings):
    command = [str(program)]
    for name, value in settings.items():
        if isinstance(value, (tuple, list)):
            value = ",".join(f"{x:.9g}" for x in value)
        command.append(f"--{name.replace('_', '-')}={value}")
    return command


def rows_of_csv(path):
    """The lines of numbers behind the comments and the line of names."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return [[float(x) for x in row] for row in list(csv.reader(lines))[1:]]


def middles(n, spacing):
    return [(i - (n - 1) / 2) * spacing for i in range(n)]


def phantom(name, side, voxel, document=None):
    """Densities of the cube, float32 [x, y, z], z fastest."""
    if document is None:
        document = json.loads((TOP / "perf/dose/phantoms.json").read_text(encoding="utf-8"))
    what = document["phantoms"][name]
    n = round(side / voxel)
    at = middles(n, voxel)
    if "layers" in what:
        depths = [(row[3] * 10, row[4]) for row in rows_of_csv(TOP / what["layers"])]
        plane = array.array("f")
        for y in at:
            density = next((d for end, d in depths if y + side / 2 < end), 0.0)
            plane.extend([density] * n)
        return plane * n
    values = array.array("f")
    for x in at:
        for y in at:
            line = array.array("f", [what["outside"]]) * n
            for shape in what["shapes"]:
                half = _half_length(shape, x, y)
                middle = next(iter(shape.values()))["middle"][2]
                inside = [k for k in range(n) if abs(at[k] - middle) < half]
                if inside:
                    line[inside[0]:inside[-1] + 1] = array.array("f",
                                                                [shape["density"]]) * len(inside)
            values.extend(line)
    return values


def _half_length(shape, x, y):
    """Along z, of the shape where it meets x and y; else 0."""
    if "box" in shape:
        box = shape["box"]
        meets = all(abs(at - middle) < size / 2
                    for at, middle, size in zip((x, y), box["middle"], box["size"]))
        return box["size"][2] / 2 if meets else 0
    tube = shape["cylinder_along_z"]
    off = (x - tube["middle"][0]) ** 2 + (y - tube["middle"][1]) ** 2
    return tube["length"] / 2 if off < tube["radius"] ** 2 else 0


def is_there(ct, script):
    """Whether the chest CT was fetched; says so if not."""
    if not ct.is_file():
        print(f"{script}: {ct} is not there: the chest CT is left out "
              "(scripts/get_example_data.sh fetches it)", file=sys.stderr)
    return ct.is_file()


def ct_density(path, every=1):
    """(extent, spacing, densities) of every n-th voxel of a NIfTI volume of Hounsfield units in
    16-bit integers, by the library's table of densities."""
    table = rows_of_csv(TOP / "algorithms/data/density_schneider_2000.csv")
    with gzip.open(path) as file:
        data = file.read()
    n = struct.unpack("<3h", data[42:48])
    kind = struct.unpack("<h", data[70:72])[0]
    spacing = struct.unpack("<3f", data[80:92])
    begin = int(struct.unpack("<f", data[108:112])[0])
    slope, offset = struct.unpack("<2f", data[112:120])
    if data[344:347] != b"n+1" or kind != 4 or slope not in (0, 1) or offset != 0:
        raise SystemExit(f"{path}: no single NIfTI file of unscaled 16-bit integers")
    values = array.array("h")
    values.frombytes(data[begin:begin + 2 * n[0] * n[1] * n[2]])
    low = min(values)
    densities = [density_of(table, hu) for hu in range(low, max(values) + 1)]
    out = array.array("f")
    for i in range(0, n[0], every):
        for j in range(0, n[1], every):
            column = values[i + n[0] * j::every * n[0] * n[1]]
            out.extend([densities[hu - low] for hu in column])
    return tuple(-(-x // every) for x in n), tuple(x * every for x in spacing), out


def density_of(table, hu):
    if hu <= table[0][0]:
        return table[0][1]
    for (low, begin), (high, end) in zip(table, table[1:]):
        if hu <= high:
            return begin + (end - begin) * (hu - low) / (high - low)
    return table[-1][1]


def write(values, path):
    with open(path, "wb") as file:
        values.tofile(file)


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
