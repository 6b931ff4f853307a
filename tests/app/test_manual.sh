#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_manual.sh ISO TOP
# A man page for each command, made from the tool's own options: every option that --help names, the
# sections, examples whose options there are and which run, no complaint of groff or mandoc.
iso=$1
top=$2
tool=("$iso")
source "$(dirname "$0")/expect.sh"

mkdir man1
expect 0 '' generate man man1
commands=('' help info project reconstruct back-project dose dvh gamma verify demo matrix 'matrix generate' 'matrix convert'
  'matrix info' 'matrix apply' 'matrix bench' sweep)
[ "$(ls man1 | wc -l)" = ${#commands[@]} ] || fail "not a page for each command: $(ls man1)"
for command in "${commands[@]}"; do
  page=man1/iso${command:+-${command// /-}}.1
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES FILES 'EXIT STATUS' 'SEE ALSO'; do
    grep -qx "\.SH $section" "$page" || fail "$page lacks $section"
    sed -n "/^\.SH $section$/{n;p}" "$page" | grep -qv "^\.SH" || fail "$page has nothing in $section"
  done
  # shellcheck disable=SC2086
  expect 0 'iso' $command --help
  options=$(grep -oE '^  +(-[A-Za-z],)?--[a-z-]+' <<<"$answer" | grep -oE -- '--[a-z-]+')
  [ -n "$options" ] || fail "iso $command --help names no option"
  for option in $options; do
    grep -qF -- "${option//-/\\-}" "$page" || fail "$page lacks $option"
  done
  # What the examples name: options of the page of the command that the example runs.
  [ -z "$command" ] || says '^Examples:$'
  examples=$(sed -n '/^\.SH EXAMPLES$/,/^\.fi$/p' "$page" | grep '^iso' | sed 's/\\-/-/g; s/\\(aq/'"'/g")
  [ -n "$examples" ] || fail "$page has no examples"
  while read -r example; do
    of=$(sed -E 's/^iso (matrix [a-z]+|[a-z-]+).*/\1/' <<<"$example")
    [ -e "man1/iso-${of// /-}.1" ] || fail "$example: no such command"
    for option in $(grep -oE -- ' --[a-z-]+' <<<"$example"); do
      grep -qF -- "${option//-/\\-}" "man1/iso-${of// /-}.1" || fail "$example: $of has no $option"
    done
  done <<<"$examples"
  if command -v groff >/dev/null; then
    groff -man -ww -z -Tutf8 "$page" >warnings.txt 2>&1
    [ ! -s warnings.txt ] || fail "groff of $page: $(cat warnings.txt)"
  fi
  if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$page" >warnings.txt 2>&1 || fail "mandoc of $page: $(cat warnings.txt)"
  fi
done
command -v groff >/dev/null || not_run 'what groff says of man pages (it is not there); install groff'
command -v mandoc >/dev/null || not_run 'what mandoc says of man pages (it is not there); install mandoc'
grep -q 'BR iso\\-matrix\\-apply (1)' man1/iso-matrix.1 || fail 'iso-matrix.1 does not name iso-matrix-apply'
grep -qF '\fB130\fR' man1/iso-dose.1 || fail 'iso-dose.1 lacks an exit code'
grep -qF 'OMP_WAIT_POLICY' man1/iso.1 || fail 'iso.1 lacks the environment'

# The examples that need nothing but one another run, in this order.
ln -s "$top/examples" .
mkdir bin
ln -s "$iso" bin/iso
PATH=$PWD/bin:$PATH
small='s/circular_cone.json/small.json/; s/helix.json/small.json/'
python3 -c 'import json
json.dump({"type": "circular_cone", "detector": {"pixels": [24, 24], "pitch_mm": [16, 16]}, "source_axis_mm": 1000,
           "source_detector_mm": 1536, "angles_deg": {"first": 0, "range": 360, "count": 30}}, open("small.json", "w"))'
"$iso" reconstruct --phantom shepp-logan --geometry small.json --output volume.mha >said.txt 2>&1 || fail "$(cat said.txt)"
ran=0
for command in project reconstruct back-project info 'matrix generate' 'matrix convert' 'matrix info' 'matrix apply' dose; do
  while read -r example; do
    case "$example" in
      *" scan/"* | *"'scan/"* | *plan.json* | *liver*) continue ;;
    esac
    example=$(sed "$small; s#examples/geometry/small#small#; s/--voxel 4/--voxel 16/" <<<"$example")
    bash -c "$example" >said.txt 2>&1 || fail "$example: $(cat said.txt)"
    ran=$((ran + 1))
  done < <(sed -n '/^\.SH EXAMPLES$/,/^\.fi$/p' "man1/iso-${command// /-}.1" | grep '^iso' | sed 's/\\-/-/g; s/\\(aq/'"'/g")
done
[ $ran -ge 14 ] || fail "$ran examples ran"

finish
