# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
include(iso_add_program)
find_package(benchmark REQUIRED)

# The main() of every benchmark program: perf/support.
function(iso_add_bench_main)
  iso_add_main(
    iso_bench_main
    SOURCE ${PROJECT_SOURCE_DIR}/perf/support/main.cpp
    INCLUDE ${PROJECT_SOURCE_DIR}/perf
    LINK iso_iso iso_cases iso_ceilings iso_oracle benchmark::benchmark
  )
endfunction()

# At the end of a folder of perf/: its programs are of the target `benchmarks`, and its ctest cases wait
# for them.
macro(iso_benchmarks_of_folder)
  get_property(programs DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  if(programs)
    set_target_properties(${programs} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    add_dependencies(benchmarks ${programs})
  endif()
  get_property(cases DIRECTORY PROPERTY TESTS)
  if(cases)
    set_tests_properties(${cases} PROPERTIES FIXTURES_REQUIRED benchmarks)
  endif()
endmacro()

# One Google Benchmark program, iso_bench_<name>, and its ctest case perf.<name>, which runs every row
# at its small size for a moment (label perf-smoke).
#
# iso_add_bench(name
#   SOURCES file...
#   [LINK target...])
function(iso_add_bench name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(
      FATAL_ERROR
      "iso_add_bench: ${name} has ${arg_UNPARSED_ARGUMENTS} (is none of its arguments); use SOURCES or LINK"
    )
  endif()
  set(target iso_bench_${name})
  iso_add_program(${target} SOURCES ${arg_SOURCES} LINK iso_bench_main ${arg_LINK})
  add_test(NAME perf.${name} COMMAND ${target} --benchmark_min_time=0.001)
  iso_set_test_properties(perf.${name} LABELS perf-smoke ENVIRONMENT ISO_PERF_SMOKE=1)
  set_tests_properties(perf.${name} PROPERTIES FAIL_REGULAR_EXPRESSION "ERROR OCCURRED")
endfunction()
