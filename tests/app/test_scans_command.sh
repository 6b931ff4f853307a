#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_scans_command.sh ISO GEOMETRIES
# Every example geometry: projected, reconstructed by iterations, written as vectors, and taken or
# refused by filtered backprojection.
iso=$1
geometries=$2
tool=("$iso")
source "$(dirname "$0")/expect.sh"
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }
phantom=(project --phantom shepp-logan --size 32 --width 256)

for file in "$geometries"/*.json; do
  name=$(basename "$file" .json)
  expect 0 'hash' "${phantom[@]}" --geometry "$file" --output p.h5
  projected=$(hash_of)
  # The same views as vectors give the same bits, again and again.
  expect 0 'views of [0-9]+ x [0-9]+ pixels, (cone|parallel) rays' info --geometry "$file" --json vectors.json
  expect 0 'hash' "${phantom[@]}" --geometry vectors.json --output q.h5
  [ "$(hash_of)" = "$projected" ] || fail "$name: its vectors give other bits"
  expect 0 'views' info --geometry vectors.json --json again.json
  cmp -s vectors.json again.json || fail "$name: vectors of vectors differ"
  # 240 views of a whole chest are a matter of minutes.
  [ "$name" != chest_ct_scan ] || continue
  depth=32
  [ "$name" != fan ] || depth=1
  for method in sirt cgls; do
    expect 0 'iterations, residual' reconstruct --projections p.h5 --method $method --iterations 5 \
      --extent 32 32 $depth --spacing 8 --history h.csv --json r.json
    python3 - "$name" $method <<'PYTHON' || fail "$name: the residual of $method does not fall"
import csv, sys
residuals = [float(row["relative_residual"]) for row in csv.DictReader(open("h.csv"))]
print(*sys.argv[1:], *residuals)
assert residuals == sorted(residuals, reverse=True) and residuals[-1] < 0.4 * residuals[0], residuals
PYTHON
  done
  # What filtered backprojection takes of these, and why it does not take the others.
  case $name in
    helix) wanted=2 said='not a helix.*iterative method' method=fdk ;;
    laminography) wanted=2 said='tilted axis in laminography.*iterative method' method=fdk ;;
    laminography_parallel) wanted=2 said='tilted axis in laminography.*iterative method' method=fbp ;;
    rolled_detector) wanted=2 said='rows of u leave the plane of rotation by 90 degrees.*iterative method' method=fdk ;;
    circular_parallel) wanted=0 said='hash' method=fbp ;;
    vectors | chest_ct) continue ;; # a handful of views
    *) wanted=0 said='hash' method=fdk ;;
  esac
  expect $wanted "$said" reconstruct --projections p.h5 --method $method --extent 32 32 $depth --spacing 8 --json r.json
done

# The plane of a fan beam lies between the slices of a volume of an even number: rays reach both
# slices beside it, which filtered backprojection does not see.
expect 0 'hash' "${phantom[@]}" --geometry "$geometries/fan.json" --output fan.h5
between=(--projections fan.h5 --extent 16 16 4 --spacing 16 --json r.json)
for method in sirt cgls; do
  expect 0 '3 iterations, residual' reconstruct "${between[@]}" --method $method --iterations 3
  python3 -c 'import json; r = json.load(open("r.json")); assert r["blind_views"] == 0 and r["relative_residual"] < 0.3, r' ||
    fail "$method does not fit a fan beam between two slices"
done
for method in joseph joseph-spline siddon; do
  expect 0 'hash' back-project "${between[@]}" --method $method --output between.mha
  python3 - <<'PYTHON' || fail "back-project by $method: slices beside the plane of a fan beam are zero"
import struct
raw = open("between.mha", "rb").read()[-4 * 16 * 16 * 4:]
values = struct.unpack("<1024f", raw)
sums = [sum(values[256 * k:256 * (k + 1)]) for k in range(4)]
print(sums)
assert sums[1] + sums[2] > 0 and sums[0] == sums[3] == 0, sums
PYTHON
done
expect 2 'the middle of any voxel .*odd number of slices by --extent, or an iterative method' reconstruct "${between[@]}" --method fdk

# A field that is wrong is named, with what is expected there.
cone=$geometries/circular_cone.json
with() { # FIELD VALUE: the cone with one more field
  python3 - "$cone" "$1" "$2" <<'PYTHON'
import json, sys
scan = json.load(open(sys.argv[1]))
*folders, last = sys.argv[2].split("/")
place = scan
for folder in folders:
    place = place.setdefault(folder, {})
place[last] = json.loads(sys.argv[3])
json.dump(scan, open("bad.json", "w"))
PYTHON
}
refuse() { # FIELD VALUE PATTERN
  with "$1" "$2"
  expect 2 "$3" info --geometry bad.json --json no.json
}
refuse detector/turn_deg/yaw 90 'the detector of view 0 stands edge-on'
refuse detector/turn_deg/tilt 1 '/detector/turn_deg/tilt is not known .known there: pitch, roll, yaw'
refuse detector/shifts_mm '[[0, 0]]' '/detector/shifts_mm has 1 shifts .expected: one for each of the 60 views'
refuse source_shifts_mm '[[0, 0]]' '/source_shifts_mm/0 is \[0,0\] .expected: .*three numbers'
refuse axis_tilt_deg 90 '/axis_tilt_deg is 90 .expected: .*between -89 and 89: tilt of the axis'
refuse helix_pitch_mm '"far"' '/helix_pitch_mm is "far" .expected: a number in mm, between -1e9 and 1e9'
refuse detector/offset_mm '[-1e9, 0]' 'as vectors.*/views/0/detector_origin_mm'
expect 2 'excludes --geometry' info --geometry "$file" --backend serial
expect 2 "'none.json' cannot be opened" info --geometry none.json --json no.json
[ ! -e no.json ] || fail 'a refused run wrote no.json'
finish
