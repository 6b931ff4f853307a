# SPDX-License-Identifier: BSD-3-Clause
"""Matrices as Matrix Market text: coordinate, real, integer or pattern, general or symmetric."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ._common import Path, check_regular, refuse, replacing

_LONGEST = 4096
_WHOLE = re.compile(r"[+-]?[0-9]+")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class _Lines:
    """The lines of a file with their numbers."""

    def __init__(self, path: Path, text: bytes) -> None:
        self.path, self.number = path, 0
        self._lines = iter(text.split(b"\n"))

    def __iter__(self) -> Iterator[str]:
        for raw in self._lines:
            self.number += 1
            if len(raw) > _LONGEST:
                self.refuse(f"is longer than {_LONGEST} characters (damaged, or not a text)")
            yield raw.decode("latin-1").strip(" \t\r")

    def data(self) -> Iterator[str]:
        """Give the lines that are neither empty nor comments."""
        return (line for line in self if line and not line.startswith("%"))

    def refuse(self, sentence: str) -> NoReturn:
        refuse(self.path, f"line {self.number} {sentence}; fetch or write it again")


def _whole(lines: _Lines, word: str, what: str) -> int:
    if not _WHOLE.fullmatch(word) or not -(2**63) <= int(word) < 2**63:
        lines.refuse(f"has '{word[:80]}' as {what} (a whole number is expected)")
    return int(word)


def _value(lines: _Lines, word: str, kind: str) -> float:
    if kind == "integer":
        value = _whole(lines, word, "a value")
        if int(float(value)) != value:
            lines.refuse(f"has the value '{word[:80]}' (no double is it)")
        return float(value)
    if not _REAL.fullmatch(word):
        lines.refuse(f"has '{word[:80]}' as a value (a finite number is expected)")
    number = float(word)
    digits = re.split("[eE]", word)[0]
    if math.isinf(number) or (number == 0 and re.search("[1-9]", digits)):
        lines.refuse(f"has the value '{word[:80]}' (no double is it)")
    return number


def _banner(lines: _Lines) -> tuple[str, str]:
    words = next(iter(lines), "").lower().split()
    if len(words) != 5 or words[:3] != ["%%matrixmarket", "matrix", "coordinate"]:
        lines.refuse("is not '%%MatrixMarket matrix coordinate ...' (another format, or damaged)")
    if words[3] not in ("real", "integer", "pattern") or words[4] not in ("general", "symmetric"):
        lines.refuse(
            f"says {words[3]} {words[4]} (real, integer, pattern; general, symmetric are read)"
        )
    return words[3], words[4]


def _max_rows(entries: int) -> int:
    return max(1 << 24, 64 * min(entries, 2**31 - 1))


def read_market(path: Path) -> tuple[npt.NDArray[Any], ...]:
    """Read data, indices, indptr and shape of a matrix by rows, its columns ascending."""
    check_regular(path)
    with open(path, "rb") as file:
        text = file.read()
    lines = _Lines(path, text)
    kind, symmetry = _banner(lines)
    content = lines.data()
    sizes = [_whole(lines, word, "a size") for word in next(content, "").split()]
    if len(sizes) != 3 or min(sizes) < 0 or max(sizes[:2]) >= 2**31:
        lines.refuse("is not 'rows columns entries' (three whole numbers are expected)")
    rows, columns, count = sizes
    shortest = 4 if kind == "pattern" else 6
    if count > (len(text) + 1) // shortest or rows > _max_rows(count):
        lines.refuse(f"claims {rows} rows and {count} entries (the file cannot hold them)")
    if symmetry == "symmetric" and rows != columns:
        lines.refuse(f"has a symmetric matrix of {rows} x {columns} (it must be square)")
    at = np.empty((count, 2), np.int64)
    values = np.ones(count)
    found = 0
    for line in itertools.islice(content, count):
        words = line.split()
        if len(words) != (2 if kind == "pattern" else 3):
            lines.refuse("is no entry (row, column and value are expected)")
        row, column = _whole(lines, words[0], "a row"), _whole(lines, words[1], "a column")
        if not 1 <= row <= rows or not 1 <= column <= columns:
            lines.refuse(f"has the entry ({row}, {column}) outside of {rows} x {columns}")
        if symmetry == "symmetric" and column > row:
            lines.refuse(f"has the entry ({row}, {column}) above the diagonal")
        at[found] = row - 1, column - 1
        if kind != "pattern":
            values[found] = _value(lines, words[2], kind)
        found += 1
    if found < count:
        lines.refuse(f"ends after {found} of {count} entries (truncated)")
    if next(content, None) is not None:
        lines.refuse(f"follows the {count} entries that the file says")
    if symmetry == "symmetric":
        mirrored = at[:, 0] != at[:, 1]
        at = np.concatenate([at, at[mirrored][:, ::-1]])
        values = np.concatenate([values, values[mirrored]])
    order = np.lexsort((at[:, 1], at[:, 0]))
    at, values = at[order], values[order]
    twice = (np.diff(at, axis=0) == 0).all(axis=1)
    if twice.any():
        row, column = at[int(np.argmax(twice))] + 1
        refuse(path, f"has the entry ({row}, {column}) twice; add them, or leave one out")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(at[:, 0], minlength=rows))])
    return values, at[:, 1].astype(np.int32), indptr.astype(np.int64), np.array([rows, columns])


def write_market(path: Path, data: Any, indices: Any, indptr: Any, shape: Any) -> None:
    """Write a matrix as coordinate real general."""
    rows, columns = (int(n) for n in shape)
    if rows > _max_rows(len(data)):
        refuse(path, f"would have {rows} rows for {len(data)} entries; write .h5")
    row_of = np.repeat(np.arange(rows), np.diff(indptr))
    order = np.lexsort((indices, row_of))
    same = (np.diff(row_of[order]) == 0) & (np.diff(np.asarray(indices)[order]) == 0)
    if same.any():
        refuse(path, "would have an entry twice; call the matrix's method sum_duplicates")
    with replacing(path) as temporary, open(temporary, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {columns} {len(data)}\n")
        for i in order:
            file.write(f"{row_of[i] + 1} {indices[i] + 1} {float(data[i])!r}\n")
