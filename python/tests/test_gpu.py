# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of CuPy, PyTorch and of DLPack alone on a GPU: scripts/test_python.sh --cuda."""

import contextlib
import pathlib
import re
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import exchange_support
import isocenter as iso
from conftest import TOP, run_python
from isocenter import _core

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not _core.has_cuda, reason="isocenter-cu13 is not loaded"),
]


class Cupy:
    def __init__(self):
        self.cupy = pytest.importorskip("cupy")

    def put(self, x):
        return self.cupy.asarray(x)

    def get(self, x):
        assert isinstance(x, self.cupy.ndarray)
        self.wait()  # it may be of another stream
        return self.cupy.asnumpy(x)

    def address(self, x):
        return x.data.ptr

    def stream(self):
        return self.new_stream()

    def new_stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def within(self, stream):
        return stream

    def record(self, stream):
        return stream.record()

    def wait_event(self, stream, event):
        stream.wait_event(event)

    def wait(self):
        self.cupy.cuda.Device().synchronize()


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("torch has no GPU")

    def put(self, x):
        return self.torch.from_numpy(np.ascontiguousarray(x)).cuda()

    def get(self, x):
        assert isinstance(x, self.torch.Tensor) and x.is_cuda
        self.torch.cuda.synchronize()  # it may be of another stream
        return x.cpu().numpy()

    def address(self, x):
        return x.data_ptr()

    def stream(self):
        return self.within(self.new_stream())

    def new_stream(self):
        return self.torch.cuda.Stream()

    def within(self, stream):
        return self.torch.cuda.stream(stream)

    def record(self, stream):
        return stream.record_event()

    def wait_event(self, stream, event):
        stream.wait_event(event)

    def wait(self):
        self.torch.cuda.synchronize()


class Plain:
    """DLPack alone, without CuPy and PyTorch."""

    def put(self, x):
        return exchange_support.put(x)

    def get(self, x):
        assert isinstance(x, exchange_support.Plain)
        return exchange_support.get(x)

    def address(self, x):
        return x.memory.address.value

    def stream(self):
        return contextlib.nullcontext()


@pytest.fixture(params=[Plain, Cupy, Torch])
def space(request):
    return request.param()


@pytest.mark.parametrize("axes", ["zyx", "xyz"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_are_those_of_the_host(space, scan, grid, axes, dtype):
    turn = (0, 1, 2) if axes == "zyx" else (2, 1, 0)
    volume = np.random.default_rng(1).random(grid.shape).astype(dtype).transpose(turn)
    shape = scan.shape if axes == "zyx" else (scan.shape[0], scan.shape[2], scan.shape[1])
    readings = np.random.default_rng(2).random(shape).astype(dtype)
    for projector in ("joseph", "siddon"):
        options = {"axes": axes, "projector": projector}
        found = iso.project(scan, grid, space.put(volume), **options)
        assert np.array_equal(space.get(found), iso.project(scan, grid, volume, **options))
        found = iso.back_project(scan, grid, space.put(readings), **options)
        assert np.array_equal(space.get(found), iso.back_project(scan, grid, readings, **options))
    found = iso.fdk(scan, grid, space.put(readings), axes=axes)
    assert np.array_equal(space.get(found), iso.fdk(scan, grid, readings, axes=axes))


def test_results_lie_where_out_lies(space, scan, grid, volume):
    x = space.put(volume)
    out = iso.project(scan, grid, x)
    address = space.address(out)
    iso.counters(reset=True)
    with iso.Projector(scan, grid) as A:
        again = A(x, out=out)
        assert again is out and space.address(out) == address
        assert iso.counters()["synchronisations"] == 0
        assert np.array_equal(space.get(out), A @ volume)
        y = A @ x
        assert np.array_equal(space.get(A.T @ y), A.T @ (A @ volume))


def test_reorders_where_the_arrays_lie(space, scan, grid):
    """Every order of memory, of extents that are no multiples of a tile."""
    box = iso.Grid((70, 33, 45))
    x = np.random.default_rng(5).random(box.shape, dtype=np.float32)
    for turn in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        laid = np.ascontiguousarray(x.transpose(turn)).transpose(np.argsort(turn))
        there = space.put(laid)
        if isinstance(space, Torch):  # put() has made it C order
            there = space.torch.from_numpy(laid.transpose(turn)).cuda().permute(*np.argsort(turn))
        iso.counters(reset=True)
        found = iso.native(there)
        assert iso.counters()["reorders"] == (turn != (2, 1, 0))
        assert np.array_equal(space.get(found), x)


def test_fdk_class_and_halves(space, scan, grid, readings):
    y = space.put(readings)
    wanted = iso.fdk(scan, grid, readings)
    with iso.Fdk(scan, grid) as method:
        iso.counters(reset=True)
        found = method(y)
        assert iso.counters()["synchronisations"] == 0
        assert np.array_equal(space.get(found), wanted)
        assert method(y, out=found) is found
        method(y, out=found, add=True)
        twice = method(readings)
        method(readings, out=twice, add=True)
        assert np.array_equal(space.get(found), twice)
        with pytest.raises(ValueError, match="GPU"):
            method(y, out=np.empty(grid.shape, np.float32))
    with pytest.raises(ValueError, match="closed"):
        method(y)
    with iso.Fdk(scan, grid, memory="64MB") as method, pytest.raises(ValueError, match="memory"):
        method(y)
    filtered = iso.filter_projections(scan, y, window="hann")
    theirs = iso.filter_projections(scan, readings, window="hann")
    assert np.array_equal(space.get(filtered), theirs)
    found = iso.weighted_back_project(scan, grid, filtered)
    assert np.array_equal(space.get(found), iso.weighted_back_project(scan, grid, theirs))


@pytest.mark.parametrize("axes", ["zyx", "xyz"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma(space, axes, dtype):
    turn = (0, 1, 2) if axes == "zyx" else (2, 1, 0)
    grid, other = iso.Grid((12, 11, 10), 2.0), iso.Grid((9, 10, 11), 2.5)
    rng = np.random.default_rng(2)
    doses = [(10 + rng.random(g.shape)).astype(dtype).transpose(turn) for g in (grid, other)]
    options = {"criteria": ["3%/3mm", "1%/1mm"], "cut_off": 0.2, "axes": axes}
    found = iso.gamma(*map(space.put, doses), grid, other, **options)
    wanted = iso.gamma(*doses, grid, other, **options)
    assert np.array_equal(space.get(found.values), wanted.values, equal_nan=True)
    assert np.array_equal(space.get(found.status), wanted.status)
    for mine, theirs in zip(found.summaries, wanted.summaries, strict=True):
        assert mine.passed == theirs.passed and mine.mean == theirs.mean
        assert np.array_equal(mine.histogram, theirs.histogram)
    with pytest.raises(ValueError, match="GPU"):
        iso.gamma(space.put(doses[0]), doses[1], grid, other, **options)


def test_dose(space):
    patient = iso.Grid((20, 18, 16), 5.0)
    density = np.random.default_rng(3).uniform(0.2, 1.2, patient.shape).astype(np.float32)
    beams = [
        iso.dose.Beam.rectangle(-20, 20, -20, 20, gantry_deg=a, weight=1e10)
        for a in (0.0, 50.0)
    ]
    there = space.put(density)
    with iso.dose.Calculator(patient, cones=6, azimuths=4) as calculator:
        wanted = calculator(beams, density)
        iso.counters(reset=True)
        found = calculator(beams, there)
        assert iso.counters()["synchronisations"] == 0
        assert np.array_equal(space.get(found), wanted)
        assert calculator(beams[0], there, out=found) is found
        assert np.array_equal(space.get(found), calculator(beams[0], density, out=wanted))
    region = beams[0].region(patient)
    released = iso.dose.terma(beams[0], patient, there, region=region)
    theirs = iso.dose.terma(beams[0], patient, density, region=region)
    assert np.array_equal(space.get(released), theirs)
    options = {"cones": 6, "azimuths": 4}
    found = iso.dose.convolve(beams[0], region, released, patient, there, **options)
    wanted = iso.dose.convolve(beams[0], region, theirs, patient, density, **options)
    assert np.array_equal(space.get(found), wanted)
    hounsfield = np.random.default_rng(4).uniform(-900, 900, patient.shape).astype(np.float32)
    found = iso.dose.density_from_hounsfield(space.put(hounsfield))
    assert np.array_equal(space.get(found), iso.dose.density_from_hounsfield(hounsfield))


def test_histograms_of_a_structure(space):
    grid = iso.Grid((16, 15, 14), 3.0)
    dose = (10 + np.random.default_rng(6).random(grid.shape)).astype(np.float32)
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.stack([1 + 12 * np.cos(angle), 2 + 12 * np.sin(angle), 0 * angle], 1)
    organ = iso.Structure([circle + (0, 0, z) for z in (-6.0, -3.0, 0.0, 3.0)], "organ")
    mine, theirs = iso.Dvh(organ, grid, space.put(dose)), iso.Dvh(organ, grid, dose)
    assert mine.statistics() == theirs.statistics()
    names = ["D95", "V10.5Gy", "CI10.5Gy", "homogeneity"]
    assert mine.evaluate(names, prescription=10.0) == theirs.evaluate(names, prescription=10.0)
    assert np.array_equal(mine.volumes_at([9.0, 10.5]), theirs.volumes_at([9.0, 10.5]))
    assert np.array_equal(mine.doses_at([10.0]), theirs.doses_at([10.0]))
    assert np.array_equal(mine.histogram().cumulative, theirs.histogram().cumulative)
    out = space.put(np.zeros(grid.shape, np.float32))
    found, report = organ.fractions(grid, out=out)
    wanted, told = organ.fractions(grid)
    assert found is out and np.array_equal(space.get(out), wanted) and report == told


def on_gpu(space, a):
    """A SciPy matrix whose arrays lie on the GPU."""
    return types.SimpleNamespace(
        format=a.format,
        shape=a.shape,
        indptr=space.put(a.indptr.astype(np.int64)),
        indices=space.put(a.indices.astype(np.int32)),
        data=space.put(a.data),
    )


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dose_matrix(space, form, dtype):
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(7)
    a = sparse.random(60, 43, 0.2, form, dtype, rng)
    x, y = rng.random((43, 3)), rng.random((60, 3))
    with iso.DoseMatrix(on_gpu(space, a), vectors=3) as mine, iso.DoseMatrix(a, vectors=3) as own:
        assert np.array_equal(space.get(mine @ space.put(x)), own @ x)
        assert np.array_equal(space.get(mine.T @ space.put(y)), own.T @ y)
        one = np.ascontiguousarray(x[:, 0])
        iso.counters(reset=True)
        found = mine(space.put(one), sum="ordered")
        assert iso.counters()["synchronisations"] == 0
        assert np.array_equal(space.get(found), own(one, sum="ordered"))
        assert mine(space.put(one), out=found) is found
        with pytest.raises(ValueError, match="the matrix on a GPU"):
            mine @ one
        with pytest.raises(ValueError, match="the matrix on the host"):
            own @ space.put(one)
        assert mine.nnz == own.nnz and mine.bytes > 0


def test_readings_rays_and_phantoms(space, scan, grid, volume, readings):
    dark, flat = (np.full((1, *scan.shape[1:]), v, np.float32) for v in (0.1, 3.0))
    flat[0, 3, 4] = 0.05
    there = [space.put(x) for x in (readings + 0.2, dark, flat)]
    found = iso.readings.line_integrals(*there)
    wanted = iso.readings.line_integrals(readings + np.float32(0.2), dark, flat)
    assert np.array_equal(space.get(found), wanted, equal_nan=True)
    dead = iso.readings.find_dead_pixels(*there[1:])
    assert np.array_equal(dead, iso.readings.find_dead_pixels(dark, flat)) and dead.any()
    whole = iso.readings.replace_dead_pixels(found, dead)
    theirs = iso.readings.replace_dead_pixels(wanted, dead)
    assert np.array_equal(space.get(whole), theirs)
    mean = iso.readings.mean_of_views(space.put(readings))
    assert np.array_equal(space.get(mean), iso.readings.mean_of_views(readings))
    noise = iso.readings.noise_of_counts(space.put(readings), photons=1e5)
    assert noise == iso.readings.noise_of_counts(readings, photons=1e5)
    rays = iso.rays.between([[-9.0, 3.0, 1.0], [0.0, -20.0, 4.0]], [[30.0, 4.0, 9.0]])
    paths = iso.rays.radiological_path(rays, grid, space.put(volume))
    assert np.array_equal(space.get(paths), iso.rays.radiological_path(rays, grid, volume))
    head = iso.phantom.shepp_logan(10.0)
    out = space.put(np.zeros(grid.shape, np.float32))
    assert iso.phantom.rasterise(head, grid, out=out) is out
    assert np.array_equal(space.get(out), iso.phantom.rasterise(head, grid))
    out = space.put(np.zeros(scan.shape, np.float32))
    assert iso.phantom.project(head, scan, out=out) is out
    assert np.array_equal(space.get(out), iso.phantom.project(head, scan))


RUNS = [
    (iso.sart, {}),
    (iso.sart, {"block": 4}),
    (iso.mlem, {}),
    (iso.cgls, {}),
    (iso.lsqr, {}),
    (iso.total_variation, {"weight": 0.01, "stop_gap": 0.0}),
]


@pytest.mark.parametrize("run, options", RUNS)
def test_iterations_have_the_bits_of_the_host(space, scan, grid, readings, run, options):
    found = run(scan, grid, space.put(readings), iterations=3, **options)
    whole = run(scan, grid, readings, iterations=3, **options)
    assert np.array_equal(space.get(found.volume), whole.volume)
    assert np.array_equal(found.history["residual"], whole.history["residual"])


def test_two_streams_at_once(space, scan, grid, volume):
    if isinstance(space, Plain):
        pytest.skip("it has no streams")
    x = space.put(volume)
    wanted = iso.project(scan, grid, volume)
    results = []
    for _ in range(4):
        with space.stream():
            twice = x + x
            results.append(iso.project(scan, grid, twice) / 2)
            results.append(iso.Projector(scan, grid)(twice) / 2)
    for found in results:
        assert np.array_equal(space.get(found), wanted)


def test_one_projector_in_two_streams_by_turns(space, scan, grid, volume):
    if isinstance(space, Plain):
        pytest.skip("it has no streams")
    x = space.put(volume)
    space.wait()
    wanted = iso.project(scan, grid, volume)
    back = iso.back_project(scan, grid, wanted)
    first, second = space.new_stream(), space.new_stream()
    results = []
    with iso.Projector(scan, grid) as A:
        for _ in range(5):
            for stream in (first, second):
                with space.within(stream):
                    y = A(x)
                    results.append((y, A.T(y)))
        iso.counters(reset=True)
        with space.within(second):
            A(x)
        assert iso.counters()["synchronisations"] == 0
        with space.within(first):  # its part is made anew, and the former given back
            A(x)
        assert iso.counters()["synchronisations"] == 1
    for y, adjoint in results:
        assert np.array_equal(space.get(y), wanted)
        assert np.array_equal(space.get(adjoint), back)


def test_one_matrix_in_two_streams_by_turns(space):
    sparse = pytest.importorskip("scipy.sparse")
    if isinstance(space, Plain):
        pytest.skip("it has no streams")
    rng = np.random.default_rng(7)
    a = sparse.random(3000, 2000, 0.02, "csr", np.float32, rng)
    x = [rng.random(2000) for _ in range(4)]
    streams = [space.new_stream(), space.new_stream()]
    with iso.DoseMatrix(on_gpu(space, a)) as mine, iso.DoseMatrix(a) as own:
        there = [space.put(part) for part in x]
        space.wait()
        iso.counters(reset=True)
        results = []
        for n, part in enumerate(4 * there):
            with space.within(streams[n % 2]):
                results.append(mine.T(mine(part)))
        assert iso.counters()["synchronisations"] == 0
        for n, found in enumerate(results):
            assert np.array_equal(space.get(found), own.T(own(x[n % 4])))


def test_an_input_of_another_stream_behind_an_event(space, scan, grid, volume):
    if isinstance(space, Plain):
        pytest.skip("it has no streams")
    producer, consumer = space.new_stream(), space.new_stream()
    x = space.put(volume)
    space.wait()
    wanted = iso.project(scan, grid, 2 * volume)
    for _ in range(10):
        with space.within(producer):
            for _ in range(50):  # keeps the stream busy
                made = x + x
            done = space.record(producer)
        space.wait_event(consumer, done)
        with space.within(consumer):
            found = iso.project(scan, grid, made)
        assert np.array_equal(space.get(found), wanted)


def test_the_default_stream_of_each_thread(scan, grid, volume):
    """Stream 2 of DLPack is another one in each thread."""
    cupy = pytest.importorskip("cupy")
    wanted = iso.project(scan, grid, volume)
    failures = []
    with iso.Projector(scan, grid) as shared:

        def work():
            with cupy.cuda.Stream.ptds:
                x = cupy.asarray(volume)
                for _ in range(20):
                    for found in (iso.project(scan, grid, x), shared(x)):
                        if not np.array_equal(cupy.asnumpy(found), wanted):
                            failures.append("other bits")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_numbers_of_ended_threads(scan, grid, volume, readings):
    """A thread may have the number of one that has ended, whose default stream was another.

    Nothing is waited for: scratch of an object, and of the stream's instance, is in use still.
    """
    cupy = pytest.importorskip("cupy")
    count, options = 40, {"projector": "siddon", "sum": "reproducible"}
    numbers, found = [], []
    with iso.Projector(scan, grid, **options) as shared, iso.Fdk(scan, grid) as reconstruct:

        def work(factor):
            numbers.append(threading.get_ident())
            with cupy.cuda.Stream.ptds:
                x, y = cupy.asarray(volume) * factor, cupy.asarray(readings) * factor
                for _ in range(5):
                    results = shared(x), shared.T(y), reconstruct(y)
                found.append(results)

        for n in range(count):
            thread = threading.Thread(target=work, args=(np.float32(2.0 ** (n % 7)),))
            thread.start()
            thread.join()
        cupy.cuda.Device().synchronize()
        assert len(set(numbers)) < count, "no number of a thread came again"
        for n, results in enumerate(found):
            factor = np.float32(2.0 ** (n % 7))
            wanted = (
                shared(volume * factor),
                shared.T(readings * factor),
                reconstruct(readings * factor),
            )
            for mine, theirs in zip(results, wanted, strict=True):
                assert np.array_equal(cupy.asnumpy(mine), theirs)


def test_objects_of_an_ended_thread(scan, grid, volume, readings):
    """What was made in a thread's default stream goes on where the thread has ended."""
    cupy = pytest.importorskip("cupy")
    turn = 2 * np.pi * np.arange(30) / 30
    organ = iso.Structure(
        [np.stack([4 * np.cos(turn), 4 * np.sin(turn), 0 * turn + z], 1) for z in (-2.0, 0.0, 2.0)]
    )
    made = []

    def work():
        with cupy.cuda.Stream.ptds:
            x, y = cupy.asarray(volume), cupy.asarray(readings)
            for _ in range(20):
                iso.project(scan, grid, x)
            made.extend([iso.Cgls(scan, grid, y), iso.Dvh(organ, grid, x)])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    method, dvh = made
    own = iso.Cgls(scan, grid, readings)
    for _ in range(3):
        assert method.step().residual == own.step().residual
    assert np.array_equal(cupy.asnumpy(method.volume), own.volume)
    theirs = iso.Dvh(organ, grid, volume)
    assert dvh.statistics() == theirs.statistics()
    assert dvh.evaluate(["D95", "mean"]) == theirs.evaluate(["D95", "mean"])


def test_arrays_on_two_gpus_are_refused(scan, grid, volume):
    x = exchange_support.put(volume)
    elsewhere = exchange_support.put(np.zeros(scan.shape, np.float32))
    elsewhere.device = 1
    with pytest.raises(ValueError, match="volume lies on GPU 0, out on GPU 1"):
        iso.project(scan, grid, x, out=elsewhere)


def test_streams_that_are_asked_of_arrays(scan, grid, volume):
    """An array is exported for the stream that is current, never without synchronisation (-1)."""
    cupy = pytest.importorskip("cupy")
    asked = []

    class Wrapped:
        def __init__(self, array):
            self.array, self.shape = array, array.shape

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, *, stream=None, **options):
            asked.append(stream)
            return self.array.__dlpack__(stream=stream, **options)

    Wrapped.__module__ = "cupy.wrapped"  # of CuPy: its stream is asked for
    x = cupy.asarray(volume)
    out = cupy.empty(scan.shape, np.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    for current, number in ((cupy.cuda.Stream.null, 1), (cupy.cuda.Stream.ptds, 2),
                            (stream, stream.ptr)):
        x = x + 0
        cupy.cuda.get_current_stream().synchronize()
        asked.clear()
        with current:
            iso.project(scan, grid, Wrapped(x), out=Wrapped(out))
            current.synchronize()
        assert set(asked) == {number}
        assert np.array_equal(cupy.asnumpy(out), iso.project(scan, grid, volume))
    # What the package returns is exported by its framework, without synchronisation too.
    found = iso.project(scan, grid, x)
    cupy.cuda.get_current_stream().synchronize()
    again = cupy.from_dlpack(Minus(found))
    assert np.array_equal(cupy.asnumpy(again), iso.project(scan, grid, volume))


class Minus:
    """Exports an array without synchronisation, whatever is asked."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **options):
        return self.array.__dlpack__(stream=-1, **options)


def test_memory_of_torch_that_another_stream_uses(scan, grid, volume):
    """As with torch's own functions, record_stream keeps it until that stream has done with it."""
    space = Torch()
    torch = space.torch
    wanted = iso.project(scan, grid, volume)
    stream = torch.cuda.Stream()
    for _ in range(20):
        x = space.put(volume)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(50):
                found = iso.project(scan, grid, x)
        x.record_stream(stream)
        del x
        # Takes the memory, if it is free.
        torch.full(volume.shape, float("nan"), dtype=torch.float32, device="cuda")
        assert np.array_equal(space.get(found), wanted)


def test_reordered_copies_wait_for_nothing(space, scan, grid, volume):
    x = space.put(volume)  # in C order
    iso.project(scan, grid, x)
    iso.counters(reset=True)
    with iso.Projector(scan, grid) as A:
        found = [A(x) for _ in range(20)]
        counted = iso.counters()
    assert counted["reorders"] == 20 and counted["synchronisations"] == 0
    for y in found:
        assert np.array_equal(space.get(y), iso.project(scan, grid, volume))


def test_gaps_and_mixtures_are_refused(space, scan, grid, volume, readings):
    x = space.put(volume)
    with pytest.raises(ValueError, match="GPU"):
        iso.project(scan, grid, x, out=np.empty(scan.shape, np.float32))
    with pytest.raises(ValueError, match="GPU"):
        iso.project(scan, grid, volume, out=space.put(readings))
    if not isinstance(space, Plain):
        with pytest.raises(ValueError, match="gaps|shape"):
            iso.project(scan, grid, x[::2])
    with pytest.raises(ValueError, match="memory"):
        iso.project(scan, grid, x, memory="1GiB")
    with pytest.raises(TypeError, match="host"):
        iso.readings.centre_of_rotation(space.put(readings))
    with pytest.raises(TypeError, match="host"):
        iso.dose.Beam(space.put(volume[0].astype(np.float64)), field=(-1, 1, -1, 1))


def test_volumes_on_the_host_pass_through_the_gpu(scan, grid, volume):
    whole = iso.project(scan, grid, volume, sum="reproducible")
    assert np.array_equal(iso.project(scan, grid, volume, memory="64MB"), whole)


@pytest.mark.parametrize("arrays", ["cupy", "torch"])
def test_verify(arrays):
    """The hashes of the library's test of bits, computed on the GPU."""
    {"cupy": Cupy, "torch": Torch}[arrays]()  # where it is there
    checks = iso.verify(arrays)
    assert len(checks) == 76
    assert [check for check in checks if not check.passed] == []


def test_info_names_the_gpu():
    gpu = iso.info()["gpu"]
    assert "NVIDIA" in gpu["processor"] and gpu["memory_bytes"] > 0


SMALL = """
import sys
import threading
import time
sys.path.insert(0, "TESTS")
import numpy as np
import isocenter as iso
import test_gpu
scan = iso.Geometry.circular_parallel(
    pixels=(8, 8), pitch=(1.0, 1.0), angles=iso.even_angles(4, np.pi)
)
grid = iso.Grid((8, 8, 8), (1.0, 1.0, 1.0))
space = test_gpu.SPACE()
x = space.put(np.ones(grid.shape, np.float32))
""".replace("TESTS", str(TOP / "python/tests"))

ENDS = {
    "a projector": "kept = iso.Projector(scan, grid)\nkept(x)",
    # Some objects that sys holds outlive the interpreter.
    "held by sys": "A = iso.Projector(scan, grid)\nsys.kept = A, A.T, A(x), x, iso.Fdk(scan, grid)",
    "in a cycle": "A = iso.Projector(scan, grid)\ncycle = [A, A(x)]\ncycle.append(cycle)",
    "a reordered array": "sys.kept = iso.native(x), iso.project(scan, grid, x)",
    "an exception": "sys.kept = iso.Projector(scan, grid)\nsys.kept(x)\nsys.exit(0)",
    "a daemon inside": """
def work():
    A = iso.Projector(scan, grid)
    while True:
        A(x)
threading.Thread(target=work, daemon=True).start()
time.sleep(1)
""",
    "daemons that share": """
A = sys.kept = iso.Projector(scan, grid)
def work():
    try:
        while True:
            A.T(A(x))
    except BaseException:  # what arrays are made by may be gone
        pass
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(1)
""",
}

def test_a_forked_child_computes_on_the_host_alone():
    run_python(
        SMALL.replace("SPACE", "Plain")
        + """
import os
import warnings
warnings.simplefilter("ignore")
ones = np.ones(grid.shape, np.float32)
lines = iso.project(scan, grid, ones)
out = space.put(lines)
iso.project(scan, grid, x, out=out)
child = os.fork()
if child == 0:
    iso.use("serial")
    try:
        iso.project(scan, grid, x, out=out)
        os._exit(3)
    except RuntimeError as error:
        assert "no GPU" in str(error) and "spawn" in str(error), error
    # Memory of the host is given back here.
    assert np.array_equal(iso.project(scan, grid, ones), lines)
    assert np.array_equal(iso.Projector(scan, grid)(ones), lines)
    gpu = iso.info()["gpu"]
    assert gpu.startswith("none is used") and "forked" in gpu, gpu
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert np.array_equal(space.get(out), lines)
"""
    )


#: What uses no more than arrays.
THEIRS = """
def work():
    while True:
        x.__dlpack__()
        x + x
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(1)
"""


@pytest.mark.parametrize("ending", ENDS)
def test_a_process_ends_without_a_word(space, ending):
    """No signal ends it, whatever of the GPU is held or runs, and nothing is written.

    Beside other threads Kokkos stays, and its line comes: what they hold may go at any time.
    """
    begin = SMALL.replace("SPACE", type(space).__name__)
    if "daemon" in ending and not isinstance(space, Plain):
        # Such a thread may be in the framework too.
        done = subprocess.run([sys.executable, "-c", begin + THEIRS], capture_output=True)
        if done.returncode != 0:
            pytest.skip("the framework's own calls in a daemon thread end a process by a signal")
    _, said = run_python(begin + ENDS[ending])
    line = r"(Kokkos::Cuda ERROR: Failed to call Kokkos::Cuda::finalize\(\)\n)?"
    assert re.fullmatch(line if "daemon" in ending else "", said), said


def test_without_a_gpu_the_host_is_used():
    if not list(pathlib.Path(iso.__file__).parent.glob("_core*.so")):
        pytest.skip("isocenter's own module is not installed beside the plug-in")
    out, _ = run_python(
        "import isocenter; print(isocenter.info()['gpu'])", env={"CUDA_VISIBLE_DEVICES": ""}
    )
    assert "counts no GPU" in out
    out, _ = run_python(
        "import isocenter; print(isocenter.info()['gpu'])", env={"ISOCENTER_MODULE": "host"}
    )
    assert "ISOCENTER_MODULE" in out


def test_ten_thousand_calls_keep_memory(space, scan, grid, volume):
    x = space.put(volume)
    y = iso.project(scan, grid, x)
    with iso.Projector(scan, grid) as A:
        for _ in range(100):
            A(x, out=y)
        before = iso.info()["gpu"]["memory_free_bytes"]
        for _ in range(10_000):
            A(x, out=y)
        assert before - iso.info()["gpu"]["memory_free_bytes"] < 32 << 20
