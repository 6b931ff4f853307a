# SPDX-License-Identifier: BSD-3-Clause
"""Gamma index, dose-volume histograms, dose matrices, dose."""

import pickle

import numpy as np
import pytest

import isocenter as iso
from conftest import TWO_THREADS, run_python


def hill(grid, aside=0.0, width=20.0):
    z, y, x = np.meshgrid(
        *(
            o + s * np.arange(n)
            for n, s, o in zip(grid.shape, grid.spacing[::-1], grid.origin[::-1], strict=True)
        ),
        indexing="ij",
    )
    return np.exp(-((x - aside) ** 2 + y**2 + z**2) / (2 * width**2)).astype(np.float32)


# Gamma


def test_gamma(backend):
    grid = iso.Grid((30, 28, 26), 2.0)
    reference = hill(grid)
    same = iso.gamma(reference, reference, grid)
    assert same.values.shape == (1, *grid.shape) and same.status.shape == grid.shape
    compared = same.status != 1
    assert np.nanmax(same.values) == 0 and same.summaries[0].pass_rate == 1
    assert np.isnan(same.values[0][~compared]).all()
    assert compared.sum() == same.summaries[0].compared
    assert (reference[compared] >= np.float32(0.1) * reference.max()).all()
    # A shift by 1 mm has a gamma of at most 1/3 at 3 mm, where doses change by their slope.
    found = iso.gamma(reference, hill(grid, 1.0), grid, criteria=["3%/3mm", "1%/1mm"])
    assert found.values.shape == (2, *grid.shape)
    assert np.nanmax(found.values[0][2:-2, 2:-2, 2:-2]) < 1 / 3 + 1e-3
    assert (found.values[1][compared] >= found.values[0][compared] - 1e-6).all()
    assert found.summaries[1].criterion == "1%/1mm"
    assert found.summaries[0].histogram.sum() == found.summaries[0].compared


def test_gamma_of_other_grids_and_orders():
    grid, other = iso.Grid((30, 28, 26), 2.0), iso.Grid((50, 40, 45), 1.5)
    reference, evaluated = hill(grid).astype(np.float64), hill(other, 0.5).astype(np.float64)
    zyx = iso.gamma(reference, evaluated, grid, other, interpolation="tetrahedra", strict=True)
    xyz = iso.gamma(
        np.ascontiguousarray(reference.T),
        np.asfortranarray(evaluated.T),
        grid,
        other,
        axes="xyz",
        interpolation="tetrahedra",
        strict=True,
    )
    np.testing.assert_array_equal(xyz.values[0].T, zyx.values[0])
    np.testing.assert_array_equal(xyz.status.T, zyx.status)
    iso.use("serial")
    again = iso.gamma(reference, evaluated, grid, other, interpolation="tetrahedra", strict=True)
    iso.use("openmp")
    np.testing.assert_array_equal(again.values, zyx.values)


def test_gamma_refusals():
    grid = iso.Grid((10, 10, 10))
    dose = hill(grid)
    with pytest.raises(ValueError, match="3"):
        iso.gamma(dose, dose, grid, criteria="3 per cent")
    with pytest.raises(TypeError, match="float32"):
        iso.gamma(dose, dose.astype(np.float64), grid)
    with pytest.raises(ValueError, match="finite"):
        iso.gamma(dose * np.nan, dose, grid)
    with pytest.raises(TypeError, match="no option"):
        iso.gamma(dose, dose, grid, cutoff=0.1)
    with pytest.raises(ValueError, match="do not overlap|overlap"):
        iso.gamma(dose, dose, grid, iso.Grid((10, 10, 10), 1.0, (1000, 0, 0)))


# Structures


def cylinder(radius, z, points=180):
    t = 2 * np.pi * np.arange(points) / points
    return [np.stack([radius * np.cos(t), radius * np.sin(t), 0 * t + h], axis=1) for h in z]


def test_structure():
    heights = np.arange(-20, 21, 2.0)
    organ = iso.Structure(cylinder(15.0, heights), "organ")
    grid = iso.Grid((40, 40, 60), 1.0)
    shares, report = organ.fractions(grid, dtype=np.float64)
    # Half a slice beyond the first and the last contour.
    expected = np.pi * 15**2 * 42
    assert shares.sum() == pytest.approx(expected, rel=1e-3)
    assert report.volume == pytest.approx(shares.sum(), rel=1e-6)
    assert report.planes == 21 and report.parts == 1 and report.missing_slices == []
    assert shares.min() == 0 and shares.max() == 1
    points = organ.surface_points(1.0)
    assert points.shape[1] == 3 and len(points) > 1000
    assert pickle.loads(pickle.dumps(organ)).fractions(grid)[1] == report
    none = iso.Structure(cylinder(15.0, heights), caps="none").fractions(grid)[1]
    assert none.volume == pytest.approx(np.pi * 15**2 * 40, rel=1e-3)
    with pytest.raises(ValueError, match="outside"):
        iso.Structure(cylinder(15.0, heights)).fractions(iso.Grid((20, 20, 20)))
    cut = iso.Structure(cylinder(15.0, heights), beyond="cut").fractions(iso.Grid((20, 20, 20)))[1]
    assert cut.outside > 0
    with pytest.raises(ValueError, match="contour"):
        iso.Structure([])


def test_dvh(backend):
    grid = iso.Grid((40, 40, 60), 1.0)
    z, _, _ = np.meshgrid(*(np.arange(n) for n in grid.shape), indexing="ij")
    dose = z.astype(np.float32)  # 1 Gy a mm along z
    organ = iso.Structure(cylinder(15.0, np.arange(-20, 21, 2.0)))
    dvh = iso.Dvh(organ, grid, dose)
    middle = 29.5  # the dose at z = 0
    area = np.pi * 15**2
    statistics = dvh.statistics()
    assert statistics.mean == pytest.approx(middle, rel=1e-4)
    assert statistics.volume == pytest.approx(area * 42, rel=1e-3)
    assert statistics.minimum == pytest.approx(middle - 21, abs=0.1)
    found = dvh.evaluate(["D50", "V29.5Gy", "mean", "volume", "D10cc"], prescription=30)
    assert found["D50"] == pytest.approx(middle, abs=1e-3)
    assert found["V29.5Gy"] == pytest.approx(50, abs=1e-2)
    assert found["volume"] == pytest.approx(area * 42 / 1000, rel=1e-3)
    np.testing.assert_allclose(
        dvh.volumes_at([0.0, middle, 100.0]), [area * 42, area * 21, 0], rtol=1e-3
    )
    np.testing.assert_allclose(dvh.doses_at(area * 21), [middle], atol=0.02)
    curve = dvh.histogram(bins=50)
    assert curve.cumulative.shape == (51,) and curve.differential.shape == (50,)
    assert curve.differential.sum() == pytest.approx(curve.volume, rel=1e-6)
    assert curve.doses[-1] == pytest.approx(59 * 1.02, rel=1e-6)
    assert iso.unit_of("D95") == "Gy" and iso.unit_of("V20Gy") == "%"
    with pytest.raises(ValueError, match="D95"):
        dvh.evaluate(["none"])
    with pytest.raises(ValueError, match="extremes"):
        dvh.statistics(extremes="none")


def test_conformity():
    """Of Paddick: (target within the isodose)^2 / (target x isodose)."""
    grid = iso.Grid((40, 40, 60), 1.0)
    organ = iso.Structure(cylinder(15.0, np.arange(-20, 21, 2.0)))
    target, whole = np.pi * 15**2 * 42, 40 * 40 * 60
    everywhere = iso.Dvh(organ, grid, np.full(grid.shape, 70.0))
    assert everywhere.evaluate("CI60Gy")["CI60Gy"] == pytest.approx(target / whole, rel=1e-3)
    assert everywhere.evaluate("CI80Gy")["CI80Gy"] == 0
    found = everywhere.evaluate(["CI", "CI60Gy"], prescription=60.0)
    assert found["CI"] == found["CI60Gy"]
    half = np.zeros(grid.shape)
    half[:30] = 70.0
    # Between the last voxel's middle, 0.5 mm before the target's, and the next the dose falls to 0.
    edge = -0.5 + (70 - 60) / 70
    both, isodose = target * (21 + edge) / 42, 40 * 40 * (30 + edge)
    found = iso.Dvh(organ, grid, half).evaluate("CI60Gy")["CI60Gy"]
    assert found == pytest.approx(both**2 / (target * isodose), rel=1e-3)


def test_dvh_keeps_its_dose():
    grid = iso.Grid((40, 40, 60), 1.0)
    dose = iso.native(np.ones(grid.shape, np.float32))
    dvh = iso.Dvh(iso.Structure(cylinder(10.0, [-2.0, 0.0, 2.0])), grid, dose)
    del dose
    assert dvh.evaluate("mean") == {"mean": pytest.approx(1.0)}


# Matrices


@pytest.fixture
def sparse():
    return pytest.importorskip("scipy.sparse")


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matrix(backend, sparse, form, dtype):
    rng = np.random.default_rng(5)
    given = sparse.random_array((300, 70), density=0.1, format=form, rng=rng).astype(dtype)
    a = iso.DoseMatrix(given, vectors=3)
    assert a.shape == (300, 70) and a.T.shape == (70, 300) and a.nnz == given.nnz
    dense = given.toarray().astype(float)
    for vectors in (None, 1, 3):
        shape = (70,) if vectors is None else (70, vectors)
        x = rng.random(shape)
        y = rng.random((300, *shape[1:]))
        np.testing.assert_allclose(a @ x, dense @ x, rtol=1e-9)
        np.testing.assert_allclose(a.T @ y, dense.T @ y, rtol=1e-9)
        out = np.empty(y.shape)
        assert a(x, out) is out and np.array_equal(out, a @ x)
    if dtype == np.float32:
        x = rng.random(70).astype(np.float32)
        assert (a @ x).dtype == np.float32
        np.testing.assert_allclose(a @ x, dense @ x, rtol=1e-4)
    else:
        with pytest.raises(ValueError, match="float"):
            a @ rng.random(70).astype(np.float32)
    assert a.report()["values"] == ("float" if dtype == np.float32 else "double")
    a.close()
    with pytest.raises(ValueError, match="it was closed"):
        a @ rng.random(70)


def test_matrix_of_half_values(sparse):
    rng = np.random.default_rng(5)
    given = sparse.random_array((300, 70), density=0.1, format="csr", rng=rng)
    a = iso.DoseMatrix(given.astype(np.float32), values="half", products="forward")
    x = rng.random(70)
    np.testing.assert_allclose(a @ x, given @ x, rtol=2e-3)
    assert a.report()["values"] == "half"
    with pytest.raises(ValueError, match="not asked for"):
        a.T @ rng.random(300)


@pytest.mark.parametrize("form", ["csr32", "csr16", "row_block4", "row_block8"])
def test_formats_of_a_matrix(sparse, form):
    rng = np.random.default_rng(5)
    given = sparse.random_array((300, 70), density=0.1, format="csr", rng=rng).astype(np.float32)
    # Quarters, exact in 16 bits: nothing is lost, and all formats have the same bits.
    given.data = np.ceil(given.data * 32).astype(np.float32) / 4
    x, y = rng.random(70), rng.random(300)
    with iso.DoseMatrix(given) as plain, iso.DoseMatrix(given, values="half", format=form) as a:
        for transposed in (False, True):
            told = a.report(transposed=transposed)
            assert told["format"] == form and told["values"] == "half"
            assert told["entries"] == given.nnz
            assert told["overflowed"] == told["underflowed"] == told["lost"] == 0
        # Offsets of rows of 64 bits; of an entry two bytes, and four or two of its column.
        bytes_of = {"csr32": 6 * given.nnz + 8 * 301, "csr16": 4 * given.nnz + (8 + 4) * 301 - 4}
        if form in bytes_of:
            assert a.report()["matrix_bytes"] == bytes_of[form]
        assert np.array_equal(a(x, sum="reproducible"), plain(x, sum="reproducible"))
        assert np.array_equal(a.T(y, sum="reproducible"), plain.T(y, sum="reproducible"))
        ordered = a(x, sum="ordered")
        np.testing.assert_allclose(ordered, given.toarray().astype(float) @ x, rtol=1e-12)
    iso.use("serial")
    with iso.DoseMatrix(given, values="half", format=form) as again:
        assert np.array_equal(again(x, sum="ordered"), ordered)
    iso.use("openmp")


def test_matrix_refusals(sparse):
    given = sparse.csr_array(np.eye(4, dtype=np.float32))
    with pytest.raises(TypeError, match="CSR or CSC"):
        iso.DoseMatrix(given.tocoo())
    with pytest.raises(TypeError, match="CSR or CSC"):
        iso.DoseMatrix(np.eye(4))
    with pytest.raises(TypeError, match="int"):
        iso.DoseMatrix(given.astype(np.int32))
    bad = given.copy()
    bad.data[0] = np.inf
    with pytest.raises(ValueError, match="finite"):
        iso.DoseMatrix(bad)
    bad = given.copy()
    bad.indices[0] = 9
    with pytest.raises(ValueError, match="column"):
        iso.DoseMatrix(bad)
    a = iso.DoseMatrix(given)
    with pytest.raises(ValueError, match="4 are needed"):
        a @ np.ones(3)
    with pytest.raises(ValueError, match="make it with vectors=2, or"):
        a @ np.ones((4, 2))
    with pytest.raises(ValueError, match="numpy.empty.*or leave out out"):
        iso.DoseMatrix(given, vectors=2)(np.ones((4, 2)), np.ones((2, 4)).T)
    with pytest.raises(TypeError, match="numpy.empty.*or leave out out"):
        a(np.ones(4), np.ones(4, np.int32))
    with pytest.raises(ValueError, match="C order"):
        iso.DoseMatrix(given, vectors=2) @ np.ones((2, 4)).T


# Dose


def test_dose(backend):
    water = iso.Grid((60, 60, 60), 3.0, (-88.5, 1.5, -88.5))
    density = np.ones(water.shape, np.float32)
    beam = iso.dose.Beam.rectangle(-30, 30, -30, 30, isocentre=(0, 90, 0))
    with iso.dose.Calculator(water, cones=6, azimuths=8) as calculate:
        dose = calculate(beam, density)
        assert dose.shape == water.shape and dose.dtype == np.float32
        # Along y on the axis: a build-up, and an exponential fall behind it.
        axis = dose[29, :, 29].astype(float)
        assert np.argmax(axis) * 3 < 30
        assert 0.5 < axis[33] / axis[16] < 0.9  # 10 cm and 5 cm
        assert dose[29, 16, 5] < 0.1 * axis[16]  # beside the field
        twice = calculate([beam, beam], density)
        np.testing.assert_allclose(twice, 2 * dose, rtol=1e-4, atol=1e-15)
        out = dose.copy(order="K")
        assert calculate(beam, density, out) is out
        assert np.array_equal(out, twice)
        assert calculate.num_directions == 48
    with pytest.raises(ValueError, match="closed"):
        calculate(beam, density)


def test_a_beam_from_another_side_has_the_same_bits():
    grid = iso.Grid((32, 32, 32), 4.0)
    density = np.ones(grid.shape, np.float64)
    calculate = iso.dose.Calculator(grid, dtype=np.float64)
    front = iso.dose.Beam.rectangle(-20, 20, -20, 20)
    side = iso.dose.Beam.rectangle(-20, 20, -20, 20, gantry_deg=90.0)
    # Gantry at 90 degrees: the source stands at +x, and the beam runs along -x.
    a, b = calculate(front, density), calculate(side, density)
    np.testing.assert_array_equal(b, a.transpose(0, 2, 1)[:, :, ::-1])
    turned = iso.dose.Beam.rectangle(-20, 20, -20, 20, gantry_deg=450.0)
    assert np.array_equal(calculate(turned, density), b)


def test_the_kernel_follows_diverging_rays():
    """By an angle that falls with the source's distance; `verify` has the bits."""
    water = iso.Grid((30, 20, 30), 8.0, (-116, 0, -116))
    density = np.ones(water.shape)
    options = {"cones": 6, "azimuths": 8, "dtype": np.float64}

    def change(source_distance):
        beam = iso.dose.Beam.rectangle(
            -90, 90, -90, 90, source_distance=source_distance, weight=1e10
        )
        tilted, upright = (
            iso.dose.Calculator(water, tilt=tilt, **options)(beam, density)
            for tilt in (True, False)
        )
        assert tilted.sum() == pytest.approx(upright.sum(), rel=5e-3)  # energy is carried elsewhere
        return np.abs(tilted - upright).max() / upright.max()

    near, far, farther = change(1e3), change(1e5), change(1e6)
    assert near > 0.01 and farther == pytest.approx(far / 10, rel=0.05)


def test_placings_of_cones_carry_the_same_energy():
    water = iso.Grid((30, 20, 30), 8.0, (-116, 0, -116))
    density = np.ones(water.shape)
    beam = iso.dose.Beam.rectangle(-60, 60, -60, 60, weight=1e10)
    options = {"cones": 16, "azimuths": 8, "dtype": np.float64}
    doses = [
        iso.dose.Calculator(water, placing=placing, **options)(beam, density)
        for placing in ("equal_energy", "equal_solid_angle")
    ]
    assert not np.array_equal(*doses)
    assert doses[0].sum() == pytest.approx(doses[1].sum(), rel=5e-3)


def test_fluence_map():
    grid = iso.Grid((32, 32, 32), 4.0)
    density = np.ones(grid.shape, np.float64)
    calculate = iso.dose.Calculator(grid, dtype=np.float64)
    whole = iso.dose.Beam.rectangle(-20, 20, -10, 30)
    parts = iso.dose.Beam(np.ones((4, 5)), field=(-20, 20, -10, 30))
    np.testing.assert_allclose(
        calculate(parts, density), calculate(whole, density), rtol=1e-9, atol=1e-25
    )
    # Rows of the map lie along y of the collimator: z of the patient, at gantry 0.
    fluence = np.zeros((2, 1))
    fluence[1] = 1
    upper = calculate(iso.dose.Beam(fluence, field=(-20, 20, -20, 20)), density)
    assert upper[20, 10, 16] > 5 * upper[11, 10, 16]


def test_terma_and_density():
    grid = iso.Grid((24, 24, 24), 5.0)
    density = np.ones(grid.shape, np.float64)
    beam = iso.dose.Beam.rectangle(-20, 20, -20, 20, weight=1e9)
    region = beam.region(grid)
    assert all(a <= b for a, b in zip(region.size, grid.size, strict=True))
    released = iso.dose.terma(beam, grid, density, region=region)
    assert released.shape == region.shape and released.max() > 0
    hu = np.array([-1000.0, 0.0, 1000.0]).reshape(3, 1, 1)
    found = iso.dose.density_from_hounsfield(hu).ravel()
    assert found[0] < 0.01 and found[1] == pytest.approx(1.0, abs=0.03) and found[2] > 1.4
    own = iso.dose.density_from_hounsfield(hu, "hu, density\n-1000, 0\n1000, 2\n").ravel()
    np.testing.assert_allclose(own, [0, 1, 2])
    assert pickle.loads(pickle.dumps(beam)).region(grid) == region
    assert "gantry 0 deg" in repr(beam)


def test_dose_refusals():
    grid = iso.Grid((16, 16, 16), 4.0)
    with pytest.raises(ValueError, match="kernel"):
        iso.dose.Calculator(grid, kernel="none")
    with pytest.raises(ValueError, match="cones"):
        iso.dose.Calculator(grid, cones=1)
    with pytest.raises(ValueError, match="fluence"):
        iso.dose.Beam([1.0], field=(-1, 1, -1, 1))
    with pytest.raises(ValueError, match="fluence"):
        iso.dose.Beam([[-1.0]], field=(-1, 1, -1, 1))
    calculate = iso.dose.Calculator(grid)
    density = np.ones(grid.shape, np.float32)
    with pytest.raises(ValueError, match="miss"):
        calculate(iso.dose.Beam.rectangle(-5, 5, -5, 5, isocentre=(5000, 0, 0)), density)
    with pytest.raises(TypeError, match="a Beam is needed"):
        calculate(["beam"], density)


@pytest.mark.parametrize(
    "call",
    [
        "iso.gamma(d, e, grid, criteria='1%/3mm', cut_off=0.001, max_gamma=5)",
        "iso.Dvh(organ, grid, d).histogram(bins=5000)",
        "iso.dose.Calculator(grid, cones=16, azimuths=16)(beam, d)",
        "iso.DoseMatrix(matrix)",
    ],
)
def test_ctrl_c(call):
    pytest.importorskip("scipy")
    out, _ = run_python(
        f"""
        import numpy as np, isocenter as iso, scipy.sparse
        grid = iso.Grid((256, 256, 256))
        rng = np.random.default_rng(1)
        d = iso.native(0.9 + 0.1 * rng.random(grid.shape, dtype=np.float32))
        e = iso.native(0.9 + 0.1 * rng.random(grid.shape, dtype=np.float32))
        t = 2 * np.pi * np.arange(720) / 720
        organ = iso.Structure([np.stack([110 * np.cos(t), 110 * np.sin(t), 0 * t + h], 1)
            for h in range(-110, 111, 2)])
        beam = iso.dose.Beam.rectangle(-100, 100, -100, 100)
        if "DoseMatrix" in {call!r}:
            n, k = 200_000, 150
            matrix = scipy.sparse.csr_array((rng.random(n * k, dtype=np.float32),
                np.sort(rng.integers(0, 20000, (n, k), dtype=np.int32), axis=1).ravel(),
                np.arange(0, n * k + 1, k)), shape=(n, 20000))
        iso.info()
        thread = interrupt_after(0.4)
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


@pytest.mark.parametrize("engine", ["lattice", "voxel_lines", "voxel_samples", "non_voxel"])
def test_convolve_is_what_a_calculator_does(engine):
    water = iso.Grid((9, 11, 8), 8.0)
    density = np.ones(water.shape, np.float32)
    beam = iso.dose.Beam.rectangle(-20, 20, -15, 15, weight=1e12)
    options = {"cones": 4, "azimuths": 4, "engine": engine}
    with iso.dose.Calculator(water, **options) as calculate:
        whole = calculate(beam, density)
    region = beam.region(water)
    released = iso.dose.terma(beam, water, density, region=region)
    found = iso.dose.convolve(beam, region, released, water, density, **options)
    assert np.array_equal(found, whole) and found.max() > 0
    out = np.ones(water.shape, np.float32)
    again = iso.dose.convolve(beam, region, released, water, density, out=out, add=True, **options)
    assert again is out and np.allclose(out, 1 + whole, rtol=1e-6)
    with pytest.raises(ValueError, match="add without out"):
        iso.dose.convolve(beam, region, released, water, density, add=True)
    outside = iso.Grid(region.size, 8.0, (500.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="convolve"):
        iso.dose.convolve(beam, outside, released, water, density)
    with pytest.raises(ValueError, match="shape"):
        iso.dose.convolve(beam, region, density[1:], water, density)


def results():
    """One of each class that tells what a call has found."""
    grid = iso.Grid((20, 18, 16), 2.0)
    dose = hill(grid)
    organ = iso.Structure(cylinder(10.0, [-2.0, 0.0, 2.0]))
    dvh = iso.Dvh(organ, grid, dose)
    angles = iso.even_angles(6, np.pi)
    scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=4.0, angles=angles)
    compared = iso.gamma(dose, hill(grid, 0.5), grid)
    lines = iso.project(scan, grid, dose)
    return [
        iso.scan_weights(scan),
        compared,
        compared.summaries[0],
        dvh.histogram(bins=20),
        dvh.statistics(),
        organ.fractions(grid)[1],
        iso.cgls(scan, grid, lines, iterations=2),
        iso.Check("project float", "0", "1"),
    ]


def same_fields(one, other):
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and one.shape == other.shape
        return same and one.tobytes() == other.tobytes()
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same_fields, one, other))
    names = getattr(type(one), "__dataclass_fields__", None)
    if names is None:
        return one == other
    return all(same_fields(getattr(one, name), getattr(other, name)) for name in names)


def test_results_are_pickled():
    for one in results():
        same = pickle.loads(pickle.dumps(one))
        assert type(same) is type(one) and same_fields(one, same), type(one)
        assert repr(one).startswith(type(one).__name__)


def test_results_without_arrays_are_compared():
    for one, again in zip(results(), results(), strict=True):
        if type(one).__name__ in ("DoseStatistics", "StructureReport", "Check"):
            assert one == again and one is not again


def test_what_describes_is_compared_and_pickled():
    beam = iso.dose.Beam([[1.0, 2.0]], field=(-5, 5, -5, 5), gantry_deg=10)
    turn = 2 * np.pi * np.arange(9) / 9
    circle = [np.stack([np.cos(turn), np.sin(turn), 0 * turn + z], axis=1) for z in (0, 1)]
    for one, other in (
        (beam, iso.dose.Beam([[1.0, 2.0]], field=(-5, 5, -5, 5), gantry_deg=11)),
        (iso.Structure(circle, "a"), iso.Structure(circle, "b")),
    ):
        same = pickle.loads(pickle.dumps(one))
        assert same == one and hash(same) == hash(one)
        assert one != other and one != 3
