# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share that try iterative methods: the tool, scans, tables, pictures."""
import csv
import json
import os
import pathlib
import subprocess
import tempfile

import harness
import numpy as np
from harness import ISO, markdown, pyplot, save
from volumes import read_mha


def parser_of(document):
    """With the options that all of them have."""
    parser = harness.parser_of(document)
    parser.add_argument("--iso", type=pathlib.Path, default=ISO, help="the tool")
    parser.add_argument("--backend", default="default")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", type=pathlib.Path, help="folder for files, which stay")
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help=".csv")
    return parser


def words_of(options):
    """--option value ..., of a dictionary's; a list has several values."""
    for name, value in options.items():
        yield "--" + name.replace("_", "-")
        yield from map(str, value if isinstance(value, (tuple, list)) else [value])


class tool:
    """The tool, and a folder of its files; `always` are options of every command."""

    def __init__(self, iso, folder, **always):
        self.iso, self.folder, self._always = iso, pathlib.Path(folder), always

    def line(self, command, *words, **options):
        """`iso COMMAND WORDS --option value ...`"""
        return [str(self.iso), "--quiet", command, *map(str, words),
                *words_of(self._always | options)]

    def run(self, *words, **options):
        """The answer of --json of that line. Its warnings are seen."""
        answer = self.folder / "answer.json"
        line = self.line(*words, **options)
        try:
            done = subprocess.run([*line, "--json", str(answer)], check=False,
                                  stdout=subprocess.DEVNULL,
                                  env={"OMP_WAIT_POLICY": "passive"} | os.environ)
        except OSError as failure:
            raise SystemExit(f"{self.iso}: {failure.strerror}") from None
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(line)}: ended with status {done.returncode}")
        return json.loads(answer.read_text(encoding="utf-8"))

    def write_json(self, what, name="geometry.json"):
        """The name of a new file of it."""
        path = self.folder / name
        path.write_text(json.dumps(what) + "\n", encoding="utf-8")
        return path

    def volume(self, command, *words, **options):
        """(the volume [x, y, z] that a command writes, the answer)"""
        file = self.folder / "volume.mha"
        answer = self.run(command, *words, output=file, **options)
        return read_mha(file)[0], answer


def circular_cone(source_axis, source_detector, pixels, pitch, views, offset=None):
    """A geometry file of the tool; lengths in mm."""
    detector = {"pixels": list(pixels), "pitch_mm": [pitch, pitch]}
    if offset is not None:
        detector["offset_mm"] = [offset, 0]
    return {"type": "circular_cone", "source_axis_mm": source_axis,
            "source_detector_mm": source_detector, "detector": detector,
            "angles_deg": {"range": 360, "count": views}}


def tell(head, rows, file):
    """Prints a Markdown table and writes it as .csv, where a file is given."""
    print(markdown(head, rows), end="")
    if file:
        with open(file, "w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows([head, *rows])


def draw(path, panels, columns, window, label, width=2.4):
    """A grid of (title, picture [across, up]) in one window of grey, where a path is given."""
    if not path:
        return
    across, up = panels[0][1].shape
    rows = -(-len(panels) // columns)
    figure, places = pyplot().subplots(
        rows, columns, squeeze=False, layout="constrained",
        figsize=(width * columns + 0.9, (width * up / across + 0.25) * rows))
    for place in places.flat:
        place.set_axis_off()
    for place, (title, picture) in zip(places.flat, panels):
        shown = place.imshow(picture.T, origin="lower", cmap="gray", vmin=window[0], vmax=window[1],
                             interpolation="nearest")
        place.set_title(title, fontsize=8)
    figure.colorbar(shown, ax=places, label=label, shrink=0.8)
    save(figure, path)


def rms(difference):
    return float(np.sqrt(np.mean(np.square(difference, dtype=np.float64))))


def in_folder(given, work):
    """work(tool, given) with files in --work, or in a folder that goes."""
    def worked(folder):
        return work(tool(given.iso, folder, backend=given.backend, threads=given.threads), given)

    if given.work:
        given.work.mkdir(parents=True, exist_ok=True)
        return worked(given.work)
    with tempfile.TemporaryDirectory() as folder:
        return worked(folder)
