# SPDX-License-Identifier: BSD-3-Clause
"""Copies a wheel, compressed as far as it goes: `repack.py FROM TO`. The extension module is nearly
all of it, and the build's own level leaves 1 % of that."""

import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as source, zipfile.ZipFile(sys.argv[2], "w") as result:
    for member in source.infolist():
        result.writestr(member, source.read(member), zipfile.ZIP_DEFLATED, 9)
