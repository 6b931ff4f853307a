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
for taken in */include/iso/"$name" tests/"$name"; do
  [ ! -e "$taken" ] || misused "there is a family '$name' ($taken); choose another name"
done

# after FILE LINE TEXT: puts TEXT behind the first line that is LINE
after() {
  awk -v line="$2" -v text="$3" '{ print } $0 == line && !done { print text; done = 1 } END { exit !done }' \
    "$1" >"$1.new" || fail "$1 has no line '$2'" "Put '$3' there by hand, and mend scripts/new_operation.sh."
  mv "$1.new" "$1"
}

while read -r template; do
  file=${template#scripts/skeleton/}
  file=${file//area_name/$name}
  mkdir -p "$(dirname "$file")"
  sed "s/area_name/$name/g; s/AREA_NAME/${name^^}/g" "$template" >"$file"
  echo "$file"
done < <(find scripts/skeleton -type f | sort)

after algorithms/CMakeLists.txt "  SOURCES" "    src/$name/$name.cpp"
after oracle/CMakeLists.txt "  STATIC" "  src/$name.cpp"
after cases/CMakeLists.txt "  src/gamma.cpp" "  src/$name.cpp"
after cases/include/iso/cases/catalogue.hpp "void add_gamma(catalogue& all);" "void add_$name(catalogue& all);"
sed -i "s/add_gamma,/add_gamma, add_$name,/" cases/src/table.cpp
after tests/calls/CMakeLists.txt "  test_evaluation.cpp" "  test_$name.cpp"
after docs/README.md "$(grep -F '| [gamma index](algorithms/gamma.md)' docs/README.md)" \
  "| [$name](algorithms/$name.md) | every voxel by a factor |"
PATH=$ISO_DEPS/venv/bin:$PATH
if have clang-format; then
  # Names of other lengths break lines elsewhere.
  # shellcheck disable=SC2046
  clang-format -i cases/src/table.cpp $(git ls-files -o --exclude-standard | grep -E "(^|/)${name}[^/]*\.[hc]pp$|/test_${name}\.cpp$")
fi
python3 scripts/determinism_table.py
say "the family $name is there; build it and see: scripts/test.sh -- -R '^($name|calls|calls_all|parity)\$'"
