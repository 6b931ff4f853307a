# SPDX-License-Identifier: BSD-3-Clause
# cmake -DSOURCE=... -DPRESET=... -DCONSUMER=... -DWORK=... -DCOMPILER=... -DKOKKOS=... -DGENERATOR=...
#   -DPYTHON=... -P plain_flags.cmake
# SOURCE configured without a preset, by itself and as a subfolder of CONSUMER, compiles the library with
# the options of the build folder PRESET. Nothing is built.
file(REMOVE_RECURSE ${WORK})
set(parts)
foreach(
  part
  IN
  ITEMS TESTS PERF EXAMPLES FILES APPS
)
  list(APPEND parts -DISO_BUILD_${part}=OFF)
endforeach()

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
endfunction()

configure(plain ${SOURCE} ${parts})
configure(subfolder ${CONSUMER} -DISOCENTER_SOURCE=${SOURCE} -DCMAKE_BUILD_TYPE=Release)
execute_process(
  COMMAND
    ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/plain_flags.py ${PRESET}/compile_commands.json
    plain=${WORK}/plain/compile_commands.json subfolder=${WORK}/subfolder/compile_commands.json
  COMMAND_ERROR_IS_FATAL ANY
)
