# SPDX-License-Identifier: BSD-3-Clause
"""Markdown from the JSON that compare_ct.py writes: `table.py a.json b.json ...`."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import scripts  # noqa: E402


def _number(name, form):
    return lambda row: format(row[name], form) if name in row else "-"


def _quartiles(row):
    return "{:.4g} to {:.4g}".format(*row["ms_per_view_quartiles"])


# Heading, what stands below it; a column that no row of a table has is left out.
_COLUMNS = (
    ("program", "name", lambda row: f"{row['name']} ({row['what']})"),
    ("version", "version", lambda row: row["version"]),
    ("GUPS", "gups", _number("gups", ".4g")),
    ("ms a view", "ms_per_view", _number("ms_per_view", ".4g")),
    ("quartiles", "ms_per_view_quartiles", _quartiles),
    ("minimum", "ms_per_view_min", _number("ms_per_view_min", ".4g")),
    ("processor ms a view", "cpu_ms_per_view", _number("cpu_ms_per_view", ".4g")),
    ("time / Isocenter", "ratio", _number("ratio", ".2f")),
    ("processor time / Isocenter", "cpu_ratio_of_min", _number("cpu_ratio_of_min", ".1f")),
    ("l1 from Isocenter", "l1_from_isocenter", _number("l1_from_isocenter", ".1e")),
    ("l1 from closed form", "l1_from_closed_form", _number("l1_from_closed_form", ".1e")),
    ("max from closed form", "max_from_closed_form", _number("max_from_closed_form", ".1e")),
)


# As they were called.
_FORMER = {"ms_per_view_least": "ms_per_view_min", "cpu_ratio_of_least": "cpu_ratio_of_min"}


def _caption(result):
    n, about = result["size"], result["machine"]
    where = about.get("gpu") or f"{about['processor']}, {about['threads']} threads"
    sides = f"{n}^3 -> {n}^2" if result["work"] == "forward projection" else f"{n}^2 -> {n}^3"
    work = result["work"][0].upper() + result["work"][1:]
    pitched, rolled = result.get("tilt", (0, 0))
    tilt = f", detector pitched by {pitched:g} degrees, rolled by {rolled:g}" if (
        pitched or rolled) else ""
    return f"{work} {sides}, {result['views']} views{tilt}, {where}\n\n"


def markdown(results):
    parts = []
    for result in results:
        rows = [{_FORMER.get(k, k): v for k, v in row.items()} for row in result["rows"]]
        columns = [c for c in _COLUMNS if any(c[1] in row for row in rows)]
        cells = [[make(row) for _, _, make in columns] for row in rows]
        text = _caption(result) + scripts.markdown([c[0] for c in columns], cells)
        for key, why in result["failed"].items():
            text += f"\nNot measured: {key} ({why})\n"
        parts.append(text)
    return "\n".join(parts)


if __name__ == "__main__":
    print(markdown(map(scripts.read_json, scripts.words_of(__doc__))))
