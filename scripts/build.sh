#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Configures and builds a preset: scripts/build.sh PRESET [target...]
# The set-up must have been done (scripts/setup.sh).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
  -h | --help) sed -n '3,4s/^# \{0,1\}//p' "$0" && exit 0 ;;
esac
[ -n "${1:-}" ] || misused "no preset is named (it comes first); use scripts/build.sh PRESET [target...]"
preset=$1
check_preset "$preset"
shift
cd "$ISO_TOP"
mkdir -p "$ISO_DEPS"
log=$ISO_DEPS/configure-$preset.log
cmake --preset "$preset" >"$log" 2>&1 || {
  tail -n 25 "$log" >&2
  rm -f "$ISO_DEPS/stamp/packages"
  fail "preset $preset did not configure (log: $log)" \
    "Where a package was not found: run the same command again, it looks for missing packages anew."
}
cmake --build --preset "$preset" -j "$(job_count)" ${1:+--target "$@"}
