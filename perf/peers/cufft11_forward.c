// SPDX-License-Identifier: BSD-3-Clause
// A libcufft.so.11 (of CUDA 12) that hands its calls to the installed cuFFT 12 (of CUDA 13), with
// the functions that ASTRA 2.5 and RTK 2.7 are linked with and no others. Of the comparison only
// ASTRA's FDK calls them, but neither program loads without. Compiled by build_forwards.sh.
//
// Every argument of these functions is an integer or a pointer and fits a register.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*function)(long, long, long, long, long);

static function find(char const* name) {
  void* const library = dlopen("libcufft.so.12", RTLD_NOW | RTLD_LOCAL);
  function const found = library == NULL ? NULL : (function)dlsym(library, name);
  if (found == NULL) {
    fprintf(stderr, "%s: not found in libcufft.so.12 (%s)\n", name, dlerror());
    exit(1);
  }
  return found;
}

#define ISO_FORWARD(name)                              \
  int name(long a, long b, long c, long d, long e) {   \
    static function target;                            \
    if (target == NULL) {                              \
      target = find(#name);                            \
    }                                                  \
    return target(a, b, c, d, e);                      \
  }

ISO_FORWARD(cufftPlan1d)
ISO_FORWARD(cufftPlan2d)
ISO_FORWARD(cufftPlan3d)
ISO_FORWARD(cufftSetStream)
ISO_FORWARD(cufftExecR2C)
ISO_FORWARD(cufftExecC2R)
ISO_FORWARD(cufftDestroy)
