#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# How far the processes of one job scale, on one machine: runs the tests of ranks with every rank on
# this backend and compares bits first, then times strong and weak scaling and volumes that no single
# GPU holds, and prints a table.
#
#   perf/cluster/measure_ranks.sh --ranks "2 4" build/cuda results
#
# Options, before the build folder and that of the results:
#   --ranks LIST      numbers of processes, a GPU each ("2 4")
#   --backend NAME    cuda
#   --size N          voxels and pixels a side for one process (1024); --views N (720)
#   --repeats N       of each row (2)
#   --nonzeros N      of the dose matrix (1.5e9); --beams N of the plan (9)
#   --limit SECONDS   of the whole run (600): what does not fit is left out, and named
#   --mpirun COMMAND  and its options ("mpirun --bind-to none")
# A row whose bits differ, or that sends other bytes than the table in docs/algorithms/ranks.md has,
# bits and tests that are left out for want of time, and a program that fails or is not there make the
# exit status 1. Of a build without tests, the lines `not run` say so, and nothing fails.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ranks="2 4" backend=cuda size=1024 views=720 repeats=2 nonzeros=1.5e9 beams=9 limit=600
mpirun="mpirun --bind-to none"
while [[ "${1:-}" == --* ]]; do
  case $1 in
    --ranks | --backend | --size | --views | --repeats | --nonzeros | --beams | --limit | --mpirun)
      declare "${1#--}=${2:?$1 wants a value}"
      shift 2
      ;;
    *)
      echo "measure_ranks.sh: $1 (no such option); see the head of the script" >&2
      exit 2
      ;;
  esac
done
if [ $# -ne 2 ]; then
  echo "measure_ranks.sh: $# arguments (a build folder and one for results are wanted); give both" >&2
  exit 2
fi
programs=$1 results=$2
mkdir -p "$results"
read -ra launch <<<"$mpirun"
methods="sirt cgls total_variation os_sart"
failed=0 most=1
for n in $ranks; do most=$((n > most ? n : most)); done

program() { find "$programs" -name "$1" -type f -perm -u+x -print -quit; }

# timed NAME PROCESSES PROGRAM ARGUMENTS...
timed() {
  local name=$1 processes=$2 what=$3 path left=$((limit - SECONDS))
  shift 3
  path=$(program "$what")
  rm -f "$results/$name.json"
  if [ -z "$path" ]; then
    echo "$name: FAILED (no $what in $programs)"
    failed=1
    return
  elif [ "$left" -lt 15 ]; then
    echo "$name: left out ($left s are left)"
    # Times of what nobody has compared are no result.
    if [[ $name == bits_* ]]; then failed=1; fi
    return
  fi
  # A program that hangs leaves time to the others.
  timeout -k 5 $((left < 150 ? left : 150)) "${launch[@]}" -n "$processes" "$path" --backend "$backend" \
    --json "$results/$name.json" "$@" >"$results/$name.log" 2>&1 || {
    echo "$name: FAILED"
    tail -n 5 "$results/$name.log"
    failed=1
  }
  if grep -q DIFFER "$results/$name.log"; then
    echo "$name: BITS DIFFER"
    failed=1
  fi
}

# $1 times the work of `size` cubed: as many voxels a side, a multiple of 16.
side() { awk -v n="$size" -v times="$1" 'BEGIN { print int(n * times ^ (1 / 3) / 16 + 0.5) * 16 }'; }

# tested NAME PROCESSES COMMAND...
tested() {
  local name=$1 processes=$2 left=$((limit - SECONDS))
  shift 2
  if [ "$left" -lt 15 ]; then
    echo "$name: left out ($left s are left)"
    failed=1
    return
  fi
  # With one process a GPU: in tests ranks have unlike backends otherwise, and then nothing goes by NCCL.
  ISO_TEST_BACKEND=$backend OMP_NUM_THREADS=1 timeout -k 5 $((left < 150 ? left : 150)) \
    "${launch[@]}" -n "$processes" "$@" >"$results/$name.log" 2>&1 || {
    echo "$name: FAILED"
    tail -n 5 "$results/$name.log"
    failed=1
  }
}
for what in iso_test_ranked iso_test_ranked_plan iso_test_ranked_product; do
  path=$(program $what)
  for n in $ranks; do
    if [ -n "$path" ]; then
      tested "${what}_$n" "$n" "$path"
    else
      echo "not run: $what on $n ranks (it is not in $programs); build with -DISO_BUILD_TESTS=ON"
    fi
  done
done
# A process that is killed, or sent a signal, ends the others, also where they wait for a GPU's link.
path=$(program iso)
if [ -z "$path" ]; then
  echo "not run: the ends of ranks (no iso in $programs); build it"
elif [ "$most" -lt 2 ]; then
  echo "not run: the ends of ranks (one process has no others); give --ranks 2"
elif [ $((limit - SECONDS)) -ge 60 ]; then
  # shellcheck disable=SC2016
  printf '#!/usr/bin/env bash\nexec %s "$@"\n' "$mpirun" >"$results/launch"
  chmod +x "$results/launch"
  ISO_TEST_BACKEND=$backend OMP_NUM_THREADS=1 timeout -k 5 150 "$here/../../tests/ranks/test_ends.sh" \
    "$(realpath "$path")" "$(realpath "$results/launch")" "$most" >"$results/ends.log" 2>&1 || {
    echo "ends: FAILED"
    tail -n 5 "$results/ends.log"
    failed=1
  }
else
  echo "ends: left out ($((limit - SECONDS)) s are left)"
fi

read -ra rows <<<"forward adjoint fdk $methods"
small=$((size / 4 > 32 ? size / 4 : 32))
for n in $ranks; do
  timed "bits_$n" "$n" iso_ranks_speed --size $small --views 96 --repeats 1 --rows "${rows[@]}"
  timed "bits_tilted_$n" "$n" iso_ranks_speed --size $small --views 96 --pitch 1.5 --repeats 1 \
    --rows forward adjoint fdk sirt
  timed "bits_products_$n" "$n" iso_ranks_products --nonzeros 1e6 --repeats 1
  timed "bits_plan_$n" "$n" iso_ranks_plan --size 32 --beams 2 --cones 4 --repeats 1
done
for n in $ranks; do
  timed "strong_$n" "$n" iso_ranks_speed --size "$size" --views "$views" --repeats "$repeats" \
    --rows "${rows[@]}" blocks_of_8
done
for n in $ranks; do
  timed "weak_$n" "$n" iso_ranks_speed --size "$(side "$n")" --views "$views" --repeats 1 --alone \
    --rows fdk sirt cgls
done
if [ "$most" -ge 4 ]; then
  timed large "$most" iso_ranks_speed --size $((2 * size)) --views "$views" --repeats 1 --alone \
    --rows sirt
fi
# What two processes hold, and one streams (iso_bench_streamed, sirt of this size).
if [ "$most" -ge 2 ]; then
  timed held_by_2 2 iso_ranks_speed --size $((size * 3 / 2)) --views "$views" --repeats 1 --alone \
    --rows sirt
fi
for n in $ranks; do
  timed "products_$n" "$n" iso_ranks_products --nonzeros "$nonzeros" --repeats "$repeats"
  timed "dose_$n" "$n" iso_ranks_plan --size $((size / 4)) --beams "$beams" --cones 32 \
    --repeats "$repeats" --rows dose
  timed "gamma_$n" "$n" iso_ranks_plan --size $((size / 2)) --repeats "$repeats" --rows gamma
done
timed "staged_$most" "$most" iso_ranks_speed --size "$size" --views "$views" --repeats 1 --staged \
  --rows forward fdk sirt
python3 "$here/ranks_table.py" "$results" || failed=1
echo "$SECONDS s in all"
exit $failed
