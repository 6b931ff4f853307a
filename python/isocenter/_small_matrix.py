# SPDX-License-Identifier: BSD-3-Clause
"""The matrix of the library's own test of bits, by the formulas of iso/synthetic/generate.hpp.

`verify` multiplies with it. What the library's generator would add to the wheel is more than this.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core

_Numbers = npt.NDArray[Any]

SHAPE = 3000, 7000
_ENTRIES, _EMPTY, _SHORT, _LONGEST, _SIMILARITY, _SEED = 300_000, 0.5, 0.1, 2900, 0.75, 1
_STRETCH, _CELL, _RUN, _CAP = 32, 64, 28, 40  # rows, columns, and entries of a run
_CELLS = (SHAPE[1] - _CELL) // _CELL
_GOLDEN = 0x9E3779B97F4A7C15


def mixed(x: _Numbers) -> _Numbers:
    """The finaliser of splitmix64."""
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed_in: _Numbers = x ^ (x >> np.uint64(31))
    return mixed_in


def _key(key: _Numbers, index: _Numbers | int) -> _Numbers:
    with np.errstate(over="ignore"):
        step = (np.asarray(index).astype(np.uint64) + np.uint64(1)) * np.uint64(_GOLDEN)
        return mixed(np.asarray(key, np.uint64) + step)


def _unit(key: _Numbers) -> _Numbers:
    return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _floor(x: _Numbers) -> _Numbers:
    return x.astype(np.int64)


def _ordered(key: _Numbers, count: int, index: _Numbers) -> _Numbers:
    """Places in a random order: a Feistel network, walked until it lands below the count."""
    half = 1
    while 1 << 2 * half < count:
        half += 1
    mask, bits = np.uint64((1 << half) - 1), np.uint64(half)
    x = index.astype(np.uint64)
    outside = np.ones(x.shape, bool)
    while outside.any():
        left, right = x >> bits, x & mask
        for turn in range(4):
            with np.errstate(over="ignore"):
                turned = _key(key + np.uint64(turn), right)
            left, right = right, left ^ (turned & mask)
        x = np.where(outside, left << bits | right, x)
        outside = x >= count
    return x.astype(np.int64)


def _quantiles(seed: _Numbers, which: int, count: int, index: _Numbers) -> _Numbers:
    """Where rows stand in the distribution of lengths; negative where they are empty."""
    filled = math.floor(count * (1 - _EMPTY) + 0.5)
    rank = _ordered(_key(seed, which), count, index)
    return np.where(rank < filled, (rank + 0.5) / filled, -1.0)


def _lengths(u: _Numbers, power: float) -> _Numbers:
    """The inverse of the distribution of lengths."""

    def exp(x: _Numbers) -> _Numbers:
        return _core.elementary("exp", x)

    def log(x: _Numbers) -> _Numbers:
        return _core.elementary("log", x)

    short = np.clip(_floor(exp(float.fromhex("0x1.bb9d3beb8c86bp+1") * (u / _SHORT))), 1, 31)
    t = (u - _SHORT) / (1 - _SHORT)
    part = np.where(t > 0, exp(power * log(np.where(t > 0, t, 1.0))), 0.0)
    long = _floor(32 * exp(math.log(_LONGEST / 32) * part))
    return np.where(u < _SHORT, short, np.clip(long, 32, _LONGEST))


def _power() -> float:
    """The power by which lengths have their mean."""
    points = (np.arange(8192) + 0.5) / 8192
    mean = _ENTRIES / math.floor(SHAPE[0] * (1 - _EMPTY) + 0.5)
    low, high, power = math.log(1e-3), math.log(1e3), 1.0
    for _ in range(60):
        middle = (low + high) / 2
        power = math.exp(middle)
        if _lengths(points, power).sum() / 8192 > mean:
            low = middle
        else:
            high = middle
    return power


def small_matrix() -> tuple[_Numbers, _Numbers, _Numbers]:
    """Return the offsets of rows, the columns, and values in float32, which are of float16."""
    seed = mixed(np.array((_SEED + _GOLDEN) % 2**64, np.uint64))
    share = math.floor((1 - _SIMILARITY) * 2**20 + 0.5)
    row = np.arange(SHAPE[0])
    q, i = row // _STRETCH, row % _STRETCH
    before = q * share >> 20
    alone = ((q + 1) * share >> 20) != before  # rows unlike their neighbours
    stretches = -(-SHAPE[0] // _STRETCH)
    others = stretches * share >> 20
    u = np.where(
        alone,
        _quantiles(seed, 2, others * _STRETCH, np.where(alone, before * _STRETCH + i, 0)),
        _quantiles(seed, 1, stretches - others, np.where(alone, 0, q - before)),
    )
    kept = np.flatnonzero(u >= 0)
    u, i, key = u[kept], np.where(alone, 0, i)[kept], _key(seed, np.where(alone, row, -1 - q))[kept]

    def draw(n: int) -> _Numbers:
        return _unit(_key(~key, n))

    power = _power()
    typical = _lengths(u, power)
    moved = u + 0.04 * (2 * draw(0) - 1) * (2 * i - _STRETCH) / (2 * _STRETCH)
    moved = np.where(moved < 0, -moved, np.where(moved > 1, 2 - moved, moved))
    wanted = 12 + _floor(draw(1) * (_RUN - 11))
    runs = np.minimum((typical + wanted - 1) // wanted, _CELLS)
    mean = (typical + runs - 1) // runs
    cap = np.minimum(3 * np.maximum(wanted, mean) // 2, _CAP)
    length = np.minimum(_lengths(moved, power), cap * runs)
    base, longer = length // runs, length % runs
    widest = np.minimum(8 * runs, _CELLS)
    spread = runs + _floor(draw(2) * (widest - runs + 1))
    first = _floor(draw(3) * (_CELLS - spread + 1))
    slack = (_CELL - 2 - (3 * cap // 2 + 1)).astype(np.float64)
    shift = (0.7 + 0.6 * draw(4)) * np.where(draw(5) < 0.5, i, _STRETCH - 1 - i)

    offsets = np.zeros(SHAPE[0] + 1, np.int64)
    offsets[kept + 1] = length
    offsets = np.cumsum(offsets)
    # Of each entry its row, its place in it and its run.
    r = np.repeat(np.arange(len(kept)), length)
    j = np.arange(len(r)) - np.repeat(np.cumsum(length) - length, length)
    key, base, longer, runs = key[r], base[r], longer[r], runs[r]

    def start(k: _Numbers) -> _Numbers:
        even = k * base + np.minimum(k, longer)
        part = _floor(_unit(_key(key, 3 * (k // 2))) * (base // 2 + 1))
        begin: _Numbers = np.where((k % 2 == 0) | (k >= runs), even, even + part)
        return begin

    in_longer = longer * (base + 1)
    k = np.where(
        j < in_longer, j // (base + 1), longer + (j - in_longer) // np.maximum(base, 1)
    )
    k = np.where((k % 2 == 1) & (j < start(k)), k - 1, k)
    begin, end = start(k), np.where(k + 1 < runs, start(k + 1), length[r])
    cell = first[r] + k * spread[r] // runs
    columns = cell * _CELL + _floor(slack[r] * _unit(_key(key, 3 * k + 1)) + shift[r]) + j - begin
    one, two = np.float32(1), np.float32(2)
    height = _unit(_key(key, 3 * k + 2)).astype(np.float32)
    place = (two * (j - begin).astype(np.float32) + one) / (end - begin).astype(np.float32) - one
    across = np.float32(2.25) * place
    # One fma.
    power_of_e = -8.0 * height.astype(np.float64) + (np.float32(-0.5) * across * across)
    values = np.float32(8) * _core.elementary("exp", power_of_e.astype(np.float32))
    return offsets, columns.astype(np.int32), values.astype(np.float16).astype(np.float32)
