# SPDX-License-Identifier: BSD-3-Clause
# cmake -DISO=... -DFOLDER=... -P manual.cmake
# The man page and the completion of bash, by the tool that was just built. A machine without a driver
# cannot start one that was built for GPUs: then neither is made, nor installed.
file(MAKE_DIRECTORY ${FOLDER})
foreach(page IN ITEMS man completion)
  execute_process(
    COMMAND ${ISO} generate ${page}
    OUTPUT_FILE ${FOLDER}/${page}
    ERROR_VARIABLE said
    RESULT_VARIABLE code
  )
  if(NOT code EQUAL 0)
    file(REMOVE ${FOLDER}/${page})
    message(WARNING "iso does not start on this machine (${said}) no ${page} page is installed")
  endif()
endforeach()
