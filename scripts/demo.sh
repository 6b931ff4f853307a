#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up what is missing, builds the tool, runs the main job on every backend this machine has.
# Figures and numbers land in out/demo. Arguments go to `iso demo` (--help lists them).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$ISO_TOP/scripts/setup.sh"
preset=$(preset_of_machine)
"$ISO_TOP/scripts/build.sh" "$preset" iso
cd "$ISO_TOP"
mkdir -p out
exec "build/$preset/apps/iso/iso" demo --output out/demo "$@"
