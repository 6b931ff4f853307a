// SPDX-License-Identifier: BSD-3-Clause
// A library of CUDA 12 that hands its calls to the installed one of CUDA 13: libcufft.so.11 to cuFFT
// 12, with the functions that ASTRA 2.5 and RTK 2.7 are linked with, or libcublas.so.12 to cuBLAS
// 13, with those of RTK, whose backprojection makes its texture by them. Of the comparison only
// ASTRA's FDK calls cuFFT, but neither program loads without. Compiled by build_forwards.sh.
//
// Every argument of these functions is an integer or a pointer: six fit registers, a seventh takes
// a word of the stack.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*function)(long, long, long, long, long, long, long);

static function find(char const* name) {
  void* const library = dlopen(ISO_FORWARD_TO, RTLD_NOW | RTLD_LOCAL);
  function const found = library == NULL ? NULL : (function)dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "%s: not found in %s (%s)\n", name, ISO_FORWARD_TO, dlerror());
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
ISO_FORWARDED
