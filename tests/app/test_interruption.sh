#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_interruption.sh ISO
# Ctrl-C in every command, and SIGTERM in some, while it reads, while it computes and while it writes.
tool=("$1")
source "$(dirname "$0")/expect.sh"

# WHEN of `stops`.
has_begun() { [ "/proc/$1/exe" -ef "${tool[0]}" ]; }
reads() {  # until the file `input` is open
  for open in "/proc/$1"/fd/*; do [ ! "$open" -ef "$input" ] || return 0; done
  return 1
}
writes() {  # until a temporary file has 64 kB
  [ -n "$(find . -name '.iso-*' -size +64k)" ]
}
fills() {  # until a temporary folder has slices
  [ -n "$(find . -path './.iso-*/*')" ]
}
computes() {  # when it takes the signal, and for a second then
  local key value
  has_begun "$1" || return 1
  while read -r key value; do
    [ "$key" != SigCgt: ] || [ $((0x$value & 2)) -eq 0 ] || { sleep 1 && return 0; }
  done <"/proc/$1/status"
  return 1
}

cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [128, 128], "pitch_mm": [4, 4]},
 "source_axis_mm": 1000, "source_detector_mm": 1536, "angles_deg": {"range": 360, "count": 60}}
JSON
sed 's/128, 128/512, 512/; s/\[4, 4\]/[1, 1]/' cone.json >large.json
expect 0 hash project --phantom shepp-logan --size 8 --width 64 --geometry cone.json --output p.h5
expect 0 hash matrix generate prostate-1 --factor 0.02 --output m.h5
expect 0 hash matrix convert m.h5 m.mtx
volume() {  # NAME N: N^3 random voxels
  printf 'ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nOffset = 0 0 0\nElementSpacing = 1 1 1\nDimSize = %d %d %d\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n' "$2" "$2" "$2" >"$1"
  head -c $(($2 * $2 * $2)) /dev/urandom >>"$1"
}
volume left.mha 128
volume right.mha 128
cat >plan.json <<'JSON'
{"beams": [{"isocentre_mm": [0, 100, 0], "gantry_deg": 30, "weight": 1,
  "field_mm": {"x": [-100, 100], "y": [-100, 100]}}], "directions": {"cones": 24, "azimuths": 48}}
JSON

# While it reads: a pipe whose writer is silent, and files.
mkfifo pipe.json
exec 3<>pipe.json
input=pipe.json
stops reads project --phantom shepp-logan --size 8 --geometry pipe.json --output late.h5
stops reads dose --phantom slab --voxel 4 --plan pipe.json --output late.mha
printf '{' >&3
stops reads back-project --projections p.h5 --geometry pipe.json --output late.mha
exec 3>&-
input=m.mtx
for command in 'matrix convert m.mtx late.h5' 'matrix info m.mtx --json late.json' 'matrix apply m.mtx --output late.h5' 'info m.mtx --json late.json'; do
  # shellcheck disable=SC2086
  stops reads $command
done

# While it computes.
serial=(--backend serial)
stops computes project "${serial[@]}" --phantom shepp-logan --size 512 --geometry cone.json --output late.h5
stops computes project "${serial[@]}" --phantom shepp-logan --size 320 --geometry large.json --method joseph-spline --output late.h5
stops computes reconstruct "${serial[@]}" --phantom shepp-logan --geometry large.json --output late.mha
stops computes reconstruct "${serial[@]}" --projections p.h5 --method sirt --iterations 10000 --output late.mha
stops computes back-project "${serial[@]}" --projections p.h5 --extent 512 512 512 --spacing 0.2 --output late.mha
stops computes gamma "${serial[@]}" left.mha right.mha --criterion 0.3%/3mm --cut-off 0% --output late.mha
stops computes dose "${serial[@]}" --phantom slab --voxel 1 --plan plan.json --output late.mha
stops computes matrix generate liver-1 "${serial[@]}" --factor 0.05 --output late.h5
stops computes matrix generate pencil-beams "${serial[@]}" --size 160 --spacing 1.5 --output late.h5
stops computes matrix bench "${serial[@]}" m.h5 --seconds 100 --json late.json
stops computes verify "${serial[@]}" --repeats 100 --json late.json
stops computes demo "${serial[@]}" --size 128 --views 180 --output late.folder
stops computes info --json late.json
printf '%s' '{"sets": [{"operations": ["forward_project"], "sizes": [128], "backends": ["serial"]}], "rounds": 31}' >sweep.json
stops computes sweep --file sweep.json --output kept.jsonl

# While it writes: large files of few views.
sed 's/"count": 60/"count": 4/' cone.json >four.json
expect 0 hash project --phantom shepp-logan --size 8 --width 64 --geometry four.json --output f.h5
stops writes reconstruct --projections f.h5 --extent 320 320 320 --spacing 0.2 --output late.nii.gz
sed 's/128, 128/256, 256/' four.json >few.json
stops writes project "${serial[@]}" --phantom shepp-logan --size 16 --geometry few.json --flat-images 250 --scan late.folder
stops fills reconstruct --projections f.h5 --extent 400 400 200 --spacing 0.6 --water 0.5 --output late.series/
stops writes matrix generate prostate-1 --factor 0.1 --output late.mtx

# The signal of batch systems: by a job that asks, and by files, which do not.
signal=TERM
stops computes reconstruct "${serial[@]}" --projections p.h5 --method sirt --iterations 10000 --output late.mha
input=m.mtx
stops reads matrix convert m.mtx late.h5

finish
