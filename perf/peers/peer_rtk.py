# SPDX-License-Identifier: BSD-3-Clause
"""RTK's projection, backprojection and FDK, by its filters for the processor or for CUDA.

RTK turns about its y axis with the source on +z at angle 0, so that our (x, y, z) is its (z, x, y),
and its arrays, [its z, its y, its x], are [x, z, y] and [view, v, u] in our names.
All of its filters add to the image they are given first, in place. The timed calls therefore feed
the last result back in, as an iterative reconstruction would: nothing is copied to or from the GPU.
"""
import importlib.metadata
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import need  # noqa: E402

need("numpy", "itk", install="numpy itk-rtk==2.7.0")

import numpy as np  # noqa: E402

import itk  # noqa: E402
from itk import RTK as rtk  # noqa: E402

import worker  # noqa: E402

# (class, what it is called in the table, what it gives) of each work, device and variant. CUDA's
# backprojection of FDK has no class of its own in Python: it is taken out of the FDK filter.
_FILTERS = {
    ("projection", "cpu", ""): ("JosephForwardProjectionImageFilter", "Joseph", "projections"),
    ("backprojection", "cpu", ""): ("FDKBackProjectionImageFilter", "FDK's", "weighted sum"),
    ("adjoint", "cpu", ""): ("JosephBackProjectionImageFilter", "Joseph", "adjoint"),
    ("fdk", "cpu", ""): ("FDKConeBeamReconstructionFilter", "FDK", "reconstruction"),
    ("projection", "cuda", ""): (
        "CudaForwardProjectionImageFilter", "ray casting, step 1 mm", "projections"
    ),
    ("backprojection", "cuda", ""): (
        "CudaFDKConeBeamReconstructionFilter", "FDK's", "weighted sum"
    ),
    ("backprojection", "cuda", "unweighted"): (
        "CudaBackProjectionImageFilter", "voxels, no weights", "sum"
    ),
}  # fmt: skip


def image_of(array, spacing):
    """Centred about the axes; `array` is [z, y, x] in RTK's names, and must stay alive."""
    image = itk.image_view_from_array(array)
    extent = array.shape[::-1]
    image.SetSpacing(spacing)
    image.SetOrigin([-0.5 * (n - 1) * d for n, d in zip(extent, spacing)])
    return image


def geometry_of(s):
    if s.turned:
        return geometry_of_views(s.frame(angle) for angle in s.angles())
    geometry = rtk.ThreeDCircularProjectionGeometry.New()
    for angle in s.angles():
        geometry.AddProjectionInRadians(s.source_axis, s.source_detector, float(angle), s.offset)
    return geometry


def geometry_of_views(views):
    """Of (source, detector's middle, directions of u and v) each, in our coordinates."""
    turned = lambda a: [float(a[1]), float(a[2]), float(a[0])]
    vector = lambda a: itk.Vector[itk.D, 3](turned(a))
    point = lambda a: itk.Point[itk.D, 3](turned(a))
    geometry = rtk.ThreeDCircularProjectionGeometry.New()
    for source, middle, u, v in views:
        if not geometry.AddProjection(point(source), point(middle), vector(u), vector(v)):
            raise RuntimeError("RTK: refuses a view")
    return geometry


def make_filter(name, device, s):
    kind = itk.CudaImage[itk.F, 3] if device == "cuda" else itk.Image[itk.F, 3]
    of = getattr(rtk, name)
    if name == "CudaFDKConeBeamReconstructionFilter":
        work = of.New().GetBackProjectionFilter()
    elif name.startswith("Cuda") or name == "FDKConeBeamReconstructionFilter":
        work = of[kind].New()
    else:
        work = of[kind, kind].New()
    work.SetGeometry(geometry_of(s))
    work.InPlaceOn()
    if name == "CudaForwardProjectionImageFilter":
        work.SetStepSize(1.0)
    return work


def host_array(device, image):
    if device == "cuda":
        image.UpdateBuffers()
        plain = itk.Image[itk.F, 3].New()
        plain.CopyInformation(image)
        plain.SetRegions(image.GetLargestPossibleRegion())
        plain.SetPixelContainer(image.GetPixelContainer())
        image = plain
    return itk.array_from_image(image)


def version_of():
    for name in ("itk-rtk-cuda124", "itk-rtk"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return "unknown"


def main():
    given, s = worker.arguments()
    out = worker.voice()
    wanted = given.work, given.device, given.variant
    if wanted not in _FILTERS:
        raise ValueError(
            f"RTK: no {' '.join(wanted)} (its package has none that runs) leave RTK out"
        )
    name, what, gives = _FILTERS[wanted]
    itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(given.threads)

    cube, stack = (s.size,) * 3, (s.views, s.size, s.size)
    projects = given.work == "projection"
    given_first = np.zeros(stack if projects else cube, np.float32)
    given_second = worker.read(given.input, cube if projects else stack, (0, 2, 1))
    spacings = [s.pitch, s.pitch, 1.0], [1.0] * 3
    first, second = (
        image_of(array, spacing)
        for array, spacing in zip((given_first, given_second), spacings[:: 1 if projects else -1])
    )
    if given.device == "cuda":
        first, second = itk.cuda_image_from_image(first), itk.cuda_image_from_image(second)
    work = make_filter(name, given.device, s)
    work.SetInput(0, first)
    work.SetInput(1, second)
    # The runtime that RTK itself is linked with.
    synchronise = worker.cuda().synchronise if given.device == "cuda" else lambda: None
    state = {"last": None}

    def call():
        if state["last"] is not None:
            work.SetInput(0, state["last"])
        work.Update()
        state["last"] = work.GetOutput()
        state["last"].DisconnectPipeline()
        synchronise()

    def kept():
        result = host_array(given.device, state["last"])
        if projects:
            return result[s.kept_views()].transpose(0, 2, 1)
        return result[:, s.kept_slices(), :].transpose(1, 0, 2)

    where = "CUDA" if given.device == "cuda" else "processor"
    ready = {"name": "RTK", "version": version_of(), "what": f"{what}, {where}", "gives": gives}
    worker.serve(out, ready, call, kept)


if __name__ == "__main__":
    main()
