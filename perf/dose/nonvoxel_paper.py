# SPDX-License-Identifier: BSD-3-Clause
"""Tables I to V of J. Neylon et al., Med. Phys. 41, 101711 (2014), from this library.

    nonvoxel_paper.py --program build/openmp/perf/peers/isocenter_dose [--backend serial] [--small]
                      [--measure times,baseline,gamma] [--json new.json] [old.json ...]
    nonvoxel_paper.py old.json ...
    nonvoxel_paper.py --self-test

Measures, prints Markdown tables with the paper's numbers beside, and writes what was measured.
Files that earlier runs have written are read first: table V compares their machines, and a baseline
need not be measured on the machine that has the GPU.

- times: engines voxel_samples (the paper's generic GPU) and non_voxel, on the performance phantoms,
  for tables I, IV and V; non_voxel for three fields, as figure 14 shows it.
- baseline: voxel_samples on one core, for tables II and III. It is measured with few directions
  (--baseline-directions) and scaled: its time is a multiple of their number.
- gamma: voxels within 2 % of the maximum and 2 mm of voxel_samples with many directions, as figure
  9 counts them: the phantoms of phantoms.json, and the chest CT of scripts/get_example_data.sh for
  the paper's patients.

Needs NumPy.

The paper's sizes are the defaults, for a GPU; --small are sizes for a processor and a check. The
other options change single sizes. Status 1 where the paper's findings do not show:

- 8 x 8 directions pass in at least 99 % of the voxels (--small: 97 %);
- convolution along the lines takes the longest of the four steps (not checked with --small);
- times of non_voxel at three resolutions lie within a factor of 1.5 (not checked with --small).

Times of one core (serial) are processor time. As in the paper, kernels are tabulated. Their axes
are not tilted along the diverging rays, of which the paper says nothing.
"""
import itertools
import math
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import dose_runs  # noqa: E402
import gamma  # noqa: E402
import nonvoxel_tables  # noqa: E402
from scripts import parser_of, read_json, run, status_of, write_json  # noqa: E402

PAPER = {"side": nonvoxel_tables.PAPER_SIDE, "voxels": (4, 2, 1), "directions": ((24, 16), (8, 8)),
         "fields": (10, 50, 100), "radial_step": 1, "ray_spacing": 2, "repeats": 3,
         "gamma_voxel": 2, "gamma_fields": (10, 50, 100), "reference": (48, 48), "min_pass": 99,
         "baseline": (4, 4)}
SMALL = PAPER | {"side": 128, "voxels": (16, 8, 4), "directions": ((8, 8), (4, 4)),
                 "fields": (10, 30, 50), "radial_step": 4, "ray_spacing": 4, "repeats": 1,
                 "gamma_voxel": 8, "gamma_fields": (50,), "reference": (12, 12), "min_pass": 97}


def measure_times(program, sizes, backend):
    rows = []
    most = max(sizes["fields"])
    for voxel, (cones, azimuths), field in itertools.product(
            sizes["voxels"], sizes["directions"], sizes["fields"]):
        for engine in ("non_voxel", "voxel_samples"):
            if engine == "voxel_samples" and field != most:
                continue
            rows.append(run_water(program, sizes, voxel, backend=backend, engine=engine,
                                  field=field, cones=cones, azimuths=azimuths,
                                  steps=int(engine == "non_voxel")) | {"role": "times"})
    return rows


def measure_baseline(program, sizes):
    cones, azimuths = sizes["baseline"]
    return [run_water(program, sizes | {"repeats": 1}, voxel, backend="serial",
                      engine="voxel_samples", field=max(sizes["fields"]), cones=cones,
                      azimuths=azimuths) | {"role": "baseline"} for voxel in sizes["voxels"]]


def run_water(program, sizes, voxel, **settings):
    n = round(sizes["side"] / voxel)
    return run(program, {"extent": 3 * (n,), "spacing": 3 * (voxel,)} | settings | {
        name: sizes[name] for name in ("repeats", "radial_step", "ray_spacing")})


def volumes(voxel, ct):
    """(name, extent, spacing, densities) of the accuracy phantoms, and of the chest CT in voxels of
    its own that are about as large."""
    n = round(256 / voxel)
    for name in ("A", "B", "C", "slab", "mediastinum"):
        yield name, (n, n, n), 3 * (voxel,), dose_runs.phantom(name, 256, voxel)
    if dose_runs.is_there(ct, "nonvoxel_paper.py"):
        yield "chest CT", *dose_runs.ct_density(ct, max(round(voxel / 1.5), 1))


def measure_gamma(program, sizes, backend, ct):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def dose(settings, **more):
            row = run(program, settings | more | {"dose": folder / "dose"})
            return row, np.fromfile(folder / "dose", np.float32).reshape(row["region"]["extent"])

        for name, extent, spacing, density in volumes(sizes["gamma_voxel"], ct):
            density.tofile(folder / "density")
            for field in sizes["gamma_fields"]:
                settings = {
                    "backend": backend, "density": folder / "density", "extent": extent,
                    "spacing": spacing, "field": field,
                    "radial_step": sizes["radial_step"], "ray_spacing": sizes["ray_spacing"]}
                many = dict(zip(("cones", "azimuths"), sizes["reference"]))
                few = {"cones": 8, "azimuths": 8}
                row, reference = dose(settings, engine="voxel_samples", **many)
                box = tuple(slice(first, first + extent) for first, extent in
                            zip(row["region"]["first"], row["region"]["extent"]))
                counted = (density[box] > 0) & (reference > 0)
                inner = counted & (reference > 0.1 * reference.max())
                for engine, set_of in (("non_voxel", few), ("voxel_samples", few),
                                       ("lattice", few), ("non_voxel", many)):
                    row, evaluated = dose(settings, engine=engine, **set_of)
                    failed = gamma.failing(reference, evaluated, row["spacing"])
                    rows.append(row | {"role": "gamma", "phantom": name,
                                       "reference": list(sizes["reference"]),
                                       "pass": 100 - 100 * float(failed[counted].mean()),
                                       "pass_above_10": 100 - 100 * float(failed[inner].mean())})
    return rows


def self_test():
    nonvoxel_tables.self_test()
    gamma.self_test()
    test_phantoms()
    print("ok")
    return 0


def test_phantoms():
    for name, places in {"A": {(0, 0, 0): 1}, "B": {(0, 0, 0): 0, (16, 13, 16): 1, (16, 27, 16): 1,
                                                    (16, 13, 0): 0},
                         "C": {(16, 13, 16): 0.317, (16, 27, 16): 1, (16, 13, 3): 1},
                         "slab": {(5, 0, 9): 0.92, (5, 8, 9): 0.25, (5, 31, 9): 0.92},
                         "mediastinum": {(16, 16, 16): 1, (8, 16, 16): 0.25}}.items():
        values = dose_runs.phantom(name, 256, 8)
        assert values.shape == (32, 32, 32)
        for place, density in places.items():
            assert abs(values[place] - density) < 5e-4, (name, place, values[place])


def main(arguments):
    parser = parser_of(__doc__)
    parser.add_argument("earlier", nargs="*", type=pathlib.Path)
    parser.add_argument("--measure", default="times,baseline,gamma")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--side", type=float, help="of the performance phantoms, mm")
    parser.add_argument("--voxels", type=dose_runs.numbers, help="their sides, mm")
    parser.add_argument("--fields", type=dose_runs.numbers, help="mm")
    parser.add_argument("--directions", help="as in 24x16,8x8",
                        type=lambda text: tuple(map(dose_runs.directions, text.split(","))))
    parser.add_argument("--baseline-directions", type=dose_runs.directions, dest="baseline")
    parser.add_argument("--reference", type=dose_runs.directions, help="as in 48x48")
    parser.add_argument("--gamma-voxel", type=float, help="mm, of the cube of 256 mm")
    parser.add_argument("--gamma-fields", type=dose_runs.numbers, help="mm")
    parser.add_argument("--ct", type=pathlib.Path, default=dose_runs.CHEST_CT)
    parser.add_argument("--radial-step", type=float, help="mm")
    parser.add_argument("--ray-spacing", type=float, help="mm")
    parser.add_argument("--repeats", type=int)
    given = parser.parse_args(arguments)
    if given.self_test:
        return self_test()
    if given.program is None and not given.earlier:
        parser.error("--program or files are needed")
    sizes = dict(SMALL if given.small else PAPER)
    sizes |= {name: value for name, value in vars(given).items() if name in sizes and value}
    what = given.measure.split(",")
    if set(what) - {"times", "baseline", "gamma"}:
        parser.error(f"--measure {given.measure}: times, baseline and gamma are known")
    rows = []
    for path in given.earlier:
        rows += read_json(path)["rows"]
    if given.program:
        new = measure_times(given.program, sizes, given.backend) if "times" in what else []
        new += measure_baseline(given.program, sizes) if "baseline" in what else []
        if "gamma" in what:
            new += measure_gamma(given.program, sizes, given.backend, given.ct)
        write_json(given.json, {"rows": new})
        rows += new
    print(nonvoxel_tables.report(rows, math.prod(sizes["reference"])), end="")
    return status_of("nonvoxel_paper.py",
                     nonvoxel_tables.shortfalls(rows, sizes["min_pass"], given.small))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
