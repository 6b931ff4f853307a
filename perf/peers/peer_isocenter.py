# SPDX-License-Identifier: BSD-3-Clause
"""Isocenter's side of compare_ct.py: the tool `iso`, which starts for each order and does the work
once before the calls that are timed (--repeats)."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import need  # noqa: E402

need("numpy")

import numpy as np  # noqa: E402

import worker  # noqa: E402
from reconstructions import circular_cone, tool  # noqa: E402
from volumes import read_mha, write_mha  # noqa: E402

_GIVES = {"projection": "projections", "adjoint": "adjoint"}


def words_of(given, s, iso):
    """The command and its inputs."""
    cone = circular_cone(s.source_axis, s.source_detector, s.pixels, s.pitch, s.views)
    if s.turned:
        cone["detector"]["turn_deg"] = {"pitch": s.pitched, "roll": s.rolled}
    geometry = iso.write_json(cone)
    if given.work == "projection":
        volume = np.memmap(given.input, np.float32, "r", shape=s.extent)
        write_mha(iso.folder / "x.mha", volume, s.voxel, "1/mm")
        return ["project", "--volume", iso.folder / "x.mha", "--geometry", geometry]
    # Images as seen from the source: u to the right, v upwards.
    stack = np.memmap(given.input, np.float32, "r", shape=(s.views, *s.pixels))
    stack.transpose(0, 2, 1)[:, ::-1].tofile(iso.folder / "scan.raw")
    return ["back-project" if given.work == "adjoint" else "reconstruct", "--line-integrals",
            "--projections", iso.folder / "scan.raw", "--raw-type", "float32", "--geometry",
            geometry, "--extent", *s.extent, "--spacing", s.voxel]


def main():
    given, s = worker.arguments()
    out = worker.voice()
    options = {"backend": "cuda" if given.device == "cuda" else "openmp",
               "threads": given.threads}
    if given.variant == "avx2":
        options["vector_bytes"] = 32
    elif given.work == "projection":
        options["sum"] = given.variant
    elif given.variant != "ordered":
        raise ValueError(f"--variant {given.variant} (of --work projection alone); leave it out")
    # Of a call of FDK, without the filter's time.
    within = given.work == "backprojection"
    with tempfile.TemporaryDirectory(dir=pathlib.Path(given.input).parent) as folder:
        iso = tool(given.iso, folder, **options)
        words, result = words_of(given, s, iso), iso.folder / "result.mha"
        answer = {}

        def call():
            answer.update(iso.run(*words, output=result))

        def kept():
            chosen = s.kept_views() if given.work == "projection" else s.kept_slices()
            return read_mha(result)[0][:, :, chosen].transpose(2, 0, 1)

        def timed(count):
            if within:
                rows = [iso.run(*words, "--by-kernel")["kernel_times"]["iso::ct::fdk::back_project"]
                        for _ in range(count)]
            else:
                rows = iso.run(*words, repeats=count)["repeats"]
            return [[1e3 * row[name] for row in rows]
                    for name in ("seconds", "processor_seconds")]

        call()
        what = f"{options['backend']}, {given.variant}" + (", within FDK" if within else "")
        ready = {"name": "Isocenter", "version": answer["isocenter"], "what": what,
                 "gives": _GIVES.get(given.work, "reconstruction")}
        worker.serve(out, ready, lambda: None, kept, timed=timed)


if __name__ == "__main__":
    main()
