#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_reconstruct_weights.sh ISO GEOMETRIES
# The phantom, and scans that need weights, in iso reconstruct.
iso=$1
geometries=$2
tool=("$iso" reconstruct)
source "$(dirname "$0")/expect.sh"

cone=$geometries/circular_cone.json
parallel=$geometries/circular_parallel.json
small=(--extent 24 24 24 --spacing 10)
phantom=(--phantom shepp-logan --geometry "$cone" "${small[@]}")

# Phantom or projections.
expect 0 'difference from the phantom: mean absolute 0\.0' "${phantom[@]}" --output v.mha --png v.png
[ -s v.mha ] && [ -s v.png ] || fail 'no volume or no picture'
expect 0 '"error": \{' "${phantom[@]}" --json -
says '"arc": "full"'
says '"detector": "centred"'
expect 0 'by fbp \(ram-lak\)' --phantom shepp-logan --geometry "$parallel" --method fbp "${small[@]}" --output v.nrrd
expect 2 'no projections' --geometry "$cone" --output x.mha
expect 2 'requires --geometry' --phantom shepp-logan --output x.mha
expect 2 'excludes' "${phantom[@]}" --projections p.h5 --output x.mha
"$iso" project --phantom shepp-logan --size 24 --geometry "$cone" --output p.h5 >/dev/null || fail 'project'
expect 0 '24 x 24 x 24 voxels of 10 mm by fdk' --projections p.h5 "${small[@]}" --output p.mha
first=$(grep -oE 'hash [0-9a-f]+' <<<"$answer")
expect 0 "$first" --projections p.h5 --geometry "$cone" "${small[@]}" --output q.mha --water 0.02
cmp -s p.mha q.mha && fail '--water changes nothing'

# Scans.
sed 's/"range": 360, "count": 60/"range": 215, "count": 40/' "$cone" >short.json
sed 's/"pixels": \[128, 128\]/"pixels": [80, 128]/; s/"offset_mm": \[0, 0\]/"offset_mm": [96, 0]/' "$cone" >offset.json
sed 's/"range": 360/"range": 180/' "$cone" >half.json
expect 0 'short scan' --phantom shepp-logan --geometry short.json "${small[@]}" --output x.mha
expect 0 'displaced detector' --phantom shepp-logan --geometry offset.json "${small[@]}" --output x.mha
expect 0 '"truncation_correction": 20' "${phantom[@]}" --truncation-correction 20 --json -
rm x.mha
# A detector that is rolled by 7 degrees about the central ray.
awk 'BEGIN {
  pi = atan2(0, -1)
  printf "{\"type\": \"vectors\", \"rays\": \"cone\", \"detector\": {\"pixels\": [40, 40]}, \"views\": ["
  for (n = 0; n < 40; ++n) {
    x = cos(n * pi / 20); y = sin(n * pi / 20); c = 8 * cos(7 * pi / 180); s = 8 * sin(7 * pi / 180)
    printf "%s{\"source_mm\": [%.9g, %.9g, 0], ", n ? "," : "", 1000 * x, 1000 * y
    printf "\"detector_origin_mm\": [%.9g, %.9g, %.9g], ", -500 * x + 19.5 * y * (c - s), \
      -500 * y - 19.5 * x * (c - s), -19.5 * (s + c)
    printf "\"u_step_mm\": [%.9g, %.9g, %.9g], \"v_step_mm\": [%.9g, %.9g, %.9g]}", -y * c, x * c, s, y * s, -x * s, c
  }
  print "]}"
}' >rolled.json
rolled=(--phantom shepp-logan --geometry rolled.json "${small[@]}" --output rolled.mha)
expect 2 'rows of u leave the plane of rotation by 7 degrees.*; turn the detector, or allow more by --max-roll, at most' "${rolled[@]}"
expect 0 'difference from the phantom: mean absolute 0\.0' "${rolled[@]}" --max-roll 7.5
expect 2 '--max-roll' "${rolled[@]}" --max-roll 12
expect 2 'cover 180 degrees \(with a fan of 18.* degrees 198.* are needed' --phantom shepp-logan \
  --geometry half.json --output x.mha
expect 2 'full circle.* is needed' --phantom shepp-logan --geometry short.json --arc full --output x.mha
expect 2 'half is not known .must be' "${phantom[@]}" --arc half --output x.mha
expect 2 'left is not known .must be' "${phantom[@]}" --detector left --output x.mha
expect 2 'give --method fdk' "${phantom[@]}" --method fbp --output x.mha
expect 2 '--truncation-correction' "${phantom[@]}" --truncation-correction -1 --output x.mha
expect 2 'nothing to write' "${phantom[@]}"
expect 2 "ending '.jpg'" "${phantom[@]}" --output x.jpg
expect 2 'source lies within the volume' --phantom shepp-logan --geometry "$cone" --spacing 20 --output x.mha
[ ! -e x.mha ] || fail 'a refused run has written x.mha'

# A run that is stopped leaves the old file whole.
echo old >x.mha
"$iso" reconstruct --phantom shepp-logan --geometry "$cone" --extent 256 256 256 --precision double --backend serial \
  --output x.mha >stopped.txt 2>&1 &
interrupt $!
[ $code = 130 ] || fail "an interrupted run returned $code: $(cat stopped.txt)"
[ "$(cat x.mha)" = old ] || fail 'an interrupted run has changed x.mha'
[ -z "$(find . -name '*x.mha?*')" ] || fail "left behind: $(find . -name '*x.mha?*')"

# Progress with the time left, on a terminal.
if [ -n "$(command -v script)" ]; then
  sed 's/"count": 60/"count": 720/' "$cone" >many.json
  script -qec "'$iso' reconstruct --phantom shepp-logan --geometry many.json --precision double --backend serial \
    --extent 160 160 160 --spacing 1.6 --output y.mha" /dev/null >terminal.txt
  tr '\r' '\n' <terminal.txt | grep -qE '% reconstructing +[0-9].* left' || fail "no time left: $(cat terminal.txt)"
else
  not_run 'progress on a terminal (script is not there); install bsdutils'
fi
finish
