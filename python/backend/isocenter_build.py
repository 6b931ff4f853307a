# SPDX-License-Identifier: BSD-3-Clause
"""The build backend: scikit-build-core's, which first says where a build takes long.

pip and others hide what a backend prints, so that half an hour would pass without a word. What is
missing CMake names (CMakeLists.txt), which pip shows where a build fails.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import scikit_build_core.build as _backend
from scikit_build_core.build import *  # noqa: F403: the other hooks

NOTICE = (
    "[isocenter] no built library is named (Isocenter_ROOT): it is compiled too, which takes half "
    "an hour on two cores; stop it by Ctrl-C, and scripts/wheel.sh takes the one that is built"
)


def is_given(settings: dict[str, Any] | None) -> bool:
    """Whether CMake is told of a library, by any of the ways that scikit-build-core has."""
    told = [str(settings or {})]
    told += [text for name, text in os.environ.items() if name.startswith(("CMAKE_", "SKBUILD_"))]
    return any("Isocenter_ROOT" in text or "Isocenter_DIR" in text for text in told)


def say_of(settings: dict[str, Any] | None) -> None:
    """Say so where the library is compiled too."""
    if not is_given(settings):
        say(NOTICE)


def say(text: str) -> None:
    """Write to the terminal where there is one: standard error is the frontend's."""
    try:
        with open("/dev/tty", "w") as terminal:
            terminal.write(f"\n{text}\n")
    except OSError:
        print(text, file=sys.stderr, flush=True)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    say_of(config_settings)
    return _backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    say_of(config_settings)
    return _backend.build_editable(wheel_directory, config_settings, metadata_directory)
