# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
include(iso_add_program)
find_package(doctest REQUIRED)
# An assertion is one call, which compiles in less time. What its expression throws ends the test case,
# which then fails.
target_compile_definitions(doctest::doctest INTERFACE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)

# The main() of every test program: starts Kokkos, runs doctest, ends Kokkos.
function(iso_add_test_main)
  iso_add_main(
    iso_test_main
    SOURCE ${PROJECT_SOURCE_DIR}/tests/support/main.cpp
    INCLUDE ${PROJECT_SOURCE_DIR}/tests/support
    LINK iso_iso iso_oracle doctest::doctest
  )
endfunction()

# One doctest program, one ctest case of the same name.
#
# iso_add_test(name
#   SOURCES file...
#   [JOIN]               one program with the others of this folder that say so, which share what they
#                        include and instantiate
#   [OPTIMISED]          compiled with the preset's own options, for what is measured or looked into;
#                        JOIN then holds where nvcc compiles alone
#   [SLOW pattern...]    test cases of these names are a ctest case of their own, <name>_slow, with
#                        the label slow
#   [LINK target...]
#   [LABELS label...]    default: unit; `slow` keeps it out of scripts/test.sh without --all
#   [ARGS argument...]   given to doctest
#   [ENVIRONMENT NAME=VALUE...])
function(iso_add_test name)
  cmake_parse_arguments(arg "JOIN;OPTIMISED" "" "SOURCES;SLOW;LINK;LABELS;ARGS;ENVIRONMENT" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(
      FATAL_ERROR
      "iso_add_test: ${name} has ${arg_UNPARSED_ARGUMENTS} (is none of its arguments); use those that its comment lists"
    )
  endif()
  set(target iso_test_${name})
  set(joined FALSE)
  if(arg_JOIN AND (Kokkos_ENABLE_CUDA OR NOT arg_OPTIMISED))
    set(joined TRUE)
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
    set(target iso_tests_${folder})
    set(patterns ${arg_SOURCES})
    list(TRANSFORM patterns PREPEND "*/${folder}/")
    list(JOIN patterns "," patterns)
    list(PREPEND arg_ARGS "--source-file=${patterns}")
  endif()
  if(joined AND TARGET ${target})
    target_sources(${target} PRIVATE ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE ${arg_LINK})
  else()
    iso_add_program(${target} SOURCES ${arg_SOURCES} LINK iso_test_main ${arg_LINK})
    # A test that has kernels of its own to measure or to look into has OPTIMISED.
    if(NOT arg_OPTIMISED AND NOT Kokkos_ENABLE_CUDA)
      iso_optimise_little(${target})
      iso_precompile(${target})
    endif()
  endif()
  set(names ${name})
  set(filter)
  if(arg_SLOW)
    list(APPEND names ${name}_slow)
    list(JOIN arg_SLOW "," slow)
    set(filter "--test-case-exclude=${slow}")
  endif()
  add_test(NAME ${name} COMMAND ${target} ${arg_ARGS} ${filter})
  iso_set_test_properties(${name} LABELS ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
  if(arg_SLOW)
    add_test(NAME ${name}_slow COMMAND ${target} ${arg_ARGS} "--test-case=${slow}")
    iso_set_test_properties(${name}_slow LABELS slow ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
  endif()
  if(joined)
    iso_join_files(${target})
  endif()
  if(joined OR arg_SLOW)
    set_tests_properties(${names} PROPERTIES FAIL_REGULAR_EXPRESSION "test cases: +0 ")
  endif()
endfunction()
