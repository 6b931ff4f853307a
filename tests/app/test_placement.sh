#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_placement.sh ISO GEOMETRIES CHEST_CT
# Volumes in a patient's coordinates: iso project and iso reconstruct with --isocentre, --centre,
# --origin and --like, and Hounsfield units both ways. CHEST_CT may be missing.
iso=$1
geometries=$2
chest=$3
tool=("$iso")
source "$(dirname "$0")/expect.sh"
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }

# A cylinder of water with blocks of lung, fat and bone, in air, far from the zero of its coordinates.
cat >volumes.py <<'PYTHON'
import array, sys

N, S, O = (44, 40, 24), (3.0, 3.0, 4.0), (10.5, -210.25, 640.0)
BLOCKS = {"lung": (-800, 14, 14), "fat": (-100, 26, 14), "bone": (1000, 14, 24), "metal": (2500, 28, 24)}

def write(name, origin):
    values = array.array("f")
    for k in range(N[2]):
        for j in range(N[1]):
            for i in range(N[0]):
                x, y = (i - (N[0] - 1) / 2) * S[0], (j - (N[1] - 1) / 2) * S[1]
                hu = 0 if x * x + y * y < 54**2 and 2 <= k < N[2] - 2 else -1000
                for value, bi, bj in BLOCKS.values():
                    if abs(i - bi) <= 4 and abs(j - bj) <= 4 and 6 <= k < 18:
                        hu = value
                values.append(hu)
    with open(name, "wb") as f:
        f.write(("NDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nOffset = %r %r %r\n"
                 "ElementSpacing = %r %r %r\nDimSize = %d %d %d\nElementType = MET_FLOAT\n"
                 "ElementDataFile = LOCAL\n" % (*origin, *S, *N)).encode())
        values.tofile(f)

def read(name):
    data = open(name, "rb").read()
    end = data.index(b"ElementDataFile")
    fields = dict(line.split(" = ", 1) for line in data[:end].decode().splitlines())
    values = array.array("f")
    values.frombytes(data[data.index(b"\n", end) + 1 :])
    return fields, values

if sys.argv[1] == "write":
    write("ct.mha", O)
    write("moved.mha", tuple(o - c for o, c in zip(O, (75.0, -151.75, 686.0))))
else:  # the result lies where the CT does, and its tissues have the CT's numbers
    f, values = read(sys.argv[2])
    numbers = lambda field: tuple(float(x) for x in f[field].split())
    assert numbers("DimSize") == N and numbers("ElementSpacing") == S and numbers("Offset") == O, f
    assert f["Unit"] == "HU", f
    at = lambda i, j, k: values[i + N[0] * (j + N[1] * k)]
    def mean(bi, bj):
        inside = [at(i, j, k) for i in range(bi - 2, bi + 3) for j in range(bj - 2, bj + 3) for k in range(9, 15)]
        return sum(inside) / len(inside)
    worst = 0
    for name, wanted, bi, bj in [("air", -1000, 3, 3), ("water", 0, 21, 33)] + [(n, *b) for n, b in BLOCKS.items()]:
        error = mean(bi, bj) - wanted
        print("%s %.0f HU: error %.1f" % (name, wanted, error))
        worst = max(worst, abs(error) / (20 + 0.02 * abs(wanted)))
    sys.exit(worst > 1)
PYTHON
python3 volumes.py write || fail 'volumes.py'
cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [128, 80], "pitch_mm": [3, 3]},
 "source_axis_mm": 700, "source_detector_mm": 1100, "angles_deg": {"range": 360, "count": 180}}
JSON
point='75.0 -151.75 686.0' # not quite the middle
# shellcheck disable=SC2206
isocentre=(--isocentre $point)

# A CT in its own coordinates: said, with what to do.
expect 0 'no ray meets the volume .all projections are zero: it lies at x 9 to 141, y -211.75 to -91.75, z 638 to 734 mm from the isocentre.; give --isocentre X Y Z.* or --centre' \
  project --volume ct.mha --hounsfield --geometry cone.json --json blind.json
grep -q '"blind_views": 180' blind.json || fail 'blind.json does not count the views that see nothing'
expect 0 'hash' project --volume ct.mha --hounsfield "${isocentre[@]}" --geometry cone.json --output p.h5 --json p.json
grep -q 'no ray' <<<"$answer" && fail "rays that meet the volume are said not to: $answer"
grep -q '"blind_views": 0' p.json || fail 'p.json counts views that see something'
grep -A3 '"isocentre_mm"' p.json | tr -d ' \n' | grep -q '75.0,-151.75,686.0' || fail 'p.json has no isocentre'
placed=$(hash_of)
expect 0 'hash' project --volume moved.mha --hounsfield --geometry cone.json --json w.json
[ "$(hash_of)" = "$placed" ] || fail "moving the file gives $(hash_of) instead of $placed"
# Some views: the last two look beside the volume, one from within reach of its source.
cat >some.json <<'JSON'
{"type": "vectors", "rays": "cone", "detector": {"pixels": [40, 40]}, "views": [
 {"source_mm": [500, 0, 0], "detector_origin_mm": [-300, -58.5, -58.5], "u_step_mm": [0, 3, 0], "v_step_mm": [0, 0, 3]},
 {"source_mm": [500, 0, 0], "detector_origin_mm": [-300, -58.5, 400], "u_step_mm": [0, 3, 0], "v_step_mm": [0, 0, 3]},
 {"source_mm": [-80, 0, 0], "detector_origin_mm": [-300, -58.5, -58.5], "u_step_mm": [0, 3, 0], "v_step_mm": [0, 0, 3]}]}
JSON
expect 0 'no ray of 2 of the 3 views meets the volume .these views are zero.; check the geometry, --isocentre and --centre' \
  project --volume ct.mha --hounsfield --centre --geometry some.json --json w.json
expect 0 'no ray of 2 of the 3 views meets the volume .these views are zero.; check the geometry$' \
  project --phantom shepp-logan --size 16 --width 100 --geometry some.json --json w.json
# Parallel rays are whole lines; one that is narrower than the gap between two rays is missed.
printf '{"type": "circular_parallel", "detector": {"pixels": [2, 2], "pitch_mm": [50, 50]}, "angles_deg": [0, 45]}' >gap.json
expect 0 'no ray meets the phantom .all projections are zero.; check the geometry' \
  project --phantom shepp-logan --size 8 --width 20 --geometry gap.json --json w.json
for geometry in "$geometries"/*.json; do
  expect 0 'hash' project --phantom shepp-logan --size 16 --geometry "$geometry" --json w.json
  grep -q 'no ray' <<<"$answer" && fail "$geometry: $answer"
done

# Back onto the grid of the CT, in its coordinates and its numbers.
water=(--water 0.01707)
expect 0 '44 x 40 x 24 voxels of 3 x 3 x 4 mm by fdk .* in Hounsfield units' reconstruct --projections p.h5 --like ct.mha "${isocentre[@]}" \
  "${water[@]}" --output r.mha --json r.json
back=$(hash_of)
python3 volumes.py check r.mha || fail 'the reconstruction is not that of the CT'
grep -q '"unit": "HU"' r.json || fail 'r.json has no unit'
expect 0 'hash' reconstruct --projections p.h5 --extent 44 40 24 --spacing 3 3 4 --origin 10.5 -210.25 640 "${isocentre[@]}" \
  "${water[@]}" --output o.mha
[ "$(hash_of)" = "$back" ] || fail "--extent, --spacing and --origin give $(hash_of) instead of $back"
cmp -s r.mha o.mha || fail '--like and --origin give other files'
# The bone of 100 keV, both ways, and water of another energy.
for scale in '--water 0.01707 --bone 0.035616' '--water 0.01937'; do
  # shellcheck disable=SC2086
  expect 0 'hash' project --volume ct.mha --hounsfield $scale --centre --geometry cone.json --output q.h5
  # shellcheck disable=SC2086
  expect 0 'hash' reconstruct --projections q.h5 --like ct.mha --centre $scale --output q.mha
  python3 volumes.py check q.mha || fail "$scale there and back"
done
expect 0 'Hounsfield units' reconstruct --projections q.h5 --like ct.mha --centre "${water[@]}" --output q.nii
expect 0 ', in 1/mm; hash' reconstruct --projections q.h5 --isocentre 1 2 3 --extent 4 4 4 --output q.mha
grep -qa '^Unit = 1/mm$' q.mha || fail 'q.mha has no unit'
# Without --origin and --like the middle lies on the isocentre: 4 voxels of 1.909 mm about (1, 2, 3).
grep -qaE '^Offset = -1.8636[0-9]* -0.8636[0-9]* 0.1363[0-9]*$' q.mha || fail "q.mha: $(grep -a Offset q.mha)"

# Units that do not fit are said.
expect 0 "'r.mha' holds values in HU .1/mm is expected.; give --hounsfield" project --volume r.mha --centre --geometry cone.json --json w.json
expect 0 "'q.mha' holds values in 1/mm .HU is expected.; leave out --hounsfield" project --volume q.mha --hounsfield --geometry cone.json --json w.json

# Refusals.
mkdir refused
refuse() { expect 2 "$@" --json refused/x.json; }
project=(project --volume ct.mha --geometry cone.json)
reconstruct=(reconstruct --projections p.h5)
refuse '--isocentre: At least 3 required' "${project[@]}" --isocentre 1 2
refuse '--isocentre.*must be a number from' "${project[@]}" --isocentre 1 2 nan
refuse 'excludes' "${project[@]}" --centre --isocentre 1 2 3
refuse 'requires --volume' project --phantom shepp-logan --geometry cone.json --isocentre 1 2 3
refuse '--water requires --hounsfield' "${project[@]}" --water 0.02
refuse 'attenuation of bone 0.01 /mm .must be above that of water, 0.01707' "${project[@]}" --hounsfield --bone 0.01
refuse '--bone requires --water' "${reconstruct[@]}" --bone 0.03
refuse 'attenuation of bone 0.01 /mm' "${reconstruct[@]}" --water 0.02 --bone 0.01
for other in '--extent 4 4 4' '--spacing 1' '--origin 1 2 3'; do
  # shellcheck disable=SC2086
  refuse 'excludes' "${reconstruct[@]}" --like ct.mha $other
done
refuse '--centre requires --like' "${reconstruct[@]}" --centre
refuse '--spacing with two numbers' "${reconstruct[@]}" --spacing 1 2
refuse "'none.mha'" "${reconstruct[@]}" --like none.mha
expect 2 "'ct.mha' is named twice" "${reconstruct[@]}" --like ct.mha --output ct.mha
# The chest scan of the documents, without its isocentre.
refuse 'none of the 180 views sees any voxel of the volume .* --isocentre' "${reconstruct[@]}" --like ct.mha
[ -z "$(ls -A refused)" ] || fail "a run that failed wrote $(ls -A refused)"

if [ -e "$chest" ]; then
  expect 0 'no ray meets the volume' project --volume "$chest" --hounsfield --geometry "$geometries/chest_ct.json" --json w.json
else
  not_run 'the chest CT (it is not there); run scripts/get_example_data.sh'
fi

finish
