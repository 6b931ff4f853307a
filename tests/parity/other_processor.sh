#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# other_processor.sh QEMU MODEL PARITY: PARITY gives the same hashes on an emulated processor of
# QEMU's MODEL as on this one. As many programs as this machine has processors share the work, which
# takes one processor hours. Exit code 77: QEMU is too old to emulate it.
set -euo pipefail
qemu=$1 model=$2 parity=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# QEMU warns of features that it lacks; AVX2 and FMA came with 7.2.
lacks=$("$qemu" -cpu "$model" "$parity" --kokkos-help 2>&1 >"$work/help") || true
if grep -Eiq "avx2|fma|unable to find" <<<"$lacks"; then
  echo "not run: parity on $model ($qemu does not emulate it); install a newer QEMU"
  exit 77
fi
"$parity" | sort >"$work/here"
parts=$(nproc)
for ((part = 0; part < parts; part++)); do
  OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive "$qemu" -cpu "$model" "$parity" "$part" "$parts" \
    >"$work/$part" 2>"$work/$part.said" &
  of[part]=$!
done
failed=0
for ((part = 0; part < parts; part++)); do
  wait "${of[part]}" || {
    echo "FAILED on $model: exit code $?"
    tail -n 5 "$work/$part" "$work/$part.said"
    failed=1
  }
done
[ $failed = 0 ] || exit 1
for ((part = 0; part < parts; part++)); do cat "$work/$part"; done | sort >"$work/there"
cmp "$work/here" "$work/there"
echo "$(wc -l <"$work/there") hashes agree on $model"
