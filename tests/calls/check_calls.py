#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every public function has a natural call: as a newcomer writes it, with braces, defaults,
temporaries and views of numbers that are not const.

Reads the headers of the folders whose CMakeLists.txt installs headers, as
scripts/determinism_table.py does, and the sources of this folder. A function that the headers
declare in n forms is called n times, by its full name, or by its arguments alone where it is
compiled for each instruction set; a class is named once. `detail` is left out, and `words` and
`describe`, which iso/model/describe.hpp reads. A class that may own memory is named in
test_moved_from.cpp too, and each of its public members where it is: from the class's name on to
that of another.

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
    "iso::partial_sum",  # numbers
    "iso::gamma::gamma_sums",  # vectors of the standard library
    "iso::ct::geometry",  # vectors of the standard library
    "iso::ct::rank_plan",  # likewise
    "iso::sparse::rank_plan",  # likewise
    "iso::backend::communicator",  # refers to no memory, and is not moved
    "iso::backend::device_link",  # likewise
    "iso::ct::elsewhere",  # copied where it is moved
    "iso::ct::streamed",  # likewise
    "iso::ct::ranked",  # likewise
    "iso::backend::event",  # likewise
    "iso::files::atomic_file",  # test_atomic_file.cpp
}
# Members of the other classes that test_moved_from.cpp need not name, and why.
UNTOUCHED = {}


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
            if not {"detail", "words", "describe"} & set(name.split("::")):
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
            if not re.search(mention(name), source):
                yield header, f"class {name} is not in test_moved_from.cpp"


def members(text):
    """{class: its public functions but constructors, destructor, operators and static ones}."""
    code = "\n".join(line for line in determinism_table.plain(text) if "///" not in line)
    found = {}
    for name in Reader(text).classes:
        own = name.rpartition("::")[2]
        begin = re.search(rf"\bclass {own}\b[^;{{]*{{", code).end()
        public, statement, depth, of_class = False, "", 0, set()
        brackets = 0  # open round ones, within which braces are values
        for c in code[begin:]:
            if depth == 0 and brackets == 0 and c == "}":
                break
            brackets += {"(": 1, ")": -1}.get(c, 0) if depth == 0 else 0
            if brackets > 0:
                statement += c
                continue
            if depth == 0 and c in "{;":
                parts = re.split(r"\b(public|private|protected)\s*:(?!:)", statement)
                public = parts[-2] == "public" if len(parts) > 1 else public
                rest = determinism_table.without_template_head(parts[-1])
                left_out = re.search(rf"^,|~|\bstatic\b|(?<![\w:]){own}\s*\(", rest)
                function = determinism_table.function_name(parts[-1])
                if public and function and not left_out:
                    of_class.add(function)
                statement = ""
            elif depth == 0:
                statement += c
            depth += {"{": 1, "}": -1}.get(c, 0)
        found[name] = of_class
    return found


def mention(name):
    """A plan of iso::stage is made by the function."""
    return rf"(?<![\w:]){name.removesuffix('d')}d?\b"


def untouched(headers, source, exempt=None):
    """Public members of the texts `headers` that `source` does not name beside their class."""
    exempt = UNTOUCHED if exempt is None else exempt
    of = {}
    for header, text in headers:
        for name, functions in members(text).items():
            if "detail" not in name.split("::") and name not in WITHOUT_VIEWS:
                of[name] = (header, functions)
    source = "\n".join(determinism_table.plain(source))
    places = sorted((found.start(), name) for name in of
                    for found in re.finditer(mention(name), source))
    words = collections.defaultdict(set)
    for number, (start, name) in enumerate(places):
        end = places[number + 1][0] if number + 1 < len(places) else len(source)
        words[name] |= set(re.findall(r"\w+", source[start:end]))
    for name, (header, functions) in of.items():
        for function in sorted(functions - words[name]):
            if f"{name}::{function}" not in exempt:
                yield header, f"{name}::{function} is not called in test_moved_from.cpp"
    for name in exempt:
        of_class, _, function = name.rpartition("::")
        if function not in of.get(of_class, ("", ()))[1]:
            yield "check_calls.py", f"{name} is exempt (no class has it)"


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
    owner = """
namespace iso {
template <class T>
class thing {
  int hidden() const { return 1; }

 public:
  using number = int;
  thing() = default;
  template <class E>
    requires real<E>
  explicit thing(E const& e) : all_(e, list{{1, 2}}), n_{1}, e_(e) {}
  ~thing();
  thing& operator=(thing const&) = default;
  [[nodiscard]] int size() const { return n_; }
  template <class F>
  void visit(F&& f) {}
  static int count();
  [[nodiscard]] thing part(int n) const;

 private:
  void secret();
};
class other { public: int size() const; };
}  // namespace iso
"""
    owners = [("h.hpp", owner)]
    fine = fine and members(owner)["iso::thing"] == {"size", "visit", "part"}
    whole = "iso::thing t; t.size(); t.visit(f); t.part(1); iso::other o; o.size();"
    fine = fine and not list(untouched(owners, whole, {}))
    moved = whole.replace("t.size()", "").replace("o.size();", "o.size(); o.part(1);")
    fine = fine and [f for _, f in untouched(owners, moved, {})] == [
        "iso::thing::size is not called in test_moved_from.cpp"
    ]
    fine = fine and not list(untouched(owners, moved, {"iso::thing::size": "a number"}))
    fine = fine and len(list(untouched(owners, whole, {"iso::thing::gone": ""}))) == 1
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
    wrong += untouched(headers, moved)
    for header, fault in wrong:
        print(f"{header}: {fault}", file=sys.stderr)
    print(f"{len(wrong)} faults in {len(headers)} headers")
    return 1 if wrong or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
