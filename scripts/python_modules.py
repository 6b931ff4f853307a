# SPDX-License-Identifier: BSD-3-Clause
"""Modules that do not come with Python: found in .deps/venv, or asked for in one sentence."""
import importlib.util
import os
import pathlib
import sys

VENV = pathlib.Path(__file__).resolve().parent.parent / ".deps" / "venv"


def missing(*modules):
    """Those that Python does not find. Where some are missing and scripts/setup.sh has made its
    virtual environment, the script starts anew with that environment's Python instead."""
    absent = [name for name in modules if importlib.util.find_spec(name) is None]
    python = VENV / "bin" / "python"
    if absent and python.exists() and pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        sys.stdout.flush()
        # Before 3.10, Python does not keep its own options.
        os.execv(python, [str(python), *getattr(sys, "orig_argv", ["", *sys.argv])[1:]])
    return absent


def need(*modules, install=None):
    """Ends the script with status 2 where modules are missing. `install` are the names of the
    packages that have them, where these differ or a version matters."""
    absent = missing(*modules)
    if absent:
        names = ", ".join(absent)
        packages = install or " ".join(absent)
        setup = "run scripts/setup.sh, or " if not install and VENV.parent.parent.joinpath(
            "scripts", "setup.sh").exists() else ""
        sys.stderr.write(f"{pathlib.Path(sys.argv[0]).name}: Python lacks {names} "
                         f"({sys.executable}); {setup}python3 -m pip install {packages}\n")
        raise SystemExit(2)


def __getattr__(name):
    """`from python_modules import np`: NumPy, or the end that `need` makes."""
    if name != "np":
        raise AttributeError(name)
    need("numpy")
    import numpy

    return numpy
