# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)

# Sets ISO_HAS_NCCL everywhere, as ISO_NCCL says, and makes the target NCCL::nccl where it does. Programs
# that link the installed library name that target too, and find NCCL where they are built.
function(iso_find_nccl)
  set(ISO_HAS_NCCL FALSE CACHE INTERNAL "iso::mpi has NCCL")
  if(NOT ISO_NCCL STREQUAL "AUTO" AND NOT ISO_NCCL)
    return()
  endif()
  # Beside CUDA, or where packages of a system put it.
  find_package(CUDAToolkit QUIET)
  set(root ${NCCL_ROOT} $ENV{NCCL_ROOT})
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${root} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY nccl HINTS ${root} ${CUDAToolkit_LIBRARY_DIR} PATH_SUFFIXES lib lib64)
  mark_as_advanced(NCCL_INCLUDE_DIR NCCL_LIBRARY)
  if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
    set(ISO_HAS_NCCL TRUE CACHE INTERNAL "iso::mpi has NCCL")
    if(NOT TARGET NCCL::nccl)
      add_library(NCCL::nccl UNKNOWN IMPORTED GLOBAL)
      set_target_properties(
        NCCL::nccl
        PROPERTIES
          IMPORTED_LOCATION "${NCCL_LIBRARY}"
          INTERFACE_INCLUDE_DIRECTORIES "${NCCL_INCLUDE_DIR}"
      )
    endif()
  elseif(NOT ISO_NCCL STREQUAL "AUTO")
    message(
      FATAL_ERROR
      "NCCL is not found (ISO_NCCL is ON); install libnccl-dev, set NCCL_ROOT to its folder, or set ISO_NCCL=AUTO"
    )
  endif()
endfunction()
