#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the tests on ranks and the tool with MPICH, in build/mpich, and runs all tests on ranks, the slow ones too.
# scripts/test.sh runs them by the MPI that CMake finds first, which is Open MPI in most places.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
take_no_argument "$@"
cd "$ISO_TOP"
for tool in mpicc.mpich mpiexec.mpich; do
  have $tool || fail "$tool is missing" "Install libmpich-dev."
done
cmake --preset openmp -B build/mpich -DISO_MPI=ON -DMPI_C_COMPILER=mpicc.mpich \
  -DMPIEXEC_EXECUTABLE="$(command -v mpiexec.mpich)" -DISO_BUILD_EXAMPLES=OFF -DISO_BUILD_PERF=OFF
cmake --build build/mpich --parallel "$(job_count)" --target \
  iso iso_write_rt_objects iso_test_spmv_ranks iso_test_ranked iso_test_ranked_plan iso_test_ranked_product
ctest --test-dir build/mpich --no-tests=error --output-on-failure -L '^ranks$'
