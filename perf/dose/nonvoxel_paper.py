# SPDX-License-Identifier: BSD-3-Clause
"""Tables I to V and figures 8, 9 and 11 to 15 of J. Neylon et al., Med. Phys. 41, 101711 (2014),
from this library.

    nonvoxel_paper.py --program build/cuda/apps/iso/iso --backend cuda --json rows.json
    nonvoxel_paper.py --program build/openmp/apps/iso/iso [--backend serial] --size small
                      [--measure times,baseline,gamma,steps,curves,study]
    nonvoxel_paper.py [--draw docs/figures] rows.json ...
    nonvoxel_paper.py --self-test

Measures, prints Markdown tables with the paper's numbers beside, and writes what was measured.
Files that earlier runs have written are read first: table V compares their machines, and pictures
can be drawn (--draw, which needs matplotlib) on another machine than the one that has the GPU.

- times: engines voxel_samples (the paper's generic GPU) and non_voxel, on the performance phantoms,
  for tables I, IV and V; non_voxel for three fields and more numbers of directions: figure 14.
- baseline: voxel_samples on one core, for tables II and III and figure 15. A part of it is
  measured, few directions (--baseline-directions), and scaled: its time is a multiple of their
  number. The smallest cube is measured with 8 x 8 too, which shows how far that holds. Beside a GPU
  two cubes are measured at a time, while the GPU works.
- gamma: voxels within 2 % of the maximum and 2 mm of voxel_samples with many directions: figure 9.
  The phantoms of phantoms.json, and the chest CT of scripts/get_example_data.sh for the paper's
  patients.
- steps: the same by radial step and ray spacing: figure 11.
- curves: along the beam's axis and across it, for figures 8, 12 and 13.
- study: non_voxel against exact lines (voxel_lines with many directions and the same kernel) and
  its time, by directions, steps, ray spacings and kernels, beside the other engines.

Doses and gamma are those of the tool `iso` (--program). Needs NumPy.

--size paper is for a GPU; --size small are sizes for a processor and a check. The other options
change single sizes. Status 1 where the paper's findings do not show:

- 8 x 8 directions pass in at least 99 % of the voxels (small: 97 %);
- steps and spacings of more than 2 mm (small: 8 mm) fail in more voxels;
- convolution along the lines takes the longest of the four steps (not checked if small);
- times of non_voxel at three resolutions lie within a factor of 1.5 (not checked if small);
- the smallest field at the finest resolution is accelerated more than the largest at the coarsest.

Times of one core (serial) are processor time. As in the paper, kernels are tabulated, but for half
of the study. Their axes are not tilted along the diverging rays, of which the paper says nothing.
"""
import concurrent.futures
import contextlib
import itertools
import math
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import (  # noqa: E402
    need, paper_parser, read_json, status_of, write_json)
from python_modules import np  # noqa: E402
import dose_runs  # noqa: E402
import nonvoxel_figures  # noqa: E402
import nonvoxel_tables  # noqa: E402
from dose_runs import put_volume, run_dose, tool  # noqa: E402
from volumes import read_mha, write_mha  # noqa: E402

MEASURES = ("times", "baseline", "gamma", "steps", "curves", "study")
CUBE = 256  # mm, of the phantoms
FEW = (8, 8)
# Lengths in mm. `directions`: with all engines; `more_directions`: figure 14.
PAPER = {"side": nonvoxel_tables.PAPER_SIDE, "voxels": (4, 2, 1), "directions": (FEW, (24, 16)),
         "more_directions": ((4, 4), (16, 16), (48, 48)), "fields": (10, 50, 100),
         "radial_step": 1, "ray_spacing": 2, "repeats": 2, "baseline": (4, 4),
         "reference": (48, 48), "gamma_voxel": 2, "gamma_fields": (10, 50, 100), "min_pass": 99,
         "surface_field": 50, "surface": (4, 8, 12, 16, 24, 48),
         "steps": (0.5, 1, 2, 3, 4, 5, 7, 10), "curve_voxels": (1, 2, 4), "narrow": 10,
         "curve_steps": (0.5, 1, 2, 3, 4, 5), "curve_field": 50, "study_steps": (1, 2, 4),
         "study_spacings": (1, 2, 4)}
SMALL = PAPER | {"side": 128, "voxels": (16, 8, 4), "directions": ((4, 4), FEW),
                 "more_directions": ((4, 8),), "fields": (10, 30, 50), "radial_step": 4,
                 "ray_spacing": 4, "repeats": 1, "reference": (8, 12), "gamma_voxel": 8,
                 "gamma_fields": (50,), "min_pass": 97, "surface": (4, 8),
                 "steps": (4, 8, 16, 32), "curve_voxels": (4, 8, 16), "narrow": 20,
                 "curve_steps": (4, 8, 16), "study_steps": (4, 8), "study_spacings": (4, 8)}
SURFACES = ("A", "B", "C", "chest CT")  # Those of the paper's figure 9.
GAMMA = {"criterion": "2%/2mm", "cut_off": "0%", "max_gamma": 2}


class Doses:
    """Doses of a volume, and gamma between them."""

    def __init__(self, iso, backend):
        self._iso, self._backend, self._volume, self.density = iso, backend, {}, None

    def use(self, volume):
        spacing, self.density = volume
        self._volume = put_volume(self._iso.folder, self.density, spacing)

    def dose(self, settings, name="evaluated"):
        """The row, and the dose of its region."""
        row, dose = run_dose(self._iso, {"backend": self._backend} | self._volume | settings)
        write_mha(self._iso.folder / f"{name}.mha", dose, row["spacing"], "Gy")
        return row, dose

    def reference(self, settings):
        return self.dose(settings, "reference")

    def compared(self, reference, settings):
        """The row of a dose with the shares of voxels that pass, and its difference from the
        reference, whose region is the same."""
        row, evaluated = self.dose(settings)
        folder = self._iso.folder
        self._iso.run("gamma", folder / "reference.mha", folder / "evaluated.mha",
                      backend=self._backend, output=folder / "gamma.mha", **GAMMA)
        passed = read_mha(folder / "gamma.mha")[0] <= 1
        region = row["region"]
        box = tuple(slice(first, first + n) for first, n in zip(region["first"], region["extent"]))
        counted = (self.density[box] > 0) & (reference > 0)
        inner = counted & (reference > 0.1 * reference.max())
        apart = (evaluated - reference)[counted].astype(float) / reference.max()
        return row | {"pass": 100 * float(passed[counted].mean()),
                      "pass_above_10": 100 * float(passed[inner].mean()),
                      "rms": 100 * math.sqrt(np.mean(apart**2))}


def named(set_of):
    return dict(zip(("cones", "azimuths"), set_of))


def common(sizes):
    return {name: sizes[name] for name in ("radial_step", "ray_spacing")}


def run_water(iso, sizes, voxel, role, **settings):
    n = round(sizes["side"] / voxel)
    water = put_volume(iso.folder, np.ones((n, n, n), np.float32), 3 * (voxel,))
    return run_dose(iso, water | {"repeats": sizes["repeats"]} | common(sizes) | settings)[0] | {
        "role": role}


def measure_times(iso, sizes, backend):
    most = max(sizes["fields"])
    for voxel, set_of, field in itertools.product(
            sizes["voxels"], sizes["directions"] + sizes["more_directions"], sizes["fields"]):
        more = set_of in sizes["more_directions"]
        settings = {"backend": backend, "field": field} | named(set_of)
        if more and math.prod(set_of) > 100:
            settings["repeats"] = 1
        row = run_water(iso, sizes, voxel, "times", **settings, engine="non_voxel")
        yield row | {"steps": {}} if more else row
        if field == most and not more:
            row = run_water(iso, sizes, voxel, "times", **settings, engine="voxel_samples")
            yield row | {"steps": {}}


def measure_baseline(program, sizes, pool):
    """Futures of rows, the longest first."""
    sets = [(voxel, field, sizes["baseline"]) for voxel, field in itertools.product(
        sorted(sizes["voxels"]), sorted(sizes["fields"], reverse=True))]
    sets.append((max(sizes["voxels"]), max(sizes["fields"]), FEW))

    def one(voxel, field, set_of):
        with tempfile.TemporaryDirectory() as folder:
            return run_water(tool(program, folder), sizes, voxel, "baseline", repeats=1,
                             engine="voxel_samples", field=field, **named(set_of))

    return [pool.submit(one, *each) for each in sets]


def volume(name, voxel, ct):
    """(spacing, densities) of a phantom, or of the chest CT in voxels of its own that are about as
    large."""
    if name == "chest CT":
        return dose_runs.ct_density(ct, max(round(voxel / 1.5), 1))
    return 3 * (voxel,), dose_runs.phantom(name, CUBE, voxel)


def measure_gamma(doses, sizes, ct):
    names = ["A", "B", "C", "slab", "mediastinum"]
    if dose_runs.is_there(ct, "nonvoxel_paper.py"):
        names.append("chest CT")
    many = sizes["reference"]
    for name, field in itertools.product(names, sizes["gamma_fields"]):
        doses.use(volume(name, sizes["gamma_voxel"], ct))
        settings = {"field": field} | common(sizes)
        _, reference = doses.reference(settings | named(many) | {"engine": "voxel_samples"})
        sets = [("gamma", engine, FEW) for engine in ("non_voxel", "voxel_samples", "lattice")]
        if field == sizes["surface_field"]:
            sets.append(("gamma", "non_voxel", many))
            if name in SURFACES:
                sets += [("surface", "non_voxel", set_of)
                         for set_of in itertools.product(sizes["surface"], repeat=2)
                         if set_of not in (FEW, many)]
        for role, engine, set_of in sets:
            yield doses.compared(reference, settings | {"engine": engine} | named(set_of)) | {
                "role": role, "phantom": name, "reference": list(many)}


def measure_steps(doses, sizes):
    """In the phantom with a lung."""
    doses.use(volume("C", sizes["gamma_voxel"], None))
    settings = {"field": sizes["surface_field"]}
    _, reference = doses.reference(settings | common(sizes) | named(sizes["reference"])
                                   | {"engine": "voxel_samples"})
    for step, spacing in itertools.product(sizes["steps"], repeat=2):
        yield doses.compared(reference, settings | named(FEW) | {
            "engine": "non_voxel", "radial_step": step, "ray_spacing": spacing}) | {
                "role": "steps", "phantom": "C", "reference": list(sizes["reference"])}


def measure_study(doses, sizes):
    doses.use(volume("C", sizes["gamma_voxel"], None))
    for kernel in ("table", "exponential"):
        settings = {"field": sizes["surface_field"], "kernel": kernel}
        _, reference = doses.reference(settings | named(sizes["reference"])
                                       | {"engine": "voxel_lines"})
        ways = [("lattice", {}), ("voxel_lines", {})]
        ways += [("voxel_samples", {"radial_step": step}) for step in sizes["study_steps"]]
        ways += [("non_voxel", {"radial_step": step, "ray_spacing": spacing})
                 for step in sizes["study_steps"] for spacing in sizes["study_spacings"]]
        for set_of, (engine, way) in itertools.product(sizes["directions"], ways):
            yield doses.compared(reference, settings | named(set_of) | way | {
                "engine": engine, "repeats": min(sizes["repeats"], 2)}) | {
                    "role": "study", "phantom": "C", "reference": list(sizes["reference"])}


def curves_of(row, dose):
    """Doses along the beam's axis, and across it through the isocentre, which lies between the four
    middle voxels: (mm, Gy)."""
    first, spacing, extent = row["region"]["first"], row["spacing"], row["extent"]
    middle = [slice(n // 2 - 1 - k, n // 2 + 1 - k) for n, k in zip(map(round, extent), first)]

    def curve(values, axis, origin):
        at = (np.arange(values.size) + first[axis] + 0.5) * spacing[axis] - origin
        return [[float(f"{x:.6g}") for x in each] for each in (at, values)]

    return {"depth": curve(dose[middle[0], :, middle[2]].mean((0, 2)), 1, 0),
            "profile": curve(dose[:, middle[1], middle[2]].mean((1, 2)), 0, CUBE / 2)}


def measure_curves(doses, sizes):
    """In the slab phantom."""
    unit = sizes["radial_step"]

    def curve(figure, engine, field, set_of, step, spacing):
        settings = {"engine": engine, "field": field, "radial_step": step, "ray_spacing": spacing}
        row, dose = doses.dose(settings | named(set_of))
        return row | curves_of(row, dose) | {"role": f"figure {figure}", "phantom": "slab"}

    many, narrow, wide = sizes["reference"], sizes["narrow"], sizes["curve_field"]
    for voxel in sizes["curve_voxels"]:
        doses.use(volume("slab", voxel, None))
        yield curve(8, "voxel_samples", narrow, many, unit, unit)
        if voxel != max(sizes["curve_voxels"]):
            yield curve(8, "non_voxel", narrow, many, unit, unit)
    doses.use(volume("slab", sizes["gamma_voxel"], None))
    for step in sizes["curve_steps"]:
        yield curve("12a", "non_voxel", narrow, FEW, step, unit)
        yield curve("12b", "non_voxel", narrow, FEW, unit, step)
    yield curve(13, "voxel_samples", wide, many, unit, unit)
    for set_of, step, spacing in ((many, 1, 1), (FEW, 1, 1), (FEW, 2, 1), (FEW, 1, 2)):
        yield curve(13, "non_voxel", wide, set_of, step * unit, spacing * unit)


def measure(given, sizes, what):
    """The rows; written as they come, so that a run that is cut short leaves its beginning."""
    rows = []
    with contextlib.ExitStack() as stack:
        iso = tool(given.program, stack.enter_context(tempfile.TemporaryDirectory()))
        # Two cores beside a GPU; else one at a time, after the rest.
        beside = given.backend == "cuda"
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(2 if beside else 1))
        doses = Doses(iso, given.backend)
        futures = measure_baseline(given.program, sizes, pool) if "baseline" in what and beside \
            else []
        parts = {"times": lambda: measure_times(iso, sizes, given.backend),
                 "gamma": lambda: measure_gamma(doses, sizes, given.ct),
                 "steps": lambda: measure_steps(doses, sizes),
                 "curves": lambda: measure_curves(doses, sizes),
                 "study": lambda: measure_study(doses, sizes)}
        for name, part in parts.items():
            if name in what:
                begin = time.monotonic()
                rows += part()
                write_json(given.json, {"rows": rows})
                print(f"{name}: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
        if "baseline" in what:
            begin = time.monotonic()
            futures = futures or measure_baseline(given.program, sizes, pool)
            rows += [future.result() for future in futures]
            write_json(given.json, {"rows": rows})
            print(f"baseline: {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    return rows


def self_test():
    nonvoxel_tables.self_test()
    nonvoxel_figures.self_test()
    test_phantoms()
    test_curves()


def test_phantoms():
    for name, places in {"A": {(0, 0, 0): 1}, "B": {(0, 0, 0): 0, (16, 13, 16): 1, (16, 27, 16): 1,
                                                    (16, 13, 0): 0},
                         "C": {(16, 13, 16): 0.317, (16, 27, 16): 1, (16, 13, 3): 1},
                         "slab": {(5, 0, 9): 0.92, (5, 8, 9): 0.25, (5, 31, 9): 0.92},
                         "mediastinum": {(16, 16, 16): 1, (8, 16, 16): 0.25}}.items():
        values = volume(name, 8, None)[1]
        assert values.shape == (32, 32, 32)
        for place, density in places.items():
            assert abs(values[place] - density) < 5e-4, (name, place, values[place])


def test_curves():
    # The dose is the place: x, 100 y, 10000 z in voxels of the whole, a region cut out of it.
    x, y, z = np.meshgrid(np.arange(5, 11), np.arange(16), np.arange(6, 10), indexing="ij")
    row = {"region": {"first": [5, 0, 6]}, "spacing": [16, 16, 16], "extent": [16, 16, 16]}
    found = curves_of(row, x + 100 * y + 10000 * z)
    assert found["depth"][0][:2] == [8, 24] and found["depth"][1][1] == 75107.5, found
    assert found["profile"][0][0] == 5.5 * 16 - 128 and found["profile"][1][0] == 75755, found


def main(arguments):
    parser = paper_parser(__doc__, self_test)
    parser.add_argument("earlier", nargs="*", type=pathlib.Path)
    parser.add_argument("--measure", default=",".join(MEASURES))
    parser.add_argument("--size", choices=("paper", "small"), default="paper")
    parser.add_argument("--draw", type=pathlib.Path, metavar="FOLDER", help="for the pictures")
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
    if given.program is None and not given.earlier:
        parser.error("nothing to measure or to read (no --program and no files are given); "
                     "give one of them")
    if given.draw:
        need("matplotlib")
    small = given.size == "small"
    sizes = dict(SMALL if small else PAPER)
    sizes |= {name: value for name, value in vars(given).items() if name in sizes and value}
    what = given.measure.split(",")
    if set(what) - set(MEASURES):
        parser.error(f"--measure {given.measure} (known: {', '.join(MEASURES)}); name one of these")
    rows = []
    for path in given.earlier:
        rows += read_json(path)["rows"]
    if given.program:
        rows += measure(given, sizes, what)
    most = math.prod(sizes["reference"])
    print(nonvoxel_tables.report(rows, most), end="")
    print(nonvoxel_figures.report(rows), end="")
    if given.draw:
        nonvoxel_figures.draw(rows, most, given.draw)
    return status_of("nonvoxel_paper.py",
                     nonvoxel_tables.shortfalls(rows, sizes["min_pass"], small)
                     + nonvoxel_figures.shortfalls(rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
