# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share that time the dose of one square field: volumes, runs of `iso dose`, names
of its rows."""
import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import CHEST_CT, TOP, read_json  # noqa: E402, F401
from reconstructions import tool  # noqa: E402, F401
from volumes import read_mha, read_nifti, write_mha  # noqa: E402

DENSITIES = TOP / "model/data/density_schneider_2000.csv"


# Lengths in mm; the isocentre is at 0.
DEFAULTS = {
    "backend": "serial", "precision": "float", "engine": "non_voxel", "traversal": "fastest",
    "kernel": "table", "field": 100, "gantry": 0, "margin": 27, "cones": 8, "azimuths": 8,
    "tilt": 0, "radial_step": 1, "ray_spacing": 2, "repeats": 1,
}  # fmt: skip


def put_volume(folder, density, spacing, middle=(0, 0, 0)):
    """The settings of a volume, which is written."""
    path = folder / "density.mha"
    write_mha(path, density, spacing, "g/cm3", middle)
    return {"extent": density.shape, "spacing": spacing, "density": path}


def plan_of(s):
    half = 0.5 * s["field"]
    beam = {"isocentre_mm": [0, 0, 0], "gantry_deg": s["gantry"],
            "field_mm": {"x": [-half, half], "y": [-half, half]}}
    return {"beams": [beam], "spectrum": str(s.get("spectrum", "mohan_6mv")),
            "kernel": "monte_carlo" if s["kernel"] == "table" else "6mv",
            "directions": {"cones": s["cones"], "azimuths": s["azimuths"]}, "engine": s["engine"],
            "tilt": bool(s["tilt"]), "margin_mm": s["margin"], "radial_step_mm": s["radial_step"],
            "ray_spacing_mm": s["ray_spacing"]}


def words_of_dose(iso, settings):
    """The options of `iso dose`."""
    s = DEFAULTS | settings
    return {"plan": iso.write_json(plan_of(s), "plan.json"), "output": iso.folder / "dose.mha"} | {
        name: s[name] for name in ("density", "backend", "precision", "traversal", "vector_bytes")
        if name in s}


@functools.cache
def facts_of(iso, backend):
    found = iso.run("info", "--no-ceilings", backend=backend)["machine"]["backends"][0]
    return {"processor": found["processor"], "threads": found["threads"],
            "revision": found["git_revision"]}


def least(answer, backend):
    """(the clock, the least of the runs that --repeats tells, seconds by kernel). On one core it is
    the processor's clock, which other programs do not lengthen."""
    clock = "processor" if backend == "serial" else "wall"
    name = "processor_seconds" if backend == "serial" else "seconds"
    kernels = {label: took[name] for label, took in answer.get("kernel_times", {}).items()}
    runs = [took[name] for took in answer.get("repeats", [])]
    return clock, min(runs, default=sum(kernels.values())), kernels


def run_dose(iso, settings):
    """The row of one field, and the dose of its region. `convolution_seconds` are of TERMA and
    convolution, the least of `repeats` runs after a first one, less the seconds of TERMA's kernels;
    of one run those of its kernels. `steps` are the seconds of the convolution's kernels."""
    s = DEFAULTS | settings
    more = {"repeats": s["repeats"]} if s["repeats"] > 1 else {}
    answer = iso.run("dose", "--by-kernel", **words_of_dose(iso, s), **more)
    clock, seconds, kernels = least(answer, s["backend"])
    terma = sum(took for label, took in kernels.items() if label.startswith("iso::dose::terma"))
    region = answer["beams"][0]["region"]
    first, extent = region["first_voxel"], region["extent"]
    box = tuple(slice(at, at + n) for at, n in zip(first, extent))
    row = {name: x for name, x in s.items() if not isinstance(x, pathlib.Path)}
    row |= facts_of(iso, s["backend"]) | {
        "clock": clock, "region": {"first": first, "extent": extent}, "terma_seconds": terma,
        "convolution_seconds": seconds - terma,
        "steps": {label: took for label, took in kernels.items()
                  if not label.startswith("iso::dose::terma")}}
    return row, np.ascontiguousarray(read_mha(iso.folder / "dose.mha")[0][box])


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
        print(f"not run: the chest CT of {script} ({ct} is not there); run "
              "scripts/get_example_data.sh", file=sys.stderr)
    return ct.is_file()


def ct_density(path, every=1):
    """(spacing, densities) of every n-th voxel of a CT, by the library's table of densities."""
    values, spacing, _ = read_nifti(path)
    table = table_of_csv(DENSITIES)
    out = density_of(table, values[::every, ::every, ::every]).astype(np.float32)
    return tuple(x * every for x in spacing), out


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
