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


def text() -> str:
    """Return the text of _options.py."""
    parts = [HEAD]
    for name, fields in sorted(_core.fields.items()):
        lines = [
            f"class {name}(TypedDict, total=False):",
            '    """Keywords of calls. Lengths are mm, angles rad, values of voxels 1/mm.',
            "",
            "    Attributes",
            "    ----------",
        ]
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
