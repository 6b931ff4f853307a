#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_tool.sh ISO MPIEXEC
# The tool on several processes: the files and figures of one, one log, one exit code; what cannot be is
# refused, and a process that fails ends the others.
iso=$1
mpiexec=$2
tool=("$iso")
source "$(dirname "$0")/../app/expect.sh"

cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [40, 36], "pitch_mm": [3, 3]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 40}}
JSON

on() { tool=("$mpiexec" -n "$1" "$iso"); }
alone() { tool=("$iso"); }
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }
# lines PATTERN NUMBER: so many lines of the last answer match
lines() { [ "$(grep -cE -- "$1" <<<"$answer")" -eq "$2" ] || fail "not $2 lines of '$1': $answer"; }

# same RANKS SUMS COMMAND...: the hash of one process
same() {
  local ranks=$1 sums=$2 once
  shift 2
  alone
  # shellcheck disable=SC2086
  expect 0 'hash [0-9a-f]{16}' "$@" $sums --json once.json
  once=$(hash_of)
  on "$ranks"
  expect 0 "$once" "$@" --json ranks.json
  lines 'hash' 1
  lines "^iso: info: $ranks processes: each has its (planes|rows|columns) of the " 1
  tr -d ' \n' <ranks.json | grep -qE "\"ranks\":$ranks" || fail "ranks.json: $(cat ranks.json)"
}
residual() { tr -d ' \n' <"$1" | grep -oE '"final_residual":[^,}]*'; }

phantom=(--phantom shepp-logan --width 64)
reproducible='--sum reproducible'
same 3 "$reproducible" project "${phantom[@]}" --size 40 --geometry cone.json --output p.h5
on 1
expect 0 'hash' project "${phantom[@]}" --size 40 --geometry cone.json --sum reproducible --output one.h5
cmp p.h5 one.h5 || fail 'another stack of projections'
same 2 "$reproducible" project "${phantom[@]}" --size 40 --geometry cone.json --method siddon --precision double
same 2 '' reconstruct --projections p.h5 --output v.mha
same 3 '' back-project --projections p.h5
same 2 "$reproducible" reconstruct "${phantom[@]}" --geometry cone.json --method os-sart --block 10 --iterations 2 --final-residual
[ "$(residual once.json)" = "$(residual ranks.json)" ] || fail 'another residual'
same 3 "$reproducible" reconstruct --projections p.h5 --method tv --weight 0.1 --iterations 3

# Each process writes its planes of a volume, and reads its own: the files of one, byte by byte.
# numbers KEY: those that each process has of it in ranks.json
numbers() { tr -d ' \n' <ranks.json | grep -oE "\"$1\":\[[0-9,]*\]" | grep -oE '[0-9]+' | paste -sd ' '; }
# in_all KEY: their sum
in_all() { numbers "$1" | tr ' ' '\n' | awk '{ sum += $1 } END { print sum }'; }
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
leftover=$(find . -name '.iso-*')
[ -z "$leftover" ] || fail "left $leftover"

# Of projections each writes some views, and of a stack it reads some: the files of one, byte by byte. A stack lies in pieces
# of five views here.
cat >wide.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [200, 180], "pitch_mm": [0.6, 0.6]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 40}}
JSON
piece=$((5 * 200 * 180 * 4))
wide=(project "${phantom[@]}" --size 16 --geometry wide.json --view 17)
for end in h5 mha nrrd; do
  alone
  # shellcheck disable=SC2086
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
small=(--extent 20 20 20 --spacing 3 3 3)
same 3 '' reconstruct --projections one.h5 "${small[@]}"
[ "$(numbers bytes_read)" = "$((3 * piece)) $((4 * piece)) $((4 * piece))" ] || fail "read $(numbers bytes_read) bytes"
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
# shellcheck disable=SC2086
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

# streamed RANKS SIZE COMMAND...: the same by parts that pass through so much of the backend's memory
streamed() {
  local ranks=$1 size=$2 once
  shift 2
  alone
  expect 0 'hash' "$@" --json once.json
  once=$(hash_of)
  on "$ranks"
  expect 0 "$once" "$@" --memory "$size" --json ranks.json
  lines '^streamed: .* in slabs of [0-9]+ planes and batches of [0-9]+ views' 1
}
streamed 2 1300kB reconstruct --projections p.h5
streamed 3 2MB back-project --projections p.h5 --method siddon
# shellcheck disable=SC2086
streamed 3 2400kB project "${phantom[@]}" --size 40 --geometry cone.json $reproducible
# shellcheck disable=SC2086
streamed 2 2400kB reconstruct --projections p.h5 --method sirt --iterations 2 $reproducible
# shellcheck disable=SC2086
streamed 2 2400kB reconstruct --projections p.h5 --method tv --weight 0.1 --iterations 2 $reproducible

# Ranks on different processors have planes by their measured speeds, and the same bits.
# mpirun binds each to one core, which the second one leaves.
# two_processors: numbers of two that this process may use, with a comma between; of one, that
two_processors() {
  local range
  for range in $(sed -n 's/^Cpus_allowed_list:[ \t]*//p' /proc/self/status | tr ',' ' '); do
    seq "${range%-*}" "${range#*-}"
  done | head -n 2 | paste -sd ,
}
two=$(two_processors)
if ! "$iso" info --backend openmp --no-ceilings >/dev/null 2>&1; then
  not_run 'ranks on unlike processors (the backend openmp is not in this build); build the preset openmp'
elif [[ $two == *,* ]]; then
  alone
  # shellcheck disable=SC2086
  expect 0 'hash' project "${phantom[@]}" --size 40 --geometry cone.json $reproducible --json once.json
  once=$(hash_of)
  unlike=(project "${phantom[@]}" --size 40 --geometry cone.json --backend openmp --json ranks.json)
  tool=("$mpiexec" -n 1 env OMP_NUM_THREADS=1 "$iso" "${unlike[@]}" : -n 1 taskset -c "$two" env OMP_NUM_THREADS=2 "$iso")
  expect 0 "$once" "${unlike[@]}"
  lines '^iso: info: their processors differ: they have [0-9]+ %, [0-9]+ % by their measured speeds' 1
  tr -d ' \n' <ranks.json | grep -qE '"shares_by_speed":\[0\.[0-9]+,0\.[0-9]+\]' || fail "ranks.json: $(cat ranks.json)"
else
  not_run 'ranks on unlike processors (this process may use one core); allow it more'
fi

# What both wrote, as a table of strong scaling.
same 2 '' reconstruct --projections p.h5 --repeats 2
alone
expect 0 'strong scaling of reconstruct fdk' sweep --scaling once.json ranks.json --output scaling.json
tr -d ' \n' <scaling.json | grep -qE '"ranks":2,.*"efficiency":[0-9.]+' || fail "scaling.json: $(cat scaling.json)"
sed 's/"hash": *"./"hash": "x/' ranks.json >other.json
expect 1 'results differ in their bits' sweep --scaling once.json other.json
expect 2 'no two files are of one job' sweep --scaling once.json

# Two processes of a sweep, of which the second is slowed down as a slow GPU would be: each writes its file, and the report names it.
echo '{"rounds": 2, "repeats": 3, "seconds": 0, "sets": [{"operations": ["forward_project"], "sizes": [16], "backends": ["serial"]}]}' >sweep.json
two=(sweep --file sweep.json --output two.jsonl)
tool=("$mpiexec" -n 1 "$iso" "${two[@]}" --slow-down 1 : -n 1 "$iso")
expect 0 '' "${two[@]}" --slow-down 300
alone
if python3 -c 'import numpy' 2>/dev/null; then
  expect 0 'slow: rank 1 on .* takes [0-9.]+ times as long as the fastest' sweep --merge two.rank0.jsonl two.rank1.jsonl --output two.json
else
  not_run 'the slow one of two processes (python3 has no NumPy); run scripts/setup.sh, which makes one that has'
fi

on 3
expect 0 'processes without a plane: 1 of 3' project "${phantom[@]}" --size 2 --geometry cone.json --json x.json

# Products: the file of one process, also where some have no rows.
"$iso" matrix generate liver-1 --factor 1e-4 --output m.h5 >/dev/null || fail 'no matrix'
product=(matrix apply m.h5)
for how in '--output y.h5' '--transpose' '--sum ordered --format row_block4 --alpha -2'; do
  # shellcheck disable=SC2086
  same 3 '' "${product[@]}" $how
done
cp y.h5 ranks.h5
"$iso" "${product[@]}" --output y.h5 >/dev/null && cmp y.h5 ranks.h5 || fail 'another product'
printf '%%%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 2\n3 2 -1\n' >few.mtx
same 3 '' matrix apply few.mtx --transpose

# A checkpoint of so many processes goes on with others.
go() { expect 0 'hash [0-9a-f]{16}' reconstruct --projections p.h5 --method cgls "$@" --json x.json; }
alone
# shellcheck disable=SC2086
go --iterations 6 $reproducible
whole=$(hash_of)
# shellcheck disable=SC2086
go --iterations 2 $reproducible --checkpoint c.h5
on 3
go --iterations 4 --checkpoint c.h5
on 2
go --iterations 5 --checkpoint c.h5
alone
# shellcheck disable=SC2086
go --iterations 6 $reproducible --checkpoint c.h5
[ "$(hash_of)" = "$whole" ] || fail "resumed with other numbers of processes: $answer"

# One sentence, and rank 0's exit code.
on 2
expect 2 '2 processes with --sum ordered' project "${phantom[@]}" --geometry cone.json --output x.h5 --sum ordered
lines 'iso: error' 1
expect 2 'cannot be opened' reconstruct --projections none.h5 --output x.mha
lines 'iso: error' 1
expect 3 'a limit of 1000 bytes \(slabs of one plane' reconstruct --projections p.h5 --output x.mha --memory 1kB
lines 'iso: error' 1
vast=(--extent 9000 9000 9000 --spacing 0.01 0.01 0.01)
expect 3 'iso reconstruct: rank 0 needs [0-9]+ bytes, and the ranks that share its memory [0-9]+' reconstruct --projections p.h5 "${vast[@]}" --output x.mha
lines 'iso: error' 1
expect 3 'iso reconstruct: rank 0 needs [0-9]+ bytes' reconstruct --projections p.h5 "${vast[@]}" --method tv --weight 0.1 --output x.mha
expect 3 'iso project: rank 0 needs [0-9]+ bytes' project "${phantom[@]}" --size 8000 --geometry cone.json --output x.h5
expect 2 'iso demo: 2 processes of .*it runs on one' demo
lines 'iso: error' 1
expect 2 '2 processes with --sum ordered and --format auto' "${product[@]}" --sum ordered --output x.h5
lines 'iso: error' 1
expect 2 'iso matrix info: 2 processes of .*it runs on one' matrix info m.h5
expect 0 'serial' info

# A folder that not all see is refused before anything is computed.
mkdir -p other/unseen unseen
cp p.h5 cone.json other
unseen=(reconstruct --projections p.h5 --output unseen/v.mha)
tool=("$mpiexec" -n 1 "$iso" "${unseen[@]}" : -n 1 -wdir "$PWD/other" "$iso")
expect 2 "'unseen/v.mha': 1 of 2 processes do not see its folder" "${unseen[@]}"
lines 'iso: error' 1
leftover=$(find unseen other/unseen -type f)
[ -z "$leftover" ] || fail "left $leftover"
rm other/p.h5
unseen=(project "${phantom[@]}" --size 8 --geometry cone.json --output unseen/v.h5)
tool=("$mpiexec" -n 1 "$iso" "${unseen[@]}" : -n 1 -wdir "$PWD/other" "$iso")
expect 2 "'unseen/v.h5': 1 of 2 processes do not see its folder" "${unseen[@]}"
# Volumes of different sizes.
"$iso" project "${phantom[@]}" --size 8 --geometry cone.json --output other/once.mha >/dev/null || fail 'no image'
unlike=(project --volume once.mha --geometry cone.json --output x.h5)
tool=("$mpiexec" -n 1 "$iso" "${unlike[@]}" : -n 1 -wdir "$PWD/other" "$iso")
expect 2 'processes with different volumes' "${unlike[@]}"
lines 'iso: error' 1

# One that fails by itself ends all, and says which it is.
began=$SECONDS
apart=(reconstruct --projections p.h5 --json x.json)
tool=("$mpiexec" -n 1 "$iso" "${apart[@]}" : -n 1 -wdir "$PWD/other" "$iso")
expect 2 "iso: error: rank 1: 'p.h5': cannot be opened" "${apart[@]}"
[ $((SECONDS - began)) -le 10 ] || fail "the others waited $((SECONDS - began)) s"

# What they must have alike: the command line, and what is in the files that they read.
"$iso" project --phantom shepp-logan --width 70 --geometry cone.json --output other/p.h5 >/dev/null || fail 'no other readings'
expect 2 'iso: error: processes with different readings' "${apart[@]}"
apart+=(--method cgls)
tool=("$mpiexec" -n 1 "$iso" "${apart[@]}" : -n 1 -wdir "$PWD/other" "$iso")
expect 2 'iso: error: processes with different readings' "${apart[@]}"
lines 'iso: error' 1
sed 's/2 -1$/2 -3/' few.mtx >other/few.mtx
product=(matrix apply few.mtx --output x.h5)
tool=("$mpiexec" -n 1 "$iso" "${product[@]}" : -n 1 -wdir "$PWD/other" "$iso")
expect 2 'iso: error: processes with different matrices or vectors' "${product[@]}"
lines 'iso: error' 1
for more in '--iterations 2' '--final-residual' '--checkpoint d.h5' '--repeats 3'; do
  tool=("$mpiexec" -n 1 "$iso" "${apart[@]}" : -n 1 "$iso")
  # shellcheck disable=SC2086
  expect 2 'processes with different command lines' "${apart[@]}" $more
done
[ ! -e x.mha ] && [ ! -e x.h5 ] || fail 'a file of a run that was refused'
finish
