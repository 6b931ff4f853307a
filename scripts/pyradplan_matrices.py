#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Dose-deposition matrices of a real phantom, computed by pyRadPlan.

Needs the Python packages pyRadPlan 0.5.0 and pydantic 2.11.7 (in an environment of their own: they
bring many others) and h5py. Writes the HDF5 layout of docs/formats.md, half-precision values,
columns in pyRadPlan's order of beamlets, rows in the order of its dose grid (x fastest) or in that
of this library's volumes (z fastest), and prints what `iso matrix info` tells of the matrix: the
histograms of row lengths, runs of consecutive columns and similarity of neighbouring rows.

    python scripts/pyradplan_matrices.py --modality protons --output tg119_protons.h5
"""
import json
import os
import tempfile
import time

from harness import ISO, need, parser_of, write_json

need("h5py", "numpy", "scipy", "pyRadPlan", install="h5py pyRadPlan==0.5.0 pydantic==2.11.7")

import h5py  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from reconstructions import tool  # noqa: E402

MODALITIES = {
    # gantry angles in degrees, distance of spots or beamlets in mm
    "protons": {"angles": [90.0, 270.0], "bixel_width": 5.0},
    "photons": {"angles": [0.0, 72.0, 144.0, 216.0, 288.0], "bixel_width": 5.0},
}


def compute(modality, resolution):
    """The dose-influence matrix (scipy CSC) and its grid."""
    from pyRadPlan import IonPlan, PhotonPlan, calc_dose_influence, generate_stf, load_tg119

    ct, cst = load_tg119()
    setting = MODALITIES[modality]
    if modality == "protons":
        plan = IonPlan(radiation_mode="protons", machine="Generic")
    else:
        plan = PhotonPlan(machine="Generic")
    plan.prop_stf = {
        "gantry_angles": setting["angles"],
        "couch_angles": [0.0] * len(setting["angles"]),
        "bixel_width": setting["bixel_width"],
    }
    plan.prop_dose_calc = {"dose_grid": {"resolution": {a: resolution for a in "xyz"}}}
    beams = generate_stf(ct, cst, plan)
    dij = calc_dose_influence(ct, cst, beams, plan)
    return dij.physical_dose.flat[0], dij.dose_grid


def by_rows(matrix, grid, fastest):
    """CSR with rows in the order asked for; pyRadPlan numbers voxels with x fastest."""
    nx, ny, nz = (int(n) for n in grid.dimensions)
    if nx * ny * nz != matrix.shape[0]:
        raise SystemExit(
            f"the matrix has {matrix.shape[0]} rows (its grid has {nx} x {ny} x {nz} voxels); "
            "export both anew"
        )
    matrix = sp.coo_array(matrix)
    rows = np.asarray(matrix.row)
    if fastest == "z":
        z, y, x = np.unravel_index(rows, (nz, ny, nx))
        rows = ((x * ny + y) * nz + z).astype(np.int32)
    result = sp.csr_array((matrix.data, (rows, matrix.col)), shape=matrix.shape)
    result.sort_indices()
    return result


def to_half(matrix):
    """Scaled values in half precision, zeros dropped; the scale, and counts of what half loses."""
    # A power of two, so that no digit changes: the largest dose becomes 2^11 to 2^12.
    scale = 2.0 ** (11 - np.floor(np.log2(matrix.data.max())))
    values = matrix.data.astype(np.float64) * scale
    half = values.astype(np.float16)
    counts = {
        "scale": float(scale),
        "overflow": int(np.sum(np.isinf(half))),
        "lost": int(np.sum((half == 0) & (values != 0))),
        "subnormal": int(np.sum((half != 0) & (np.abs(half) < np.float16(6.104e-05)))),
    }
    if counts["overflow"]:
        raise SystemExit(f"{counts['overflow']} values are above 65504 (the most of half "
                         "precision); scale the matrix")
    kept = np.concatenate(([0], np.cumsum(half != 0, dtype=np.int64)))
    pointers = kept[matrix.indptr]
    keep = half != 0
    return half[keep], matrix.indices[keep].astype(np.int32), pointers, counts


def write(path, values, columns, pointers, shape, attributes):
    """Everything into a file of another name, which then takes the name: a whole file or none."""
    temporary = f"{path}.{os.getpid()}.part"
    try:
        with h5py.File(temporary, "w") as file:
            file.attrs["format"] = "csr"
            for name, value in attributes.items():
                file.attrs[name] = value
            file["data"] = values
            file["indices"] = columns
            file["indptr"] = pointers
            file["shape"] = np.asarray(shape, dtype=np.int64)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def main():
    parser = parser_of(__doc__.splitlines()[0])
    parser.add_argument("--modality", choices=sorted(MODALITIES), required=True)
    parser.add_argument("--resolution", type=float, default=3.0, help="of the dose grid, mm")
    parser.add_argument(
        "--fastest", choices=["x", "z"], default="x", help="coordinate of neighbouring rows"
    )
    parser.add_argument("--output", required=True, help="HDF5 file")
    parser.add_argument("--iso", default=ISO, help="the tool (default: %(default)s)")
    parser.add_argument("--json", help="also write the histograms to this file")
    arguments = parser.parse_args()

    began = time.monotonic()
    matrix, grid = compute(arguments.modality, arguments.resolution)
    print(f"computed in {time.monotonic() - began:.0f} s", flush=True)
    matrix = by_rows(matrix, grid, arguments.fastest)
    values, columns, pointers, lost = to_half(matrix)
    shape = matrix.shape
    del matrix
    attributes = {
        "rows": f"voxels of grid_extent (x, y, z), {arguments.fastest} fastest",
        "columns": "beamlets in pyRadPlan's order",
        "grid_extent": np.asarray([int(n) for n in grid.dimensions], dtype=np.int64),
        "grid_spacing_mm": np.asarray([float(grid.resolution[a]) for a in "xyz"]),
        "source": f"pyRadPlan 0.5.0, TG119, {arguments.modality}, "
        f"gantry {MODALITIES[arguments.modality]['angles']} degrees",
        "value_scale": lost["scale"],
        "lost_nonzeros": lost["lost"],
    }
    write(arguments.output, values, columns, pointers, shape, attributes)
    with tempfile.TemporaryDirectory() as folder:
        told = tool(arguments.iso, folder).run("matrix", "info", arguments.output)
    figures = told["matrix"] | {"half": lost}
    print(json.dumps(figures, indent=2))
    write_json(arguments.json, figures)


if __name__ == "__main__":
    main()
