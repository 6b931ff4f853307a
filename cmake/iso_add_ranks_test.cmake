# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
include(iso_add_program)

# A ctest case: a program run by so many ranks.
#
# iso_add_ranks_test(name program ranks [ARGS argument...] [LABELS label...])
#
# A rank that fails may leave the others waiting, until the time limit of all tests. Open MPI refuses more ranks than
# cores, and root, unless it is told.
function(iso_add_ranks_test name program ranks)
  cmake_parse_arguments(arg "" "" "ARGS;LABELS" ${ARGN})
  add_test(
    NAME ${name}
    COMMAND
      ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${program}> ${arg_ARGS}
  )
  if(NOT arg_LABELS)
    set(arg_LABELS unit ranks)
  endif()
  iso_set_test_properties(
    ${name}
    LABELS ${arg_LABELS}
    ENVIRONMENT
      "OMP_NUM_THREADS=1"
      "OMPI_ALLOW_RUN_AS_ROOT=1"
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
      "OMPI_MCA_rmaps_base_oversubscribe=1"
  )
endfunction()
