# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)

# Sets ISO_HAS_MPI in the caller, and makes MPI::MPI_C where it does: as ISO_MPI says. ISO_MPI_MISSING
# then says why there is none.
function(iso_find_mpi)
  set(ISO_HAS_MPI FALSE PARENT_SCOPE)
  set(ISO_MPI_MISSING "MPI is turned off" PARENT_SCOPE)
  if(NOT ISO_MPI STREQUAL "AUTO" AND NOT ISO_MPI)
    return()
  endif()
  set(missing "MPI is not found")
  # A wrapper without headers, as Open MPI's run-time package leaves it, stops find_package with an error.
  find_program(ISO_MPI_WRAPPER NAMES ${MPI_C_COMPILER} mpicc)
  mark_as_advanced(ISO_MPI_WRAPPER)
  set(whole TRUE)
  if(ISO_MPI_WRAPPER)
    file(WRITE ${PROJECT_BINARY_DIR}/has_mpi.c "#include <mpi.h>\n")
    execute_process(
      COMMAND ${ISO_MPI_WRAPPER} -E ${PROJECT_BINARY_DIR}/has_mpi.c
      RESULT_VARIABLE failure
      OUTPUT_QUIET
      ERROR_QUIET
    )
    if(failure)
      set(whole FALSE)
      set(missing "${ISO_MPI_WRAPPER} finds no mpi.h")
    endif()
  endif()
  if(whole)
    find_package(MPI QUIET COMPONENTS C)
  endif()
  if(MPI_C_FOUND)
    set(ISO_HAS_MPI TRUE PARENT_SCOPE)
    set(MPIEXEC_EXECUTABLE "${MPIEXEC_EXECUTABLE}" PARENT_SCOPE)
    set(MPIEXEC_NUMPROC_FLAG "${MPIEXEC_NUMPROC_FLAG}" PARENT_SCOPE)
    # Imported targets belong to the folder that found them.
    set_target_properties(MPI::MPI_C PROPERTIES IMPORTED_GLOBAL TRUE)
  elseif(ISO_MPI STREQUAL "AUTO")
    set(ISO_MPI_MISSING "${missing}" PARENT_SCOPE)
  else()
    message(
      FATAL_ERROR
      "${missing} (ISO_MPI is ON); install libopenmpi-dev or another MPI, or set ISO_MPI=AUTO"
    )
  endif()
endfunction()
