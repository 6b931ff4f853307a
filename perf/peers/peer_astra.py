# SPDX-License-Identifier: BSD-3-Clause
"""ASTRA's 3D forward projection, on arrays that stay on the GPU (PyTorch's, by DLPack)."""
import argparse

import numpy as np
import torch

import astra
import astra.experimental

import scan
import worker


def geometries(s):
    """ASTRA's world is ours: vectors in mm, volume [z, y, x] of 1 mm about the axis."""
    rows = []
    for angle in s.angles():
        source, middle, u, v = s.frame(angle)
        rows.append(np.concatenate([source, middle, s.pitch * u, s.pitch * v]))
    cone = astra.create_proj_geom("cone_vec", s.size, s.size, np.array(rows))
    return cone, astra.create_vol_geom(s.size, s.size, s.size)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--size", type=int, required=True)
    arguments.add_argument("--views", type=int, required=True)
    arguments.add_argument("--volume", required=True)
    given = arguments.parse_args()
    out = worker.voice()
    s = scan.scan(given.size, given.views)

    on_host = np.fromfile(given.volume, np.float32).reshape((s.size,) * 3)
    volume = torch.from_numpy(on_host).cuda().permute(2, 1, 0).contiguous()
    del on_host
    projections = torch.zeros((s.size, s.views, s.size), device="cuda")  # [v, view, u]
    cone, voxels = geometries(s)
    projector = astra.create_projector("cuda3d", cone, voxels)

    def call():
        astra.experimental.direct_FP3D(projector, volume, projections)
        torch.cuda.synchronize()

    def kept():
        return projections[:, s.kept_views(), :].permute(1, 2, 0).cpu().numpy()

    ready = {"name": "ASTRA", "version": astra.__version__, "what": "cuda3d, texture"}
    worker.serve(out, ready, call, kept)


if __name__ == "__main__":
    main()
