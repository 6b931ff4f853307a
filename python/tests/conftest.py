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

#: Before a release: what takes minutes.
RELEASE = int(os.environ.get("ISO_EXAMPLES", "300")) >= 10_000

#: Seconds after which a process hangs, on cores that others keep busy too.
HANG = 1800

#: The environment of a program whose calls last on many cores too.
TWO_THREADS = {"OMP_NUM_THREADS": "2"}

#: Functions of a program that is interrupted after some seconds, and then calls print_seconds().
#: Time is the main thread's on a processor, a half of two: busy cores make it no longer.
INTERRUPT = """
import os, signal, threading, time
main_clock = time.pthread_getcpuclockid(threading.main_thread().ident)
def interrupt(seconds):
    time.sleep(seconds)
    interrupt.at = time.clock_gettime(main_clock)
    os.kill(os.getpid(), signal.SIGINT)
def interrupt_after(seconds):
    thread = threading.Thread(target=interrupt, args=(seconds,))
    thread.start()
    return thread
def print_seconds():
    print(time.clock_gettime(main_clock) - interrupt.at)
"""


def run_python(code, *, fails=False, timeout=HANG, env=None):
    """Run code in a process of its own; return (standard output, standard error)."""
    program = textwrap.dedent(code)
    if "interrupt_after" in code:
        program = INTERRUPT + program
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
    )
    if not fails and done.returncode != 0:  # whole: what an assertion shows is cut
        pytest.fail(f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
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
