#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_dicom_command.sh ISO GEOMETRIES PLAN [PYTHON]
# DICOM as a user of the tool meets it: a reconstruction as a CT series, that series projected,
# reconstructed onto and dosed, an RT Dose. Others read them back where they are installed: dciodvfy,
# and pydicom and SimpleITK in ISO_TEST_DICOM_PYTHON, or in PYTHON, which scripts/setup.sh makes, or in
# python3. PLAN, the real plan of scripts/get_example_data.sh, may be missing.
iso=$1
geometry=$2/circular_cone.json
real=$3
tool=("$iso")
python=${ISO_TEST_DICOM_PYTHON:-${4:-}}
command -v "$python" >/dev/null || python=python3
here=$(dirname "$(realpath "$0")")
source "$here/expect.sh"

if "$iso" info . 2>&1 | grep -q 'this build has no DCMTK'; then
  skip 'commands on DICOM files (this build has no DCMTK); install libdcmtk-dev'
fi

# A series of the head, and its twin as MetaImage.
head=(reconstruct --phantom shepp-logan --geometry "$geometry" --extent 16 16 12 --spacing 16 16 12 --water 1)
expect 0 'in Hounsfield units' "${head[@]}" --output ct/
expect 0 'in Hounsfield units' "${head[@]}" --output ct.mha
[ "$(ls ct | wc -l)" -eq 12 ] || fail "ct has not 12 files: $(ls ct)"
expect 0 '^CT series of 12 slices: 16 x 16 x 12 voxels of 16 x 16 x 12 mm, the first at .-120, -120, -66. mm' info ct
frame=$(grep -oE '^frame of reference  2\.25\.[0-9]+' <<<"$answer") || fail "no frame of reference: $answer"
expect 0 '"kind": "CT series"' info --json - ct

# Projected, reconstructed onto itself with its frame of reference, in another series.
expect 0 'views of' project --volume ct --hounsfield --water 1 --geometry "$geometry" --output p.h5
expect 0 'holds values in HU .1/mm is expected.; give --hounsfield' project --volume ct --geometry "$geometry" --json w.json
expect 0 'in Hounsfield units' reconstruct --projections p.h5 --like ct --water 1 --output again/
expect 0 "$frame" info again
cmp -s ct/ct.00001.dcm again/ct.00001.dcm && fail 'another reconstruction has the same files'
expect 0 'in Hounsfield units' "${head[@]}" --output twin/
cmp ct/ct.00007.dcm twin/ct.00007.dcm || fail 'the same reconstruction has other files'

# A dose of it, on its frame; the same as MetaImage.
printf '{"beams": [{"isocentre_mm": [0, 0, 0], "field_mm": {"x": [-40, 40], "y": [-40, 40]}}], "directions": {"cones": 4, "azimuths": 4}}' >plan.json
expect 0 'Gy for 1 photon' dose --plan plan.json --ct ct --output d.dcm
expect 0 'Gy for 1 photon' dose --plan plan.json --ct ct --output d.mha
expect 0 'Gy for 1 photon' dose --plan plan.json --ct ct.mha --like d.dcm --output like.dcm
expect 0 "$frame" info like.dcm
expect 0 '^RT Dose .PHYSICAL, PLAN.: 16 x 16 x 12 voxels of 16 x 16 x 12 mm.*at most [0-9.e-]+ Gy$' info d.dcm
says "$frame"
says '^of plan +2\.25\.[0-9]+$'
expect 0 '"summation": "PLAN"' info --json - d.dcm

# Refused, with nothing written.
refused() { # refused PATTERN OUTPUT ARGUMENT...
  local pattern=$1 output=$2
  shift 2
  expect 2 "$pattern" "$@" --output "$output"
  [ ! -e "$output" ] || fail "$output was written"
}
refused 'give --water' none/ reconstruct --projections p.h5 --like ct
refused "'none/x/' is no empty folder" none/x/ reconstruct --projections p.h5 --like ct --water 1
expect 2 "'ct' is no empty folder" reconstruct --projections p.h5 --like again --water 1 --output ct
refused 'only an RT Dose belongs' e.mha dose --plan plan.json --ct ct --like ct
refused "ending '.jpg' is not a format for volumes" e.jpg dose --plan plan.json --ct ct
expect 2 'excludes' info ct --geometry "$geometry"
expect 2 'no such file' info none.dcm
expect 0 'plan of 1 beam$' info plan.json
echo text >plan.txt
expect 2 "'plan.txt' is a text file" info plan.txt
printf 'text\0' >plan.bin
expect 2 'is no DICOM file' info plan.bin
mv ct/ct.00004.dcm .
refused "'ct': lacks a slice between z = -42 and -18 mm" e.dcm dose --plan plan.json --ct ct
mv ct.00004.dcm ct/
"$iso" "${head[@]}" --truncation-correction 9 --output other/ >/dev/null 2>&1
refused 'register one to the other first' e.dcm dose --plan plan.json --ct ct --like other
cp other/ct.00003.dcm ct/x.dcm
refused "'ct': holds 2 CT series, 2.25.[0-9]+ and 2.25" e.dcm dose --plan plan.json --ct ct
rm ct/x.dcm

# A real plan: its slice, dose and structures; a dose in its study that refers to its RT Plan.
if [ -e "$real/rtss.dcm" ]; then
  expect 0 'CT series of 1 slice: 512 x 512 x 1 voxels' info "$real"
  expect 0 'at most 14.68[0-9]* Gy' info "$real/rtdose.dcm"
  expect 0 ' Heart +ORGAN +33 +.* to .* to .* +-98.44 to -2.44' info "$real/rtss.dcm"
  sed 's/\[0, 0, 0\]/[0, -250, 168]/; s/40/5/g' plan.json >real.json
  expect 0 'Gy for 1 photon' dose --plan real.json --ct "$real" --like "$real/rtplan.dcm" --output real.dcm
  expect 0 "of plan +$("$iso" info --json - "$real/rtdose.dcm" | grep -A1 '"plans"' | grep -oE '[0-9.]{9,}')" info real.dcm
  says 'study +2.16.840.1.113662.2.12.0.3057.1241703565.35'
else
  not_run 'a real plan (it is not there); run scripts/get_example_data.sh'
fi

# Others.
"$python" -B "$here/check_dicom.py" d.dcm d.mha ct ct.mha
case $? in
  0) ;;
  77) not_run "what pydicom and SimpleITK read ($python has not both and NumPy); run scripts/setup.sh" ;;
  *) fail 'others read other voxels' ;;
esac
if command -v dciodvfy >/dev/null; then
  files=(ct/ct.00001.dcm)
  # The tool of Debian 12 ends itself at pixels of 32 bits: check_dicom.py has cut them to 16.
  for file in *.16.dcm; do [ -e "$file" ] && files+=("$file"); done
  for file in "${files[@]}"; do
    verdict=$(dciodvfy "$file" 2>&1)
    grep -qE '^(CTImage|RTDose)$' <<<"$verdict" || fail "dciodvfy of $file: $verdict"
    grep -E '^(Error|Abort)' <<<"$verdict" && fail "dciodvfy of $file"
  done
else
  not_run 'what dciodvfy says (it is not there); install dicom3tools'
fi
finish
