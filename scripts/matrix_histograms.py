#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Histograms of several dose matrices side by side, as counts, in Markdown.

    iso matrix generate prostate-1 --output p.h5 --json made_up.json
    iso matrix generate pencil-beams --output b.h5 --json pencil_beams.json
    python scripts/pyradplan_matrices.py --modality protons --output r.h5
    iso matrix info r.h5 --json tg119_protons.json
    matrix_histograms.py made_up.json pencil_beams.json tg119_protons.json

A column is a file of `iso matrix generate|info --json`, called as it is. One table each of lengths
of rows, of runs of consecutive columns and, where the files have it, of what neighbouring rows have
in common; the first two have a row for sizes from 2^k to 2^(k+1) - 1.
"""
import pathlib

from harness import markdown, read_json, words_of

TABLES = {
    "row_lengths": "entries of a row",
    "runs": "columns of a run",
    "jaccard_histogram": "percent of columns common to neighbours",
}


def size(key, low):
    if key == "jaccard_histogram":
        return f"{low} to {low + 9}" if low < 100 else "100"
    return str(low) if low == 1 else f"{low} to {2 * low - 1}"


def table_of(matrices, key, title):
    """Markdown; empty where no matrix has such counts."""
    found = {name: {int(k): n for k, n in m[key].items()} for name, m in matrices.items()
             if key in m}
    lows = sorted({low for counts in found.values() for low in counts})
    return markdown([title, *matrices], [
        [size(key, low), *(found[n].get(low, 0) if n in found else "" for n in matrices)]
        for low in lows], "---:") if lows else ""


def tables_of(matrices):
    return "\n".join(filter(None, (table_of(matrices, *each) for each in TABLES.items())))


def self_test():
    matrices = {"a": {"row_lengths": {"1": 3, "4": 2}, "runs": {"2": 1}},
                "b": {"row_lengths": {"2": 5}, "runs": {},
                      "jaccard_histogram": {"90": 4, "100": 1}}}
    return tables_of(matrices).splitlines() == [
        "| entries of a row | a | b |", "| ---: | ---: | ---: |",
        "| 1 | 3 | 0 |", "| 2 to 3 | 0 | 5 |", "| 4 to 7 | 2 | 0 |", "",
        "| columns of a run | a | b |", "| ---: | ---: | ---: |", "| 2 to 3 | 1 | 0 |", "",
        "| percent of columns common to neighbours | a | b |", "| ---: | ---: | ---: |",
        "| 90 to 99 |  | 4 |", "| 100 |  | 1 |"]


def main():
    matrices = {}
    for path in map(pathlib.Path, words_of(__doc__, self_test)):
        document = read_json(path)
        if not document.get("operation", "").startswith("matrix ") or "matrix" not in document:
            raise SystemExit(f"'{path}' has no histograms (a file of `iso matrix generate|info "
                             "--json` is expected); name one")
        matrices[path.stem] = document["matrix"]
    print(tables_of(matrices), end="")


if __name__ == "__main__":
    main()
