#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_scratch.sh ISO WRITE_STORED_STACK
# --scratch: arrays that lie in files have the bits of those in memory, and run where the process may
# take less memory than one of them.
iso=$1
write_stored=$2
export OMP_NUM_THREADS=2
tool=("$iso")
source "$(dirname "$0")/expect.sh"

cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [192, 192], "pitch_mm": [2, 2]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 30}}
JSON
mkdir scratch
size='--extent 200 200 200'
# 32 MB of a volume, where the process may have 60 MB of data, most of which it takes to start; mapped
# files are none.
within=(bash -c 'ulimit -d 60000; exec "$@"' _ "$iso")
if ! "${within[@]}" info --no-ceilings >/dev/null 2>&1; then
  not_run 'the limit of memory (the tool does not start within it, as a GPU or a sanitizer takes more); use preset openmp'
  within=("$iso")
fi

# same NAME COMMAND...: without room it is refused; in files it writes NAME as it does in memory
same() {
  local name=$1
  shift
  tool=("$iso")
  expect 0 'hash [0-9a-f]{16}' "$@" --output "whole.$name"
  if [ ${#within[@]} -gt 1 ]; then
    tool=("${within[@]}")
    expect 3 'bytes are free under ulimit -d|ran out' "$@" --output "none.$name"
    [ ! -e "none.$name" ] || fail "$* wrote a file where it was refused"
  fi
  expect 0 'hash [0-9a-f]{16}' "$@" --output "mapped.$name" --scratch scratch --json report.json
  says "^scratch: 0\.[0-9]+ GiB at most in files of 'scratch'"
  [ "$(grep -A1 '"scratch"' report.json | tr -dc '0-9')" -gt 32000000 ] || fail "report.json: $(cat report.json)"
  cmp "whole.$name" "mapped.$name" || fail "$*: other bytes in files"
  [ -z "$(ls -A scratch)" ] || fail "left in the folder: $(ls -A scratch)"
}
expect 0 'hash' project --phantom shepp-logan --size 64 --width 300 --geometry cone.json --output p.h5
# shellcheck disable=SC2086
same v.mha reconstruct --projections p.h5 $size
# shellcheck disable=SC2086
same w.nrrd back-project --projections p.h5 $size --memory 50MB
same p.h5 project --volume whole.v.mha --geometry cone.json
same q.mha project --volume whole.v.mha --geometry cone.json --sum reproducible --memory 50MB
# shellcheck disable=SC2086
same i.mha reconstruct --projections p.h5 $size --method sirt --iterations 1

# At most as many bytes of arrays of a megabyte and more lie in the folder: the readings as they are
# stored, and what passes through the backend, which is this memory too. The volume is smaller.
tool=("$iso")
"$write_stored" p.h5 stored.h5 converted.h5 || fail 'no stack of 16 bits'
number() { grep -A1 "\"$1\"" "$2" | tr -d ' \n' | grep -oE "[0-9]+" | head -1; }
for command in reconstruct back-project; do
  for stack in stored:2 converted:4; do
    expect 0 'hash [0-9a-f]{16}' $command --projections "${stack%:*}.h5" --geometry cone.json --extent 60 60 60 \
      --memory 25MB --scratch scratch --output "${stack%:*}.mha" --json report.json
    room=$((${stack#*:} * 192 * 192 * 30 + $(number device_bytes report.json) + $(number staging_bytes report.json) + 65536))
    held=$(number scratch report.json)
    [ "$held" -le $room ] || fail "$command: $held bytes of arrays, more than $room, of ${stack%:*} readings"
  done
  cmp stored.mha converted.mha || fail "$command: other bytes of 16 bits"
done

tool=("$iso")
expect 2 "^iso: error: --scratch: 'nowhere' takes no files that are mapped .No such file" \
  project --volume whole.v.mha --geometry cone.json --output x.h5 --scratch nowhere
expect 2 "'cone.json' takes no files that are mapped .Not a directory.; name a folder" \
  project --volume whole.v.mha --geometry cone.json --output x.h5 --scratch cone.json
# A disk without room for an array: a limit of files is the same to the tool.
tool=(bash -c 'ulimit -f 20000; exec "$@"' _ "$iso")
expect 3 'memory|bytes' project --volume whole.v.mha --geometry cone.json --output x.h5 --scratch scratch
[ ! -e x.h5 ] || fail 'what was refused wrote a file'
[ -z "$(ls -A scratch)" ] || fail "left in the folder: $(ls -A scratch)"

finish
