# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions that have no class of their own in Python."""


class Cancelled(RuntimeError):
    """The end of a call whose ``cancel`` event was set. What it wrote is incomplete."""


class OutOfMemory(MemoryError):
    """Memory that was not there.

    Attributes
    ----------
    requested : int
        Bytes that were asked for.
    available : int
        Bytes that were free; 0 where the system does not tell.
    """

    requested: int = 0
    available: int = 0
