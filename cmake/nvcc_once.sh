#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# nvcc_once.sh COMMAND...: runs a compile command. Where that is Kokkos' nvcc_wrapper, or goes to it by the launcher,
# nvcc lists the headers as it compiles; the wrapper runs nvcc a second time for the list, which takes
# a second of every file.
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
exec "${command[@]}"
