# SPDX-License-Identifier: BSD-3-Clause
"""The extension module. Its functions take their arguments by position; isocenter documents them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

version: str
has_cuda: bool
fields: dict[str, list[dict[str, Any]]]

_Tell = Callable[[float], object] | None

def end() -> None: ...
def after_fork_in_child() -> None: ...
def use(name: str, /) -> None: ...
def backend() -> str: ...
def set_threads(count: int, /) -> None: ...
def started() -> bool: ...
def facts() -> dict[str, Any]: ...
def gpu_facts() -> dict[str, Any]: ...
def counters(reset: bool, /) -> dict[str, int]: ...
def native(
    x: object, out: object, projections: bool, axes: str, cancel: object, /
) -> Any: ...
def hash_bits(x: object, /) -> str: ...
def elementary(
    function: str, numbers: npt.NDArray[np.float32] | npt.NDArray[np.float64], /
) -> npt.NDArray[Any]: ...
def decode_readings(
    integers: npt.NDArray[np.int32], scale: float, offset: float, /
) -> npt.NDArray[np.float64]: ...
def even_angles(count: int, span: float, first: float, /) -> npt.NDArray[np.float64]: ...

class Grid:
    size: tuple[int, int, int]
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]
    @staticmethod
    def make(
        size: tuple[int, ...], spacing: tuple[float, ...], origin: tuple[float, ...], /
    ) -> Grid: ...
    @staticmethod
    def centred(size: tuple[int, ...], spacing: tuple[float, ...], /) -> Grid: ...
    def equals(self, other: Grid, /) -> bool: ...

class Geometry:
    beam: str
    extents: tuple[int, int, int]
    @staticmethod
    def from_vectors(beam: str, num_u: int, num_v: int, vectors: object, /) -> Geometry: ...
    @staticmethod
    def circular_cone(
        pixels: tuple[int, ...],
        pitch: tuple[float, ...],
        offset: tuple[float, ...],
        source_axis: float,
        source_detector: float,
        angles: object,
        /,
    ) -> Geometry: ...
    @staticmethod
    def circular_parallel(
        pixels: tuple[int, ...],
        pitch: tuple[float, ...],
        offset: tuple[float, ...],
        angles: object,
        /,
    ) -> Geometry: ...
    @staticmethod
    def read(path: str, /) -> Geometry: ...
    @staticmethod
    def parse(text: str, /) -> Geometry: ...
    def to_json(self) -> str: ...
    def helix(self, angles: object, pitch: float, /) -> Geometry: ...
    def laminography(self, tilt: float, /) -> Geometry: ...
    def turn_detector(self, yaw: float, pitch: float, roll: float, /) -> Geometry: ...
    def shift_detector(self, shifts: object, /) -> Geometry: ...
    def shift_source(self, shifts: object, /) -> Geometry: ...
    def move_detector(self, factor: float, /) -> Geometry: ...
    def subset(self, first: int, count: int, /) -> Geometry: ...
    def vectors(self) -> npt.NDArray[np.float64]: ...
    def equals(self, other: Geometry, /) -> bool: ...
    def detectors_within(self, grid: Grid, /) -> tuple[int, float]: ...

def project(
    geometry: Geometry,
    grid: Grid,
    volume: object,
    out: object,
    memory: int,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def back_project(
    geometry: Geometry,
    grid: Grid,
    projections: object,
    out: object,
    add: bool,
    memory: int,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...

class Projector:
    def __init__(
        self,
        geometry: Geometry,
        grid: Grid,
        is_double: bool,
        memory: int,
        options: dict[str, Any],
        axes: str,
        copy: bool,
        /,
    ) -> None: ...
    bytes: int
    def forward(self, volume: object, out: object, cancel: object, progress: _Tell, /) -> Any: ...
    def adjoint(
        self, projections: object, out: object, add: bool, cancel: object, progress: _Tell, /
    ) -> Any: ...
    def close(self) -> None: ...

def fdk(
    geometry: Geometry,
    grid: Grid,
    projections: object,
    out: object,
    add: bool,
    memory: int,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def filter_projections(
    geometry: Geometry,
    projections: object,
    out: object,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def weighted_back_project(
    geometry: Geometry,
    grid: Grid,
    filtered: object,
    out: object,
    add: bool,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def filtered_extents(geometry: Geometry, options: dict[str, Any], /) -> tuple[int, int, int]: ...
def weigh_scan(geometry: Geometry, options: dict[str, Any], /) -> dict[str, Any]: ...
def ramp_taps(count: int, options: dict[str, Any], /) -> npt.NDArray[np.float64]: ...

class Fdk:
    def __init__(
        self,
        geometry: Geometry,
        grid: Grid,
        is_double: bool,
        memory: int,
        options: dict[str, Any],
        axes: str,
        copy: bool,
        /,
    ) -> None: ...
    bytes: int
    arc: str
    detector: str
    def apply(
        self, projections: object, out: object, add: bool, cancel: object, progress: _Tell, /
    ) -> Any: ...
    def close(self) -> None: ...

class Ranks:
    @staticmethod
    def make(carrier: object, rank: int, size: int, name: str, /) -> Ranks: ...

class RankPlan:
    @staticmethod
    def make(ranks: Ranks, geometry: Geometry, grid: Grid, speeds: list[float], /) -> RankPlan: ...
    idle: int
    def planes(self, rank: int, /) -> tuple[int, int]: ...
    def rows(self, rank: int, /) -> tuple[int, int]: ...

class RankPlanes:
    @staticmethod
    def make(ranks: Ranks, grid: Grid, speeds: list[float], /) -> RankPlanes: ...
    def planes(self, rank: int, /) -> tuple[int, int]: ...

class RankedMatrix:
    def __init__(
        self,
        ranks: Ranks,
        counts: list[int],
        rows: tuple[Any, ...],
        columns: tuple[Any, ...],
        vectors: int,
        cancel: object,
        progress: _Tell,
        /,
    ) -> None: ...
    shape: tuple[int, int]
    bytes: int
    def rows(self, rank: int, /) -> tuple[int, int]: ...
    def columns(self, rank: int, /) -> tuple[int, int]: ...
    def apply(
        self, x: object, transposed: bool, sum: str, cancel: object, /
    ) -> npt.NDArray[np.float64]: ...
    def close(self) -> None: ...

def ranked_gamma(
    reference_planes: RankPlanes,
    reference: object,
    evaluated_planes: RankPlanes,
    evaluated: object,
    criteria: list[str],
    made: object,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> tuple[Any, Any, list[dict[str, Any]]]: ...
def ranked_project(
    plan: RankPlan,
    volume: object,
    out: object,
    batch: int,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def ranked_back_project(
    plan: RankPlan,
    projections: object,
    out: object,
    batch: int,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def ranked_fdk(
    plan: RankPlan,
    projections: object,
    out: object,
    batch: int,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...

class _Method:
    def __init__(
        self,
        geometry: Geometry,
        grid: Grid,
        readings: object,
        start: object,
        voxel_mask: object,
        reading_mask: object,
        into: object,
        memory: int,
        share: RankPlan | None,
        has_checkpoint: bool,
        options: dict[str, Any],
        axes: str,
        copy: bool,
        cancel: object,
        progress: _Tell,
        /,
    ) -> None: ...
    volume: Any
    history: list[tuple[int, float, float, float]]
    def step(self, cancel: object, progress: _Tell, /) -> tuple[int, float, float, float]: ...
    def run(
        self, rules: dict[str, Any], proceed: object, total: bool, cancel: object, progress: _Tell, /
    ) -> None: ...
    def close(self) -> None: ...
    belongs: list[tuple[str, str]]
    is_double: bool
    def parts(self) -> list[tuple[str, bool, int]]: ...
    def exchange(self, arrays: dict[str, npt.NDArray[Any]], puts: bool, /) -> None: ...
    def set_history(self, rows: npt.NDArray[np.float64], /) -> None: ...

class Sart(_Method): ...
class Mlem(_Method): ...
class Cgls(_Method): ...
class Lsqr(_Method): ...
class TotalVariation(_Method): ...

def shepp_logan(half_size: float, contrast: str, /) -> npt.NDArray[np.float64]: ...
def rasterise(
    ellipsoids: object,
    grid: Grid,
    is_double: bool,
    samples: int,
    out: object,
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def project_ellipsoids(
    ellipsoids: object,
    geometry: Geometry,
    is_double: bool,
    subsamples: int,
    out: object,
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def mean_of_views(
    images: object, weights: object, out: object, axes: str, copy: bool, cancel: object, /
) -> Any: ...
def line_integrals(
    readings: object,
    dark: object,
    flat: object,
    out: object,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    /,
) -> Any: ...
def find_dead_pixels(
    dark: object,
    flat: object,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    /,
) -> npt.NDArray[np.uint8]: ...
def replace_dead_pixels(
    projections: object, dead: object, out: object, axes: str, copy: bool, cancel: object, /
) -> Any: ...
def axis_pixel(geometry: Geometry, /) -> float: ...
def mirror_weights(geometry: Geometry, /) -> npt.NDArray[np.float64]: ...
def centre_of_rotation(
    mean: object, options: dict[str, Any], axes: str, cancel: object, /
) -> float: ...
def noise_of_counts(
    readings: object, photons: float, mask: object, axes: str, copy: bool, cancel: object, /
) -> float: ...
def radiological_path(
    rays: object,
    grid: Grid,
    volume: object,
    out: object,
    method: str,
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def sort_rays(
    rays: object, grid: Grid, order: str, cancel: object, /
) -> npt.NDArray[np.int64]: ...

def gamma(
    reference_grid: Grid,
    reference: object,
    evaluated_grid: Grid,
    evaluated: object,
    criteria: list[str],
    made: object,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> tuple[Any, Any, list[dict[str, Any]]]: ...

class Structure:
    @staticmethod
    def make(
        name: str,
        contours: list[npt.NDArray[np.float64]],
        options: dict[str, Any],
        cancel: object,
        /,
    ) -> Structure: ...
    def fractions(
        self,
        grid: Grid,
        out: object,
        is_double: bool,
        axes: str,
        copy: bool,
        cancel: object,
        progress: _Tell,
        /,
    ) -> tuple[Any, dict[str, Any]]: ...
    def grid(self, dose: Grid, subdivision: int, /) -> Grid: ...
    def surface_points(self, distance: float, /) -> npt.NDArray[np.float64]: ...

class Dvh:
    def __init__(
        self,
        structure: Structure,
        grid: Grid,
        share: RankPlanes | None,
        dose: object,
        subdivision: int,
        axes: str,
        copy: bool,
        cancel: object,
        progress: _Tell,
        /,
    ) -> None: ...
    def statistics(self, extremes: str, cancel: object, /) -> dict[str, float]: ...
    def volumes_at(self, levels: object, cancel: object, /) -> npt.NDArray[np.float64]: ...
    def doses_at(self, volumes: object, cancel: object, /) -> npt.NDArray[np.float64]: ...
    def evaluate(
        self, names: list[str], prescription: float, extremes: str, cancel: object, /
    ) -> npt.NDArray[np.float64]: ...
    def histogram(self, bins: int, end: float, cancel: object, /) -> dict[str, Any]: ...

def unit_of_quantity(name: str, prescription: float, /) -> str: ...

class DoseMatrix:
    def __init__(
        self,
        by_rows: bool,
        rows: int,
        cols: int,
        indptr: object,
        indices: object,
        data: object,
        options: dict[str, Any],
        cancel: object,
        progress: _Tell,
        /,
    ) -> None: ...
    rows: int
    cols: int
    entries: int
    bytes: int
    def apply(self, x: object, out: object, transposed: bool, sum: str, cancel: object, /) -> Any: ...
    def report(self, transposed: bool, /) -> dict[str, Any]: ...
    def close(self) -> None: ...

class Beam:
    @staticmethod
    def make(
        source_distance: float,
        isocentre: tuple[float, ...],
        degrees: tuple[float, ...],
        map: tuple[float, ...],
        fluence: object,
        weight: float,
        /,
    ) -> Beam: ...

class Calculator:
    def __init__(
        self,
        patient: Grid,
        share: RankPlanes | None,
        is_double: bool,
        kernel: str,
        kernel_table: str,
        spectrum: str,
        spectrum_table: str,
        by_energy: bool,
        options: dict[str, Any],
        axes: str,
        copy: bool,
        /,
    ) -> None: ...
    bytes: int
    directions: int
    def add(
        self,
        beams: list[Beam],
        density: object,
        out: object,
        fresh: bool,
        cancel: object,
        progress: _Tell,
        /,
    ) -> Any: ...
    def close(self) -> None: ...

def region_around(beam: Beam, patient: Grid, margin: float, /) -> Grid: ...
def terma(
    density_grid: Grid,
    density: object,
    beam: Beam,
    spectrum: str,
    spectrum_table: str,
    result_grid: Grid,
    out: object,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def convolve(
    beam: Beam,
    region: Grid,
    terma: object,
    density_grid: Grid,
    density: object,
    kernel: str,
    kernel_table: str,
    spectrum: str,
    spectrum_table: str,
    out: object,
    add: bool,
    options: dict[str, Any],
    axes: str,
    copy: bool,
    cancel: object,
    progress: _Tell,
    /,
) -> Any: ...
def density_from_hounsfield(
    hounsfield: object,
    name: str,
    table: str,
    out: object,
    axes: str,
    copy: bool,
    cancel: object,
    /,
) -> Any: ...
