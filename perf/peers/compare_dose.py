# SPDX-License-Identifier: BSD-3-Clause
"""Isocenter's collapsed-cone dose beside OpenTPS's: one run, one machine, one thread.

    compare_dose.py --iso BUILD/apps/iso/iso \\
        --opentps VENV/lib/python3.11/site-packages --folder doses --json dose.json
    compare_dose.py --folder doses --figure dose.png    from doses already there

The problem is a cube of N^3 voxels of 2 mm, of water or of water with a lung slab (0.26 g/cm3) from
60 to 140 mm behind its surface. The field is 100 mm x 100 mm at the isocentre, which lies 100 mm
behind the surface and 1000 mm from the source. Both programs get the same density, the spectrum of
OpenTPS's files and, with Isocenter's tabulated kernel, the same table. Doses are made equal at
100 mm on the axis. 100 per cent is the largest dose on the axis of Isocenter's tabulated kernel
with the peer's number of directions.

Times are processor time of one thread. Isocenter's are what `iso dose --repeats` tells of TERMA and
convolution, the least of the calls; OpenTPS's is one call, its files read and written included.
`error` of a row is the distance from dose_engine::voxel_lines in double with the same directions,
on a cube of half the width with half the field.

Usage: compare_dose.py --self-test   checks the arithmetic of the comparison
"""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import (  # noqa: E402
    markdown, need, parser_of, pyplot, read_json, save, slope_of, write_json)
from python_modules import np  # noqa: E402
import compare_ct  # noqa: E402
import dose_comparison  # noqa: E402
import peer_opentps  # noqa: E402
from dose_runs import put_volume, run_dose, tool  # noqa: E402
from dose_comparison import (  # noqa: E402
    DEEPEST, DEPTHS, FIELD, SLAB, SOURCE, SURFACE, VOXEL, at_depth, comparison, density,
    depth_dose, depths, equal, middle, sides,
)

_MEDIA = ("water", "lung")
_YARDSTICK = "tabulated_6x12"
_GROWTH_SIZES = (64, 96, 128, 160)
_GROWTH_DIRECTIONS = ((6, 6), (6, 12), (12, 12), (12, 24))


def isocenter(given, folder, medium, size, kernel, cones, surface=SURFACE, **more):
    """The dose of one problem, and the least of the calls: milliseconds of TERMA, of the
    convolution, and of both."""
    threads = given.threads if more.get("backend") == "openmp" else 1
    iso = tool(given.iso, folder, threads=threads)
    # The isocentre, at 0, lies so far behind the first face.
    middle = (0, 0.5 * VOXEL * size - surface, 0)
    settings = put_volume(folder, density(medium, size), VOXEL, middle) | {
        "field": FIELD, "margin": 2 * VOXEL * size, "tilt": 1,
        "spectrum": folder / "spectrum.csv", "kernel": kernel, "cones": cones[0],
        "azimuths": cones[1], "engine": "lattice",
    } | more  # fmt: skip
    said, dose = run_dose(iso, settings)
    terma, convolution = 1e3 * said["terma_seconds"], 1e3 * said["convolution_seconds"]
    return dose, {"terma_cpu_ms": terma, "convolution_cpu_ms": convolution,
                  "cpu_ms": terma + convolution, "calls": said["repeats"]}


def key_of(kernel, cones):
    return f"{'tabulated' if kernel == 'table' else kernel}_{cones[0]}x{cones[1]}"


def error_of(given, folder, kernel, cones):
    """Of the lattice in float against exact lines in double: % of the maximum."""
    size = given.size // 2
    small = {"field": 0.5 * FIELD, "surface": 0.5 * SURFACE}
    found = []
    for more in ({}, {"engine": "voxel_lines", "precision": "double"}):
        options = {"backend": "openmp", **small, **more}
        dose, _ = isocenter(given, folder, "water", size, kernel, cones, **options)
        found.append(dose.astype(np.float64))
    apart = 100 * (found[0] - found[1]) / found[1].max()
    x = abs(sides(size))
    edge = 0.25 * FIELD * (SOURCE - 0.5 * SURFACE + depths(size)) / SOURCE
    near = abs(x[:, None] - edge[None, :]) < 4.5  # [x, y]
    near = near[:, :, None] | near.T[None, :, :] | (depths(size) < 4.5)[None, :, None]
    return {
        "rms": float(np.sqrt(np.mean(apart**2))),
        "largest beyond 4.5 mm of an edge": float(abs(apart[~near]).max()),
    }


def growth(given, folder):
    """Of the convolution with the exponential kernel, and with TERMA."""

    def least(size, cones):
        return isocenter(given, folder, "water", size, "exponential", cones, repeats=9)[1]

    sizes = {n: least(n, (6, 12)) for n in _GROWTH_SIZES}
    sets = {a * b: least(given.size, (a, b)) for a, b in _GROWTH_DIRECTIONS}
    result = {}
    for name, rows in (("voxels along a side", sizes), ("directions", sets)):
        columns = {
            k: [row[k] for row in rows.values()] for k in ("convolution_cpu_ms", "cpu_ms")
        }
        result[name] = {"of": list(rows), **columns} | {
            f"exponent_{k}": slope_of(list(rows), v) for k, v in columns.items()
        }
    return result


def write_spectrum(peer, folder):
    lines = [",".join(f"{v:.7g}" for v in row) for row in peer.spectrum()]
    (folder / "spectrum.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(given, folder):
    """Runs everything; doses go to `folder`."""
    peer = peer_opentps.engine(given.opentps, folder)
    write_spectrum(peer, folder)
    host = compare_ct.machine(threads=1)
    result = {"machine": host, "speed": []}

    def note(**row):
        result["speed"].append(row)
        print(json.dumps(row), flush=True)

    def ours(medium, kernel, cones, name, **more):
        key = key_of(kernel, cones)
        dose, took = isocenter(given, folder, medium, given.size, kernel, cones, **more)
        np.save(folder / f"{medium}_{key}.npy", dose)
        if name:
            note(medium=medium, key=key, name=f"Isocenter, {name}", **took)

    for name, bytes_of in (("AVX-512", 64), ("AVX2", 32)):
        ours("water", "exponential", (6, 12), f"exponential, {name}", repeats=9,
             vector_bytes=bytes_of)
    for medium in _MEDIA:
        dose, wall, busy = peer.run(density(medium, given.size), VOXEL, SURFACE, FIELD)
        np.save(folder / f"{medium}_opentps.npy", dose)
        note(medium=medium, key="opentps", name="OpenTPS 2.0.2", cpu_ms=1e3 * busy, ms=1e3 * wall)
    for name, bytes_of in (("AVX-512", 64), ("AVX2", 32)):
        ours("water", "exponential", (6, 12), f"exponential, {name}, again", repeats=9,
             vector_bytes=bytes_of)
        ours("water", "table", (6, 12), f"tabulated, {name}", vector_bytes=bytes_of)
    if given.flags:
        with tempfile.TemporaryDirectory() as name:
            built = peer_opentps.engine(given.opentps, name, given.flags)
            _, wall, busy = built.run(density("water", given.size), VOXEL, SURFACE, FIELD)
        what = f"OpenTPS 2.0.2, built with {given.flags}"
        note(medium="water", key="opentps", name=what, cpu_ms=1e3 * busy, ms=1e3 * wall)
    for medium in _MEDIA:
        for kernel in ("exponential", "table"):
            for cones in ((6, 12), (8, 8)):
                if not (folder / f"{medium}_{key_of(kernel, cones)}.npy").exists():
                    ours(medium, kernel, cones, None, backend="openmp")
    result["errors"] = {
        kernel: error_of(given, folder, kernel, (6, 12)) for kernel in ("exponential", "table")
    }
    result["growth"] = growth(given, folder)
    return result


def compare(folder):
    """Everything that follows from the doses: OpenTPS is the reference of the first part, the
    tabulated kernel that of the second."""
    result = {"from OpenTPS": {}, "from tabulated": {}}
    for medium in _MEDIA:
        doses = {
            file.stem.removeprefix(f"{medium}_"): equal(np.load(file))
            for file in sorted(folder.glob(f"{medium}_*.npy"))
        }
        maximum = depth_dose(doses[_YARDSTICK]).max()
        mine = [k for k in doses if k != "opentps"]
        result["from OpenTPS"][medium] = {
            k: comparison(doses["opentps"], doses[k], maximum) for k in mine
        }
        result["from tabulated"][medium] = {
            k: comparison(doses[k.replace("exponential", "tabulated")], doses[k], maximum)
            for k in mine
            if k.startswith("exponential")
        }
    return result


def draw(folder, path):
    shown = (
        ("opentps", "OpenTPS", "k", "-"),
        ("tabulated_6x12", "Isocenter, tabulated", "C0", "-"),
        ("exponential_6x12", "Isocenter, exponential", "C3", "--"),
    )
    figure, axes = pyplot().subplots(2, 3, figsize=(12, 6.4), layout="constrained")
    for row, medium in zip(axes, _MEDIA):
        doses = {key: equal(np.load(folder / f"{medium}_{key}.npy")) for key, *_ in shown}
        maximum = depth_dose(doses[_YARDSTICK]).max()
        size = doses[_YARDSTICK].shape[0]
        depth, side = depths(size), sides(size)
        for key, name, colour, dash in shown:
            curve = 100 * depth_dose(doses[key]) / maximum
            row[0].plot(depth, curve, color=colour, linestyle=dash, label=name)
            apart = curve - 100 * depth_dose(doses[_YARDSTICK]) / maximum
            if key != _YARDSTICK:
                row[1].plot(depth[2:], apart[2:], color=colour, linestyle=dash, label=name)
            for at in DEPTHS:
                line = 100 * middle(at_depth(doses[key], at), 1) / maximum
                row[2].plot(side, line, color=colour, linestyle=dash)
        for axis in row[:2]:
            axis.set_xlabel("depth, mm")
            if medium == "lung":
                axis.axvspan(SLAB[0], SLAB[1], color="0.92")
        name = "water" if medium == "water" else "lung slab in water"
        row[0].set(title=f"{name}: on the axis", ylabel="dose, % of the maximum")
        row[1].set(title="less the tabulated kernel", ylabel="% of the maximum", ylim=(-3, 3))
        row[2].set(title="profiles at 50, 100, 200 mm", xlabel="from the axis, mm", xlim=(-90, 90))
        row[0].legend(frameon=False, fontsize=8)
        row[1].axhline(0, color="C0", linewidth=0.8)
    save(figure, path, 80)


def table(result):
    """Markdown."""
    peer = next(r["cpu_ms"] for r in result["speed"] if r["key"] == "opentps")
    speed = [[r["name"], f"{1e-3 * r['cpu_ms']:.4g}", f"{peer / r['cpu_ms']:.4g}"]
             for r in result["speed"] if r["medium"] == "water"]
    lines = []
    for reference, media in result["physics"].items():
        for medium, rows in media.items():
            for key, row in rows.items():
                on_axis = row["depth dose"][f"10 to {DEEPEST:g} mm"]
                profiles = row["profiles"].values()
                cells = [medium, key, reference.removeprefix("from ")]
                cells += [f"{on_axis['largest']:.2f}", f"{on_axis['rms']:.2f}"]
                for what in ("largest", "largest beyond 6 mm of an edge"):
                    cells.append(", ".join(f"{p[what]:.1f}" for p in profiles))
                rates = row["gamma from 10 %"]
                cells += [f"{rates[f'{n} %/{n} mm']['rate']:.2f}" for n in (2, 1)]
                lines.append(cells)
    return markdown(["program", "processor s", "OpenTPS's / this"], speed) + "\n" + markdown(
        ["medium", "dose", "from", "depth dose, %", "rms, %", "profiles, %", "beyond 6 mm, %",
         "2 %/2 mm", "1 %/1 mm"], lines)


def parse():
    a = parser_of(__doc__.splitlines()[0], dose_comparison.self_test)
    a.add_argument("--iso", help="path of the tool")
    a.add_argument("--opentps", help="folder of Python packages that has opentps")
    a.add_argument("--flags", help="also build OpenTPS's sources with these flags of g++")
    a.add_argument("--size", type=int, default=128, help="N, even; at least 128")
    a.add_argument("--threads", type=int, default=2, help="of doses that are not timed")
    a.add_argument("--folder", type=pathlib.Path, help="of the doses")
    a.add_argument("--json", type=pathlib.Path, help="where the result goes")
    a.add_argument("--figure", type=pathlib.Path, help="where the picture goes, PNG")
    return a.parse_args()


def main():
    given = parse()
    if given.figure:
        need("matplotlib")
    measured = given.folder / "measured.json"
    if given.iso:
        given.folder.mkdir(parents=True, exist_ok=True)
        if any(given.folder.iterdir()):
            raise SystemExit(f"--folder {given.folder} (is not empty); name one that is")
        write_json(measured, measure(given, given.folder.resolve()))
    result = read_json(measured)
    result["physics"] = compare(given.folder)
    write_json(given.json, result)
    if given.figure:
        draw(given.folder, given.figure)
    print(table(result), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
