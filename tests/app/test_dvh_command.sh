#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_dvh_command.sh ISO WRITE_RT_OBJECTS [PLAN]
# `iso dvh` as a user meets it: doses and structures in, table, curves and JSON out, refusals. The
# figures are those of boxes in a gradient of 1 Gy/mm. PLAN, the real plan of
# scripts/get_example_data.sh, may be missing.
iso=$1
write=$2
real=${3:-}
tool=("$iso")
source "$(dirname "$0")/expect.sh"

if "$iso" info . 2>&1 | grep -q 'this build has no DCMTK'; then
  skip 'histograms of DICOM files (this build has no DCMTK); install libdcmtk-dev'
fi
"$write" . || fail 'no files'
backends=$(for name in serial openmp threads cuda; do
  "$iso" info --no-ceilings --backend $name >/dev/null 2>&1 && echo $name
done)

# A box of 12 mm in (30 + x) Gy, x from -6 to 6.
box=(dvh --dose dose.dcm --structures set.dcm --structure Box)
expect 0 '^Box +1.728 +0 +30 +24 +36 +24.24 +24.6 +30 +35.76 +0.384$' "${box[@]}"
says '^structure +volume cm3 +outside cm3 +mean Gy +min Gy +max Gy +D98 Gy +D95 Gy +D50 Gy +D2 Gy +HI$'
# 100 mm3 are the last 100 / 144 mm. Of the dose's voxels, 12 x 24 x 24 mm get 30 Gy.
expect 0 '^Box +1.728 +0 +35.306 +25 +0.432 +0.0625 +24 +36$' \
  "${box[@]}" --quantity D0.1cc V33Gy V33Gy_cc CI30Gy minimum maximum volume outside
says '^structure +volume cm3 +outside cm3 +D0.1cc Gy .* maximum Gy$'
expect 0 '^structure +volume cm3 +outside cm3$' "${box[@]}" --quantity volume outside --json both.json
tr -d ' \n' <both.json | grep -qF '"values":{"volume":1.728,"outside":0.0}' || fail "both.json: $(cat both.json)"
# Other names, in any case.
expect 0 '^Box +1.728 +0 +30 +24 +36 +30 +24 +0.384$' "${box[@]}" --quantity Dmean Dmin Dmax MEAN dMin hi
says '^structure .* Dmean Gy +Dmin Gy +Dmax Gy '
expect 0 '^Box +1.728 +0 +35.306 +25 +0.432 +0.0625 +24.6$' "${box[@]}" --quantity d0.1CC v33gy V33GY_CC ci30GY d95%
# A volume larger than the structure has no dose: said, and null in JSON.
expect 0 "'Box' has no D2cc in 'dose.dcm' .it is of more than the structure's 1.728 cm3" "${box[@]}" --quantity D2cc D1.728cc mean --json none.json
says '^Box +1.728 +0 +none +24 +30$'
tr -d ' \n' <none.json | grep -qF '"values":{"D2cc":null,"D1.728cc":24.0,"mean":30.0}' || fail "none.json: $(cat none.json)"
expect 0 '^Box +1.728 +0 +62.5 +0.0625 +50$' "${box[@]}" --prescription 30 --quantity V95% CI V100%
expect 0 '^Box +1.44 ' "${box[@]}" --caps none --quantity mean --quiet
[ "$(wc -l <<<"$answer")" = 2 ] || fail "--quiet: $answer"
expect 0 '^Box +1.[4-6][0-9]* ' "${box[@]}" --caps rounded --quantity mean
# The other one's faces lie within voxels of 2/9 mm: the last whole ones end at 49/9 mm.
expect 0 '^a, "b" +1.584 +0 +24.5 +35.5$' "${box[@]:0:5}" --structure 'a, "b"' --quantity min max
expect 0 '^a, "b" +1.584 +0 +24.556 +35.444$' "${box[@]:0:5}" --structure 'a, "b"' --quantity min max --surface exclude

# Again and again, with the bits of one run.
expect 0 'hash [0-9a-f]{16}' "${box[@]}" --json once.json
once=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
grep -qE '"(repeats|kernel_times)"' once.json && fail 'repeats are told unasked'
expect 0 "$once" "${box[@]}" --repeats 2 --by-kernel --json again.json
says '^repeat 2: [0-9.e+-]+ s, [0-9.e+-]+ s of processors$'
says '^kernel iso::dvh::[a-z_]+.*: [0-9.e+-]+ s, '
[ "$(sed -n '/"repeats": \[/,/^  \]/p' again.json | grep -c '"processor_seconds": [0-9]')" = 2 ] || fail "again.json: $(cat again.json)"

# All structures in two doses; the curves have the same bins.
expect 0 "'Empty' has no closed contours and is left out" dvh --dose dose.dcm half.dcm --structures set.dcm --csv dvh.csv --bins 51 --json dvh.json --quantity mean min max
says '^half.dcm$'
says '^Box +1.728 +0 +15 +12 +18$'
[ "$(wc -l <dvh.csv)" = $((1 + 4 * 52)) ] || fail "dvh.csv has $(wc -l <dvh.csv) lines"
grep -q '^"dose.dcm","Box",0,1.728,100,0,#ff0007$' dvh.csv || fail "dvh.csv: $(head -3 dvh.csv)"
grep -q '^"half.dcm","a, ""b""",0,1.584,100,0,#ff0007$' dvh.csv || fail "dvh.csv: $(grep half dvh.csv | head -3)"
# The bins are 1.02 x 41 / 51 = 0.82 Gy: 36 bins are 29.52 Gy, and 0.144 cm3 get each Gy.
grep -qE '^"dose.dcm","Box",29.52,0.9331[0-9]*,54[0-9.]*,0.11808[0-9]*,#ff0007$' dvh.csv || fail "dvh.csv: $(grep Box,29 dvh.csv)"
grep -q '"operation": "dvh"' dvh.json && grep -q '"max": 36.0' dvh.json && grep -q '"holes": 0' dvh.json || fail "dvh.json: $(cat dvh.json)"
expect 0 '"operation": "dvh"' "${box[@]}" --json - --quantity mean

# What is left out because its contours are open is a warning, which --quiet leaves; markers and what is empty are not.
expect 0 "warning: 'Open' has OPEN_PLANAR contours and is left out" dvh --dose dose.dcm --structures open.dcm --quantity mean --quiet
grep -qE 'Empty|Marker' <<<"$answer" && fail "--quiet: $answer"
expect 0 "info: 'Marker' has no closed contours and is left out" dvh --dose dose.dcm --structures open.dcm --quantity mean
says "info: 'Empty' has no closed contours and is left out"

# Without --structure a structure that is refused is named, and the others are reported.
expect 7 "'Twin' is refused, and the others are reported: 'wrong.dcm': has two structures of the name 'Twin'" dvh --dose dose.dcm --structures wrong.dcm --quantity mean --csv others.csv --json others.json
[ "$(grep -c "'Twin' is refused" <<<"$answer")" = 1 ] || fail "Twin is refused several times: $answer"
says "'Plane' is refused, and the others are reported: 'Plane' has contours at z = 1 mm only .*; give --slice-thickness in mm"
says "'Far' is refused, and the others are reported: 'Far' goes from 106 to 118 mm"
says '^Aside +0.864 +0.864 '
says '^2 structures in 1 dose '
grep -q '^"dose.dcm","Aside"' others.csv || fail "others.csv: $(head -3 others.csv)"
tr -d '\n' <others.json | grep -qE '"refused": \[ *\{ *"name": "Twin", *"reason": "[^"]*two structures' || fail "others.json: $(cat others.json)"
expect 0 '^2 structures in 1 dose ' dvh --dose dose.dcm --structures wrong.dcm --quantity mean --skip Twin Plane Far
expect 2 "skip 'Heart' .no structure has that name; there are Twin, " dvh --dose dose.dcm --structures wrong.dcm --skip Heart
# Contours as they are drawn.
expect 0 "1 of 2 contours of 'Crossing' crosses itself, in 1 of 2 planes .it is split; 0 % of the area of all planes is disputed" dvh --dose dose.dcm --structures wrong.dcm --structure Crossing --quantity mean --json crossing.json
grep -q '"crossing_contours": 1' crossing.json || fail "crossing.json: $(cat crossing.json)"
expect 7 "2 of 8 contours of 'Marked' are points or lines .they are left out" dvh --dose dose.dcm --structures drawn.dcm --quantity mean
says '^Marked +1.728 +0 +30$'
says '^Exclusive +1.296 +0 +30$'
says "'Interpolated' is refused, and the others are reported: 'drawn.dcm': has a structure 'Interpolated' that has INTERPOLATED_PLANAR contours"
expect 0 '^Marked ' dvh --dose dose.dcm --structures drawn.dcm --quantity mean --skip Interpolated
# A number of one structure that is none does not refuse the others.
comma=(dvh --dose dose.dcm --structures comma.dcm --quantity mean)
expect 7 "'Comma' is refused, and the others are reported: 'comma.dcm': has a structure 'Comma' that holds '-6,[0-9]*' as ContourData" "${comma[@]}" --json comma.json
says "'Between' is refused, and the others are reported: "
says '^Box +1.728 +0 +30$'
tr -d '\n' <comma.json | grep -qE '"refused": \[ *\{ *"name": "Comma", *"reason": "[^"]*ContourData' || fail "comma.json: $(cat comma.json)"
expect 0 '^Box +1.728 +0 +30$' "${comma[@]}" --structure Box
expect 0 '^Box +1.728 +0 +30$' "${comma[@]}" --skip Comma Between
expect 2 "'Comma' that holds '-6,[0-9]*' as ContourData" "${comma[@]}" --structure Comma
expect 0 "Comma .* 0 .*; its contours cannot be used" info comma.dcm --json comma.json
tr -d '\n' <comma.json | grep -qE '"refusal": "[^"]*ContourData' || fail "comma.json: $(cat comma.json)"
# Nor does one without a number.
expect 7 "'Lost' is refused, and the others are reported: 'numberless.dcm': has a structure 'Lost' that has no number" dvh --dose dose.dcm --structures numberless.dcm --quantity mean
says "'number 2' is refused, and the others are reported: "
says '^Box +1.728 +0 +30$'
expect 2 "'Lost' that has no number" dvh --dose dose.dcm --structures numberless.dcm --structure Lost
expect 0 "Lost .* 0 .*; its contours cannot be used" info numberless.dcm
# Each structure has its own frame of reference.
expect 7 "'Elsewhere' is refused, and the others are reported: 'box_elsewhere.dcm' and 'dose.dcm' have frames of reference 1.2.3.9 and 1.2.3.3" dvh --dose dose.dcm --structures box_elsewhere.dcm --quantity mean
says '^Box +1.728 +0 +30$'
expect 0 '^Elsewhere +1.728 +0 +30$' dvh --dose elsewhere.dcm --structures box_elsewhere.dcm --structure Elsewhere --quantity mean
# A dose that was calculated anew: told in every output.
expect 0 "warning: 'elsewhere.dcm' has another frame of reference than 'set.dcm' .--same-frame takes both for one.; check that they are" dvh --dose elsewhere.dcm --structures set.dcm --structure Box --same-frame --quantity mean --csv same.csv --json same.json
says '^Box +1.728 +0 +30$'
says '^frames of reference differ, and are taken for one .--same-frame'
head -1 same.csv | grep -qF "# --same-frame: 'elsewhere.dcm' and 'set.dcm' have two frames of reference" || fail "same.csv: $(head -2 same.csv)"
tr -d ' \n' <same.json | grep -qF '"assumed_same_frame":[{"dose":"elsewhere.dcm","structure":"Box"}]' || fail "same.json: $(cat same.json)"
expect 0 '^Box +1.728 ' "${box[@]}" --same-frame --quantity mean --json own.json
grep -q 'taken for one' <<<"$answer" && fail "frames that are one: $answer"
tr -d ' \n' <own.json | grep -qF '"assumed_same_frame":[]' || fail "own.json: $(cat own.json)"
expect 0 "'elsewhere.dcm' has another frame of reference than 'dose.dcm' .--same-frame takes both for one.; check that they are" gamma dose.dcm elsewhere.dcm --same-frame --csv gamma.csv --json gamma.json
says '^frames of reference differ, and are taken for one .--same-frame'
head -1 gamma.csv | grep -qF "# --same-frame: 'dose.dcm' and 'elsewhere.dcm' have two frames of reference" || fail "gamma.csv: $(head -2 gamma.csv)"
grep -q '"assumed_same_frame": true' gamma.json || fail "gamma.json: $(cat gamma.json)"
# The doses of a plan's beams.
sum=(dvh --structures set.dcm --structure Box --quantity mean min max --add-doses --dose)
expect 0 '^Box +1.728 +0 +30 +24 +36$' "${sum[@]}" beam1.dcm beam2.dcm
says '^beam1.dcm \+ beam2.dcm$'
expect 2 "'beam1.dcm' and 'again.dcm' are both of beam 1 " "${sum[@]}" beam1.dcm beam2.dcm again.dcm
expect 2 "'beam1.dcm' and 'other_plan.dcm' belong to the plans 1.2.3.6 and 1.2.3.66 " "${sum[@]}" beam1.dcm other_plan.dcm
expect 2 "'beam1.dcm' and 'shifted.dcm' have two grids " "${sum[@]}" beam1.dcm shifted.dcm
expect 2 "'dose.dcm' is a dose of a PLAN " "${sum[@]}" beam1.dcm dose.dcm
expect 2 "'beam1.dcm' is one dose " "${sum[@]}" beam1.dcm
# Slabs in place of frusta, which a box does not tell apart.
expect 0 '^Box +1.728 +0 +30$' "${box[@]}" --prisms --quantity mean --json slabs.json
grep -q '"between_planes": "prisms"' slabs.json || fail "slabs.json: $(cat slabs.json)"
expect 0 '^Box +1.728 +0 +24 +24$' "${box[@]}" --quantity D100 min

# Partly off the dose's grid: told, and figures of the rest.
expect 0 "50 % of 'Aside' lie outside of 'dose.dcm' .all figures are of the rest" dvh --dose dose.dcm --structures wrong.dcm --structure Aside Plane --slice-thickness 3 --quantity mean
says '^Aside +0.864 +0.864 '
says '^Plane +0.432 +0 +30$'
# A volume that is no DICOM.
printf 'ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nOffset = -7 -7 -7\nElementSpacing = 2 2 2\nDimSize = 8 8 8\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n' >one.mha
printf '\0\0\x80\x3f%.0s' {1..512} >>one.mha
sed 's/^Offset/Unit = HU\n&/' one.mha >hu.mha
expect 0 '^Box +1.728 +0 +1 +1 +1$' dvh --dose one.mha --structures set.dcm --structure Box --quantity mean min max
says "'one.mha' does not say its frame of reference"
says "'one.mha' does not say its unit .its numbers are taken for Gy"
sed 's/^Offset/Unit = Gy\n&/' one.mha >gy.mha
expect 0 '^Box +1.728 ' dvh --dose gy.mha --structures set.dcm --structure Box --quantity mean
grep -q 'its unit' <<<"$answer" && fail "a volume with a unit: $answer"
# Doses in other units than Gy, or in none: told, and compared with their like.
expect 0 'at most 20.5 CGY$' info cgy.dcm
expect 0 'at most 20.5, of units that the file does not say$' info unitless.dcm
expect 0 "'unitless.dcm' does not say its unit .its numbers are taken for Gy, as those of 'dose.dcm'" gamma dose.dcm unitless.dcm
expect 0 "'one.mha' does not say its unit .its numbers are taken for Gy, as those of 'dose.dcm'" gamma one.mha dose.dcm

# The same bits on every backend and from every number of threads.
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }
both=(dvh --dose dose.dcm one.mha --structures set.dcm --structure 'a, "b"' --csv hash.csv --bins 51 --quantity D95 D0.1cc V28Gy mean min max CI30Gy HI)
expect 0 'hash' "${both[@]}" --backend serial
serial=$(hash_of)
for backend in $backends; do
  [ "$backend" != serial ] || continue
  expect 0 'hash' "${both[@]}" --backend "$backend"
  [ "$(hash_of)" = "$serial" ] || fail "dvh on $backend: $(hash_of) instead of $serial"
done
# What lies outside too, which bands of rows add up.
beside=(dvh --dose dose.dcm --structures wrong.dcm --structure Aside --quantity outside)
expect 0 'hash' "${beside[@]}" --threads 1
alone=$(hash_of)
expect 0 'hash' "${beside[@]}" --threads 3
[ "$(hash_of)" = "$alone" ] || fail "outside with 3 threads: $(hash_of) instead of $alone"
expect 0 'hash' "${both[@]}" --threads 3
[ "$(hash_of)" = "$serial" ] || fail "dvh with 3 threads: $(hash_of) instead of $serial"

# A dose of a CT, as RT Dose, and its picture with structures. The set's frame of reference is the CT's.
printf '{"beams": [{"isocentre_mm": [0, 0, 0], "field_mm": {"x": [-8, 8], "y": [-8, 8]}}], "directions": {"cones": 4, "azimuths": 4}}' >plan.json
dose=(dose --plan plan.json --ct ct)
expect 0 'hash' "${dose[@]}" --png plain.png
expect 0 'isodoses at 10, 90 % of that' "${dose[@]}" --structures set.dcm --isodose 10 90 --png outlined.png --out of_ct.dcm --json of_ct.json
says "'Empty' has no closed contours and is left out"
height_of() { od -An -tu1 -j20 -N4 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'; }
[ "$(height_of outlined.png)" -gt "$(height_of plain.png)" ] || fail 'the picture has no legend'
# Outlines have the structures' own colour; the second one of a colour is dashed.
python3 - <<'PYTHON' || fail 'no outline has the colour #ff0007 of the structures'
import sys
from read_png import rows_of
width, rows = rows_of("outlined.png", 3)
found = sum(row[i : i + 3] == b"\xff\0\7" for row in rows for i in range(0, 3 * width, 3))
sys.exit(0 if found > 100 else 1)
PYTHON
tr -d ' \n' <of_ct.json | grep -qF '"isodoses_percent":[10.0,90.0],"structures":["Box","a,\"b\""]' || fail "of_ct.json: $(cat of_ct.json)"
expect 0 'RT Dose .PHYSICAL, PLAN.: 12 x 12 x 12 voxels' info of_ct.dcm
expect 0 '^Box +1.728 +0 ' dvh --dose of_ct.dcm --structures set.dcm --structure Box --quantity mean
# Without --structure those that are refused are named, and the others outlined, as iso dvh reports them.
expect 7 "'Twin' is refused, and the others are outlined: 'wrong.dcm': has two structures of the name 'Twin'" "${dose[@]}" --structures wrong.dcm --png others.png --json others.json
says "'Far' is refused, and the others are outlined: 'Far' goes from 106 to 118 mm"
tr -d ' \n' <others.json | grep -qE '"structures":\[[^]]*"Aside"' || fail "others.json: $(cat others.json)"
tr -d '\n' <others.json | grep -qE '"refused": \[ *\{ *"name": "Twin", *"reason": "[^"]*two structures' || fail "others.json: $(cat others.json)"
[ -s others.png ] || fail 'no picture of the other structures'
expect 7 "'Lost' is refused, and the others are outlined: " "${dose[@]}" --structures numberless.dcm --png others.png
expect 7 "'Elsewhere' is refused, and the others are outlined: .* frames of reference 1.2.3.9 and 1.2.3.3" "${dose[@]}" --structures box_elsewhere.dcm --png others.png
sed 's/0, 0, 0/9, 9, 9/' plan.json >aside.json
expect 0 "'Box' does not lie in the slices" dose --plan aside.json --ct ct --structures set.dcm --png aside.png
# Several layers below the slice across z, and above it.
for z in 11 -11; do
  sed "s/0, 0, 0/9, 9, $z/" plan.json >aside.json
  expect 0 "'Box' does not lie in the slices" dose --plan aside.json --ct ct --structures set.dcm --png aside.png
done

# Help: what it is not is said once.
[ "$("$iso" dvh --help | grep -c 'Not a medical device')" = 1 ] || fail 'the help does not say once that it is not a medical device'

# Refusals: a sentence, exit code 2, nothing written, no patient.
mkdir refused
refuse() { refuse_with --csv "$@"; }
refuse_dose() { refuse_with --png "$@" --out refused/x.dcm; }
refuse_with() {
  local written=$1
  shift
  expect 2 "$@" "$written" "refused/x.${written#--}" --json refused/x.json
  [ "$(wc -l <<<"$answer")" = 1 ] || fail "more than a sentence: $answer"
  grep -q SECRET <<<"$answer" && fail "a patient is named: $answer"
}
wrong=(dvh --dose dose.dcm --structures wrong.dcm)
refuse "'wrong.dcm': has no structure 'Heart' .it has Twin, Twin, " "${wrong[@]}" --structure Heart
refuse "two structures of the name 'Twin'" "${wrong[@]}" --structure Twin
refuse "'Empty' without contours" "${wrong[@]}" --structure Empty
refuse "'Open' with OPEN_PLANAR contours" "${wrong[@]}" --structure Open
refuse "'Plane' has contours at z = 1 mm only .*; give --slice-thickness in mm" "${wrong[@]}" --structure Plane
refuse "'Far' goes from 106 to 118 mm.*they do not overlap" "${wrong[@]}" --structure Far
refuse "'between.dcm': has a structure 'Between' that has INTERPOLATED_PLANAR contours" dvh --dose dose.dcm --structures between.dcm
refuse "'none.dcm' has no structure with closed contours" dvh --dose dose.dcm --structures none.dcm
refuse "'Box' is given twice" "${box[@]}" --structure Box
refuse "'unitless.dcm': does not say its dose's units .Gy are needed" dvh --dose unitless.dcm --structures set.dcm --structure Box
refuse "'cgy.dcm': has a dose in CGY .Gy are needed" dvh --dose cgy.dcm --structures set.dcm --structure Box
refuse "'dose.dcm' holds values in Gy, 'cgy.dcm' in CGY" gamma dose.dcm cgy.dcm
refuse "'unitless.dcm' holds values in units that it does not say, 'relative.dcm' in relative" gamma unitless.dcm relative.dcm
refuse "'unitless.dcm' does not say its dose's units .a dose difference of Gy" gamma dose.dcm unitless.dcm --normalisation 2
refuse "'cgy.dcm' holds values in CGY .a dose difference of Gy" gamma cgy.dcm one.mha --normalisation 2
refuse "'relative.dcm'.*Gy" dvh --dose relative.dcm --structures set.dcm --structure Box
refuse "'set.dcm' and 'elsewhere.dcm' have frames of reference 1.2.3.3 and 1.2.3.9" dvh --dose elsewhere.dcm --structures set.dcm --structure Box
# A set of two frames: each structure is compared by its own.
expect 0 '^Second +1.728 ' dvh --dose elsewhere.dcm --structures frames.dcm --structure Second --quantity mean
expect 0 '^First +1.728 ' dvh --dose dose.dcm --structures frames.dcm --structure First --quantity mean
refuse "'frames.dcm' has structures 'First' and 'Second' in two frames" dvh --dose gy.mha --structures frames.dcm
# One frame that does not say how thick it is: a plane for gamma, and for info.
expect 0 '12 x 12 x 1 voxels of 2 x 2 x .thickness not stated. mm' info plane.dcm
expect 0 '^3%/3mm +144 +144 +100.00 ' gamma plane.dcm dose.dcm
says "'plane.dcm' is one plane and does not state its thickness"
expect 0 '^3%/3mm +144 +144 +100.00 ' gamma plane.dcm half.dcm --criterion 3%/3mm --normalisation 1000 --cut-off 0%
refuse "'plane.dcm': has one frame without a thickness" dvh --dose plane.dcm --structures set.dcm --structure Box
expect 0 'Box' dvh --dose plane.dcm --structures set.dcm --structure Box --slice-thickness 2 --quantity mean
refuse "'dose.dcm' and 'elsewhere.dcm' have frames of reference 1.2.3.3 and 1.2.3.9" gamma dose.dcm elsewhere.dcm
refuse "'dose.dcm' holds values in Gy, 'relative.dcm' in relative" gamma dose.dcm relative.dcm
refuse "'relative.dcm' holds a relative dose" gamma dose.dcm relative.dcm --normalisation 2
refuse "'hu.mha' holds values in HU .a dose in Gy is needed" dvh --dose hu.mha --structures set.dcm --structure Box
refuse "'dose.dcm' and './dose.dcm' are one file" dvh --dose dose.dcm ./dose.dcm --structures set.dcm --structure Box
refuse "'set.dcm' and 'set.dcm' are one file" dvh --dose set.dcm --structures set.dcm
refuse "'dose.dcm'" dvh --dose half.dcm --structures dose.dcm
refuse "'set.dcm'" dvh --dose set.dcm --structures wrong.dcm --structure Aside
refuse "'absent.dcm'" dvh --dose absent.dcm --structures set.dcm --structure Box
refuse_dose "'set.dcm' and 'other' have frames of reference 1.2.3.3 and 1.2.3.9" dose --plan plan.json --ct other --structures set.dcm
refuse_dose "'set.dcm' and 'elsewhere.dcm' have frames of reference 1.2.3.3 and 1.2.3.9" dose --plan plan.json --density one.mha --like elsewhere.dcm --structures set.dcm
refuse_dose "'wrong.dcm': has no structure 'Heart'" "${dose[@]}" --structures wrong.dcm --structure Heart
refuse_dose "two structures of the name 'Twin'" "${dose[@]}" --structures wrong.dcm --structure Twin
refuse_dose "'between.dcm': has a structure 'Between' that has INTERPOLATED_PLANAR contours" "${dose[@]}" --structures between.dcm
refuse_dose "'Far' goes from 106 to 118 mm.*they do not overlap" "${dose[@]}" --structures wrong.dcm --structure Far
expect 2 'structures requires --png' "${dose[@]}" --structures set.dcm --out refused/x.dcm
for quantity in X95 D101 ''; do
  refuse "'$quantity' is no quantity .*; write one of those, Dmean, Dmin, Dmax, HI," "${box[@]}" --quantity "$quantity"
done
for quantity in CI V95%; do
  refuse "--quantity '$quantity' is of the prescription .which is not known.; give it, or write the dose as in CI60Gy" "${box[@]}" --quantity "$quantity"
done
refuse '--caps: round is not known' "${box[@]}" --caps round
refuse 'name one' "${box[@]}" --backend all
refuse 'dose is required' dvh --structures set.dcm
expect 2 'does not end in .csv' "${box[@]}" --csv refused/x.txt
expect 2 "folder 'no'" "${box[@]}" --csv no/x.csv
expect 2 'is named twice' "${box[@]}" --csv refused/x.csv --json refused/x.csv
expect 2 'is named twice' "${box[@]}" --json dose.dcm
[ -z "$(ls -A refused)" ] || fail "a run that failed wrote $(ls -A refused)"

# SIGINT stops it while it splits contours of 30,000 points, which take 20 s of a core.
splits() {
  local fields
  read -ra fields <"/proc/$1/stat" && [ "${fields[13]}" -ge $((2 * $(getconf CLK_TCK))) ]
}
stops splits dvh --backend serial --dose dose.dcm --structures rough.dcm --structure Rough --json late.json

# A real plan. Volumes: test_dvh_structure.cpp.
if [ -e "$real/rtss.dcm" ]; then
  expect 0 '^Tumor Bed +13.07[0-9]* +0 +14.2[89][0-9]*$' dvh --dose "$real/rtdose.dcm" --structures "$real/rtss.dcm" --structure 'Tumor Bed' --quantity mean
else
  not_run 'a real plan (it is not there); run scripts/get_example_data.sh'
fi
finish
