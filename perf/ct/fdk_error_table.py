# SPDX-License-Identifier: BSD-3-Clause
"""The error of FDK on the Shepp-Logan head by window and size: a Markdown table.

    fdk_error_table.py iso_bench_fdk_error                 prints it
    fdk_error_table.py rows.json                           from what the benchmark has written
    fdk_error_table.py iso_bench_fdk_error --page docs/algorithms/reconstruction.md
                                                           puts it between the page's two marks

What the columns mean stands in bench_fdk_error.cpp. No figure is typed.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from bench_rows import document_of  # noqa: E402

FIGURES = ("mean_absolute", "root_mean_square", "apart_from_edges", "slice_mean_absolute",
           "slice_apart_from_edges")
HEADS = ("mean absolute", "root mean square", "apart from edges", "middle slice",
         "middle slice, apart from edges")
BEGIN, END = "<!-- fdk_error_table.py: begin -->\n", "<!-- fdk_error_table.py: end -->\n"


def markdown(document):
    text = "| N | window | " + " | ".join(HEADS) + " |\n"
    text += "| --- " * (2 + len(HEADS)) + "|\n"
    for row in document["benchmarks"]:
        parts = row["name"].split("/")
        if parts[0] != "fdk_error":
            continue
        if row.get("error_occurred"):
            raise SystemExit(f"{row['name']}: {row['error_message']}")
        figures = " | ".join(f"{row[figure]:.4f}" for figure in FIGURES)
        text += f"| {parts[3]} | `{parts[1]}` | {figures} |\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", help="the benchmark, or the JSON that it has written")
    parser.add_argument("--page", type=pathlib.Path, help="page that takes the table")
    arguments = parser.parse_args()
    table = markdown(document_of(arguments.rows, "fdk_error/"))
    if arguments.page is None:
        print(table, end="")
        return
    page = arguments.page.read_text(encoding="utf-8")
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"{arguments.page}: lacks {BEGIN.strip()} or {END.strip()}")
    before, rest = page.split(BEGIN)
    arguments.page.write_text(before + BEGIN + table + END + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
