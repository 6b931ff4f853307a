# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of CuPy and PyTorch on a GPU: scripts/test_python.sh --cuda, where there is one."""

import numpy as np
import pytest

import isocenter as iso
from conftest import run_python
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
        return self.cupy.asnumpy(x)

    def address(self, x):
        return x.data.ptr

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("torch has no GPU")

    def put(self, x):
        return self.torch.from_numpy(np.ascontiguousarray(x)).cuda()

    def get(self, x):
        assert isinstance(x, self.torch.Tensor) and x.is_cuda
        return x.cpu().numpy()

    def address(self, x):
        return x.data_ptr()

    def stream(self):
        stream = self.torch.cuda.Stream()
        return self.torch.cuda.stream(stream)


@pytest.fixture(params=[Cupy, Torch])
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


def test_gaps_and_mixtures_are_refused(space, scan, grid, volume, readings):
    x = space.put(volume)
    with pytest.raises(ValueError, match="GPU"):
        iso.project(scan, grid, x, out=np.empty(scan.shape, np.float32))
    with pytest.raises(ValueError, match="GPU"):
        iso.project(scan, grid, volume, out=space.put(readings))
    with pytest.raises(ValueError, match="gaps|shape"):
        iso.project(scan, grid, x[::2])
    with pytest.raises(ValueError, match="memory"):
        iso.project(scan, grid, x, memory="1GiB")
    with pytest.raises(TypeError, match="host"):
        iso.readings.noise_of_counts(space.put(readings), photons=1e5)


def test_volumes_on_the_host_pass_through_the_gpu(scan, grid, volume):
    whole = iso.project(scan, grid, volume, sum="reproducible")
    assert np.array_equal(iso.project(scan, grid, volume, memory="64MB"), whole)


def test_info_names_the_gpu():
    gpu = iso.info()["gpu"]
    assert "NVIDIA" in gpu["processor"] and gpu["memory_bytes"] > 0


def test_a_process_ends_without_a_word():
    # With a projector alive, whose memory is on the GPU.
    _, said = run_python(
        """
        import numpy as np
        import isocenter as iso
        xp = __import__("torch")
        scan = iso.Geometry.circular_parallel(
            pixels=(8, 8), pitch=(1.0, 1.0), angles=iso.even_angles(4, np.pi)
        )
        grid = iso.Grid((8, 8, 8), (1.0, 1.0, 1.0))
        kept = iso.Projector(scan, grid)
        kept(xp.ones(grid.shape, dtype=xp.float32, device="cuda"))
        """
    )
    assert said == ""


def test_without_a_gpu_the_host_is_used():
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
