#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of what measure_ranks.sh has written.

A line a row: processes, times as fast as the memory of one, parallel efficiency, the bytes that all
send in a call and those of the table in docs/algorithms/ranks.md, and whether the bits are those of
one memory. The efficiency of volumes that grow with the processes is that of their voxels a second
beside one process's of `strong`.

Usage: ranks_table.py FOLDER
       ranks_table.py --self-test
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import markdown, parser_of, read_json  # noqa: E402

HEAD = ["run", "row", "voxels, views", "ranks", "carried by", "ms", "times as fast", "efficiency",
        "sent, MB", "by the table, MB", "bits"]


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
    print("ranks_table.py: self-test passed")


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    runs = {path.stem: read_json(path) for path in sorted(args.folder.glob("*.json"))}
    print(markdown(HEAD, lines(runs)))


if __name__ == "__main__":
    main()
