#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# nvcc_once.sh COMMAND...: runs a compile command. Where that is Kokkos' nvcc_wrapper, or goes to it by the launcher,
# nvcc lists the headers as it compiles; the wrapper runs nvcc a second time for the list, which takes
# a second of every file. A kernel that calls a host function ends the build: nvcc only notes it, and the
# kernel then does nothing. The notes about groups of a processor's lanes, which no GPU runs, are dropped,
# and those about constexpr functions, which are called where nvcc computes.
set -eu
case "${1##*/} $* " in nvcc_wrapper\ * | *' -DKOKKOS_DEPENDENCE '*) ;; *) exec "$@" ;; esac
original=("$@") command=() list=""
while [ $# -gt 0 ]; do
  case $1 in
    -MD) list="$list $1" ;;
    -MT | -MF)
      # The variable cannot hold a name with a space in it.
      case ${2:?} in *[[:space:]]*) exec "${original[@]}" ;; esac
      list="$list $1 $2" && shift
      ;;
    *) command+=("$1") ;;
  esac
  shift
done
export NVCC_APPEND_FLAGS="${NVCC_APPEND_FLAGS:-}$list"
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
status=0
"${command[@]}" 2>"$notes" || status=$?
# Whatever ended it may stand beside a note.
if [ "$status" -ne 0 ]; then
  cat "$notes" >&2
  exit "$status"
fi
# A note and what it is about ends with an empty line.
awk -v RS= -v ORS='\n\n' '
  /warning #2001[1-5]-D: calling a / {
    if (/calling a __host__ function\("[^"]*iso::backend::(avx2|avx512|portable)::/) next
    if (/calling a constexpr __host__/) next
    if (/calling a __host__ function from/ && /iso::backend::(avx2|avx512|portable)::/) next
    failed = 1
    sub(/warning #/, "error: a kernel calls a host function, #")
  }
  /^Remark: The warnings can be suppressed/ { next }
  { print }
  END { exit failed }
' "$notes" >&2 || status=1
exit "$status"
