#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_many_processors.sh ISO LIBRARY
# On a machine of 600 processors, which LIBRARY makes of this one, the tool starts the 512 threads that
# Kokkos has room for, and as many as it is told.
iso=$1
tool=(env "LD_PRELOAD=$2" OMP_WAIT_POLICY=passive "$iso")
source "$(dirname "$0")/expect.sh"

# Where the system allows too few threads there is nothing to see.
for most in "$(ulimit -u)" "$(cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null | head -n 1)"; do
  if [[ $most =~ ^[0-9]+$ ]] && [ "$most" -lt 1200 ]; then
    skip "the threads of many processors (no more than $most are allowed here); raise the limit"
  fi
done

unset OMP_NUM_THREADS KOKKOS_NUM_THREADS
if "$iso" info --no-ceilings --backend openmp >/dev/null 2>&1; then
  expect 0 ' threads +512$' info --no-ceilings --backend openmp
  expect 0 ' threads +3$' info --no-ceilings --backend openmp --threads 3
  tool=(env KOKKOS_NUM_THREADS=5 "${tool[@]:1}")
  expect 0 ' threads +5$' info --no-ceilings --backend openmp
else
  skip 'the threads of many processors (this build has no OpenMP); use another preset'
fi

finish
