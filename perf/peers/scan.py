# SPDX-License-Identifier: BSD-3-Clause
"""The scan that every program of the comparison sees: one phantom, one circle of cone-beam views.

For a side of N voxels of 1 mm:
  volume      N^3, its middle at the axis; on disk float32 [x, y, z], z fastest
  source      5.7 N mm from the z axis, at angle 0 on +x, angles from x to y
  detector    N^2 pixels, 6.7 N mm from the source, pitch 6.7 / 5.7 = 1.175438... mm: a pixel is
              1 mm wide at the axis and the fan opens 2 atan(0.5 / 5.7) = 10.03 degrees
  views       evenly over 360 degrees, the end left out
  projections float32 [view, u, v], v fastest; u along +y at angle 0, v along +z
N = 512: source 2918.4 mm, detector 3430.4 mm.

The phantom is a sum of round Gaussians. Its line integrals are closed forms, no voxel of it is zero
or subnormal in float32, and none of it is symmetric, so that a mirrored geometry shows.
"""
import dataclasses

import numpy as np

# Peak in 1/mm, then width and centre in units of N. Past the volume's faces the widest has fallen
# to 1.5e-8 of its peak: cutting it there stays below float32.
_GAUSSIANS = (
    (0.0200, 1 / 12, (0.00, 0.00, 0.00)),
    (0.0150, 1 / 32, (0.15, 0.06, -0.10)),
    (-0.0050, 1 / 40, (-0.08, 0.12, 0.05)),
    (0.0100, 1 / 48, (0.04, -0.20, 0.14)),
    (0.0250, 1 / 64, (-0.18, -0.05, -0.16)),
)


@dataclasses.dataclass(frozen=True)
class scan:
    size: int
    views: int

    @property
    def source_axis(self):
        return 5.7 * self.size

    @property
    def source_detector(self):
        return 6.7 * self.size

    @property
    def pitch(self):
        return 6.7 / 5.7

    def angles(self):
        return 2 * np.pi * np.arange(self.views) / self.views

    def kept_views(self):
        """Those whose pixels are compared: at most six, no two of them mirror images."""
        return sorted({(self.views * k) // 13 for k in (0, 1, 3, 4, 7, 11)})

    def pixel_offsets(self):
        """Of pixel centres from the detector's middle, mm."""
        return self.pitch * (np.arange(self.size) - 0.5 * (self.size - 1))

    def frame(self, angle):
        """Source, detector's middle, and the unit vectors of u and v."""
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        u = np.array([-np.sin(angle), np.cos(angle), 0.0])
        middle = (self.source_axis - self.source_detector) * out
        return self.source_axis * out, middle, u, np.array([0.0, 0.0, 1.0])


def phantom(size):
    """float32 [x, y, z]; each Gaussian is a product of three profiles, which makes this cheap."""
    centres = np.arange(size) - 0.5 * (size - 1)
    volume = np.zeros((size, size, size), np.float32)
    for peak, width, middle in _GAUSSIANS:
        x, y, z = (
            np.exp(-0.5 * ((centres - size * m) / (size * width)) ** 2).astype(np.float32)
            for m in middle
        )
        plane = np.float32(peak) * np.multiply.outer(y, z)
        for i in range(size):
            # Below this the product would leave float32's normal range and slow a processor down.
            if x[i] > 1e-12:
                volume[i] += x[i] * np.where(np.abs(plane) > 1e-24, plane, np.float32(0))
    return volume


def line_integrals(s, view):
    """Closed form, float64 [u, v], of one view."""
    source, middle, u, v = s.frame(s.angles()[view])
    offsets = s.pixel_offsets()
    to_pixel = (middle - source) + offsets[:, None, None] * u + offsets[None, :, None] * v
    direction = to_pixel / np.linalg.norm(to_pixel, axis=-1, keepdims=True)
    total = np.zeros(direction.shape[:2])
    for peak, width, centre in _GAUSSIANS:
        sigma = s.size * width
        to_centre = s.size * np.array(centre) - source
        # The cross product keeps the digits that |c|^2 - (c d)^2 would lose at this distance.
        miss = np.linalg.norm(np.cross(to_centre, direction), axis=-1)
        total += peak * sigma * np.sqrt(2 * np.pi) * np.exp(-0.5 * (miss / sigma) ** 2)
    return total


def difference(a, b):
    """Relative l1 difference of `a` from `b`, and the largest one over b's largest value."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    gap = np.abs(a - b)
    return float(gap.sum() / np.abs(b).sum()), float(gap.max() / np.abs(b).max())
