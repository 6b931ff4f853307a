# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

# ISO_CUDA against what the Kokkos that was found has: else minutes of nvcc end at a missing libcuda.
function(iso_check_cuda)
  if(ISO_CUDA STREQUAL "AUTO")
    return()
  endif()
  set(advice "set Kokkos_ROOT to another one, or ISO_CUDA=AUTO to build for what it has")
  if(Kokkos_ENABLE_CUDA AND NOT ISO_CUDA)
    message(
      FATAL_ERROR
      "Kokkos at ${Kokkos_DIR} has CUDA (this build is for processors); ${advice}"
    )
  elseif(ISO_CUDA AND NOT Kokkos_ENABLE_CUDA)
    message(FATAL_ERROR "Kokkos at ${Kokkos_DIR} has no CUDA (this build is for GPUs); ${advice}")
  endif()
endfunction()

# The numeric contract of docs/adr/0002-strict-numerics.md, as compile options that travel with the
# exported target: no contraction but the fma that is written, on host and device.
function(iso_strict_numerics target)
  # The other two change no value: they let loops with comparisons and square roots vectorise.
  target_compile_options(${target} PUBLIC -ffp-contract=off -fno-math-errno -fno-trapping-math)
endfunction()

# The instruction set x86-64-v3, as single flags: they add to a consumer's own -march and do not
# replace it. Scope is PUBLIC or PRIVATE.
function(iso_instruction_set target scope)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  # A program that has this project as a subfolder may name its options by add_compile_options.
  get_directory_property(options COMPILE_OPTIONS)
  if(
    ISO_X86_64_V3
    AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$"
    AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options}" MATCHES "(^|[ ;:])-march="
  )
    set(
      flags
      -mcx16
      -msahf
      -mpopcnt
      -mavx2
      -mfma
      -mf16c
      -mbmi
      -mbmi2
      -mlzcnt
      -mmovbe
      -mxsave
    )
    target_compile_options(${target} ${scope} ${flags})
  endif()
endfunction()

# Lets GCC inline what the kernels of these sources are made of, large lambdas above all, past its
# usual limits: for speed alone. Other sources would take minutes to compile and gain nothing.
function(iso_inline_kernels)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set_property(
    SOURCE ${ARGN}
    APPEND
    PROPERTY
      COMPILE_OPTIONS
        "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=inline-unit-growth=100000;--param=large-function-growth=100000;--param=large-stack-frame-growth=100000;--param=max-inline-insns-single=100000>"
  )
endfunction()

# One library of a layer, alias iso::<name>. Its header set is every .hpp under include/, and what
# HEADERS adds (generated ones): installed, and checked for self-containment by
# CMAKE_VERIFY_INTERFACE_HEADER_SETS. OPTIONAL_HEADERS are those among them that need a library which
# this one does not: installed, but not checked. PLAIN: without Kokkos, compiled by the host's compiler
# even where Kokkos has CUDA. NO_HEADERS: they are another library's of the same folder.
function(iso_add_layer name)
  cmake_parse_arguments(
    arg
    "PLAIN;NO_HEADERS"
    ""
    "SOURCES;HEADERS;OPTIONAL_HEADERS;LINK;PRIVATE_LINK"
    ${ARGN}
  )
  set(target iso_${name})
  set(headers)
  if(NOT arg_NO_HEADERS)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/*.hpp)
  endif()
  if(NOT Kokkos_ENABLE_CUDA)
    list(FILTER headers EXCLUDE REGEX "/cuda_check\\.hpp$")
  endif()
  foreach(header IN LISTS arg_HEADERS)
    cmake_path(ABSOLUTE_PATH header NORMALIZE)
    list(APPEND headers ${header})
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(TRANSFORM arg_OPTIONAL_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM headers ${arg_OPTIONAL_HEADERS})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(iso::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_sources(
    ${target}
    PUBLIC FILE_SET HEADERS BASE_DIRS include ${CMAKE_CURRENT_BINARY_DIR}/include FILES ${headers}
  )
  set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  set(optional_set)
  if(arg_OPTIONAL_HEADERS)
    set(optional_set FILE_SET optional_headers)
    target_sources(
      ${target}
      PUBLIC ${optional_set} TYPE HEADERS BASE_DIRS include FILES ${arg_OPTIONAL_HEADERS}
    )
  endif()
  target_link_libraries(${target} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
  iso_warnings(${target})
  if(arg_PLAIN)
    iso_strict_numerics(${target})
    iso_instruction_set(${target} PUBLIC)
  else()
    iso_quiet_nvcc(${target})
  endif()
  install(
    TARGETS ${target}
    EXPORT IsocenterTargets
    FILE_SET HEADERS ${optional_set}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  )
endfunction()

# For targets that nvcc compiles. Kernels are host and device functions of a group; with the host's
# group they call host functions, which nvcc notes (20011 to 20015) once for every call, and it does not
# know GCC's pragmas (1675). Where nvcc_once.sh reads what nvcc notes, it drops these notes, and takes
# any other host function that a kernel calls for an error.
function(iso_quiet_nvcc target)
  if(Kokkos_ENABLE_CUDA)
    set(unwanted 1675)
    get_property(launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
    if(NOT launcher MATCHES "/nvcc_once.sh ")
      list(APPEND unwanted 20011 20013 20014 20015)
    endif()
    foreach(number IN LISTS unwanted)
      target_compile_options(${target} PRIVATE "SHELL:-Xcudafe --diag_suppress=${number}")
    endforeach()
  endif()
endfunction()

# Where Kokkos' launcher hands files to nvcc_wrapper: nvcc runs once for each file, not twice.
function(iso_run_nvcc_once)
  get_property(launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
  if(Kokkos_ENABLE_CUDA AND launcher MATCHES "/nvcc_wrapper ")
    set_property(
      GLOBAL
      PROPERTY RULE_LAUNCH_COMPILE "${PROJECT_SOURCE_DIR}/cmake/nvcc_once.sh ${launcher}"
    )
  endif()
endfunction()

# For files that share most of what they include or instantiate: several at once (measured: a third to
# a half of the time). Without names, all of the target's, twenty at once, or eight where nvcc needs the
# memory. Files that are named, whose kernels take long, as one, and only where nvcc compiles them or
# CMAKE_UNITY_BUILD asks for it: a processor's compilers take them side by side, and inline by the size
# of the whole file. Joined files must not name two things alike.
function(iso_join_files target)
  if(Kokkos_ENABLE_CUDA OR NOT ARGN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  endif()
  if(ARGN)
    list(GET ARGN 0 group)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
  else()
    set(batch 20)
    if(Kokkos_ENABLE_CUDA)
      set(batch 8)
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

# Parses what nearly every source includes, Kokkos and core, once for all targets that are compiled with
# the same options: those of the library (position-independent), or of tests and the tool (`-O1`). It is
# for time alone: presets that do not ask for it compile every source with its own includes. Programs
# that a page quotes, and sources with an inliner's limits of their own, do without.
function(iso_precompile target)
  if(NOT ISO_PRECOMPILE OR Kokkos_ENABLE_CUDA)
    return()
  endif()
  get_target_property(independent ${target} POSITION_INDEPENDENT_CODE)
  set(headers iso_precompiled)
  if(independent)
    set(headers iso_precompiled_library)
  endif()
  if(NOT TARGET ${headers})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${headers}.cpp CONTENT "")
    add_library(${headers} OBJECT ${PROJECT_BINARY_DIR}/${headers}.cpp)
    target_link_libraries(${headers} PRIVATE iso_core)
    target_precompile_headers(${headers} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
    if(independent)
      set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    else()
      iso_optimise_little(${headers})
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

# For targets that read once what they are given and compute nothing, and for those whose kernels are
# the library's, such as tests: the rest of -O3 is compile time alone. BUT names sources with loops of
# their own that are a user's work, or are measured; nvcc then optimises all of the target.
function(iso_optimise_little target)
  cmake_parse_arguments(arg "" "" "BUT" ${ARGN})
  if(NOT CMAKE_CXX_FLAGS_RELEASE MATCHES "-O3" OR (arg_BUT AND Kokkos_ENABLE_CUDA))
    return()
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(arg_BUT)
    set_source_files_properties(${arg_BUT} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_source_files_properties(${arg_BUT} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    set_property(SOURCE ${arg_BUT} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
  endif()
endfunction()

function(iso_warnings target)
  if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wall -Wextra)
    # Vectors that cross a call by value, whose convention would depend on the compiler's flags.
    if(NOT Kokkos_ENABLE_CUDA)
      target_compile_options(${target} PRIVATE -Werror=psabi)
    endif()
  endif()
endfunction()

function(iso_install_package)
  # The first version of Kokkos that is another than this build's.
  math(EXPR next_minor "${Kokkos_VERSION_MINOR} + 1")
  set(ISO_KOKKOS_END ${Kokkos_VERSION_MAJOR}.${next_minor})
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/IsocenterConfig.cmake.in
    ${PROJECT_BINARY_DIR}/IsocenterConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Isocenter
  )
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/IsocenterConfigVersion.cmake
    COMPATIBILITY SameMinorVersion
  )
  install(
    FILES
      ${PROJECT_BINARY_DIR}/IsocenterConfig.cmake
      ${PROJECT_BINARY_DIR}/IsocenterConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Isocenter
  )
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(
    EXPORT IsocenterTargets
    NAMESPACE iso::
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Isocenter
  )
endfunction()
