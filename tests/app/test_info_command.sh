#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_info_command.sh ISO TOP WRITE_RT_OBJECTS
# `iso info FILE` of every kind of file, and files that are named where another kind is expected.
iso=$1
top=$2
write_rt_objects=$3
tool=("$iso")
source "$(dirname "$0")/expect.sh"

# field NAME: of the JSON that the last call wrote
field() { python3 -c 'import json, sys; print(json.dumps(json.load(open("r.json"))["file"][sys.argv[1]]))' "$1"; }
holds() { [ "$(field "$1")" = "$2" ] || fail "$1 is $(field "$1") instead of $2"; }

# 2 x 3 x 4 voxels of 1 x 2 x 3 mm: 0, 1, ..., 23, the last one not a number.
python3 - <<'PYTHON'
import struct
header = "ObjectType = Image\nNDims = 3\nBinaryData = True\nOffset = -1 -2 -3\nElementSpacing = 1 2 3\nDimSize = 2 3 4\nUnit = Gy\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n"
open("v.mha", "wb").write(header.encode() + struct.pack("<24f", *range(23), float("nan")))
open("whole.mha", "wb").write(header.replace("Unit = Gy\n", "").encode() + struct.pack("<24f", *range(24)))
PYTHON
expect 0 '^v.mha: volume .MetaImage.$' info v.mha --json r.json
says '^  extent +2 x 3 x 4 voxels'
says '^  spacing +1 x 2 x 3 mm$'
says '^  origin +.-1, -2, -3. mm'
says '^  faces +from .-1.5, -3, -4.5. to .0.5, 3, 7.5. mm$'
says '^  values +from 0 to 22, mean 11; 1 are not finite$'
says '^  unit +Gy$'
holds extent '[2, 3, 4]'
holds maximum 22.0
holds not_finite 1
expect 0 'not said by the file' info whole.mha

# A stack and its geometry; the same as an image, as NRRD and NIfTI.
geometry=$top/examples/geometry/circular_cone.json
expect 0 'hash' project --phantom shepp-logan --size 16 --geometry "$geometry" --output p.h5
expect 0 '^p.h5: stack of projections .HDF5.$' info p.h5 --json r.json
says '^  extent +[0-9]+ views of [0-9]+ x [0-9]+ pixels'
says '^  values +from [0-9.e-]+ to [0-9.]+, mean'
says '^  unit +1 .dimensionless.$'
says '^  source +[0-9.]+ mm from the axis, .*: magnification [0-9.]+$'
holds kind '"stack"'
for file in p.nrrd p.mha; do
  expect 0 'hash' project --phantom shepp-logan --size 16 --geometry "$geometry" --output $file
  expect 0 "^$file: volume .(NRRD|MetaImage)" info $file
done
expect 0 'hash' reconstruct --projections p.h5 --extent 8 8 8 --spacing 16 --output v.nii.gz
expect 0 '^v.nii.gz: volume .NIfTI.' info v.nii.gz
expect 0 '"kind": "volume"' info v.nii.gz --json -

# Images of a detector: 8 bits, a series of floats.
printf 'II*\0\10\0\0\0\11\0\0\1\3\0\1\0\0\0\3\0\0\0\1\1\3\0\1\0\0\0\2\0\0\0\2\1\3\0\1\0\0\0\10\0\0\0\3\1\3\0\1\0\0\0\1\0\0\0\6\1\3\0\1\0\0\0\1\0\0\0\21\1\4\0\1\0\0\0\172\0\0\0\25\1\3\0\1\0\0\0\1\0\0\0\26\1\3\0\1\0\0\0\2\0\0\0\27\1\4\0\1\0\0\0\6\0\0\0\0\0\0\0\1\2\3\4\5\143' >i.tif
expect 0 '^i.tif: images of a detector .TIFF.$' info i.tif --json r.json
says '^  extent +1 image of 3 x 2 pixels, width and height$'
says '^  stored as +uint8$'
says '^  values +from 1 to 99, mean 19$'
holds extent '[1, 3, 2]'
holds stored_as '"uint8"'
expect 0 'hash' project --phantom shepp-logan --size 16 --geometry "$geometry" --scan views
expect 0 ': images of a detector .TIFF.$' info 'views/projection_*.tif'
says '^  extent +[0-9]+ images of [0-9]+ x [0-9]+ pixels, width and height$'
says '^  stored as +uint16$'
head -c 40 i.tif >cut.tif
expect 2 "'cut.tif': " info cut.tif

# Geometries, plans, sweeps: every example.
for file in "$top"/examples/geometry/*.json; do
  expect 0 ': geometry of a scan$' info "$file"
  says '^  detector +[0-9]+ x [0-9]+ pixels'
  says '^  views +[0-9]+, '
done
expect 0 'tilted by' info "$top/examples/geometry/laminography.json"
expect 0 ' mm a turn$' info "$top/examples/geometry/helix.json" --json r.json
holds type '"circular_cone"'
holds helix_pitch_mm 75.0
holds axis_offset_mm 0.0
holds pitch_mm '[8.0, 8.0]'
expect 0 'geometry of a scan' info "$top/examples/geometry/rolled_detector.json" --json r.json
holds turn_deg '{"yaw": 0.0, "pitch": 0.0, "roll": 90.0}'
expect 0 'geometry of a scan' info "$top/examples/geometry/circular_parallel.json" --json r.json
holds type '"circular_parallel"'
expect 0 'geometry of a scan' info "$top/examples/geometry/vectors.json" --json r.json
holds type '"vectors"'
for file in "$top"/examples/plans/*.json; do
  expect 0 ': plan of [0-9]+ beams?$' info "$file"
  says '^  beam 1 +.*gantry .*isocentre .*weight '
done
expect 0 ': sweep of [0-9]+ sets, 3 rounds$' info "$top/examples/sweeps/quick.json"
expect 0 ': results that iso wrote as JSON$' info r.json
echo '{"type": 3}' >bad.json
expect 2 "'bad.json': field /type is 3" info bad.json
for kind in geometry plan sweep; do
  "$iso" info --schema $kind | python3 -c 'import json, sys; assert json.load(sys.stdin)["title"].startswith("Isocenter")' ||
    fail "iso info --schema $kind prints no schema"
done
expect 2 'excludes' info --schema plan v.mha
echo 'nothing' >bad.json
expect 2 "'bad.json': is not JSON" info bad.json

# Matrices, vectors, checkpoints.
expect 0 'hash' matrix generate pencil-beams --size 8 --output m.h5
expect 0 '^m.h5: matrix .HDF5.$' info m.h5 --json r.json
says '^  extent +512 rows x [0-9]+ columns$'
says '^  non-zeros +[0-9]+, stored as half$'
says '^  values +from [0-9.e-]+ to [0-9.e-]+, mean'
says '^  unit +Gy for 1e11 protons$'
holds rows 512
expect 0 'hash' matrix convert m.h5 m.mtx --values double
expect 0 '^m.mtx: matrix .Matrix Market.$' info m.mtx
says 'stored as double'
expect 0 'hash' matrix apply m.h5 --output y.h5
expect 0 '^y.h5: vector .HDF5.$' info y.h5
says '^  extent +512 numbers$'
expect 0 'hash' reconstruct --projections p.h5 --extent 8 8 8 --spacing 16 --method sirt --iterations 1 --checkpoint state.h5 --json s.json
expect 0 '^state.h5: checkpoint of an iterative reconstruction .HDF5.$' info state.h5
head -c 100 p.h5 >cut.h5
expect 2 "'cut.h5': " info cut.h5
expect 2 "'none.mha'" info none.mha
expect 2 'excludes' info v.mha --geometry "$geometry"
expect 2 "'v.mha' is named twice" info v.mha --json v.mha

# Files that are named where another kind is expected say what they are.
expect 2 "'p.h5': is a stack of projections in HDF5 .a geometry is JSON.; name it as projections where a command takes them" project --phantom shepp-logan --size 8 --geometry p.h5 --json no.json
expect 2 "'p.h5': is a stack of projections in HDF5 .volumes are .*; name a volume" project --volume p.h5 --geometry "$geometry" --json no.json
expect 2 "'p.h5': is a stack of projections in HDF5 .volumes are .*; name a volume" gamma whole.mha p.h5
plan=$top/examples/plans/slab_phantom.json
expect 2 "'$plan': is a plan of beams .a geometry of a scan is expected.; name such a file" project --phantom shepp-logan --geometry "$plan" --json no.json
expect 2 "'$geometry': is a geometry of a scan .a plan of beams is expected.; name such a file" dose --phantom slab --plan "$geometry" --json no.json
expect 2 "'m.h5': is a matrix in HDF5 .a geometry is JSON.; write a file as docs/formats.md" reconstruct --phantom shepp-logan --geometry m.h5 --json no.json
expect 2 "'p.h5': is a stack of projections in HDF5 .a plan is JSON." dose --plan p.h5 --phantom slab --json no.json
if ! "$iso" info . 2>&1 | grep -q 'this build has no DCMTK'; then
  "$write_rt_objects" . || fail 'no RT objects'
  expect 2 "'rtplan.dcm': is an RT Plan of DICOM .a plan is JSON, and no beam of an RT Plan is read.; write a file as docs" dose --plan rtplan.dcm --phantom slab --json no.json
  expect 2 "'dose.dcm': is a DICOM file of modality RTDOSE .a plan is JSON.; write a file as docs" dose --plan dose.dcm --phantom slab --json no.json
  expect 2 "'rtplan.dcm': is an RT Plan of DICOM .a geometry is JSON" project --phantom shepp-logan --geometry rtplan.dcm --json no.json
  expect 0 '^RT Structure Set of 3 structures' info set.dcm --json set.json
  says '^number +name +type +contours +x, mm +y, mm +z, mm$'
  says 'a, "b" .* 6 +-5.5 to 5.5 +-6 to 6 +-5 to 5$'
  tr -d ' \n' <set.json | grep -qF '"x_mm":[-5.5,5.5],"y_mm":[-6.0,6.0],"z_mm":[-5.0,5.0]' || fail "set.json: $(cat set.json)"
  # A folder with a slice that is empty, and more slices below; a patient who lay feet first.
  expect 0 '^CT series of 6 slices' info feet
  says "warning: 'feet': 7 files look like DICOM and are not read .1 empty, 6 in a folder within: slices may be missing.; check them, read slices in folders within by --recursive, list them by --name-files"
  says '^patient position +FFS$'
  grep -q SECRET <<<"$answer" && fail "a file's name: $answer"
  expect 0 "warning: 'feet/SECRET.dcm' is not read .empty.; check whether it is a slice$" info feet --name-files
  expect 0 '^CT series of 12 slices' info feet --recursive --json feet.json
  grep -q '"unread_files": 1' feet.json || fail "feet.json: $(cat feet.json)"
  expect 0 'looks like DICOM' project --volume feet --recursive --hounsfield --geometry "$geometry" --output feet.h5
  expect 2 "'feet' shows a patient in position FFS .gantry angles are those of HFS" dose --plan "$top/examples/plans/slab_phantom.json" --ct feet --recursive --json no.json
  # Any name; an archive.
  cp dose.dcm RD.1.2.3
  expect 0 '^RT Dose' info RD.1.2.3
  expect 0 '^3%/3mm ' gamma RD.1.2.3 half.dcm --normalisation 1000 --cut-off 0%
  printf 'PK\3\4 and more' >ct.zip
  expect 2 "'ct.zip': is a zip archive .files in it are not read.; unpack it" info ct.zip
  expect 2 "'ct.zip': is a zip archive" project --volume ct.zip --geometry "$geometry" --json no.json
fi
[ ! -e no.json ] || fail 'a refused run wrote no.json'

# What is text, and none that is read by its ending.
printf '# Notes\nof a dose in Gy, \303\244\n' >README.md
expect 2 "'README.md' is a text file .iso info reads volumes, .*; name one of those, or correct the ending" info README.md

finish
