# SPDX-License-Identifier: BSD-3-Clause
"""Isocenter's collapsed-cone dose beside OpenTPS's: one run, one machine, one thread.

    compare_dose.py --isocenter BUILD/perf/peers/isocenter_dose \\
        --opentps VENV/lib/python3.11/site-packages --folder doses --json dose.json
    compare_dose.py --folder doses --figure dose.png    from doses already there

The problem is a cube of N^3 voxels of 2 mm, of water or of water with a lung slab (0.26 g/cm3) from
60 to 140 mm behind its surface. The field is 100 mm x 100 mm at the isocentre, which lies 100 mm
behind the surface and 1000 mm from the source. Both programs get the same density, the spectrum of
OpenTPS's files and, with Isocenter's tabulated kernel, the same table. Doses are made equal at
100 mm on the axis. 100 per cent is the largest dose on the axis of Isocenter's tabulated kernel
with the peer's number of directions.

Times are processor time of one thread. Isocenter's are the least of their calls, TERMA and
convolution; OpenTPS's is one call, its files read and written included. `error` of a row is the
distance from dose_engine::voxel_lines in double with the same directions, on a cube of half the
width with half the field.

Usage: compare_dose.py --self-test   checks the arithmetic of the comparison
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import compare_ct
import peer_opentps

_VOXEL = 2.0  # mm
_SURFACE = 100.0  # mm before the isocentre
_SOURCE = 1000.0  # mm before the isocentre
_FIELD = 100.0  # mm
_SLAB = (60.0, 140.0, 0.26)  # mm, mm, g/cm3
_EQUAL_AT = 100.0  # mm
_DEPTHS = (50.0, 100.0, 200.0)  # mm, of the profiles
_MEDIA = ("water", "lung")
_YARDSTICK = "tabulated_6x12"
# The first 5 mm, where the peer is known to be off; it gives no dose below 0.5 % of its maximum.
_SHALLOWEST = 5.0  # mm
_DEEPEST = 250.0  # mm
_GROWTH_SIZES = (64, 96, 128, 160)
_GROWTH_DIRECTIONS = ((6, 6), (6, 12), (12, 12), (12, 24))


def density(medium, size):
    """[x, y, z], g/cm3."""
    made = np.ones((size,) * 3, np.float32)
    if medium == "lung":
        depth = depths(size)
        made[:, (depth > _SLAB[0]) & (depth < _SLAB[1])] = _SLAB[2]
    return made


def depths(size):
    """mm behind the surface, of the middles of the voxels."""
    return _VOXEL * (np.arange(size) + 0.5)


def sides(size):
    """mm from the axis."""
    return _VOXEL * (np.arange(size) - 0.5 * (size - 1))


def middle(dose, axis):
    """The mean of the two planes beside the axis."""
    half = dose.shape[axis] // 2
    return dose.take((half - 1, half), axis).mean(axis)


def depth_dose(dose):
    return middle(middle(dose, 2), 0)


def at_depth(dose, depth):
    """[x, z]: linear between two planes."""
    place = depth / _VOXEL - 0.5
    below = int(place)
    part = place - below
    return (1 - part) * dose[:, below] + part * dose[:, below + 1]


def equal(dose):
    """1 at _EQUAL_AT on the axis."""
    curve = depth_dose(dose.astype(np.float64))
    return dose / np.interp(_EQUAL_AT, depths(curve.size), curve)


def refined(plane, times):
    """Linear between the values: `times` steps for each voxel."""
    for axis in (0, 1):
        count = plane.shape[axis]
        fine = np.arange((count - 1) * times + 1) / times
        low = np.minimum(fine.astype(int), count - 2)
        part = (fine - low).reshape((-1, 1) if axis == 0 else (1, -1))
        plane = (1 - part) * plane.take(low, axis) + part * plane.take(low + 1, axis)
    return plane


def gamma(reference, dose, dose_part, distance, times=8):
    """Gamma of every voxel of the plane `reference` with regard to `dose`, which is linear between
    its voxels; dose_part in the planes' unit, distance in mm; searched within two distances."""
    fine = refined(dose, times)
    reach = int(2 * distance / _VOXEL * times)
    steps = np.arange(-reach, reach + 1)
    rows = np.arange(reference.shape[0])[:, None] * times
    columns = np.arange(reference.shape[1])[None, :] * times
    least = np.full(reference.shape, np.inf)
    for a in steps:
        for b in steps:
            away = (a * a + b * b) * (_VOXEL / times / distance) ** 2
            if away > 4:
                continue
            row, column = rows + a, columns + b
            there = fine[row.clip(0, fine.shape[0] - 1), column.clip(0, fine.shape[1] - 1)]
            outside = (row != row.clip(0, fine.shape[0] - 1)) | (
                column != column.clip(0, fine.shape[1] - 1)
            )
            value = np.where(outside, np.inf, ((there - reference) / dose_part) ** 2 + away)
            least = np.minimum(least, value)
    return np.sqrt(least)


def edge_at(depth):
    """mm from the axis to the edge of the field."""
    return 0.5 * _FIELD * (_SOURCE - _SURFACE + depth) / _SOURCE


def gamma_rates(reference, dose, maximum, threshold):
    """Over three central planes: percentage of voxels with gamma at most 1 at 2 %/2 mm and at
    1 %/1 mm, the largest gamma, and how far from an edge of the field the farthest voxel lies that
    fails. Voxels below `threshold` of the maximum are left out."""
    depth, side = depths(dose.shape[1]), sides(dose.shape[0])
    deep = (depth > _SHALLOWEST) & (depth < _DEEPEST)
    along = abs(abs(side)[:, None] - edge_at(depth)[None, :])  # [x, y]: mm from an edge
    across = abs(abs(side) - edge_at(_EQUAL_AT))
    planes = (
        (middle(reference, 2), middle(dose, 2), deep[None, :], along),
        (middle(reference, 0), middle(dose, 0), deep[:, None], along.T),
        (at_depth(reference, _EQUAL_AT), at_depth(dose, _EQUAL_AT), True,
         np.minimum(across[:, None], across[None, :])),
    )  # fmt: skip
    result = {}
    for percent in (2, 1):
        values, from_edge = [], []
        for of_reference, of_dose, kept, away in planes:
            found = gamma(of_reference, of_dose, 0.01 * percent * maximum, float(percent))
            chosen = kept & (of_reference >= threshold * maximum)
            values.append(found[chosen])
            from_edge.append(away[chosen])
        values, from_edge = np.concatenate(values), np.concatenate(from_edge)
        failing = values > 1
        result[f"{percent} %/{percent} mm"] = {
            "rate": 100 * float(np.mean(~failing)),
            "largest": float(values.max()),
            "failing": int(failing.sum()),
            "farthest failing from an edge_mm": float(max(from_edge[failing], default=0)),
        }
    return result | {"voxels": int(values.size)}


def comparison(reference, dose, maximum):
    """Where and how much two doses that are equal at _EQUAL_AT differ, in % of the maximum."""
    depth, side = depths(dose.shape[1]), sides(dose.shape[0])
    apart = 100 * (depth_dose(dose) - depth_dose(reference)) / maximum
    result = {"depth dose": {}, "profiles": {}}
    for low in (_SHALLOWEST, 10.0, 20.0):
        chosen = (depth >= low) & (depth <= _DEEPEST)
        worst = np.flatnonzero(chosen)[np.argmax(abs(apart[chosen]))]
        result["depth dose"][f"{low:g} to {_DEEPEST:g} mm"] = {
            "largest": float(abs(apart[worst])),
            "at_mm": float(depth[worst]),
            "rms": float(np.sqrt(np.mean(apart[chosen] ** 2))),
        }
    for at in _DEPTHS:
        lines = [middle(at_depth(d, at), 1) for d in (reference, dose)]
        apart = 100 * (lines[1] - lines[0]) / maximum
        far = abs(abs(side) - edge_at(at)) > 6
        result["profiles"][f"{at:g} mm"] = {
            "largest": float(abs(apart).max()),
            "largest beyond 6 mm of an edge": float(abs(apart[far]).max()),
            "edges_mm": [[edge_place(side, line, way) for way in (-1, 1)] for line in lines],
            "penumbra_mm": [penumbra(side, line) for line in lines],
        }
    result["gamma from 10 %"] = gamma_rates(reference, dose, maximum, 0.1)
    result["gamma from 1 %"] = gamma_rates(reference, dose, maximum, 0.01)
    return result


def edge_place(side, line, way, level=0.5):
    """mm from the axis where the profile falls through `level` of its value on the axis."""
    line = line / np.interp(0, side, line)
    far = (way * side > 0) & (abs(side) > 20)
    order = np.argsort(line[far])
    return float(np.interp(level, line[far][order], side[far][order]))


def penumbra(side, line):
    """mm from 80 to 20 per cent, mean of both sides."""
    wide = [abs(edge_place(side, line, w, 0.2) - edge_place(side, line, w, 0.8)) for w in (-1, 1)]
    return float(np.mean(wide))


def slope(sizes, times):
    """Of log time over log size, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


class isocenter:
    """One problem, in a process of its own."""

    def __init__(self, given, folder, medium, size, kernel, cones, **more):
        file = folder / f"{medium}_{size}.raw"
        if not file.exists():
            density(medium, size).tofile(file)
        options = {
            "backend": "serial", "size": size, "voxel": _VOXEL, "surface": _SURFACE,
            "source-distance": _SOURCE, "field": _FIELD, "density": file,
            "spectrum": folder / "spectrum.csv", "kernel": kernel, "cones": cones[0],
            "azimuths": cones[1], "vector-bytes": 64, "precision": "float", "engine": "lattice",
        } | {name.replace("_", "-"): value for name, value in more.items()}  # fmt: skip
        command = [given.isocenter]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        threads = given.threads if options["backend"] == "openmp" else 1
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="false")
        self._size, self._file = size, folder / "isocenter_dose.raw"
        self._program = compare_ct.program("isocenter", command, environment)
        self._program.answer("ready")

    def time(self, calls):
        """The least of the calls: milliseconds of TERMA, of the convolution, and of both."""
        took = self._program.ask(f"time {calls}", "ms")
        both = zip(took["terma_cpu_ms"], took["convolution_cpu_ms"])
        return {
            "terma_cpu_ms": min(took["terma_cpu_ms"]),
            "convolution_cpu_ms": min(took["convolution_cpu_ms"]),
            "cpu_ms": min(a + b for a, b in both),
            "calls": calls,
        }

    def dose(self):
        self._program.ask(f"write {self._file}", "written")
        return np.fromfile(self._file, np.float32).reshape((self._size,) * 3)

    def leave(self):
        self._program.leave()


def error_of(given, folder, kernel, cones):
    """Of the lattice in float against exact lines in double: % of the maximum."""
    size = given.size // 2
    small = {"field": 0.5 * _FIELD, "surface": 0.5 * _SURFACE}
    found = []
    for more in ({}, {"engine": "voxel_lines", "precision": "double"}):
        options = {"backend": "openmp", **small, **more}
        one = isocenter(given, folder, "water", size, kernel, cones, **options)
        one.time(1)
        found.append(one.dose().astype(np.float64))
        one.leave()
    apart = 100 * (found[0] - found[1]) / found[1].max()
    x = abs(sides(size))
    edge = 0.25 * _FIELD * (_SOURCE - 0.5 * _SURFACE + depths(size)) / _SOURCE
    near = abs(x[:, None] - edge[None, :]) < 4.5  # [x, y]
    near = near[:, :, None] | near.T[None, :, :] | (depths(size) < 4.5)[None, :, None]
    return {
        "rms": float(np.sqrt(np.mean(apart**2))),
        "largest beyond 4.5 mm of an edge": float(abs(apart[~near]).max()),
    }


def growth(given, folder):
    """Of the convolution with the exponential kernel, and with TERMA."""

    def least(size, cones):
        one = isocenter(given, folder, "water", size, "6mv", cones)
        one.time(1)
        took = one.time(9)
        one.leave()
        return took

    sizes = {n: least(n, (6, 12)) for n in _GROWTH_SIZES}
    sets = {a * b: least(given.size, (a, b)) for a, b in _GROWTH_DIRECTIONS}
    result = {}
    for name, rows in (("voxels along a side", sizes), ("directions", sets)):
        columns = {
            k: [row[k] for row in rows.values()] for k in ("convolution_cpu_ms", "cpu_ms")
        }
        result[name] = {"of": list(rows), **columns} | {
            f"exponent_{k}": slope(list(rows), v) for k, v in columns.items()
        }
    return result


def write_spectrum(peer, folder):
    lines = [",".join(f"{v:.7g}" for v in row) for row in peer.spectrum()]
    (folder / "spectrum.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(given, folder):
    """Runs everything; doses go to `folder`."""
    peer = peer_opentps.engine(given.opentps, folder)
    write_spectrum(peer, folder)
    host = compare_ct.machine(argparse.Namespace(threads=1, device="cpu"))
    result = {"machine": host, "speed": []}

    def note(**row):
        result["speed"].append(row)
        print(json.dumps(row), flush=True)

    def ours(medium, kernel, cones, calls, name, **more):
        key = f"{'exponential' if kernel == '6mv' else kernel}_{cones[0]}x{cones[1]}"
        one = isocenter(given, folder, medium, given.size, kernel, cones, **more)
        if calls > 1:
            one.time(1)
        took = one.time(calls)
        np.save(folder / f"{medium}_{key}.npy", one.dose())
        one.leave()
        if name:
            note(medium=medium, key=key, name=f"Isocenter, {name}", **took)

    for name, bytes_of in (("AVX-512", 64), ("AVX2", 32)):
        ours("water", "6mv", (6, 12), 9, f"exponential, {name}", vector_bytes=bytes_of)
    for medium in _MEDIA:
        dose, wall, busy = peer.run(density(medium, given.size), _VOXEL, _SURFACE, _FIELD)
        np.save(folder / f"{medium}_opentps.npy", dose)
        note(medium=medium, key="opentps", name="OpenTPS 2.0.2", cpu_ms=1e3 * busy, ms=1e3 * wall)
    for name, bytes_of in (("AVX-512", 64), ("AVX2", 32)):
        ours("water", "6mv", (6, 12), 9, f"exponential, {name}, again", vector_bytes=bytes_of)
        ours("water", "tabulated", (6, 12), 1, f"tabulated, {name}", vector_bytes=bytes_of)
    if given.flags:
        with tempfile.TemporaryDirectory() as name:
            built = peer_opentps.engine(given.opentps, name, given.flags)
            _, wall, busy = built.run(density("water", given.size), _VOXEL, _SURFACE, _FIELD)
        what = f"OpenTPS 2.0.2, built with {given.flags}"
        note(medium="water", key="opentps", name=what, cpu_ms=1e3 * busy, ms=1e3 * wall)
    for medium in _MEDIA:
        for kernel in ("6mv", "tabulated"):
            for cones in ((6, 12), (8, 8)):
                key = f"{'exponential' if kernel == '6mv' else kernel}_{cones[0]}x{cones[1]}"
                if not (folder / f"{medium}_{key}.npy").exists():
                    ours(medium, kernel, cones, 1, None, backend="openmp")
    result["errors"] = {
        kernel: error_of(given, folder, kernel, (6, 12)) for kernel in ("6mv", "tabulated")
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
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = (
        ("opentps", "OpenTPS", "k", "-"),
        ("tabulated_6x12", "Isocenter, tabulated", "C0", "-"),
        ("exponential_6x12", "Isocenter, exponential", "C3", "--"),
    )
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 6.4), layout="constrained")
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
            for at in _DEPTHS:
                line = 100 * middle(at_depth(doses[key], at), 1) / maximum
                row[2].plot(side, line, color=colour, linestyle=dash)
        for axis in row[:2]:
            axis.set_xlabel("depth, mm")
            if medium == "lung":
                axis.axvspan(_SLAB[0], _SLAB[1], color="0.92")
        name = "water" if medium == "water" else "lung slab in water"
        row[0].set(title=f"{name}: on the axis", ylabel="dose, % of the maximum")
        row[1].set(title="less the tabulated kernel", ylabel="% of the maximum", ylim=(-3, 3))
        row[2].set(title="profiles at 50, 100, 200 mm", xlabel="from the axis, mm", xlim=(-90, 90))
        row[0].legend(frameon=False, fontsize=8)
        row[1].axhline(0, color="C0", linewidth=0.8)
    figure.savefig(path, dpi=80)


def table(result):
    """Markdown."""
    peer = next(r["cpu_ms"] for r in result["speed"] if r["key"] == "opentps")
    lines = ["| program | processor s | OpenTPS's / this |", "|---|---|---|"]
    for r in (r for r in result["speed"] if r["medium"] == "water"):
        lines.append(f"| {r['name']} | {1e-3 * r['cpu_ms']:.4g} | {peer / r['cpu_ms']:.4g} |")
    lines += ["", "| medium | dose | from | depth dose, % | rms, % | profiles, % | beyond 6 mm, % |"
              " 2 %/2 mm | 1 %/1 mm |", "|---" * 9 + "|"]
    for reference, media in result["physics"].items():
        for medium, rows in media.items():
            for key, row in rows.items():
                on_axis = row["depth dose"][f"10 to {_DEEPEST:g} mm"]
                profiles = row["profiles"].values()
                cells = [medium, key, reference.removeprefix("from ")]
                cells += [f"{on_axis['largest']:.2f}", f"{on_axis['rms']:.2f}"]
                for what in ("largest", "largest beyond 6 mm of an edge"):
                    cells.append(", ".join(f"{p[what]:.1f}" for p in profiles))
                rates = row["gamma from 10 %"]
                cells += [f"{rates[f'{n} %/{n} mm']['rate']:.2f}" for n in (2, 1)]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def self_test():
    size = 24
    wave = np.sin(np.arange(size) / 5.0)[:, None] + 0.1 * np.arange(size)[None, :]
    assert np.allclose(refined(wave, 4)[::4, ::4], wave)
    # A ramp of 0.1 a voxel, moved by d mm, is 0.1 d / 2 higher: a gamma of closed form.
    ramp = np.tile(0.1 * np.arange(size), (size, 1))
    for moved in (0.5, 1.5, 3.0):
        steep, found = 0.1 / _VOXEL, gamma(ramp, ramp + 0.1 * moved / _VOXEL, 0.1, 2.0, 16)
        expected = (moved * steep / 0.1) / math.hypot(1, 2.0 * steep / 0.1)
        assert abs(found[size // 2, size // 2] - expected) < 0.01, (moved, found, expected)
    assert abs(slope([1, 2, 4], [3, 24, 192]) - 3) < 1e-12
    dose = np.ones((size, size, size)) * np.exp(-0.005 * depths(size))[None, :, None]
    dose = np.where(abs(sides(size))[:, None, None] < 12, dose, 0.0)
    assert abs(depth_dose(dose)[3] - math.exp(-0.005 * 7)) < 1e-12
    line = np.clip((40 - abs(sides(64))) / 20 + 0.5, 0, 1)
    assert abs(edge_place(sides(64), line, 1) - 40) < 0.1
    assert abs(penumbra(sides(64), line) - 12) < 0.1
    lung = density("lung", 80)
    assert lung[0, 29, 0] == 1 and lung[0, 30, 0] == np.float32(0.26) and lung[0, 70, 0] == 1


def parse():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--isocenter", help="path of isocenter_dose")
    a.add_argument("--opentps", help="folder of Python packages that has opentps")
    a.add_argument("--flags", help="also build OpenTPS's sources with these flags of g++")
    a.add_argument("--size", type=int, default=128, help="N, even; at least 128")
    a.add_argument("--threads", type=int, default=2, help="of doses that are not timed")
    a.add_argument("--folder", type=pathlib.Path, help="of the doses")
    a.add_argument("--json", type=pathlib.Path, help="where the result goes")
    a.add_argument("--figure", type=pathlib.Path, help="where the picture goes, PNG")
    a.add_argument("--self-test", action="store_true")
    return a.parse_args()


def main():
    given = parse()
    if given.self_test:
        self_test()
        return 0
    measured = given.folder / "measured.json"
    if given.isocenter:
        given.folder.mkdir(parents=True, exist_ok=True)
        if any(given.folder.iterdir()):
            raise SystemExit(f"--folder {given.folder} (is not empty)")
        text = json.dumps(measure(given, given.folder.resolve()), indent=1)
        measured.write_text(text + "\n", encoding="utf-8")
    result = json.loads(measured.read_text(encoding="utf-8"))
    result["physics"] = compare(given.folder)
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if given.figure:
        draw(given.folder, given.figure)
    print(table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
