#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_plan_tool.sh ISO MPIEXEC WRITE_RT_OBJECTS
# `iso dose`, `iso gamma` and `iso dvh` on several processes: the files and figures of one, one log,
# and one sentence where they refuse.
iso=$1
mpiexec=$2
write=$3
source "$(dirname "$0")/tool_support.sh"

same_files 3 'd.mha curves.csv' dose --phantom slab --voxel 16 --plan plan.json --output d.mha --curves curves.csv
alone
expect 0 hash dose --phantom slab --voxel 16 --plan rays.json --output e.mha
same_files 2 'g.mha s.mha h.csv p.png' gamma d.mha e.mha --criterion 3%/3mm --criterion 2%/2mm --output g.mha --status s.mha --csv h.csv --png p.png
leftover=$(find . -name '.iso-*')
[ -z "$leftover" ] || fail "left $leftover"

# What a rank needs is compared with the limit of its process before it is taken, some of which MPI has taken. (What
# ranks of a machine need together, with that machine: test_tool.sh.)
# short RANK COMMAND...: two processes, one of which, or both, have less than it needs; all say so in one sentence, with nothing written
short() {
  local limited=$1
  shift
  tool=("$mpiexec" -n 2 bash -c '[[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != $0 ]] || ulimit -v 1000000; exec "$@"' "$limited" env OMP_NUM_THREADS=1 "$iso")
  expect 3 "$@"
  lines 'iso: error' 1
}
bytes='needs [0-9]+ bytes .[0-9]+ bytes are free under ulimit -v, which is the limit of that process alone.; ask for less, raise the limit, or start more processes'
# Of 512^3 floats each has the density, half the dose and a beam's TERMA.
short '*' "iso dose: rank 0 $bytes" dose --phantom slab --voxel 0.5 --plan plan.json --output late.mha
# Of 256^3 floats each reads two doses, 134 MB, and wants 20 criteria of half the points and more.
flat() { printf 'ObjectType = Image\nNDims = 3\nDimSize = 256 256 256\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n' && head -c $((4 * 256 ** 3)) /dev/zero | tr '\0' "$1"; }
flat A >flat.mha
flat B >other.mha
criteria=()
for n in {1..20}; do criteria+=(--criterion "$n%/1mm"); done
short 1 "iso gamma: rank 1 $bytes" gamma flat.mha other.mha "${criteria[@]}" --output late.mha
rm flat.mha other.mha
# 2^24 rows and an entry: of each process three vectors of doubles and its rows' offsets.
printf '%%%%MatrixMarket matrix coordinate real general\n16777216 2 1\n1 1 2\n' >rows.mtx
short 1 "iso matrix: its products: rank 1 $bytes" matrix apply rows.mtx --output late.h5
[ ! -e late.mha ] && [ ! -e late.h5 ] || fail 'a file of a run that was refused'

if "$iso" info . 2>&1 | grep -q 'this build has no DCMTK'; then
  not_run 'histograms on ranks (this build has no DCMTK); install libdcmtk-dev'
else
  "$write" . || fail 'no files'
  same_files 2 'dvh.csv' dvh --dose dose.dcm half.dcm --structures set.dcm --csv dvh.csv --bins 51 --quantity mean D95 CI30Gy
  # Structures that are refused, and others that are reported: the exit code of one process.
  on 3
  expect 7 "'Twin' is refused" dvh --dose dose.dcm --structures wrong.dcm --quantity mean
  lines 'iso: error' 0
  lines "'Twin' is refused" 1
  expect 2 'dvh: --memory on 3 processes' dvh --dose dose.dcm --structures set.dcm --memory 1GiB
  lines 'iso: error' 1
fi

# One sentence, and rank 0's exit code.
on 2
expect 2 'gamma: --memory on 2 processes' gamma d.mha e.mha --memory 1GiB
lines 'iso: error' 1
expect 2 'no reference dose reaches the cut-off' gamma d.mha e.mha --cut-off 200%
lines 'iso: error' 1
expect 2 'cannot be opened' dose --phantom slab --voxel 16 --plan none.json --output x.mha
lines 'iso: error' 1

# What they must have alike: what is in the files that they read.
mkdir apart
cp d.mha apart/e.mha
cp d.mha apart/d.mha
tool=("$mpiexec" -n 1 "$iso" gamma d.mha e.mha --output x.mha : -n 1 -wdir "$PWD/apart" "$iso")
expect 2 'iso: error: processes with different evaluated doses' gamma d.mha e.mha --output x.mha
lines 'iso: error' 1
[ ! -e x.mha ] || fail 'a file of a run that was refused'
finish
