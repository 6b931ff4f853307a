# SPDX-License-Identifier: BSD-3-Clause
"""Reads PNG files as the tool writes them, for the tests of the tool (PYTHONPATH is theirs)."""
import struct
import zlib


def restore(kind, line, above, size):
    """Adds to each byte of `line` what the filter `kind` foretold, by those left and above."""
    if kind == 1:
        for i in range(size, len(line)):
            line[i] = (line[i] + line[i - size]) & 255
    elif kind == 2:
        line[:] = bytes((x + b) & 255 for x, b in zip(line, above))
    elif kind > 2:
        left, corner = bytearray(size) + line, bytes(size) + above
        for i, b in enumerate(above):
            a, c = left[i], corner[i]
            if kind == 3:
                told = (a + b) // 2
            else:
                to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - c - c)
                told = a if to_a <= to_b and to_a <= to_c else b if to_b <= to_c else c
            line[i] = left[i + size] = (line[i] + told) & 255


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
        restore(kind, line, above, size)
        rows.append(line)
        above = line
    return width, rows
