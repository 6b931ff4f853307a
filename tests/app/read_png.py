# SPDX-License-Identifier: BSD-3-Clause
"""Reads PNG files as the tool writes them, for the tests of the tool (PYTHONPATH is theirs)."""
import struct
import zlib


def rows_of(path, size):
    """(width, rows as bytes); a pixel has `size` bytes."""
    with open(path, "rb") as file:
        png = file.read()
    at, packed, width, height = 8, b"", 0, 0
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", png, at + 8)
        packed += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    raw, long, rows = zlib.decompress(packed), size * width, []
    above = bytearray(long)
    for r in range(height):
        begin = r * (long + 1)
        kind, line = raw[begin], bytearray(raw[begin + 1:begin + 1 + long])
        for i in range(long):
            a, b, c = (line[i - size], above[i], above[i - size]) if i >= size else (0, above[i], 0)
            nearest = min((a, b, c), key=lambda q: abs(a + b - c - q))
            line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append(line)
        above = line
    return width, rows
