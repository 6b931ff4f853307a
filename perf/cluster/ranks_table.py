#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of what measure_ranks.sh has written.

A line a row: processes, times as fast as the memory of one, parallel efficiency, the bytes that all
send in a call and those of the table in docs/algorithms/ranks.md, and whether the bits are those of
one memory. The efficiency of volumes that grow with the processes is that of their voxels a second
beside one process's of `strong`. Bytes that differ from the table's make the exit status 1.

Usage: ranks_table.py FOLDER
       ranks_table.py FOLDER --record FILE --date 2026-11-30    the rows, as perf/results has them
       ranks_table.py --self-test
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import markdown, parser_of, read_json  # noqa: E402

HEAD = ["run", "row", "voxels, views", "ranks", "carried by", "ms", "times as fast", "efficiency",
        "sent, MB", "by the table, MB", "bits"]


NAMES = {
    "forward": "projection", "adjoint": "adjoint", "fdk": "filtered backprojection",
    "sirt": "SIRT", "cgls": "CGLS", "total_variation": "total variation",
    "os_sart": "OS-SART, 4 blocks", "blocks_of_8": "OS-SART, blocks of 8 views",
    "product": "product of a matrix", "transposed": "transposed product",
    "by_words": "transposed product by words", "gamma": "gamma index",
}


def is_as_by_table(row):
    """Whether a row sends what the table has, but for a few words a batch."""
    sent, table = row.get("bytes_sent", 0), row.get("bytes_by_table")
    return table is None or abs(sent - table) <= max(1 << 16, 0.001 * table)


def name_of(what, run):
    name = NAMES.get(what, what)
    if what == "dose":
        return f"dose of {run['beams']} beams, {run['size']}^3"
    if "nonzeros" in run:
        return f"{name}, {run['nonzeros']:.2g} non-zeros".replace("e+0", "e")
    views = f", {run['views']} views" if "views" in run else ""
    tilt = f", detector pitched by {run['pitch']:g} degrees" if run.get("pitch") else ""
    return f"{name}, {run['size']}^3{views}{tilt}"


def record(runs, date):
    """The rows as perf/results has them, in the precision of the programs."""
    rows = []
    for name, run in sorted(runs.items()):
        if name.startswith("bits_p"):
            continue
        for row in run["rows"]:
            said = {"machine": f"{run['ranks']} {run['processor']}, {run['carried']}",
                    "what": name_of(row["what"], run), "unit": "ms", "value": row["ms"]}
            if "ms_one" in row:
                said |= {"peer": "one GPU", "peer_value": row["ms_one"], "ratio": row["speedup"],
                         "error": 0 if row["bits_agree"] else 1}
            said |= {key: row[key] for key in ("bytes_sent", "bytes_by_table") if key in row}
            said["revision"] = run["git_revision"]
            rows.append(said)
    return {"date": date, "command": "perf/cluster/measure_ranks.sh", "topic": "ranks",
            "rows": rows}


def ones(runs):
    """{row: (voxels times views, ms)} of one process, where it was timed."""
    found = {}
    for name, run in runs.items():
        for row in run["rows"]:
            if name.startswith("strong") and "ms_one" in row:
                found[row["what"]] = (run["size"] ** 3 * run["views"], row["ms_one"])
    return found


def lines(runs):
    one = ones(runs)
    table = []
    for name, run in sorted(runs.items()):
        for row in run["rows"]:
            speedup = row.get("speedup")
            if speedup is None and row["what"] in one and "size" in run:
                work, ms = one[row["what"]]
                speedup = run["size"] ** 3 * run["views"] / work * ms / row["ms"]
            size = str(run.get("size", ""))
            if "views" in run:
                size += f"^3, {run['views']}"
            table.append([
                name.rsplit("_", 1)[0], row["what"], size, run["ranks"], run.get("carried", ""),
                f"{row['ms']:.1f}",
                "" if speedup is None else f"{speedup:.2f}",
                "" if speedup is None else f"{speedup / run['ranks']:.2f}",
                f"{row['bytes_sent'] / 1e6:.1f}" if "bytes_sent" in row else "",
                f"{row['bytes_by_table'] / 1e6:.1f}" if "bytes_by_table" in row else "",
                {True: "agree", False: "DIFFER"}.get(row.get("bits_agree"), ""),
            ])
    return table


def self_test():
    runs = {
        "strong_2": {"size": 8, "views": 4, "ranks": 2, "rows": [
            {"what": "fdk", "ms": 5.0, "ms_one": 10.0, "speedup": 2.0, "bytes_sent": 3_000_000,
             "bytes_by_table": 3_000_000, "bits_agree": True}]},
        # Eight times the work in four times the time, by four.
        "weak_4": {"size": 16, "views": 4, "ranks": 4, "rows": [{"what": "fdk", "ms": 40.0}]},
    }
    found = lines(runs)
    assert found[0][6:] == ["2.00", "1.00", "3.0", "3.0", "agree"], found[0]
    assert found[1][6:8] == ["2.00", "0.50"] and found[1][10] == "", found[1]
    assert is_as_by_table(runs["strong_2"]["rows"][0]) and is_as_by_table({"bytes_sent": 8})
    assert not is_as_by_table({"bytes_sent": 3_100_000, "bytes_by_table": 3_000_000})
    facts = {"processor": "GPU", "carried": "NCCL", "git_revision": "1"}
    kept = record({name: run | facts for name, run in runs.items()}, "2026-11-30")["rows"]
    assert kept[0]["what"] == "filtered backprojection, 8^3, 4 views" and kept[0]["ratio"] == 2.0
    assert kept[0]["bytes_by_table"] == 3_000_000 and "peer" not in kept[1], kept
    products = {"nonzeros": 1.48e9, "vectors": 1}
    assert name_of("by_words", products) == "transposed product by words, 1.5e9 non-zeros"
    print("ranks_table.py: self-test passed")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--date", default="")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    runs = {path.stem: read_json(path) for path in sorted(args.folder.glob("*.json"))}
    print(markdown(HEAD, lines(runs)))
    if args.record:
        args.record.write_text(json.dumps(record(runs, args.date), indent=1) + "\n")
    wrong = [f"{name}: {row['what']}" for name, run in runs.items() for row in run["rows"]
             if not is_as_by_table(row)]
    if wrong:
        sys.exit(f"ranks_table.py: other bytes than the table's ({', '.join(wrong)}); mend either")


if __name__ == "__main__":
    main()
