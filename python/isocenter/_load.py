# SPDX-License-Identifier: BSD-3-Clause
"""Loads the extension module: that of isocenter-cu13 where it is installed and a GPU is counted.

One module is loaded in a process. Waiting threads of OpenMP sleep soon.

By default threads of GCC's OpenMP spin for milliseconds before they sleep. Where other programs
keep the cores busy, small calls then take a hundred times as long. libgomp reads its variables when
it is loaded: where the user has set none and no other package has loaded it under its own name,
threads spin for about a microsecond. The environment is left as it was.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import sys

#: Why the module for GPUs is not the one that is loaded; empty where it is.
reason = ""


def _loaded() -> bool:
    # A copy under another name, as some wheels carry it, is another runtime with its own variables.
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any("/libgomp.so.1" in line for line in maps)
    except OSError:
        return False


def _visible(count: int) -> int:
    """Return how many of so many GPUs CUDA_VISIBLE_DEVICES leaves: those before a wrong entry."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return count
    names = [name.strip() for name in chosen.split(",")]
    seen = 0
    for name in names:
        if not (name.startswith(("GPU-", "MIG-")) or (name.isdigit() and int(name) < count)):
            break
        seen += 1
    return seen


def _count_gpus() -> int:
    """Return how many GPUs the driver counts, without a runtime of CUDA.

    The management library is asked first: a process whose driver was initialised has no GPU in the
    children that it forks, even where it has computed nothing.
    """
    count = ctypes.c_uint(0)
    try:
        management = ctypes.CDLL("libnvidia-ml.so.1")
        if (
            management.nvmlInit_v2() == 0
            and management.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
        ):
            # Those that the process may use: others are counted too.
            handle = ctypes.c_void_p(0)
            usable = sum(
                management.nvmlDeviceGetHandleByIndex_v2(n, ctypes.byref(handle)) == 0
                for n in range(count.value)
            )
            return _visible(usable)
    except (OSError, AttributeError):
        pass
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value


def _plug_in() -> str:
    """Put the module of isocenter-cu13 in the place of the own one, or return why not."""
    if os.environ.get("ISOCENTER_MODULE", "") == "host":
        return "ISOCENTER_MODULE is host"
    if importlib.util.find_spec("isocenter_cu13") is None:
        return "isocenter-cu13 is not installed"
    if _count_gpus() == 0:
        return "the driver of CUDA counts no GPU, or is not installed"
    try:
        module = importlib.import_module("isocenter_cu13._core")
    except ImportError as error:
        return f"the module of isocenter-cu13 cannot be loaded ({error})"
    package = sys.modules[__package__]
    sys.modules[f"{__package__}._core"] = module
    setattr(package, "_core", module)
    return ""


def load() -> None:
    """Import the extension module."""
    global reason
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    quiet = not any(name in os.environ for name in names) and not _loaded()
    if quiet:
        os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        reason = _plug_in()
        from . import _core  # noqa: F401
    finally:
        if quiet:
            del os.environ["GOMP_SPINCOUNT"]


load()
