#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_memory.sh ISO WRITE_RT_OBJECTS WRITE_STORED_STACK
# --memory: volumes, stacks and doses that pass through a part of the backend's memory have the bits of
# those that lie in it, and what cannot be is refused.
iso=$1
write=$2
write_stored=$3
plan=$(cd "$(dirname "$0")/../.." && pwd)/examples/plans/slab_phantom.json
tool=("$iso")
source "$(dirname "$0")/expect.sh"

cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [40, 36], "pitch_mm": [3, 3]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 40}}
JSON
sed 's/"pitch_mm"/"offset_mm": [1, 0], "pitch_mm"/' cone.json >aside.json

# same SIZE COMMAND...: with so much memory the hash of the same command without, whose sums are
# reproducible where there is a choice
same() {
  local size=$1 sums=$2 once
  shift 2
  # shellcheck disable=SC2086
  expect 0 'hash [0-9a-f]{16}' "$@" $sums --json once.json
  once=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
  expect 0 "$once" "$@" --memory "$size" --json streamed.json
  says '--memory: .* in slabs of [0-9]+ planes and batches of [0-9]+ views .[0-9.e-]+ GiB to the backend and [0-9.e-]+ GiB from it.'
  says '^streamed: .*slabs of [0-9]+ planes and batches of [0-9]+ views; [0-9.]+ GiB of the backend'
  tr -d ' \n' <streamed.json | grep -qE '"streaming":\{"device_bytes":[0-9]+,' || fail "streamed.json: $(cat streamed.json)"
}
phantom=(--phantom shepp-logan --width 64)
for size in 2.5MB '3 MiB' 1GiB; do
  same "$size" '--sum reproducible' project "${phantom[@]}" --size 40 --geometry cone.json
done
same 4MB '--sum reproducible' project "${phantom[@]}" --size 40 --geometry cone.json --precision double
same 4MB '--sum reproducible' project "${phantom[@]}" --size 40 --geometry cone.json --method siddon --oversampling 2
expect 0 'hash' project "${phantom[@]}" --size 40 --geometry cone.json --output p.h5
expect 0 'hash' project "${phantom[@]}" --size 40 --geometry aside.json --output aside.h5
for stack in p.h5 aside.h5; do
  same 3MB '' reconstruct --projections $stack
  same 3MB '' back-project --projections $stack
done
same 3MB '' reconstruct --projections p.h5 --truncation-correction 6
# A stack of integers of 16 bits gives the bits of the numbers that these stand for.
"$write_stored" p.h5 stored.h5 converted.h5 || fail 'no stack of 16 bits'
cmp -s stored.h5 converted.h5 && fail 'both stacks are one'
for command in reconstruct back-project 'reconstruct --method sirt --iterations 2 --sum reproducible'; do
  # shellcheck disable=SC2086
  expect 0 'hash [0-9a-f]{16}' $command --projections converted.h5 --geometry cone.json --json x.json
  once=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
  # shellcheck disable=SC2086
  expect 0 "$once" $command --projections stored.h5 --geometry cone.json --memory 3MB --json x.json
done
for method in sirt 'os-sart --block 10' cgls lsqr mlem 'osem --block 10' 'tv --weight 0.1'; do
  # shellcheck disable=SC2086
  same 3MB '--sum reproducible' reconstruct --projections p.h5 --iterations 3 --final-residual --method $method
done
# What fits a block of views also fits the residual that is projected at the end; the plan that ran is told.
same 1200kB '--sum reproducible' reconstruct --projections p.h5 --method os-sart --block 20 --iterations 1 --final-residual
says 'projection in slabs of [0-9]+ planes and batches of [0-9]+ views, backprojection with its step in slabs'
says 'blocks of 20 views with --memory .*; give --block 40 or more'
residual() { tr -d ' \n' <"$1" | grep -oE '"final_residual":[^,}]*'; }
[ "$(residual once.json)" = "$(residual streamed.json)" ] || fail 'another residual with --memory'

# A checkpoint of one way goes on in the other, and with another limit; ordered sums are others.
go() { expect 0 'hash [0-9a-f]{16}' reconstruct --projections p.h5 --method cgls "$@"; }
go --iterations 6 --sum reproducible --json x.json
whole=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
go --iterations 2 --memory 3MB --checkpoint c.h5 --json x.json
go --iterations 4 --sum reproducible --checkpoint c.h5 --json x.json
go --iterations 6 --memory 5MB --checkpoint c.h5 --json x.json
says "$whole"
expect 2 'sum' reconstruct --projections p.h5 --method cgls --iterations 8 --checkpoint c.h5 --json y.json

# Doses pass by in slabs: the files, the figures and the hash of both in memory.
dose=(dose --phantom slab --plan "$plan" --json x.json)
expect 0 hash "${dose[@]}" --voxel 8 --output reference.mha
expect 0 hash "${dose[@]}" --voxel 4 --output evaluated.mha
# number NAME FILE: of a report
number() { tr -d ' \n' <"$2" | grep -oE "\"$1\":[0-9]+" | grep -oE '[0-9]+$'; }
# The reference has 32^3 points, the evaluated dose 64^3, and gamma two criteria and a byte a point.
gamma_in=$((4 * (32 ** 3 + 64 ** 3)))
gamma_out=$((2 * 4 * 32 ** 3 + 32 ** 3))
gamma=(gamma reference.mha evaluated.mha --criterion 3%/3mm --criterion 1%/1mm)
for how in '' '--interpolation tetrahedra --normalisation local' '--interpolation grid --max-gamma 3'; do
  # shellcheck disable=SC2086
  expect 0 hash "${gamma[@]}" $how --output g.mha --status s.mha --csv c.csv --json once.json
  once=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
  for size in 4MB 64MiB; do
    # shellcheck disable=SC2086
    expect 0 "$once" "${gamma[@]}" $how --memory $size --output g2.mha --status s2.mha --csv c2.csv --json streamed.json
    says '^streamed: in slabs of [0-9]+ planes; [0-9.e-]+ GiB of the backend.s memory, [0-9.e-]+ GiB to it'
    cmp g.mha g2.mha && cmp s.mha s2.mha && cmp c.csv c2.csv || fail "--memory $size writes other files"
    for file in once streamed; do
      sed -n '/"criteria"/,/^  \]/p' $file.json >$file.criteria
    done
    [ -s once.criteria ] && cmp once.criteria streamed.criteria || fail "--memory $size: other counts"
    tr -d ' \n' <streamed.json | grep -qE '"streaming":\{"device_bytes":[1-9][0-9]*,"bytes_in":[1-9][0-9]*,"bytes_out":[1-9][0-9]*,"planes":[1-9]' || fail "streamed.json: $(cat streamed.json)"
    used=$(tr -d ' \n' <streamed.json | grep -oE '"device_bytes":[0-9]+' | grep -oE '[0-9]+')
    [ $size = 64MiB ] || [ "$used" -le 4000000 ] || fail "--memory 4MB used $used bytes"
    [ "$(number bytes_out streamed.json)" -eq $gamma_out ] || fail "--memory $size: not $gamma_out bytes from the backend"
    halo=$(($(number bytes_in streamed.json) - gamma_in))
    if [ "$(number planes streamed.json)" -eq 32 ]; then
      [ $halo -eq 0 ] || fail "--memory $size: $halo bytes of the evaluated dose come twice"
    else
      [ $halo -gt 0 ] && [ $((halo % (4 * 64 * 64))) -eq 0 ] || fail "--memory $size: $halo bytes come twice, not whole planes"
    fi
    # Three slabs of at most 11 planes, and two planes of the evaluated dose beyond either side.
    [ "$size$how" != 4MB ] || [ $halo -eq $((2 * 4 * 4 * 64 * 64)) ] || fail "--memory 4MB: halos of $halo bytes"
  done
done
tr -d ' \n' <once.json | grep -q '"streaming"' && fail 'a run without a limit says that it was streamed'
expect 3 'iso gamma: a limit of 1000 bytes .slabs of one plane need [0-9]+.; give that or more' "${gamma[@]}" --memory 1000 --output none.mha --json none.json
[ ! -e none.mha ] && [ ! -e none.json ] || fail 'what was refused wrote a file'
needed=$(grep -oE 'need [0-9]+' <<<"$answer" | grep -oE '[0-9]+')
expect 0 'slabs of 1 planes' "${gamma[@]}" --memory "$needed" --json x.json
expect 3 "need $needed" "${gamma[@]}" --memory $((needed - 1)) --json none.json

if ! "$iso" info . 2>&1 | grep -q 'this build has no DCMTK'; then
  "$write" . || fail 'no files'
  dvh=(dvh --dose dose.dcm half.dcm --structures set.dcm --quantity D95 D0.1cc V33Gy mean min max HI CI30Gy volume outside --bins 60)
  expect 0 hash "${dvh[@]}" --csv c.csv --json once.json
  once=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
  expect 3 'iso dvh: a limit of 100 bytes .slabs of one plane need [0-9]+.; give that or more' "${dvh[@]}" --memory 100 --json none.json
  needed=$(grep -oE 'need [0-9]+' <<<"$answer" | grep -oE '[0-9]+')
  for size in $((8 * needed)) 1GiB; do
    expect 0 "$once" "${dvh[@]}" --memory "$size" --csv c2.csv --json streamed.json
    says '^streamed: in slabs of [0-9]+ planes'
    cmp c.csv c2.csv || fail "--memory $size writes another table"
    used=$(tr -d ' \n' <streamed.json | grep -oE '"device_bytes":[0-9]+' | grep -oE '[0-9]+')
    [ "$size" = 1GiB ] || [ "$used" -le "$size" ] || fail "--memory $size used $used bytes"
  done
  for surface in exclude touched; do
    expect 0 hash "${dvh[@]}" --surface $surface --json once.json
    once=$(grep -oE 'hash [0-9a-f]{16}' <<<"$answer")
    expect 0 "$once" "${dvh[@]}" --surface $surface --memory $((8 * needed)) --json streamed.json
  done
fi

# Said, and refused.
expect 0 'rays. sums are reproducible' project "${phantom[@]}" --size 16 --geometry cone.json --memory 1GiB --json x.json
refused=(project "${phantom[@]}" --size 40 --geometry cone.json --json y.json)
expect 2 '--memory: 4GG .must be a size such as 4GiB, 500MB or 1000000.; write' "${refused[@]}" --memory 4GG
expect 2 '--memory: 0 .must be a size' "${refused[@]}" --memory 0
expect 2 '--memory: -1 ' "${refused[@]}" --memory -1
expect 2 '--memory: 1.5 .must be a size' "${refused[@]}" --memory 1.5
for job in "${refused[*]}" "${gamma[*]}" "${dvh[*]:-${gamma[*]}}"; do
  expect 2 'a limit of 109951162777600 bytes .the memory of backend [a-z]+ has [0-9]+.; give less, or' $job --memory 100TiB
done
expect 2 '--memory with --sum ordered .sums of slabs have no order.; leave out' "${refused[@]}" --memory 1GiB --sum ordered
expect 3 'a limit of 1000 bytes .slabs of one plane, with what projections read about it, and 16 views need [0-9]+.; give that or more' "${refused[@]}" --memory 1000
needed=$(grep -oE 'need [0-9]+' <<<"$answer" | grep -oE '[0-9]+')
expect 0 hash project "${phantom[@]}" --size 40 --geometry cone.json --memory "$needed" --json x.json
expect 3 "need $needed" "${refused[@]}" --memory $((needed - 1))
expect 3 'a limit of 1000 bytes' reconstruct --projections p.h5 --memory 1kB --json y.json
needed=$(grep -oE 'need [0-9]+' <<<"$answer" | grep -oE '[0-9]+')
expect 0 hash reconstruct --projections p.h5 --memory "$needed" --json x.json
expect 3 "need $needed" reconstruct --projections p.h5 --memory $((needed - 1)) --json y.json

# What is asked for before anything runs is what a run takes to its end: what passes through a
# processor, the buffers to copy from, and the numbers that are written count too.
limited() { tool=(bash -c 'ulimit -d "$0"; exec "$@"' "$1" "$iso"); }
# enough COMMAND...: what is said to be needed is enough, with 4 MB for what is small; 4 MB less is not
enough() {
  local needed free limit
  limited 60000
  expect 3 'bytes do not fit the memory of backend [a-z]+ .[0-9]+ bytes are free under ulimit -d' "$@"
  needed=$(grep -oE '[0-9]+ bytes do not fit' <<<"$answer" | grep -oE '^[0-9]+')
  free=$(grep -oE '[0-9]+ bytes are free' <<<"$answer" | grep -oE '^[0-9]+')
  limit=$((60000 + (needed - free) / 1024))
  limited $((limit - 4000))
  expect 3 'bytes do not fit the memory' "$@"
  limited $((limit + 4000))
  expect 0 'GiB of the machine.s in all' "$@"
}
limited 60000
if "${tool[@]}" info --no-ceilings >/dev/null 2>&1; then
  sed 's/\[40, 36\], "pitch_mm": \[3, 3\]/[240, 320], "pitch_mm": [0.5, 0.4]/' cone.json >fine.json
  enough reconstruct --projections p.h5 --extent 160 160 160 --memory 30MB --output big.mha
  enough back-project --projections p.h5 --extent 160 160 160 --memory 30MB --output big.mha
  enough reconstruct --projections p.h5 --extent 160 160 160 --memory 30MB --method sirt --iterations 1 --output big.mha
  enough project "${phantom[@]}" --size 40 --geometry fine.json --memory 30MB --output big.h5
else
  not_run 'a limit of memory (the tool does not start within it, as a GPU or a sanitizer takes more); use preset openmp'
fi
tool=("$iso")
# A target that takes no file, and a disk without room.
expect 2 "'/proc/v.mha' cannot be written" reconstruct --projections p.h5 --memory 3MB --output /proc/v.mha
expect 2 "'/proc/p.h5' cannot be written" "${refused[@]}" --memory 3MB --output /proc/p.h5
tool=(bash -c 'ulimit -f 8; exec "$@"' _ "$iso")
expect 2 "'full.mha': cannot be written .*; make room on its disk" reconstruct --projections p.h5 --memory 3MB --output full.mha
expect 2 "'full.h5': cannot be written .*; make room on its disk" "${refused[@]}" --memory 3MB --output full.h5
tool=("$iso")
[ -z "$(find . -name '*full*')" ] || fail "left on a full disk: $(find . -name '*full*')"
expect 2 'texture units .they read whole volumes' reconstruct --projections p.h5 --method sirt --projector joseph-texture --memory 1GiB --json y.json
[ ! -e y.json ] || fail 'what was refused wrote a file'

finish
