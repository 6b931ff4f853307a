#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up what is missing, builds the tool, runs the main job on every backend this machine has.
# Figures and numbers land in out/demo. Arguments go to `iso demo`:
#
#   --size N, --views N   voxels of the phantom along each side, views of the scan
#   --ct FILE             a CT in Hounsfield units instead of the example
#   --backend NAMES       serial, openmp, cuda, with commas between
#   --threads N           OpenMP threads
#   --output FOLDER       where pictures and demo.json land
#   --json FILE           where else the numbers go
#   --quiet               the result alone
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Here, not after a build of many minutes.
arguments=("$@")
output=(--output "$ISO_TOP/out/demo")
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) sed -n '3,12s/^# \{0,1\}//p' "$0" && exit 0 ;;
    --output | --output=*) output=() ;;
  esac
  case "$1" in
    --size | --views | --ct | --backend | --threads | --output | --json)
      [ -n "${2:-}" ] || misused "$1 needs a value (none follows it); see scripts/demo.sh --help"
      shift 2
      ;;
    --size=?* | --views=?* | --ct=?* | --backend=?* | --threads=?* | --output=?* | --json=?*) shift ;;
    --quiet) shift ;;
    *) misused "unknown argument: $1 (it is no option); see scripts/demo.sh --help" ;;
  esac
done

"$ISO_TOP/scripts/setup.sh"
preset=$(preset_of_machine)
"$ISO_TOP/scripts/build.sh" "$preset" iso
mkdir -p "$ISO_TOP/out"
exec "$ISO_TOP/build/$preset/apps/iso/iso" demo "${output[@]}" "${arguments[@]}"
