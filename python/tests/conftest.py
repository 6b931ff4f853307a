# SPDX-License-Identifier: BSD-3-Clause
"""Scans and arrays that tests share."""

import os
import pathlib
import subprocess
import sys
import textwrap

# On busy cores the threads of OpenMP must not spin.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

import isocenter as iso  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]


def run_python(code, *, fails=False, timeout=120, env=None):
    """Run code in a process of its own; return (standard output, standard error)."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
    )
    assert fails or done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


@pytest.fixture
def scan():
    return iso.Geometry.circular_cone(
        pixels=(24, 20),
        pitch=(2.0, 2.5),
        source_axis=100.0,
        source_detector=150.0,
        angles=iso.even_angles(12, 2 * np.pi),
    )


@pytest.fixture
def grid():
    return iso.Grid((13, 11, 9), (1.5, 1.0, 2.0))


@pytest.fixture
def volume(grid):
    return np.random.default_rng(1).random(grid.shape, dtype=np.float32)


@pytest.fixture
def readings(scan):
    return np.random.default_rng(2).random(scan.shape, dtype=np.float32)


@pytest.fixture(params=["openmp", "serial"])
def backend(request):
    iso.use(request.param)
    yield request.param
    iso.use("openmp")
