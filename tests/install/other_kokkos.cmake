# SPDX-License-Identifier: BSD-3-Clause
# cmake -DPREFIX=... -DSOURCE=... -DWORK=... -DVERSION=... -DDEVICES=...
#   -DCOMPILER=... -P other_kokkos.cmake
# The package in PREFIX, of Kokkos VERSION with DEVICES, where another Kokkos is found or another
# component is asked for: under QUIET no error ends a program's configuration, and a sentence says why.
# And SOURCE, where it is built for another machine than Kokkos.
file(REMOVE_RECURSE ${WORK})
file(
  WRITE
  ${WORK}/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.25)
   project(asks LANGUAGES NONE)
   if(BEFORE)
     find_package(Kokkos REQUIRED)
   endif()
   find_package(Isocenter QUIET COMPONENTS \${COMPONENT})
   message(STATUS \"found: \${Isocenter_FOUND}, \${Isocenter_NOT_FOUND_MESSAGE}\")"
)

# A Kokkos that is nothing but its answers.
function(make_kokkos folder version devices)
  file(
    WRITE
    ${folder}/KokkosConfig.cmake
    "set(Kokkos_DEVICES \"${devices}\")
     foreach(device IN LISTS Kokkos_DEVICES)
       set(Kokkos_ENABLE_\${device} ON)
     endforeach()
     if(NOT TARGET Kokkos::kokkos)
       add_library(Kokkos::kokkos INTERFACE IMPORTED)
     endif()
     function(kokkos_check)
       message(FATAL_ERROR \"kokkos_check\")
     endfunction()"
  )
  file(
    WRITE
    ${folder}/KokkosConfigVersion.cmake
    "set(PACKAGE_VERSION ${version})
     if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
       set(PACKAGE_VERSION_COMPATIBLE TRUE)
     endif()"
  )
endfunction()

# expect(name found pattern option...)
function(expect name found pattern)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/${name} -DCMAKE_PREFIX_PATH=${PREFIX}
      -Dfmt_DIR=${WORK}/fmt ${ARGN}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
  )
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(NOT code EQUAL 0 OR NOT said MATCHES "found: ${found}, .*${pattern}")
    message(SEND_ERROR "${name}: exit code ${code} or another sentence than '${pattern}': ${said}")
  endif()
  if(said MATCHES "found: ${no}" AND NOT said MATCHES "found: [A-Z0-9]+, [^(]+ [(].+[)]; [a-z]")
    message(SEND_ERROR "${name}: no problem (reason); advice: ${said}")
  endif()
endfunction()

# Need no language.
file(WRITE ${WORK}/fmt/fmtConfig.cmake "add_library(fmt::fmt INTERFACE IMPORTED)")
set(no "(0|FALSE)")
make_kokkos(${WORK}/serial ${VERSION} SERIAL)
expect(lacks_a_backend "${no}" "has no OPENMP" -DKokkos_DIR=${WORK}/serial)
make_kokkos(${WORK}/more ${VERSION} "${DEVICES};SYCL")
expect(has_a_backend_more "${no}" "has SYCL .Isocenter was built with" -DKokkos_DIR=${WORK}/more)
# Other versions: a patch is none.
string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)" numbers "${VERSION}")
set(major ${CMAKE_MATCH_1})
set(minor ${CMAKE_MATCH_2})
math(EXPR next_minor "${minor} + 1")
math(EXPR next_patch "${CMAKE_MATCH_3} + 1")
set(
  needed
  "Kokkos ${VERSION} or a later patch of ${major}.${minor} is needed, and what is found is"
)
make_kokkos(${WORK}/patched ${major}.${minor}.${next_patch} "${DEVICES}")
expect(patched "(1|TRUE)" "" -DKokkos_DIR=${WORK}/patched)
make_kokkos(${WORK}/newer ${major}.${next_minor}.0 "${DEVICES}")
expect(newer "${no}" "${needed} ${major}.${next_minor}.0" -DKokkos_DIR=${WORK}/newer)
# A program that has found it already, and a version file that takes any.
expect(
  newer_before
  "${no}"
  "${needed} ${major}.${next_minor}.0"
  -DKokkos_DIR=${WORK}/newer
  -DBEFORE=ON
)
make_kokkos(${WORK}/old 4.7.1 "${DEVICES}")
expect(too_old "${no}" "${needed} 4.7.1" -DKokkos_DIR=${WORK}/old)
expect(unknown_component "${no}" "there is no component nonsense" -DCOMPONENT=nonsense)

# refuse(name pattern option...): configuring SOURCE ends with a sentence
function(refuse name pattern)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/${name} -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
  )
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  if(code EQUAL 0 OR NOT said MATCHES "${pattern}")
    message(SEND_ERROR "${name}: exit code ${code} or another sentence than '${pattern}': ${said}")
  endif()
endfunction()

make_kokkos(${WORK}/cuda ${VERSION} "SERIAL;CUDA")
set(advice "set Kokkos_ROOT to another one, or ISO_CUDA=AUTO")
refuse(
  cuda_unwanted
  "has CUDA .this build is for processors.; ${advice}"
  -DISO_CUDA=OFF
  -DKokkos_DIR=${WORK}/cuda
)
refuse(
  cuda_missing
  "has no CUDA .this build is for GPUs.; ${advice}"
  -DISO_CUDA=ON
  -DKokkos_DIR=${WORK}/serial
)
