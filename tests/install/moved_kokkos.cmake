# SPDX-License-Identifier: BSD-3-Clause
# cmake -DPREFIX=... -DKOKKOS=... -DCONSUMER=... -DWORK=... -DCOMPILER=... -P moved_kokkos.cmake
# The package in PREFIX, as if its Kokkos (the folder KOKKOS, of KokkosConfig.cmake) had moved since:
# without a word it is refused with a sentence, with Kokkos_ROOT it is found.
file(REMOVE_RECURSE ${WORK})
file(COPY ${PREFIX}/ DESTINATION ${WORK}/prefix)
file(GLOB_RECURSE config ${WORK}/prefix/*/IsocenterConfig.cmake)
file(READ ${config} text)
string(REPLACE "${KOKKOS}" "/nowhere/Kokkos" moved "${text}")
if(moved STREQUAL text)
  message(FATAL_ERROR "${config} does not name ${KOKKOS}")
endif()
file(WRITE ${config} "${moved}")

# configure(name option...): the exit code and what was said, in `code` and `said`
function(configure name)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/${name} -DCMAKE_CXX_COMPILER=${COMPILER}
      -DCMAKE_PREFIX_PATH=${WORK}/prefix ${ARGN}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
  )
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(code ${code} PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()

unset(ENV{Kokkos_ROOT})
# A machine's own Kokkos must not be found either; the compiler's tools, looked for before, may be.
file(
  WRITE
  ${WORK}/alone.cmake
  "foreach(place IN ITEMS CMAKE_SYSTEM_PATH SYSTEM_ENVIRONMENT_PATH CMAKE_ENVIRONMENT_PATH PACKAGE_REGISTRY)
     set(CMAKE_FIND_USE_\${place} OFF)
   endforeach()"
)
configure(lost -DCMAKE_PROJECT_consumer_INCLUDE=${WORK}/alone.cmake)
if(code EQUAL 0 OR NOT said MATCHES "set Kokkos_ROOT to the folder where it is installed")
  message(FATAL_ERROR "without its Kokkos, exit code ${code}: ${said}")
endif()
cmake_path(SET root NORMALIZE ${KOKKOS}/../../..)
configure(found -DKokkos_ROOT=${root})
if(NOT code EQUAL 0)
  message(FATAL_ERROR "with Kokkos_ROOT=${root}, exit code ${code}: ${said}")
endif()
