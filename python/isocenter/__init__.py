# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of X-ray tomography and photon radiotherapy, the same bits on every backend.

Volumes are arrays of shape (z, y, x), projections of shape (view, v, u). Lengths are mm, angles
rad, attenuation is 1/mm. Nothing is computed, and no thread started, before the first call.
"""

from . import _core
from ._calls import Array, Axes, Event, Progress, Tensor
from ._errors import Cancelled, OutOfMemory
from ._geometry import Geometry, Grid, even_angles
from ._options import BackProjectOptions, ProjectOptions, ProjectorOptions
from ._process import counters, info, native, set_threads, use
from ._projection import Adjoint, Projector, back_project, project

__version__ = _core.version

__all__ = [
    "Adjoint",
    "Array",
    "Axes",
    "BackProjectOptions",
    "Cancelled",
    "Event",
    "Geometry",
    "Grid",
    "OutOfMemory",
    "Progress",
    "ProjectOptions",
    "Projector",
    "ProjectorOptions",
    "Tensor",
    "back_project",
    "counters",
    "even_angles",
    "info",
    "native",
    "project",
    "set_threads",
    "use",
]
