#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether the format that choose_format takes is ever slower than plain CSR.

    choice.py <iso_bench_spmv or its JSON> [--backend serial] [--slack 0.05]

Runs the rows choice/ of the benchmark or reads them: every format beside plain CSR (32-bit
columns) in turn, on every matrix, A and A^T, ordered and reproducible sums. On the host processor
time counts, which other programs on the machine change least, on a GPU the time. Prints each
format's time over that of plain CSR, the chosen one in brackets, and fails where a chosen format is
slower by more than the slack. Behind each time stands what product_cost expected. Several files:
medians over them. One thread is measured where nothing else is asked for: threads that share their
cores with other programs wait for each other, and then ratios of two products mean little.
"""
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import document_of, parser_of, write_json  # noqa: E402


def table_of(rows, backend):
    """{(matrix, way, sum): {format: row}}, each row with its time over plain CSR's, `relative`."""
    table = {}
    for row in rows:
        parts = row["name"].split("/")
        if parts[0] != "choice" or parts[5] != backend or "ratio" not in row:
            continue
        row["relative"] = 1 / row.get("processor_ratio", row["ratio"])
        row["expected"] = row["cost"] / row["csr_cost"]
        table.setdefault((parts[1], parts[2], parts[4]), {})[parts[3]] = row
    return table


def verdict(formats, slack):
    """What is chosen, its time over plain CSR's, and whether that will do."""
    for name, row in formats.items():
        if row["chosen"] == 1:
            return name, row["relative"], row["relative"] <= 1 + slack
    return "csr32", 1.0, True


def measured(program, backend, slack):
    """The table of a program or its JSON; what seems too slow counts by the median of five runs."""
    def run(what=".*"):
        return table_of(document_of(program, f"^choice/({what})/{backend}/")["benchmarks"], backend)

    table = run()
    if program.suffix == ".json":
        return table
    doubtful = {key: name for key, formats in table.items()
                for name, _, will_do in [verdict(formats, slack)] if not will_do}
    if doubtful:
        what = "|".join(f"{m}/{way}/{name}/{total}"
                        for (m, way, total), name in doubtful.items())
        tables = [table] + [run(what) for _ in range(4)]
        for key, name in doubtful.items():
            times = [t[key][name]["relative"] for t in tables]
            table[key][name]["relative"] = statistics.median(times)
    return table


def self_test():
    def row(form, relative, chosen):
        return {"name": f"choice/m/A/{form}_half/ordered/openmp/manual_time", "ratio": 9.0,
                "processor_ratio": 1 / relative, "chosen": chosen, "cost": 2.0, "csr_cost": 2.5}

    rows = [row("row_block4", 0.8, 1), row("row_block8", 1.5, 0),
            {"name": "spmv/m/A/csr32_half/x/openmp"}]
    table = merged([table_of(rows, "openmp")])
    assert list(table) == [("m", "A", "ordered")]
    formats = table["m", "A", "ordered"]
    good = verdict(formats, 0.05)[::2] == ("row_block4_half", True)
    formats["row_block4_half"]["relative"] = 1.06
    good = good and not verdict(formats, 0.05)[2]
    formats["row_block4_half"]["chosen"] = 0
    return good and verdict(formats, 0.05) == ("csr32", 1.0, True)


def arguments():
    parser = parser_of(__doc__.splitlines()[0], self_test)
    parser.add_argument("program", type=pathlib.Path, nargs="+",
                        help="iso_bench_spmv, or JSON of it (several: medians)")
    parser.add_argument("--backend", default="serial", help="serial, openmp or cuda")
    parser.add_argument("--slack", type=float, default=0.05)
    parser.add_argument("--json", type=pathlib.Path, help="file to write the figures to")
    return parser.parse_args()


def merged(tables):
    """The first table, each time being the median of all."""
    for key, formats in tables[0].items():
        for name, row in formats.items():
            row["relative"] = statistics.median(
                t[key][name]["relative"] for t in tables if name in t.get(key, {}))
    return tables[0]


def main():
    given = arguments()
    table = merged([measured(p, given.backend, given.slack) for p in given.program])
    if not table:
        raise SystemExit(f"{given.program[0]}: no row choice/ of {given.backend}")
    good = True
    for key, formats in table.items():
        chosen, relative, will_do = verdict(formats, given.slack)
        good = good and will_do
        names = {n: n.removeprefix("row_").removesuffix("_half") for n in formats}
        texts = [f"{names[name]} {row['relative']:.2f} {row['expected']:.2f}"
                 for name, row in formats.items()]
        texts = [f"[{text}]" if row["chosen"] == 1 else f" {text} "
                 for text, row in zip(texts, formats.values())]
        print(f"{key[0]:9s} {key[1]:2s} {key[2]:10s} {''.join(texts)}  {chosen}"
              f"{'' if will_do else f' is SLOWER: {relative:.2f}'}")
    print("good" if good else "BAD")
    write_json(given.json, [
        {"matrix": k[0], "way": k[1], "sum": k[2], "format": n, "relative": r["relative"],
         "chosen": r["chosen"] == 1, "fill": r["fill"], "cost": r["cost"],
         "csr_cost": r["csr_cost"]} for k, f in table.items() for n, r in f.items()])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
