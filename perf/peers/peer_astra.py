# SPDX-License-Identifier: BSD-3-Clause
"""ASTRA's 3D projection, backprojection and FDK, on arrays that stay on the GPU.

The arrays are plain memory of the CUDA runtime that ASTRA itself is linked with, handed over as
ASTRA's GPULink, so that no other package is needed. ASTRA's FDK filters the projections in place:
they are restored before each call, outside the clock.
"""
import ctypes
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from scripts import need  # noqa: E402

need("numpy", "astra", install="numpy astra-toolbox==2.5.0")

import numpy as np  # noqa: E402

import astra  # noqa: E402
import astra.experimental  # noqa: E402

import worker  # noqa: E402


class device_array:
    """float32, contiguous, the last index fastest."""

    _either_way = 4  # cudaMemcpyDefault: the runtime sees from the addresses where they lie

    def __init__(self, runtime, shape):
        self.runtime, self.shape = runtime, shape
        self.bytes = 4 * int(np.prod(shape, dtype=np.int64))
        at = ctypes.c_void_p()
        runtime("cudaMalloc", ctypes.byref(at), ctypes.c_size_t(self.bytes))
        self.address = at.value
        runtime("cudaMemset", at, 0, ctypes.c_size_t(self.bytes))

    def link(self):
        z, y, x = self.shape
        return astra.data3d.GPULink(self.address, x, y, z, 4 * x)

    def copy_from(self, address):
        self.runtime(
            "cudaMemcpy", ctypes.c_void_p(self.address), ctypes.c_void_p(address),
            ctypes.c_size_t(self.bytes), self._either_way,
        )  # fmt: skip
        self.runtime.synchronise()

    def plane(self, axis, index):
        """A host copy of [index, :, :] or [:, index, :]."""
        slow, rows, row = self.shape[1 - axis], self.shape[1], self.shape[2]
        pitch, first = (row, index * rows * row) if axis == 0 else (rows * row, index * row)
        here = np.empty((slow, row), np.float32)
        self.runtime(
            "cudaMemcpy2D", ctypes.c_void_p(here.ctypes.data), ctypes.c_size_t(4 * row),
            ctypes.c_void_p(self.address + 4 * first), ctypes.c_size_t(4 * pitch),
            ctypes.c_size_t(4 * row), ctypes.c_size_t(slow), self._either_way,
        )  # fmt: skip
        return here


def geometries(s):
    """ASTRA's world is ours: vectors in mm, volume [z, y, x] of 1 mm about the axis."""
    rows = []
    for angle in s.angles():
        source, middle, u, v = s.frame(angle)
        rows.append(np.concatenate([source, middle, s.pitch * u, s.pitch * v]))
    cone = astra.create_proj_geom("cone_vec", s.size, s.size, np.array(rows))
    return cone, astra.create_vol_geom(s.size, s.size, s.size)


def main():
    given, s = worker.arguments()
    out = worker.voice()
    if given.device != "cuda":
        raise ValueError("ASTRA: --device cpu (it has no cone beams on a processor) use cuda")

    runtime = worker.cuda()
    volume = device_array(runtime, (s.size,) * 3)  # [z, y, x]
    projections = device_array(runtime, (s.size, s.views, s.size))  # [v, view, u]
    cone, voxels = geometries(s)
    projector = astra.create_projector("cuda3d", cone, voxels)

    restore = None

    if given.work == "projection":
        here = worker.read(given.input, (s.size,) * 3, (2, 1, 0))
        volume.copy_from(here.ctypes.data)
        gives, what = "projections", "cuda3d, texture"

        def enqueue():
            astra.experimental.direct_FP3D(projector, volume.link(), projections.link())

    else:
        here = worker.read(given.input, (s.views, s.size, s.size), (2, 0, 1))
        projections.copy_from(here.ctypes.data)
        if given.work == "fdk":
            gives, what = "reconstruction", "FDK_CUDA"
            pristine = device_array(runtime, projections.shape)
            pristine.copy_from(projections.address)
            algorithm = astra.astra_dict("FDK_CUDA")
            algorithm["ProjectorId"] = projector
            algorithm["ProjectionDataId"] = astra.data3d.link("-sino", cone, projections.link())
            algorithm["ReconstructionDataId"] = astra.data3d.link("-vol", voxels, volume.link())
            fdk = astra.algorithm.create(algorithm)

            def restore():
                projections.copy_from(pristine.address)

            def enqueue():
                astra.algorithm.run(fdk)

        else:
            # One function for both works: its weights are those of FDK, which it uses as adjoint.
            gives = "adjoint" if given.work == "adjoint" else "weighted sum"
            what = "cuda3d, texture"

            def enqueue():
                astra.experimental.direct_BP3D(projector, volume.link(), projections.link())

    del here

    def call():
        enqueue()
        runtime.synchronise()

    def kept():
        if given.work == "projection":
            return np.stack([projections.plane(1, view).T for view in s.kept_views()])
        return np.stack([volume.plane(0, z).T for z in s.kept_slices()])

    ready = {"name": "ASTRA", "version": astra.__version__, "what": what, "gives": gives}
    worker.serve(out, ready, call, kept, restore)


if __name__ == "__main__":
    main()
