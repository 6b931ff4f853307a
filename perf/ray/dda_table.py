# SPDX-License-Identifier: BSD-3-Clause
"""The exact-length methods beside each other, ms a view: a Markdown table from benchmarks' JSON.

    iso_bench_traverse --benchmark_filter=/float --benchmark_out=rays.json
    iso_bench_forward_project --benchmark_out=views.json \\
        --benchmark_filter='forward_project/(amanatides_woo|branchless|siddon)/ordered/float/'
    dda_table.py rays.json views.json ...

A view is n^2 rays through n^3 voxels. Rows: the rays of iso_bench_traverse (cone views, their rays
in random order, random chords, and the same sorted; sorting is not in the time) and the
projections of iso_bench_forward_project. Serial rows of the former are processor time, which others
on the machine do not lengthen. The fastest of a row is bold. No figure is typed.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import document_of, markdown, words_of  # noqa: E402

METHODS = ("amanatides_woo", "branchless", "siddon")
BUNDLES = {
    "coherent": "cone rays",
    "shuffled": "cone rays in random order",
    "shuffled_sorted_by_ends": "those, sorted by both ends",
    "shuffled_sorted_by_entry": "those, sorted by octant and entry",
    "random": "random rays",
    "sorted_by_ends": "random, sorted by both ends",
    "sorted_by_entry": "random, sorted by octant and entry",
}


def place_of(row):
    """((backend, what, precision, n), method) of a benchmark's row, or None."""
    parts = row["name"].split("/")
    if parts[0] == "traverse" and parts[2] in METHODS:
        n = round(row["size"])
        return (parts[3], BUNDLES[parts[1]], parts[4], n), parts[2]
    if parts[0] == "forward_project" and parts[1] in METHODS:
        return (parts[4], "forward_project", parts[3], int(parts[5])), parts[1]
    return None


def figure_of(row):
    """ms a view; of all threads' processor time only one thread's is comparable."""
    if "/serial/" in row["name"]:
        return row.get("processor_ms_per_view", row["ms_per_view"])
    return row["ms_per_view"]


def collect(results):
    """{place: {method: ms a view}}, the least where a row was measured more than once."""
    table = {}
    for result in results:
        for row in result["benchmarks"]:
            place = place_of(row)
            if place:
                times = table.setdefault(place[0], {})
                figure = figure_of(row)
                times[place[1]] = min(figure, times.get(place[1], figure))
    return table


def table_of(places):
    lines = []
    for place, times in places.items():
        cells = {method: f"{time:.3g}" for method, time in times.items()}
        fastest = min(times, key=times.get)
        cells[fastest] = f"**{cells[fastest]}**"
        lines.append([*place, *(cells.get(method, "not run") for method in METHODS)])
    return markdown(["backend", "rays", "precision", "n", *METHODS], lines)


if __name__ == "__main__":
    print(table_of(collect(map(document_of, words_of(__doc__)))), end="")
