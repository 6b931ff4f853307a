# SPDX-License-Identifier: BSD-3-Clause
"""Markdown from the JSON that compare_projection.py writes: `table.py a.json b.json ...`."""
import json
import pathlib
import sys

_HEAD = (
    "| program | version | ms a view | quartiles | least | processor ms a view | time / Isocenter "
    "| l1 from Isocenter | l1 from closed form | max from closed form |\n" + 10 * "|---" + "|\n"
)


def _line(row):
    low, high = row["ms_per_view_quartiles"]
    ratio = f"{row['ratio']:.2f}" if "ratio" in row else "not run"
    apart = f"{row['l1_from_isocenter']:.1e}" if "l1_from_isocenter" in row else "not run"
    return (
        f"| {row['name']} ({row['what']}) | {row['version']} | {row['ms_per_view']:.4g} "
        f"| {low:.4g} to {high:.4g} | {row['ms_per_view_least']:.4g} "
        f"| {row['cpu_ms_per_view']:.4g} | {ratio} | {apart} "
        f"| {row['l1_from_closed_form']:.1e} | {row['max_from_closed_form']:.1e} |\n"
    )


def _caption(result):
    n, about = result["size"], result["machine"]
    where = about.get("gpu") or f"{about['processor']}, {about['threads']} threads"
    return f"{result['work'].capitalize()} {n}^3 -> {n}^2, {result['views']} views, {where}\n\n"


def markdown(results):
    parts = []
    for result in results:
        text = _caption(result) + _HEAD + "".join(map(_line, result["rows"]))
        for key, why in result["failed"].items():
            text += f"\nNot measured: {key} ({why})\n"
        parts.append(text)
    return "\n".join(parts)


if __name__ == "__main__":
    print(markdown([json.loads(pathlib.Path(p).read_text(encoding="utf-8")) for p in sys.argv[1:]]))
