# SPDX-License-Identifier: BSD-3-Clause
"""What passes through little memory has the bits of what lies in memory."""

import pickle

import numpy as np
import pytest

import isocenter as iso


@pytest.fixture
def scan():
    return iso.Geometry.circular_cone(
        pixels=(24, 36),
        pitch=4.0,
        source_axis=200.0,
        source_detector=300.0,
        angles=iso.even_angles(48, 2 * np.pi),
    )


@pytest.fixture
def grid():
    return iso.Grid((40, 40, 960), 0.5)


LIMIT = 5_400_000  # less than the 6,144,000 bytes of the volume


@pytest.mark.parametrize("projector", ["joseph", "siddon"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projections_have_the_same_bits(scan, grid, projector, dtype, backend):
    volume = np.random.default_rng(1).random(grid.shape).astype(dtype)
    readings = np.random.default_rng(2).random(scan.shape).astype(dtype)
    limit = LIMIT * np.dtype(dtype).itemsize // 4
    options = {"projector": projector}
    whole = iso.project(scan, grid, volume, sum="reproducible", **options)
    assert np.array_equal(iso.project(scan, grid, volume, memory=limit, **options), whole)
    back = iso.back_project(scan, grid, readings, **options)
    found = iso.back_project(scan, grid, readings, memory=limit, **options)
    assert np.array_equal(found, back)
    out = back.copy(order="K")
    iso.back_project(scan, grid, readings, out=out, add=True, memory=limit, **options)
    twice = back.copy(order="K")
    iso.back_project(scan, grid, readings, out=twice, add=True, **options)
    assert np.array_equal(out, twice)
    with iso.Projector(scan, grid, dtype=dtype, memory=limit, **options) as A:
        assert 0 < A.bytes <= 1.2 * limit
        assert np.array_equal(A @ volume, whole)
        assert np.array_equal(A.T @ readings, back)
        with pickle.loads(pickle.dumps(A)) as B:
            assert B.bytes == A.bytes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_filtered_backprojections_have_the_same_bits(scan, grid, dtype, backend):
    readings = np.random.default_rng(2).random(scan.shape).astype(dtype)
    limit = LIMIT * np.dtype(dtype).itemsize // 4
    whole = iso.fdk(scan, grid, readings, window="hann")
    assert np.array_equal(iso.fdk(scan, grid, readings, memory=limit, window="hann"), whole)
    with iso.Fdk(scan, grid, dtype=dtype, memory=limit, window="hann") as fdk:
        assert 0 < fdk.bytes <= limit and (fdk.arc, fdk.detector) == ("full", "centred")
        assert np.array_equal(fdk(readings), whole)
        with pytest.raises(ValueError, match="Fdk: add with memory"):
            fdk(readings, out=whole, add=True)
    with pytest.raises(ValueError, match="fdk: add with memory"):
        iso.fdk(scan, grid, readings, out=whole, add=True, memory=limit)
    with pytest.raises(MemoryError, match="^fdk: "):
        iso.fdk(scan, grid, readings, memory=1000)


METHODS = [
    (iso.sart, {}),
    (iso.sart, {"block": 16}),
    (iso.mlem, {}),
    (iso.cgls, {}),
    (iso.lsqr, {}),
    (iso.total_variation, {"weight": 0.01}),
]


@pytest.mark.parametrize("run, options", METHODS)
def test_iterations_have_the_same_bits(scan, grid, run, options):
    readings = np.random.default_rng(2).random(scan.shape, dtype=np.float32)
    whole = run(scan, grid, readings, iterations=2, sum="reproducible", **options)
    found = run(scan, grid, readings, iterations=2, memory=LIMIT, **options)
    assert np.array_equal(found.volume, whole.volume)
    assert np.array_equal(found.history["residual"], whole.history["residual"])


def test_sizes_are_texts_too(scan, grid):
    volume = np.zeros(grid.shape, np.float32)
    for memory in ("5400kB", "5.4 MB", "1GiB", 10**7):
        iso.project(scan, grid, volume, memory=memory)
    for memory in ("4 lots", "-3GB", 0, -1, "0"):
        with pytest.raises(ValueError, match="memory"):
            iso.project(scan, grid, volume, memory=memory)
    with pytest.raises(TypeError, match="memory"):
        iso.project(scan, grid, volume, memory=2.5)


def test_too_little_says_how_much(scan, grid):
    volume = np.zeros(grid.shape, np.float32)
    with pytest.raises(iso.OutOfMemory) as raised:
        iso.project(scan, grid, volume, memory=1000)
    assert raised.value.requested > 1000
    with pytest.raises(ValueError, match="reproducible"):
        iso.project(scan, grid, volume, memory=LIMIT, sum="ordered")
    with pytest.raises(ValueError, match="max_abs"):
        iso.project(scan, grid, volume, memory=LIMIT, max_abs=1.0)
