# SPDX-License-Identifier: BSD-3-Clause
"""Writes _options.py from what the library describes: python -m isocenter._generate [--check]."""

from __future__ import annotations

import pathlib
import sys
import textwrap
from typing import Any

from . import _core

HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
"""Options of calls, as the library describes them. Written by ``python -m isocenter._generate``."""

from typing import Literal, TypedDict
'''


def _type(field: dict[str, Any]) -> str:
    if field["type"] == "word":
        name = "Literal[" + ", ".join(f'"{word}"' for word in field["words"]) + "]"
    else:
        name = field["type"]
    return f"{name} | None" if field["none"] else name


def _default(field: dict[str, Any]) -> str:
    return repr(field["default"])


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=indent)


def _declaration(field: dict[str, Any]) -> str:
    line = f"    {field['keyword']}: {_type(field)}"
    if len(line) <= 100:
        return line
    words = ",\n".join(f'        "{word}"' for word in field["words"])
    tail = "] | None" if field["none"] else "]"
    return f"    {field['keyword']}: Literal[\n{words},\n    {tail}"


def _bases() -> dict[str, str]:
    """Return the dictionary of which another one has all keywords, of the largest there is."""
    found: dict[str, str] = {}
    for name, fields in _core.fields.items():
        parts = [
            (len(others), other)
            for other, others in _core.fields.items()
            if len(others) > 1
            and all(one in fields for one in others)
            and (len(others) < len(fields) or other > name)
        ]
        found[name] = max(parts)[1] if parts else ""
    return found


def text() -> str:
    """Return the text of _options.py."""
    parts = [HEAD]
    bases = _bases()

    def depth(name: str) -> int:
        return 1 + depth(bases[name]) if bases[name] else 0

    # A base stands before what is made of it.
    for name in sorted(_core.fields, key=lambda name: (depth(name), name)):
        base = bases[name]
        known = _core.fields[base] if base else []
        fields = [field for field in _core.fields[name] if field not in known]
        units = "Lengths are mm, angles rad, values of voxels 1/mm."
        if base:
            units = f"Also those of `{base}`. {units.replace('values of ', '')}"
        lines = [
            f"class {name}({base or 'TypedDict'}, total=False):",
            f'    """Keywords of calls. {units}',
        ]
        if not fields:
            parts.append(f'{lines[0]}\n    """Keywords of calls: those of `{base}`."""\n')
            continue
        lines += ["", "    Attributes", "    ----------"]
        for field in fields:
            lines.append(f"    {field['keyword']} : default {_default(field)}")
            lines.append(_wrapped(field["says"], "        "))
        lines.append('    """\n')
        lines.extend(_declaration(field) for field in fields)
        parts.append("\n".join(lines) + "\n")
    return "\n\n".join(parts)


def main() -> int:
    """Write the file, or compare it."""
    file = pathlib.Path(__file__).with_name("_options.py")
    if "--check" in sys.argv[1:]:
        return 0 if file.read_text() == text() else 1
    file.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
