#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_tool.sh ISO MPIEXEC
# The tool on several processes: the files and figures of one, one log, one exit code; what cannot be is
# refused, and a process that fails ends the others.
# shellcheck disable=SC2154
iso=$1
mpiexec=$2
source "$(dirname "$0")/tool_support.sh"
residual() { tr -d ' \n' <"$1" | grep -oE '"final_residual":[^,}]*'; }

same 3 "$reproducible" project "${phantom[@]}" --size 40 --geometry cone.json --output p.h5
on 1
expect 0 'hash' project "${phantom[@]}" --size 40 --geometry cone.json --sum reproducible --output one.h5
cmp p.h5 one.h5 || fail 'another stack of projections'
same 2 "$reproducible" reconstruct "${phantom[@]}" --geometry cone.json --method os-sart --block 10 --iterations 2 --final-residual
[ "$(residual once.json)" = "$(residual ranks.json)" ] || fail 'another residual'

# Each process writes its planes of a volume and its views of projections, and reads its own: the files of one, byte by byte.
same_files 3 'v.mha' reconstruct --projections p.h5 --output v.mha
[ "$(numbers bytes_written | wc -w)" -eq 3 ] || fail "not 3 numbers of bytes: $(cat ranks.json)"
[ "$(in_all bytes_written)" -eq $((40 * 40 * 36 * 4)) ] || fail "wrote $(numbers bytes_written) bytes"
same 3 "$reproducible" project --volume v.mha --geometry cone.json
# Each reads the middle plane too, by which they compare their files.
[ "$(in_all bytes_read)" -eq $(((40 * 40 * 36 + 3 * 40 * 40) * 4)) ] || fail "read $(numbers bytes_read) bytes"
alone
# shellcheck disable=SC2086
expect 0 'hash' "${wide[@]}" $reproducible --output one.h5 --png one.png
on 3
expect 0 'hash' "${wide[@]}" --output w.h5 --png w.png --json ranks.json
cmp one.h5 w.h5 || fail 'another stack'
cmp one.png w.png || fail 'another picture'
[ "$(in_all bytes_written)" -eq $((8 * piece)) ] || fail "wrote $(numbers bytes_written) bytes"
[ "$(numbers bytes_written | tr ' ' '\n' | sort -n | tail -n 1)" -lt $((8 * piece * 3 / 5)) ] || fail "one wrote $(numbers bytes_written)"
same 3 '' reconstruct --projections one.h5 "${small[@]}"
[ "$(numbers bytes_read)" = "$((3 * piece)) $((4 * piece)) $((4 * piece))" ] || fail "read $(numbers bytes_read) bytes"
leftover=$(find . -name '.iso-*')
[ -z "$leftover" ] || fail "left $leftover"

streamed 2 1300kB reconstruct --projections p.h5
# shellcheck disable=SC2086
streamed 2 2400kB reconstruct --projections p.h5 --method sirt --iterations 2 $reproducible

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

# Products: the file of one process.
"$iso" matrix generate liver-1 --factor 1e-4 --output m.h5 >/dev/null || fail 'no matrix'
product=(matrix apply m.h5)
same 3 '' "${product[@]}" --transpose
same 3 '' "${product[@]}" --output y.h5
cp y.h5 ranks.h5
"$iso" "${product[@]}" --output y.h5 >/dev/null && cmp y.h5 ranks.h5 || fail 'another product'
printf '%%%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 2\n3 2 -1\n' >few.mtx

# A checkpoint of so many processes goes on with others, on another backend, and streamed.
go() { expect 0 'hash [0-9a-f]{16}' reconstruct --projections p.h5 --method cgls "$@" --json x.json; }
alone
# shellcheck disable=SC2086
go --iterations 6 $reproducible
whole=$(hash_of)
# shellcheck disable=SC2086
go --iterations 2 $reproducible --checkpoint c.h5
on 3
go --iterations 4 --checkpoint c.h5 --backend serial
on 2
go --iterations 5 --checkpoint c.h5 --memory 2400kB
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

# By a launcher of another MPI each process is alone.
tool=(env PMI_RANK=0 PMI_SIZE=2 "$iso")
expect 2 'iso project: 2 processes of MPICH .this build has no MPI, or another one than' project "${phantom[@]}" --size 8 --geometry cone.json --output x.h5

# Of another revision: the name of this one is changed in a copy.
revision=$("$iso" --version | grep -oE 'revision [0-9a-f]{7,}' | cut -d' ' -f2)
if [ -n "$revision" ]; then
  LC_ALL=C sed "s/$revision/$(tr '0-9a-f' 'a-f0-9' <<<"$revision")/g" "$iso" >another_iso
  chmod +x another_iso
  one=(project "${phantom[@]}" --size 8 --geometry cone.json --output x.h5)
  tool=("$mpiexec" -n 1 "$iso" "${one[@]}" : -n 1 ./another_iso)
  expect 2 'processes with different command lines, or of different revisions of iso' "${one[@]}"
  lines 'iso: error' 1
else
  not_run 'a process of another revision (this source is not of a git repository); clone it'
fi

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
"$iso" project "${phantom[@]}" --size 8 --geometry cone.json --output other/v.mha >/dev/null || fail 'no image'
unlike=(project --volume v.mha --geometry cone.json --output x.h5)
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
for more in '--iterations 2' '--checkpoint d.h5'; do
  tool=("$mpiexec" -n 1 "$iso" "${apart[@]}" : -n 1 "$iso")
  # shellcheck disable=SC2086
  expect 2 'processes with different command lines' "${apart[@]}" $more
done
[ ! -e x.mha ] && [ ! -e x.h5 ] || fail 'a file of a run that was refused'
finish
