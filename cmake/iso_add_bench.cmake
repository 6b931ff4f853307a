# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
find_package(benchmark REQUIRED)

# The main() of every benchmark program: perf/support.
function(iso_add_bench_main)
  add_library(iso_bench_main STATIC ${PROJECT_SOURCE_DIR}/perf/support/main.cpp)
  target_compile_features(iso_bench_main PUBLIC cxx_std_20)
  target_include_directories(iso_bench_main PUBLIC ${PROJECT_SOURCE_DIR}/perf)
  target_link_libraries(iso_bench_main PUBLIC iso_iso benchmark::benchmark)
  iso_warnings(iso_bench_main)
endfunction()

# One Google Benchmark program, iso_bench_<name>, and its ctest case perf.<name>, which runs every row
# at its small size for a moment (label perf-smoke).
#
# iso_add_bench(name
#   SOURCES file...
#   [LINK target...])
function(iso_add_bench name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "iso_add_bench(${name}): unknown argument: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target iso_bench_${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE iso_bench_main ${arg_LINK})
  iso_warnings(${target})
  add_test(NAME perf.${name} COMMAND ${target} --benchmark_min_time=0.001)
  set_tests_properties(
    perf.${name}
    PROPERTIES
      LABELS perf-smoke
      TIMEOUT 300
      ENVIRONMENT "ISO_PERF_SMOKE=1;OMP_PROC_BIND=false"
      FAIL_REGULAR_EXPRESSION "ERROR OCCURRED"
  )
  if(Kokkos_ENABLE_CUDA)
    set_tests_properties(perf.${name} PROPERTIES RESOURCE_LOCK gpu)
  endif()
endfunction()
