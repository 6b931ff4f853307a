# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the tool on several processes, with `iso` and `mpiexec`: expect.sh, and what they compare with
# one process.
# shellcheck shell=bash
tool=("$iso")
source "$(dirname "${BASH_SOURCE[0]}")/../app/expect.sh"

on() { tool=("$mpiexec" -n "$1" "$iso"); }
alone() { tool=("$iso"); }
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }
# lines PATTERN NUMBER: so many lines of the last answer match
lines() { [ "$(grep -cE -- "$1" <<<"$answer")" -eq "$2" ] || fail "not $2 lines of '$1': $answer"; }
# numbers KEY: those that each process has of it in ranks.json
numbers() { tr -d ' \n' <ranks.json | grep -oE "\"$1\":\[[0-9,]*\]" | grep -oE '[0-9]+' | paste -sd ' '; }
# in_all KEY: their sum
in_all() { numbers "$1" | tr ' ' '\n' | awk '{ sum += $1 } END { print sum }'; }

# same RANKS SUMS COMMAND...: the hash of one process
same() {
  local ranks=$1 sums=$2 once
  shift 2
  alone
  # shellcheck disable=SC2086
  expect 0 'hash [0-9a-f]{16}' "$@" $sums --json once.json
  once=$(hash_of)
  on "$ranks"
  expect 0 "$once" "$@" --json ranks.json
  lines 'hash' 1
  lines "^iso: info: $ranks processes: each has its (planes|rows|columns) of the " 1
  tr -d ' \n' <ranks.json | grep -qE "\"ranks\":$ranks" || fail "ranks.json: $(cat ranks.json)"
}
# same_files RANKS FILES COMMAND...: the hash and the files (one.NAME, of the options for NAME) of one process
same_files() {
  local ranks=$1 files=$2 once file
  shift 2
  alone
  expect 0 'hash [0-9a-f]{16}' "$@" --json once.json
  once=$(hash_of)
  for file in $files; do
    mv "$file" "one.$file"
  done
  on "$ranks"
  expect 0 "$once" "$@" --json ranks.json
  lines 'hash' 1
  lines "^iso: info: $ranks processes: each has its planes" 1
  tr -d ' \n' <ranks.json | grep -qE "\"ranks\":$ranks" || fail "ranks.json: $(cat ranks.json)"
  for file in $files; do
    cmp "$file" "one.$file" || fail "another $file by $ranks processes of $*"
  done
}
# streamed RANKS SIZE COMMAND...: the hash of one process, by parts that pass through so much of the backend's memory
streamed() {
  local ranks=$1 size=$2 once
  shift 2
  alone
  expect 0 'hash' "$@" --json once.json
  once=$(hash_of)
  on "$ranks"
  expect 0 "$once" "$@" --memory "$size" --json ranks.json
  lines '^streamed: .* in slabs of [0-9]+ planes and batches of [0-9]+ views' 1
}

# A scan, and one whose stack lies in pieces of five views; what makes projections of it.
cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [40, 36], "pitch_mm": [3, 3]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 40}}
JSON
cat >wide.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [200, 180], "pitch_mm": [0.6, 0.6]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 40}}
JSON
cat >plan.json <<'JSON'
{"beams": [{"gantry_deg": 20, "isocentre_mm": [0, 100, 0], "field_mm": {"x": [-20, 20], "y": [-25, 25]}},
           {"gantry_deg": 290, "couch_deg": 30, "isocentre_mm": [10, 100, 40], "weight": 2,
            "field_mm": {"x": [-30, 10], "y": [-15, 25]}}],
 "directions": {"cones": 4, "azimuths": 4}}
JSON
sed 's/"directions"/"engine": "non_voxel", "ray_spacing_mm": 16, "radial_step_mm": 8, "directions"/' plan.json >rays.json
phantom=(--phantom shepp-logan --width 64)
reproducible='--sum reproducible'
wide=(project "${phantom[@]}" --size 16 --geometry wide.json --view 17)
piece=$((5 * 200 * 180 * 4))
small=(--extent 20 20 20 --spacing 3 3 3)
