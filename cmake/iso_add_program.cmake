# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
include(iso_test_costs)

# A static library with the main() that all programs of one kind share.
#
# iso_add_main(target SOURCE file INCLUDE folder LINK target...)
function(iso_add_main target)
  cmake_parse_arguments(arg "" "SOURCE;INCLUDE" "LINK" ${ARGN})
  add_library(${target} STATIC ${arg_SOURCE})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC ${arg_INCLUDE})
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  iso_warnings(${target})
endfunction()

# A program: SOURCES, and LINK, the first of which is its main().
function(iso_add_program target)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_LINK})
  iso_warnings(${target})
endfunction()

# What every ctest case has: labels, its cost (iso_test_costs.cmake), a time limit, which is for hangs
# alone (default: 1,800 s), threads that nothing binds and that sleep while they wait (cases run at the
# same time on the same cores), one GPU job at once.
function(iso_set_test_properties name)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1800)
  endif()
  get_property(quick GLOBAL PROPERTY ISO_QUICK_TESTS)
  if(name IN_LIST quick)
    list(APPEND arg_LABELS quick)
  endif()
  get_property(costs GLOBAL PROPERTY ISO_TEST_COSTS)
  if("${costs}" MATCHES ";${name} ([0-9]+) ([0-9]+);")
    set(cost ${CMAKE_MATCH_1})
    set(processors ${CMAKE_MATCH_2})
  else()
    set(cost 0)
    set(processors 1)
  endif()
  set_tests_properties(
    ${name}
    PROPERTIES
      LABELS "${arg_LABELS}"
      COST ${cost}
      PROCESSORS ${processors}
      TIMEOUT ${arg_TIMEOUT}
      ENVIRONMENT "OMP_PROC_BIND=false;OMP_WAIT_POLICY=passive;${arg_ENVIRONMENT}"
      SKIP_RETURN_CODE 77
  )
  if(Kokkos_ENABLE_CUDA)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()
