# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts of this folder: where things are, how to speak, how to fail.
# shellcheck shell=bash
set -euo pipefail

ISO_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ISO_DEPS=$ISO_TOP/.deps
export ISO_TOP ISO_DEPS

say() { printf '[isocenter] %s\n' "$*"; }

# fail "what went wrong" "what to do"
fail() {
  printf '[isocenter] error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '[isocenter]   %s\n' "$line" >&2; done
  exit 1
}

# misused "what is wrong with the arguments (why); what to do"
misused() {
  printf '[isocenter] error: %s\n' "$1" >&2
  exit 2
}

# left_out [PRESET]: the tests that its build, or any, lacks for want of a program or a library, a sentence a line.
left_out() { { cat "$ISO_TOP"/build/${1:-*}/left_out.txt 2>/dev/null || true; } | sort -u; }

# not_run PRESET: what the tests of the last ctest say that they did not run, "TEST: WHAT (WHY); ADVICE" a line.
not_run() {
  { cat "$ISO_TOP/build/$1/Testing/Temporary/LastTest.log" 2>/dev/null || true; } |
    awk '/^[0-9]+\/[0-9]+ Test(ing)?: / { test = $3 } /^not run: / { sub(/^not run: /, ""); print test ": " $0 }' | sort -u
}

# take_no_argument "$@": --help prints the head of the script.
take_no_argument() {
  case "${1-}" in
    -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" && exit 0 ;;
  esac
  [ $# = 0 ] || misused "unknown argument: $1 (scripts/${0##*/} takes none); leave it out"
}

have() { command -v "$1" >/dev/null 2>&1; }

sha256_of() { sha256sum "$1" | cut -d' ' -f1; }

# One word that changes when any of the arguments does.
key_of() { printf '%s\n' "$@" | sha256sum | cut -c1-32; }

job_count() { printf '%s' "${ISO_JOBS:-$(nproc)}"; }

# download ADDRESS FILE: quiet, whole or not at all
download() {
  local part=$2.part.$$
  if have curl; then
    curl --fail --silent --show-error --location --retry 2 --connect-timeout 20 -o "$part" "$1"
  elif have wget; then
    wget --quiet --tries=2 --timeout=20 -O "$part" "$1"
  else
    return 1
  fi || {
    rm -f "$part"
    return 1
  }
  mv "$part" "$2"
}

gpu_present() { have nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# The CUDA build is wanted: nvcc is there, and a GPU, or the user says ISO_CUDA=on or what GPU it is for.
cuda_wanted() {
  have nvcc || return 1
  case "${ISO_CUDA:-auto}" in
    off) return 1 ;;
    on) return 0 ;;
    *) [ -n "${ISO_CUDA_ARCH:-}" ] || gpu_present ;;
  esac
}

# The preset with every backend of this machine.
preset_of_machine() { if cuda_wanted && gpu_present; then echo cuda; else echo openmp; fi; }

# check_preset NAME: ends the script where there is no such preset, and a CMake to ask for them.
check_preset() {
  have cmake || return 0
  local known
  known=$(cd "$ISO_TOP" && cmake --list-presets | sed -n 's/^ *"\([^"]*\)".*/\1/p') || return 0
  grep -qxF -e "$1" <<<"$known" ||
    misused "there is no preset '$1' (known: $(paste -sd ' ' <<<"$known")); choose one of these"
}

# Compute capability without the dot (90): the GPU's, else ISO_CUDA_ARCH, else 90.
cuda_arch() {
  local found=""
  if gpu_present; then
    found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
      head -n 1 | tr -d '. ')
  fi
  printf '%s' "${found:-${ISO_CUDA_ARCH:-90}}"
}
