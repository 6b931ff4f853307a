# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of X-ray tomography and photon radiotherapy, the same bits on every backend.

Volumes are arrays of shape (z, y, x), projections of shape (view, v, u). Lengths are mm, angles
rad, attenuation is 1/mm. Nothing is computed, and no thread started, before the first call.
"""

import importlib as _importlib
import typing as _typing

from . import _load  # noqa: F401, I001: before all that loads the extension module
from . import _core, dose, mpi, phantom, plot, rays, readings
from ._calls import Array, Axes, Event, Progress, Tensor
from ._dvh import DoseStatistics, Dvh, Histogram, Structure, StructureReport, unit_of
from ._errors import Cancelled, OutOfMemory
from ._fdk import Fdk, ScanWeights, fdk, filter_projections, ramp_taps, scan_weights
from ._fdk import weighted_back_project
from ._gamma import GammaResult, GammaSummary, gamma
from ._geometry import Geometry, Grid, even_angles
from ._iterative import (
    Cgls,
    Iteration,
    Lsqr,
    Mlem,
    Reconstruction,
    Sart,
    TotalVariation,
    cgls,
    lsqr,
    mlem,
    sart,
    total_variation,
)
from ._matrix import DoseMatrix, TransposedDoseMatrix
from ._options import (
    BackProjectOptions,
    CalculatorOptions,
    CentreOptions,
    CglsOptions,
    ConvolveOptions,
    DeadPixelOptions,
    DoseMatrixOptions,
    FdkOptions,
    GammaOptions,
    LineIntegralOptions,
    LsqrOptions,
    MlemOptions,
    ProjectOptions,
    ProjectorOptions,
    SartOptions,
    ScanOptions,
    StoppingRules,
    StructureOptions,
    TermaOptions,
    TotalVariationOptions,
)
from ._process import counters, info, native, set_threads, use
from ._projection import Adjoint, Projector, back_project, project
from ._verify import Check, verify

if _typing.TYPE_CHECKING:
    from . import files

__version__ = _core.version


def __getattr__(name: str) -> _typing.Any:
    # Imported where it is used: half of the time that the other modules take.
    if name != "files":
        raise AttributeError(f"module 'isocenter' has no attribute {name!r}")
    return _importlib.import_module(".files", __name__)


__all__ = [
    "Adjoint",
    "Array",
    "Axes",
    "BackProjectOptions",
    "CalculatorOptions",
    "Cancelled",
    "CentreOptions",
    "Cgls",
    "CglsOptions",
    "ConvolveOptions",
    "Check",
    "DeadPixelOptions",
    "DoseMatrix",
    "DoseMatrixOptions",
    "DoseStatistics",
    "Dvh",
    "Event",
    "Fdk",
    "FdkOptions",
    "GammaOptions",
    "GammaResult",
    "GammaSummary",
    "Geometry",
    "Grid",
    "Histogram",
    "Iteration",
    "LineIntegralOptions",
    "Lsqr",
    "LsqrOptions",
    "Mlem",
    "MlemOptions",
    "OutOfMemory",
    "Progress",
    "ProjectOptions",
    "Projector",
    "ProjectorOptions",
    "Reconstruction",
    "Sart",
    "SartOptions",
    "ScanOptions",
    "ScanWeights",
    "StoppingRules",
    "Structure",
    "StructureOptions",
    "StructureReport",
    "Tensor",
    "TermaOptions",
    "TotalVariation",
    "TotalVariationOptions",
    "TransposedDoseMatrix",
    "back_project",
    "cgls",
    "counters",
    "dose",
    "even_angles",
    "fdk",
    "files",
    "filter_projections",
    "gamma",
    "info",
    "lsqr",
    "mlem",
    "mpi",
    "native",
    "phantom",
    "plot",
    "project",
    "ramp_taps",
    "rays",
    "readings",
    "sart",
    "scan_weights",
    "set_threads",
    "total_variation",
    "unit_of",
    "use",
    "verify",
    "weighted_back_project",
]
