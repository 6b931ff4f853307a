#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_repeats.sh ISO
# --repeats and --by-kernel of the commands that compute: so many runs are told, and the results are
# those of one run.
iso=$1
tool=("$iso")
source "$(dirname "$0")/expect.sh"

cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [24, 20], "pitch_mm": [4, 4]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 12}}
JSON
cat >plan.json <<'JSON'
{"beams": [{"isocentre_mm": [0, 100, 0], "field_mm": {"x": [-20, 20], "y": [-20, 20]}},
           {"isocentre_mm": [0, 100, 0], "gantry_deg": 90, "field_mm": {"x": [-20, 20], "y": [-20, 20]}}],
 "directions": {"cones": 4, "azimuths": 4}}
JSON
expect 0 'hash' project --phantom shepp-logan --size 24 --width 64 --geometry cone.json --output p.h5
expect 0 'hash' matrix generate prostate-1 --factor 0.01 --output m.h5
expect 0 'hash' dose --plan plan.json --phantom slab --voxel 16 --output one.mha
expect 0 'hash' dose --plan plan.json --phantom slab --voxel 16 --output two.mha --precision double
expect 0 'hash' matrix apply m.h5 --output y.h5

# repeats KERNEL COMMAND...: three runs and the kernels of a fourth, one of which is named so
repeats() {
  local kernel=$1 once
  shift
  expect 0 'hash [0-9a-f]{16}' "$@" --json once.json
  once=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
  grep -qE '"(repeats|kernel_times)"' once.json && fail "iso $*: repeats are told unasked"
  expect 0 "$once" "$@" --repeats 3 --by-kernel --json again.json
  [ "$(grep -cE '^repeat [123]: [0-9.e+-]+ s, [0-9.e+-]+ s of processors$' <<<"$answer")" = 3 ] || fail "iso $*: $answer"
  says "^kernel $kernel: [0-9.e+-]+ s, "
  [ "$(sed -n '/"repeats": \[/,/^  \]/p' again.json | grep -c '"processor_seconds": [0-9]')" = 3 ] || fail "iso $*: $(cat again.json)"
  tr -d ' \n' <again.json | grep -qE "\"$kernel\":\{\"seconds\":" || fail "again.json has no kernel $kernel: $(cat again.json)"
  expect 0 '"repeats"' "$@" --repeats 1 --json -
  grep -q '^repeat' <<<"$answer" && fail "iso $*: more than JSON on standard output"
  expect 2 '--repeats: 0 .must be a whole number from 1' "$@" --repeats 0 --json x.json
  expect 2 '--repeats: -1 .must be a whole number from 1' "$@" --repeats -1 --json x.json
  expect 0 "^kernel $kernel: " "$@" --by-kernel --json kernels.json
  grep -q '"repeats"' kernels.json && fail "iso $*: repeats are told unasked"
}
repeats iso::ct::forward_project project --phantom shepp-logan --size 24 --width 64 --geometry cone.json
repeats iso::ct::fdk::back_project reconstruct --projections p.h5
repeats iso::ct::back_project back-project --projections p.h5
repeats iso::dose::terma dose --plan plan.json --phantom slab --voxel 16
repeats iso::gamma::gamma_index gamma one.mha two.mha
repeats iso::sparse::spmv matrix apply m.h5
repeats iso::sparse::spmv matrix apply m.h5 --y y.h5 --beta 0.5
# What an operation changes is as it was before it, each time: as many iterations from the start,
# which is not the end of those before.
for method in sirt cgls mlem; do
  repeats 'iso::ct::.*' reconstruct --projections p.h5 --method $method --iterations 3
done
[ ! -e x.json ] || fail 'what was refused wrote a file'
expect 2 '--repeats' reconstruct --projections p.h5 --method sirt --iterations 3 --checkpoint c.h5 --repeats 2 --json x.json

# The same registers for the tool's other commands as for iso verify.
expect 2 '--vector-bytes: 16 is not known .must be one of 0, 32, 64' project --vector-bytes 16
expect 0 'hash' reconstruct --projections p.h5 --vector-bytes 0 --json x.json
narrow=$(grep -o '"hash": ".*"' x.json)
expect 0 "${narrow:9:16}" reconstruct --projections p.h5 --json x.json

finish
