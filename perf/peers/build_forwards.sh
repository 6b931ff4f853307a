#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build_forwards.sh FOLDER: the CUDA 12 libraries that the peers want besides the runtime, for a
# machine that has CUDA 13 alone. Put FOLDER on LD_LIBRARY_PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
versioned() { # soname, source, options of the compiler
  soname=$1 source=$2
  shift 2
  printf '%s { global: *; };\n' "$soname" >"$soname.map"
  ${CC:-cc} -O1 -shared -fPIC -Wl,-soname,"$soname" -Wl,--version-script="$soname.map" -o "$soname" "$@" "$source" -ldl
  rm "$soname.map"
}
forward() { # soname, library, functions
  all=
  for name in $3; do all="$all ISO_FORWARD($name)"; done
  versioned "$1" "$here/cuda12_forward.c" "-DISO_FORWARD_TO=\"$2\"" "-DISO_FORWARDED=$all"
}
cd "$1"
forward libcufft.so.11 libcufft.so.12 "cufftPlan1d cufftPlan2d cufftPlan3d cufftSetStream cufftExecR2C cufftExecC2R cufftDestroy"
forward libcublas.so.12 libcublas.so.13 "cublasCreate_v2 cublasDestroy_v2 cublasSaxpy_v2 cublasSaxpy_v2_64 cublasDaxpy_v2 \
  cublasSdot_v2 cublasDdot_v2 cublasSscal_v2 cublasDscal_v2"
printf 'int iso_stands_in_for_cublaslt;\n' >lt.c
versioned libcublasLt.so.12 lt.c
rm lt.c
