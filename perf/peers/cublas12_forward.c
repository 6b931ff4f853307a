// SPDX-License-Identifier: BSD-3-Clause
// A libcublas.so.12 (of CUDA 12) that hands its calls to the installed cuBLAS 13 (of CUDA 13), with
// the functions that RTK 2.7 is linked with and no others. Its backprojection calls them to make its
// texture. Compiled by build_forwards.sh.
//
// Every argument of these functions is an integer or a pointer: six fit registers, a seventh takes
// a word of the stack.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*function)(long, long, long, long, long, long, long);

static function find(char const* name) {
  void* const library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
  function const found = library == NULL ? NULL : (function)dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "%s: not found in libcublas.so.13 (%s)\n", name, dlerror());
    exit(1);
  }
  return found;
}

#define ISO_FORWARD(name)                                            \
  int name(long a, long b, long c, long d, long e, long f, long g) { \
    static function target;                                          \
    if (target == NULL) {                                            \
      target = find(#name);                                          \
    }                                                                \
    return target(a, b, c, d, e, f, g);                              \
  }

ISO_FORWARD(cublasCreate_v2)
ISO_FORWARD(cublasDestroy_v2)
ISO_FORWARD(cublasSaxpy_v2)
ISO_FORWARD(cublasSaxpy_v2_64)
ISO_FORWARD(cublasDaxpy_v2)
ISO_FORWARD(cublasSdot_v2)
ISO_FORWARD(cublasDdot_v2)
ISO_FORWARD(cublasSscal_v2)
ISO_FORWARD(cublasDscal_v2)
