# SPDX-License-Identifier: BSD-3-Clause
"""Figures 8, 9 and 11 to 15 and the parameter study of nonvoxel_paper.py from the rows that it
measures: their numbers as tables, and pictures."""
import math

import numpy as np

from nonvoxel_tables import acceleration, by_resolution, count, machines, of_role
from scripts import figure, markdown, pyplot, save


def failing(row):
    """Per cent of the voxels."""
    return 100 - row["pass"]


def on_grid(rows, down, across):
    """(values down, values across, per cent that fail [down, across], NaN where not measured), by
    two settings of the rows."""
    each = [sorted({row[name] for row in rows}) for name in (down, across)]
    values = np.full((len(each[0]), len(each[1])), math.nan)
    for row in rows:
        values[each[0].index(row[down]), each[1].index(row[across])] = failing(row)
    return (*each, values)


def grid_table(rows, down, across, corner):
    each, columns, values = on_grid(rows, down, across)
    return markdown([corner, *map(figure, columns)],
                    [[figure(name), *("-" if math.isnan(x) else f"{x:.3f}" for x in line)]
                     for name, line in zip(each, values)])


def surfaces(rows):
    """{phantom: rows} of figure 9: non_voxel of one field by directions."""
    fields = {row["field"] for row in of_role(rows, "surface")}
    table = {row["phantom"]: [] for row in of_role(rows, "surface")}
    for row in of_role(rows, "gamma") + of_role(rows, "surface"):
        if row["engine"] == "non_voxel" and row["field"] in fields and row["phantom"] in table:
            table[row["phantom"]].append(row)
    return table


def voxel(row):
    return f"{figure(row['spacing'][1])} mm"


def percent_apart(row, other, name="depth"):
    """(mm, per cent of the other's maximum) where the first has its voxels' middles."""
    at, dose = row[name]
    there = np.interp(at, *other[name])
    return np.array(at), 100 * (np.array(dose) - there) / max(other[name][1])


def figure_8(rows):
    """[(label, depth, dose)], [(label, depth, per cent of the maximum)]."""
    rows = of_role(rows, "figure 8")
    lines = {engine: sorted((row for row in rows if row["engine"] == engine),
                            key=lambda row: row["spacing"][1])
             for engine in ("voxel_samples", "non_voxel")}
    generic = lines["voxel_samples"]
    curves = [(f"voxel_samples, {voxel(row)}", *row["depth"]) for row in generic]
    apart = []
    if len(generic) > 1:
        apart = [(f"voxel_samples, {voxel(generic[1])} against {voxel(generic[0])}",
                  *percent_apart(generic[1], generic[0]))]
    apart += [(f"non_voxel against voxel_samples, {voxel(row)}", *percent_apart(row, other))
              for row, other in zip(lines["non_voxel"], generic)]
    return curves, apart


def figure_12(rows, part):
    """[(label, depth, per cent of the maximum)] against the finest."""
    name = {"12a": "radial_step", "12b": "ray_spacing"}[part]
    mine = sorted(of_role(rows, f"figure {part}"), key=lambda row: row[name])
    return [(f"{figure(row[name])} mm", *percent_apart(row, mine[0])) for row in mine[1:]]


def figure_13(rows, name):
    """[(label, mm, per cent of the maximum of the axis)] against voxel_samples."""
    mine = of_role(rows, "figure 13")
    truth = next((row for row in mine if row["engine"] == "voxel_samples"), None)
    lines = []
    for row in mine:
        if row is not truth:
            at, apart = percent_apart(row, truth, name)
            share = max(truth[name][1]) / max(truth["depth"][1])
            lines.append((f"{row['cones']:.0f} x {row['azimuths']:.0f}, step "
                          f"{figure(row['radial_step'])} mm, rays {figure(row['ray_spacing'])} mm",
                          at, apart * share))
    return lines


def line_table(lines):
    return markdown(["", "mean, %", "largest, %"],
                    [[label, f"{abs(apart).mean():.2f}", f"{abs(apart).max():.2f}"]
                     for label, _, apart in lines])


def study_table(rows):
    """A line a way to compute, its numbers of directions side by side."""
    rows = of_role(rows, "study")
    sets = sorted({count(row) for row in rows})
    lines = {}
    for row in rows:
        sampled = row["engine"] in ("voxel_samples", "non_voxel")
        way = (row["kernel"], row["engine"], figure(row["radial_step"]) if sampled else "",
               figure(row["ray_spacing"]) if row["engine"] == "non_voxel" else "")
        lines.setdefault(way, {})[count(row)] = [
            figure(1e3 * row["convolution_seconds"]), f"{row['pass']:.3f}",
            f"{row['pass_above_10']:.3f}", f"{row['rms']:.2f}"]
    head = ["kernel", "engine", "step, mm", "rays, mm"]
    for number in sets:
        head += [f"{number} directions: ms", "pass, %", "above 10 %", "rms, %"]
    return markdown(head, [[*way, *(x for number in sets for x in found.get(number, 4 * ["-"]))]
                           for way, found in lines.items()])


def report(rows):
    text = ""
    for name, mine in surfaces(rows).items():
        text += (f"Figure 9, {name}, field of {figure(mine[0]['field'])} mm: per cent that fail\n\n"
                 f"{grid_table(mine, 'cones', 'azimuths', 'zenith angles / azimuths')}\n")
    steps = of_role(rows, "steps")
    if steps:
        text += (f"Figure 11, {steps[0]['phantom']}: per cent that fail\n\n"
                 f"{grid_table(steps, 'radial_step', 'ray_spacing', 'step / ray spacing, mm')}\n")
    for title, lines in (("8, differences of depth doses", figure_8(rows)[1]),
                         ("12 (a), radial step", figure_12(rows, "12a")),
                         ("12 (b), ray spacing", figure_12(rows, "12b")),
                         ("13, depth dose", figure_13(rows, "depth")),
                         ("13, profile", figure_13(rows, "profile"))):
        if lines:
            text += f"Figure {title}, per cent of the maximum\n\n{line_table(lines)}\n"
    if of_role(rows, "study"):
        text += f"Study, against exact lines\n\n{study_table(rows)}\n"
    return text and f"## Figures\n\n{text}"


def shortfalls(rows):
    """Figure 11's finding, where it does not show."""
    steps = of_role(rows, "steps")
    if not steps:
        return []
    each, _, values = on_grid(steps, "radial_step", "ray_spacing")
    fine = sum(x <= 2 * max(1, each[0]) for x in each) - 1
    return [f"{what} of {figure(each[-1])} mm fails in fewer voxels than {figure(each[fine])} mm"
            for what, coarse in (("a radial step", values[-1, fine]),
                                 ("a ray spacing", values[fine, -1]))
            if coarse <= values[fine, fine]]


def draw(rows, most, folder):
    """Writes the pictures that rows are there for. Figure 15 counts `most` directions on a core."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in (("resolutions", draw_resolutions), ("directions", draw_directions),
                          ("steps", draw_steps), ("profiles", draw_profiles),
                          ("times", lambda rows: draw_times(rows, most)),
                          ("study", draw_study)):
        made = picture(rows)
        if made:
            save(made, folder / f"nonvoxel_{name}.png")


def panels(across, width=4.2, height=3.4, down=1):
    made, places = pyplot().subplots(down, across, squeeze=False, layout="constrained",
                                     figsize=(width * across, height * down))
    return made, places.ravel()


def draw_lines(place, lines, title, x, y, legend=True):
    for label, at, values in lines:
        place.plot(at, values, label=label, linewidth=1.2)
    place.axhline(0, color="0.7", linewidth=0.6, zorder=0)
    place.set_title(title, fontsize=9)
    place.set(xlabel=x, ylabel=y)
    if legend:
        place.legend(fontsize=7)


DEPTH = "depth, mm"
APART = "difference, % of the maximum"


def draw_resolutions(rows):
    curves, apart = figure_8(rows)
    if not apart:
        return None
    made, places = panels(2, 5)
    most = max(max(dose) for _, _, dose in curves)
    draw_lines(places[0], [(label, at, 100 * np.array(dose) / most) for label, at, dose in curves],
               "(a) depth doses", DEPTH, "dose, % of the maximum")
    draw_lines(places[1], apart, "(b) their differences", DEPTH, APART)
    return made


def draw_grid(place, rows, down, across, title, names):
    """A map with its numbers; colours by the logarithm."""
    from matplotlib.colors import LogNorm

    each, columns, values = on_grid(rows, down, across)
    shown = place.imshow(np.maximum(values, 1e-3), cmap="viridis_r", aspect="auto", origin="lower",
                         norm=LogNorm(1e-3, 100))
    for (i, j), x in np.ndenumerate(values):
        if not math.isnan(x):
            place.text(j, i, figure(x, 2) if x > 0 else "0", ha="center", va="center",
                       fontsize=6, color="white" if x > 1 else "black")
    place.set_xticks(range(len(columns)), map(figure, columns), fontsize=7)
    place.set_yticks(range(len(each)), map(figure, each), fontsize=7)
    place.set_title(title, fontsize=9)
    place.set(xlabel=names[1], ylabel=names[0])
    return shown


def draw_directions(rows):
    table = surfaces(rows)
    if not table:
        return None
    made, places = panels(2, 3.9, 3, -(-len(table) // 2))
    for place in places[len(table):]:
        place.set_axis_off()
    for place, (name, mine) in zip(places, table.items()):
        shown = draw_grid(place, mine, "cones", "azimuths",
                          name if name == "chest CT" else f"phantom {name}",
                          ("zenith angles", "azimuths"))
    made.colorbar(shown, ax=list(places), label="voxels that fail, %")
    return made


def draw_steps(rows):
    steps = of_role(rows, "steps")
    if not steps:
        return None
    made, places = panels(3)
    shown = draw_grid(places[0], steps, "radial_step", "ray_spacing", "figure 11",
                      ("radial step, mm", "ray spacing, mm"))
    made.colorbar(shown, ax=places[0], label="voxels that fail, %")
    draw_lines(places[1], figure_12(rows, "12a"), "figure 12 (a): radial step", DEPTH, APART)
    draw_lines(places[2], figure_12(rows, "12b"), "figure 12 (b): ray spacing", DEPTH, APART)
    return made


def draw_profiles(rows):
    lines = {name: figure_13(rows, name) for name in ("depth", "profile")}
    if not lines["depth"]:
        return None
    made, places = panels(2, 5, 3, 2)
    # The paper's (a) and (b) have steps, (c) and (d) spacings.
    for place, (title, name, left_out) in zip(places, (
            ("(a) depth dose, radial steps", "depth", -1),
            ("(b) profile, radial steps", "profile", -1),
            ("(c) depth dose, ray spacings", "depth", -2),
            ("(d) profile, ray spacings", "profile", -2))):
        mine = [line for line in lines[name] if line is not lines[name][left_out]]
        draw_lines(place, mine, title, DEPTH if name == "depth" else "off the axis, mm", APART,
                   legend=name == "depth")
    return made


def draw_times(rows, most):
    """Figures 14 and 15, of the first machine."""
    where = next(iter(machines(of_role(rows, "times"))), None)
    if where is None:
        return None
    times = {}
    for (field, number), by_size in by_resolution(rows, where).items():
        for n, seconds in by_size.items():
            times.setdefault((n, field), []).append((number, seconds))
    factors = acceleration(rows, where, most)
    made, places = panels(2, 5, 3.8)
    sizes, fields = (sorted({place[k] for place in times}) for k in range(2))
    for place, table, title, y in (
            (places[0], times, "figure 14", "seconds"),
            (places[1], factors, "figure 15", f"times as fast as {most} directions on one core")):
        for (n, field), points in sorted(table.items()):
            place.loglog(*zip(*sorted(points)), marker=".", color=f"C{fields.index(field)}",
                         linestyle=("-", "--", ":", "-.")[sizes.index(n) % 4], linewidth=1.2,
                         label=f"{n}$^3$, {figure(field)} mm")
        place.set_title(title, fontsize=9)
        place.set(xlabel="directions", ylabel=y)
        numbers = sorted({number for points in table.values() for number, _ in points})
        place.set_xticks(numbers, map(str, numbers), fontsize=7)
        place.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    places[0].legend(fontsize=6)
    return made


def draw_study(rows):
    """The difference from exact lines against the time: gamma passes in nearly every voxel."""
    rows = of_role(rows, "study")
    if not rows:
        return None
    low, high = (least(row["rms"] for row in rows) for least in (min, max))
    made, places = panels(2, 5, 3.8)
    for place, kernel in zip(places, ("table", "exponential")):
        ways = {}
        for row in rows:
            if row["kernel"] == kernel:
                ways.setdefault((row["engine"], count(row)), []).append(row)
        sets = sorted({number for _, number in ways})
        engines = list(dict.fromkeys(engine for engine, _ in ways))
        for (engine, number), mine in ways.items():
            place.loglog([1e3 * row["convolution_seconds"] for row in mine],
                         [row["rms"] for row in mine], linestyle="",
                         marker="o^sv"[sets.index(number)], color=f"C{engines.index(engine)}",
                         markersize=4, label=f"{engine}, {number}")
            if engine == "non_voxel":
                for row in mine:
                    place.annotate(f"{figure(row['radial_step'])}/{figure(row['ray_spacing'])}",
                                   (1e3 * row["convolution_seconds"], row["rms"]),
                                   fontsize=5, xytext=(3, 2), textcoords="offset points")
        place.set_title(f"kernel: {kernel}", fontsize=9)
        place.set(xlabel="ms", ylabel="rms difference, % of the maximum")
        ticks = [x for x in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10) if low / 1.5 < x < 1.5 * high]
        place.set_yticks(ticks, map(figure, ticks), fontsize=7)
        place.tick_params(axis="y", which="minor", labelleft=False)
        place.legend(fontsize=6, loc="lower right")
    return made


def self_test():
    def row(role, **settings):
        return {"role": role, "engine": "non_voxel", "phantom": "C", "spacing": [2, 2, 2],
                "field": 50, "cones": 8, "azimuths": 8, "radial_step": 1, "ray_spacing": 2,
                "kernel": "table", "convolution_seconds": 0.5, "pass": 99.5, "pass_above_10": 99,
                "rms": 1.25} | settings

    rows = [row("surface", cones=4), row("surface", azimuths=4), row("gamma", **{"pass": 100}),
            row("gamma", field=10), row("gamma", engine="lattice"), row("gamma", phantom="slab")]
    assert "| 4 | - | 0.500 |" in report(rows) and "| 8 | 0.500 | 0.000 |" in report(rows)
    steps = [row("steps", radial_step=p, ray_spacing=d, **{"pass": 100 - p * d})
             for p in (1, 2, 10) for d in (1, 2, 10)]
    assert "| 10 | 10.000 | 20.000 | 100.000 |" in report(steps), report(steps)
    assert shortfalls(steps) == []
    for worst in ({"radial_step": 10, "ray_spacing": 2}, {"radial_step": 2, "ray_spacing": 10}):
        good = [r | {"pass": 99.9} if all(r[name] == x for name, x in worst.items()) else r
                for r in steps]
        assert len(shortfalls(good)) == 1, shortfalls(good)
    # A coarse curve lies between the voxels of a fine one.
    fine = row("figure 8", engine="voxel_samples", spacing=[1, 1, 1],
               depth=[[0.5, 1.5, 2.5, 3.5], [1.0, 2.0, 3.0, 4.0]])
    coarse = row("figure 8", engine="voxel_samples", depth=[[1, 3], [1.5, 3.9]])
    curves, apart = figure_8([coarse, fine])
    assert len(curves) == 2 and np.allclose(apart[0][2], [0, 10]), apart
    truth = row("figure 13", engine="voxel_samples", depth=[[0, 1], [4.0, 2.0]],
                profile=[[0, 1], [2.0, 2.0]])
    lines = figure_13([truth, row("figure 13", depth=[[0, 1], [4.0, 2.2]],
                                  profile=[[0, 1], [2.0, 2.2]])], "profile")
    assert lines[0][0] == "8 x 8, step 1 mm, rays 2 mm" and np.allclose(lines[0][2], [0, 5]), lines
    assert figure_12([row("figure 12a", radial_step=p, depth=[[0], [p]]) for p in (2, 1)],
                     "12a")[0][2] == [100]
    assert ("| table | non_voxel | 1 | 2 | 500 | 99.500 | 99.000 | 1.25 | - |" in study_table(
        [row("study"), row("study", engine="lattice", azimuths=48)]))
