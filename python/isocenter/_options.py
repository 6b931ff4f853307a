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

    projector: Literal["joseph", "joseph-spline", "amanatides-woo", "branchless", "siddon"]
    edge: Literal["zero", "truncate"]
    region: Literal["box", "cylinder"]
    oversampling: int
    path: Literal["automatic", "general"]
    words: int
    max_abs: float | None


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

    projector: Literal["joseph", "joseph-spline", "amanatides-woo", "branchless", "siddon"]
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

    projector: Literal["joseph", "joseph-spline", "amanatides-woo", "branchless", "siddon"]
    sum: Literal["ordered", "reproducible"]
    edge: Literal["zero", "truncate"]
    region: Literal["box", "cylinder"]
    oversampling: int
    words: int
    projection: Literal["exact", "texture"]
    backprojector: Literal["adjoint", "fdk"]
