# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts that draw a table of curves have in common: dose_curves.py, dvh_plot.py,
gamma_plot.py."""
import csv
import pathlib
import sys
import tempfile

from harness import is_png, words_of


def rows_of(text, header, command, empty="it has no curves"):
    """Rows below the header, without lines of comment; raises ValueError."""
    rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    if next(rows, None) != header:
        raise ValueError(f"it was not written by `{command}`")
    rows = list(rows)
    if not rows:
        raise ValueError(empty)
    return rows


def works(read, draw, header, text):
    """Whether `text` becomes a picture, and what is no table of curves is refused."""
    for wrong in ("", "a,b\n1,2\n", ",".join(header) + "\n"):
        try:
            read(wrong)
            return False
        except ValueError:
            pass
    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder) / "c.png"
        draw(read(text), picture)
        return is_png(picture)


def main(usage, read, draw, self_test, max_words=2):
    """SCRIPT CURVES.csv PICTURE.png, or SCRIPT --self-test, which returns whether all is well.
    Up to `max_words` words; draw() gets those after the curves."""
    words = words_of(usage, self_test, 2, max_words)
    try:
        curves = read(pathlib.Path(words[0]).read_text(encoding="utf-8"))
    except (OSError, ValueError, IndexError) as failure:
        print(f"'{words[0]}' cannot be read: {failure}", file=sys.stderr)
        return 2
    try:
        draw(curves, *words[1:])
    except (OSError, ValueError, KeyError) as failure:
        print(f"{' '.join(words[1:])}: {failure}", file=sys.stderr)
        return 2
    return 0
