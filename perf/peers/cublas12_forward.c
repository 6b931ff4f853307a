// SPDX-License-Identifier: BSD-3-Clause
// A libcublas.so.12 that lets RTK 2.7 load where there is none. Its forward projection calls no
// function of cuBLAS; any that is called says so and ends the program. build_forwards.sh compiles
// this.
#include <stdio.h>
#include <stdlib.h>

#define ISO_REFUSE(name)                                                             \
  int name(void) {                                                                   \
    fputs(#name ": this libcublas.so.12 only stands in for loading\n", stderr);      \
    exit(1);                                                                         \
  }

ISO_REFUSE(cublasCreate_v2)
ISO_REFUSE(cublasDestroy_v2)
ISO_REFUSE(cublasSaxpy_v2)
ISO_REFUSE(cublasSaxpy_v2_64)
ISO_REFUSE(cublasDaxpy_v2)
ISO_REFUSE(cublasSdot_v2)
ISO_REFUSE(cublasDdot_v2)
ISO_REFUSE(cublasSscal_v2)
ISO_REFUSE(cublasDscal_v2)
