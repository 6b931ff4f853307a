#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every public function has a natural call: as a newcomer writes it, with braces, defaults,
temporaries and views of numbers that are not const.

Reads the headers of the folders whose CMakeLists.txt installs headers, as
scripts/determinism_table.py does, and the sources of this folder. A function that the headers
declare in n forms is called n times, by its full name, or by its arguments alone where it is
compiled for each instruction set; a class is named once. `detail` is left out. A class that may own
memory is named in test_moved_from.cpp too.

Usage: check_calls.py               status 1 where a call is missing
       check_calls.py --self-test
"""
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "scripts"))
sys.dont_write_bytecode = True
import determinism_table  # noqa: E402

# At the end of what stands before a brace: no parameter of a template, no enumeration.
CLASS = re.compile(r"(?<!enum )\bclass (\w+)(?: :(?!:).*)?$")
# Whose headers are installed: of oracle/, cases/ and apps/ none are.
INSTALLED = re.compile(r"^ *(?:iso_add_layer\(|PUBLIC FILE_SET HEADERS\b)", re.M)
# Classes that own no memory of a device, and so are whole, or empty, when they were moved from.
WITHOUT_VIEWS = {
    "iso::error", "iso::invalid_argument", "iso::file_error", "iso::cancelled",
    "iso::out_of_memory",
    "iso::backend::floating_point_error",
    "iso::backend::streamed",  # a number
    "iso::backend::texture_planes",  # a number
    "iso::workspace_parts",  # counts parts of somebody's memory
    "iso::reproducible_scale",  # numbers
    "iso::ct::geometry",  # vectors of the standard library
    "iso::files::atomic_file",  # test_atomic_file.cpp
}


class Reader(determinism_table.Reader):
    """The declarations of functions and the definitions of classes of one header."""

    def __init__(self, text):
        self.functions, self.classes = {}, []
        self.of_a_set = False
        super().__init__(text)

    def end(self, c):
        name = determinism_table.function_name(self.statement)
        self.of_a_set = self.of_a_set or "ISO_SET" in self.statement
        made = CLASS.search(" ".join(self.statement.split()))
        if name and "::" not in name:
            forms = self.functions.setdefault("::".join([*self.scopes, name]), set())
            forms.add(form_of(self.statement))
        elif made and c == "{":
            self.classes.append("::".join([*self.scopes, made.group(1)]))
        super().end(c)


def form_of(statement):
    """What a declaration and its definition have in common."""
    statement = re.sub(r"\[\[.*?\]\]| = (?:\{[^{}]*\}|[\w:.]+)", "", statement)
    return "".join(statement.split())


def missing(headers, sources):
    """What of the texts `headers` the texts `sources` do not call: (header, sentence)."""
    code = "\n".join("\n".join(determinism_table.plain(text)) for text in sources)
    code = re.sub(r"///.*", "", code)
    declared, first, bare = collections.Counter(), {}, set()
    wrong = []
    for header, text in headers:
        reader = Reader(text)
        for name, forms in reader.functions.items():
            if "detail" not in name.split("::"):
                declared[name] += len(forms)
                first.setdefault(name, header)
                if reader.of_a_set:
                    bare.add(name)
        for name in reader.classes:
            known = "detail" not in name.split("::")
            if known and not re.search(rf"(?<![\w:]){name}\b", code):
                wrong.append((header, f"class {name} is not used"))
    for name, forms in declared.items():
        called = name
        if name in bare:
            scope, _, last = name.rpartition("::")
            called = f"(?:{scope}::)?{last}"
        calls = len(re.findall(rf"(?<![\w:]){called}\s*[(<]", code))
        if calls < forms:
            wrong.append((first[name], f"{name} is called {calls} times (it has {forms} forms)"))
    return wrong


def not_moved(headers, source):
    """Classes of the texts `headers` that `source`, the test of moved objects, does not name."""
    for header, text in headers:
        for name in Reader(text).classes:
            if "detail" in name.split("::") or name in WITHOUT_VIEWS:
                continue
            # A plan of iso::stage is made by the function.
            if not re.search(rf"(?<![\w:]){name.removesuffix('d')}d?\b", source):
                yield header, f"class {name} is not in test_moved_from.cpp"


def public_headers():
    for lists in sorted([*TOP.glob("*/CMakeLists.txt"), *TOP.glob("*/*/CMakeLists.txt")]):
        if INSTALLED.search(lists.read_text(encoding="utf-8")):
            for path in sorted(lists.parent.glob("include/iso/*/*.hpp*")):
                yield str(path.relative_to(TOP)), path.read_text(encoding="utf-8")


def self_test():
    header = """
namespace iso {
namespace detail { void hidden(); class inner { int a; }; }
/// Says.
template <class T>
  requires real<T>
T twice(T const& x);
template <class T>
T twice(T const& x, int n = 2) { return x; }
void once(int x = 1);
template <class T>
  requires (sizeof(T) == 2)
class thing : public other {
  void member();
};
class forward;
thing::thing(int n) : other(n) {}
[[gnu::noinline]] void once(int x) { x = 1; }
namespace backend::ISO_SET { int of_lanes(int a); }
}  // namespace iso
"""
    good = "iso::twice(1); iso::twice<int>(1, 3); iso::once(2); iso::thing t; of_lanes(1);"
    bad = {
        good.replace("iso::twice(1); ", ""): "iso::twice is called 1 times",
        good.replace("iso::once(2);", "// iso::once(2);\n"): "iso::once is called 0 times",
        good.replace("iso::once", "other::iso::once"): "iso::once is called 0 times",
        good.replace("of_lanes", "x::of_lanes"): "iso::backend::of_lanes is called 0 times",
        good.replace("iso::thing", "iso::things"): "class iso::thing is not used",
    }
    headers = [("h.hpp", header)]
    found = {source: [fault for _, fault in missing(headers, [source])] for source in bad}
    fine = not missing(headers, [good])
    fine = fine and list(not_moved(headers, "iso::thing t;")) == []
    fine = fine and [f for _, f in not_moved(headers, "")] == [
        "class iso::thing is not in test_moved_from.cpp"
    ]
    return 0 if fine and all(len(f) == 1 and bad[s] in f[0] for s, f in found.items()) else 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments:
        print(__doc__)
        return 2
    headers = list(public_headers())
    sources = [path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.[ch]pp"))]
    moved = (HERE / "test_moved_from.cpp").read_text(encoding="utf-8")
    wrong = missing(headers, sources) + list(not_moved(headers, moved))
    for header, fault in wrong:
        print(f"{header}: {fault}", file=sys.stderr)
    print(f"{len(wrong)} faults in {len(headers)} headers")
    return 1 if wrong or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
