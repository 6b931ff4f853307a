# SPDX-License-Identifier: BSD-3-Clause
"""The snippets of docs/python.md, one after the other in one namespace."""

import re

from conftest import TOP


def test_snippets_run():
    page = (TOP / "docs" / "python.md").read_text()
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert snippets
    namespace = {}
    for number, snippet in enumerate(snippets, 1):
        exec(compile(snippet, f"docs/python.md, snippet {number}", "exec"), namespace)


def test_options_that_the_page_names():
    page = (TOP / "docs" / "python.md").read_text()
    import isocenter

    for name in re.findall(r"\b(?:iso|isocenter)\.(\w+)", page):
        assert hasattr(isocenter, name) or name in ("whl",), name
