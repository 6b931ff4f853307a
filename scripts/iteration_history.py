#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws residuals and gaps of iterations over their number, of one or several methods.

    iso reconstruct --projections p.h5 --method cgls --history cgls.csv --output cgls.mha
    iso reconstruct --projections p.h5 --method tv --weight 1 --history tv.csv --output tv.mha
    iteration_history.py cgls.csv tv.csv --output history.png

A line is a file of `iso reconstruct --history`, called as it is. Both axes' numbers are relative:
the residual to the norm of the readings, the gap to the value that is made least.
"""
import csv
import pathlib
import tempfile

from harness import is_png, need, parser_of, save


def read(path):
    """Iteration numbers, relative residuals and, where the method has them, gaps."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    needed = {"iteration", "relative_residual", "gap"}
    if not rows or not needed <= set(rows[0]):
        raise SystemExit(f"iteration_history.py: '{path}' has no iterations (a file of iso "
                         "reconstruct --history is expected); name one")
    numbers = [int(row["iteration"]) for row in rows]
    residuals = [float(row["relative_residual"]) for row in rows]
    gaps = [float(row["gap"]) for row in rows if row["gap"]]
    return numbers, residuals, gaps


def draw(files, output):
    need("matplotlib")
    from matplotlib.figure import Figure

    histories = {pathlib.Path(path).stem: read(path) for path in files}
    with_gaps = {name: history for name, history in histories.items() if history[2]}
    figure = Figure(figsize=(10 if with_gaps else 5, 3.6), layout="constrained")
    panels = [("relative residual", 1, histories)]
    panels += [("relative gap", 2, with_gaps)] if with_gaps else []
    for place, (label, which, shown) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        for name, history in shown.items():
            axes.semilogy(history[0], history[which], label=name)
        axes.set_xlabel("iteration")
        axes.set_ylabel(label)
        axes.grid(True, which="both", alpha=0.3)
        axes.legend()
    save(figure, output, 110)


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        head = "iteration,residual,relative_residual,gap\n"
        (place / "a.csv").write_text(head + "1,4,0.5,\n2,2,0.25,\n", encoding="utf-8")
        (place / "b.csv").write_text(head + "1,4,0.5,0.9\n2,2,0.25,0.1\n", encoding="utf-8")
        (place / "c.csv").write_text("x\n1\n", encoding="utf-8")
        assert read(place / "b.csv") == ([1, 2], [0.5, 0.25], [0.9, 0.1])
        draw([place / "a.csv", place / "b.csv"], place / "h.png")
        assert is_png(place / "h.png")
        try:
            read(place / "c.csv")
        except SystemExit as refused:
            assert "no iterations" in str(refused)
        else:
            raise AssertionError("a file of something else was taken")


def main():
    parser = parser_of(__doc__, self_test)
    parser.add_argument("files", nargs="*", help="of iso reconstruct --history")
    parser.add_argument("--output", default="history.png")
    options = parser.parse_args()
    if not options.files:
        parser.error("nothing to draw (no file is named); name those of iso reconstruct --history")
    draw(options.files, options.output)


if __name__ == "__main__":
    main()
