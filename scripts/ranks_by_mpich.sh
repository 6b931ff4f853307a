#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the tests on ranks with MPICH, in build/mpich, and runs those of 2 and 3 ranks. scripts/test.sh runs them by the
# MPI that CMake finds first, which is Open MPI in most places.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
take_no_argument "$@"
cd "$ISO_TOP"
for tool in mpicc.mpich mpiexec.mpich; do
  have $tool || fail "$tool is missing" "Install libmpich-dev."
done
cmake --preset openmp -B build/mpich -DISO_MPI=ON -DMPI_C_COMPILER=mpicc.mpich \
  -DMPIEXEC_EXECUTABLE="$(command -v mpiexec.mpich)" -DISO_BUILD_APPS=OFF -DISO_BUILD_EXAMPLES=OFF -DISO_BUILD_PERF=OFF
cmake --build build/mpich --parallel "$(job_count)" --target \
  iso_test_spmv_ranks iso_test_ranked iso_test_ranked_plan iso_test_ranked_product
ctest --test-dir build/mpich --no-tests=error --output-on-failure -R '^(spmv_ranks|ranked|ranked_plan|ranked_product)_[23]$'
