# SPDX-License-Identifier: BSD-3-Clause
"""Bits beside those of C++."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import isocenter as iso
from conftest import HANG, TOP


def test_verify(backend):
    checks = iso.verify()
    assert len(checks) == 76  # as docs/python.md has it
    assert [check for check in checks if not check.passed] == []


def hashes(text):
    return dict(re.findall(r"([a-z0-9_]+ (?:float|double)) ([0-9a-f]{16})$", text, re.MULTILINE))


def hashes_of_parity():
    """Those that the test of bits printed in the last run of ctest, else some of its operations."""
    build = pathlib.Path(os.environ.get("ISO_BUILD", TOP / "build" / "openmp"))
    program, log = build / "tests/parity/iso_parity", build / "Testing/Temporary/LastTest.log"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    if log.exists() and log.stat().st_mtime > program.stat().st_mtime:
        # As .ci/run takes them.
        test = re.search(r'^"parity" start time.*?^<end of output>', log.read_text(), re.M | re.S)
        if test:
            return hashes(test[0]), 76
    done = subprocess.run(
        [program, "2", "7"], capture_output=True, text=True, check=True, timeout=HANG
    )
    return hashes(done.stdout), 4


def test_hashes_are_those_of_iso_parity():
    printed, least = hashes_of_parity()
    shipped = hashes(pathlib.Path(iso.__file__).with_name("hashes.txt").read_text())
    assert len(shipped) == 76
    common = printed.keys() & shipped.keys()
    assert len(common) >= least
    assert {name: printed[name] for name in common} == {name: shipped[name] for name in common}


def test_arrays_on_a_gpu_need_the_plug_in():
    if iso._core.has_cuda:
        pytest.skip("isocenter-cu13 is loaded")
    with pytest.raises(ValueError, match="verify: arrays of cupy .* install isocenter-cu13"):
        iso.verify("cupy")
    with pytest.raises(ValueError, match="verify: arrays 'jax' .* choose one"):
        iso.verify("jax")


class OnAGpu:
    """Stands in for a framework: arrays in its hands, which NumPy does not take."""

    def __init__(self):
        self.there = []

    def asarray(self, x):
        self.there.append(x.copy())
        return self.there[-1]

    def asnumpy(self, x):
        return np.ascontiguousarray(x)


def test_put_and_get_keep_the_order_of_memory(monkeypatch):
    from isocenter import _verify

    monkeypatch.setitem(sys.modules, "cupy", OnAGpu())
    on = _verify._Arrays("cupy")
    x = np.arange(24.0).reshape(2, 3, 4)
    for turn in ((0, 1, 2), (0, 2, 1), (2, 1, 0)):
        laid = x.transpose(turn)
        for found in (on.put(laid), _verify._Arrays("cupy").get(Strided(laid))):
            assert np.array_equal(found, laid) and found.strides == laid.strides


class Strided:
    """No array of NumPy, but its axes."""

    def __init__(self, x):
        self.x, self.strides = x, x.strides

    def transpose(self, turn):
        return self.x.transpose(turn)


def test_a_wrong_bit_is_found(monkeypatch):
    from isocenter import _verify

    monkeypatch.setattr(_verify, "_in_unit", lambda count, *rest: _verify.np.zeros(count))
    assert not all(check.passed for check in iso.verify())
