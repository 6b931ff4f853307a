# SPDX-License-Identifier: BSD-3-Clause
"""Isocenter's gamma beside pymedphys': values and time, one machine, one thread.

    compare_gamma.py --iso BUILD/apps/iso/iso --json gamma.json

runs where pymedphys can be imported (pip install pymedphys==0.41.0 scipy numba) and ends with
status 77 where it cannot. The doses are exp(-r^2 / (2 (30 mm)^2)), and the same shifted by 1 mm
times 1.01, in voxels of 2 mm, as float32. Criteria: 3 %/3 mm and 1 %/1 mm of the reference maximum,
cut-off 10 %, maximum gamma 2.

pymedphys samples the evaluated dose, linear between its voxels, at shells of the distance over
interp_fraction. Each of its samples is a point of the interpolant whose minimum Isocenter finds:
its gamma must not be below ours, and must fall towards it as interp_fraction grows. It gives no
gamma to points that reach beyond the evaluated grid; so the comparison leaves them out, and says
how many.

Times are processor time of one thread. Isocenter's is what `iso gamma --repeats` tells, of
gamma_plan and gamma_index, the least of the calls; pymedphys' is one call, after a small one that
compiles its kernels.

Usage: compare_gamma.py --small   a few points, for a test
"""
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import parser_of, skip, table_of, write_json  # noqa: E402
from python_modules import np  # noqa: E402
from dose_runs import facts_of, least, tool  # noqa: E402
from volumes import read_mha, write_mha  # noqa: E402

SPACING = 2.0  # mm
CRITERIA = ((3, 3), (1, 1))  # per cent, mm
CUT_OFF = 10  # per cent
MAX_GAMMA = 2
# float32 of the result.
ROUNDING = 1e-6


def doses(size):
    x = SPACING * (np.arange(size) - 0.5 * (size - 1))
    axes = np.meshgrid(x, x, x, indexing="ij", sparse=True)

    def hill(shift):
        return np.exp(-((axes[0] - shift) ** 2 + axes[1] ** 2 + axes[2] ** 2) / (2 * 30.0**2))

    return x, hill(0).astype(np.float32), (1.01 * hill(1)).astype(np.float32)


def ours(iso, size, criterion, repeats):
    """(gamma, its summary, seconds)"""
    paths = [iso.folder / "reference.mha", iso.folder / "evaluated.mha"]
    for path, dose in zip(paths, doses(size)[1:]):
        write_mha(path, dose, SPACING, "Gy")
    answer = iso.run("gamma", *paths, criterion=f"{criterion[0]}%/{criterion[1]}mm",
                     cut_off=f"{CUT_OFF}%", max_gamma=MAX_GAMMA, backend="serial", repeats=repeats,
                     output=iso.folder / "gamma.mha")
    _, seconds, _ = least(answer, "serial")
    return read_mha(iso.folder / "gamma.mha")[0], answer["criteria"][0], seconds


def theirs(pymedphys, size, criterion, fraction):
    x, reference, evaluated = doses(size)
    axes = (x, x, x)
    begin = time.process_time()
    found = pymedphys.gamma(
        axes, reference, axes, evaluated, criterion[0], criterion[1],
        lower_percent_dose_cutoff=CUT_OFF, interp_fraction=fraction, max_gamma=MAX_GAMMA,
    )  # fmt: skip
    return found, time.process_time() - begin


def compare(given, pymedphys):
    rows = []
    with tempfile.TemporaryDirectory() as name:
        iso = tool(given.iso, name)
        for criterion in CRITERIA:
            mine, said, seconds = ours(iso, given.size, criterion, given.repeats)
            for fraction in given.fractions:
                found, took = theirs(pymedphys, given.size, criterion, fraction)
                both = np.isfinite(found) & np.isfinite(mine)
                above = found[both] - mine[both]
                rows.append({
                    "criterion": f"{criterion[0]} %/{criterion[1]} mm",
                    "interp_fraction": fraction, "points": int(np.isfinite(mine).sum()),
                    "left out by pymedphys": int((np.isfinite(mine) & ~both).sum()),
                    "least above": float(above.min()), "mean above": float(above.mean()),
                    "largest above": float(above.max()),
                    "passed": 100 * said["passed"] / said["compared"],
                    "passed by pymedphys": 100 * float((found[both] <= 1).mean()),
                    "ms": 1e3 * seconds, "pymedphys_ms": 1e3 * took, "ratio": took / seconds,
                })  # fmt: skip
        facts = facts_of(iso, "serial")
    return {"size": given.size, "processor": facts["processor"], "revision": facts["revision"],
            "pymedphys": pymedphys.__version__, "rows": rows}


def check(result):
    """Ours is a limit from below."""
    last = {}
    for row in result["rows"]:
        if row["least above"] < -ROUNDING:
            raise SystemExit(f"pymedphys is below the minimum: {row}")
        if row["mean above"] > last.get(row["criterion"], np.inf):
            raise SystemExit(f"pymedphys gets no nearer: {row}")
        last[row["criterion"]] = row["mean above"]


def main():
    a = parser_of(__doc__.splitlines()[0])
    a.add_argument("--iso", required=True, type=pathlib.Path)
    a.add_argument("--size", type=int, default=64)
    a.add_argument("--fractions", type=lambda s: [int(x) for x in s.split(",")],
                   default=[5, 10, 20])
    a.add_argument("--repeats", type=int, default=5)
    a.add_argument("--small", action="store_true")
    a.add_argument("--json", type=pathlib.Path)
    given = a.parse_args()
    if given.small:
        given.size, given.fractions, given.repeats = 16, [2, 10], 1
    os.environ["NUMBA_NUM_THREADS"] = "1"
    try:
        import numba  # noqa: F401, pylint: disable=unused-import
        import pymedphys
    except ImportError:
        skip("a comparison with pymedphys (this Python has none); "
             "pip install pymedphys==0.41.0 scipy numba")
    theirs(pymedphys, 8, CRITERIA[0], 2)
    result = compare(given, pymedphys)
    print(table_of(result["rows"], 4))
    write_json(given.json, result)
    check(result)


if __name__ == "__main__":
    main()
