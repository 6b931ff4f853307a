# SPDX-License-Identifier: BSD-3-Clause
"""RTK's forward projection: Joseph on the processor, or its CUDA ray caster at steps of one voxel.

RTK turns about its y axis with the source on +z at angle 0, so that our (x, y, z) is its (z, x, y).
Both of its filters add to the projections they are given, in place. The timed calls therefore feed
the last result back in, as an iterative reconstruction would: nothing is copied to or from the GPU.
"""
import argparse
import ctypes
import importlib.metadata

import numpy as np

import itk
from itk import RTK as rtk

import scan
import worker


def volume_of(path, size):
    """Ours is [x, y, z]; RTK's arrays are [its z, its y, its x], which is [x, z, y]."""
    ours = np.memmap(path, np.float32, "r", shape=(size,) * 3)
    theirs = np.empty(ours.shape, np.float32)
    for i in range(size):
        theirs[i] = ours[i].T
    return theirs


def image_of(array, spacing):
    """Centred about the axes; `array` is [z, y, x] in RTK's names, and must stay alive."""
    image = itk.image_view_from_array(array)
    extent = array.shape[::-1]
    image.SetSpacing(spacing)
    image.SetOrigin([-0.5 * (n - 1) * d for n, d in zip(extent, spacing)])
    return image


def geometry_of(s):
    geometry = rtk.ThreeDCircularProjectionGeometry.New()
    for angle in s.angles():
        geometry.AddProjectionInRadians(s.source_axis, s.source_detector, float(angle))
    return geometry


def make_filter(device, s, volume, stack):
    if device == "cuda":
        image = itk.CudaImage[itk.F, 3]
        project = rtk.CudaForwardProjectionImageFilter[image].New()
        project.SetStepSize(1.0)
        volume, stack = itk.cuda_image_from_image(volume), itk.cuda_image_from_image(stack)
    else:
        image = itk.Image[itk.F, 3]
        project = rtk.JosephForwardProjectionImageFilter[image, image].New()
    project.SetGeometry(geometry_of(s))
    project.SetInput(0, stack)
    project.SetInput(1, volume)
    project.InPlaceOn()
    return project


def synchroniser(device):
    if device != "cuda":
        return lambda: None
    runtime = ctypes.CDLL("libcudart.so.12")  # the one RTK itself is linked with

    def synchronise():
        status = runtime.cudaDeviceSynchronize()
        if status != 0:
            raise RuntimeError(f"cudaDeviceSynchronize: error {status}")

    return synchronise


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
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--device", choices=("cuda", "cpu"), required=True)
    arguments.add_argument("--size", type=int, required=True)
    arguments.add_argument("--views", type=int, required=True)
    arguments.add_argument("--volume", required=True)
    arguments.add_argument("--threads", type=int, required=True)
    given = arguments.parse_args()
    out = worker.voice()
    s = scan.scan(given.size, given.views)
    itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(given.threads)

    volume = volume_of(given.volume, s.size)
    stack = np.zeros((s.views, s.size, s.size), np.float32)  # [view, v, u]
    project = make_filter(
        given.device, s, image_of(volume, [1.0] * 3), image_of(stack, [s.pitch, s.pitch, 1.0])
    )
    synchronise = synchroniser(given.device)
    state = {"last": None}

    def call():
        if state["last"] is not None:
            project.SetInput(0, state["last"])
        project.Update()
        state["last"] = project.GetOutput()
        state["last"].DisconnectPipeline()
        synchronise()

    def kept():
        return host_array(given.device, state["last"])[s.kept_views()].transpose(0, 2, 1)

    what = "CUDA ray casting, step 1 mm" if given.device == "cuda" else "Joseph, processor"
    worker.serve(out, {"name": "RTK", "version": version_of(), "what": what}, call, kept)


if __name__ == "__main__":
    main()
