# SPDX-License-Identifier: BSD-3-Clause
"""Isocenter's dose-volume figures beside dicompyler-core's: an RT Dose and an RT Structure Set.

    compare_dvh.py --iso BUILD/apps/iso/iso --plan .deps/data/plan

runs where dicompyler-core can be imported (pip install dicompyler-core==0.5.6 'pydicom<3') and ends
with status 77 where it cannot, or where the plan is not there. PLAN holds rtdose.dcm and rtss.dcm,
as scripts/get_example_data.sh fetches them.

dicompyler-core counts pixels of the dose's grid whose centres lie inside a contour, gives each
contour the thickness of a slice, and reads doses off bins of 1 cGy. A slice has its contour's area
throughout there, and is a frustum between two here; so small structures differ by some pixels.

Times are wall times: of Isocenter the job's, of its one process for all structures; of
dicompyler-core one call a structure.
"""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import fetched, output_of, parser_of, skip, table_of, write_json  # noqa: E402

DOSES = ("mean", "D95", "D2", "maximum")
# Of a volume (per cent) and of a dose (per cent of the largest): what two conventions differ by in
# structures of more than LARGE cm3.
LARGE, VOLUME, DOSE = 10, 1, 2


def ours(given):
    said = json.loads(output_of([
        given.iso, "dvh", "--dose", given.plan / "rtdose.dcm", "--structures",
        given.plan / "rtss.dcm", "--quantity", *DOSES, "--json", "-", "--quiet"]))
    return said["doses"][0]["structures"], said["seconds"]


def theirs(dicomparser, dvhcalc, given):
    """{name: (volume, doses, seconds)}"""
    found = {}
    files = [str(given.plan / name) for name in ("rtss.dcm", "rtdose.dcm")]
    for number, structure in dicomparser.DicomParser(files[0]).GetStructures().items():
        begin = time.perf_counter()
        dvh = dvhcalc.get_dvh(*files, number)
        seconds = time.perf_counter() - begin
        if dvh.volume > 0:
            found[structure["name"]] = (
                dvh.volume, [dvh.mean, dvh.D95.value, dvh.D2.value, dvh.max], seconds)
    return found


def compare(given, dicomparser, dvhcalc):
    mine, seconds = ours(given)
    found = theirs(dicomparser, dvhcalc, given)
    rows = []
    for structure in mine:
        if structure["name"] not in found:
            continue
        volume, doses, _ = found[structure["name"]]
        row = {"structure": structure["name"], "volume": structure["volume_cm3"],
               "their volume": volume,
               "volume off, %": 100 * (structure["volume_cm3"] / volume - 1)}
        for name, dose in zip(DOSES, doses):
            row[name] = structure["values"][name]
            row[f"their {name}"] = dose
        rows.append(row)
    return {"rows": rows, "seconds": seconds,
            "their_seconds": sum(took for _, _, took in found.values())}


def check(result):
    """In structures of many pixels the conventions agree."""
    large = [row for row in result["rows"] if row["their volume"] > LARGE]
    if not large:
        raise SystemExit(f"no structure to compare (none is above {LARGE}); name larger ones")
    for row in large:
        off = max(abs(row[name] - row[f"their {name}"]) for name in DOSES[:3])
        if abs(row["volume off, %"]) > VOLUME or off > DOSE / 100 * row["maximum"]:
            raise SystemExit(f"the two differ by more than the conventions: {row}")


def main():
    a = parser_of(__doc__.splitlines()[0])
    a.add_argument("--iso", required=True, type=pathlib.Path)
    a.add_argument("--plan", required=True, type=pathlib.Path)
    a.add_argument("--json", type=pathlib.Path)
    given = a.parse_args()
    try:
        from dicompylercore import dicomparser, dvhcalc
    except ImportError:
        skip("a comparison with dicompyler-core (this Python has none); "
             "pip install dicompyler-core==0.5.6 'pydicom<3'")
    fetched(given.plan / "rtss.dcm")
    result = compare(given, dicomparser, dvhcalc)
    print(table_of(result["rows"], 4))
    print(f"{result['seconds']:.3g} s, dicompyler-core {result['their_seconds']:.3g} s")
    write_json(given.json, result)
    check(result)


if __name__ == "__main__":
    main()
