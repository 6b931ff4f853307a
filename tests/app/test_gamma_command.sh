#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_gamma_command.sh ISO
# `iso gamma` as a user meets it: two doses in, table, gamma, histogram, picture and JSON out,
# refusals.
iso=$1
tool=("$iso")
source "$(dirname "$0")/expect.sh"

backends=$(for name in serial openmp threads cuda; do
  "$iso" info --no-ceilings --backend $name >/dev/null 2>&1 && echo $name
done)

# volume NAME EXTENT SPACING OFFSET [LINE]: floats from standard input, x fastest
volume() {
  printf 'ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nOffset = %s\nElementSpacing = %s\nDimSize = %s\n%bElementType = MET_FLOAT\nElementDataFile = LOCAL\n' \
    "$4" "$3" "$2" "${5:-}" >"$1"
  cat >>"$1"
}
# floats COUNT BYTES: the same float again and again
floats() { printf "$2%.0s" $(seq "$1"); }
one='\0\0\x80\x3f'
half='\0\0\x00\x3f'
more='\0\0\xc0\x3f' # 1.5
two='\0\0\x00\x40'
nan='\0\0\xc0\x7f'
cube=('8 8 8' '2 2 2' '-7 -7 -7')

# Of uniform doses of 1 and 1.5, gamma is the difference over the criterion's: at 50 % exactly 1.
floats 512 $one | volume one.mha "${cube[@]}"
floats 512 $more | volume more.mha "${cube[@]}"
expect 0 '^50%/3mm +512 +512 +100.00 +1 +1 +0 +0$' gamma one.mha more.mha --criterion 50%/3mm --max-gamma 3
expect 0 '^50%/3mm +512 +0 +0.00 +1 +1 +0 +0$' gamma one.mha more.mha --criterion 50%/3mm --max-gamma 3 --strict
expect 0 '^3%/3mm +512 +0 +0.00 +2 +2 ' gamma one.mha more.mha
# Several at once, each as alone; local and given doses.
expect 0 '^25%/1mm +512 +0 +0.00 +2 +2 ' gamma one.mha more.mha --criterion 50%/3mm --criterion 25%/1mm --criterion 100%/2.5mm --json all.json
says '^50%/3mm +512 +512 +100.00 +1 +1 '
says '^100%/2.5mm +512 +512 +100.00 +0.5 +0.5 '
expect 0 '^50%/3mm +512 +512 +100.00 +0.33333 ' gamma more.mha one.mha --criterion 50%/3mm --normalisation 3
expect 0 '^50%/3mm +512 +512 +100.00 +0.66667 ' gamma more.mha one.mha --criterion 50%/3mm --normalisation local

# A voxel of 2 among ones, 2 mm farther along x in the other: of the middles, gamma is 2 mm over
# 10 mm at both places, and 0 elsewhere. At (1, 2, 3), 1 + 8 (2 + 8 3) = 209 voxels lie before it.
{ floats 209 $one && floats 1 $two && floats 302 $one; } | volume here.mha "${cube[@]}" 'Unit = Gy\n'
{ floats 210 $one && floats 1 $two && floats 301 $one; } | volume there.mha "${cube[@]}" 'Unit = Gy\n'
there=(gamma here.mha there.mha --criterion 1%/10mm --interpolation grid)
expect 0 '^1%/10mm +512 +512 +100.00 +0.00078125 +0.2 ' "${there[@]}" --bins 20 --csv g.csv --out g.mha --png g.png --json g.json
grep -q '^1%/10mm,0,0.1,510$' g.csv && grep -q '^1%/10mm,0.2,0.3,2$' g.csv && [ "$(wc -l <g.csv)" = 21 ] || fail "g.csv: $(cat g.csv)"
[ "$(tail -c 2048 g.mha | od -An -v -tf4 -w4 | awk '$1 > 0.19 && $1 < 0.21 { print NR - 1 }' | xargs)" = '209 210' ] || fail 'g.mha does not hold gamma'
[ "$(od -An -tx1 -N4 g.png | tr -d ' ')" = 89504e47 ] || fail 'g.png is no picture'
for word in '"operation": "gamma"' '"passes": "gamma <= 1"' '"compared": 512' '"passed": 512' '"pass_rate": 1.0'; do
  grep -q "$word" g.json || fail "g.json does not have $word"
done
says 'have at least 0.2 of a largest dose of 2;'
# Only the two are above 51 % of the largest dose: NaN in the others.
expect 0 '^1%/10mm +1 +1 +100.00 +0.2 ' "${there[@]}" --cut-off 51% --out g.mha --picture g.png --at 0 0 0
says '^1 of 512 points have'
[ "$(tail -c 2048 g.mha | od -An -v -tf4 -w4 | grep -ci nan)" = 511 ] || fail 'g.mha does not hold NaN below the cut-off'
expect 0 '"operation": "gamma"' "${there[@]}" --json -
expect 0 '^50%/3mm ' gamma one.mha more.mha --criterion 50%/3mm --quiet
[ "$(wc -l <<<"$answer")" = 2 ] || fail "--quiet: $answer"
expect 0 'are of 1%/10mm, the first' "${there[@]}" --criterion 2%/3mm --png g.png

cp one.mha one2.mha
# Other grids: points beyond the middles of the evaluated voxels are counted apart.
floats 60 $one | volume small.mha '3 4 5' '3 2.5 2' '-3 -3 -3' 
expect 0 '^3%/3mm +512 +[0-9]+ +[0-9.]+ +[0-9.]+ +2 +[1-9][0-9]+ ' gamma one.mha small.mha --json small.json
says "warning: [0-9.]+ % of the compared points lie outside of 'small.mha' .gamma is to its nearest doses"
# All of them: the last row of middles lies in the faces of a dose whose middles it does not reach.
floats 8 $one | volume beyond.mha '2 2 2' '4 4 4' '9.5 -2 -2'
expect 0 "warning: all compared points lie outside of 'beyond.mha'" gamma one.mha beyond.mha --quiet
# They are told in a volume of their own and in the picture.
outside=$(awk '/"outside":/ { gsub(/[^0-9]/, ""); print; exit }' small.json)
expect 0 "^3%/3mm +512 .* $outside +[0-9]+$" gamma one.mha small.mha --status status.mha --png small.png --json small.json
[ "$(tail -c 2048 status.mha | od -An -v -tf4 -w4 | sort -n | uniq -c | xargs)" = "$((512 - outside)) 0 $outside 2" ] || fail 'status.mha does not hold what became of the points'
tr -d ' \n' <small.json | grep -qF '"status_values":{"compared":0,"below_cut_off":1,"outside":2}' || fail "small.json: $(cat small.json)"
tr -d ' \n' <small.json | grep -qF '"outside_colour":[0.9,0.2,0.9]' || fail "small.json: $(cat small.json)"
expect 0 '^1%/10mm +1 ' "${there[@]}" --cut-off 51% --status status.nii
expect 0 '^3%/3mm ' gamma one.mha one2.mha --png whole.png
height_of() { od -An -tu1 -j20 -N4 "$1" | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }'; }
[ "$(height_of small.png)" -gt "$(height_of whole.png)" ] || fail 'the picture does not say what lies outside'
expect 0 '^3%/3mm +60 +60 +100.00 +0 +0 +0 +0$' gamma small.mha one.mha
grep -q 'compared points lie' <<<"$answer" && fail "none lie outside: $answer"
# A point of the picture outside of the reference.
expect 0 "at: 9 mm along y lies outside of 'one.mha', from -8 to 8 mm .its nearest slice is shown" gamma one.mha one2.mha --png whole.png --at 8 9 -8
[ "$(grep -c 'lies outside' <<<"$answer")" = 1 ] || fail "on the faces: $answer"
# A plane, and volumes of another format.
floats 64 $more | volume plane.mha '8 8 1' '2 2 2' '-7 -7 0'
expect 0 '^50%/3mm +64 +64 +100.00 ' gamma plane.mha more.mha --criterion 50%/3mm --out plane.nii.gz --png plane.png
expect 0 '^3%/3mm +512 ' "${there[@]:0:3}" --out other.nrrd

# The same bits on every backend and from every number of threads.
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }
for between in trilinear tetrahedra grid; do
  both=(gamma here.mha small.mha --criterion 10%/2mm --criterion 3%/3mm --interpolation $between)
  expect 0 'hash' "${both[@]}" --backend serial
  serial=$(hash_of)
  for backend in $backends; do
    expect 0 'hash' "${both[@]}" --backend "$backend"
    [ "$(hash_of)" = "$serial" ] || fail "gamma, $between, on $backend: $(hash_of) instead of $serial"
  done
  expect 0 'hash' "${both[@]}" --threads 3
  [ "$(hash_of)" = "$serial" ] || fail "gamma, $between, with 3 threads: $(hash_of) instead of $serial"
done

# Help: what it is not is said once.
[ "$("$iso" gamma --help | grep -c 'Not a medical device')" = 1 ] || fail 'the help does not say once that it is not a medical device'

# Refusals: a sentence, exit code 2, nothing written.
mkdir refused
refuse() {
  expect 2 "$@" --out refused/x.mha --png refused/x.png --csv refused/x.csv --json refused/x.json
  [ "$(wc -l <<<"$answer")" = 1 ] || fail "more than a sentence: $answer"
}
uniform=(gamma one.mha more.mha)
for wrong in 3 3/3 3%/3 3mm/3% 3%,3mm 3%/mm %/3mm '3%/3mm/3' 'x%/3mm' ''; do
  refuse "--criterion '$wrong' is no criterion .a dose difference in % and a distance in mm" "${uniform[@]}" --criterion "$wrong"
done
refuse 'a dose difference of 0 .must be finite and above 0' "${uniform[@]}" --criterion 0%/3mm
refuse 'a dose difference of nan' "${uniform[@]}" --criterion nan%/3mm
refuse 'a distance to agreement of 0 mm' "${uniform[@]}" --criterion 3%/3mm --criterion 3%/0mm
refuse 'a distance to agreement of -1 mm' "${uniform[@]}" --criterion 3%/-1mm
refuse 'a distance to agreement of inf mm' "${uniform[@]}" --criterion 3%/infmm
refuse "--normalisation 'most' .it is none.; choose global, local, or a dose" "${uniform[@]}" --normalisation most
refuse 'a given dose of 0 ' "${uniform[@]}" --normalisation 0
refuse 'given-dose is nan ' "${uniform[@]}" --normalisation nan
refuse '--cut-off: 0.1 .a number in % is expected.; write it as 10%' "${uniform[@]}" --cut-off 0.1
refuse 'cut-off is -10 % ' "${uniform[@]}" --cut-off -10%
refuse 'no reference dose reaches the cut-off of 1.01 .the largest is 1.; lower the cut-off' "${uniform[@]}" --cut-off 101%
refuse 'no reference dose reaches the cut-off of 10 ' "${uniform[@]}" --normalisation 100
refuse '--max-gamma: 0 .must be a number from 1 to 1000000' "${uniform[@]}" --max-gamma 0
refuse 'a maximum gamma of 1 .must lie above 1' "${uniform[@]}" --max-gamma 1
refuse '--max-gamma: nan .must be a number' "${uniform[@]}" --max-gamma nan
refuse '--bins' "${uniform[@]}" --bins 0
refuse 'linear is not known .must be' "${uniform[@]}" --interpolation linear
refuse 'name one' "${uniform[@]}" --backend all
refuse 'evaluated is required' gamma one.mha
refuse "'none.mha'" gamma one.mha none.mha
refuse "'./one.mha' is the reference and the evaluated dose" gamma one.mha ./one.mha
{ floats 209 $one && floats 1 $nan && floats 302 $one; } | volume nan.mha "${cube[@]}"
refuse "'nan.mha'" gamma one.mha nan.mha
floats 512 '\0\0\0\0' | volume none.mha "${cube[@]}"
refuse 'the largest reference dose is 0 .must be above 0' gamma none.mha one.mha
{ floats 209 $one && floats 1 '\0\0\0\0' && floats 302 $one; } | volume hole.mha "${cube[@]}"
refuse 'fraction of the least reference dose compared, and points .*; raise the cut-off' gamma hole.mha one.mha --normalisation local --cut-off 0%
floats 512 $half | volume aside.mha "${cube[@]:0:2}" '9.1 -7 -7'
refuse "'one.mha' goes from -8 to 8 mm along x, 'aside.mha' from 8.1 to 24.1 mm .they do not overlap.; check that both are in one frame" gamma one.mha aside.mha
floats 512 $half | volume percent.mha "${cube[@]}" 'Unit = %%\n'
refuse "'here.mha' holds values in Gy, 'percent.mha' in %+ .doses of one unit" gamma here.mha percent.mha
floats 512 $half | volume relative.mha "${cube[@]}" 'Unit = relative\n'
cp relative.mha relative2.mha
refuse "'relative.mha' holds a relative dose .a dose difference of Gy" gamma relative.mha relative2.mha --normalisation 2
expect 2 '--at requires --png' "${uniform[@]}" --at 0 0 0
expect 2 "ending '.jpg'" "${uniform[@]}" --out refused/x.jpg
expect 2 "ending '.jpg'" "${uniform[@]}" --status refused/x.jpg
expect 2 'is named twice' "${uniform[@]}" --out refused/x.mha --status refused/x.mha
expect 2 'does not end in .png' "${uniform[@]}" --png refused/x.jpg
expect 2 'does not end in .csv' "${uniform[@]}" --csv refused/x.txt
expect 2 "folder 'no'" "${uniform[@]}" --out no/x.mha
cp one.mha kept.mha
expect 2 'is named twice' "${uniform[@]}" --out ./one.mha
expect 2 'is named twice' "${uniform[@]}" --csv refused/x.csv --json refused/x.csv
cmp -s one.mha kept.mha || fail 'the reference was written over'
[ -z "$(ls -A refused)" ] || fail "a run that failed wrote $(ls -A refused)"

# SIGINT stops a search of minutes.
for name in left right; do
  {
    printf 'ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nOffset = 0 0 0\nElementSpacing = 1 1 1\nDimSize = 128 128 128\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n'
    head -c $((128 * 128 * 128)) /dev/urandom
  } >$name.mha
done
searches() { sleep 3; }
stops searches gamma left.mha right.mha --criterion 0.3%/3mm --cut-off 0% --backend serial --out late.mha

finish
