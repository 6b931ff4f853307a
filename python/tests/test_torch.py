# SPDX-License-Identifier: BSD-3-Clause
"""Beside PyTorch itself: its tensors on the host, its threads, its workers. Where it is there."""

import numpy as np
import pytest

import isocenter as iso
from conftest import run_python

torch = pytest.importorskip("torch")


def test_tensors_give_tensors(scan, grid, volume):
    x = torch.from_numpy(volume)
    wanted = iso.project(scan, grid, volume)
    found = iso.project(scan, grid, x)
    assert isinstance(found, torch.Tensor) and np.array_equal(found.numpy(), wanted)
    out = torch.zeros(scan.shape)
    with iso.Projector(scan, grid) as A:
        assert A(x, out=out) is out and np.array_equal(out.numpy(), wanted)
        assert np.array_equal((A.T @ found).numpy(), A.T @ wanted)
    # In the library's order of memory a tensor is used where it lies.
    native = x.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    iso.counters(reset=True)
    again = iso.project(scan, grid, native, copy=False)
    assert iso.counters()["reorders"] == 0 and np.array_equal(again.numpy(), wanted)


def test_tensors_that_require_grad_are_refused(scan, grid, volume):
    x = torch.from_numpy(volume).requires_grad_()
    with pytest.raises((TypeError, ValueError), match="detach"):
        iso.project(scan, grid, x)
    out = torch.zeros(scan.shape, requires_grad=True)
    with pytest.raises((TypeError, ValueError), match="detach"):
        iso.project(scan, grid, volume, out=out)
    with iso.Projector(scan, grid) as A, pytest.raises((TypeError, ValueError), match="detach"):
        A(x)
    assert np.isfinite(iso.project(scan, grid, x.detach()).numpy()).all()


def test_expanded_tensors_and_gaps_are_refused(scan, grid):
    z, y, x = grid.shape
    plane = torch.ones((1, y, x)).expand(z, y, x)
    for given in (plane, torch.ones((2 * z, y, x))[::2], torch.ones((z, y, 2 * x))[:, :, ::2]):
        with pytest.raises(ValueError, match="volume"):
            iso.project(scan, grid, given)
        assert iso.project(scan, grid, given.contiguous()).shape == scan.shape


SMALL = """
import numpy as np, torch
{more}
import isocenter as iso
scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0, 1.0])
grid = iso.Grid((8, 8, 8))
x = np.ones(grid.shape, np.float32)
"""


@pytest.mark.parametrize("more", ["", "torch.ones(1 << 20).sum()"])
def test_its_threads_stay(more):
    """Kokkos sets the process's OpenMP threads as it starts; they are set back."""
    out, _ = run_python(
        SMALL.format(more=f"torch.set_num_threads(3)\n{more}")
        + """
for count in (1, 2, None):
    iso.set_threads(count)
    iso.project(scan, grid, x)
    assert torch.get_num_threads() == 3, torch.get_num_threads()
files = {line.split()[-1] for line in open("/proc/self/maps") if "/libgomp" in line}
print(len(files))
"""
    )
    assert out == "1\n"


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_of_a_data_loader(workers):
    """They are forked: before the parent has computed they compute, and after it on one thread."""
    run_python(
        SMALL.format(more="import warnings\nwarnings.simplefilter('ignore')")
        + f"""
import multiprocessing
class Scans(torch.utils.data.Dataset):
    def __init__(self, forked):
        self.forked = forked
    def __len__(self):
        return 6
    def __getitem__(self, n):
        if self.forked and {workers}:
            try:
                iso.use("openmp")
                iso.project(scan, grid, x)
                raise AssertionError("no refusal")
            except RuntimeError as error:
                assert "spawn" in str(error), error
            iso.use("serial")
        return n * torch.from_numpy(iso.project(scan, grid, x))
def loaded(forked):
    context = multiprocessing.get_context("fork") if {workers} else None
    return list(torch.utils.data.DataLoader(
        Scans(forked), batch_size=2, num_workers={workers}, multiprocessing_context=context))
first = loaded(False)
wanted = torch.from_numpy(iso.project(scan, grid, x))
for batches in (first, loaded(True)):
    assert len(batches) == 3
    for n, part in enumerate(torch.cat(batches)):
        assert torch.equal(part, n * wanted)
"""
    )
