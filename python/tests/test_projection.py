# SPDX-License-Identifier: BSD-3-Clause
"""Projection and adjoint: values, bits, memory."""

import pickle

import numpy as np
import pytest

import isocenter as iso
from conftest import TOP


def sphere(grid, radius):
    z, y, x = np.meshgrid(
        *(
            origin + spacing * np.arange(size)
            for size, spacing, origin in zip(
                grid.shape, grid.spacing[::-1], grid.origin[::-1], strict=True
            )
        ),
        indexing="ij",
    )
    return (x * x + y * y + z * z <= radius * radius).astype(np.float32)


def test_central_ray_through_a_ball(backend):
    grid = iso.Grid((65, 65, 65))
    scan = iso.Geometry.circular_cone(
        pixels=(1, 1), pitch=1.0, source_axis=500.0, source_detector=1000.0, angles=[0.0, 0.7]
    )
    lines = iso.project(scan, grid, sphere(grid, 20.2))
    # Along x the ball has the voxels -20 to 20, and a linear fall of half a voxel at either end.
    assert lines.shape == (2, 1, 1)
    assert lines[0, 0, 0] == pytest.approx(41.0, abs=1e-4)
    assert lines[1, 0, 0] == pytest.approx(40.4, abs=1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("projector", ["joseph", "joseph-spline", "siddon", "branchless", "exact"])
def test_adjoint(backend, scan, grid, volume, readings, dtype, projector):
    x, y = volume.astype(dtype), readings.astype(dtype)
    forward = iso.project(scan, grid, x, projector=projector)
    back = iso.back_project(scan, grid, y, projector=projector)
    a = np.vdot(forward.astype(float), y.astype(float))
    b = np.vdot(x.astype(float), back.astype(float))
    assert a == pytest.approx(b, rel=1e-5 if dtype == np.float32 else 1e-12)
    assert forward.dtype == back.dtype == dtype


def test_what_lies_beyond_the_voxels(backend):
    """Rays along x, a quarter of a voxel apart, across the middles of the last voxels."""
    grid = iso.Grid((20, 20, 20))
    scan = iso.Geometry.circular_parallel(
        pixels=(9, 1), pitch=(0.25, 1.0), offset=(9.5, 0.0), angles=[0.0]
    )
    ones = np.ones(grid.shape)
    inside = [20.0] * 5
    for edge, beyond in (("zero", [15.0, 10.0, 5.0, 0.0]), ("truncate", [0.0] * 4)):
        lines = iso.project(scan, grid, ones, edge=edge).ravel()
        np.testing.assert_allclose(lines, inside + beyond, atol=1e-12)
        back = iso.back_project(scan, grid, np.ones(scan.shape), edge=edge)
        assert back.sum() == pytest.approx(sum(inside + beyond), rel=1e-12)
        with iso.Projector(scan, grid, dtype=np.float64, edge=edge) as A:
            assert np.array_equal((A @ ones).ravel(), lines)


def test_oversampling_is_the_mean_over_finer_pixels(grid, volume):
    x = volume.astype(np.float64)

    def scan_of(parts):
        return iso.Geometry.circular_cone(
            pixels=(24 * parts, 20 * parts),
            pitch=(2.0 / parts, 2.5 / parts),
            source_axis=100.0,
            source_detector=150.0,
            angles=iso.even_angles(5, 2 * np.pi),
        )

    for parts in (2, 3):
        found = iso.project(scan_of(1), grid, x, projector="siddon", oversampling=parts)
        fine = iso.project(scan_of(parts), grid, x, projector="siddon")
        means = fine.reshape(5, 20, parts, 24, parts).mean(axis=(2, 4))
        np.testing.assert_allclose(found, means, rtol=1e-9, atol=1e-9)
        y = np.random.default_rng(3).random(found.shape)
        options = {"projector": "siddon", "oversampling": parts}
        back = iso.back_project(scan_of(1), grid, y, **options)
        assert np.vdot(found, y) == pytest.approx(np.vdot(x, back), rel=1e-12)


def test_the_largest_size_may_be_told(scan, grid, volume, readings):
    options = {"sum": "reproducible"}
    found = iso.project(scan, grid, volume, **options)
    largest = float(np.abs(volume).max())
    assert np.array_equal(iso.project(scan, grid, volume, max_abs=largest, **options), found)
    # Of a larger one the sums have fewer bits, and the same values to them.
    wide = iso.project(scan, grid, volume, max_abs=4 * largest, **options)
    assert not np.array_equal(wide, found)
    np.testing.assert_allclose(wide, found, atol=1e-5 * float(found.max()))
    back = iso.back_project(scan, grid, readings, projector="siddon")
    largest = float(np.abs(readings).max())
    told = iso.back_project(scan, grid, readings, projector="siddon", max_abs=largest)
    assert np.array_equal(told, back)
    with pytest.raises(ValueError, match="max_abs"):
        iso.project(scan, grid, volume, max_abs=-1.0, **options)


def test_grids_about_the_isocentre():
    for size, spacing in (((4, 5, 6), 2.0), ((1, 2, 3), (0.5, 1.5, 2.5))):
        grid = iso.Grid.centred(size, spacing)
        steps = np.broadcast_to(spacing, 3)
        assert grid == iso.Grid(size, spacing)
        np.testing.assert_array_equal(grid.origin, -(np.array(size) - 1) * steps / 2)
        assert grid.shape == size[::-1] and grid.spacing == tuple(steps)


def test_same_bits_on_every_backend_and_number_of_threads(scan, grid, volume, readings):
    found = set()
    for name in ("openmp", "serial"):
        iso.use(name)
        for threads in (1, 2, 3, None):
            iso.set_threads(threads)
            found.add(iso.project(scan, grid, volume).tobytes())
            found.add(iso.back_project(scan, grid, readings).tobytes())
    iso.use("openmp")
    assert len(found) == 2


@pytest.mark.parametrize("axes", ["zyx", "xyz"])
@pytest.mark.parametrize("order", ["C", "F", "mixed"])
def test_any_dense_order_has_the_same_values(scan, grid, volume, readings, axes, order):
    expected = iso.project(scan, grid, volume)
    expected_back = iso.back_project(scan, grid, readings)

    def lay(a):
        if order == "mixed":
            return np.ascontiguousarray(a.transpose(1, 0, 2)).transpose(1, 0, 2)
        return np.array(a, order=order)

    turned = axes == "xyz"
    x = lay(volume.transpose(2, 1, 0) if turned else volume)
    y = lay(readings.transpose(0, 2, 1) if turned else readings)
    lines = iso.project(scan, grid, x, axes=axes)
    back = iso.back_project(scan, grid, y, axes=axes)
    assert np.array_equal(lines.transpose(0, 2, 1) if turned else lines, expected)
    assert np.array_equal(back.transpose(2, 1, 0) if turned else back, expected_back)
    out = lay(np.full(lines.shape, np.nan, np.float32))
    assert iso.project(scan, grid, x, axes=axes, out=out) is out
    assert np.array_equal(out, lines)
    out = lay(np.ones(back.shape, np.float32))
    assert iso.back_project(scan, grid, y, axes=axes, out=out, add=True) is out
    assert np.allclose(out, back + 1, rtol=1e-6)


def test_results_are_native_aligned_and_their_own(scan, grid, volume, readings):
    lines = iso.project(scan, grid, volume)
    back = iso.back_project(scan, grid, readings)
    assert lines.ctypes.data % 64 == 0 and back.ctypes.data % 64 == 0
    assert iso.native(lines, kind="projections") is lines
    assert iso.native(back) is back
    assert back.flags.f_contiguous and lines.transpose(0, 2, 1).flags.c_contiguous
    assert lines.flags.writeable and not lines.flags.owndata


def test_native_arrays_are_used_in_place(scan, grid, volume, readings):
    x, y = iso.native(volume), iso.native(readings, kind="projections")
    assert np.array_equal(x, volume) and np.array_equal(y, readings)
    lines, back = np.empty_like(y), np.empty_like(x)
    projector = iso.Projector(scan, grid)
    iso.counters(reset=True)
    for _ in range(3):
        assert projector(x, lines) is lines
        assert projector.T(y, back) is back
        iso.project(scan, grid, x, out=lines, copy=False)
    assert iso.counters() == {"reorders": 0, "allocations": 0, "synchronisations": 0}
    projector(x)
    assert iso.counters(reset=True)["allocations"] == 1
    projector(volume, lines)
    assert iso.counters(reset=True) == {"reorders": 1, "allocations": 1, "synchronisations": 0}


def test_copy_false_refuses_to_reorder(scan, grid, volume):
    with pytest.raises(ValueError, match=r"order of memory .* call isocenter.native\(volume\)"):
        iso.project(scan, grid, volume, copy=False)
    with pytest.raises(ValueError, match="order of memory"):
        iso.project(
            scan, grid, iso.native(volume), out=np.zeros(scan.shape, np.float32), copy=False
        )
    with pytest.raises(ValueError, match="order of memory"):
        iso.Projector(scan, grid, copy=False)(volume)


def test_projector(backend, scan, grid, volume, readings):
    with iso.Projector(scan, grid, projector="siddon", dtype=np.float64) as projector:
        x, y = volume.astype(np.float64), readings.astype(np.float64)
        assert np.array_equal(projector @ x, iso.project(scan, grid, x, projector="siddon"))
        back = iso.back_project(scan, grid, y, projector="siddon")
        assert np.array_equal(projector.T @ y, back)
        assert projector.T.T is projector
        assert projector.bytes > 0
        assert projector.volume_shape == grid.shape
        assert projector.projections_shape == scan.shape
        again = pickle.loads(pickle.dumps(projector))
        assert np.array_equal(again(x), projector(x))
        with pytest.raises(TypeError, match=r"float32 \(float64 is needed here\)"):
            projector(volume)
    assert projector.bytes == 0
    with pytest.raises(ValueError, match="it was closed"):
        projector(x)


def test_description(scan, grid):
    assert repr(grid) == (
        "Grid(size=(13, 11, 9), spacing=(1.5, 1, 2) mm, origin=(-9, -5, -8) mm, "
        "shape (z, y, x) = (9, 11, 13))"
    )
    assert repr(scan) == (
        "Geometry(cone, 12 views, 24 x 20 pixels (u, v), shape (view, v, u) = (12, 20, 24))"
    )
    for thing in (scan, grid):
        again = pickle.loads(pickle.dumps(thing))
        assert again == thing and hash(again) == hash(thing) and again is not thing
    assert scan != grid and grid != iso.Grid((13, 11, 9))
    assert scan != scan.subset(0, 11)
    assert iso.Grid((13, 11, 9), (1.5, 1.0, 2.0), grid.origin) == grid


def test_geometry(scan):
    vectors = scan.vectors()
    assert vectors.shape == (12, 12)
    np.testing.assert_allclose(vectors[0, :3], [100, 0, 0])
    np.testing.assert_allclose(vectors[0, 6:], [0, 2, 0, 0, 0, 2.5])
    assert iso.Geometry.from_vectors(vectors, pixels=scan.pixels) == scan
    assert iso.Geometry.from_json(scan.to_json()) == scan
    assert scan.subset(3, 2).num_views == len(scan.subset(3, 2)) == 2
    np.testing.assert_array_equal(scan.subset(3, 2).vectors(), vectors[3:5])
    parallel = iso.Geometry.circular_parallel(pixels=(4, 3), pitch=1.0, angles=[0.0])
    assert parallel.beam == "parallel" and parallel.shape == (1, 3, 4)
    direction = parallel.vectors()[0, :3]
    np.testing.assert_allclose(direction / np.linalg.norm(direction), [-1, 0, 0])


def test_changes_of_a_geometry(scan):
    angles = iso.even_angles(12, 2 * np.pi)
    spiral = scan.helix(angles, 24.0).vectors()
    np.testing.assert_allclose(np.diff(spiral[:, 2]), 2.0)
    np.testing.assert_allclose(spiral[:, 2] + spiral[::-1, 2], 0, atol=1e-9)
    shift = np.tile([3.0, 0.0], (12, 1))
    moved = scan.shift_detector(shift).vectors() - scan.vectors()
    np.testing.assert_allclose(moved[0, 3:6], [0, 3, 0], atol=1e-9)
    source = scan.shift_source(np.tile([0.0, 2.0, 0.0], (12, 1))).vectors() - scan.vectors()
    np.testing.assert_allclose(source[0, :3], [0, 0, 2], atol=1e-9)
    rolled = scan.turn_detector(roll=np.pi / 2).vectors()
    np.testing.assert_allclose(np.abs(rolled[0, 6:9]), [0, 0, 2], atol=1e-9)
    tilted = scan.laminography(0.5).vectors()
    assert tilted[0, 2] == pytest.approx(100 * np.sin(0.5))
    far = scan.move_detector(2.0).vectors()
    np.testing.assert_allclose(far[0, 6:9], [0, 4, 0], atol=1e-9)
    assert scan.detectors_within(iso.Grid((13, 11, 9))) == (0, 1.0)
    assert scan.detectors_within(iso.Grid((200, 200, 9)))[0] == 12


def test_even_angles():
    np.testing.assert_allclose(iso.even_angles(4, np.pi, 0.5), 0.5 + np.pi * np.arange(4) / 4)


def test_ten_thousand_calls_keep_memory(scan, grid, volume):
    import resource

    small = iso.Geometry.from_vectors(scan.vectors()[:1], pixels=(1, 1))
    projector = iso.Projector(small, grid)
    x = iso.native(volume)

    def calls(count):
        for _ in range(count):
            projector(x)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = calls(2000)
    assert calls(8000) - first < 2000  # KiB: a leak of one result a call would be far more


def test_geometry_of_a_json_file():
    folder = TOP / "examples" / "geometry"
    scan = iso.Geometry.read(folder / "circular_cone.json")
    same = iso.Geometry.circular_cone(
        pixels=(128, 128),
        pitch=4.0,
        source_axis=1000.0,
        source_detector=1536.0,
        angles=iso.even_angles(60, 2 * np.pi),
    )
    assert scan.shape == same.shape
    np.testing.assert_allclose(scan.vectors(), same.vectors(), atol=1e-9)
    for file in folder.glob("*.json"):
        assert iso.Geometry.read(str(file)).shape[0] > 0, file


def test_geometry_of_the_settings_of_a_scanner(tmp_path):
    file = tmp_path / "scan.xtekct"
    settings = {
        "SrcToObject": 76.75,
        "SrcToDetector": 1127.464,
        "DetectorPixelsX": 150,
        "DetectorPixelsY": 200,
        "DetectorPixelSizeX": 0.2,
        "DetectorPixelSizeY": 0.25,
        "DetectorOffsetX": 0.5,
        "DetectorOffsetY": -1,
        "Projections": 72,
        "InitialAngle": 3.5,
        "AngularStep": 5,
    }
    text = "".join(f"{key}={value}\r\n" for key, value in settings.items())
    file.write_text(f"[XTekCT]\r\n{text}")
    scan = iso.Geometry.read(file)
    same = iso.Geometry.circular_cone(
        pixels=(150, 200),
        pitch=(0.2, 0.25),
        offset=(0.5, -1.0),
        source_axis=76.75,
        source_detector=1127.464,
        angles=np.deg2rad(3.5 + 5.0 * np.arange(72)),
    )
    assert scan.shape == same.shape == (72, 200, 150)
    np.testing.assert_allclose(scan.vectors(), same.vectors(), atol=1e-9)
