# SPDX-License-Identifier: BSD-3-Clause
"""Phantoms, readings and rays."""

import numpy as np
import pytest

import isocenter as iso
from isocenter import phantom, rays, readings


@pytest.fixture
def detector():
    """A dark field, a flat field and line integrals, float32, shape (., v, u) = (., 20, 24)."""
    rng = np.random.default_rng(3)
    dark = (100 + rng.random((4, 20, 24))).astype(np.float32)
    flat = (5000 + 10 * rng.random((4, 20, 24))).astype(np.float32)
    return dark, flat, rng.random((6, 20, 24)).astype(np.float32)


def test_phantom(backend):
    ball = [[0, 0, 0, 10, 10, 10, 0, 0.5]]
    grid = iso.Grid((24, 24, 24))
    voxels = phantom.rasterise(ball, grid, dtype=np.float64)
    assert voxels.sum() == pytest.approx(0.5 * 4 / 3 * np.pi * 1000, rel=1e-2)
    scan = iso.Geometry.circular_parallel(pixels=(1, 1), pitch=0.01, angles=[0.3])
    assert phantom.project(ball, scan)[0, 0, 0] == pytest.approx(10.0, rel=1e-5)
    assert phantom.shepp_logan(100).shape == (10, 8)
    assert phantom.shepp_logan(100, "original")[0, 7] == 2.0
    out = np.zeros(grid.shape, np.float32)
    assert phantom.rasterise(ball, grid, out=out) is out
    assert np.array_equal(out, phantom.rasterise(ball, grid))
    with pytest.raises(ValueError, match="ellipsoids"):
        phantom.rasterise([[0, 0, 0, 10]], grid)
    with pytest.raises(ValueError, match="contrast"):
        phantom.shepp_logan(1, "none")


def test_line_integrals(backend, detector):
    dark, flat, lines = detector
    d, f = readings.mean_of_views(dark), readings.mean_of_views(flat)
    np.testing.assert_allclose(d[0], dark.mean(axis=0), rtol=1e-6)
    assert d.shape == (1, 20, 24)
    counts = (d + (f - d) * np.exp(-lines)).astype(np.float32)
    np.testing.assert_allclose(readings.line_integrals(counts, d, f), lines, atol=1e-4)
    kept = counts.copy()
    result = readings.line_integrals(counts, d, f, out=counts)
    assert result is counts and not np.array_equal(counts, kept)
    weights = [1, 0, 0, 0]
    np.testing.assert_array_equal(readings.mean_of_views(dark, weights)[0], dark[0])
    least = readings.line_integrals(np.zeros_like(kept), d, f, min_transmission=0.5)
    np.testing.assert_allclose(least, np.log(2), rtol=1e-6)


def test_dead_pixels(backend, detector):
    dark, flat, lines = detector
    d, f = readings.mean_of_views(dark), readings.mean_of_views(flat)
    f = f.copy()
    f[0, 5, 7] = 0
    dead = readings.find_dead_pixels(d, f)
    assert dead.shape == (20, 24) and dead.dtype == bool
    assert list(zip(*np.nonzero(dead), strict=True)) == [(5, 7)]
    bad = lines.copy()
    bad[:, 5, 7] = np.nan
    mended = readings.replace_dead_pixels(bad, dead)
    square = lines[:, 4:7, 6:9].copy()
    square[:, 1, 1] = 0
    np.testing.assert_allclose(mended[:, 5, 7], square.sum(axis=(1, 2)) / 8, rtol=1e-5)
    mended[:, 5, 7] = lines[:, 5, 7]
    assert np.array_equal(mended, lines)
    with pytest.raises(ValueError, match="another shape"):
        readings.replace_dead_pixels(bad, dead[:-1])


def test_centre_of_rotation():
    scan = iso.Geometry.circular_cone(
        pixels=(64, 20),
        pitch=2.0,
        source_axis=200.0,
        source_detector=300.0,
        angles=iso.even_angles(60, 2 * np.pi),
        offset=(5.0, 0.0),
    )
    lines = phantom.project(phantom.shepp_logan(35), scan, dtype=np.float64)
    mean = readings.mean_of_views(lines, readings.mirror_weights(scan))
    axis = readings.axis_pixel(scan)
    assert axis == pytest.approx(31.5 - 2.5)
    found = readings.centre_of_rotation(mean, guess=31.0)
    assert found == pytest.approx(axis, abs=0.1)


def test_noise_of_counts():
    lines = np.full((2, 3, 4), 1.5)
    assert readings.noise_of_counts(lines, 1e4) == pytest.approx(np.sqrt(24 * np.exp(1.5) / 1e4))
    mask = np.zeros((2, 3, 4), bool)
    mask[0] = True
    assert readings.noise_of_counts(lines, 1e4, mask) == pytest.approx(
        np.sqrt(12 * np.exp(1.5) / 1e4)
    )
    with pytest.raises(ValueError, match="photons"):
        readings.noise_of_counts(lines, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rays(backend, dtype):
    grid = iso.Grid((10, 12, 14), (1.0, 2.0, 3.0))
    volume = np.ones(grid.shape, dtype)
    lines = rays.between([[-50, 0.1, 0.2], [0.1, -50, 0.2], [0, 0, 100]], [[50, 0.1, 0.2]] * 3)
    lines[1] = rays.between([0.1, -50, 0.2], [0.1, 50, 0.2])[0]
    lines[2] = rays.between([100, 100, 100], [200, 200, 200])[0]
    paths = rays.radiological_path(lines, grid, volume)
    assert paths.dtype == dtype
    np.testing.assert_allclose(paths, [10, 24, 0], rtol=1e-6)
    rng = np.random.default_rng(1)
    many = rays.between(30 * rng.standard_normal((500, 3)), 30 * rng.standard_normal((500, 3)))
    values = rng.random(grid.shape).astype(dtype)
    found = {
        rays.radiological_path(many, grid, values, method=method).tobytes()
        for method in ("fastest", "amanatides_woo", "branchless", "siddon")
    }
    assert len(found) == 1
    order = rays.sort(many, grid)
    assert sorted(order) == list(range(500))
    assert sorted(rays.sort(many, grid, "octant_then_entry")) == list(range(500))
    with pytest.raises(ValueError, match="method"):
        rays.radiological_path(many, grid, values, method="none")


def test_plots(scan, grid, volume):
    pytest.importorskip("matplotlib")
    figure = iso.plot.slices(grid, volume)
    pictures = [axes.images[0].get_array() for axes in figure.axes]
    assert np.array_equal(pictures[0], volume[4]) and np.array_equal(pictures[1], volume[:, 5])
    assert np.array_equal(pictures[2], volume[:, :, 6])
    figure = iso.plot.geometry(scan, grid)
    sources = figure.axes[0].lines[0]
    np.testing.assert_allclose(sources.get_xdata(), scan.vectors()[:, 0])
    history = iso.cgls(scan, grid, iso.project(scan, grid, volume), iterations=3).history
    found = iso.gamma(volume, volume[::-1].copy(), grid)
    figure = iso.plot.gamma(found)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), found.values[0, 4])
    bars = [bar.get_height() for bar in figure.axes[-1].patches]
    assert bars == list(found.summaries[0].histogram)
    t = 2 * np.pi * np.arange(60) / 60
    organ = iso.Structure(
        [np.stack([3 * np.cos(t), 3 * np.sin(t), 0 * t + h], 1) for h in (-2.0, 0.0, 2.0)], "organ"
    )
    dvh = iso.Dvh(organ, grid, volume)
    line = iso.plot.dvh(dvh, bins=20).axes[0].lines[0]
    curve = dvh.histogram(bins=20)
    np.testing.assert_allclose(line.get_ydata(), 100 * curve.cumulative / curve.volume)
    assert line.get_label() == "organ"
    figure = iso.plot.convergence(history, names=("CGLS",))
    line = figure.axes[0].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), history["relative_residual"])
