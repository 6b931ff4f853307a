# SPDX-License-Identifier: BSD-3-Clause
"""Bits beside those of C++."""

import pathlib
import subprocess

import pytest

import isocenter as iso
from conftest import TOP


def test_verify(backend):
    checks = iso.verify()
    assert len(checks) == 76  # as docs/python.md has it
    assert [check for check in checks if not check.passed] == []


def test_hashes_are_those_of_iso_parity():
    program = TOP / "build" / "openmp" / "tests" / "parity" / "iso_parity"
    if not program.exists():
        pytest.skip("iso_parity is not built")
    # Some of its operations: all take longer.
    text = subprocess.run(
        [program, "2", "7"], capture_output=True, text=True, check=True, timeout=600
    ).stdout
    printed = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.count(" ") == 2)
    file = pathlib.Path(iso.__file__).with_name("hashes.txt")
    shipped = dict(line.rsplit(" ", 1) for line in file.read_text().splitlines())
    common = printed.keys() & shipped.keys()
    assert len(common) >= 4
    assert {name: printed[name] for name in common} == {name: shipped[name] for name in common}


def test_a_wrong_bit_is_found(monkeypatch):
    from isocenter import _verify

    monkeypatch.setattr(_verify, "_in_unit", lambda count, *rest: _verify.np.zeros(count))
    assert not all(check.passed for check in iso.verify())
