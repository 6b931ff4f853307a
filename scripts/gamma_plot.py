#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the histograms of `iso gamma --csv`: how many points have which gamma.

    iso gamma reference.mha evaluated.mha --criterion 3%/3mm --criterion 2%/2mm \\
        --csv gamma.csv --output gamma.mha
    gamma_plot.py gamma.csv gamma.png gamma.mha

A colour is a criterion. Points are per cent of those compared, on a logarithmic axis; the line at 1
is where points stop to pass. The dashed lines are the per cent of points that have more. The last
bin holds the points at the maximum gamma too.

With the volume of `--output`, three slices of gamma are drawn too: through the middle of the points
compared, of the first criterion, axes in mm. Up to 1 they are blue to white, above yellow to red;
points that are not compared are grey.

Usage: gamma_plot.py HISTOGRAMS.csv PICTURE.png [GAMMA.mha]
       gamma_plot.py --self-test
"""
import pathlib
import sys
import tempfile

import curve_table
from harness import is_png, pyplot, save

HEADER = ["criterion", "gamma_from", "gamma_to", "points"]


def read(text):
    """{criterion: (edges of bins, points)}; raises ValueError."""
    histograms = {}
    for criterion, low, high, points in curve_table.rows_of(text, HEADER, "iso gamma --csv"):
        edges, counts = histograms.setdefault(criterion, ([float(low)], []))
        if float(low) != edges[-1]:
            raise ValueError(f"the bins of {criterion} do not follow each other")
        edges.append(float(high))
        counts.append(int(points))
    return histograms


def percents(points):
    """Of each bin, and of all bins from each on."""
    whole = sum(points) or 1
    each = [100 * n / whole for n in points]
    beyond = [100 * sum(points[n:]) / whole for n in range(len(points) + 1)]
    return each, beyond


def slices_of(values, spacing, origin):
    """(name, its place, names of the axes, picture [across, up], edges) of three slices."""
    import numpy as np

    middle = [int(np.median(index)) for index in np.nonzero(np.isfinite(values))]
    if not middle or not np.isfinite(values).any():
        raise ValueError("no point was compared")
    for name, normal in (("transverse", 2), ("coronal", 1), ("sagittal", 0)):
        axes = [a for a in range(3) if a != normal]
        place = origin[normal] + middle[normal] * spacing[normal]
        edges = [origin[a] + spacing[a] * end
                 for a in axes for end in (-0.5, values.shape[a] - 0.5)]
        yield (name, f"{'xyz'[normal]} = {place:.1f} mm", ["xyz"[a] for a in axes],
               values.take(middle[normal], normal), edges)


def draw_slices(figure, places, gamma, criterion, largest):
    from matplotlib.colors import LinearSegmentedColormap

    at = min(1 / largest, 1)
    stops = [(0, "#001a80"), (0.5 * at, "#1a99cc"), (at, "#e6ffff"), (at, "#ffd900"),
             (0.5 * (1 + at), "#f26600"), (1, "#b30000")]
    colours = LinearSegmentedColormap.from_list("gamma", stops if at < 1 else stops[:3])
    colours.set_bad("0.75")
    for place, (name, where, axes, picture, edges) in zip(places, slices_of(*gamma)):
        if axes[1] == "y":  # the back is below
            edges = [*edges[:2], edges[3], edges[2]]
            picture = picture[:, ::-1]
        shown = place.imshow(picture.T, origin="lower", extent=edges, cmap=colours, vmin=0,
                             vmax=largest, interpolation="nearest")
        place.set(title=f"{name}, {where}", xlabel=f"{axes[0]}, mm", ylabel=f"{axes[1]}, mm")
    figure.colorbar(shown, ax=places, label=f"gamma, {criterion}")


def draw(histograms, path, gamma=None):
    plots = pyplot()
    if gamma:
        import volumes

        figure = plots.figure(figsize=(13, 9), layout="constrained")
        above, below = figure.subfigures(2, 1, hspace=0.06)
        criterion, (edges, _) = next(iter(histograms.items()))
        places = above.subplots(1, 3, gridspec_kw={"wspace": 0.1})
        draw_slices(above, places, volumes.read_mha(gamma), criterion, edges[-1])
        axis = below.subplots()
    else:
        figure, axis = plots.subplots(figsize=(9, 5.5), layout="constrained")
    for n, (criterion, (edges, points)) in enumerate(histograms.items()):
        each, beyond = percents(points)
        axis.stairs(each, edges, color=f"C{n}", fill=True, alpha=0.4, label=criterion)
        axis.plot(edges, beyond, color=f"C{n}", linestyle="--")
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set(xlabel="gamma", ylabel="points, %", yscale="log", xlim=(0, None), ylim=(1e-3, 110))
    axis.grid(alpha=0.3)
    axis.legend(title="criterion", frameon=False, fontsize="small")
    save(figure, path)


def slices_are_right(histograms):
    """A volume whose gamma says where it is: read back, cut, and drawn."""
    import numpy as np
    import volumes

    x, y, z = np.meshgrid(*(np.arange(n, dtype="<f4") for n in (4, 3, 5)), indexing="ij")
    values = x / 10 + y / 2 + z / 100
    values[0] = np.nan
    head = ("NDims = 3\nCompressedData = False\nOffset = 10 20 30\nElementSpacing = 1 2 4\n"
            "DimSize = 4 3 5\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n")
    with tempfile.TemporaryDirectory() as folder:
        file, picture = pathlib.Path(folder) / "g.mha", pathlib.Path(folder) / "g.png"
        file.write_bytes(head.encode() + values.tobytes(order="F"))
        found = list(slices_of(*volumes.read_mha(file)))
        draw(histograms, picture, file)
        drawn = is_png(picture)
    name, where, axes, cut, edges = found[1]
    return (drawn and [f[0] for f in found] == ["transverse", "coronal", "sagittal"] and
            (name, where, axes) == ("coronal", "y = 22.0 mm", ["x", "z"]) and
            np.array_equal(cut, values[:, 1, :], equal_nan=True) and
            edges == [9.5, 13.5, 28.0, 48.0])


def self_test():
    text = ",".join(HEADER) + "\n"
    for criterion in ("3%/3mm", "2%/2mm"):
        text += "".join(f"{criterion},{0.5 * n:g},{0.5 * (n + 1):g},{8 >> n}\n" for n in range(4))
    histograms = read(text)
    each, beyond = percents(histograms["3%/3mm"][1])
    try:
        read(text + "2%/2mm,9,10,1\n")
        return False
    except ValueError:
        pass
    return (len(histograms) == 2 and histograms["2%/2mm"][0] == [0, 0.5, 1, 1.5, 2] and
            each[0] == 100 * 8 / 15 and beyond[0] == 100 and beyond[3] == 100 / 15 and
            beyond[4] == 0 and slices_are_right(histograms) and
            curve_table.works(read, draw, HEADER, text))


if __name__ == "__main__":
    sys.exit(curve_table.main(__doc__, read, draw, self_test, most=3))
