# SPDX-License-Identifier: BSD-3-Clause
include_guard(GLOBAL)

# Notes which tests or benchmarks are not in this build, and why: "... (...); install ...".
# scripts/test.sh and scripts/release.sh print it.
function(iso_left_out sentence)
  set_property(GLOBAL APPEND_STRING PROPERTY ISO_LEFT_OUT "${sentence}\n")
endfunction()

# At the end of the top folder.
function(iso_write_left_out)
  get_property(sentences GLOBAL PROPERTY ISO_LEFT_OUT)
  file(WRITE ${PROJECT_BINARY_DIR}/left_out.txt "${sentences}")
endfunction()
