# SPDX-License-Identifier: BSD-3-Clause
"""The hand-written types of the extension module beside what is in it."""

import ast
import pathlib

import isocenter
from isocenter import _core

STUB = ast.parse(pathlib.Path(isocenter.__file__).with_name("_core.pyi").read_text())


def arguments(definition):
    """The number of arguments without the object's own, and whether some may be left out."""
    given = [a.arg for a in definition.args.posonlyargs + definition.args.args]
    return len([name for name in given if name not in ("self", "cls")])


def signatures(thing):
    """The numbers of arguments that a function of nanobind takes, of each overload."""
    told = getattr(thing, "__nb_signature__", ())
    return {arguments(ast.parse(text[0] + ": ...").body[0]) for text in told}


def declared(body):
    """Names of a stub's body, with the numbers of arguments of functions."""
    names = {}
    for part in body:
        if isinstance(part, ast.FunctionDef):
            is_property = any(getattr(d, "id", "") == "property" for d in part.decorator_list)
            names.setdefault(part.name, set())
            if not is_property:
                names[part.name].add(arguments(part))
        elif isinstance(part, ast.AnnAssign):
            names[part.target.id] = set()
    return names


def departures(where, names, thing, own):
    found = [f"{where}.{name} is not in the module" for name in names if not hasattr(thing, name)]
    found += [f"{where}.{name} is not in the stub" for name in own - names.keys()]
    for name, counts in names.items():
        told = signatures(getattr(thing, name, None))
        if told and told != counts:
            found.append(f"{where}.{name} takes {told} arguments, in the stub {counts}")
    return found


def bases_of(part, classes):
    """The declarations of a class with those of the stub's own bases."""
    names = {}
    for base in part.bases:
        if getattr(base, "id", None) in classes:
            names |= bases_of(classes[base.id], classes)
    return names | declared(part.body)


def test_the_stub_declares_what_is_there():
    classes = {part.name: part for part in STUB.body if isinstance(part, ast.ClassDef)}
    names = declared(STUB.body)
    if not _core.has_cuda:
        names.pop("gpu_facts")
    own = {name for name in dir(_core) if not name.startswith("_")}
    found = departures("_core", names, _core, own - classes.keys())
    compared = len(names)
    for name, part in classes.items():
        if name.startswith("_"):
            continue  # a base in the stub alone
        thing, members = getattr(_core, name), bases_of(part, classes)
        own = {key for key in dir(thing) if not key.startswith("_")}
        members = {key: value for key, value in members.items() if not key.startswith("_")}
        found += departures(name, members, thing, own)
        compared += len(members)
    assert found == []
    assert compared > 150
