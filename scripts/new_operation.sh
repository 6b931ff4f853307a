#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the skeleton of a family of operations, which builds and passes: options, public header, kernel, instances,
# exact answer, case, test, calls and page. Its operation multiplies voxels by a factor; replace that by yours.
#
#   scripts/new_operation.sh NAME
#
#   NAME  of the family and its namespace: small letters, digits and _, as gamma or dose_rate
#
# The files are those of scripts/skeleton/. CONTRIBUTING.md says what belongs into each.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ISO_TOP"

case "${1:-}" in
  -h | --help) sed -n '3,11s/^# \{0,1\}//p' "$0" && exit 0 ;;
  "") misused "a name is needed (none is given); see scripts/new_operation.sh --help" ;;
esac
name=$1
[ $# = 1 ] || misused "one name makes one family ($# are given); see scripts/new_operation.sh --help"
[[ "$name" =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ ]] ||
  misused "'$name' is no name of a namespace (small letters, digits and _ make one); choose another"
# The skeleton would not compile.
words=$(tr -s ' \n' '|' <<<'alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
  consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast else enum explicit export
  extern false float for friend goto if inline int iso long mutable namespace new noexcept not not_eq nullptr operator or
  or_eq private protected public register reinterpret_cast requires return short signed sizeof static static_assert
  static_cast std struct switch template this thread_local throw true try typedef typeid typename union unsigned using
  virtual void volatile wchar_t while xor xor_eq')
[[ "|$words" != *"|$name|"* ]] || misused "'$name' is no name of a namespace (C++ has the word); choose another"
PATH=$ISO_DEPS/venv/bin:$PATH
# A version that cannot read .clang-format would end this half-way.
clang-format --dump-config >/dev/null 2>&1 ||
  fail "there is no clang-format that reads .clang-format (names of other lengths break lines elsewhere)" \
    "Run scripts/setup.sh (without ISO_PYTHON=off)."
taken=$(grep -rlE --include='*.?pp' "^namespace (iso::)?$name(::| \{)" -- */include */src apps | head -n 1 || true)
[ -z "$taken" ] || misused "there is a namespace '$name' ($taken); choose another name"
for taken in */include/iso/"$name" tests/"$name"; do
  [ ! -e "$taken" ] || misused "there is a family '$name' ($taken); choose another name"
done

# after FILE LINE TEXT: puts TEXT behind the first line that is LINE
after() {
  awk -v line="$2" -v text="$3" '{ print } $0 == line && !done { print text; done = 1 } END { exit !done }' \
    "$1" >"$1.new" || fail "$1 has no line '$2'" "Put '$3' there by hand, and mend scripts/new_operation.sh."
  mv "$1.new" "$1"
}

made=
while read -r template; do
  file=${template#scripts/skeleton/}
  file=${file//area_name/$name}
  mkdir -p "$(dirname "$file")"
  sed "s/area_name/$name/g; s/AREA_NAME/${name^^}/g" "$template" >"$file"
  made+=$file$'\n'
done < <(find scripts/skeleton -type f | sort)
printf '%s' "$made"

after algorithms/CMakeLists.txt "  SOURCES" "    src/$name/$name.cpp"
after oracle/CMakeLists.txt "  STATIC" "  src/$name.cpp"
after cases/CMakeLists.txt "  src/gamma.cpp" "  src/$name.cpp"
after cases/include/iso/cases/catalogue.hpp "void add_gamma(catalogue& all);" "void add_$name(catalogue& all);"
sed -i "s/add_gamma,/add_gamma, add_$name,/" cases/src/table.cpp
after tests/calls/CMakeLists.txt "  test_evaluation.cpp" "  test_$name.cpp"
after docs/README.md "$(grep -F '| [gamma index](algorithms/gamma.md)' docs/README.md)" \
  "| [$name](algorithms/$name.md) | every voxel by a factor |"
mapfile -t sources < <(grep -E '\.[ch]pp$' <<<"$made")
clang-format -i cases/src/table.cpp "${sources[@]}"
python3 scripts/determinism_table.py
say "the family $name is there; build it and see: scripts/test.sh -- -R '^($name|calls|calls_all|parity)\$'"
