#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Format, spelling and the rules of this code base that a machine can check.
#
#   scripts/lint.sh [--fix] [--headers | --headers-since REVISION] [--tidy]
#
#   --fix      write the format instead of checking it
#   --headers  also: every public header compiles alone (builds in build/openmp)
#   --headers-since REVISION  only those that have changed since
#   --tidy     also: clang-tidy on all but tests/, perf/, examples/, oracle/, cases/ and python/ (minutes)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ISO_TOP"
PATH=$ISO_DEPS/venv/bin:$PATH

fix="" headers="" since="" tidy=""
while [ $# -gt 0 ]; do
  case "$1" in
    --fix) fix=1 ;;
    --headers) headers=1 ;;
    --headers-since)
      git rev-parse --verify --quiet "${2:-}^{commit}" >/dev/null ||
        misused "--headers-since needs a revision (none that git knows follows it); see scripts/lint.sh --help"
      headers=1 since=$2 && shift
      ;;
    --tidy) tidy=1 ;;
    -h | --help) sed -n '3,10s/^# \{0,1\}//p' "$0" && exit 0 ;;
    *) misused "unknown argument: $1 (it is no option); see scripts/lint.sh --help" ;;
  esac
  shift
done
for tool in clang-format gersemi codespell python3; do
  have $tool || fail "$tool is missing" "Run scripts/setup.sh (without ISO_PYTHON=off)."
done

FAILED=0
# wrong "rule" "what was found": nothing found is good
wrong() {
  [ -n "$2" ] || return 0
  printf '%s\n' "$2" | sed 's/^/    /' >&2
  printf '[isocenter] lint: %s\n' "$1" >&2
  FAILED=1
}

# What git knows or would add, without what is deleted.
list_files() { ALL_FILES=$(git ls-files -co --exclude-standard | grep -vxFf <(git ls-files -d) || true); }
list_files
# files [FOLDER...]: those of the folders, or all
files() { grep -E "^($(IFS='|' && echo "${*:-.*}"))(/|\$)" <<<"$ALL_FILES" || true; }
# at_once COMMAND...: with the files of its input as further arguments, 64 at a time, on all processors
at_once() { xargs -r -P "$(job_count)" -n 64 "$@"; }

# folders_but FOLDER...: the folders of the top that hold C++, but for these
folders_but() {
  files | sed -nE 's#^([^/]*)/.*\.(cpp|hpp|hpp\.in)$#\1#p' | sort -u | grep -vxF "$(printf '%s\n' "$@")" || true
}
# sources_but FOLDER...: the C++ of all other folders
sources_but() {
  local folders
  mapfile -t folders < <(folders_but "$@")
  files "${folders[@]}" | grep -E '\.(cpp|hpp|hpp\.in)$'
}

# areas_of FOLDER...: the names of the folders in include/iso of these, as a|b|c
areas_of() {
  files "$@" | sed -n 's|^\(.*/\)\{0,1\}include/iso/\([^/]*\)/.*|\2|p' | sort -u | paste -sd '|'
}

# in_code PATTERN FOLDER...: lines of C++ that match outside of comments
in_code() {
  local pattern=$1
  shift
  files "$@" | grep -E '\.(cpp|hpp|hpp\.in)$' | at_once grep --line-buffered -HnP "^(?!\s*//)(?:(?!//).)*?(?:$pattern)" || true
}

# headers_of FOLDER...: what these give to be included, as iso/area/name.hpp
headers_of() { files "$@" | sed -n 's#^\(.*/\)\{0,1\}include/\(iso/.*\.hpp\)\(\.in\)\{0,1\}$#\2#p'; }

# beyond 'FOLDER...' LOWER...: lines that include a header of the library that is neither the folders'
# own nor one of the lower ones'
beyond() {
  local folders
  read -ra folders <<<"$1"
  shift
  in_code '#include <iso/' "${folders[@]}" |
    grep -vFf <(headers_of "${folders[@]}" "$@" | sed 's|.*|#include <&>|') || true
}

# with_kokkos FOLDER: its headers that include Kokkos, themselves or by another one of the folder
with_kokkos() {
  local found="" more
  more=$(in_code '#include <Kokkos_' "$1" | header_of_line)
  until [ "$more" = "$found" ]; do
    found=$more
    more=$({
      echo "$found"
      in_code '#include <iso/' "$1" | grep -F "$(sed 's|.*|#include <&>|' <<<"$found")" | header_of_line
    } | sort -u)
  done
  echo "$found"
}
# header_of_line: of lines as in_code has them, what their file gives to be included
header_of_line() { sed -n 's#^\([^:]*/\)\{0,1\}include/\(iso/[^:]*\.hpp\)\(\.in\)\{0,1\}:.*#\2#p' | sort -u; }

check_format() {
  local sources cmakes
  sources=$(files | grep -E '\.(cpp|hpp)$' || true)
  cmakes=$(files | grep -E '(CMakeLists\.txt|\.cmake)$' || true)
  if [ -n "$fix" ]; then
    # shellcheck disable=SC2086
    clang-format -i $sources && gersemi -q -i $cmakes
  else
    wrong "clang-format 19 would change these; run scripts/lint.sh --fix" "$(at_once bash -c '
      said=$(clang-format --dry-run -Werror "$@" 2>&1) || grep "error:" <<<"$said" || printf "%s\n" "$said"' - <<<"$sources")"
    # shellcheck disable=SC2086
    wrong "gersemi would change these; run scripts/lint.sh --fix" "$(gersemi -q -c $cmakes 2>&1 | grep "would be reformatted" || true)"
  fi
  wrong "lines over 100 columns" \
    "$(files | grep -E '\.py$' | xargs -r grep -HnE '^.{101,}' | grep -v '://' || true)"
  # As git has it: a clone runs what the file's mode lets it run.
  wrong "a first line names a program (#!), but the file may not be run: git update-index --chmod=+x" \
    "$(git ls-files -s | awk '$1 == "100644" { print $4 }' | xargs -r grep -lIm 1 '^#!' | while read -r f; do
      [ "$(head -c 2 "$f" 2>/dev/null)" != '#!' ] || echo "$f"
    done)"
  wrong "no newline at the end" "$(files | grep -E '\.(cpp|hpp|in|py|txt|cmake|sh|md|json)$' |
    at_once bash -c 'for f; do [ ! -s "$f" ] || [ -z "$(tail -c 1 "$f")" ] || echo "$f"; done' -)"
}

# least_squares is a method, most_common Python's; the others are names in files that are read still. Constants in
# capitals have the rule too, also where they are these words alone.
LEAST_AND_MOST='\w*at_(least|most)|least_(squares|seconds|sec)|most_common|ms_per_view_least|cpu_ratio_of_least'
check_words() {
  # shellcheck disable=SC2046
  wrong "spelling" "$(codespell $(files | grep -vE '\.(csv|png|gz)$') 2>&1 || true)"
  wrong "first line without SPDX-License-Identifier" \
    "$(files | grep -E '\.(cpp|hpp|in|py|cmake|sh)$|CMakeLists\.txt$' | grep -v -E '^tests/install/consumer/CMakeLists.txt|Config.cmake.in$' |
      xargs -r awk 'FNR <= 3 && /SPDX-License-Identifier: BSD-3-Clause/ { has[FILENAME] }
        END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }')"
  wrong "bounds are called max_ and min_, not most_ and least_" \
    "$(files | grep -E '\.(cpp|hpp|in|py|cmake|sh)$|CMakeLists\.txt$' | grep -vxF scripts/lint.sh |
      xargs -r grep -HnP "\b(?!($LEAST_AND_MOST)\b)((most|least)_\w+|\w+_(most|least))\b|\b\w*(?<![A-Z])(MOST|LEAST)(?![A-Z])\w*" || true)"
  wrong "left open" "$(files | grep -E '\.(cpp|hpp|py|cmake|sh)$' | grep -v scripts/lint.sh |
    xargs -r grep -HnE 'TODO|FIXME|\bXXX\b|placeholder' || true)"
}

# tests/ is left out: its sentences are for who works on this code, and some are wrong on purpose.
check_messages() {
  python3 scripts/lint_messages.py --self-test >/dev/null || fail "scripts/lint_messages.py fails its own test" "Mend it."
  # shellcheck disable=SC2046
  wrong "messages read 'problem (reason); advice' (docs/adr/0006-errors-and-messages.md)" \
    "$(python3 scripts/lint_messages.py $(sources_but tests) \
      $(files | grep -vE '^tests/|/test_' | grep -E '\.(cmake(\.in)?|py|sh)$|CMakeLists\.txt$') || true)"
}

# tests/ is left out: a function of a test may be a long table.
check_functions() {
  python3 scripts/lint_functions.py --self-test >/dev/null || fail "scripts/lint_functions.py fails its own test" "Mend it."
  wrong "functions above 80 lines" \
    "$(sources_but tests | xargs -r python3 scripts/lint_functions.py || true)"
}

check_comments() {
  python3 scripts/lint_comments.py --self-test >/dev/null || fail "scripts/lint_comments.py fails its own test" "Mend it."
  wrong "comments of types begin with a noun phrase, those of functions with a verb" \
    "$(files | grep -E '\.(cpp|hpp|hpp\.in)$' | at_once python3 scripts/lint_comments.py || true)"
}

check_layers() {
  local kokkos
  wrong "a folder has no layer: give it a line in check_layers of scripts/lint.sh" \
    "$(folders_but core backends model algorithms oracle cases documents files apps python perf examples tests cmake scripts)"
  kokkos="Kokkos|KOKKOS_|#include <($(with_kokkos core | paste -sd '|'))>"
  wrong "core/, model/ and algorithms/ name no backend; backends/ does" \
    "$(in_code 'KOKKOS_ENABLE_|__CUDA_ARCH__|cuda_runtime|Kokkos::(Cuda|OpenMP|Threads|Serial|HIP|SYCL)\b|ISO_(HAS|IF)_(CUDA|OPENMP|THREADS)|\bomp_' core model algorithms)"
  wrong "only backends/mpi names MPI, and what runs on ranks" \
    "$(in_code '\bMPI_\w|#include <mpi\.h>|iso::mpi\b' core backends model algorithms | grep -v '^backends/mpi/' || true)"
  wrong "algorithms/ names nothing of backend::detail" \
    "$(in_code 'backend::detail\b|#include <iso/backend/detail/' algorithms)"
  # shellcheck disable=SC2046
  wrong "backends/ knows no algorithm" \
    "$(files backends | xargs -r grep -HniP "\b(?!detail\b)($(areas_of algorithms/include model/include | sed "s/|model//")|joseph|siddon|voxel|pixel|rays?|csr|spmv|row.?blocks?|matri(x|ces))\b" | grep -v '^backends/ceilings/' || true)"
  wrong "instructions of one kind of machine stand in backends/ (lanes_*.hpp, cuda_*.hpp, the ceilings) and the products' product_lanes_*.hpp" \
    "$(in_code 'immintrin\.h|\b_mm(256|512)?_|\b__(shfl|ballot|any)_|(?<![.\w])(asm|__asm__)\b(?! volatile\(\"\"\))' core backends algorithms | grep -vE '^backends/(ceilings/src/|include/iso/backend/detail/(lanes|cuda)_\w+\.hpp)|^algorithms/include/iso/sparse/detail/product_lanes_\w+\.hpp' || true)"
  wrong "a lower layer includes a higher one" "$(
    beyond core
    beyond 'backends/include backends/src' core
    beyond backends/ceilings core backends
    beyond backends/mpi core backends
    beyond model core
    beyond 'algorithms/include algorithms/src' core backends/include model
    beyond algorithms/synthetic core backends model algorithms
    beyond oracle core backends/include model algorithms
    beyond cases core backends model algorithms oracle
    beyond python core backends model algorithms documents files
    beyond apps core backends model algorithms oracle cases documents files
    beyond examples core backends model algorithms documents files
  )"
  wrong "model/ is C++ without Kokkos" "$(in_code "$kokkos" model)"
  wrong "documents/ is C++ without Kokkos, and needs no library of files" "$(
    beyond documents core model && in_code "$kokkos|"'#include <(itk|H5|dcmtk|tiff|zlib|gdcm)' documents
  )"
  wrong "files/ is C++ without Kokkos, save dose_matrix_file.hpp and volume_view.hpp" "$(
    { beyond files core model documents && in_code "$kokkos" files; } |
      grep -vE '^files/include/iso/files/(dose_matrix_file|volume_view)\.hpp:' || true
  )"
  wrong "library code does not print, abort, read the environment, or own Kokkos" \
    "$(in_code 'std::(cout|cerr|clog)\b|\bf?printf\s*\(|\bputs\s*\(|std::(abort|exit|terminate|getenv)\b|\bgetenv\s*\(|Kokkos::(abort|printf|initialize|finalize|ScopeGuard)\b' core backends model algorithms)"
  wrong "python/ does not print, abort or read the environment" \
    "$(in_code 'std::(cout|cerr|clog)\b|\bf?printf\s*\(|\bputs\s*\(|std::(abort|exit|terminate|getenv)\b|\bgetenv\s*\(|Kokkos::(abort|printf)\b' python)"
  wrong "library code does not fence globally" \
    "$(in_code 'Kokkos::fence\s*\(|Kokkos::deep_copy\(\s*(?!\w*exec)\w|create_mirror_view_and_copy\(\s*(?!Kokkos::view_alloc|\w*exec)\w' core algorithms)"
  wrong "no atomics in algorithms/: every sum has a defined order" "$(in_code 'Kokkos::atomic_|ScatterView' algorithms)"
  wrong "no library transcendental in a kernel: iso::math has them" \
    "$(in_code '(std|Kokkos)::(exp|expm1|exp2|log|log1p|log2|pow|sin|cos|tan|atan2?)\s*\(' algorithms/include)"
  # What a region includes would be compiled for its instruction set, and the linker may choose that copy.
  # shellcheck disable=SC2016
  wrong "no #include within a namespace of an instruction set" \
    "$(files core backends model algorithms cases examples | grep -E '\.hpp$' | xargs -r awk '
      FNR == 1 { within = 0 } /^namespace .*ISO_SET \{/ { within = 1 } /^\}  \/\/ namespace/ { within = 0 }
      within && /^ *# *include/ { print FILENAME ":" FNR ": " $0 }')"
  wrong "half by itself means ::half in a CUDA build: write iso::half" \
    "$(in_code 'using (namespace iso|iso::half);')"
  # shellcheck disable=SC2046
  wrong "View offsets in 32 bits" "$(python3 "$ISO_TOP/scripts/lint_view_index.py" $(files | grep -E '\.(cpp|hpp)$' | grep -vE '(^|/)tests/') || true)"
}

check_headers() {
  local targets=(all_verify_interface_header_sets)
  if [ -n "$since" ]; then
    cmake --preset openmp >"$ISO_DEPS/configure-openmp.log"
    # Of each header its name below include/, as the targets that compile it have it.
    mapfile -t targets < <(git diff --name-only --diff-filter=d "$since" -- '*.hpp' | sed -n 's|.*/include/\(.*\)|/\1.cxx.o|p' |
      grep -hFf - <(ninja -C build/openmp -t targets all | sed -n 's|^\([^:]*_verify_interface_header_sets\.dir/[^:]*\.o\):.*|\1|p') || true)
  fi
  say "public headers alone: ${#targets[@]} targets"
  [ ${#targets[@]} = 0 ] || scripts/build.sh openmp "${targets[@]}" -- -k 0
}

# Left out: tests/, perf/ and examples/, which use the library as others do; oracle/ and cases/, whose exact answers are
# written as their formulas are, not for speed; python/, which scripts/wheel.sh compiles in a build folder of its own,
# without a list of commands.
check_tidy() {
  say "clang-tidy"
  local sources gcc_headers
  # clang has no omp.h of its own here, and GCC's marks allocators in a way that clang refuses.
  gcc_headers=$(dirname "$(g++ -print-file-name=include/omp.h)")
  sources=$(sources_but tests perf examples oracle cases python cmake scripts | grep -E '\.cpp$' |
    while read -r f; do grep -qF "$ISO_TOP/$f\"" build/openmp/compile_commands.json && echo "$f"; done || true)
  printf '%s\n' "$sources" | xargs -r -P "$(job_count)" -n 1 \
    clang-tidy --quiet -p build/openmp "--extra-arg=-idirafter$gcc_headers" "--extra-arg=-D__malloc__(f)=" ||
    FAILED=1
}

# A folder that is new has the rules of its layer.
self_test() (
  top=$(mktemp -d)
  trap 'rm -rf "$top"' EXIT
  cd "$top"
  git init -q .
  mkdir -p new_folder core/include/iso/core model/src algorithms/include/iso/{new_area,old_area} backends/src oracle/src cases/{include/iso/cases,src}
  echo '#include <iso/new_area/new.hpp>' | tee core/include/iso/core/a.hpp >algorithms/include/iso/old_area/b.hpp
  echo 'printf("out");' >algorithms/include/iso/new_area/new.hpp
  echo 'int new_area;' >backends/src/c.cpp
  printf 'View<float**> v;\nv(0, 1) = 1;\n' >cases/src/d.cpp
  echo '#include <iso/cases/new.hpp>' >oracle/src/e.cpp
  echo '#include <iso/cli/new.hpp>' >cases/include/iso/cases/new.hpp
  echo '#include <Kokkos_Core.hpp>' >core/include/iso/core/first.hpp
  echo '#include <iso/core/first.hpp>' >core/include/iso/core/second.hpp
  echo '#include <iso/core/without.hpp>' | tee core/include/iso/core/with.hpp >model/src/f.cpp
  echo '#include <iso/core/second.hpp>' >>model/src/f.cpp
  touch core/include/iso/core/without.hpp new_folder/g.cpp
  list_files
  found=$(check_layers 2>&1 || true)
  for line in core/include/iso/core/a.hpp:1 algorithms/include/iso/new_area/new.hpp:1 backends/src/c.cpp:1 cases/src/d.cpp:2 \
    oracle/src/e.cpp:1 cases/include/iso/cases/new.hpp:1 model/src/f.cpp:2; do
    grep -q "^    $line:" <<<"$found" || exit 1
  done
  grep -q '^    new_folder$' <<<"$found" || exit 1
  ! grep -qE 'old_area|model/src/f.cpp:1' <<<"$found"
)

self_test || fail "scripts/lint.sh fails its own test" "Mend it: a new folder is not checked."
python3 scripts/lint_view_index.py --self-test >/dev/null || fail "scripts/lint_view_index.py fails its own test" "Mend it."
check_format
check_words
check_messages
check_functions
check_comments
check_layers
[ -z "$headers" ] || check_headers
[ -z "$tidy" ] || check_tidy
[ "$FAILED" = 0 ] || fail "lint found something" "Each rule is named under what breaks it."
say "lint: clean"
