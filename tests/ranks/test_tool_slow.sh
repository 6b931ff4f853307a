#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_tool_slow.sh ISO MPIEXEC
# The rest of test_tool.sh and test_plan_tool.sh: every kind of file by 2 and 3 processes, byte for byte, and the other methods.
# shellcheck disable=SC2086,SC2154
iso=$1
mpiexec=$2
source "$(dirname "$0")/tool_support.sh"

same 3 "$reproducible" project "${phantom[@]}" --size 40 --geometry cone.json --output p.h5
same 2 "$reproducible" project "${phantom[@]}" --size 40 --geometry cone.json --method siddon --precision double
same 3 '' back-project --projections p.h5
same 3 "$reproducible" reconstruct --projections p.h5 --method tv --weight 0.1 --iterations 3

# Each process writes its planes of a volume, and reads its own.
for end in mha nrrd nii; do
  alone
  expect 0 'hash' reconstruct --projections p.h5 --output "once.$end"
  for ranks in 2 3; do
    on $ranks
    expect 0 'hash' reconstruct --projections p.h5 --output "v.$end" --json ranks.json
    cmp "once.$end" "v.$end" || fail "$ranks processes write another v.$end"
    [ "$(numbers bytes_written | wc -w)" -eq $ranks ] || fail "not $ranks numbers of bytes: $(cat ranks.json)"
    [ "$(in_all bytes_written)" -eq $((40 * 40 * 36 * 4)) ] || fail "wrote $(numbers bytes_written) bytes"
  done
  same 3 "$reproducible" project --volume "once.$end" --geometry cone.json
  [ "$(numbers bytes_read | wc -w)" -eq 3 ] || fail "not 3 numbers of bytes: $(cat ranks.json)"
  # Each reads the middle plane too, by which they compare their files.
  [ $end = nii ] || [ "$(in_all bytes_read)" -eq $(((40 * 40 * 36 + 3 * 40 * 40) * 4)) ] || fail "read $(numbers bytes_read) bytes"
done
on 3
expect 0 'hash' reconstruct --projections p.h5 --output v.mha --extent 4 4 2 --json ranks.json
[ "$(numbers bytes_written | tr ' ' '\n' | sort -n | paste -sd ' ')" = '0 64 64' ] || fail "an idle process: $(cat ranks.json)"
same 2 '' back-project --projections p.h5 --output v.nrrd
same 2 '' reconstruct --projections p.h5 --output v.mha --png v.png
same 2 '' reconstruct --projections p.h5 --output v.nii.gz

# Of projections each writes some views, and of a stack it reads some.
for end in h5 mha nrrd; do
  alone
  expect 0 'hash' "${wide[@]}" $reproducible --output "one.$end" --png one.png
  for ranks in $([ $end = mha ] || echo 2) $([ $end = nrrd ] || echo 3); do
    on "$ranks"
    expect 0 'hash' "${wide[@]}" --output "w.$end" --png w.png --json ranks.json
    cmp "one.$end" "w.$end" || fail "$ranks processes write another w.$end"
    cmp one.png w.png || fail "$ranks processes draw another picture"
    [ "$(numbers bytes_written | wc -w)" -eq "$ranks" ] || fail "not $ranks numbers of bytes: $(cat ranks.json)"
    [ "$(in_all bytes_written)" -eq $((8 * piece)) ] || fail "wrote $(numbers bytes_written) bytes"
    [ "$(numbers bytes_written | tr ' ' '\n' | sort -n | tail -n 1)" -lt $((8 * piece * 3 / 5)) ] || fail "one wrote $(numbers bytes_written)"
  done
done
same 2 '' back-project --projections one.h5 "${small[@]}" --precision double
# With all that iterations may be given, and what they are told of the scan.
alone
expect 0 'hash' reconstruct --projections one.h5 "${small[@]}" --output start.mha
expect 0 'hash' project --phantom shepp-logan --width 40 --size 8 --geometry wide.json --output mask.h5
# shellcheck disable=SC2054
given=(reconstruct --projections one.h5 "${small[@]}" --method sirt --start start.mha --mask start.mha --reading-mask mask.h5 --stop-noise 1e7 --checkpoint)
facts() { tr -d ' \n' <"$1" | grep -oE '"(noise|part_[a-z]+|relative_residual)":[^,}]*' | paste -sd ' '; }
same 3 "$reproducible" "${given[@]:0:${#given[@]}-1}" --iterations 3
[ "$(facts once.json)" = "$(facts ranks.json)" ] || fail "not $(facts once.json): $(facts ranks.json)"
grep -q '"noise"' ranks.json || fail 'no noise is told'
alone
expect 0 'hash' "${given[@]}" given.h5 --iterations 1 $reproducible --json x.json
on 2
expect 0 "$(tr -d ' \n' <once.json | grep -oE '"hash":"[0-9a-f]*' | cut -d'"' -f4)" "${given[@]}" given.h5 --iterations 3 --json x.json
# What is no reading, and what says nothing.
volume_of() { printf 'ObjectType = Image\nNDims = 3\nDimSize = 8 8 8\nElementSpacing = 8 8 8\nOffset = -28 -28 -28\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n' && head -c 2048 /dev/zero | tr '\0' "$1"; }
volume_of '\0' >empty.mha
volume_of '~' >vast.mha
on 3
expect 0 'of 1440000 pixels are not finite' project --volume vast.mha --geometry wide.json --output vast.h5
expect 0 'hash' project --volume empty.mha --geometry wide.json --output empty.h5
expect 2 'of /projections is (inf|nan)' reconstruct --projections vast.h5 --output x.mha
lines 'iso: error' 1
expect 2 'all 1440000 readings are zero' reconstruct --projections empty.h5 --output x.mha
lines 'iso: error' 1
expect 2 'reading-mask leaves 0 of 1440000 readings' reconstruct --projections one.h5 --reading-mask empty.h5 --method sirt --output x.mha
lines 'iso: error' 1

streamed 3 2MB back-project --projections p.h5 --method siddon
streamed 3 2400kB project "${phantom[@]}" --size 40 --geometry cone.json $reproducible
streamed 2 2400kB reconstruct --projections p.h5 --method tv --weight 0.1 --iterations 2 $reproducible

# Products whose sums have no order, and where some have no rows.
"$iso" matrix generate liver-1 --factor 1e-4 --output m.h5 >/dev/null || fail 'no matrix'
same 3 '' matrix apply m.h5 --sum ordered --format row_block4 --alpha -2
printf '%%%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 2\n3 2 -1\n' >few.mtx
same 3 '' matrix apply few.mtx --transpose

# Doses and comparisons of the other engines, kinds of file and options.
dose=(dose --phantom slab --voxel 16 --plan)
size=$((4 * 16 ** 3))
same_files 2 '' "${dose[@]}" plan.json --precision double
same_files 2 'e.mha' "${dose[@]}" rays.json --output e.mha --repeats 2
same_files 3 'd.nrrd' "${dose[@]}" plan.json --output d.nrrd
[ "$(in_all bytes_written)" -eq $size ] || fail "bytes_written: $(cat ranks.json)"
same_files 2 '' "${dose[@]}" plan.json
same_files 3 '' gamma d.nrrd e.mha --normalisation local --interpolation tetrahedra --cut-off 20%
same_files 3 'g.nii s.nrrd h.csv' gamma d.nrrd e.mha --criterion 3%/3mm --criterion 2%/2mm --output g.nii --status s.nrrd --csv h.csv
[ "$(in_all bytes_written)" -eq $((2 * size)) ] || fail "bytes_written: $(cat ranks.json)"
[ "$(in_all bytes_read)" -eq $((2 * (size + 3 * size / 16))) ] || fail "bytes_read: $(cat ranks.json)"
same_files 2 'g.nii.gz' gamma d.nrrd e.mha --output g.nii.gz
leftover=$(find . -name '.iso-*')
[ -z "$leftover" ] || fail "left $leftover"
finish
