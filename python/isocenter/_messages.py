# SPDX-License-Identifier: BSD-3-Clause
"""Puts the library's messages into Python's words: its functions, keywords and order of axes."""

from __future__ import annotations

import re
import sys
from types import FrameType

#: Functions of C++ that messages name as advice, and those of Python.
_FUNCTIONS = {
    "iso::ct::back_project": "back_project",
    "iso::ct::fdk_reconstructor": "Fdk",
    "iso::ct::forward_project": "project",
    "iso::ct::line_integrals": "readings.line_integrals",
    "iso::ct::mean_of_views": "readings.mean_of_views",
    "iso::ct::projector_pair": "Projector",
    "iso::ct::ranked_fdk": "mpi.fdk",
    "iso::ct::ranked_pair": "mpi.project",
    "iso::dose::calculator": "dose.Calculator",
    "iso::dose::convolve": "dose.convolve",
    "iso::dose::terma": "dose.terma",
    "iso::dvh::histogrammer": "Dvh",
    "iso::sparse::dose_matrix": "DoseMatrix",
    "iso::sparse::validate": "DoseMatrix",
}

#: What the library calls an argument, behind the name of the function, and its keyword.
_KEYWORDS = [
    (r"grid origin \[", "origin ["),
    (r"grid spacing \[", "spacing ["),
    (r"grid of \[", "size of ["),
    (r"pixel pitch \[", "pitch ["),
    (r"detector offset \[", "offset ["),
    (r"detector of \[", "pixels of ["),
    (r"no view angles", "no angles"),
    (r"the views cover (\S+) degrees", r"angles cover \1 degrees"),
    (r"cut-off (\S+) \(must be above", r"cutoff \1 (must be above"),
    (r"truncation correction over ", "truncation_correction over "),
    (r"least transmission ", "min_transmission "),
    (r"reference voxels from ", "grid has reference voxels from "),
    (r"source-axis (\S+) mm, source-detector ", r"source_axis \1 mm, source_detector "),
    (r"a stopping rule of ", "stop_residual, noise or stop_gap of "),
    (r"(\S+) iterations ", r"iterations \1 "),
    (r"gradient scale ", "gradient_scale "),
    (r"(\S+) numbers of the mask of readings ", r"\1 numbers of reading_mask "),
    (r"(\S+) numbers of the mask of voxels ", r"\1 numbers of voxel_mask "),
    (r"(\S+) voxels of the start ", r"\1 voxels of start "),
    (r"values from (\S+) to (\S+) \(the box", r"lower \1 and upper \2 (the box"),
    (r"blocks of (\S+) views ", r"block of \1 views "),
    (r"(\S+) views at a time ", r"batch of \1 views "),
    (r"a slice thickness of ", "slice_thickness of "),
    (r"a subdivision of ", "subdivision of "),
    (r"a distance of ", "distance of "),
    (r"(\S+) taps ", r"count of \1 taps "),
    (r"a field from (\S+) to (\S+) and from ", r"field from \1 to \2 along x and from "),
    (r"the fluence ", "fluence "),
    (r"ordered sums ", "sum='ordered' "),
]
_KEYWORDS_FOUND = [(re.compile(f"(?<=: ){theirs}"), ours) for theirs, ours in _KEYWORDS]
#: The function of C++ before a colon, and the kind of a method in brackets.
_HEAD = re.compile(r"[A-Za-z_][\w:.]*(?: \([\w -]+\))?: ")
_TRIPLE = re.compile(r"\[([^\[\],]+), ([^\[\],]+), ([^\[\],]+)\]")


def _prefix(module: str) -> str:
    """Return 'readings.' of isocenter.readings; nothing for modules that begin with '_'."""
    return "".join(f"{part}." for part in module.split(".")[1:] if not part.startswith("_"))


def _name(frame: FrameType) -> str:
    """Return the name of a frame's function as users write it; empty for a hidden one."""
    owner, _, last = frame.f_code.co_qualname.rpartition(".")
    is_operator = last.startswith("__")
    if "<" in owner + last or (last.startswith("_") and not (owner and is_operator)):
        return ""
    if owner.startswith("_"):  # a base of public classes
        owner = type(frame.f_locals.get("self")).__name__
    owner = {"Adjoint": "Projector.T", "TransposedDoseMatrix": "DoseMatrix.T"}.get(owner, owner)
    parts = [owner] if owner and is_operator else [owner, last] if owner else [last]
    return _prefix(frame.f_globals.get("__name__", "")) + ".".join(parts)


def called(frame: FrameType | None) -> str:
    """Return the function of the package that the user has called; empty where there is none."""
    name = ""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module != __package__ and not module.startswith(f"{__package__}."):
            break
        name = _name(frame) or name
        frame = frame.f_back
    return name


def in_python(text: str, function: str, is_zyx: bool) -> str:
    """Return a message that begins with a function of Python and names its keywords.

    Parameters
    ----------
    text : str
        A message of the library.
    function : str
        What the user has called; empty: the name that stands in the message is kept.
    is_zyx : bool
        Whether the axes of the call's arrays are (z, y, x) and (view, v, u).
    """
    head = _HEAD.match(text)
    if function:
        text = f"{function}: {text[head.end() if head else 0 :]}"
    for theirs, ours in _FUNCTIONS.items():
        text = re.sub(rf"{theirs}\b", ours, text)
    text = re.sub(r"\biso::(?:[a-z_]+::)*", "", text)
    text = re.sub(r"\b\w+::(\w+)", r"'\1'", text)  # enumerators
    for found, ours in _KEYWORDS_FOUND:
        text = found.sub(ours, text, count=1)
    # Described fields have names of the tool's options, and percents where Python has fractions.
    text = re.sub(r"(?<=: )cut-off is (\S+) %", lambda m: f"cut_off is {float(m[1]) / 100:g}", text)
    text = re.sub(r"(?<=: )[a-z]+(?:-[a-z]+)+(?= is )", lambda m: m[0].replace("-", "_"), text)
    if is_zyx and "the first is (" in text:
        text = re.sub(r"\((\d+), (\d+), (\d+)\)", r"(\3, \2, \1)", text)
    if is_zyx and "one image of " in text:
        text = re.sub(r"\[(\d+), (\d+), (\d+)\]", r"[\1, \3, \2]", text)
    text = re.sub(r"(\[\d+, \d+, \d+\]) voxels", r"\1 voxels along x, y, z", text)
    return _TRIPLE.sub(r"(\1, \2, \3)", text)


def translated(text: str, is_zyx: bool) -> str:
    """Return a message of the library for the call that fails: what the extension module calls."""
    return in_python(text, called(sys._getframe(1)), is_zyx)
