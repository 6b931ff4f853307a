# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)

# Sets ISO_HAS_NCCL in the caller, and NCCL_INCLUDE_DIR and NCCL_LIBRARY where it does: as ISO_NCCL says.
function(iso_find_nccl)
  set(ISO_HAS_NCCL FALSE PARENT_SCOPE)
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
    set(ISO_HAS_NCCL TRUE PARENT_SCOPE)
  elseif(NOT ISO_NCCL STREQUAL "AUTO")
    message(
      FATAL_ERROR
      "NCCL is not found (ISO_NCCL is ON); install libnccl-dev, set NCCL_ROOT to its folder, or set ISO_NCCL=AUTO"
    )
  endif()
endfunction()
