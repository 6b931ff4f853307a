# SPDX-License-Identifier: BSD-3-Clause
"""The scan that every program of the comparison sees: one phantom, one circle of cone-beam views.

For a side of N voxels of 1 mm:
  volume      N^3, its middle at the axis; on disk float32 [x, y, z], z fastest; kept slices
              [slice, x, y], y fastest
  source      5.7 N mm from the z axis, at angle 0 on +x, angles from x to y
  detector    N^2 pixels, 6.7 N mm from the source, pitch 6.7 / 5.7 = 1.175438... mm: a pixel is
              1 mm wide at the axis and the fan opens 2 atan(0.5 / 5.7) = 10.03 degrees
  views       evenly over 360 degrees, the end left out
  projections float32 [view, u, v], v fastest; u along +y at angle 0, v along +z
  tilt        the detector pitched about u, then rolled about its normal, in each view about its
              middle, as iso::ct::turn_detector has it
N = 512: source 2918.4 mm, detector 3430.4 mm.

The phantom is a sum of round Gaussians. Its line integrals are closed forms, no voxel of it is zero
or subnormal in float32, and none of it is symmetric, so that a mirrored geometry shows.
"""
import concurrent.futures
import dataclasses
import os

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
    pitched: float = 0.0  # degrees
    rolled: float = 0.0  # degrees
    voxel = 1.0
    offset = 0.0  # of the detector along u

    @property
    def extent(self):
        return (self.size,) * 3

    @property
    def pixels(self):
        return (self.size,) * 2

    @property
    def source_axis(self):
        return 5.7 * self.size

    @property
    def source_detector(self):
        return 6.7 * self.size

    @property
    def pitch(self):
        return 6.7 / 5.7

    @property
    def turned(self):
        return self.pitched != 0 or self.rolled != 0

    def angles(self):
        return 2 * np.pi * np.arange(self.views) / self.views

    def kept_views(self):
        """Those whose pixels are compared: at most six, no two of them mirror images."""
        return sorted({(self.views * k) // 13 for k in (0, 1, 3, 4, 7, 11)})

    def kept_slices(self):
        """Those whose voxels are compared: near the middle, where a circle of views tells most."""
        return [2 * self.size // 5, self.size // 2, 5 * self.size // 9]

    def voxel_offsets(self):
        """Of voxel centres from the volume's middle, mm."""
        return np.arange(self.size) - 0.5 * (self.size - 1)

    def pixel_offsets(self):
        """Of pixel centres from the detector's middle, mm."""
        return self.pitch * self.voxel_offsets()

    def seen(self):
        """[x, y]: voxels that every view sees, two of them from the edge."""
        x = self.voxel_offsets()
        fan = self.pitch * (0.5 * self.size - 2)
        radius = self.source_axis * fan / np.hypot(fan, self.source_detector)
        return np.hypot(x[:, None], x) < radius

    def frame(self, angle):
        """Source, detector's middle, and the unit vectors of u and v."""
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        u = np.array([-np.sin(angle), np.cos(angle), 0.0])
        middle = (self.source_axis - self.source_detector) * out
        v = np.array([0.0, 0.0, 1.0])
        if self.turned:
            v = _about(u, v, self.pitched)
            u, v = (_about(np.cross(u, v), x, self.rolled) for x in (u, v))
        return self.source_axis * out, middle, u, v


def _about(axis, x, degrees):
    """x after a turn about a unit vector across it."""
    angle = np.radians(degrees)
    return x * np.cos(angle) + np.cross(axis, x) * np.sin(angle)


def _in_threads(work, count):
    """work(i) for i below count; numpy lets other threads run within its loops."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, range(count)))


def _profiles(size, centres):
    """(peak, one profile along each axis) of each Gaussian, at voxels with these offsets."""
    for peak, width, middle in _GAUSSIANS:
        yield peak, *(
            np.exp(-0.5 * ((c - size * m) / (size * width)) ** 2) for c, m in zip(centres, middle)
        )


def write_phantom(s, path):
    """The whole volume; each Gaussian is a product of three profiles, which makes this cheap."""
    volume = np.memmap(path, np.float32, "w+", shape=(s.size,) * 3)
    gaussians = [
        (np.float32(peak), x.astype(np.float32), y.astype(np.float32), z.astype(np.float32))
        for peak, x, y, z in _profiles(s.size, (s.voxel_offsets(),) * 3)
    ]

    def write_plane(i):
        for peak, x, y, z in gaussians:
            # Below this the product would leave float32's normal range and slow a processor down.
            if x[i] > 1e-12:
                plane = peak * np.multiply.outer(y, z)
                volume[i] += x[i] * np.where(np.abs(plane) > 1e-24, plane, np.float32(0))

    _in_threads(write_plane, s.size)


def phantom_slices(s):
    """The kept slices, float64."""
    x = s.voxel_offsets()
    return sum(
        peak * z[:, None, None] * x[:, None] * y
        for peak, x, y, z in _profiles(s.size, (x, x, x[s.kept_slices()]))
    )


def line_integrals(s, view, u=None, v=None, dtype=np.float64):
    """Closed form of one view: of its pixels [u, v], or at points of its detector, mm."""
    if u is None:
        u, v = s.pixel_offsets()[:, None], s.pixel_offsets()[None, :]
    source, middle, *axes = s.frame(s.angles()[view])
    # From the source along the detector's normal, and to where that meets its plane.
    axes = np.array([np.cross(*axes), *axes])
    length, from_u, from_v = axes @ (middle - source)
    u, v = u + from_u, v + from_v
    ray_squared = (length**2 + u**2).astype(dtype) + (v**2).astype(dtype)
    total = np.zeros(np.broadcast(u, v).shape, dtype)
    for peak, width, centre in _GAUSSIANS:
        sigma = s.size * width
        w, cu, cv = axes @ (s.size * np.array(centre) - source)
        # Distance of the centre from the ray by the cross product of the two, which keeps the
        # digits that |c|^2 - (c d)^2 would lose at this distance. What two terms lose against each
        # other is taken in double precision.
        squared = ((cv * u).astype(dtype) - (cu * v).astype(dtype)) ** 2
        squared += ((cu * length - w * u) ** 2).astype(dtype)
        squared += ((cv * length - w * v) ** 2).astype(dtype)
        squared /= ray_squared
        # Not beyond 80, where float32 would leave its normal range.
        weight = dtype(peak * sigma * np.sqrt(2 * np.pi))
        total += weight * np.exp(np.maximum(squared * dtype(-0.5 / sigma**2), dtype(-80)))
    return total


def write_projections(s, path):
    """All views, from the closed form: to 4e-7 of the largest value."""
    pixels = np.memmap(path, np.float32, "w+", shape=(s.views, s.size, s.size))

    def write_view(view):
        pixels[view] = line_integrals(s, view, dtype=np.float32)

    _in_threads(write_view, s.views)


def back_projections(s, power):
    """Closed form of the kept slices [slice, x, y]: each voxel's sum over the views of the integral
    along the ray through its centre, times a power of (source to axis / source to voxel, both along
    the detector's normal)."""
    heights = s.voxel_offsets()[s.kept_slices()]
    frames = [s.frame(angle) for angle in s.angles()]
    total = np.zeros((heights.size, s.size, s.size))
    rows = 32  # of x that a thread takes at a time

    def sum_rows(block):
        mine = slice(block * rows, (block + 1) * rows)
        x, y = s.voxel_offsets()[mine, None], s.voxel_offsets()
        for view, (source, _, along_u, _) in enumerate(frames):
            depth = s.source_axis - (x * source[0] + y * source[1]) / s.source_axis
            scale = s.source_detector / depth
            u = scale * (x * along_u[0] + y * along_u[1])
            weight = (s.source_axis / depth) ** power
            for k, height in enumerate(heights):
                seen = line_integrals(s, view, u, scale * height, np.float32)
                total[k, mine] += weight * seen

    _in_threads(sum_rows, -(-s.size // rows))
    return total


def difference(a, b):
    """Relative l1 difference of `a` from `b`, and the largest one over b's largest value."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    gap = np.abs(a - b)
    return float(gap.sum() / np.abs(b).sum()), float(gap.max() / np.abs(b).max())
