# SPDX-License-Identifier: BSD-3-Clause
"""The tables of nonvoxel_paper.py from the rows of times, baseline and gamma that it measures, the
paper's numbers beside."""
import statistics

from dose_runs import machine
from scripts import figure, markdown

PAPER_SIDE = 256  # mm, of the paper's phantoms
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
    mine = round(row["extent"][0] * row["spacing"][0]) == PAPER_SIDE
    return table.get(key, nothing) if mine and row["field"] == 100 else nothing


def seconds(row):
    return row["convolution_seconds"] if row else None


def size_name(row):
    n = cells(row)
    return f"{n}^3, {figure(row['spacing'][0])} mm"


def pairs(rows, where):
    """((voxels along the cube, directions), generic row or None, non-voxel row)."""
    generic = by_place(rows, "voxel_samples", where)
    return [(key, generic.get(key), row) for key, row in by_place(rows, "non_voxel", where).items()]


def table_1(rows, where):
    lines = []
    for key, generic, row in pairs(rows, where):
        if generic is None:
            continue
        paper = of_paper(TABLE_1, key, row)
        both = seconds(generic), seconds(row)
        lines.append([size_name(row), key[1], *map(figure, both), ratio(*both),
                      figure(row["terma_seconds"]), *map(figure, paper), ratio(*paper)])
    return markdown(["voxels", "directions", "generic, s", "non-voxel, s", "ratio", "TERMA, s",
                     "paper: generic, s", "non-voxel, s", "ratio"], lines)


def ratio(a, b):
    return figure(a / b) if a is not None and b else "-"


def baseline_of(rows):
    """{(voxels along the cube, field): (row, seconds a direction)} of what was measured."""
    found = {}
    for row in of_role(rows, "baseline"):
        found.setdefault((cells(row), row["field"]), (row, seconds(row) / count(row)))
    return found


def baseline_table(rows):
    return markdown(
        ["voxels", "field, mm", "directions measured", "seconds", "seconds a direction"],
        [[size_name(row), figure(row["field"]), count(row), figure(seconds(row)),
          figure(seconds(row) / count(row))] for row in of_role(rows, "baseline")])


def beside_baseline(rows, where):
    """(voxels along the cube, row of the baseline, [(directions, seconds on one core, of generic,
    of non-voxel)]) of the widest field, of what has all three."""
    baseline = baseline_of(rows)
    widest = max((field for _, field in baseline), default=0)
    for n in sorted(n for n, field in baseline if field == widest):
        row, one = baseline[n, widest]
        found = [(key[1], one * key[1], seconds(generic), seconds(rays))
                 for key, generic, rays in pairs(rows, where) if key[0] == n and generic]
        if found:
            yield n, row, found


def acceleration(rows, where, most):
    """{(voxels along the cube, field): [(directions, how many times as fast as one core with the
    most directions)]} of non_voxel: figure 15."""
    baseline = baseline_of(rows)
    table = {}
    for row in of_role(rows, "times"):
        place = cells(row), row["field"]
        if row["engine"] == "non_voxel" and machine(row) == where and place in baseline:
            table.setdefault(place, []).append(
                (count(row), most * baseline[place][1] / seconds(row)))
    return {place: sorted(points) for place, points in table.items()}


def acceleration_table(rows, where, most):
    table = {place: dict(points) for place, points in acceleration(rows, where, most).items()}
    sizes = sorted({n for n, _ in table})
    sets = sorted({number for points in table.values() for number in points})
    return markdown(["field, mm", "directions", *(f"{n}^3" for n in sizes)],
                    [[figure(field), number,
                      *(figure(table.get((n, field), {}).get(number)) for n in sizes)]
                     for field in sorted({field for _, field in table}) for number in sets])


def table_2(rows, where):
    lines = []
    for n, row, found in beside_baseline(rows, where):
        mine = zip(*((cpu / g, g / r, cpu / r) for _, cpu, g, r in found))
        lines.append([f"{n}^3", *map(mean_and_spread, mine),
                      *map(figure, of_paper(TABLE_2, n, row))])
    return markdown(["voxels", "processor / generic", "generic / non-voxel",
                     "processor / non-voxel", "paper: CPU / generic", "generic / non-voxel",
                     "CPU / non-voxel"], lines)


def mean_and_spread(x):
    spread = f" ± {figure(statistics.stdev(x), 2)}" if len(x) > 1 else ""
    return figure(statistics.mean(x)) + spread


def table_3(rows, where, most):
    lines = []
    for n, row, found in beside_baseline(rows, where):
        few, cpu, *others = min(found)
        lines.append([f"{n}^3", f"{most} / {few}", *(figure(cpu / few * most / t) for t in others),
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
        if not row["steps"]:
            continue
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


def shortfalls(rows, min_pass, small):
    """What the paper finds and these rows do not show, a sentence each."""
    found = []
    for row in of_role(rows, "gamma"):
        if row["engine"] == "non_voxel" and row["pass"] < min_pass:
            found.append(f"phantom {row['phantom']}, field of {row['field']:g} mm: "
                         f"{row['pass']:.2f} % of the voxels pass with {count(row)} directions")
    for where in machines(of_role(rows, "times")):
        factors = acceleration(rows, where, 1)
        sizes, fields = ({place[k] for place in factors} for k in range(2))
        fine = factors.get((max(sizes, default=0), min(fields, default=0)), ())
        coarse = factors.get((min(sizes, default=0), max(fields, default=0)), ())
        if fine and coarse and max(x for _, x in fine) < max(x for _, x in coarse):
            found.append(f"{where}: the smallest field at the finest resolution is accelerated "
                         "less than the largest at the coarsest")
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
            text += f"One core, {machine(of_role(rows, 'baseline')[0])}\n\n{baseline_table(rows)}\n"
            text += f"Table II, acceleration\n\n{table_2(rows, where)}\n"
            text += ("Table III, acceleration with fewer directions\n\n"
                     f"{table_3(rows, where, most)}\n")
            text += (f"Figure 15, acceleration over {most} directions on one core\n\n"
                     f"{acceleration_table(rows, where, most)}\n")
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
    assert "| 64^3, 4 mm | 100 | 16 | 16 | 1 |" in baseline_table(rows)
    assert "| 100 | 64 | 7200 | 57600 | 460800 |" in acceleration_table(rows, where, 2304)
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
    narrow = [row("times", "non_voxel", 256, 8, 8, 0.32, field=10),
              row("baseline", "voxel_samples", 256, 4, 4, 1e-3, field=10)]
    assert shortfalls(rows + narrow, 99, True)
    assert report([*rows, passing], 2304).count("\n## ") == 2
