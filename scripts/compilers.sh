#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds iso_parity by other compilers and options, and compares every hash with this tree's: a Markdown table.
#
#   scripts/compilers.sh [--preset NAME] [--root FOLDER [--make SUITE [--with PACKAGES]]] [--list] [--all | ROW...]
#
#   ROW             a compiler and its options in one argument: 'clang++ -O1', 'g++-12 -O2 -fstack-protector-strong'.
#                   NAME=VALUE sets a variable of CMake: 'g++ -O3 ISO_X86_64_V3=OFF'
#   --all           every g++ and clang++ that is installed, once where it has two names, each with four sets of
#                   options (hours)
#   --list          print the rows and build none
#   --preset NAME   whose iso_parity gives the hashes (default: openmp)
#   --root FOLDER   compile and run within FOLDER, the root of another release of the distribution (as root)
#   --make SUITE    first make FOLDER by debootstrap, from the archive that apt already uses, with g++ and clang
#   --with PACKAGES and with these, with commas between them: g++-13,clang-17
#
# A row takes from minutes (-O1) to half an hour on two processors. Exit code 1: a row failed or differs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=openmp root="" make="" with="" all="" list="" rows=()
while [ $# -gt 0 ]; do
  case "$1" in
    --preset | --root | --make | --with)
      [ -n "${2:-}" ] || misused "$1 needs a name (none follows it); see scripts/compilers.sh --help"
      printf -v "${1#--}" '%s' "$2"
      shift 2
      ;;
    --all) all=1 && shift ;;
    --list) list=1 && shift ;;
    -h | --help) sed -n '3,18s/^# \{0,1\}//p' "$0" && exit 0 ;;
    -*) misused "unknown argument: $1 (it is no option); see scripts/compilers.sh --help" ;;
    *) rows+=("$1") && shift ;;
  esac
done
[ -n "$all" ] || [ ${#rows[@]} -gt 0 ] || misused "no row is named (and --all is not given); see scripts/compilers.sh --help"
[ -z "$make" ] || [ -n "$root" ] || misused "--make needs --root (it has the folder of what is made); see scripts/compilers.sh --help"
[ -z "$with" ] || [ -n "$make" ] || misused "--with needs --make (it adds to what is made); see scripts/compilers.sh --help"
check_preset "$preset"

# The distribution's release SUITE in the folder `root`, with what a build of iso_parity needs.
make_root() {
  local address
  have debootstrap || fail "debootstrap is missing" "Install the package debootstrap."
  # The archive of security updates is among them, and holds no whole release.
  for address in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u); do
    debootstrap --variant=minbase --include="g++,clang,cmake,ninja-build,libfmt-dev,libomp-dev${with:+,$with}" \
      "$make" "$root" "$address" >&2 && return
  done
  fail "no archive that apt knows gives the release $make" "Name another, or add one to apt's sources."
}

# in_root COMMAND...: with this tree and its Kokkos at their own paths, for the time of the command.
in_root() {
  if [ -z "$root" ]; then
    "$@"
    return
  fi
  # .deps, or the Kokkos in it, may be a link to somewhere else.
  local kokkos
  kokkos=$(readlink -f "$ISO_DEPS/kokkos/openmp")
  mkdir -p "$root$ISO_TOP" "$root$kokkos"
  # shellcheck disable=SC2016
  unshare --mount bash -c 'mount --bind "$1" "$3$1" && { [ -e "$3$2/lib" ] || mount --bind "$2" "$3$2"; } &&
    mount -t proc proc "$3/proc" && root=$3 && shift 3 && exec chroot "$root" "$@"' - \
    "$ISO_TOP" "$kokkos" "$root" "$@"
}

# Of names that lead to one compiler, the first: g++ and not g++-12.
every_compiler() {
  # shellcheck disable=SC2016
  in_root sh -c 'cd /usr/bin && for name in g++* clang++*; do echo "$(readlink -f "$name") $name"; done' |
    grep -E ' (clan)?g\+\+(-[0-9]+)?$' | awk '!seen[$1]++ { print $2 }'
}

every_row() {
  local compiler options
  every_compiler | while read -r compiler; do
    for options in -O3 '-O2 -fstack-protector-strong' -O0 '-O3 ISO_X86_64_V3=OFF'; do
      echo "$compiler $options"
    done
  done
}

c_compiler_of() {
  case "$1" in
    clang++*) echo "clang${1#clang++}" ;;
    *) echo "${1/g++/gcc}" ;;
  esac
}

# build ROW FOLDER
build() {
  local words word compiler flags=() variables=()
  read -ra words <<<"$1"
  compiler=${words[0]}
  for word in "${words[@]:1}"; do
    case "$word" in
      -*) flags+=("$word") ;;
      *) variables+=("-D$word") ;;
    esac
  done
  if [ -z "$root" ] && have ccache; then variables+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  # A release's fmt may want a newer C++ library than an older compiler links by; the newer one is there at run time.
  [ -z "$root" ] || variables+=("-DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined")
  in_root cmake -S "$ISO_TOP/scripts/probe/parity" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_C_COMPILER=$(c_compiler_of "$compiler")" \
    "-DCMAKE_CXX_FLAGS_RELEASE=${flags[*]} -DNDEBUG" \
    "-DKokkos_ROOT=$ISO_DEPS/kokkos/openmp" "${variables[@]}" &&
    in_root cmake --build "$2" -j "$(job_count)" --target iso_parity
}

# verdict ROW FOLDER: the table's last column
verdict() {
  local code=0 equal total
  if ! build "$1" "$2" >"$2.log" 2>&1; then
    echo "does not build"
    return
  fi
  in_root "$2/iso_parity" >"$2.txt" 2>>"$2.log" || code=$?
  # The lines of hashes alone: a bit that differs between backends has a line of its own.
  total=$(wc -l <"$reference")
  equal=$(grep -cxFf "$reference" "$2.txt" || true)
  if [ "$code" = 0 ] && cmp -s "$reference" "$2.txt"; then
    echo "$equal of $total"
  else
    echo "**$equal of $total**, exit code $code"
  fi
}

[ -z "$make" ] || make_root
[ -z "$all" ] || mapfile -t -O ${#rows[@]} rows < <(every_row)
if [ -n "$list" ]; then
  printf '%s\n' "${rows[@]}"
  exit
fi
results=$ISO_TOP/build/compilers/
[ -z "$root" ] || results+=$(basename "$root")-
mkdir -p "$ISO_TOP/build/compilers"
reference=$ISO_TOP/build/compilers/reference.txt
"$ISO_TOP/scripts/build.sh" "$preset" iso_parity >"$reference.log" 2>&1 ||
  fail "the reference did not build (log: $reference.log)" "Run scripts/setup.sh."
"$ISO_TOP/build/$preset/tests/parity/iso_parity" >"$reference" 2>>"$reference.log"

failed=0
echo "| compiler | options | same hashes as preset $preset |"
echo "| --- | --- | --- |"
for row in "${rows[@]}"; do
  compiler=${row%% *}
  options=${row#"$compiler"}
  name=${row// -/_}
  folder=$results${name//[^A-Za-z0-9+._-]/_}
  version=$(in_root "$compiler" -dumpfullversion -dumpversion 2>/dev/null) || version="not installed"
  found=$(verdict "$row" "$folder")
  echo "| $compiler ($version) | \`${options# }\` | $found |"
  case "$found" in [0-9]*) ;; *) failed=1 && echo "    log: $folder.log" >&2 ;; esac
done
exit $failed
