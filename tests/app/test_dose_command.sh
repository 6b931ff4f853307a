#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_dose_command.sh ISO PLANS CHEST_CT
# `iso dose` as a user meets it: phantom, densities and CTs in, dose, curves and pictures out,
# refusals. CHEST_CT may be missing.
iso=$1
plans=$2
chest=$3
tool=("$iso")
source "$(dirname "$0")/expect.sh"

backends=$(for name in serial openmp threads cuda; do
  "$iso" info --no-ceilings --backend $name >/dev/null 2>&1 && echo $name
done)
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }
# same WHAT EXPECTED: the last run gave these bits
same() { [ "$(hash_of)" = "$2" ] || fail "$1: $(hash_of) instead of $2"; }

# volume NAME TYPE BYTES: 16 x 16 x 16 voxels of 5 mm about 0, from standard input
volume() {
  printf 'ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nOffset = -37.5 -37.5 -37.5\nElementSpacing = 5 5 5\nDimSize = 16 16 16\nElementType = %s\nElementDataFile = LOCAL\n' "$2" >"$1"
  cat >>"$1"
}
# ones COUNT: floats of 1
ones() { printf '\0\0\x80\x3f%.0s' $(seq "$1"); }
ones 4096 | volume water.mha MET_FLOAT
head -c 8192 /dev/zero | volume ct.mha MET_SHORT
# At voxel (2, 3, 4) in a file, x fastest, 2 + 16 (3 + 16 4) = 1074 voxels lie before it.
{ ones 1074 && printf '\0\0\x80\xbf\0\0\x80\xbf' && ones 3020; } | volume negative.mha MET_FLOAT
{ ones 1074 && printf '\0\0\xc0\x7f' && ones 3021; } | volume nan.mha MET_FLOAT
{ ones 1074 && printf '\0\0\x7a\x44' && ones 3021; } | volume dense.mha MET_FLOAT
printf 'hu,density\n-1000,0\n0,1\n1000,2\n' >line.csv

# plan FIELDS: a plan of one field of 4 x 5 cm2, and what is given besides
plan() {
  printf '{"beams": [{"gantry_deg": 20, "isocentre_mm": [0, 0, 0], "field_mm": {"x": [-20, 20], "y": [-25, 25]}}], "directions": {"cones": 4, "azimuths": 4}%s}' "$1"
}
plan '' >plan.json

# From a plan to a dose, curves, a picture and JSON; the same bits on every backend and from every
# number of threads.
expect 0 'hash' dose --plan plan.json --density water.mha --backend serial --out d.mha --png d.png --curves d.csv --json d.json
serial=$(hash_of)
says '16 x 16 x 16 voxels, 1 beam of 16 directions on serial'
grep -q "\"hash\": \"${serial#hash }\"" d.json || fail 'd.json has another hash'
grep -q '"unit": "Gy"' d.json || fail 'd.json has no unit'
says 'Gy for 1 photon/cm2 in air at the isocentre'
grep -qa '^Unit = Gy$' d.mha || fail 'd.mha has no unit'
for file in d.mha d.png d.csv d.json; do
  [ -s $file ] || fail "$file was not written"
done
for curve in depth_dose inline_isocentre crossline_isocentre inline_maximum crossline_maximum; do
  [ "$(grep -c "^1,$curve," d.csv)" -gt 10 ] || fail "d.csv has no curve $curve"
done
for backend in $backends; do
  expect 0 'hash' dose --plan plan.json --density water.mha --backend "$backend" --json w.json
  same "dose on $backend" "$serial"
done
expect 0 'hash' dose --plan plan.json --density water.mha --threads 3 --json w.json
same 'dose with 3 threads' "$serial"
expect 0 '"operation": "dose"' dose --plan plan.json --density water.mha --json -

# A CT is as good as the density that its table gives; the default table gives another.
expect 0 'hash' dose --plan plan.json --ct ct.mha --density-table line.csv --json w.json
same 'a CT of water' "$serial"
expect 0 'hash' dose --plan plan.json --ct ct.mha --json w.json
[ "$(hash_of)" != "$serial" ] || fail 'the table of CT numbers changes nothing'
# Other engines, precisions and directions: other bits. Whole turns change nothing.
expect 0 'hash' dose --plan plan.json --density water.mha --precision double --json w.json
[ "$(hash_of)" != "$serial" ] || fail 'double gives the bits of float'
plan ', "engine": "voxel_lines"' >other.json
expect 0 'hash' dose --plan other.json --density water.mha --json w.json
[ "$(hash_of)" != "$serial" ] || fail 'voxel_lines gives the bits of the lattice'
sed 's/20, "iso/380, "iso/' plan.json >other.json
expect 0 'hash' dose --plan other.json --density water.mha --json w.json
same 'a gantry at 380 degrees' "$serial"
# Beams add up.
printf '{"beams": [%s, %s]}' \
  '{"isocentre_mm": [0, 0, 0], "field_mm": {"x": [-20, 20], "y": [-20, 20]}}' \
  '{"isocentre_mm": [0, 0, 0], "gantry_deg": 90, "fluence": {"x_low_mm": -20, "y_low_mm": -20, "pixel_mm": [20, 40], "values": [[1], [0.5]]}}' >two.json
expect 0 '2 beams of 64 directions' dose --plan two.json --density water.mha --curves two.csv
# Curves end where the volume does, whatever the margin; a field may be far larger than the body, and a source may not stand in it.
plan ', "margin_mm": 1e9' >margin.json
tool=(timeout 600 "$iso")
expect 0 'hash' dose --plan margin.json --density water.mha --curves margin.csv
[ "$(wc -l <margin.csv)" -lt 1000 ] || fail "margin.csv has $(wc -l <margin.csv) lines"
tool=("$iso")
for side in 1e3 1e7 1e9; do
  sed "s/\"x\": .*\]}/\"x\": [-$side, $side], \"y\": [-$side, $side]}/" plan.json >large.json
  expect 0 'hash' dose --plan large.json --density water.mha --json w.json
  [ $side = 1e3 ] && large=$(hash_of)
  same "a field of +-$side mm" "$large"
done
sed 's/"gantry_deg"/"source_distance_mm": 130, "gantry_deg"/' plan.json >near.json
expect 2 'the source is [0-9.]+ mm from a voxel .*nearer than 100 mm.; move the source away' dose --plan near.json --density water.mha --json w.json
grep -q '^2,depth_dose,' two.csv || fail 'two.csv has no curve of the second beam'
# Weights are photons/cm2, and the dose is Gy wherever it is written.
sed 's/"isocentre_mm"/"weight": 1e12, "isocentre_mm"/' plan.json >heavy.json
expect 0 'at most [0-9.]+ Gy for 1e\+12 photons/cm2 in air at the isocentre' dose --plan heavy.json --density water.mha --out h.nrrd \
  --png h.png --curves h.csv --json h.json
says "red is [0-9.]+ Gy\)"
grep -qa '^Unit:=Gy$' h.nrrd || fail 'h.nrrd has no unit'
grep -q '"unit": "Gy"' h.json && grep -q '"weight_unit": "photons/cm2"' h.json || fail 'h.json has no units'
grep -q "^# dose of the whole plan in Gy, for the plan's weights in photons/cm2" h.csv || fail "h.csv: $(head -1 h.csv)"
grep -rq 'per photon' h.json h.csv && fail 'a dose in Gy is said to be per photon'
"$iso" dose --help | grep -q 'per photon' && fail 'the help says that the dose is per photon'
sed 's/"isocentre_mm"/"weight": 3, "isocentre_mm"/g' two.json >three.json
sed 's/"isocentre_mm"/"weight": 0.5, "isocentre_mm"/' two.json >half.json
for weight in 1e-28 1e-300; do
  sed "s/\"isocentre_mm\"/\"weight\": $weight, \"isocentre_mm\"/" plan.json >light.json
  expect 2 'the dose is at most [0-9e.-]+ Gy .results are floats' dose --plan light.json --density water.mha --json light_dose.json
done
expect 0 'Gy for 3 photons/cm2' dose --plan three.json --density water.mha --json w.json
expect 0 'Gy for 0.5 to 1 photons/cm2' dose --plan half.json --density water.mha --json w.json
expect 0 "'h.nrrd' holds values in Gy .g/cm3 is expected" dose --plan plan.json --density h.nrrd --json w.json
# A kernel for each bin of the spectrum: one bin is the whole.
printf '0.5,1,0.0966,0.0330\n' >line1.csv
printf '0.5,1,0.0966,0.0330\n2,3,0.0494,0.0260\n' >line2.csv
table=', "kernel": "monte_carlo", "hardening_correction": false'
plan "$table, \"spectrum\": \"line1.csv\"" >whole.json
plan "$table, \"spectrum\": \"line1.csv\", \"kernel_per_bin\": true" >bins.json
expect 0 '1 beam of 16 directions on' dose --plan whole.json --density water.mha --json w.json
whole=$(hash_of)
expect 0 '1 beam of 16 directions on' dose --plan bins.json --density water.mha --json w.json
same 'one bin' "$whole"
plan "$table, \"spectrum\": \"line2.csv\", \"kernel_per_bin\": true" >bins.json
for backend in $backends; do
  expect 0 '1 beam of 16 directions for each of 2 energies' dose --plan bins.json --density water.mha --backend "$backend" --json w.json
  bins=${bins:-$(hash_of)}
  same "two bins on $backend" "$bins"
done
grep -q '"kernels": 2' w.json || fail 'w.json does not tell of two kernels'
expect 0 'they are of different energies' dose --plan <(plan ', "kernel": "15mv"') --density water.mha --json w.json
expect 0 'hash' dose --plan <(plan ', "kernel": "monte_carlo"') --density water.mha --json w.json
grep -q 'different energies' <<<"$answer" && fail "a warning about kernels that are mixed for the spectrum: $answer"

# The phantom, and the examples.
expect 0 'at \((-)?[0-9]+, 1[0-9], ' dose --plan "$plans/slab_phantom.json" --phantom slab --voxel 4 --out slab.nii.gz --json w.json
slab=$(hash_of)
for backend in $backends; do
  expect 0 'hash' dose --plan "$plans/slab_phantom.json" --phantom slab --voxel 4 --backend "$backend" --json w.json
  same "the phantom on $backend" "$slab"
done
if [ -e "$chest" ]; then
  expect 0 '2 beams' dose --plan "$plans/chest_ct.json" --ct "$chest" --png chest.png
else
  not_run 'the chest CT (it is not there); run scripts/get_example_data.sh'
fi

# Refusals: a sentence, exit code 2, nothing written.
mkdir refused
refuse() { expect 2 "$@" --out refused/x.mha --png refused/x.png --curves refused/x.csv --json refused/x.json; }
water=(--density water.mha)
refuse_plan() {
  plan "$2" >wrong.json
  refuse "$1" dose --plan wrong.json "${water[@]}"
}
expect 2 'nothing to write' dose --plan plan.json "${water[@]}"
expect 2 "ending '.jpg'" dose --plan plan.json "${water[@]}" --out refused/x.jpg
expect 2 'does not end in .png' dose --plan plan.json "${water[@]}" --png refused/x.jpg
expect 2 'does not end in .csv' dose --plan plan.json "${water[@]}" --curves refused/x.txt
expect 2 "folder 'no'" dose --plan plan.json "${water[@]}" --out no/x.mha
expect 2 'is named twice' dose --plan plan.json "${water[@]}" --json plan.json
expect 2 'is named twice' dose --plan plan.json --density water.mha --out water.mha
refuse 'no volume' dose --plan plan.json
refuse 'excludes' dose --plan plan.json --density water.mha --ct ct.mha
refuse 'requires' dose --plan plan.json "${water[@]}" --density-table line.csv
refuse 'name one' dose --plan plan.json "${water[@]}" --backend all
refuse "'none.json'" dose --plan none.json "${water[@]}"
refuse "'none.mha'" dose --plan plan.json --density none.mha
refuse "'plan.json'" dose --plan plan.json --density plan.json
printf '{"beams": [' >wrong.json
refuse "'wrong.json': is not JSON" dose --plan wrong.json "${water[@]}"
# Densities.
refuse '2 of 4096 voxels are negative .the first is .2, 3, 4., with -1 g/cm3.; convert Hounsfield units' dose --plan plan.json --density negative.mha
refuse '1 of 4096 voxels are NaN or infinite .the first is .2, 3, 4.' dose --plan plan.json --density nan.mha
refuse '1 of 4096 voxels are above 25 g/cm3 .the first is .2, 3, 4., with 1000' dose --plan plan.json --density dense.mha
refuse "'nan.mha'.*(2, 3, 4|finite)" dose --plan plan.json --ct nan.mha
printf '0,1\n0,2\n' >wrong.csv
refuse 'wrong.csv, line 2: a CT number of 0 HU behind one of 0' dose --plan plan.json --ct ct.mha --density-table wrong.csv
refuse 'no such table' dose --plan plan.json --ct ct.mha --density-table none
refuse 'must make up 256 mm' dose --plan plan.json --phantom slab --voxel 3
# Beams.
sed 's/\[0, 0, 0\]/[0, 0, 500]/' plan.json >wrong.json
refuse 'beam 1: the beam misses the patient' dose --plan wrong.json "${water[@]}"
sed 's/"isoc/"source_distance_mm": 10, "isoc/' plan.json >wrong.json
refuse 'beam 1: the source lies within the patient' dose --plan wrong.json "${water[@]}"
sed 's/\[-20, 20\]/[20, 20]/' plan.json >wrong.json
refuse '/beams/0/field_mm/x is \[20,20\]' dose --plan wrong.json "${water[@]}"
# Tables and directions.
refuse_plan 'a file that ends in .csv: "mohan_7mv"' ', "spectrum": "mohan_7mv"'
refuse_plan 'a file that ends in .csv: "7mv"' ', "kernel": "7mv"'
refuse_plan "'none.csv'" ', "kernel": "none.csv"'
refuse_plan "kernel_per_bin with kernel '6mv' .that is one kernel for a whole spectrum" ', "kernel_per_bin": true'
printf '90,1,0.5\n180,1,0.5\n' >k.csv
refuse_plan 'k.csv, line 1: 3 numbers .energy, angle, radius and fraction are 4' ', "kernel_per_bin": true, "kernel": "k.csv"'
refuse_plan '/kernel_per_bin is 1 .expected: true or false' ', "kernel_per_bin": 1'
printf '0,90,1,1,1,1\n100,180,1,1,1,1\n' >k.csv
refuse_plan 'k.csv, line 2: angles from 100 to 180 degrees .must begin at 90' ', "kernel": "k.csv"'
printf '0,180,-1,1,0.5,1\n' >k.csv
refuse_plan 'k.csv: the cone .* absorbs -0.5 .* must not be negative' ', "kernel": "k.csv"'
printf '1,-1,0.05,0.03\n' >s.csv
refuse_plan 'bin 0 of the spectrum has a fluence of -1' ', "spectrum": "s.csv"'
: >s.csv
refuse_plan "'s.csv': is empty" ', "spectrum": "s.csv"'
sed 's/"cones": 4/"cones": 3/' plan.json >wrong.json
refuse '/directions/cones is 3 .expected: a whole number from 4 to 48' dose --plan wrong.json "${water[@]}"
sed 's/"azimuths": 4/"azimuths": 49/' plan.json >wrong.json
refuse '/directions/azimuths is 49 .expected: a whole number from 4 to 48' dose --plan wrong.json "${water[@]}"
# Sizes.
refuse 'beam 1: .*must have fewer than 2\^31' dose --plan "$plans/slab_phantom.json" --phantom slab --voxel 0.1
[ -z "$(ls -A refused)" ] || fail "a run that failed wrote $(ls -A refused)"

# A run that is stopped leaves the old file whole.
cp d.mha old.mha
plan ', "engine": "voxel_lines"' | sed 's/"beams": \[\(.*\)\], "dir/"beams": [\1, \1, \1, \1, \1, \1, \1, \1], "dir/; s/\[0, 0, 0\]/[0, 100, 0]/g' >long.json
"$iso" dose --backend serial --plan long.json --phantom slab --voxel 4 --precision double --out old.mha --png late.png >late.txt 2>&1 &
interrupt $!
[ $code -eq 130 ] || fail "a run stopped by SIGINT returned $code: $(cat late.txt)"
cmp -s d.mha old.mha || fail 'a run that was stopped changed the old volume'
[ ! -e late.png ] || fail 'a run that was stopped wrote a picture'

finish
