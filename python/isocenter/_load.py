# SPDX-License-Identifier: BSD-3-Clause
"""Loads the extension module such that waiting threads of OpenMP sleep soon.

By default threads of GCC's OpenMP spin for milliseconds before they sleep. Where other programs
keep the cores busy, small calls then take a hundred times as long. libgomp reads its variables when
it is loaded: where the user has set none and no other package has loaded it under its own name,
threads spin for about a microsecond. The environment is left as it was.
"""

from __future__ import annotations

import os


def _loaded() -> bool:
    # A copy under another name, as some wheels carry it, is another runtime with its own variables.
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any("/libgomp.so.1" in line for line in maps)
    except OSError:
        return False


def load() -> None:
    """Import the extension module."""
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    quiet = not any(name in os.environ for name in names) and not _loaded()
    if quiet:
        os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        from . import _core  # noqa: F401
    finally:
        if quiet:
            del os.environ["GOMP_SPINCOUNT"]


load()
