#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# other_processor.sh QEMU MODEL PARITY: PARITY gives the same hashes on an emulated processor of
# QEMU's MODEL as on this one. Exit code 77: QEMU is too old to emulate it.
set -euo pipefail
qemu=$1 model=$2 parity=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# QEMU warns of features that it lacks; AVX2 and FMA came with 7.2.
lacks=$("$qemu" -cpu "$model" "$parity" --kokkos-help 2>&1 >"$work/help") || true
if grep -Eiq "avx2|fma|unable to find" <<<"$lacks"; then
  echo "skipped: $qemu emulates no $model"
  exit 77
fi
"$parity" >"$work/here"
"$qemu" -cpu "$model" "$parity" >"$work/there" 2>"$work/said" || {
  echo "FAILED on $model: exit code $?"
  tail -n 5 "$work/there" "$work/said"
  exit 1
}
cmp "$work/here" "$work/there"
echo "$(wc -l <"$work/there") hashes agree on $model"
