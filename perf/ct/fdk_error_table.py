# SPDX-License-Identifier: BSD-3-Clause
"""The error of FDK on the Shepp-Logan head by window and size: a Markdown table.

    fdk_error_table.py iso_bench_fdk_error                 prints it
    fdk_error_table.py rows.json                           from what the benchmark has written
    fdk_error_table.py iso_bench_fdk_error --page docs/algorithms/reconstruction.md
                                                           puts it between the page's two marks

What the columns mean stands in bench_fdk_error.cpp. No figure is typed.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import document_of, markdown, parser_of  # noqa: E402

FIGURES = ("mean_absolute", "root_mean_square", "apart_from_edges", "slice_mean_absolute",
           "slice_apart_from_edges")
HEADS = ("mean absolute", "root mean square", "apart from edges", "middle slice",
         "middle slice, apart from edges")
BEGIN, END = "<!-- fdk_error_table.py: begin -->\n", "<!-- fdk_error_table.py: end -->\n"


def table_of(rows):
    lines = []
    for row in rows:
        _, window, _, size, *_ = row["name"].split("/")
        lines.append([size, f"`{window}`", *(f"{row[name]:.4f}" for name in FIGURES)])
    return markdown(["N", "window", *HEADS], lines)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("rows", help="the benchmark, or the JSON that it has written")
    parser.add_argument("--page", type=pathlib.Path, help="page that takes the table")
    arguments = parser.parse_args()
    table = table_of(document_of(arguments.rows, "^fdk_error/")["benchmarks"])
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
