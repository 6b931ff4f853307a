#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_memory.sh ISO MPIEXEC
# What each process takes of a scan is its share: what the tool says (bytes_needed) and at most a tenth more, beside what it
# takes of a scan of nothing. So no process has a stack whole. Pages that nobody writes to are no part of what is measured:
# it may be a fifth less.
iso=$1
mpiexec=$2
tool=("$iso")
source "$(dirname "$0")/../app/expect.sh"
command -v python3 >/dev/null || skip 'the memory of ranks (python3 is not there); install it'
cat >peak.py <<'PYTHON'
# peak.py NAME COMMAND...: runs it, and writes how many bytes it had in memory at most
import os, resource, subprocess, sys
code = subprocess.call(sys.argv[2:], close_fds=False)  # by one of them MPICH's launcher speaks
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0"))
with open(f"{sys.argv[1]}.{rank}", "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, file=file)
sys.exit(code)
PYTHON
scan() {
  echo "{\"type\": \"circular_cone\", \"detector\": {\"pixels\": [$1, $1], \"pitch_mm\": [$2, $2]},
  \"source_axis_mm\": 500, \"source_detector_mm\": 800, \"angles_deg\": {\"range\": 360, \"count\": $3}}"
}
scan 400 0.3 400 >large.json
scan 8 15 16 >tiny.json
phantom=(--phantom shepp-logan --width 64 --size 16)
"$iso" project "${phantom[@]}" --geometry tiny.json --output tiny.h5 >/dev/null || fail 'no tiny scan'

# held RANKS COMMAND LARGE TINY ARGUMENT...: each process takes what it says, where the tiny scan takes next to nothing
held() {
  local ranks=$1 command=$2 large=$3 tiny=$4
  shift 4
  # shellcheck disable=SC2086
  "$mpiexec" -n "$ranks" python3 peak.py none "$iso" $command "$tiny" "$@" --json none.json >/dev/null 2>&1 || fail "none of $command"
  # shellcheck disable=SC2086
  "$mpiexec" -n "$ranks" python3 peak.py all "$iso" $command "$large" "$@" --json all.json >/dev/null 2>&1 || fail "all of $command"
  python3 - "$ranks" "$command" <<'PYTHON' || fail "$command on $ranks processes: $(cat held.txt)"
import json, sys
ranks, command = int(sys.argv[1]), sys.argv[2]
needed = [json.load(open(f"{name}.json"))["bytes_needed"] for name in ("none", "all")]
bad = []
for rank in range(ranks):
    grown = int(open(f"all.{rank}").read()) - int(open(f"none.{rank}").read())
    said = needed[1][rank] - needed[0][rank]
    bad.append(f"rank {rank}: {grown} bytes, {said} are said, {grown / said:.3f}")
    print(bad[-1], file=sys.stderr)
    bad[-1] = "" if 0.8 * said < grown < 1.1 * said else bad[-1]
with open("held.txt", "w") as file:
    print("; ".join(filter(None, bad)), file=file)
sys.exit(any(bad))
PYTHON
}
export OMP_NUM_THREADS=1
held 3 'project --phantom shepp-logan --width 64 --size 16 --output large.h5 --geometry' large.json tiny.json
held 2 'reconstruct --projections' large.h5 tiny.h5 --extent 16 16 16 --spacing 4 4 4
finish
