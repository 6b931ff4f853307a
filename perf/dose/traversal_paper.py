# SPDX-License-Identifier: BSD-3-Clause
"""Figure 2 and table 2 of K. Xiao et al., Med. Phys. 39(12), 2012, from this library.

    traversal_paper.py --program build/openmp/apps/iso/iso [--backend serial]
                       [--small] [--ct CHEST_CT.nii.gz] [--ncu] [--json rows.json]
    traversal_paper.py --self-test

Times engine voxel_lines with its three traversals: amanatides_woo, which branches (the paper's
3D-DDA), branchless (its 3D-DDA-nc), and siddon. On a cube of water, 200^3 voxels of 1 mm with a
field of 50 mm x 50 mm, and on the chest CT of scripts/get_example_data.sh with 100 mm x 100 mm,
which stands for the paper's patients; without that file, on water only. 384 directions (24 x 16)
and an exponential kernel. --small are sizes for a processor and a check, 16 directions;
--directions, --voxel and --ct-field change them. Times of one core (serial) are processor time.

--ncu, on a machine with a GPU and Nsight Compute, adds the profiler's counters of the kernel:
instructions of warps, branches, divergent branches, the share of branches that no warp splits at,
active threads an instruction, and memory throughput.

Prints Markdown tables. The doses of the three traversals may differ by roundings of their chords:
the largest difference over the maximum stands beside the times. Status 1 where that is above 1e-4.
"""
import csv
import io
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import (  # noqa: E402
    figure, markdown, output_of, paper_parser, status_of, write_json)
from python_modules import np  # noqa: E402
import dose_runs  # noqa: E402
from dose_runs import machine, put_volume, run_dose, words_of_dose  # noqa: E402

TRAVERSALS = ("amanatides_woo", "branchless", "siddon")
KERNEL = "follow_chords"
COUNTERS = {
    "smsp__inst_executed.sum": "instructions",
    "smsp__sass_branch_targets.sum": "branches",
    "smsp__sass_branch_targets_threads_divergent.sum": "divergent branches",
    "smsp__sass_average_branch_targets_threads_uniform.pct": "uniform branches, %",
    "smsp__thread_inst_executed_per_inst_executed.ratio": "threads an instruction",
    "dram__bytes_read.sum.per_second": "read, GB/s",
    "dram__bytes_write.sum.per_second": "written, GB/s",
}
# The paper's table 2: branches, divergent branches, instructions, GB/s read and written.
PAPER = {
    "water": {"3D-DDA": (4.78e8, 9.07e5, 4.13e9, 13.05, 10.07),
              "3D-DDA-nc": (1.81e8, 2.23e5, 1.73e9, 22.74, 6.78)},
    "lung A": {"3D-DDA": (6.74e9, 6.64e6, 4.60e10, 13.13, 6.71),
               "3D-DDA-nc": (9.52e8, 1.35e6, 1.08e10, 42.67, 3.25)},
    "lung B": {"3D-DDA": (6.03e9, 6.09e6, 4.26e10, 14.05, 7.15),
               "3D-DDA-nc": (8.61e8, 1.21e6, 9.73e9, 44.11, 3.22)},
}


def counters_of(text):
    """{metric: the sum over kernels, or the mean of a rate} of what ncu --csv prints."""
    lines = text.splitlines()
    head = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        raise SystemExit("ncu printed no table: " + (lines[-1] if lines else "nothing"))
    values = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[head:]))):
        if row.get("Metric Name") in COUNTERS:
            try:
                value = float(row["Metric Value"].replace(",", ""))
            except ValueError:
                continue
            values.setdefault(row["Metric Name"], []).append(value)
    if not values:
        raise SystemExit("ncu's table has none of the counters (its version may name them "
                         "otherwise); compare them with ncu --query-metrics")
    return {name: sum(each) / (1 if name.endswith(".sum") else len(each))
            for name, each in values.items()}


def profile(iso, settings):
    command = ["ncu", "--csv", "--print-units", "base", "--metrics", ",".join(COUNTERS),
               "--kernel-name-base", "demangled", "--kernel-name", f"regex:{KERNEL}",
               *iso.line("dose", **words_of_dose(iso, settings))]
    return counters_of(output_of(command))


def measure(iso, what, settings, ncu):
    rows = []
    doses = []
    for traversal in TRAVERSALS:
        mine = settings | {"traversal": traversal}
        row, dose = run_dose(iso, mine)
        doses.append(dose)
        apart = abs(doses[0] - doses[-1]).max() / doses[0].max()
        row |= {"what": what, "apart": float(apart)}
        if ncu:
            row["counters"] = profile(iso, mine)
        rows.append(row)
    return rows


def cases(small, voxel, ct, ct_field, folder):
    """(name, settings of the dose)."""
    voxel = voxel or (8 if small else 1)
    n = round(200 / voxel)
    water = np.ones((n, n, n), np.float32)
    yield "water", put_volume(folder, water, 3 * (voxel,)) | {"field": 50}
    if not dose_runs.is_there(ct, "traversal_paper.py"):
        return
    spacing, density = dose_runs.ct_density(ct, 4 if small else 1)
    yield "chest CT", put_volume(folder, density, spacing) | {
        "field": ct_field or (50 if small else 100)}


def time_table(rows):
    lines = []
    for what in dict.fromkeys(row["what"] for row in rows):
        mine = {row["traversal"]: row for row in rows if row["what"] == what}
        first = mine[TRAVERSALS[0]]
        times = [mine[each]["convolution_seconds"] for each in TRAVERSALS]
        lines.append([what, " x ".join(f"{n:.0f}" for n in first["extent"]),
                      figure(first["field"]), round(first["cones"] * first["azimuths"]),
                      *(f"**{figure(t)}**" if t == min(times) else figure(t) for t in times),
                      figure(times[0] / times[1]),
                      f"{max(row['apart'] for row in mine.values()):.1e}"])
    return markdown(["what", "voxels", "field, mm", "directions", *(f"{t}, s" for t in TRAVERSALS),
                     "amanatides_woo / branchless", "largest difference"], lines)


def counter_table(rows):
    lines = []
    for row in rows:
        if "counters" in row:
            values = [row["counters"].get(name) for name in COUNTERS]
            values = [x / 1e9 if x is not None and name.endswith("per_second") else x
                      for name, x in zip(COUNTERS, values)]
            lines.append([row["what"], row["traversal"], *map(counter, values)])
    for what, each in PAPER.items():
        for name, (branches, divergent, instructions, read, written) in each.items():
            lines.append([f"paper: {what}", name, *map(counter, (
                instructions, branches, divergent, 100 * (1 - divergent / branches), None, read,
                written))])
    return markdown(["what", "traversal", *COUNTERS.values()], lines)


def counter(x):
    return "-" if x is None else f"{x:.2e}" if x >= 1e5 else f"{x:.3f}".rstrip("0").rstrip(".")


def shortfalls(rows):
    return [f"{row['what']}: the dose of {row['traversal']} differs by {row['apart']:.2g} of the "
            "maximum" for row in rows if not row["apart"] <= 1e-4]


def self_test():
    text = """==PROF== Connected to process 1
{"a": 1}
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","follow_chords","smsp__inst_executed.sum","inst","1,234,567"
"0","follow_chords","smsp__sass_average_branch_targets_threads_uniform.pct","%","90.5"
"1","follow_chords","smsp__inst_executed.sum","inst","1"
"1","follow_chords","smsp__sass_average_branch_targets_threads_uniform.pct","%","80.5"
"1","follow_chords","smsp__sass_branch_targets.sum","","n/a"
"""
    found = counters_of(text)
    assert found == {"smsp__inst_executed.sum": 1234568.0,
                     "smsp__sass_average_branch_targets_threads_uniform.pct": 85.5}, found
    for none in ("", "==ERROR== no permission", '"ID","Metric Name","Metric Value"\n'):
        try:
            counters_of(none)
        except SystemExit:
            continue
        raise AssertionError(none)
    rows = [{"what": "water", "traversal": each, "extent": [200.0] * 3, "field": 50, "cones": 24,
             "azimuths": 16, "convolution_seconds": time, "apart": 0.0, "counters": found}
            for each, time in zip(TRAVERSALS, (2.0, 1.0, 3.0))]
    assert "| 200 x 200 x 200 | 50 | 384 | 2 | **1** | 3 | 2 | 0.0e+00 |" in time_table(rows)
    assert "| water | siddon | 1.23e+06 | - | - | 85.5 |" in counter_table(rows)
    assert "| paper: water | 3D-DDA-nc | 1.73e+09 | 1.81e+08 | 2.23e+05 | 99.877 |" in (
        counter_table([]))
    assert shortfalls(rows) == []
    assert shortfalls([rows[0] | {"apart": 1e-3}])
    assert shortfalls([rows[0] | {"apart": float("nan")}])
    table = np.array([[-1000.0, 0.0], [0.0, 1.0]])
    assert list(dose_runs.density_of(table, [-2000, -500, 10])) == [0.0, 0.5, 1.0]
    water = dose_runs.density_of(dose_runs.table_of_csv(dose_runs.DENSITIES), 0)
    assert abs(water - 1) < 0.05, water


def main(arguments):
    parser = paper_parser(__doc__, self_test)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--directions", type=dose_runs.directions, help="as in 24x16")
    parser.add_argument("--voxel", type=float, help="of the water, mm")
    parser.add_argument("--ct", type=pathlib.Path, default=dose_runs.CHEST_CT)
    parser.add_argument("--ct-field", type=float, help="mm")
    parser.add_argument("--kernel", default="exponential", choices=("exponential", "table"))
    parser.add_argument("--precision", default="float", choices=("float", "double"))
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--ncu", action="store_true")
    given = parser.parse_args(arguments)
    if given.program is None:
        parser.error("no program to measure (--program is left out); name it")
    if given.ncu and given.backend != "cuda":
        parser.error(f"--ncu and --backend {given.backend} (it counts on a GPU); "
                     "use --backend cuda")
    cones, azimuths = given.directions or ((4, 4) if given.small else (24, 16))
    common = {"backend": given.backend, "engine": "voxel_lines", "kernel": given.kernel,
              "precision": given.precision, "cones": cones, "azimuths": azimuths,
              "repeats": given.repeats or (1 if given.small else 3)}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        iso = dose_runs.tool(given.program, folder)
        for what, settings in cases(given.small, given.voxel, given.ct, given.ct_field,
                                    iso.folder):
            rows += measure(iso, what, common | settings, given.ncu)
    print(f"{machine(rows[0])}, {given.precision}\n\nTimes\n\n{time_table(rows)}")
    if given.ncu:
        print(f"Table 2, the profiler's counters\n\n{counter_table(rows)}")
    write_json(given.json, {"rows": rows})
    return status_of("traversal_paper.py", shortfalls(rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
