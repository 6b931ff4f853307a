# SPDX-License-Identifier: BSD-3-Clause
"""Wrong arguments of every function: each is refused by a sentence, and the next call works."""

import types

import numpy as np
import pytest

import isocenter as iso
from test_arrays import SENTENCE

SCAN = iso.Geometry.circular_cone(
    pixels=(8, 6),
    pitch=4.0,
    source_axis=100.0,
    source_detector=150.0,
    angles=iso.even_angles(8, 2 * np.pi),
)
GRID = iso.Grid((8, 8, 6), 2.0)
VOLUME = np.ones(GRID.shape, np.float32)
LINES = iso.project(SCAN, GRID, VOLUME)
IMAGE = np.ones((1, 6, 8), np.float32)
RAYS = iso.rays.between([[-50, 0, 0]], [[50, 0, 0]])
CIRCLE = np.stack(
    [3 * np.cos(np.arange(30) / 30 * 2 * np.pi), 3 * np.sin(np.arange(30) / 30 * 2 * np.pi)], 1
)
CONTOURS = [np.column_stack([CIRCLE, np.full(30, h)]) for h in (-2.0, 0.0, 2.0)]
ORGAN = iso.Structure(CONTOURS)
BEAM = iso.dose.Beam.rectangle(-5, 5, -5, 5)
DVH = iso.Dvh(ORGAN, GRID, VOLUME)
PROJECTOR = iso.Projector(SCAN, GRID)
FDK = iso.Fdk(SCAN, GRID)
CALCULATOR = iso.dose.Calculator(GRID, cones=4, azimuths=4)

# Functions with arguments that they take.
CALLS = {
    "project": (iso.project, {"geometry": SCAN, "grid": GRID, "volume": VOLUME, "out": None,
                "axes": "zyx", "copy": None, "cancel": None, "progress": None,
                "projector": "joseph", "edge": "zero", "region": "box", "oversampling": 1,
                "sum": "ordered", "max_abs": None, "path": "automatic"}),
    "back_project": (iso.back_project, {"geometry": SCAN, "grid": GRID, "projections": LINES,
                     "out": None, "axes": "zyx", "words": 0}),
    "Projector": (iso.Projector, {"geometry": SCAN, "grid": GRID, "dtype": "float32",
                  "axes": "zyx", "projector": "joseph", "oversampling": 1}),
    "Projector()": (PROJECTOR, {"volume": VOLUME, "out": None, "cancel": None, "progress": None}),
    "Projector.T()": (PROJECTOR.T, {"projections": LINES, "out": None, "cancel": None}),
    "fdk": (iso.fdk, {"geometry": SCAN, "grid": GRID, "projections": LINES, "out": None,
            "axes": "zyx", "cancel": None, "progress": None, "window": "hann", "cutoff": 1.0,
            "arc": "full", "detector": "centred", "truncation_correction": 0, "max_roll": None}),
    "Fdk()": (FDK, {"projections": LINES, "out": None, "cancel": None, "progress": None}),
    "filter_projections": (iso.filter_projections, {"geometry": SCAN, "projections": LINES,
                           "out": None, "axes": "zyx"}),
    "weighted_back_project": (iso.weighted_back_project, {"geometry": SCAN, "grid": GRID,
                              "filtered": LINES, "out": None, "axes": "zyx"}),
    "scan_weights": (iso.scan_weights, {"geometry": SCAN, "arc": "full"}),
    "ramp_taps": (iso.ramp_taps, {"count": 4, "window": "hann", "cutoff": 1.0}),
    "sart": (iso.sart, {"geometry": SCAN, "grid": GRID, "readings": LINES, "start": None,
             "voxel_mask": None, "reading_mask": None, "axes": "zyx", "cancel": None,
             "progress": None, "proceed": None, "block": 0, "order": "golden", "relaxation": 1.0,
             "lower": 0.0, "iterations": 1, "noise": 0.0}),
    "cgls": (iso.cgls, {"geometry": SCAN, "grid": GRID, "readings": LINES, "iterations": 1}),
    "lsqr": (iso.lsqr, {"geometry": SCAN, "grid": GRID, "readings": LINES, "damping": 0.0,
             "iterations": 1}),
    "mlem": (iso.mlem, {"geometry": SCAN, "grid": GRID, "readings": LINES, "iterations": 1}),
    "total_variation": (iso.total_variation, {"geometry": SCAN, "grid": GRID, "readings": LINES,
                        "weight": 1.0, "iterations": 1}),
    "Grid": (iso.Grid, {"size": (2, 2, 2), "spacing": 1.0, "origin": (0.0, 0.0, 0.0)}),
    "even_angles": (iso.even_angles, {"count": 3, "span": 1.0, "first": 0.0}),
    "circular_cone": (iso.Geometry.circular_cone, {"pixels": (2, 2), "pitch": 1.0,
                      "source_axis": 1.0, "source_detector": 2.0, "angles": [0.0],
                      "offset": (0.0, 0.0)}),
    "circular_parallel": (iso.Geometry.circular_parallel, {"pixels": (2, 2), "pitch": 1.0,
                          "angles": [0.0], "offset": (0.0, 0.0)}),
    "from_vectors": (iso.Geometry.from_vectors, {"vectors": SCAN.vectors(), "pixels": (8, 6),
                     "beam": "cone"}),
    "helix": (SCAN.helix, {"angles": iso.even_angles(8, 6.0), "pitch": 1.0}),
    "laminography": (SCAN.laminography, {"tilt": 0.1}),
    "turn_detector": (SCAN.turn_detector, {"yaw": 0.1, "pitch": 0.1, "roll": 0.1}),
    "shift_detector": (SCAN.shift_detector, {"shifts": np.zeros((8, 2))}),
    "shift_source": (SCAN.shift_source, {"shifts": np.zeros((8, 3))}),
    "move_detector": (SCAN.move_detector, {"factor": 2.0}),
    "subset": (SCAN.subset, {"first": 0, "count": 1}),
    "detectors_within": (SCAN.detectors_within, {"grid": GRID}),
    "native": (iso.native, {"x": VOLUME, "kind": "volume", "axes": "zyx"}),
    "set_threads": (iso.set_threads, {"count": None}),
    "use": (iso.use, {"backend": "openmp"}),
    "phantom.rasterise": (iso.phantom.rasterise, {"ellipsoids": iso.phantom.shepp_logan(5.0),
                          "grid": GRID, "samples": 1, "dtype": "float32", "out": None,
                          "axes": "zyx"}),
    "phantom.project": (iso.phantom.project, {"ellipsoids": iso.phantom.shepp_logan(5.0),
                        "geometry": SCAN, "subsamples": 1, "dtype": "float32", "out": None}),
    "phantom.shepp_logan": (iso.phantom.shepp_logan, {"half_size": 5.0, "contrast": "modified"}),
    "mean_of_views": (iso.readings.mean_of_views, {"images": LINES, "weights": None}),
    "line_integrals": (iso.readings.line_integrals, {"readings": LINES, "dark": 0 * IMAGE,
                       "flat": IMAGE, "out": None, "min_transmission": 0.1}),
    "find_dead_pixels": (iso.readings.find_dead_pixels, {"dark": 0 * IMAGE, "flat": IMAGE,
                         "radius": 2, "tolerance": 0.5}),
    "noise_of_counts": (iso.readings.noise_of_counts, {"readings": LINES, "photons": 1e4,
                        "mask": None}),
    "radiological_path": (iso.rays.radiological_path, {"rays": RAYS, "grid": GRID,
                          "volume": VOLUME, "method": "fastest"}),
    "rays.sort": (iso.rays.sort, {"rays": RAYS, "grid": GRID, "order": "entry_and_exit"}),
    "gamma": (iso.gamma, {"reference": VOLUME, "evaluated": VOLUME, "grid": GRID,
              "evaluated_grid": None, "criteria": "3%/3mm", "axes": "zyx", "cut_off": 0.1,
              "max_gamma": 2.0, "interpolation": "trilinear", "bins": 10, "strict": False}),
    "Structure": (iso.Structure, {"contours": CONTOURS, "caps": "none", "slice_thickness": 0.0}),
    "fractions": (ORGAN.fractions, {"grid": GRID, "dtype": "float32", "axes": "zyx"}),
    "surface_points": (ORGAN.surface_points, {"distance": 1.0}),
    "Dvh": (iso.Dvh, {"structure": ORGAN, "grid": GRID, "dose": VOLUME, "subdivision": 0,
            "axes": "zyx", "cancel": None, "progress": None}),
    "evaluate": (DVH.evaluate, {"quantities": ["mean"], "prescription": 1.0,
                 "extremes": "include"}),
    "volumes_at": (DVH.volumes_at, {"doses": [0.5], "cancel": None}),
    "doses_at": (DVH.doses_at, {"volumes": [1.0]}),
    "histogram": (DVH.histogram, {"bins": 5, "end": 0.0}),
    "Beam": (iso.dose.Beam, {"fluence": [[1.0]], "field": (-1, 1, -1, 1),
             "isocentre": (0, 0, 0), "gantry_deg": 0.0, "couch_deg": 0.0, "collimator_deg": 0.0,
             "source_distance": 1000.0, "weight": 1.0}),
    "Calculator": (iso.dose.Calculator, {"patient": GRID, "kernel": "6mv",
                   "spectrum": "mohan_6mv", "dtype": "float32", "axes": "zyx", "cones": 4,
                   "azimuths": 4, "tilt": True, "margin": 27.0, "engine": "lattice"}),
    "Calculator()": (CALCULATOR, {"beams": BEAM, "density": VOLUME, "out": None}),
    "terma": (iso.dose.terma, {"beam": BEAM, "grid": GRID, "density": VOLUME,
              "spectrum": "mohan_6mv", "region": None}),
    "density_from_hounsfield": (iso.dose.density_from_hounsfield, {"hounsfield": VOLUME,
                                "table": "schneider_2000", "out": None}),
}

WRONG = [None, "none", 1.5, -1, 10**30, object(), [], {}, np.nan, b"x", (1, 2), iso.Grid((3, 3, 3)),
         np.zeros((2, 2)), np.array("x")]


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(name):
    function, good = CALLS[name]
    refused, odd = 0, []
    for argument in good:
        for wrong in WRONG:
            try:
                function(**{**good, argument: wrong})
            except (ValueError, TypeError, MemoryError) as error:
                refused += 1
                text = str(error)
                if "incompatible" in text or "::" in text or not SENTENCE.match(text):
                    odd.append(f"{argument}={wrong!r}: {type(error).__name__}: {text}")
            except Exception as error:
                odd.append(f"{argument}={wrong!r}: {type(error).__name__}: {error}")
    assert odd == []
    assert refused > 0
    function(**good)
    iso.use("openmp")
    iso.set_threads(None)


def lists_of_a_matrix():
    return types.SimpleNamespace(format="csr", shape=(1, 2), indptr=[0, 1], indices=[0], data=[1.0])


OTHERS = {
    "points that are no pairs": lambda: iso.rays.between(np.zeros((2, 3)), np.zeros((3, 3))),
    "points of two numbers": lambda: iso.rays.between(np.zeros((2, 2)), np.zeros((2, 2))),
    "lists of a matrix": lambda: iso.DoseMatrix(lists_of_a_matrix()),
    "memory without end": lambda: iso.project(SCAN, GRID, VOLUME, memory="9" * 400 + "GB"),
    "taps without end": lambda: iso.ramp_taps(2**40),
    "no angles": lambda: iso.Geometry.circular_parallel(pixels=(2, 2), pitch=1.0, angles=[]),
    "no pixels": lambda: iso.Geometry.circular_parallel(pixels=(0, 2), pitch=1.0, angles=[0.0]),
    "no views": lambda: iso.Geometry.from_vectors(np.zeros((0, 12)), pixels=(2, 2)),
    "vectors that are NaN": lambda: iso.Geometry.from_vectors(
        np.full((1, 12), np.nan), pixels=(2, 2)
    ),
    "views of none": lambda: SCAN.subset(0, 0),
    "no contours": lambda: iso.Structure([]),
    "a contour of no points": lambda: iso.Structure([np.zeros((0, 3))]),
    "contours that are NaN": lambda: iso.Structure([np.full((3, 3), np.nan)]),
    "no criteria": lambda: iso.gamma(VOLUME, VOLUME, GRID, criteria=[]),
    "doses that are NaN": lambda: iso.gamma(np.nan * VOLUME, VOLUME, GRID),
    "a dose that is NaN": lambda: iso.Dvh(ORGAN, GRID, np.nan * VOLUME),
    "readings that are NaN": lambda: iso.sart(SCAN, GRID, np.nan * LINES),
    "a start that is NaN": lambda: iso.cgls(SCAN, GRID, LINES, start=np.nan * VOLUME),
    "a mask of nothing": lambda: iso.mlem(SCAN, GRID, LINES, reading_mask=0 * LINES),
    "no ellipsoids": lambda: iso.phantom.rasterise([], GRID),
    "no images": lambda: iso.readings.mean_of_views(np.zeros((0, 3, 4), np.float32)),
    "a beam of no fluence": lambda: iso.dose.Beam([[0.0]], field=(-1, 1, -1, 1)),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_is_empty_or_not_a_number(case):
    with pytest.raises((ValueError, TypeError, MemoryError)) as caught:
        OTHERS[case]()
    text = str(caught.value)
    assert "::" not in text and SENTENCE.match(text), text
    assert np.array_equal(iso.project(SCAN, GRID, VOLUME), LINES)


def test_what_has_no_entries_is_multiplied():
    sparse = pytest.importorskip("scipy.sparse")
    for shape in ((0, 5), (5, 0), (5, 4)):
        with iso.DoseMatrix(sparse.csr_array(shape, dtype=np.float32)) as a:
            assert np.array_equal(a @ np.ones(shape[1]), np.zeros(shape[0]))
            assert np.array_equal(a.T @ np.ones(shape[0]), np.zeros(shape[1]))


CLOSED = {
    "Projector": lambda: (iso.Projector(SCAN, GRID), lambda a: (a(VOLUME), a.T(LINES))),
    "Fdk": lambda: (iso.Fdk(SCAN, GRID), lambda a: a(LINES)),
    "Sart": lambda: (iso.Sart(SCAN, GRID, LINES), lambda a: a.step()),
    "Mlem": lambda: (iso.Mlem(SCAN, GRID, LINES), lambda a: a.run(iterations=1)),
    "Cgls": lambda: (iso.Cgls(SCAN, GRID, LINES), lambda a: a.step()),
    "Lsqr": lambda: (iso.Lsqr(SCAN, GRID, LINES), lambda a: a.step()),
    "TotalVariation": lambda: (
        iso.TotalVariation(SCAN, GRID, LINES, weight=0.1), lambda a: a.step()
    ),
    "Calculator": lambda: (
        iso.dose.Calculator(GRID, cones=4, azimuths=4), lambda a: a(BEAM, VOLUME)
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_objects(name):
    thing, use = CLOSED[name]()
    use(thing)
    for _ in range(2):
        thing.close()
        assert name in repr(thing)
        with pytest.raises(ValueError, match="closed") as caught:
            use(thing)
        assert SENTENCE.match(str(caught.value)), str(caught.value)


@pytest.mark.parametrize("name", CALLS)
def test_unknown_keywords(name):
    function, good = CALLS[name]
    with pytest.raises(TypeError):
        function(**good, no_such_keyword=1)
