#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Real scans and a real plan from the source archives of public Python packages, downloaded by name
# with pip, SHA-256 checked, into .deps/data:
#
#   chest_ct.nii.gz   chest CT, Hounsfield units (TotalSegmentator 2.18.0, Apache 2.0)
#   cone_beam/        a radiograph, its scanner's geometry, the scanner's own reconstruction of one
#                     slice (axitom 0.1.3, MIT)
#   plan/             RT Dose, RT Plan, RT Structure Set, a CT slice (dicompyler-core 0.5.6, BSD)
#
# Optional: without it, tests and examples that want real data are skipped. Files that are there
# already are kept. A folder with the three archives may be named in ISO_SOURCE_CACHE instead.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

DATA=$ISO_DEPS/data
ARCHIVES=$ISO_DEPS/example-archives

python_of_setup() {
  if [ -x "$ISO_DEPS/venv/bin/python" ]; then
    printf '%s' "$ISO_DEPS/venv/bin/python"
  else
    command -v python3 || fail "python3 is missing" "Run scripts/setup.sh first."
  fi
}

# archive PACKAGE VERSION FILE SHA256: prints where the checked archive lies
archive() {
  local package=$1 version=$2 file=$3 sum=$4 python where log=$ISO_DEPS/example-data.log
  for where in "${ISO_SOURCE_CACHE:-$ARCHIVES}" "$ARCHIVES"; do
    if [ -f "$where/$file" ] && [ "$(sha256_of "$where/$file")" = "$sum" ]; then
      printf '%s' "$where/$file"
      return
    fi
  done
  python=$(python_of_setup)
  say "downloading $package $version" >&2
  # With the hash in the requirement pip checks it before it looks into the archive.
  printf '%s==%s --hash=sha256:%s\n' "$package" "$version" "$sum" >"$ARCHIVES/$package.txt"
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "$package" \
    --require-hashes -r "$ARCHIVES/$package.txt" -d "$ARCHIVES" >"$log" 2>&1 ||
    fail "pip could not download $package $version (log: $log)" \
      "Check the network and pip's index, or put $file into the folder that ISO_SOURCE_CACHE names."
  [ -f "$ARCHIVES/$file" ] && [ "$(sha256_of "$ARCHIVES/$file")" = "$sum" ] ||
    fail "$ARCHIVES/$file is not there or its SHA-256 is not $sum" "Delete it and run this again."
  printf '%s' "$ARCHIVES/$file"
}

# unpack ARCHIVE MEMBER FILE: one file of the archive, whole or not at all
unpack() {
  mkdir -p "$(dirname "$3")"
  tar -xzOf "$1" --wildcards "*/$2" >"$3.part.$$" || {
    rm -f "$3.part.$$"
    fail "$1 holds no $2" "Delete the archive and run this again."
  }
  mv "$3.part.$$" "$3"
}

chest_ct() {
  [ ! -f "$DATA/chest_ct.nii.gz" ] || return 0
  local from
  from=$(archive TotalSegmentator 2.18.0 totalsegmentator-2.18.0.tar.gz \
    5d4223ef93973bc36d710869d11e7742ead2c154c72f7f9edcaaadd5b6c4bd03)
  unpack "$from" tests/reference_files/aorta_report/example_ct.nii.gz "$DATA/chest_ct.nii.gz"
}

cone_beam() {
  local from file last=recon_by_external_software.tif
  [ ! -f "$DATA/cone_beam/$last" ] || return 0
  from=$(archive axitom 0.1.3 axitom-0.1.3.tar.gz \
    1bd9549d1e720f68fe414f2dd9105ad244589d3980f0f6da22b1f08f9cce9a6b)
  for file in radiogram.tif radiogram.xtekct $last; do
    unpack "$from" "axitom/tests/example_data/$file" "$DATA/cone_beam/$file"
  done
}

plan() {
  [ ! -f "$DATA/plan/.whole" ] || return 0
  local from
  from=$(archive dicompyler-core 0.5.6 dicompyler-core-0.5.6.tar.gz \
    0e3c05920a8fa3f1c0ff05a5c21dab3ff3f735e00012b69b38926b219d07faee)
  mkdir -p "$DATA/plan"
  tar -xzf "$from" --no-same-owner -C "$DATA/plan" --wildcards --strip-components=4 \
    '*/tests/testdata/example_data/*'
  touch "$DATA/plan/.whole"
}

take_no_argument "$@"
mkdir -p "$DATA" "$ARCHIVES"
chest_ct
cone_beam
plan
say "example data: .deps/data"
