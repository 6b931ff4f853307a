#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build_forwards.sh FOLDER: the CUDA 12 libraries that the peers want besides the runtime, for a
# machine that has CUDA 13 alone. Put FOLDER on LD_LIBRARY_PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
versioned() { # soname, source
  printf '%s { global: *; };\n' "$1" >"$1.map"
  ${CC:-cc} -O1 -shared -fPIC -Wl,-soname,"$1" -Wl,--version-script="$1.map" -o "$1" "$2" -ldl
  rm "$1.map"
}
cd "$1"
versioned libcufft.so.11 "$here/cufft11_forward.c"
versioned libcublas.so.12 "$here/cublas12_forward.c"
printf 'int iso_stands_in_for_cublaslt;\n' >lt.c
versioned libcublasLt.so.12 lt.c
rm lt.c
