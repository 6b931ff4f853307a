# SPDX-License-Identifier: BSD-3-Clause
"""Table I and figure 2 of the projector paper (J. Graetz, arXiv:1609.00958) from this library.

    projector_paper.py --program build/openmp/perf/ct/iso_projection_residuals [--backend openmp]
                       [--size 128] [--views 100] [--picture figure2.png] [--json figure2.json]
                       [--times rows.json]
    projector_paper.py --self-test

Figure 2: the projections of the Shepp-Logan head's voxels against its own line integrals (8 x 8
rays a pixel; 5 x 5 x 5 samples a voxel; a cone of 10 degrees), l1 of the difference over l1 of the
line integrals, for views around a circle. The paper's size is --size 512 --views 803, for a GPU.
Prints a Markdown table, and with --picture draws the differences in the view along x and the
residuals of all views (needs numpy and matplotlib: scripts/setup.sh makes .deps/venv). Status 1
where the paper's findings do not show:

- the DDA is the worst in every view, and spikes where rays run along the grid's axes;
- with four rays a pixel it comes about as close as spline weights;
- linear weights are best in every view; four rays a pixel come close enough to win one view in 500.

Table I: ms a view and the rate at which voxels are read, of rays within the inscribed cylinder,

    iso_bench_forward_project --benchmark_out=rows.json --benchmark_filter=\\
        'forward_project/(joseph_linear|joseph_texture|branchless|branchless_2x2)_cylinder/.*/512'

The paper's numbers of voxels: four a sample of Joseph's, one a chord of the DDA's.
"""
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import (  # noqa: E402
    document_of, markdown, need, output_of, paper_parser, pyplot, save, status_of)

NAMES = {
    "dda": "DDA",
    "dda_2x2": "DDA, 2 x 2 rays",
    "joseph_spline": "Joseph, spline",
    "joseph_linear": "Joseph, linear",
    "joseph_texture": "Joseph, linear, texture units",
}
# Of the benchmark's rows: the method, and the voxels read a sample.
TIMED = {
    "branchless_cylinder": ("DDA", 1),
    "branchless_2x2_cylinder": ("DDA, 2 x 2 rays", 1),
    "joseph_linear_cylinder": ("Joseph, linear", 4),
    "joseph_texture_cylinder": ("Joseph, linear, texture units", 4),
}


def measure(program, backend, size, views):
    """(what the program prints, the bytes of its images)."""
    with tempfile.TemporaryDirectory() as folder:
        images = pathlib.Path(folder) / "images"
        said = output_of([program, f"--backend={backend}", f"--size={size}",
                          f"--views={views}", f"--images={images}"])
        return json.loads(said), images.read_bytes()


def residuals_of(measured):
    return {row["what"]: row["residuals"] for row in measured["rows"]}


def axis_views(views):
    """The views closest to the grid's axes."""
    return [round(quarter * views / 4) % views for quarter in range(4)]


def shortfalls(residuals):
    """What the paper finds and these residuals do not show, a sentence each."""
    dda, twofold = residuals["dda"], residuals["dda_2x2"]
    spline, linear = residuals["joseph_spline"], residuals["joseph_linear"]
    found = []
    for name in ("dda_2x2", "joseph_spline", "joseph_linear"):
        better = sum(d <= other for d, other in zip(dda, residuals[name]))
        if better:
            found.append(f"the DDA is not the worst: {NAMES[name]} is no better in {better} views")
    for view in axis_views(len(dda)):
        if dda[view] < 1.2 * statistics.median(dda):
            found.append(f"the DDA has no spike along an axis: {dda[view]:.3g} in view {view}, "
                         f"median {statistics.median(dda):.3g}")
    ratio = statistics.mean(twofold) / statistics.mean(spline)
    if not 0.75 < ratio < 1.25:
        found.append(f"four rays a pixel are not about as close as spline weights: {ratio:.3g}")
    worse = sum(mine >= other for mine, other in zip(linear, spline))
    if worse:
        found.append(f"linear weights are not better than spline weights in {worse} views")
    worse = sum(mine >= other for mine, other in zip(linear, twofold))
    if worse > len(linear) // 500:
        found.append(f"linear weights are not better than four rays a pixel in {worse} views")
    return found


def figure_table(measured):
    lines = []
    residuals = residuals_of(measured)
    for name in filter(residuals.get, NAMES):
        each = residuals[name]
        axes = statistics.mean(each[view] for view in axis_views(len(each)))
        figures = (statistics.mean(each), statistics.median(each), max(each), axes)
        lines.append([NAMES[name], *(f"{x:.5f}" for x in figures)])
    return markdown(["method", "mean residual", "median", "largest", "along the axes"], lines)


def time_table(document):
    """Table I: backends and sizes as they come, the fastest of what was measured twice."""
    best = {}
    for row in document["benchmarks"]:
        family, method, _, precision, backend, n, *_ = row["name"].split("/")
        if family == "forward_project" and method in TIMED:
            key = (backend, precision, int(n), method)
            best[key] = min(row, best.get(key, row), key=lambda one: one["ms_per_view"])
    lines = []
    for (backend, precision, n, method), row in sorted(best.items()):
        name, voxels = TIMED[method]
        rate = row["samples_per_second"] * voxels * (4 if precision == "float" else 8) / 1e9
        lines.append([backend, precision, n, name, f"{row['ms_per_view']:.4g}", f"{rate:.4g}"])
    return markdown(["backend", "precision", "n", "method", "ms a view", "voxels read, GB/s"],
                    lines)


def draw(measured, images, file):
    import numpy as np

    residuals = residuals_of(measured)
    names = [row["what"] for row in measured["rows"]]
    size, views = measured["size"], measured["views"]
    pictures = np.frombuffer(images, dtype=np.float32).reshape(len(names), size, size)
    limit = float(np.quantile(np.abs(pictures[names.index("dda")]), 0.99))
    figure = pyplot().figure(figsize=(10, 6.2), layout="constrained")
    grid = figure.add_gridspec(2, len(names), height_ratios=(1, 1.25))
    for column, name in enumerate(names):
        panel = figure.add_subplot(grid[0, column])
        shown = panel.imshow(pictures[column].T, cmap="gray", origin="lower", vmin=-limit,
                             vmax=limit)
        panel.set_title(NAMES[name], fontsize=9)
        panel.set_xticks([])
        panel.set_yticks([])
    figure.colorbar(shown, ax=figure.axes, shrink=0.8, label="difference of the line integral")
    panel = figure.add_subplot(grid[1, :])
    angles = np.arange(views) * 360.0 / views
    for name in NAMES:
        if name in residuals:
            panel.plot(angles, residuals[name], label=NAMES[name], linewidth=1)
    panel.set_xlabel("angle of the view, degrees")
    panel.set_ylabel("l1 of the difference / l1")
    panel.set_xlim(0, 360)
    panel.set_xticks(range(0, 361, 45))
    panel.set_ylim(bottom=0)
    panel.legend(fontsize=8, ncols=len(names))
    figure.suptitle(f"Shepp-Logan head, {size}^3 voxels, {views} views, cone of 10 degrees",
                    fontsize=10)
    save(figure, file, 120)


def self_test():
    n = 100
    spiking = [0.02 if view % 25 == 0 else 0.01 for view in range(n)]
    good = {"dda": spiking, "dda_2x2": [0.006] * n, "joseph_spline": [0.006] * n,
            "joseph_linear": [0.005] * n}
    assert shortfalls(good) == []
    assert axis_views(803) == [0, 201, 402, 602], axis_views(803)
    for broken in ({"dda": [0.01] * n}, {"joseph_linear": [0.007] * n}, {"dda_2x2": [0.009] * n},
                   {"joseph_spline": [0.004] * n}):
        assert shortfalls(good | broken), broken
    row = {"name": "forward_project/joseph_linear_cylinder/ordered/float/cuda/512/iterations:7",
           "ms_per_view": 0.1, "samples_per_second": 1e12}
    assert "| cuda | float | 512 | Joseph, linear | 0.1 | 1.6e+04 |" in time_table(
        {"benchmarks": [row]})


def main(arguments):
    parser = paper_parser(__doc__, self_test)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--views", type=int, default=100)
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--times", type=pathlib.Path)
    given = parser.parse_args(arguments)
    if given.program is None and given.times is None:
        parser.error("nothing to measure or to read (--program and --times are left out); give one "
                     "of them")
    if given.picture:
        need("numpy", "matplotlib")
    if given.times:
        print(time_table(document_of(given.times)))
    if given.program is None:
        return 0
    measured, images = measure(given.program, given.backend, given.size, given.views)
    print(figure_table(measured), end="")
    if given.json:
        given.json.write_text(json.dumps(measured) + "\n", encoding="utf-8")
    if given.picture:
        draw(measured, images, given.picture)
    return status_of("projector_paper.py", shortfalls(residuals_of(measured)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
