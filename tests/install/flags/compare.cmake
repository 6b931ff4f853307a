# SPDX-License-Identifier: BSD-3-Clause
# cmake -DALL=... -P compare.cmake, in the folder of the build: every program prints the hash of the plain
# one.
set(names plain native)
if(ALL)
  list(APPEND names optimised debug sanitised)
endif()
foreach(name IN LISTS names)
  execute_process(COMMAND ${name}/${name} RESULT_VARIABLE code OUTPUT_VARIABLE hash)
  message(STATUS "${name}: ${hash}")
  if(name STREQUAL "plain")
    set(expected "${hash}")
  endif()
  if(NOT code EQUAL 0 OR NOT hash MATCHES "^[0-9a-f]+\n$" OR NOT hash STREQUAL expected)
    message(SEND_ERROR "${name}: exit code ${code}, ${hash} instead of ${expected}")
  endif()
endforeach()
