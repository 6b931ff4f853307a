# SPDX-License-Identifier: BSD-3-Clause
# cmake -DGIT=... -DSOURCE=... -DTEMPLATE=... -DRESULT=... -P git_revision.cmake
# Writes the revision of the folder SOURCE, with "-dirty" where tracked files differ from it, into
# RESULT; leaves RESULT alone where it has not changed. Empty where SOURCE is no git checkout.
set(ISO_GIT_REVISION "")
if(GIT AND EXISTS "${SOURCE}/.git")
  execute_process(
    COMMAND ${GIT} describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE ISO_GIT_REVISION
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
  )
endif()
configure_file(${TEMPLATE} ${RESULT} @ONLY)
