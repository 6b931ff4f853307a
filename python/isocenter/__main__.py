# SPDX-License-Identifier: BSD-3-Clause
"""python -m isocenter: what calls run on."""

from . import info

for name, value in info().items():
    print(f"{name:18} {value}")
