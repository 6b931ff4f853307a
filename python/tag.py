# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tag of a wheel that this Python builds: of its stable interface from 3.12 on."""

import platform
import sys

name = "cp{}{}".format(*sys.version_info[:2])
abi = (name, name) if sys.version_info < (3, 12) else ("cp312", "abi3")
print("-".join([*abi, "manylinux_2_34_" + platform.machine()]))
