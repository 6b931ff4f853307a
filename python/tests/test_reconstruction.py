# SPDX-License-Identifier: BSD-3-Clause
"""Filtered backprojection and iterative methods."""

import threading

import numpy as np
import pytest

import isocenter as iso
from conftest import TWO_THREADS, run_python

HEAD = iso.phantom.shepp_logan(40)


@pytest.fixture(scope="module")
def cone():
    return iso.Geometry.circular_cone(
        pixels=(48, 40),
        pitch=3.0,
        source_axis=200.0,
        source_detector=300.0,
        angles=iso.even_angles(60, 2 * np.pi),
    )


@pytest.fixture(scope="module")
def box():
    return iso.Grid((32, 32, 28), 3.0)


@pytest.fixture(scope="module")
def lines(cone):
    return iso.phantom.project(HEAD, cone, subsamples=2)


@pytest.fixture(scope="module")
def truth(box):
    return iso.phantom.rasterise(HEAD, box)


def test_fdk_reconstructs(backend, cone, box, lines, truth):
    volume = iso.fdk(cone, box, lines, window="hann")
    middle = slice(8, 20)
    error = np.sqrt(np.mean((volume - truth)[middle] ** 2)) / truth.max()
    assert error < 0.08
    assert volume.dtype == np.float32 and iso.native(volume) is volume
    assert np.abs(volume[14, 14:18, 14:18].mean() - truth[14, 14:18, 14:18].mean()) < 0.03


def test_fdk_parallel(box):
    scan = iso.Geometry.circular_parallel(
        pixels=(40, 36), pitch=3.0, angles=iso.even_angles(60, np.pi)
    )
    lines = iso.phantom.project(HEAD, scan, dtype=np.float64)
    volume = iso.fdk(scan, box, lines, window="shepp-logan")
    truth = iso.phantom.rasterise(HEAD, box, dtype=np.float64)
    assert np.sqrt(np.mean((volume - truth) ** 2)) / truth.max() < 0.1


def test_fdk_ways(cone, box, lines):
    volume = iso.fdk(cone, box, lines, cutoff=0.8)
    halves = iso.weighted_back_project(
        cone, box, iso.filter_projections(cone, lines, cutoff=0.8), cutoff=0.8
    )
    assert np.array_equal(volume, halves)
    with iso.Fdk(cone, box, cutoff=0.8) as reconstruct:
        assert np.array_equal(reconstruct(lines), volume)
        out = np.ones(box.shape, np.float32)
        assert reconstruct(lines, out, add=True) is out
        np.testing.assert_allclose(out, volume + 1, atol=1e-5)
        assert reconstruct.arc == "full" and reconstruct.detector == "centred"
        assert reconstruct.bytes > 0
    assert reconstruct.bytes == 0
    with pytest.raises(ValueError, match="closed"):
        reconstruct(lines)
    xyz = iso.fdk(cone, box, lines.transpose(0, 2, 1), axes="xyz", cutoff=0.8)
    assert np.array_equal(xyz.transpose(2, 1, 0), volume)


def test_fdk_options_change_something(cone, box, lines):
    found = {iso.fdk(cone, box, lines).tobytes()}
    for options in (
        {"window": "cosine"},
        {"cutoff": 0.5},
        {"truncation_correction": 8},
        {"detector": "displaced"},
    ):
        try:
            found.add(iso.fdk(cone, box, lines, **options).tobytes())
        except ValueError as refused:
            assert options == {"detector": "displaced"}, refused
    assert len(found) >= 4


def test_fdk_refusals(cone, box, lines):
    with pytest.raises(ValueError, match="^fdk: window is 'none' .*ram-lak"):
        iso.fdk(cone, box, lines, window="none")
    with pytest.raises(ValueError, match="cut"):
        iso.fdk(cone, box, lines, cutoff=2.0)
    with pytest.raises(TypeError, match="^fdk: windows is no option .*window"):
        iso.fdk(cone, box, lines, windows="hann")
    with pytest.raises(ValueError, match="helix|circle|plane"):
        iso.fdk(cone.helix(iso.even_angles(60, 2 * np.pi), 50.0), box, lines)
    with pytest.raises(ValueError, match="add without out"):
        iso.fdk(cone, box, lines, add=True)
    with pytest.raises(ValueError, match="source"):
        iso.fdk(cone, iso.Grid((500, 500, 3), 3.0), lines)


def test_scan_weights(cone):
    weights = iso.scan_weights(cone)
    assert weights.arc == "full" and weights.detector == "centred"
    np.testing.assert_allclose(weights.angles.sum(), 2 * np.pi)
    assert weights.redundancy_weights.shape[0] == 0
    short = iso.Geometry.circular_cone(
        pixels=(48, 40),
        pitch=2.0,
        source_axis=200.0,
        source_detector=300.0,
        angles=iso.even_angles(45, 4.0),
    )
    weights = iso.scan_weights(short)
    assert weights.arc == "short"
    assert weights.redundancy_weights.shape == (45, 48)
    # Rays that are measured twice have weights that add up to 2.
    assert weights.redundancy_weights.min() >= 0 and weights.redundancy_weights.max() <= 2


def test_ramp_taps():
    taps = iso.ramp_taps(6)
    np.testing.assert_allclose(taps[:4], [0.25, -1 / np.pi**2, 0, -1 / (3 * np.pi) ** 2])


METHODS = {
    "sart": (iso.sart, iso.Sart, {}),
    "os-sart": (iso.sart, iso.Sart, {"block": 10}),
    "mlem": (iso.mlem, iso.Mlem, {}),
    "osem": (iso.mlem, iso.Mlem, {"block": 10}),
    "cgls": (iso.cgls, iso.Cgls, {}),
    "lsqr": (iso.lsqr, iso.Lsqr, {"damping": 1.0}),
    "tv": (iso.total_variation, iso.TotalVariation, {"weight": 0.5}),
}


@pytest.fixture(scope="module")
def few(cone):
    return cone.subset(0, 20)


@pytest.fixture(scope="module")
def few_lines(few):
    return iso.phantom.project(HEAD, few, subsamples=2)


@pytest.mark.parametrize("name", METHODS)
def test_iterative_methods(few, box, few_lines, truth, name):
    run, kind, options = METHODS[name]
    found = run(few, box, few_lines, iterations=6, **options)
    assert found.volume.shape == box.shape and found.volume.dtype == np.float32
    history = found.history
    assert list(history["iteration"]) == [1, 2, 3, 4, 5, 6]
    assert history["relative_residual"][-1] < history["relative_residual"][0]
    assert np.isnan(history["gap"]).all() == (name != "tv")
    middle = slice(8, 20)
    error = np.linalg.norm((found.volume - truth)[middle]) / np.linalg.norm(truth[middle])
    assert error < 0.6
    # Stepped by hand, the same bits.
    with kind(few, box, few_lines, **options) as method:
        told = [method.step() for _ in range(3)]
        method.run(iterations=3, **({"stop_gap": 0} if name == "tv" else {}))
        assert np.array_equal(method.volume, found.volume)
        np.testing.assert_array_equal(method.history["residual"], history["residual"])
        assert told[1].number == 2 and told[1].residual == history["residual"][1]
    with pytest.raises(ValueError, match="closed"):
        method.step()
    # On another backend and in another order of memory, too.
    iso.use("serial")
    try:
        other = run(few, box, np.array(few_lines, order="C"), iterations=6, **options)
    finally:
        iso.use("openmp")
    assert np.array_equal(other.volume, found.volume)


def test_start_masks_and_box(few, box, few_lines, truth):
    voxels = truth > 0
    readings = np.ones(few.shape, bool)
    readings[:, :4] = False
    start = np.full(box.shape, 0.1, np.float32)
    kept = start.copy()
    found = iso.sart(
        few,
        box,
        few_lines,
        start=start,
        voxel_mask=voxels,
        reading_mask=readings,
        iterations=3,
        lower=0.0,
        upper=0.9,
    )
    assert np.array_equal(start, kept)
    assert (found.volume[~voxels] == np.float32(0.1)).all()
    assert found.volume.min() >= 0 and found.volume.max() <= np.float32(0.9)
    with pytest.raises(ValueError, match="mask"):
        iso.sart(few, box, few_lines, voxel_mask=np.full(box.shape, 0.5, np.float32))
    with pytest.raises(TypeError, match="float64"):
        iso.sart(few, box, few_lines, start=start.astype(np.float64))
    with pytest.raises(ValueError, match="relaxation"):
        iso.sart(few, box, few_lines, relaxation=3.0)
    with pytest.raises(TypeError, match="no option"):
        iso.cgls(few, box, few_lines, relaxation=1.0)


def test_rules_end_a_run(few, box, few_lines):
    found = iso.cgls(few, box, few_lines, iterations=50, stop_residual=0.1)
    assert len(found.history) < 50 and found.history["relative_residual"][-1] <= 0.1
    found = iso.cgls(few, box, few_lines, iterations=50, proceed=lambda now: now.number < 4)
    assert len(found.history) == 4
    noise = iso.readings.noise_of_counts(few_lines, 1e4)
    assert noise > 0
    found = iso.sart(few, box, few_lines, iterations=50, noise=1e9)
    assert len(found.history) == 1

    class Mine(Exception):
        pass

    def raises(now):
        raise Mine

    with pytest.raises(Mine):
        iso.cgls(few, box, few_lines, proceed=raises)
    with pytest.raises(ValueError, match="iterations"):
        iso.cgls(few, box, few_lines, iterations=0)


def test_progress_of_a_run(few, box, few_lines):
    told = []
    iso.sart(few, box, few_lines, iterations=3, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0


def test_cancel_keeps_what_iterations_told(cone, lines):
    grid = iso.Grid((96, 96, 96))
    stop = threading.Event()
    method = iso.Sart(cone, grid, lines)
    with pytest.raises(iso.Cancelled):
        method.run(
            iterations=100000, cancel=stop, proceed=lambda now: now.number < 2 or stop.set() or 1
        )
    assert len(method.history) >= 2
    assert np.isfinite(method.volume).all()


def test_volume_outlives_its_method(few, box, few_lines):
    method = iso.Cgls(few, box, few_lines)
    method.step()
    volume = method.volume
    expected = volume.copy()
    del method
    assert np.array_equal(volume, expected)


@pytest.mark.parametrize(
    "call",
    [
        "iso.fdk(scan, grid, y)",
        "iso.Fdk(scan, grid)(y)",
        "iso.sart(scan, grid, y)",
        "iso.Cgls(scan.turn_detector(roll=0.1), grid, y)",
        "iso.phantom.rasterise(iso.phantom.shepp_logan(120), grid, samples=32)",
        "iso.phantom.project(iso.phantom.shepp_logan(120), scan, subsamples=32)",
    ],
)
def test_ctrl_c(call):
    out, _ = run_python(
        f"""
        import numpy as np, isocenter as iso
        scan = iso.Geometry.circular_cone(pixels=(256, 256), pitch=1.5, source_axis=512.0,
            source_detector=768.0, angles=iso.even_angles(720, 2 * np.pi))
        grid = iso.Grid((256, 256, 256))
        y = iso.native(np.ones(scan.shape, np.float32), kind="projections")
        iso.info()
        thread = interrupt_after(0.7)
        try:
            {call}
            print("not interrupted")
        except KeyboardInterrupt:
            print_seconds()
        thread.join()
        """,
        env=TWO_THREADS,
    )
    assert float(out) < 1.0
