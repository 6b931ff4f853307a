# SPDX-License-Identifier: BSD-3-Clause
# cmake -DSOURCE=... -DPRESET=... -DCONSUMER=... -DWORK=... -DCOMPILER=... -DKOKKOS=... -DGENERATOR=...
#   -DPYTHON=... -DFILES=... -P plain_flags.cmake
# SOURCE configured without a preset, by itself, as a subfolder of CONSUMER and by FetchContent, compiles
# the library with the options of the build folder PRESET; with a -march of the program,
# with what that takes. FILES says whether iso::files is among it. Nothing is built.
file(REMOVE_RECURSE ${WORK})
set(parts)
foreach(part IN ITEMS TESTS PERF EXAMPLES APPS)
  list(APPEND parts -DISO_BUILD_${part}=OFF)
endforeach()
list(APPEND parts -DISO_BUILD_FILES=${FILES})

# configure(name source option...)
function(configure name source)
  execute_process(
    COMMAND
      ${CMAKE_COMMAND} -S ${source} -B ${WORK}/${name} -G ${GENERATOR}
      -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_CXX_COMPILER=${COMPILER} -DKokkos_DIR=${KOKKOS}
      ${ARGN}
    RESULT_VARIABLE code
    OUTPUT_VARIABLE said
    ERROR_VARIABLE said
  )
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${name} does not configure: ${said}")
  endif()
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(said "${said}" PARENT_SCOPE)
  file(READ ${WORK}/${name}/compile_commands.json commands)
  set(commands "${commands}" PARENT_SCOPE)
endfunction()

configure(plain ${SOURCE} ${parts})
set(subfolder -DISOCENTER_SOURCE=${SOURCE} -DISO_BUILD_FILES=${FILES})
configure(subfolder ${CONSUMER} ${subfolder} -DCMAKE_BUILD_TYPE=Release)
file(
  WRITE
  ${WORK}/fetches/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.25)
   project(fetches LANGUAGES CXX)
   include(FetchContent)
   FetchContent_Declare(isocenter URL nowhere)
   FetchContent_MakeAvailable(isocenter)"
)
configure(
  fetched
  ${WORK}/fetches
  -DFETCHCONTENT_SOURCE_DIR_ISOCENTER=${SOURCE}
  -DISO_BUILD_FILES=${FILES}
  -DCMAKE_BUILD_TYPE=Release
)
set(ways)
foreach(way IN ITEMS plain subfolder fetched)
  list(APPEND ways ${way}=${WORK}/${way}/compile_commands.json)
endforeach()
execute_process(
  COMMAND ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/plain_flags.py ${PRESET}/compile_commands.json ${ways}
  COMMAND_ERROR_IS_FATAL ANY
)

# The processor that a program names by add_compile_options is the one that is compiled for.
file(WRITE ${WORK}/march.cmake "add_compile_options(-march=x86-64-v2)")
configure(march ${CONSUMER} ${subfolder} -DCMAKE_PROJECT_consumer_INCLUDE=${WORK}/march.cmake)
if(commands MATCHES "-mavx2" OR NOT commands MATCHES "-march=x86-64-v2")
  message(SEND_ERROR "a program's -march=x86-64-v2 gets -mavx2 besides")
endif()
# A program without a build type gets a library without optimisation, which is said.
if(NOT said MATCHES "without optimisation .CMAKE_BUILD_TYPE is empty")
  message(SEND_ERROR "an empty CMAKE_BUILD_TYPE is not said: ${said}")
endif()
