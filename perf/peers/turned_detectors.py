# SPDX-License-Identifier: BSD-3-Clause
"""FDK of Isocenter and of RTK on detectors that do not stand upright across the central ray.

    turned_detectors.py --iso build/openmp/apps/iso/iso [--json FILE --machine TEXT]

Both get the same line integrals of three Gaussians (closed forms) along the same rays: RTK by the
positions of source and detector and the directions of its rows and columns, the tool `iso` by a
geometry of vectors. Wants numpy and itk-rtk. The scale is the least squares' factor between
a volume and the Gaussians; `rms` and `largest` are the differences from them, of the peak.
"""
import importlib.metadata
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import TOP, need, output_of, parser_of, record, recorded_options  # noqa: E402

need("numpy", "itk", install="numpy itk-rtk==2.7.0")

import itk  # noqa: E402
import numpy as np  # noqa: E402
from iterations import isocenter  # noqa: E402
from itk import RTK as rtk  # noqa: E402
from peer_rtk import geometry_of_views, image_of  # noqa: E402

_VIEWS, _NU, _NV, _PITCH = 180, 160, 100, 1.2
_SOURCE_AXIS, _SOURCE_DETECTOR = 300.0, 450.0
_EXTENT, _SPACING = (48, 48, 10), 2.0
# Centre, standard deviation (mm), peak.
_GAUSSIANS = (((0, 0, 0), 12, 1.0), ((20, -9, 5), 10, 0.8), ((-16, 17, -7), 9, -0.4))
# Degrees about v, the turned u and the normal, of v to u; mm, of source and detector aside.
_POSES = (
    ("upright", {}),
    ("yaw 5", {"yaw": 5}),
    ("yaw 20", {"yaw": 20}),
    ("yaw 30", {"yaw": 30}),
    ("pitch 5", {"pitch": 5}),
    ("pitch 20", {"pitch": 20}),
    ("pitch 30", {"pitch": 30}),
    ("yaw 20, pitch 20", {"yaw": 20, "pitch": 20}),
    ("source and detector 60 mm aside", {"source_u": 60, "detector_u": 60, "columns": 360}),
    ("source 60 mm aside, detector 30 mm the other way", {"source_u": 60, "detector_u": -30}),
    ("detector 12 mm aside, 15 mm up", {"detector_u": 12, "detector_v": 15}),
    ("roll 5", {"roll": 5}),
    ("roll 10", {"roll": 10}),
)  # fmt: skip


def _turned(a, b, degrees):
    angle = np.radians(degrees)
    return np.cos(angle) * a + np.sin(angle) * b


class view:
    """Source, detector's middle and the directions of u and v, in Isocenter's coordinates."""

    def __init__(self, angle, pose):
        at = lambda name: pose.get(name, 0.0)
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        aside = np.array([-np.sin(angle), np.cos(angle), 0.0])
        up = np.array([0.0, 0.0, 1.0])
        yawed = _turned(aside, out, at("yaw"))
        normal = _turned(out, -aside, at("yaw"))
        pitched = _turned(up, normal, at("pitch"))
        self.u = _turned(yawed, pitched, at("roll"))
        self.v = _turned(pitched, -yawed, at("roll"))
        self.source = _SOURCE_AXIS * out + at("source_u") * aside
        self.middle = (_SOURCE_AXIS - _SOURCE_DETECTOR) * out
        self.middle = self.middle + at("detector_u") * aside + at("detector_v") * up

    def line_integrals(self, columns):
        """[u, v]"""
        u = _PITCH * (np.arange(columns) - 0.5 * (columns - 1))
        v = _PITCH * (np.arange(_NV) - 0.5 * (_NV - 1))
        ray = (self.middle - self.source) + u[:, None, None] * self.u + v[None, :, None] * self.v
        total = np.zeros(ray.shape[:2])
        for centre, width, peak in _GAUSSIANS:
            off = np.cross(np.array(centre) - self.source, ray)
            squared = (off**2).sum(-1) / (ray**2).sum(-1)
            total += peak * width * np.sqrt(2 * np.pi) * np.exp(-0.5 * squared / width**2)
        return total


def _by_isocenter(given, views, stack, folder):
    columns = stack.shape[1]
    first = -0.5 * _PITCH * np.array([columns - 1, _NV - 1])
    geometry = {
        "type": "vectors",
        "rays": "cone",
        "detector": {"pixels": [columns, _NV]},
        "views": [
            {
                "source_mm": list(w.source),
                "detector_origin_mm": list(w.middle + first[0] * w.u + first[1] * w.v),
                "u_step_mm": list(_PITCH * w.u),
                "v_step_mm": list(_PITCH * w.v),
            }
            for w in views
        ],
    }
    iso = isocenter(given, folder, geometry, _EXTENT, _SPACING)
    return iso.volume("reconstruct", stack, max_roll=11, detector="centred")


def _by_rtk(views, stack):
    volume = np.zeros((_EXTENT[0], _EXTENT[2], _EXTENT[1]), np.float32)
    images = np.ascontiguousarray(stack.transpose(0, 2, 1), np.float32)
    kind = itk.Image[itk.F, 3]
    fdk = rtk.FDKConeBeamReconstructionFilter[kind].New()
    fdk.SetGeometry(geometry_of_views((w.source, w.middle, w.u, w.v) for w in views))
    fdk.SetInput(0, image_of(volume, [_SPACING] * 3))
    fdk.SetInput(1, image_of(images, [_PITCH, _PITCH, 1.0]))
    fdk.Update()
    return itk.array_from_image(fdk.GetOutput()).transpose(0, 2, 1)  # [x, y, z]


def _truth():
    x, y, z = (_SPACING * (np.arange(n) - 0.5 * (n - 1)) for n in _EXTENT)
    at = np.stack(np.meshgrid(x, y, z, indexing="ij"), -1)
    return sum(
        peak * np.exp(-0.5 * ((at - np.array(centre)) ** 2).sum(-1) / width**2)
        for centre, width, peak in _GAUSSIANS
    )


def _compared(found, truth):
    gap = np.abs(found - truth) / truth.max()
    return {
        "scale": round(float((found * truth).sum() / (truth**2).sum()), 4),
        "rms": round(float(np.sqrt((gap**2).mean())), 4),
        "largest": round(float(gap.max()), 4),
    }


def main():
    a = parser_of(__doc__)
    a.add_argument("--iso", required=True)
    given = recorded_options(a)
    truth = _truth()
    rows = []
    print("| detector | Isocenter: scale | rms | RTK: scale | rms |")
    print("| --- | --- | --- | --- | --- |")
    for name, pose in _POSES:
        views = [view(2 * np.pi * n / _VIEWS, pose) for n in range(_VIEWS)]
        stack = np.stack([w.line_integrals(pose.get("columns", _NU)) for w in views])
        with tempfile.TemporaryDirectory() as folder:
            ours = _compared(_by_isocenter(given, views, stack, pathlib.Path(folder)), truth)
        theirs = _compared(_by_rtk(views, stack), truth)
        rows.append({"what": name, "isocenter": ours, "rtk": theirs})
        figures = (ours["scale"], ours["rms"], theirs["scale"], theirs["rms"])
        print(f"| {name} | " + " | ".join(f"{x:.4f}" for x in figures) + " |", flush=True)
    record(given, revision=output_of(["git", "-C", TOP, "rev-parse", "--short", "HEAD"]).strip(),
           command="perf/peers/turned_detectors.py --iso build/openmp/apps/iso/iso "
           f"--json {given.json} --machine '{given.machine}'",
           topic="turned-detectors",
           peer=f"RTK {importlib.metadata.version('itk-rtk')}, processor", rows=rows)


if __name__ == "__main__":
    main()
