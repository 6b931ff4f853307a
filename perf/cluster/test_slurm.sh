#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_slurm.sh ISO: sweep.slurm on a machine without SLURM. A stand-in for srun starts two processes
# with the variables that SLURM sets.
set -u
if ! python3 -c 'import numpy' 2>/dev/null; then
  echo 'not run: merges (python3 has no NumPy); run scripts/setup.sh'
  exit 77
fi
here=$(cd "$(dirname "$0")" && pwd)
export ISO=$1 OMP_NUM_THREADS=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

mkdir bin
cat >bin/srun <<'END'
#!/usr/bin/env bash
while [[ $1 == --* ]]; do shift; done
[ -z "${BROKEN:-}" ] || exit 1
worst=0
for rank in 0 1; do
  SLURM_PROCID=$rank SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=$rank "$@" --node "${SLURM_JOB_NODELIST}$rank" || worst=$?
done
exit $worst
END
chmod +x bin/srun
export PATH=$folder/bin:$PATH SWEEP=$folder/sweep.json
sweep() {
  echo "{\"rounds\": 1, \"repeats\": 3, \"seconds\": 0, \"sets\": [{\"operations\": [\"fdk\"], \"sizes\": [$1], \"backends\": [\"serial\"]}]}" >sweep.json
}

# job CODE NODES PATTERN: a job on these nodes ends with CODE, and its output matches PATTERN.
job() {
  local got=0
  answer=$(SLURM_JOB_NODELIST=$2 bash "$here/sweep.slurm" 2>&1) || got=$?
  [ $got -eq "$1" ] || fail "a job on $2: exit code $got instead of $1: $answer"
  grep -qE -- "$3" <<<"$answer" || fail "a job on $2: no '$3' in: $answer"
}

sweep 16
job 0 'n[1-2]' 'bits: agree'
job 0 'n[1-2]' '1 of them from an earlier start'
job 0 'n[3,5]' '^1 of 1 measurements in .*rank1.jsonl$'
[ -e sweep-results/n_1-2_/report.json ] && [ -e sweep-results/n_3_5_/report.json ] || fail "folders: $(ls sweep-results)"
job 0 "n[$(seq -s, 1 100)]" 'bits: agree'
# Results of another sweep are refused by every process; the report is of what is there.
sweep 18
job 2 'n[1-2]' 'holds results of sweep'
sweep '2048, 16'
job 3 'n[6-7]' 'left out by rank 0: fdk 2048'
AGAINST=sweep.json job 2 'n[6-7]' 'is not a report'
BROKEN=1 job 2 'n[8-9]' 'cannot be opened'

[ $failures -eq 0 ] && echo 'all passed'
exit $failures
