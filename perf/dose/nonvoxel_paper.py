# SPDX-License-Identifier: BSD-3-Clause
"""Tables I to V of J. Neylon et al., Med. Phys. 41, 101711 (2014), from this library.

    nonvoxel_paper.py --program build/openmp/perf/dose/iso_dose_paper [--backend serial] [--small]
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
  the paper's patients (needs numpy; left out without).

The paper's sizes are the defaults, for a GPU; --small are sizes for a processor and a check. The
other options change single sizes. Status 1 where the paper's findings do not show:

- 8 x 8 directions pass in at least 99 % of the voxels (--small: 97 %);
- convolution along the lines takes the longest of the four steps (not checked with --small);
- times of non_voxel at three resolutions lie within a factor of 1.5 (not checked with --small).

Times of one core (serial) are processor time. As in the paper, kernels are tabulated. Their axes
are not tilted along the diverging rays, of which the paper says nothing.
"""
import argparse
import itertools
import json
import math
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import dose_runs  # noqa: E402
from dose_runs import figure, machine, markdown  # noqa: E402

PAPER = {"side": 256, "voxels": (4, 2, 1), "directions": ((24, 16), (8, 8)),
         "fields": (10, 50, 100), "radial_step": 1, "ray_spacing": 2, "repeats": 3,
         "gamma_voxel": 2, "gamma_fields": (10, 50, 100), "reference": (48, 48), "least_pass": 99,
         "baseline": (4, 4)}
SMALL = PAPER | {"side": 128, "voxels": (16, 8, 4), "directions": ((8, 8), (4, 4)),
                 "fields": (10, 30, 50), "radial_step": 4, "ray_spacing": 4, "repeats": 1,
                 "gamma_voxel": 8, "gamma_fields": (50,), "reference": (12, 12), "least_pass": 97}

STEPS = {"ray trace": "ray tracing", "transpose": "transposition", "lines": "line convolution",
         "sum": "summation"}
# By voxels of the cube and directions. Seconds; ratios; per cent.
TABLE_1 = {(256, 384): (45.03, 2.04), (256, 64): (7.42, 0.343), (128, 384): (8.01, 1.61),
           (128, 64): (1.30, 0.274), (64, 384): (2.50, 1.70), (64, 64): (0.42, 0.282)}
TABLE_2 = {64: (59.26, 1.46, 86.63), 128: (113.2, 4.8, 546.4), 256: (193.7, 21.6, 4175.5)}
TABLE_3 = {64: (2100, 3100), 128: (4100, 19500), 256: (8200, 176000)}
TABLE_4 = {(64, 384): (4.51, 4.60, 90.06, 0.83), (64, 64): (4.40, 4.50, 90.27, 0.83),
           (128, 384): (10.95, 3.96, 82.17, 2.92), (128, 64): (10.68, 3.92, 82.54, 2.85),
           (256, 384): (19.45, 2.96, 61.10, 16.49), (256, 64): (19.67, 2.96, 61.02, 16.35)}
TABLE_5 = {(256, 384): (2.04, 1.06), (256, 64): (0.343, 0.177), (128, 384): (1.61, 0.89),
           (128, 64): (0.274, 0.149), (64, 384): (1.70, 0.98), (64, 64): (0.282, 0.161)}


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
    return dose_runs.run(program, extent=3 * (n,), spacing=3 * (voxel,), repeats=sizes["repeats"],
                         radial_step=sizes["radial_step"], ray_spacing=sizes["ray_spacing"],
                         **settings)


def failing(reference, evaluated, spacing, tolerance=0.02, distance=2.0, parts=4):
    """Where no point of `evaluated`, linear between its voxels, lies within the ellipsoid of the
    criteria about a voxel of `reference`. Points are taken at parts of the distance along each
    axis."""
    import numpy as np

    failed = np.abs(evaluated - reference) > tolerance * reference.max()
    at = np.stack(np.nonzero(failed))
    wanted = reference[failed].astype(float)
    step = distance / parts
    steps = range(-parts, parts + 1)
    offsets = sorted((math.hypot(*o), o) for o in itertools.product(steps, repeat=3)
                     if 0 < math.hypot(*o) <= parts)
    for length, offset in offsets:
        if wanted.size == 0:
            break
        share = length * step / distance
        allowed = tolerance * reference.max() * math.sqrt(max(1 - share * share, 0))
        place = at + np.array([o * step / d for o, d in zip(offset, spacing)])[:, None]
        remain = ~(np.abs(_between(evaluated, place) - wanted) <= allowed)
        at, wanted = at[:, remain], wanted[remain]
    out = np.zeros(reference.shape, bool)
    out[tuple(at)] = True
    return out


def _between(values, place):
    """Trilinear; NaN outside of the voxels' middles."""
    import numpy as np

    last = np.array(values.shape)[:, None] - 1
    outside = ((place < 0) | (place > last)).any(axis=0)
    low = np.clip(np.floor(place).astype(int), 0, np.maximum(last - 1, 0))
    part = place - low
    total = np.zeros(place.shape[1])
    for corner in itertools.product((0, 1), repeat=3):
        weight = np.ones(place.shape[1])
        for axis in range(3):
            weight = weight * (part[axis] if corner[axis] else 1 - part[axis])
        index = tuple(np.minimum(low[axis] + corner[axis], last[axis]) for axis in range(3))
        total = total + weight * values[index]
    total[outside] = math.nan
    return total


def volumes(voxel, ct):
    """(name, extent, spacing, densities) of the accuracy phantoms, and of the chest CT in voxels of
    its own that are about as large."""
    n = round(256 / voxel)
    for name in ("A", "B", "C", "slab", "mediastinum"):
        yield name, (n, n, n), 3 * (voxel,), dose_runs.phantom(name, 256, voxel)
    if ct.is_file():
        yield "chest CT", *dose_runs.ct_density(ct, max(round(voxel / 1.5), 1))
    else:
        print(f"nonvoxel_paper.py: {ct} is not there: the chest CT is left out "
              "(scripts/get_example_data.sh fetches it)", file=sys.stderr)


def measure_gamma(program, sizes, backend, ct):
    try:
        import numpy as np
    except ImportError:
        print("nonvoxel_paper.py: no numpy: gamma is left out", file=sys.stderr)
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def dose(settings, **more):
            row = dose_runs.run(program, dose=folder / "dose", **(settings | more))
            return row, np.fromfile(folder / "dose", np.float32).reshape(row["region"]["extent"])

        for name, extent, spacing, density in volumes(sizes["gamma_voxel"], ct):
            dose_runs.write(density, folder / "density")
            density = np.array(density).reshape(extent)
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
                    failed = failing(reference, evaluated, row["spacing"])
                    rows.append(row | {"role": "gamma", "phantom": name,
                                       "reference": list(sizes["reference"]),
                                       "pass": 100 - 100 * float(failed[counted].mean()),
                                       "pass_above_10": 100 - 100 * float(failed[inner].mean())})
    return rows


def count(row):
    return round(row["cones"] * row["azimuths"])


def cells(row):
    return round(row["extent"][0])


def of_role(rows, role):
    return [row for row in rows if row["role"] == role]


def machines(rows):
    return list(dict.fromkeys(machine(row) for row in rows))


def by_place(rows, engine, where):
    """{(voxels along the cube, directions): row} of the widest field, the last measured."""
    mine = [row for row in of_role(rows, "times")
            if row["engine"] == engine and machine(row) == where]
    widest = max((row["field"] for row in mine), default=0)
    return {(cells(row), count(row)): row for row in mine if row["field"] == widest}


def of_paper(table, key, row):
    """The paper's numbers, where its phantom was measured."""
    nothing = (None,) * len(next(iter(table.values())))
    mine = round(row["extent"][0] * row["spacing"][0]) == PAPER["side"]
    return table.get(key, nothing) if mine and row["field"] == 100 else nothing


def seconds(row):
    return row["convolution_seconds"] if row else None


def size_name(row):
    n = cells(row)
    return f"{n}^3, {figure(row['spacing'][0])} mm"


def table_1(rows, where):
    generic, rays = by_place(rows, "voxel_samples", where), by_place(rows, "non_voxel", where)
    lines = []
    for key, row in rays.items():
        paper = of_paper(TABLE_1, key, row)
        both = seconds(generic.get(key)), seconds(row)
        lines.append([size_name(row), key[1], figure(both[0]), figure(both[1]), ratio(*both),
                      figure(row["terma_seconds"]), *map(figure, paper), ratio(*paper)])
    return markdown(["voxels", "directions", "generic, s", "non-voxel, s", "ratio", "TERMA, s",
                     "paper: generic, s", "non-voxel, s", "ratio"], lines)


def ratio(a, b):
    return figure(a / b) if a is not None and b else "-"


def baseline_of(rows):
    """{voxels along the cube: (row, seconds a direction)}"""
    return {cells(row): (row, seconds(row) / count(row)) for row in of_role(rows, "baseline")}


def table_2(rows, where):
    generic, rays = by_place(rows, "voxel_samples", where), by_place(rows, "non_voxel", where)
    lines = []
    for n, (row, one) in baseline_of(rows).items():
        found = [(one * key[1], seconds(generic[key]), seconds(rays[key]))
                 for key in rays if key[0] == n and key in generic]
        if found:
            mine = [[cpu / g for cpu, g, _ in found], [g / r for _, g, r in found],
                    [cpu / r for cpu, _, r in found]]
            paper = of_paper(TABLE_2, n, row)
            lines.append([f"{n}^3", *(mean_and_spread(x) for x in mine), *map(figure, paper)])
    return markdown(["voxels", "processor / generic", "generic / non-voxel",
                     "processor / non-voxel", "paper: CPU / generic", "generic / non-voxel",
                     "CPU / non-voxel"], lines)


def mean_and_spread(x):
    spread = f" ± {figure(statistics.stdev(x), 2)}" if len(x) > 1 else ""
    return figure(statistics.mean(x)) + spread


def table_3(rows, where, most):
    generic, rays = by_place(rows, "voxel_samples", where), by_place(rows, "non_voxel", where)
    lines = []
    for n, (row, one) in baseline_of(rows).items():
        keys = [key for key in rays if key[0] == n and key in generic]
        if keys:
            key = min(keys)
            whole = one * most
            lines.append([f"{n}^3", f"{most} / {key[1]}", figure(whole / seconds(generic[key])),
                          figure(whole / seconds(rays[key])),
                          *map(figure, of_paper(TABLE_3, n, row))])
    return markdown(["voxels", "directions", "processor / generic", "processor / non-voxel",
                     "paper: CPU / generic", "CPU / non-voxel"], lines)


def shares(row):
    """Per cent of the four steps' time."""
    times = [row["steps"].get(f"iso::dose::convolve: {step}", 0.0) for step in STEPS]
    return [100 * time / sum(times) for time in times]


def table_4(rows, where):
    lines = []
    for key, row in by_place(rows, "non_voxel", where).items():
        if row["steps"]:
            paper = of_paper(TABLE_4, key, row)
            lines.append([size_name(row), key[1], *(f"{x:.1f}" for x in shares(row)),
                          *("-" if x is None else f"{x:.1f}" for x in paper)])
    names = list(STEPS.values())
    return markdown(["voxels", "directions", *(f"{name}, %" for name in names),
                     f"paper: {names[0]}", *names[1:]], lines)


def table_5(rows):
    """Every machine beside the first."""
    where = machines(of_role(rows, "times"))
    each = [by_place(rows, "non_voxel", one) for one in where]
    lines = []
    for key, row in each[0].items():
        times = [seconds(one.get(key)) for one in each]
        paper = of_paper(TABLE_5, key, row)
        lines.append([f"{key[0]}^3", key[1], *map(figure, times),
                      *(ratio(times[0], time) for time in times[1:]), *map(figure, paper),
                      ratio(*paper)])
    return markdown(["voxels", "directions", *(f"{one}, s" for one in where),
                     *(f"first / {one}" for one in where[1:]), "paper: GTX 680, s",
                     "GTX 780 Ti, s", "ratio"], lines)


def by_resolution(rows, where):
    """{(field, directions): {voxels along the cube: seconds}} of non_voxel."""
    table = {}
    for row in of_role(rows, "times"):
        if row["engine"] == "non_voxel" and machine(row) == where:
            table.setdefault((row["field"], count(row)), {})[cells(row)] = seconds(row)
    return table


def resolution_table(rows, where):
    table = by_resolution(rows, where)
    sizes = sorted({n for times in table.values() for n in times})
    lines = [[figure(field), number, *(figure(times.get(n)) for n in sizes), ratio(
        max(times.values()), min(times.values()))]
        for (field, number), times in sorted(table.items())]
    return markdown(["field, mm", "directions", *(f"{n}^3, s" for n in sizes),
                     "longest / shortest"], lines)


def gamma_table(rows):
    lines = {}
    columns = {}
    for row in of_role(rows, "gamma"):
        many = [row["cones"], row["azimuths"]] == row["reference"]
        column = f"{row['engine']} {row['cones']:.0f} x {row['azimuths']:.0f}"
        columns[column] = (many, column)
        line = lines.setdefault((row["phantom"], row["field"], row["spacing"][0],
                                 "{0} x {1}".format(*row["reference"])), {})
        line[column] = f"{row['pass']:.2f} ({row['pass_above_10']:.2f})"
    return markdown(["phantom", "field, mm", "voxel, mm", "reference", *columns],
                    [[name, figure(field), figure(voxel), reference,
                      *(line.get(column, "-") for column in columns)]
                     for (name, field, voxel, reference), line in lines.items()])


def shortfalls(rows, least_pass, small):
    """What the paper finds and these rows do not show, a sentence each."""
    found = []
    for row in of_role(rows, "gamma"):
        if row["engine"] == "non_voxel" and row["pass"] < least_pass:
            found.append(f"phantom {row['phantom']}, field of {row['field']:g} mm: "
                         f"{row['pass']:.2f} % of the voxels pass with {count(row)} directions")
    if small:
        return found
    for where in machines(of_role(rows, "times")):
        for key, row in by_place(rows, "non_voxel", where).items():
            if row["steps"] and max(shares(row)) != shares(row)[2]:
                found.append(f"{where}, {key[0]}^3, {key[1]} directions: the lines do not take "
                             "the longest")
        for (field, number), times in by_resolution(rows, where).items():
            apart = max(times.values()) / min(times.values())
            if apart > 1.5:
                found.append(f"{where}, field of {field:g} mm, {number} directions: the time "
                             f"depends on the resolution, by a factor of {apart:.3g}")
    return found


def report(rows, most):
    text = ""
    for where in machines(of_role(rows, "times")):
        text += f"## {where}\n\nTable I, computation times\n\n{table_1(rows, where)}\n"
        if of_role(rows, "baseline"):
            text += f"Table II, acceleration\n\n{table_2(rows, where)}\n"
            text += ("Table III, acceleration with fewer directions\n\n"
                     f"{table_3(rows, where, most)}\n")
        text += f"Table IV, shares of the steps\n\n{table_4(rows, where)}\n"
        text += f"Figure 14, non-voxel at three resolutions\n\n{resolution_table(rows, where)}\n"
    if of_role(rows, "times"):
        text += f"## Machines\n\nTable V, non-voxel\n\n{table_5(rows)}\n"
    if of_role(rows, "gamma"):
        text += ("## Gamma\n\nPer cent of the voxels within 2 % / 2 mm (of those above 10 % of the "
                 f"maximum)\n\n{gamma_table(rows)}\n")
    return text


def self_test():
    base = {"backend": "serial", "processor": "P", "threads": 1, "terma_seconds": 0.001,
            "repeats": 1, "steps": {}}

    def row(role, engine, n, cones, azimuths, time, field=100, **more):
        return base | {"role": role, "engine": engine, "extent": [n, n, n],
                       "spacing": 3 * [256 / n], "field": field, "cones": cones,
                       "azimuths": azimuths, "convolution_seconds": time} | more

    steps = {f"iso::dose::convolve: {step}": time
             for step, time in zip(STEPS, (1.0, 0.5, 8.0, 0.5))}
    rows = []
    for n, factor in ((64, 1), (128, 8), (256, 64)):
        rows.append(row("baseline", "voxel_samples", n, 4, 4, 16.0 * factor))
        for cones, azimuths in ((24, 16), (8, 8)):
            number = cones * azimuths
            rows.append(row("times", "voxel_samples", n, cones, azimuths, 1e-2 * number * factor))
            rows.append(row("times", "non_voxel", n, cones, azimuths, 5e-3 * number, steps=steps))
    where = machine(rows[0])
    assert "| 256^3, 1 mm | 384 | 246 | 1.92 | 128 | 0.001 | 45 | 2.04 | 22.1 |" in table_1(
        rows, where), table_1(rows, where)
    assert "| 64^3 | 100 ± 0 | 2 ± 0 | 200 ± 0 | 59.3 | 1.46 | 86.6 |" in table_2(rows, where)
    assert "| 64^3 | 2304 / 64 | 3600 | 7200 | 2100 | 3100 |" in table_3(rows, where, 2304)
    assert "| 10.0 | 5.0 | 80.0 | 5.0 | 4.5 |" in table_4(rows, where), table_4(rows, where)
    assert "| 100 | 64 | 0.32 | 0.32 | 0.32 | 1 |" in resolution_table(rows, where)
    other = [r | {"processor": "Q", "convolution_seconds": r["convolution_seconds"] / 2}
             for r in of_role(rows, "times")]
    assert "| 64^3 | 64 | 0.32 | 0.16 | 2 | 0.282 | 0.161 | 1.75 |" in table_5(rows + other)
    assert shortfalls(rows, 99, False) == []
    passing = row("gamma", "non_voxel", 128, 8, 8, 1.0, phantom="A", reference=[48, 48],
                  **{"pass": 99.5, "pass_above_10": 99.0})
    assert shortfalls([passing], 99, True) == []
    assert "| A | 100 | 2 | 48 x 48 | 99.50 (99.00) |" in gamma_table([passing])
    for broken in (passing | {"pass": 98.0},
                   row("times", "non_voxel", 64, 8, 8, 2.0, steps=steps),
                   row("times", "non_voxel", 64, 8, 8, 0.32, steps={
                       "iso::dose::convolve: sum": 2.0})):
        assert shortfalls([*rows, broken], 99, False), broken
    assert report([*rows, passing], 2304).count("\n## ") == 2
    test_phantoms()
    test_gamma()
    print("ok")
    return 0


def test_phantoms():
    def at(values, n, i, j, k):
        return round(values[(i * n + j) * n + k], 3)

    for name, places in {"A": {(0, 0, 0): 1}, "B": {(0, 0, 0): 0, (16, 13, 16): 1, (16, 27, 16): 1,
                                                    (16, 13, 0): 0},
                         "C": {(16, 13, 16): 0.317, (16, 27, 16): 1, (16, 13, 3): 1},
                         "slab": {(5, 0, 9): 0.92, (5, 8, 9): 0.25, (5, 31, 9): 0.92},
                         "mediastinum": {(16, 16, 16): 1, (8, 16, 16): 0.25}}.items():
        values = dose_runs.phantom(name, 256, 8)
        assert len(values) == 32 ** 3
        for place, density in places.items():
            assert at(values, 32, *place) == density, (name, place, at(values, 32, *place))


def test_gamma():
    try:
        import numpy as np
    except ImportError:
        return
    x = np.arange(20.0)
    ramp = np.broadcast_to(x[:, None, None], (20, 20, 20)).copy()
    # A shift along a steep ramp is a distance: 1.5 mm pass, 2.5 mm do not.
    assert not failing(ramp, ramp + 1.5 / 2, (2, 2, 2), tolerance=1e-3)[2:-2].any()
    assert failing(ramp, ramp + 2.5 / 2, (2, 2, 2), tolerance=1e-3)[2:-2].all()
    flat = np.full((6, 6, 6), 1.0)
    assert not failing(flat, flat * 1.019, (2, 2, 2)).any()
    assert failing(flat, flat * 1.021, (2, 2, 2)).all()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("earlier", nargs="*", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--backend", default="serial")
    parser.add_argument("--measure", default="times,baseline,gamma")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--side", type=float, help="of the performance phantoms, mm")
    parser.add_argument("--voxels", type=dose_runs.numbers, help="their sides, mm")
    parser.add_argument("--fields", type=dose_runs.numbers, help="mm")
    parser.add_argument("--directions", help="as in 24x16,8x8")
    parser.add_argument("--baseline-directions", type=dose_runs.directions)
    parser.add_argument("--reference", type=dose_runs.directions, help="as in 48x48")
    parser.add_argument("--gamma-voxel", type=float, help="mm, of the cube of 256 mm")
    parser.add_argument("--gamma-fields", type=dose_runs.numbers, help="mm")
    parser.add_argument("--ct", type=pathlib.Path, default=dose_runs.CHEST_CT)
    parser.add_argument("--radial-step", type=float, help="mm")
    parser.add_argument("--ray-spacing", type=float, help="mm")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args(arguments)
    if given.self_test:
        return self_test()
    if given.program is None and not given.earlier:
        parser.error("--program or files are needed")
    sizes = dict(SMALL if given.small else PAPER)
    for name in ("side", "voxels", "fields", "radial_step", "ray_spacing", "repeats", "reference",
                 "gamma_voxel", "gamma_fields"):
        if getattr(given, name) is not None:
            sizes[name] = getattr(given, name)
    if given.directions:
        sizes["directions"] = tuple(map(dose_runs.directions, given.directions.split(",")))
    sizes["baseline"] = given.baseline_directions or sizes["baseline"]
    what = given.measure.split(",")
    if set(what) - {"times", "baseline", "gamma"}:
        parser.error(f"--measure {given.measure}: times, baseline and gamma are known")
    rows = []
    for path in given.earlier:
        rows += json.loads(path.read_text(encoding="utf-8"))["rows"]
    if given.program:
        new = []
        if "times" in what:
            new += measure_times(given.program, sizes, given.backend)
        if "baseline" in what:
            new += measure_baseline(given.program, sizes)
        if "gamma" in what:
            new += measure_gamma(given.program, sizes, given.backend, given.ct)
        if given.json:
            given.json.write_text(json.dumps({"rows": new}, indent=1) + "\n", encoding="utf-8")
        rows += new
    print(report(rows, math.prod(sizes["reference"])), end="")
    missing = shortfalls(rows, sizes["least_pass"], given.small)
    for sentence in missing:
        print(f"nonvoxel_paper.py: {sentence}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
