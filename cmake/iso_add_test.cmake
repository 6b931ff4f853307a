# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
find_package(doctest REQUIRED)

# The main() of every test program: starts Kokkos, runs doctest, ends Kokkos.
function(iso_add_test_main)
  add_library(iso_test_main STATIC ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
  target_compile_features(iso_test_main PUBLIC cxx_std_20)
  target_include_directories(iso_test_main PUBLIC ${PROJECT_SOURCE_DIR}/tests/support)
  target_link_libraries(iso_test_main PUBLIC iso_iso doctest::doctest)
  iso_warnings(iso_test_main)
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
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE iso_test_main ${arg_LINK})
  iso_warnings(${target})
  add_test(NAME ${name} COMMAND ${target} ${arg_ARGS})
  iso_set_test_properties(
    ${name}
    LABELS ${arg_LABELS}
    TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT ${arg_ENVIRONMENT}
  )
endfunction()

# What every ctest case has: labels, a time limit, threads that nothing binds, one GPU job at once.
function(iso_set_test_properties name)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set_tests_properties(
    ${name}
    PROPERTIES
      LABELS "${arg_LABELS}"
      TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "OMP_PROC_BIND=false;${arg_ENVIRONMENT}"
      SKIP_RETURN_CODE 77
  )
  if(Kokkos_ENABLE_CUDA)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()
