# SPDX-License-Identifier: BSD-3-Clause
# cmake -DISO=... -DFOLDER=... -P manual.cmake
# The man pages and the completion of bash, by the tool that was just built. A machine without a
# driver cannot start one that was built for GPUs: then neither is made, nor installed.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER}/man1)
foreach(words IN ITEMS "man;${FOLDER}/man1" "completion;${FOLDER}/completion")
  execute_process(COMMAND ${ISO} generate ${words} ERROR_VARIABLE said RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    file(REMOVE_RECURSE ${FOLDER})
    message(
      WARNING
      "iso does not start on this machine (${said}); build it again on one where it does, for no manual is installed"
    )
    break()
  endif()
endforeach()
