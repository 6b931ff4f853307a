#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_busy_machine.sh ISO
# Where other programs keep the cores busy, the tool's threads wait without spinning, unless the
# environment says how they wait.
iso=$1
tool=("$iso")
source "$(dirname "$0")/expect.sh"

if [ "$(nproc)" -lt 2 ] || ! "$iso" info --no-ceilings --backend openmp >/dev/null 2>&1 ||
  ! OMP_DISPLAY_ENV=verbose "$iso" --version 2>&1 | grep -q GOMP_SPINCOUNT; then
  skip 'how threads wait (it needs two cores and the OpenMP of GCC); run it on such a machine'
fi
unset OMP_WAIT_POLICY GOMP_SPINCOUNT KMP_BLOCKTIME OMP_NUM_THREADS

jobs=()
for ((n = 0; n < 2 * $(nproc); ++n)); do
  while :; do :; done &
  jobs+=($!)
done
# spins COUNT COMMAND...: how often a thread of the program that runs in the end looks before it sleeps
spins() {
  local said
  said=$(OMP_DISPLAY_ENV=verbose "${@:2}" 2>&1 >/dev/null | grep GOMP_SPINCOUNT | tail -n 1)
  [[ $said == *"'$1'"* ]] || fail "${*:2}: $said instead of $1"
}
spins 0 "$iso" --version
spins 30000000000 env OMP_WAIT_POLICY=active "$iso" --version
spins 77 env GOMP_SPINCOUNT=77 "$iso" --version
spins 300000 env OMP_NUM_THREADS=1 "$iso" --version
# The arguments, the exit code and the process are those of the first start.
expect 2 "'frob frob' is not known" 'frob frob'
expect 0 '^iso [0-9]' --version
kill "${jobs[@]}"
wait "${jobs[@]}" 2>/dev/null

finish
