# SPDX-License-Identifier: BSD-3-Clause
# cmake -DSOURCE=... -DWORK=... -DKOKKOS=... -DNINJA=... -P readme_steps.cmake
# The numbers of steps that the README names for two presets are those of ninja, to a twentieth: optional
# packages add some.
file(REMOVE_RECURSE ${WORK})
file(READ ${SOURCE}/README.md readme)
foreach(preset IN ITEMS openmp tool)
  if(NOT readme MATCHES "cmake --preset ${preset} [^\n]*# [^\n]* ([0-9]+) steps")
    message(FATAL_ERROR "README.md names no steps of preset ${preset}")
  endif()
  set(said ${CMAKE_MATCH_1})
  execute_process(
    COMMAND ${CMAKE_COMMAND} --preset ${preset} -B ${WORK}/${preset} -DKokkos_DIR=${KOKKOS}
    WORKING_DIRECTORY ${SOURCE}
    OUTPUT_QUIET
    COMMAND_ERROR_IS_FATAL ANY
  )
  execute_process(
    COMMAND ${NINJA} -C ${WORK}/${preset} -t commands
    OUTPUT_VARIABLE commands
    COMMAND_ERROR_IS_FATAL ANY
  )
  string(REGEX REPLACE "[^\n]+" "" lines "${commands}")
  string(LENGTH "${lines}" steps)
  math(EXPR least "${steps} * 19 / 20")
  math(EXPR most "${steps} * 21 / 20")
  message(STATUS "preset ${preset}: ${steps} steps, ${said} in README.md")
  if(said LESS least OR said GREATER most)
    message(SEND_ERROR "README.md names ${said} steps of preset ${preset}, and there are ${steps}")
  endif()
endforeach()
