# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of mpi4py: the bits of one process for any number of them."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import isocenter as iso
from conftest import HANG, run_python

PROGRAM = pathlib.Path(__file__).with_name("ranks_program.py")


def why_not():
    """Why no ranks can run here; None where they can."""
    if shutil.which("mpirun") is None:
        return "mpirun is not installed"
    done = subprocess.run(
        [sys.executable, "-c", "import mpi4py.MPI"], capture_output=True, text=True, env=ENVIRONMENT
    )
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


#: Open MPI refuses more ranks than cores, and the user root, unless it is told.
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
REASON = why_not()
needs_ranks = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@needs_ranks
@pytest.mark.parametrize(
    ("ranks", "kind"), [(1, "compare"), (2, "compare"), (3, "compare"), (2, "refuse")]
)
def test_ranks(ranks, kind):
    command = ["mpirun", "-n", str(ranks), sys.executable, "-P", "-m", "mpi4py", str(PROGRAM), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("same on rank") == ranks


def test_without_mpi4py_a_sentence_names_it():
    out, _ = run_python(
        """
        import sys
        sys.modules["mpi4py"] = None
        import isocenter
        try:
            isocenter.mpi.Ranks()
        except ImportError as error:
            print(error)
        """
    )
    assert "isocenter[mpi]" in out


@needs_ranks
def test_what_is_no_communicator_is_refused():
    out, _ = run_python(
        """
        import isocenter
        from mpi4py import MPI
        for comm in (3, MPI.COMM_NULL):
            try:
                isocenter.mpi.Ranks(comm)
            except (TypeError, ValueError) as error:
                print(type(error).__name__, error)
        """,
        env=ENVIRONMENT,
    )
    assert "TypeError mpi.Ranks: comm is of type int" in out and "ValueError mpi.Ranks" in out


def test_what_is_no_plan_is_refused(scan, grid):
    part = np.zeros(scan.shape, np.float32)
    for call in (iso.mpi.fdk, iso.mpi.project, iso.mpi.back_project):
        with pytest.raises(TypeError, match="mpi.* plan is of type int"):
            call(3, part)
    with pytest.raises(TypeError, match="mpi.Plan: ranks is of type"):
        iso.mpi.Plan(3, scan, grid)
    with pytest.raises(TypeError, match="mpi.Planes: ranks is of type"):
        iso.mpi.Planes(3, grid)
    for call in (lambda: iso.mpi.gamma(part, part, 3), lambda: iso.mpi.Calculator(3)):
        with pytest.raises(TypeError, match="mpi.* planes is of type int"):
            call()
    with pytest.raises(TypeError, match="mpi.Dvh: planes is of type int"):
        organ = iso.Structure([[[0, 0, 0], [9, 0, 0], [0, 9, 0]]], slice_thickness=2.0)
        iso.mpi.Dvh(organ, 3, part)
    with pytest.raises(TypeError, match="mpi.DoseMatrix: ranks is of type int"):
        iso.mpi.DoseMatrix(3, part)
