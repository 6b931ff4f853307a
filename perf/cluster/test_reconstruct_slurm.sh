#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_reconstruct_slurm.sh ISO MPIEXEC: reconstruct.slurm on a machine without SLURM. A stand-in for srun
# starts two processes by MPIEXEC.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export ISO=$1 MPIEXEC=$2 OMP_NUM_THREADS=1
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
ends_all=no
while [[ $1 == --* ]]; do
  if [ "$1" = --kill-on-bad-exit=1 ]; then ends_all=yes; fi
  shift
done
if [ $ends_all = no ]; then
  echo 'srun: a process that is killed leaves the others waiting'
  exit 1
fi
exec "$MPIEXEC" -n 2 "$@"
END
chmod +x bin/srun
export PATH=$folder/bin:$PATH
cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [24, 20], "pitch_mm": [8, 8]},
 "source_axis_mm": 1000, "source_detector_mm": 1200, "angles_deg": {"range": 360, "count": 20}}
JSON
"$ISO" project --phantom shepp-logan --width 64 --size 16 --geometry cone.json --output p.h5 >/dev/null || fail 'no projections'

scan=(--projections p.h5 --method cgls --extent 16 16 16 --spacing 5)
alone=$("$ISO" reconstruct "${scan[@]}" --iterations 4 --sum reproducible --output alone.mha 2>&1 | grep -oE 'hash [0-9a-f]{16}')
[ -n "$alone" ] || fail 'one process says no hash'
# job ARGUMENT...: a job of two processes says the hash of one.
job() {
  local answer
  answer=$(bash "$here/reconstruct.slurm" "${scan[@]}" "$@" 2>&1) || fail "exit code $?: $answer"
  grep -q "$alone" <<<"$answer" || fail "no '$alone' in: $answer"
}
job --iterations 4 --output head.mha
cmp alone.mha head.mha || fail 'another volume'
bash "$here/reconstruct.slurm" "${scan[@]}" --iterations 2 --checkpoint c.h5 --json c.json >/dev/null 2>&1 || fail 'no checkpoint'
job --iterations 4 --checkpoint c.h5 --json c.json

[ $failures -eq 0 ] && echo 'all passed'
exit $failures
