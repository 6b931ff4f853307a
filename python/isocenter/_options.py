# SPDX-License-Identifier: BSD-3-Clause
"""Options of calls, as the library describes them. Written by ``python -m isocenter._generate``."""

from typing import Literal, TypedDict


class BackProjectOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    projector : default 'joseph'
        how a line integral is computed
    edge : default 'zero'
        what lies beyond the volume's voxels
    region : default 'box'
        the voxels that count
    oversampling : default 1
        exact projectors: rays a pixel along u and along v
    path : default 'automatic'
        automatic: the fast kernel wherever v runs along z; general: never
    words : default 0
        of 32 bits, that a voxel's sum has at least; 0: as few as its error allows
    max_abs : default None
        scatter: the largest size of a reading (default: it is found)
    """

    projector: Literal["joseph", "joseph-spline", "amanatides-woo", "branchless", "siddon", "exact"]
    edge: Literal["zero", "truncate"]
    region: Literal["box", "cylinder"]
    oversampling: int
    path: Literal["automatic", "general"]
    words: int
    max_abs: float | None


class CentreOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    guess : default 0.0
        of the axis' place along u, pixels
    reach : default 0.0
        either side of the guess, pixels (default: a quarter of the detector)
    """

    guess: float
    reach: float


class ConvolveOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    cones : default 8
        polar
    azimuths : default 8
        of each cone
    placing : default 'equal_energy'
        where the borders between the cones lie
    engine : default 'lattice'
        lattice: each direction's lines visit every voxel once; voxel_lines: a line of every
        direction through every voxel, exact and slow; voxel_samples: the same by samples at equal
        steps; non_voxel: rays and samples of a grid turned into each direction
    radial_step : default 1.0
        distance of samples, for voxel_samples and non_voxel
    ray_spacing : default 2.0
        distance of rays, for non_voxel
    tilt : default True
        whether the kernel follows the diverging rays
    """

    cones: int
    azimuths: int
    placing: Literal["equal_energy", "equal_solid_angle"]
    engine: Literal["lattice", "voxel_lines", "voxel_samples", "non_voxel"]
    radial_step: float
    ray_spacing: float
    tilt: bool


class DeadPixelOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    radius : default 2
        of the square that a pixel is compared with, pixels
    tolerance : default 0.5
        of the square's median
    """

    radius: int
    tolerance: float


class DoseMatrixOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    products : default 'both'
        that are wanted
    values : default 'as-given'
        the type in which they are stored
    vectors : default 1
        the largest number that a product multiplies at once
    format : default None
        of the matrix (default: that of least cost)
    processor : default None
        for which a format is chosen (default: that where the matrix lies)
    """

    products: Literal["both", "forward", "transposed"]
    values: Literal["as-given", "half", "bfloat16"]
    vectors: int
    format: Literal["csr32", "csr16", "row_block4", "row_block8"] | None
    processor: Literal["host", "avx512-host", "device"] | None


class GammaOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    interpolation : default 'trilinear'
        of the evaluated dose; tetrahedra: linear on six a cell; grid: none
    normalisation : default 'global'
        what the dose differences are per cent of: global (the largest reference dose), local (the
        reference dose at the point), or a dose in the volumes' unit
    given_dose : default 0.0
        of the normalisation, unit of the doses
    cut_off : default 0.1
        points below this part of the largest reference dose, or of the dose that `normalisation`
        gives, are not compared
    max_gamma : default 2.0
        no larger gamma is looked for; above 1
    bins : default 100
        of the histograms, from 0 to the maximum gamma
    strict : default False
        a gamma of exactly 1 does not pass
    """

    interpolation: Literal["trilinear", "tetrahedra", "grid"]
    normalisation: Literal["global", "local", "given"]
    given_dose: float
    cut_off: float
    max_gamma: float
    bins: int
    strict: bool


class LineIntegralOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    min_transmission : default 6.103515625e-05
        lower ones count as this
    """

    min_transmission: float


class ProjectOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    projector : default 'joseph'
        how a line integral is computed
    edge : default 'zero'
        what lies beyond the volume's voxels
    region : default 'box'
        the voxels that count
    oversampling : default 1
        exact projectors: rays a pixel along u and along v
    path : default 'automatic'
        automatic: the fast kernel wherever v runs along z; general: never
    sum : default 'ordered'
        how the terms of a ray are added; reproducible: in any order
    max_abs : default None
        reproducible sums: the largest size of a voxel (default: it is found)
    """

    projector: Literal["joseph", "joseph-spline", "amanatides-woo", "branchless", "siddon", "exact"]
    edge: Literal["zero", "truncate"]
    region: Literal["box", "cylinder"]
    oversampling: int
    path: Literal["automatic", "general"]
    sum: Literal["ordered", "reproducible"]
    max_abs: float | None


class ProjectorOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    projector : default 'joseph'
        how an iterative method projects
    sum : default 'ordered'
        how the terms of a ray are added; reproducible: in any order
    edge : default 'zero'
        what lies beyond the volume's voxels
    region : default 'box'
        the voxels that count
    oversampling : default 1
        exact projectors: rays a pixel along u and along v
    words : default 0
        of 32 bits, that a sum of the adjoint has at least; 0: as few as its error allows
    projection : default 'exact'
        exact, of that projector; or texture, by a GPU's texture units, which no backprojection
        matches
    backprojector : default 'adjoint'
        adjoint, of that projector; or fdk, that of filtered backprojection, which does not match it
        (sirt, sart, os-sart, mlem, osem)
    """

    projector: Literal["joseph", "joseph-spline", "amanatides-woo", "branchless", "siddon", "exact"]
    sum: Literal["ordered", "reproducible"]
    edge: Literal["zero", "truncate"]
    region: Literal["box", "cylinder"]
    oversampling: int
    words: int
    projection: Literal["exact", "texture"]
    backprojector: Literal["adjoint", "fdk"]


class ScanOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    arc : default 'automatic'
        full: the whole circle; short: an arc of half a circle and the fan or more, by Parker's
        weights; automatic: by the views' angles
    detector : default 'automatic'
        displaced: opposite views complete each other (half-fan); centred: they do not; automatic:
        displaced where the axis is seen beside the middle by more than a tenth of the width
    truncation_correction : default 0
        objects wider than the detector: columns beyond its edges over which readings fall to zero
    max_roll : default None
        degrees by which the detector's rows may leave the plane of rotation: more makes what
        changes along z visibly wrong (default: 5 over a full circle; 1.5 over an arc, half a circle
        of parallel rays, or with a displaced detector)
    """

    arc: Literal["automatic", "full", "short"]
    detector: Literal["automatic", "centred", "displaced"]
    truncation_correction: int
    max_roll: float | None


class StoppingRules(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    iterations : default 20
        at most, of an iterative method, with those of a checkpoint (default: tv 1000, whose gap
        ends it, the others 20)
    stop_residual : default 0.0
        end where the residual, the norm of the readings' differences from the projections, is this
        part of the readings' norm. The residual that an iteration tells, and every rule ends by, is
        that of the volume before the iteration (sirt, sart, os-sart, mlem, osem: the volume that is
        written fits the readings better) or of the volume that it made (cgls, lsqr, tv)
    noise : default 0.0
        end where the residual is at or below it; 0: no matter
    stop_gap : default 0.0
        end where the primal-dual gap is this part of the value; in float at least 1e-5, 0: never
        (default: 0.001)
    """

    iterations: int
    stop_residual: float
    noise: float
    stop_gap: float


class StructureOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    between_planes : default 'frusta'
        contours go half-way to the next plane unchanged, in place of straight surfaces from each to
        the next
    caps : default 'half-slice'
        what lies beyond the first and the last contour
    slice_thickness : default 0.0
        mm, of structures that have contours in one plane alone, and of a dose of one plane that
        does not say its own
    beyond : default 'refuse'
        cut: what lies outside of a grid is left out
    """

    between_planes: Literal["frusta", "prisms"]
    caps: Literal["none", "half-slice", "rounded"]
    slice_thickness: float
    beyond: Literal["refuse", "cut"]


class TermaOptions(TypedDict, total=False):
    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.

    Attributes
    ----------
    hardening_correction : default True
        whether the TERMA takes the hardening of the spectrum into account
    """

    hardening_correction: bool


class CalculatorOptions(ConvolveOptions, total=False):
    """Keywords of calls. Also those of `ConvolveOptions`. Lengths are mm, angles rad, voxels 1/mm.

    Attributes
    ----------
    hardening_correction : default True
        whether the TERMA takes the hardening of the spectrum into account
    margin : default 27.0
        how far beyond the edges of the field dose is calculated
    """

    hardening_correction: bool
    margin: float


class CglsOptions(ProjectorOptions, total=False):
    """Keywords of calls: those of `ProjectorOptions`."""


class FdkOptions(ScanOptions, total=False):
    """Keywords of calls. Also those of `ScanOptions`. Lengths are mm, angles rad, voxels 1/mm.

    Attributes
    ----------
    window : default 'ram-lak'
        window of the ramp filter
    cutoff : default 1.0
        of the detector's Nyquist frequency
    """

    window: Literal["ram-lak", "shepp-logan", "cosine", "hamming", "hann"]
    cutoff: float


class LsqrOptions(ProjectorOptions, total=False):
    """Keywords of calls. Also those of `ProjectorOptions`. Lengths are mm, angles rad, voxels 1/mm.

    Attributes
    ----------
    damping : default 0.0
        weight of the volume's size, mm
    """

    damping: float


class MlemOptions(ProjectorOptions, total=False):
    """Keywords of calls. Also those of `ProjectorOptions`. Lengths are mm, angles rad, voxels 1/mm.

    Attributes
    ----------
    block : default 0
        views of a block (default: 8)
    order : default 'golden'
        golden, each block far from those before it, or sequential
    """

    block: int
    order: Literal["sequential", "golden"]


class TotalVariationOptions(ProjectorOptions, total=False):
    """Keywords of calls. Also those of `ProjectorOptions`. Lengths are mm, angles rad, voxels 1/mm.

    Attributes
    ----------
    weight : default 0.0
        weight of the variation beside half the sum of squared differences of readings (default:
        none, it must be given)
    gradient_scale : default 0.0
        weight of the differences' rows beside the rays', mm: how fast the method is (default: by
        the readings)
    lower : default -inf
        least value of a voxel, /mm
    upper : default inf
        largest value of a voxel, /mm
    """

    weight: float
    gradient_scale: float
    lower: float
    upper: float


class SartOptions(MlemOptions, total=False):
    """Keywords of calls. Also those of `MlemOptions`. Lengths are mm, angles rad, voxels 1/mm.

    Attributes
    ----------
    relaxation : default 1.0
        length of a step, above 0 and below 2
    column_sums : default 'blocks'
        blocks, of each block its own, a volume each; or scan, one volume for all, of each voxel the
        largest
    lower : default -inf
        least value of a voxel, /mm
    upper : default inf
        largest value of a voxel, /mm
    """

    relaxation: float
    column_sums: Literal["blocks", "scan"]
    lower: float
    upper: float
