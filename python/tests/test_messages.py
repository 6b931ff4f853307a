# SPDX-License-Identifier: BSD-3-Clause
"""A hundred wrong calls: each sentence names the function that was called and the argument."""

import pathlib
import tempfile

import numpy as np
import pytest
import scipy.sparse

import isocenter as iso
from isocenter import _messages
from test_arrays import SENTENCE
from test_wrong_calls import BEAM, CONTOURS, GRID, IMAGE, LINES, ORGAN, RAYS, SCAN, VOLUME

NAN = np.full(VOLUME.shape, 1.0, np.float32)
NAN[1, 2, 3] = np.nan  # z, y, x
FAR = iso.Grid((8, 8, 6), 2.0, (1000.0, 0.0, 0.0))
SHORT = iso.Geometry.circular_cone(
    pixels=(8, 6), pitch=4.0, source_axis=100.0, source_detector=150.0,
    angles=iso.even_angles(8, 1.0),
)  # fmt: skip
MATRIX = scipy.sparse.csr_array(np.array([[0.0, 1.0], [2.0, 0.0]]))
DVH = iso.Dvh(ORGAN, GRID, VOLUME)
FDK = iso.Fdk(SCAN, GRID)
PROJECTOR = iso.Projector(SCAN, GRID)
CONE = iso.Geometry.circular_cone
TWO = {"pixels": (8, 6), "pitch": 4.0, "source_axis": 100.0, "source_detector": 150.0}
CLOSED = iso.Sart(SCAN, GRID, LINES)
CLOSED.close()
FOLDER = pathlib.Path(tempfile.gettempdir())


def rectangle(**others):
    return lambda: iso.dose.Beam.rectangle(-5, 5, -5, 5, **others)


def project(**others):
    return lambda: iso.project(SCAN, GRID, VOLUME, **others)


def fdk(**others):
    return lambda: iso.fdk(SCAN, GRID, LINES, **others)


def sart(**others):
    return lambda: iso.sart(SCAN, GRID, LINES, **{"iterations": 1, **others})


def gamma(**others):
    return lambda: iso.gamma(VOLUME, VOLUME, GRID, **others)


# What is called, the beginning of the sentence, and another word in it.
CALLS = [
    (lambda: iso.Grid((0, 3, 3)), "Grid: ", "size"),
    (lambda: iso.Grid((3, 3, 3), -1), "Grid: ", "spacing"),
    (lambda: iso.Grid((3, 3, 3), 1, (np.nan, 0, 0)), "Grid: ", "origin"),
    (lambda: iso.Grid((3, 3)), "Grid: ", "size"),
    (lambda: iso.Grid((3, 3, 2.5)), "Grid: ", "size"),
    (lambda: CONE(**{**TWO, "pitch": 0.0}, angles=[0.0]), "Geometry.circular_cone: ", "pitch"),
    (lambda: CONE(**{**TWO, "source_axis": -1}, angles=[0.0]),
     "Geometry.circular_cone: ", "source_axis"),
    (lambda: CONE(**TWO, angles=[]), "Geometry.circular_cone: ", "angles"),
    (lambda: CONE(**TWO, angles=["a"]), "Geometry.circular_cone: ", "angles"),
    (lambda: CONE(**{**TWO, "pixels": (0, 6)}, angles=[0.0]), "Geometry.circular_cone: ", "pixels"),
    (lambda: CONE(**TWO, offset=(np.nan, 0), angles=[0.0]), "Geometry.circular_cone: ", "offset"),
    (lambda: SCAN.subset(5, 9), "Geometry.subset: ", "views"),
    (lambda: SCAN.turn_detector(yaw=np.nan), "Geometry.turn_detector: ", "angle"),
    (lambda: SCAN.shift_detector(np.zeros((2, 2))), "Geometry.shift_detector: ", "shifts"),
    (lambda: SCAN.move_detector(-1.0), "Geometry.move_detector: ", "factor"),
    (lambda: SCAN.helix([0.0], 1.0), "Geometry.helix: ", "angles"),
    (lambda: iso.even_angles(0, 1.0), "even_angles: ", "angles"),
    (lambda: iso.Geometry.from_vectors(pixels=(8, 6), vectors=np.zeros((3, 11))),
     "Geometry.from_vectors: ", "vectors"),
    (project(oversampling=0), "project: ", "oversampling"),
    (project(max_abs=-1.0, sum="reproducible"), "project: ", "max_abs"),
    (project(projector="none"), "project: ", "projector"),
    (project(axes="yxz"), "project: ", "axes"),
    (project(axes=VOLUME), "project: ", "axes of type ndarray"),
    (project(memory="much"), "project: ", "memory"),
    (project(memory=10), "project: ", "bytes"),
    (project(out=LINES[:2]), "project: ", "out"),
    (project(nothing=1), "project: ", "nothing"),
    (project(progress=3), "project: ", "progress"),
    (project(cancel=3), "project: ", "cancel"),
    (lambda: iso.project(SCAN, GRID, VOLUME[1:]), "project: ", "volume"),
    (lambda: iso.project(SCAN, 3, VOLUME), "project: ", "grid"),
    (lambda: iso.project(3, GRID, VOLUME), "project: ", "geometry"),
    (lambda: iso.back_project(SCAN, GRID, LINES, words=9), "back_project: ", "words"),
    (lambda: iso.back_project(SCAN, GRID, LINES, add=True), "back_project: ", "out"),
    (lambda: iso.back_project(SCAN, GRID, LINES[:, :-1]), "back_project: ", "projections"),
    (lambda: iso.Projector(SCAN, GRID, dtype=np.float16), "Projector: ", "dtype float16"),
    (lambda: iso.Projector(SCAN, GRID, oversampling=65)(VOLUME), "Projector: ", "oversampling"),
    (lambda: PROJECTOR(VOLUME.astype(np.float64)), "Projector: ", "volume"),
    (lambda: PROJECTOR @ LINES, "Projector: ", "volume"),
    (lambda: PROJECTOR.T @ VOLUME, "Projector.T: ", "projections"),
    (lambda: iso.fdk(SHORT, GRID, LINES), "fdk: ", "angles"),
    (lambda: iso.fdk(SCAN, iso.Grid((8, 8, 6), 50.0), LINES), "fdk: ", "source"),
    (fdk(cutoff=-1.0), "fdk: ", "cutoff"),
    (fdk(truncation_correction=-1), "fdk: ", "truncation_correction"),
    (fdk(max_roll=-1.0), "fdk: ", "max_roll"),
    (fdk(window="none"), "fdk: ", "window"),
    (lambda: iso.Fdk(SHORT, GRID), "Fdk: ", "angles"),
    (lambda: FDK(LINES[1:]), "Fdk: ", "projections"),
    (lambda: iso.scan_weights(SHORT), "scan_weights: ", "angles"),
    (lambda: iso.filter_projections(SHORT, LINES), "filter_projections: ", "angles"),
    (lambda: iso.weighted_back_project(SCAN, iso.Grid((8, 8, 6), 50.0), LINES),
     "weighted_back_project: ", "source"),
    (lambda: iso.ramp_taps(0), "ramp_taps: ", "count"),
    (sart(relaxation=3.0), "sart: ", "relaxation"),
    (sart(block=-1), "sart: ", "block"),
    (sart(lower=1.0, upper=0.0), "sart: ", "upper"),
    (sart(start=NAN), "sart: ", "start"),
    (sart(start=NAN * 0 + 5, upper=1.0), "sart: ", "start"),
    (sart(voxel_mask=VOLUME * 3), "sart: ", "voxel_mask"),
    (sart(reading_mask=LINES * 0 + 3), "sart: ", "reading_mask"),
    (sart(iterations=0), "sart: ", "iterations"),
    (sart(noise=-1.0), "sart: ", "noise"),
    (sart(proceed=3), "sart: ", "proceed"),
    (sart(checkpoint_every=0), "sart: ", "checkpoint_every"),
    (sart(axes="abc"), "sart: ", "axes"),
    (lambda: iso.sart(SCAN, FAR, LINES, iterations=1), "sart: ", "grid"),
    (lambda: iso.cgls(SCAN, GRID, LINES + np.float32(np.nan), iterations=1), "cgls: ", "readings"),
    (lambda: iso.mlem(SCAN, GRID, -LINES, iterations=1), "mlem: ", "readings"),
    (lambda: iso.lsqr(SCAN, GRID, LINES, damping=-1.0), "lsqr: ", "damping"),
    (lambda: iso.total_variation(SCAN, GRID, LINES, weight=-1.0), "total_variation: ", "weight"),
    (lambda: iso.total_variation(SCAN, GRID, LINES, weight=1.0, gradient_scale=-1.0),
     "total_variation: ", "gradient_scale"),
    (lambda: iso.Cgls(SCAN, GRID, LINES[1:]), "Cgls: ", "readings"),
    (lambda: iso.Cgls(SCAN, GRID, LINES).run(iterations=-1), "Cgls.run: ", "iterations"),
    (CLOSED.step, "Sart.step: ", "closed"),
    (lambda: iso.readings.line_integrals(LINES, IMAGE[:, 1:], IMAGE),
     "readings.line_integrals: ", "dark"),
    (lambda: iso.readings.line_integrals(LINES, 0 * IMAGE, IMAGE, min_transmission=-1.0),
     "readings.line_integrals: ", "min_transmission"),
    (lambda: iso.readings.noise_of_counts(LINES, photons=-1.0),
     "readings.noise_of_counts: ", "photons"),
    (lambda: iso.readings.centre_of_rotation(LINES[:1]),
     "readings.centre_of_rotation: ", "(1, 6, 8)"),
    (lambda: iso.readings.find_dead_pixels(0 * IMAGE, IMAGE, radius=-1),
     "readings.find_dead_pixels: ", "radius"),
    (lambda: iso.phantom.shepp_logan(-1.0), "phantom.shepp_logan: ", "half"),
    (lambda: iso.phantom.rasterise(np.zeros((1, 3)), GRID), "phantom.rasterise: ", "ellipsoids"),
    (lambda: iso.rays.radiological_path(RAYS, GRID, VOLUME, method=3),
     "rays.radiological_path: ", "method"),
    (lambda: iso.rays.radiological_path(RAYS, GRID, VOLUME, method="x"),
     "rays.radiological_path: ", "method"),
    (lambda: iso.rays.sort(RAYS, GRID, order="none"), "rays.sort: ", "order"),
    (lambda: iso.gamma(NAN, VOLUME, GRID), "gamma: ", "(1, 2, 3)"),
    (lambda: iso.gamma(VOLUME, NAN, GRID), "gamma: ", "(1, 2, 3)"),
    (lambda: iso.gamma(VOLUME, VOLUME, GRID, FAR), "gamma: ", "grid"),
    (gamma(criteria="3/3"), "gamma: ", "3/3"),
    (gamma(criteria=[]), "gamma: ", "criteria"),
    (gamma(cut_off=-1.0), "gamma: ", "cut_off"),
    (gamma(max_gamma=-1.0), "gamma: ", "max_gamma"),
    (gamma(bins=-1), "gamma: ", "bins"),
    (lambda: iso.Structure([]), "Structure: ", "contours"),
    (lambda: iso.Structure(CONTOURS, slice_thickness=-1.0), "Structure: ", "slice_thickness"),
    (lambda: iso.Dvh(ORGAN, FAR, VOLUME), "Dvh: ", "dose"),
    (lambda: iso.Dvh(ORGAN, GRID, VOLUME, subdivision=-1), "Dvh: ", "subdivision"),
    (lambda: iso.Dvh(ORGAN, GRID, NAN), "Dvh: ", "dose"),
    (lambda: DVH.evaluate(["D"]), "Dvh.evaluate: ", "D"),
    (lambda: DVH.volumes_at([np.nan]), "Dvh.volumes_at: ", "level"),
    (lambda: DVH.histogram(bins=0), "Dvh.histogram: ", "bins"),
    (lambda: ORGAN.surface_points(-1.0), "Structure.surface_points: ", "distance"),
    (rectangle(gantry_deg=np.nan), "dose.Beam: ", "gantry_deg"),
    (rectangle(weight=-1.0), "dose.Beam: ", "weight"),
    (rectangle(source_distance=0.0), "dose.Beam: ", "source_distance"),
    (rectangle(isocentre=(0, np.inf, 0)), "dose.Beam: ", "isocentre"),
    (lambda: iso.dose.Beam.rectangle(5, -5, -5, 5), "dose.Beam.rectangle: ", "field"),
    (lambda: iso.dose.Beam([[0.0]], field=(-1, 1, -1, 1)), "dose.Beam: ", "fluence"),
    (lambda: iso.dose.Calculator(GRID, cones=0), "dose.Calculator: ", "cones"),
    (lambda: iso.dose.Calculator(GRID, kernel="none"), "dose.Calculator: ", "kernel"),
    (lambda: iso.dose.terma(BEAM, GRID, VOLUME, spectrum="none"), "dose.terma: ", "spectrum"),
    (lambda: iso.DoseMatrix(MATRIX, vectors=0), "DoseMatrix: ", "vectors"),
    (lambda: iso.DoseMatrix(MATRIX) @ np.ones(3), "DoseMatrix: ", "x of 3"),
    (lambda: iso.DoseMatrix(MATRIX).T @ np.ones(3), "DoseMatrix.T: ", "x of 3"),
    (lambda: iso.use("gpu"), "use: ", "backend"),
    (lambda: iso.use(VOLUME), "use: ", "backend"),
    (lambda: iso.set_threads(-1), "set_threads: ", "threads"),
    (lambda: iso.native(VOLUME, kind=VOLUME), "native: ", "kind"),
    (lambda: iso.Geometry.read(FOLDER / "no-such.json"), "Geometry.read: ", "no-such.json"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_sentences_name_the_function_and_the_argument(number):
    call, begins, word = CALLS[number]
    with pytest.raises((ValueError, TypeError, MemoryError, OSError)) as raised:
        call()
    text = str(raised.value)
    assert text.startswith(begins), text
    assert word in text[len(begins) :], text
    assert "::" not in text and "iso." not in text and SENTENCE.match(text), text
    assert "\n" not in text and len(text) < 400, text


def test_they_are_a_hundred():
    assert len(CALLS) >= 100


def test_indices_are_in_the_order_of_the_axes():
    plain = NAN.transpose(2, 1, 0)
    with pytest.raises(ValueError, match=r"^gamma: .*\(3, 2, 1\)"):
        iso.gamma(plain, plain, GRID, axes="xyz")


def test_callbacks_do_not_change_who_was_called():
    def ask(told):
        with pytest.raises(ValueError, match="^project: oversampling"):
            iso.project(SCAN, GRID, VOLUME, oversampling=0)
        return False

    iso.sart(SCAN, GRID, LINES, proceed=ask)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("iso::ct::sart (OS-SART): a", "f: a"),
        ("iso::ct::sart: choose off_grid::cut, or iso::ct::fdk_reconstructor",
         "f: choose 'cut', or Fdk"),
        ("iso::x: grid of [1, 2, 3] voxels", "f: size of (1, 2, 3) voxels along x, y, z"),
        ("view 3: the source lies", "f: the source lies"),
    ],
)  # fmt: skip
def test_words_of_cpp(theirs, ours):
    if theirs.startswith("view"):
        assert _messages.in_python(theirs, "", True) == theirs
    else:
        assert _messages.in_python(theirs, "f", True) == ours
