# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
include(iso_add_program)
find_package(doctest REQUIRED)

# The main() of every test program: starts Kokkos, runs doctest, ends Kokkos.
function(iso_add_test_main)
  iso_add_main(
    iso_test_main
    SOURCE ${PROJECT_SOURCE_DIR}/tests/support/main.cpp
    INCLUDE ${PROJECT_SOURCE_DIR}/tests/support
    LINK iso_iso doctest::doctest
  )
endfunction()

# One doctest program, one ctest case of the same name.
#
# iso_add_test(name
#   SOURCES file...
#   [LINK target...]
#   [LABELS label...]    default: unit; `slow` keeps it out of scripts/test.sh without --all
#   [TIMEOUT seconds]    default: 300
#   [ARGS argument...]   given to doctest
#   [ENVIRONMENT NAME=VALUE...])
function(iso_add_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK;LABELS;ARGS;ENVIRONMENT" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "iso_add_test(${name}): unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target iso_test_${name})
  iso_add_program(${target} SOURCES ${arg_SOURCES} LINK iso_test_main ${arg_LINK})
  add_test(NAME ${name} COMMAND ${target} ${arg_ARGS})
  iso_set_test_properties(
    ${name}
    LABELS ${arg_LABELS}
    TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT ${arg_ENVIRONMENT}
  )
endfunction()
