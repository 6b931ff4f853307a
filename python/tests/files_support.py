# SPDX-License-Identifier: BSD-3-Clause
"""What isocenter.files reads, in the words of the program dump_files of tests/app.

As a program: reads lines of a kind, a tab and a path, and prints what it reads as JSON.
"""

import json
import pathlib
import sys

import numpy as np

import isocenter as iso
from isocenter import _core, files


def hash_of(values):
    return _core.hash_bits(np.ascontiguousarray(values).reshape(-1))


def of_volume(values, grid, unit):
    assert values.dtype == np.float32 and values.shape == grid.shape
    assert values.T.flags.c_contiguous
    return {
        "size": list(grid.size),
        "spacing": list(grid.spacing),
        "origin": list(grid.origin),
        "unit": unit,
        "hash": hash_of(values.transpose(2, 1, 0)),
    }


def of_ct(path):
    series = files.read_ct(path)
    return of_volume(series.values, series.grid, "HU") | {
        "identity": list(series.identity),
        "others": series.other_objects,
    }


def of_dose(path):
    dose = files.read_rt_dose(path, any_unit=True, slice_thickness=2.5)
    return of_volume(dose.values, dose.grid, dose.unit) | {
        "identity": list(dose.identity),
        "type": dose.type,
        "summation": dose.summation,
        "plans": dose.plans,
        "beams": dose.beams,
        "sets": dose.structure_sets,
        "states": dose.states_thickness,
    }


def of_structures(path):
    found = files.read_structures(path)
    drawn = [
        {
            "name": s.name,
            "number": s.number,
            "colour": None if s.colour is None else list(s.colour),
            "type": s.type,
            "frame": s.frame_of_reference,
            "other": s.other_geometry,
            "refused": bool(s.refusal),
            "lengths": [len(points) for points in s.contours],
            "hash": hash_of(np.concatenate([np.empty((0, 3)), *s.contours])),
        }
        for s in found.structures
    ]
    return {"identity": list(found.identity), "structures": drawn}


def of_stack(path):
    told = {}
    for name, dtype in (("single", np.float32), ("double", np.float64)):
        values, unit, geometry = files._hdf5.read_stack(path, np.dtype(dtype), True)
        views, v, u = values.shape
        told["size"], told["unit"], told["geometry"] = [views, u, v], unit, bool(geometry)
        told[name] = hash_of(values.transpose(0, 2, 1))
    return told


def of_matrix(path):
    is_text = str(path).lower().endswith(".mtx")
    parts = files._market.read_market(path) if is_text else files._hdf5.read_matrix(path)
    data, indices, indptr, shape = parts
    same = files.read_matrix(path)
    assert same.nnz == len(data)
    wide = data.astype(np.float32) if data.dtype == np.float16 else data
    return {
        "size": [int(n) for n in shape],
        "indptr": hash_of(indptr.astype(np.int64)),
        "indices": hash_of(indices.astype(np.int32)),
        "bytes": data.dtype.itemsize,
        "hash": hash_of(wide),
    }


def told_of(kind, path):
    if kind == "volume":
        found = files.read_volume(path)
        return of_volume(found.values, found.grid, found.unit)
    if kind == "images":
        values = files.read_images(path).values
        views, v, u = values.shape
        assert values.dtype == np.float32
        return {"size": [views, u, v], "hash": hash_of(values.transpose(0, 2, 1))}
    if kind == "geometry":
        scan = iso.Geometry.read(path)
        views, v, u = scan.shape
        return {"size": [views, u, v], "hash": hash_of(scan.vectors())}
    if kind == "vector":
        return {"hash": hash_of(files.read_vector(path))}
    return {"ct": of_ct, "dose": of_dose, "structures": of_structures, "stack": of_stack}.get(
        kind, of_matrix
    )(path)


def answer(kind, path):
    """What is read, or the sentence of the refusal."""
    try:
        return told_of(kind, path)
    except OSError as error:
        return {"refused": str(error)}
    except MemoryError as error:
        return {"refused": f"memory: {error}"}


VOLUMES = (".mha", ".mhd", ".nrrd", ".nhdr", ".nii", ".nii.gz")
IMAGES, GEOMETRIES = (".tif", ".tiff"), (".xtekct", ".json")
OTHERS = (".jsonl", ".csv", ".raw", ".bin")


def questions(folder):
    """Pairs of a kind and a path of what is in a folder; of equal files, and series, one."""
    asked, known, series = [], set(), {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        name = path.name.lower()
        if not path.is_file():
            continue
        contents = (name, path.read_bytes())
        is_new = contents not in known
        known.add(contents)
        if name.endswith(VOLUMES):
            # The voxels of some headers lie in another file.
            if is_new or name.endswith((".mhd", ".nhdr")):
                asked.append(("volume", path))
        elif name.endswith((".h5", ".hdf5")):
            asked += [(kind, path) for kind in ("stack", "matrix", "vector") if is_new]
        elif name.endswith(IMAGES):
            asked += [("images", path)] if is_new else []
        elif name.endswith(GEOMETRIES):
            asked += [("geometry", path)] if is_new else []
        elif name.endswith(".mtx"):
            asked += [("matrix", path)] if is_new else []
        elif not name.endswith(OTHERS):
            asked += [(kind, path) for kind in ("dose", "structures") if is_new]
            series.setdefault(path.parent, []).append(contents)
    folders = {tuple(contents): path for path, contents in sorted(series.items(), reverse=True)}
    return asked + [("ct", path) for path in sorted(folders.values())]


if __name__ == "__main__":
    for line in sys.stdin:
        kind, _, path = line.rstrip("\n").partition("\t")
        try:
            told = answer(kind, path)
        except Exception as error:  # a bug, which the test shows
            told = {"raised": f"{type(error).__name__}: {error}"}
        print(json.dumps(told), flush=True)
