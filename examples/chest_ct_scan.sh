#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From the files of a scan to slices: 16-bit TIFF images with noise, unequal gains and dead pixels,
# flats, darks, and settings that do not know that the detector stands 1.4 pixels aside. The slices
# are those of the CT: the same voxels in the same coordinates, in Hounsfield units.
#
#   chest_ct_scan.sh [ISO [CT [FOLDER]]]
#
# No public scan of this kind is at hand: the chest CT of scripts/get_example_data.sh is projected,
# and a detector simulated. Leaves scan/ (the files), slices.png and volume.mha in FOLDER.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
iso=${1:-$top/build/openmp/apps/iso/iso}
ct=${2:-$top/.deps/data/chest_ct.nii.gz}
folder=${3:-chest_ct_scan}
if [ ! -f "$ct" ]; then
  echo "not run: the scan of a chest ($ct is not there); run scripts/get_example_data.sh"
  exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"

# The scan. The settings that come with it say that the detector stands in the middle.
"$iso" project --volume "$ct" --hounsfield --centre --geometry "$top/examples/geometry/chest_ct_scan.json" \
  --scan "$folder/scan" --photons 50000
sed 's/"offset_mm":\[4.2,0\]/"offset_mm":[0,0]/' "$folder/scan/geometry.json" >"$folder/settings.json"
if cmp -s "$folder/scan/geometry.json" "$folder/settings.json"; then
  echo 'the offset of the detector is not where it was expected'
  exit 1
fi

# The slices.
"$iso" reconstruct --projections "$folder/scan/projection_*.tif" --flats "$folder/scan/flat_*.tif" \
  --darks "$folder/scan/dark_*.tif" --geometry "$folder/settings.json" --centre-of-rotation estimate \
  --window hann --water 0.01707 --like "$ct" --centre \
  --output "$folder/volume.mha" --png "$folder/slices.png" --json "$folder/reconstruct.json"

# The axis is at 127.5 - 4.2 / 3 = 126.1 pixels; dead are 49 of 49152 pixels in the mean.
awk -F'[:,]' '/"centre_of_rotation"/ { c = $2 } /"dead_pixels"/ { d = $2 }
  END { print "axis found at u =", c, "(126.1 is right);", d, "dead pixels";
    exit !(c > 126.0 && c < 126.2 && d >= 20 && d <= 90) }' "$folder/reconstruct.json"
