# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share that try iterative methods: the tool, its volumes, tables, pictures."""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

import metaimage
import numpy as np

TOP = pathlib.Path(__file__).resolve().parent.parent


def parser_of(document, **defaults):
    """With the options that all of them have."""
    parser = argparse.ArgumentParser(description=document,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iso", type=pathlib.Path, default=TOP / "build/openmp/apps/iso/iso",
                        help="the tool")
    parser.add_argument("--backend", default="default")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", type=pathlib.Path, help="folder for files, which stay")
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help=".csv")
    parser.set_defaults(**defaults)
    return parser


class tool:
    def __init__(self, given, folder):
        self.iso, self.folder = given.iso, pathlib.Path(folder)
        self._where = ["--backend", given.backend, "--threads", str(given.threads)]

    def run(self, command, *words, **options):
        """`iso COMMAND WORDS --option value ...`; the answer of --json."""
        line = [str(self.iso), command, *self._where, "--quiet", *map(str, words)]
        for name, value in options.items():
            values = value if isinstance(value, (tuple, list)) else [value]
            line += ["--" + name.replace("_", "-"), *map(str, values)]
        answer = self.folder / "answer.json"
        done = subprocess.run([*line, "--json", str(answer)], check=False, capture_output=True,
                              text=True, env={"OMP_WAIT_POLICY": "passive"} | os.environ)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(line)}: status {done.returncode}\n{done.stderr.strip()}")
        return json.loads(answer.read_text(encoding="utf-8"))

    def reconstruct(self, *words, **options):
        """(the volume [x, y, z], the answer)"""
        file = self.folder / "volume.mha"
        answer = self.run("reconstruct", *words, output=file, **options)
        return read_mha(file), answer


def read_mha(path):
    """[x, y, z] of a MetaImage that the tool or `write_mha` wrote."""
    try:
        return metaimage.read_mha(path)[0]
    except ValueError as failure:
        raise SystemExit(f"{path}: {failure}") from None


def write_mha(path, volume, spacing, unit):
    """A volume [x, y, z] whose middle is at 0."""
    size = volume.shape
    origin = [-0.5 * (n - 1) * spacing for n in size]
    head = {"ObjectType": "Image", "NDims": 3, "BinaryData": True, "BinaryDataByteOrderMSB": False,
            "CompressedData": False, "TransformMatrix": "1 0 0 0 1 0 0 0 1",
            "Offset": " ".join(map(repr, origin)), "ElementSpacing": " ".join([repr(spacing)] * 3),
            "Unit": unit, "DimSize": " ".join(map(str, size)), "ElementType": "MET_FLOAT",
            "ElementDataFile": "LOCAL"}
    text = "".join(f"{name} = {value}\n" for name, value in head.items())
    pathlib.Path(path).write_bytes(text.encode() + volume.astype("<f4").tobytes(order="F"))


def write_json(path, what):
    pathlib.Path(path).write_text(json.dumps(what) + "\n", encoding="utf-8")
    return path


def tell(head, rows, file):
    """Prints a Markdown table and writes it as .csv, where a file is given."""
    for line in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(map(str, line))} |")
    if file:
        with open(file, "w", newline="", encoding="utf-8") as out:
            csv.writer(out, lineterminator="\n").writerows([head, *rows])


def draw(path, panels, columns, window, label, width=2.4, dots=100):
    """A grid of (title, picture [across, up]) in one window of grey."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across, up = panels[0][1].shape
    rows = -(-len(panels) // columns)
    figure, places = pyplot.subplots(
        rows, columns, squeeze=False, layout="constrained",
        figsize=(width * columns + 0.9, (width * up / across + 0.25) * rows))
    for place in places.flat:
        place.set_axis_off()
    for place, (title, picture) in zip(places.flat, panels):
        shown = place.imshow(picture.T, origin="lower", cmap="gray", vmin=window[0], vmax=window[1],
                             interpolation="nearest")
        place.set_title(title, fontsize=8)
    figure.colorbar(shown, ax=places, label=label, shrink=0.8)
    figure.savefig(path, dpi=dots, metadata={"Software": None},
                   pil_kwargs={"optimize": True})


def rms(difference):
    return float(np.sqrt(np.mean(np.square(difference, dtype=np.float64))))


def in_folder(given, work):
    """work(folder) in --work, or in a folder that goes."""
    import tempfile

    if given.work:
        given.work.mkdir(parents=True, exist_ok=True)
        return work(given.work)
    with tempfile.TemporaryDirectory() as folder:
        return work(pathlib.Path(folder))


def missing(path, script):
    """Says that data are missing; ctest's status for a test that was skipped."""
    print(f"{script}: skipped: {path} is not there; scripts/get_example_data.sh fetches it",
          file=sys.stderr)
    return 77
