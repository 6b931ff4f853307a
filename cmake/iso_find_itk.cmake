# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)

# find_package(ITK ...) without what GDCM's package says on the way: eight lines for each of its
# programs that is not installed, of which none is wanted.
macro(iso_find_itk)
  set(iso_log_level "${CMAKE_MESSAGE_LOG_LEVEL}")
  set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
  find_package(ITK 5 ${ARGN})
  set(CMAKE_MESSAGE_LOG_LEVEL "${iso_log_level}")
  if(NOT iso_log_level)
    unset(CMAKE_MESSAGE_LOG_LEVEL)
  endif()
endmacro()
