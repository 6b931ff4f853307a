#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the histograms of `iso gamma --csv`: how many points have which gamma.

    iso gamma reference.mha evaluated.mha --criterion 3%/3mm --criterion 2%/2mm \\
        --csv gamma.csv --output gamma.mha --status status.mha
    gamma_plot.py gamma.csv gamma.png gamma.mha reference.mha status.mha

A colour is a criterion. Points are per cent of those compared, on a logarithmic axis; the line at 1
is where points stop to pass. The dashed lines are the per cent of points that have more. The last
bin holds the points at the maximum gamma too.

With the volume of `--output`, three slices of gamma are drawn too, of the first criterion, axes in
mm: through the largest dose of the reference, as `iso gamma --png` does, or through the middle of
the points compared where no reference is given. Up to 1 they are blue to white, above yellow to
red; points that are not compared are grey, and those that `--status` says lie outside of the
evaluated dose magenta.

Usage: gamma_plot.py HISTOGRAMS.csv PICTURE.png [GAMMA.mha [REFERENCE.mha [STATUS.mha]]]
       gamma_plot.py --self-test
"""
import pathlib
import sys
import tempfile

import curve_table
from harness import is_png, pyplot, save

OUTSIDE = 2  # of `--status`
OUTSIDE_COLOUR = (1, 0, 1)
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


def voxel_of(values, reference=None):
    """The voxel that slices go through."""
    import numpy as np

    if not np.isfinite(values).any():
        raise ValueError("no point was compared")
    if reference is None:
        return [int(np.median(index)) for index in np.nonzero(np.isfinite(values))]
    if reference.shape != values.shape:
        raise ValueError("the reference has another number of voxels than gamma")
    return [int(index) for index in np.unravel_index(np.argmax(reference), reference.shape)]


def slices_of(values, spacing, origin, middle):
    """(name, its place, names of the axes, picture [across, up], edges) of three slices."""
    for name, normal in (("axial", 2), ("coronal", 1), ("sagittal", 0)):
        axes = [a for a in range(3) if a != normal]
        place = origin[normal] + middle[normal] * spacing[normal]
        edges = [origin[a] + spacing[a] * end
                 for a in axes for end in (-0.5, values.shape[a] - 0.5)]
        yield (name, f"{'xyz'[normal]} = {place:.1f} mm", ["xyz"[a] for a in axes],
               values.take(middle[normal], normal), edges)


def draw_slices(figure, places, gamma, criterion, largest, reference=None, status=None):
    """The volumes are (values, spacing, origin); of the status values alone."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    middle = voxel_of(gamma[0], reference)
    marks = [None] * 3
    if status is not None:
        if status.shape != gamma[0].shape:
            raise ValueError("the status has another number of voxels than gamma")
        marks = [cut for _, _, _, cut, _ in slices_of(status == OUTSIDE, *gamma[1:], middle)]

    at = min(1 / largest, 1)
    stops = [(0, "#001a80"), (0.5 * at, "#1a99cc"), (at, "#e6ffff"), (at, "#ffd900"),
             (0.5 * (1 + at), "#f26600"), (1, "#b30000")]
    colours = LinearSegmentedColormap.from_list("gamma", stops if at < 1 else stops[:3])
    colours.set_bad("0.75")
    for place, mark, (name, where, axes, picture, edges) in zip(places, marks,
                                                                slices_of(*gamma, middle)):
        if axes[1] == "y":  # the back is below
            edges = [*edges[:2], edges[3], edges[2]]
            picture = picture[:, ::-1]
            mark = None if mark is None else mark[:, ::-1]
        shown = place.imshow(picture.T, origin="lower", extent=edges, cmap=colours, vmin=0,
                             vmax=largest, interpolation="nearest")
        if mark is not None and mark.any():
            place.imshow(masked(mark).T, origin="lower", extent=edges, vmin=0, vmax=1,
                         cmap=ListedColormap([OUTSIDE_COLOUR]), interpolation="nearest")
        place.set(title=f"{name}, {where}", xlabel=f"{axes[0]}, mm", ylabel=f"{axes[1]}, mm")
    figure.colorbar(shown, ax=places, label=f"gamma, {criterion}")


def masked(mark):
    """What is not marked is left as it is."""
    import numpy as np

    return np.ma.masked_equal(mark.astype(float), 0)


def draw(histograms, path, gamma=None, reference=None, status=None):
    plots = pyplot()
    if gamma:
        import volumes

        figure = plots.figure(figsize=(13, 9), layout="constrained")
        above, below = figure.subfigures(2, 1, hspace=0.06)
        criterion, (edges, _) = next(iter(histograms.items()))
        places = above.subplots(1, 3, gridspec_kw={"wspace": 0.1})
        draw_slices(above, places, volumes.read_mha(gamma), criterion, edges[-1],
                    *(name and volumes.read_mha(name)[0] for name in (reference, status)))
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


def has_colour(picture, colour):
    """Whether a pixel of the picture is that colour."""
    from matplotlib.image import imread

    return bool((imread(picture)[..., :3] == colour).all(axis=-1).any())


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
        folder = pathlib.Path(folder)
        file, picture, dose, status = (folder / n for n in ("g.mha", "g.png", "d.mha", "s.mha"))
        file.write_bytes(head.encode() + values.tobytes(order="F"))
        peak = np.zeros_like(values)
        peak[3, 2, 0] = 1
        dose.write_bytes(head.encode() + peak.tobytes(order="F"))
        outside = np.full_like(values, OUTSIDE)
        outside[:, 0] = 0
        status.write_bytes(head.encode() + outside.tobytes(order="F"))
        gamma = volumes.read_mha(file)
        found = list(slices_of(*gamma, voxel_of(gamma[0])))
        at = voxel_of(gamma[0], volumes.read_mha(dose)[0])
        draw(histograms, picture, file)
        drawn = is_png(picture) and not has_colour(picture, OUTSIDE_COLOUR)
        draw(histograms, picture, file, dose, status)
        drawn = drawn and has_colour(picture, OUTSIDE_COLOUR)
    name, where, axes, cut, edges = found[1]
    return (drawn and [f[0] for f in found] == ["axial", "coronal", "sagittal"] and
            (name, where, axes) == ("coronal", "y = 22.0 mm", ["x", "z"]) and
            np.array_equal(cut, values[:, 1, :], equal_nan=True) and
            edges == [9.5, 13.5, 28.0, 48.0] and at == [3, 2, 0])


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
    sys.exit(curve_table.main(__doc__, read, draw, self_test, max_words=5))
