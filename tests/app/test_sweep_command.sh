#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_sweep_command.sh ISO EXAMPLE_SWEEPS SCRIPTS DOC_FOLDER
# iso sweep as one to four processes on this host: killed, resumed, slowed on purpose, merged. Merges
# need NumPy.
iso=$1
examples=$2
scripts=$3
documents=$4
tool=("$iso")
source "$(dirname "$0")/expect.sh"
export OMP_NUM_THREADS=1

cat >sweep.json <<'END'
{"rounds": 2, "repeats": 3, "seconds": 0, "sets": [
  {"operations": ["forward_project", "back_project", "fdk", "dose_terma"], "sizes": [16, 18, 20], "backends": ["serial"]},
  {"operations": ["fma"], "sizes": [16], "precisions": ["float", "double"], "backends": ["serial"]},
  {"operations": ["radiological_path"], "sizes": [16], "backends": ["serial"], "groups_per_launch": [0, 3]}]}
END
points=32
lines() { grep -c '"record":"point"' "$1"; }

# Usage.
expect 0 'forward_project .*voxels along each side' sweep --list
expect 0 '--against' sweep --help
expect 2 'nothing to do, or two things' sweep
expect 2 'nothing to do, or two things' sweep --file sweep.json --merge a.jsonl
expect 2 'nowhere to write' sweep --file sweep.json
expect 2 'only --merge makes one' sweep --file sweep.json --output r.jsonl --against before.json
expect 2 'no UTF-8' sweep --file sweep.json --output r.jsonl --node $'n\xff'
expect 2 "'none.json' cannot be opened" sweep --file none.json --output r.jsonl
expect 2 'give both' sweep --file sweep.json --output r.jsonl --rank 3
expect 2 'rank counts from 0' sweep --file sweep.json --output r.jsonl --rank 3 --ranks 3
expect 2 'cannot be written' sweep --file sweep.json --output none/r.jsonl
expect 2 "'none.jsonl' cannot be (opened|read)|no NumPy" sweep --merge none.jsonl

# What is no sweep's stays as it is.
for text in 'notes without an end' '{"sets": []}' '\211PNG\r\000\377' 'two\nlines\n'; do
  printf "$text" >notes
  cp notes notes.before
  expect 2 "'notes.*(holds no results of a sweep .* remove the file|line 1)" sweep --file sweep.json --output notes
  cmp -s notes notes.before || fail "a file of '$text' was changed"
done

# The given sweeps hold nothing that is not in the table.
for given in quick full memory_bound; do
  expect 0 '^[1-9][0-9]* points, 3 rounds' sweep --list --file "$examples/$given.json"
done
expect 0 '^radiological_path 16 float serial x1 in launches of 3$' sweep --list --file sweep.json
says '^16 points, 2 rounds'
[ ! -e r.jsonl ] || fail 'a list left a file'

# What is not in the table.
one() { echo "{\"rounds\": 1, \"repeats\": 3, \"seconds\": 0, \"sets\": [{\"backends\": [\"serial\"], $1}]}" >one.json; }
one '"operations": ["forward"], "sizes": [16]'
expect 2 "operation 'forward' is not known \\(there are memory_read, .*choose one" sweep --file one.json --output r.jsonl
one '"operations": ["fdk"], "sizes": [8]'
expect 2 'fdk of size 8 cannot be measured \(its size counts voxels along each side, from 16' sweep --file one.json --output r.jsonl
one '"operations": ["fdk"], "sizes": [16], "precisions": ["half"]'
expect 2 'fdk in half cannot be measured \(it runs in float, double\)' sweep --file one.json --output r.jsonl
one '"operations": ["fdk"], "sizes": [16], "groups_per_launch": [4]'
expect 0 '1 of 1 measurements' sweep --file one.json --output fixed.jsonl
[ ! -e r.jsonl ] || fail 'a refused sweep left a file'
echo '{"sets": [{"operations": ["fdk"], "sizes": [16], "backends": ["tpu"]}]}' >one.json
expect 2 'field /sets/0/backends/0 is "tpu"' sweep --file one.json --output r.jsonl

# A size that does not fit is left out with a sentence; the others are kept.
one '"operations": ["fdk"], "sizes": [2048, 16], "precisions": ["double"]'
expect 3 'left out: fdk 2048 double serial: [0-9]+ bytes do not fit the memory' sweep --file one.json --output fits.jsonl
says '1 of 2 measurements'

# One process; a second start has nothing left to do.
expect 0 "$points of $points measurements in quiet.jsonl\$" sweep --file sweep.json --output quiet.jsonl --quiet
[ "$(wc -l <<<"$answer")" = 1 ] || fail "a quiet sweep prints more than its result: $answer"
expect 0 "$points of $points measurements in r.jsonl\$" sweep --file sweep.json --output r.jsonl
expect 0 "$points of $points measurements in r.jsonl, $points of them from an earlier start" sweep --file sweep.json --output r.jsonl
[ "$(lines r.jsonl)" = $points ] || fail "r.jsonl has $(lines r.jsonl) points"
one '"operations": ["fdk"], "sizes": [16]'
expect 2 "holds results of sweep .* choose another name by --output" sweep --file one.json --output r.jsonl
expect 2 'holds results of node' sweep --file sweep.json --output r.jsonl --node another
if OMP_NUM_THREADS=2 "$iso" info --no-ceilings --backend openmp >/dev/null 2>&1; then
  export OMP_NUM_THREADS=2
  expect 2 'holds results of threads 1 \(this run has threads 2\)' sweep --file sweep.json --output r.jsonl
  export OMP_NUM_THREADS=1
fi

# Killed while it measures: what was measured is there, and the next start goes on.
"$iso" sweep --file sweep.json --output killed.jsonl --slow-down 300 >/dev/null 2>&1 &
job=$!
for ((i = 0; i < 3000; ++i)); do
  [ "$(lines killed.jsonl 2>/dev/null || true)" -ge 2 ] 2>/dev/null && break
  sleep 0.01
done
expect 2 'is being written by another process' sweep --file sweep.json --output killed.jsonl
kill -KILL $job
wait $job 2>/dev/null
before=$(lines killed.jsonl)
[ "$before" -ge 2 ] && [ "$before" -lt $points ] || fail "killed at $before points"
# As if within a line.
printf '{"record":"point","oper' >>killed.jsonl
cp killed.jsonl cut.jsonl
expect 0 'last line of .* was cut short' sweep --file sweep.json --output killed.jsonl
says "$points of $points measurements in killed.jsonl, $before of them"
[ "$(lines killed.jsonl)" = $points ] || fail "killed.jsonl has $(lines killed.jsonl) points"

# Interrupted: the point is dropped, those before are kept.
"$iso" sweep --file sweep.json --output stopped.jsonl --slow-down 300 >/dev/null 2>&1 &
interrupt $!
[ "$code" = 130 ] || fail "an interrupted sweep returned $code"

# What launchers tell.
one '"operations": ["fma"], "sizes": [16]'
launched() { tool=(env "$@" "$iso"); }
launched SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0
expect 0 'measurements in s.rank1.jsonl' sweep --file one.json --output s.jsonl
launched OMPI_COMM_WORLD_RANK=x OMPI_COMM_WORLD_SIZE=2
expect 2 "OMPI_COMM_WORLD_RANK is 'x'" sweep --file one.json --output x.jsonl
launched PMI_RANK=2 PMI_SIZE=2
expect 2 'a rank must be below their number' sweep --file one.json --output x.jsonl
launched PMI_RANK=0
expect 0 'measurements in x.rank0.jsonl' sweep --file one.json --output x.jsonl --rank 0 --ranks 1000
tool=("$iso")

# Without what merges.
mkdir broken empty
echo 'raise ImportError' >broken/numpy.py
tool=(env PYTHONPATH="$PWD/broken" "$iso")
expect 2 '^iso: error: sweep: Python has no NumPy \(it merges .*; install it' sweep --merge r.jsonl
tool=(env PATH="$PWD/empty" "$iso")
expect 2 'python3, which makes the report, cannot be started .* install Python' sweep --merge r.jsonl
tool=("$iso")
if ! python3 -c 'import numpy' 2>/dev/null; then
  not_run 'merges (python3 has no NumPy); run scripts/setup.sh, which makes one that has'
  finish
  exit 0 # as the rest ran
fi

# One process: the launch shapes of radiological_path, a point that did not fit, a file cut short.
expect 0 'bits: no operation ran twice' sweep --merge fixed.jsonl
expect 0 'bits: agree' sweep --merge r.jsonl --output report.json
says '^1 rank, 16 points'
says "^measured 20..-..-..T..:..:..Z on $(uname -n), compiled by [A-Za-z]+ [0-9.]+"
expect 0 'incomplete: rank 0 .* 1 of 2 measurements' sweep --merge fits.jsonl --output fits.json
says 'left out by rank 0: fdk 2048'
expect 0 "incomplete: rank 0 .* has $before of $points measurements, its last line is cut short" sweep --merge cut.jsonl
expect 2 'is of rank 0, as' sweep --merge r.jsonl killed.jsonl

# As installed, and without the script.
mkdir -p prefix/bin "prefix/$documents/scripts"
cp "$iso" prefix/bin/iso
tool=(prefix/bin/iso)
expect 2 "sweep_merge.py': this file is not there" sweep --merge r.jsonl
cp "$scripts"/sweep_*.py "$scripts/harness.py" "$scripts/python_modules.py" "prefix/$documents/scripts"
expect 0 'bits: agree' sweep --merge r.jsonl
tool=("$iso")

# Four processes as mpirun starts them, rank 2 slowed down on purpose.
process() { # RANK OUTPUT ARGUMENT...
  local rank=$1 output=$2
  shift 2
  OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=$rank \
    "$iso" sweep --file sweep.json --output "$output" --node "n$rank" "$@" >"out$rank" 2>&1 || fail "rank $rank: $(cat "out$rank")"
}
all() { echo "$1".rank{0,1,2,3}.jsonl; }
jobs=()
for rank in 0 1 2 3; do
  process $rank four.jsonl "--slow-down" "$([ $rank = 2 ] && echo 300 || echo 1)" &
  jobs+=($!)
done
wait "${jobs[@]}"
# shellcheck disable=SC2046
expect 0 'slow: rank 2 on n2 takes' sweep --merge $(all four) --output four.json
says 'slow node: n2 takes'
says 'slow points: rank 2 on n2, [0-9]+, the worst: '
[ "$(grep -c 'slow point' <<<"$answer")" = 1 ] || fail "more than a line for the points of rank 2: $answer"
says 'bits: agree on every rank'
grep -q 'slow: rank [013]' <<<"$answer" && fail "another rank is called slow: $answer"
expect 0 'missing: rank 3' sweep --merge four.rank{0,1,2}.jsonl --output three.json
says 'slow: rank 2 on n2 takes [0-9.]+ times as long as the fastest'
expect 0 'slow: rank 2 on n2 takes [0-9.]+ times as long as the fastest' sweep --merge four.rank{0,2}.jsonl --output two.json
says '2 processes are held against the fastest of them'
expect 0 'cannot be told' sweep --merge four.rank0.jsonl --output one.json
# shellcheck disable=SC2046
"$iso" sweep --merge $(all four | tr ' ' '\n' | tac) --output backwards.json >/dev/null || fail 'the files backwards are not merged'
cmp four.json backwards.json || fail 'the order of the files changes the report'
expect 2 'of number of ranks' sweep --merge r.jsonl four.rank1.jsonl

# Against a report in which rank 2 was not slow: the share of the ceiling fell for all where all are slow.
for rank in 0 1; do
  process $rank slow.jsonl --slow-down 50 &
  jobs+=($!)
done
wait "${jobs[@]}"
# Tests share their cores: what they were disturbed by is not the subject here.
sed -i 's/"waited":[^,]*/"waited":0/' four.rank?.jsonl slow.rank?.jsonl
expect 0 'bits: agree' sweep --merge four.rank{0,1}.jsonl --output before.json
expect 0 'regressions beyond 90 %: 0 of 16 compared points' sweep --merge four.rank{0,1}.jsonl --output again.json --against before.json --tolerance 0.9
expect 5 'regression: forward_project 16 float serial' sweep --merge slow.rank{0,1}.jsonl --output after.json --against before.json
says '95 % interval'
expect 2 'is not a report' sweep --merge r.jsonl --against sweep.json
expect 2 'is not a report' sweep --merge r.jsonl --against r.jsonl
expect 2 'has no point of this sweep' sweep --merge fixed.jsonl --against <(sed 's/"fdk"/"other"/' before.json)
sed 's/"waited":0/"waited":0.5/' four.rank0.jsonl >disturbed.jsonl
expect 6 'disturbed: rank 0 on n0: .* during 32 of 32 measurements' sweep --merge disturbed.jsonl --against before.json
says 'disturbed in one of the reports are not compared: 16'
says 'regressions beyond 5 %: 0 of 0 compared points'
expect 2 "'r.jsonl'.*named twice" sweep --merge r.jsonl --output r.jsonl

# Other bits.
process 1 flipped.jsonl --flip-a-bit
cp four.rank0.jsonl flipped.rank0.jsonl
expect 1 'fdk 16 float: results differ' sweep --merge flipped.rank{0,1}.jsonl --output flipped.json
says 'rank 1 serial'
says 'bits: DIFFER'

# Files of different versions, and damaged ones.
sed 's/"isocenter":"[^"]*"/"isocenter":"9.9"/' four.rank1.jsonl >other.jsonl
expect 2 "'other.jsonl': is of version 9.9, 'four.rank0.jsonl' of version" sweep --merge four.rank0.jsonl other.jsonl
sed '1s/"format":2/"format":7/' four.rank1.jsonl >other.jsonl
expect 2 'is of format 7 \(this program reads format 2\)' sweep --merge other.jsonl
sed '3s/.*/{"record":/' four.rank1.jsonl >other.jsonl
expect 2 "'other.jsonl line 3': is not JSON" sweep --merge other.jsonl
: >other.jsonl
expect 2 'holds no whole line' sweep --merge other.jsonl
expect 0 "unusable: 'other.jsonl': holds no whole line" sweep --merge four.rank0.jsonl other.jsonl
says 'missing: ranks 1 to 3'

# Others on the core that it computes on.
if core=$(awk '$1 == "Cpus_allowed_list:" { print $2 + 0 }' /proc/self/status) && taskset -c "$core" true; then
  for _ in 1 2; do
    taskset -c "$core" sh -c 'while :; do :; done' &
    others+=($!)
  done
  echo '{"rounds": 1, "seconds": 0.3, "sets": [{"operations": ["fdk"], "sizes": [16], "backends": ["serial"]}]}' >one.json
  tool=(taskset -c "$core" "$iso")
  expect 0 '1 of 1 measurements' sweep --file one.json --output busy.jsonl
  kill "${others[@]}"
  tool=("$iso")
  expect 0 'disturbed: rank 0 .* during 1 of 1 measurements' sweep --merge busy.jsonl
fi

finish
