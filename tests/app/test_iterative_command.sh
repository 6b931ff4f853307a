#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_iterative_command.sh ISO
# `iso reconstruct` by iterations as a user meets it: every method on a tilted scan, the same bits on
# every backend, the table of iterations, refusals.
iso=$1
tool=("$iso")
source "$(dirname "$0")/expect.sh"
[ -n "${ISO_TEST_PYTHON:-}" ] || not_run 'what h5py reads and writes (.deps/venv is not there); run scripts/setup.sh'

# A circle whose detector is rolled by one degree and pitched by two.
python3 - <<'PYTHON'
import json, math
views, pixels, pitch = 20, 28, 4.0
cosine, sine = math.cos(math.radians(1)), math.sin(math.radians(1))
lean = math.radians(2)
all_views = []
for n in range(views):
    a = 2 * math.pi * n / views
    e, across = (math.cos(a), math.sin(a), 0), (-math.sin(a), math.cos(a), 0)
    up = tuple(math.sin(lean) * x + math.cos(lean) * z for x, z in zip(e, (0, 0, 1)))
    u = [pitch * (cosine * p + sine * q) for p, q in zip(across, up)]
    v = [pitch * (cosine * q - sine * p) for p, q in zip(across, up)]
    first = [-300 * x - (pixels - 1) / 2 * (p + q) for x, p, q in zip(e, u, v)]
    all_views.append({"source_mm": [500 * x for x in e], "detector_origin_mm": first,
                      "u_step_mm": u, "v_step_mm": v})
json.dump({"type": "vectors", "rays": "cone", "detector": {"pixels": [pixels, pixels]},
           "views": all_views}, open("tilted.json", "w"))
json.dump({"type": "circular_cone", "detector": {"pixels": [28, 28], "pitch_mm": [4, 4]},
           "source_axis_mm": 500, "source_detector_mm": 800,
           "angles_deg": {"first": 0, "range": 360, "count": 40}}, open("upright.json", "w"))
PYTHON
backends=$(for name in serial openmp threads cuda; do
  "$iso" info --no-ceilings --backend $name >/dev/null 2>&1 && echo $name
done)
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }

expect 0 'hash' project --phantom shepp-logan --size 16 --width 64 --geometry tilted.json --output p.h5
scan=(reconstruct --projections p.h5 --extent 16 16 16 --spacing 4)
for method in sirt sart os-sart cgls lsqr mlem osem 'tv --weight 1'; do
  serial=''
  for backend in $backends; do
    # shellcheck disable=SC2086
    expect 0 'iterations, residual' "${scan[@]}" --method $method --iterations 3 --backend "$backend" --json r.json
    serial=${serial:-$(hash_of)}
    [ "$(hash_of)" = "$serial" ] || fail "$method on $backend: $(hash_of) instead of $serial"
  done
done
# What the table says falls, and is in the result.
expect 0 'hash' "${scan[@]}" --method cgls --iterations 8 --history h.csv --json r.json --output v.mha
python3 - <<'PYTHON' || fail 'the table of iterations is not as documented'
import csv, json
rows = list(csv.DictReader(open("h.csv")))
residuals = [float(row["relative_residual"]) for row in rows]
result = json.load(open("r.json"))
assert [row["iteration"] for row in rows] == [str(n + 1) for n in range(8)]
assert residuals == sorted(residuals, reverse=True) and residuals[-1] < 0.1
assert all(row["gap"] == "" for row in rows)
assert result["iterations"] == 8 and result["relative_residual"] == residuals[-1]
PYTHON
[ -s v.mha ] || fail 'v.mha was not written'
# The residual that is told: before the last iteration or of the result; --final-residual tells the latter.
for method in sirt os-sart mlem; do
  expect 0 '3 iterations, residual [0-9.e+-]+ before the last, [0-9.e+-]+ of the result' "${scan[@]}" --method $method --iterations 3 --final-residual --history h3.csv --json r.json
  expect 0 '4 iterations' "${scan[@]}" --method $method --iterations 4 --history h4.csv --json four.json
  python3 - $method <<'PYTHON' || fail "$method: the residual of the result is not the one that the next iteration tells"
import csv, json, sys
result = json.load(open("r.json"))
told = [float(row["relative_residual"]) for row in csv.DictReader(open("h4.csv"))]
assert result["residual_of"] == "the volume before the last iteration", result
assert result["relative_residual"] == told[2]
assert result["final_relative_residual"] < told[2]
# One block: the next iteration begins with that very residual, but for the order of its sum.
if sys.argv[1] != "os-sart":
    assert abs(result["final_relative_residual"] / told[3] - 1) < 1e-6, (result, told)
PYTHON
  ! grep -q final four.json || fail "$method: a residual that was not asked for"
done
for method in cgls lsqr 'tv --weight 1'; do
  # shellcheck disable=SC2086
  expect 0 '3 iterations, residual [0-9.e+-]+, [0-9.e+-]+ of the result' "${scan[@]}" --method $method --iterations 3 --final-residual --json r.json
  # CGLS and LSQR carry their residual on: it drifts by rounding.
  python3 -c 'import json; r = json.load(open("r.json")); assert r["residual_of"] == "the result" and abs(r["final_relative_residual"] / r["relative_residual"] - 1) < 1e-3, r' ||
    fail "$method: the residual that it tells is not that of the result"
done
expect 2 'final-residual .method fdk has no such option' "${scan[@]}" --method fdk --final-residual --output no.mha
expect 0 'every rule ends by, is that of the volume before' reconstruct --help
# Methods in any case.
expect 0 'by sirt' "${scan[@]}" --method SIRT --iterations 1 --json r.json
expect 0 'by os-sart' "${scan[@]}" --method OS-SART --order Sequential --iterations 1 --json r.json
# Rules end it.
expect 0 '[2-7] iterations' "${scan[@]}" --method cgls --iterations 50 --stop-residual 0.2 --json r.json
expect 0 'gap [0-9.e-]+ on \[0, 2\]' "${scan[@]}" --method tv --weight 1 --lower 0 --upper 2 --iterations 400 --stop-gap 0.5 --json r.json
! grep -q 'above --stop-gap' <<<"$answer" || fail "a gap that is reached: $answer"
python3 -c 'import json; r = json.load(open("r.json")); assert r["gap"] <= 0.5 and r["iterations"] < 400, r' ||
  fail 'total variation does not stop by its gap'
expect 0 'the gap is [0-9.e+-]+ after 3 iterations, above --stop-gap 0.001 .*double' "${scan[@]}" --method tv --weight 1 --iterations 3 --json r.json
expect 2 'stop-gap 1e-06 in float .a gap is off by about 1e-05 there.; give --precision double' "${scan[@]}" --method tv --weight 1 --stop-gap 1e-6 --output no.mha
expect 0 'hash' "${scan[@]}" --method tv --weight 1 --stop-gap 1e-6 --iterations 2 --precision double --json r.json

# A run that is ended and goes on has the bits of one that is not; its table goes on too.
for method in sirt os-sart cgls lsqr mlem 'tv --weight 1'; do
  rm -f state.h5
  # shellcheck disable=SC2206
  go=("${scan[@]}" --method $method --stop-gap 0)
  [ "${method%% *}" = tv ] || go=("${scan[@]}" --method $method)
  expect 0 'hash' "${go[@]}" --iterations 7 --history whole.csv --json r.json
  whole=$(hash_of)
  expect 0 '3 iterations' "${go[@]}" --iterations 3 --checkpoint state.h5 --checkpoint-every 2 --json r.json
  expect 0 '7 iterations.* 3 of them before' "${go[@]}" --iterations 7 --checkpoint state.h5 --history parts.csv --json r.json
  [ "$(hash_of)" = "$whole" ] || fail "$method: a checkpoint changes bits"
  cmp -s whole.csv parts.csv || fail "$method: a checkpoint changes the table of iterations"
  expect 0 '7 iterations.* 7 of them before' "${go[@]}" --iterations 7 --checkpoint state.h5 --json r.json
  [ "$(hash_of)" = "$whole" ] || fail "$method: a checkpoint that is at its end changes bits"
done
rm -f state.h5
tv=("${scan[@]}" --method tv --weight 1)
expect 0 'hash' "${tv[@]}" --iterations 2 --checkpoint state.h5 --json r.json
cp state.h5 before.h5
expect 2 "'state.h5': is a checkpoint of another method .tv, here cgls" "${scan[@]}" --method cgls --checkpoint state.h5 --output no.mha
expect 2 'of another weight .1, here 2' "${scan[@]}" --method tv --weight 2 --checkpoint state.h5 --output no.mha
expect 2 'of another lower bound .from the data, here 0' "${tv[@]}" --lower 0 --checkpoint state.h5 --output no.mha
expect 2 'of another precision .float, here double' "${tv[@]}" --precision double --checkpoint state.h5 --output no.mha
expect 2 'of another volume' reconstruct --projections p.h5 --extent 16 16 15 --spacing 4 --method tv --weight 1 --checkpoint state.h5 --output no.mha
expect 0 'hash' project --phantom shepp-logan --size 16 --width 60 --geometry tilted.json --output other.h5
expect 2 'of another scan' reconstruct --projections other.h5 --extent 16 16 16 --spacing 4 --method tv --weight 1 --checkpoint state.h5 --output no.mha
expect 2 "'other.h5': is no checkpoint of this kind" "${tv[@]}" --checkpoint other.h5 --output no.mha
expect 2 'iterations 1 .the checkpoint has made 2' "${tv[@]}" --iterations 1 --checkpoint state.h5 --output no.mha
head -c 4000 state.h5 >cut.h5
expect 2 "'cut.h5': " "${tv[@]}" --checkpoint cut.h5 --output no.mha
cmp -s state.h5 before.h5 || fail 'a refused run wrote its checkpoint'

# An option that is given as it is by default changes nothing; another value is named.
rm -f state.h5
expect 0 '2 iterations' "${scan[@]}" --method os-sart --iterations 2 --checkpoint state.h5 --json r.json
expect 0 '3 iterations.* 2 of them before' "${scan[@]}" --method os-sart --iterations 3 --checkpoint state.h5 --relaxation 1 --block 8 --order golden --column-sums blocks --json r.json
expect 2 'of another block .8, here 4' "${scan[@]}" --method os-sart --block 4 --checkpoint state.h5 --output no.mha
expect 2 'of another relaxation .1, here 0.5' "${scan[@]}" --method os-sart --relaxation 0.5 --checkpoint state.h5 --output no.mha
expect 2 'of another upper bound .none, here 3' "${scan[@]}" --method os-sart --upper 3 --checkpoint state.h5 --output no.mha

# Ctrl-C ends a run within a second; what the checkpoint held is there, and is gone on from.
rm -f state.h5 no.mha
slow=(reconstruct --phantom shepp-logan --width 64 --geometry upright.json --extent 96 96 96 --spacing 0.7
  --method sirt --iterations 100000 --checkpoint state.h5 --checkpoint-every 1 --output no.mha --backend serial)
"$iso" "${slow[@]}" >interrupted.txt 2>&1 &
run=$!
for _ in $(seq 600); do
  [ -e state.h5 ] && break
  sleep 0.1
done
kill -INT $run
begun=$(date +%s%N)
wait $run
code=$?
took=$((($(date +%s%N) - begun) / 1000000))
[ $code = 130 ] || fail "a run that is interrupted returns $code: $(cat interrupted.txt)"
# A busy machine may take its time to wake the process.
[ $took -lt 3000 ] || fail "a run that is interrupted goes on for $took ms"
[ ! -e no.mha ] || fail 'a run that is interrupted wrote its volume'
made=$("$iso" "${slow[@]/100000/1}" 2>&1 | grep -oE '1 of them before|the checkpoint has made [0-9]+')
[ -n "$made" ] || fail 'an interrupted run left no checkpoint to go on from'
rm -f no.mha

# Every projector; a start, masks; the noise of photons ends it.
for projector in joseph joseph-spline branchless siddon exact amanatides-woo; do
  expect 0 'hash' "${scan[@]}" --method cgls --iterations 4 --projector $projector --json r.json
  python3 -c 'import json; assert json.load(open("r.json"))["relative_residual"] < 0.2' ||
    fail "cgls by $projector does not fit the readings"
done
once=$(hash_of)
expect 0 'hash' "${scan[@]}" --method cgls --iterations 4 --projector amanatides-woo --oversampling 2 --json r.json --output v2.mha
[ "$(hash_of)" != "$once" ] || fail '--oversampling changes nothing'
expect 0 'hash' "${scan[@]}" --method cgls --iterations 8 --start v.mha --history h.csv --json r.json
python3 -c 'import csv; assert float(next(csv.DictReader(open("h.csv")))["relative_residual"]) < 0.1' ||
  fail 'a start is not where iterations begin'
python3 - <<'PYTHON'
import struct
n = 16
inside = [1.0 if (i - 7.5) ** 2 + (j - 7.5) ** 2 < 49 else 0.0 for k in range(n) for j in range(n) for i in range(n)]
header = "NDims = 3\nDimSize = 16 16 16\nElementSpacing = 4 4 4\nOffset = -30 -30 -30\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n"
open("mask.mha", "wb").write(header.encode() + struct.pack(f"<{n**3}f", *inside))
open("nothing.mha", "wb").write(header.encode() + struct.pack(f"<{n**3}f", *([0.0] * n**3)))
lower = header.replace("DimSize = 16 16 16", "DimSize = 16 16 15")
open("lower.mha", "wb").write(lower.encode() + struct.pack(f"<{n * n * 15}f", *inside[:n * n * 15]))
moved = header.replace("Offset = -30", "Offset = -29")
open("moved.mha", "wb").write(moved.encode() + struct.pack(f"<{n**3}f", *inside))
PYTHON
expect 0 'hash' "${scan[@]}" --method sirt --mask mask.mha --iterations 5 --output masked.mha
python3 - <<'PYTHON' || fail 'a voxel whose mask is 0 is not 0'
import struct
def values(name):
    raw = open(name, "rb").read()
    return struct.unpack("<4096f", raw[-4 * 4096:])
assert all(x == 0 for x, m in zip(values("masked.mha"), values("mask.mha")) if m == 0)
assert any(x != 0 for x in values("masked.mha"))
PYTHON
expect 0 'hash' "${scan[@]}" --method sirt --reading-mask other.h5 --iterations 2 --json r.json
# Readings that do not count may be anything: zeros, or no number at all.
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  "$ISO_TEST_PYTHON" - <<'PYTHON' || fail 'h5py'
import shutil, h5py
shutil.copy("p.h5", "zeros.h5"), shutil.copy("p.h5", "wild.h5"), shutil.copy("p.h5", "counts.h5")
for name, value in (("zeros.h5", 0), ("wild.h5", float("nan")), ("counts.h5", 1)):
    with h5py.File(name, "r+") as file:
        stack = file["projections"]
        if value == 1:
            stack[...] = 1
        stack[3, 5:9, :] = 0 if name == "counts.h5" else value
        stack[:, 20, 20] = 0 if name == "counts.h5" else float("inf") if value != 0 else 0
PYTHON
  for method in sirt os-sart cgls lsqr mlem osem 'tv --weight 1'; do
    # shellcheck disable=SC2086
    expect 0 'hash' "${scan[@]/p.h5/zeros.h5}" --method $method --reading-mask counts.h5 --iterations 3 --json r.json
    zeros=$(hash_of)
    # shellcheck disable=SC2086
    expect 0 'hash' "${scan[@]/p.h5/wild.h5}" --method $method --reading-mask counts.h5 --iterations 3 --json r.json
    [ "$(hash_of)" = "$zeros" ] || fail "$method reads what a mask hides: $(hash_of) instead of $zeros"
  done
  # So in a series of images: raw line integrals.
  "$ISO_TEST_PYTHON" - <<'PYTHON' || fail 'h5py'
import json, os, h5py
for name in ("zeros", "wild"):
    os.mkdir(name)
    with h5py.File(name + ".h5") as file:
        for view, image in enumerate(file["projections"][...]):
            image.T[::-1].astype("<f4").tofile(f"{name}/p_{view:03}.raw")
with h5py.File("p.h5") as file:
    text = file["geometry"][()]
open("scan.json", "w").write(text.decode() if isinstance(text, bytes) else text)
PYTHON
  raw=(reconstruct --geometry scan.json --raw-type float32 --line-integrals --extent 16 16 16 --spacing 4)
  for method in sirt cgls 'tv --weight 1'; do
    # shellcheck disable=SC2086
    expect 0 'hash' "${scan[@]/p.h5/wild.h5}" --method $method --reading-mask counts.h5 --iterations 3 --json r.json
    stack=$(hash_of)
    for folder in zeros wild; do
      # shellcheck disable=SC2086
      expect 0 'hash' "${raw[@]}" --projections $folder --method $method --reading-mask counts.h5 --iterations 3 --json r.json
      [ "$(hash_of)" = "$stack" ] || fail "$method by images in $folder: $(hash_of) instead of $stack"
    done
  done
  expect 2 "'wild/p_000.raw': pixel in row 7, column 20 is inf" "${raw[@]}" --projections wild --method sirt --output no.mha
  # Masks that leave nothing are named: the readings are well.
  "$ISO_TEST_PYTHON" - <<'PYTHON' || fail 'h5py'
import shutil, h5py
shutil.copy("p.h5", "none.h5"), shutil.copy("p.h5", "beside.h5"), shutil.copy("p.h5", "half.h5")
with h5py.File("none.h5", "r+") as none, h5py.File("half.h5", "r+") as half, h5py.File("beside.h5", "r+") as beside:
    none["projections"][...] = 0
    half["projections"][:10] = 0
    beside["projections"][:10] = 1
    beside["projections"][10:] = 0
PYTHON
  for method in sirt cgls; do
    expect 2 'reading-mask leaves 0 of 15680 readings' "${scan[@]}" --method $method --reading-mask none.h5 --output no.mha
    expect 2 'reading-mask leaves 7840 of 15680 readings, none of which differs from zero' "${scan[@]/p.h5/half.h5}" --method $method --reading-mask beside.h5 --output no.mha
  done
  expect 2 "'wild.h5': value at view 0, u 20, v 20 of /projections is inf" "${scan[@]/p.h5/wild.h5}" --method sirt --output no.mha
fi
expect 0 '[2-9] iterations' "${scan[@]}" --method cgls --iterations 50 --stop-noise 1e5 --json r.json
expect 0 'of each voxel the largest column sum of all blocks' "${scan[@]}" --method os-sart --column-sums scan --iterations 2 --json r.json
expect 0 'hash' project --phantom shepp-logan --size 16 --width 64 --geometry upright.json --output forty.h5
expect 2 'reading-mask has 40 views of 28 x 28 numbers .the scan has 20 of 28 x 28' "${scan[@]}" --method sirt --reading-mask forty.h5 --output no.mha
expect 2 'mask has 16 x 16 x 15 voxels .the result has 16 x 16 x 16.; give --like' "${scan[@]}" --method sirt --mask lower.mha --output no.mha
expect 2 'start has 16 x 16 x 15 voxels .the result has 16 x 16 x 16.; give --like' "${scan[@]}" --method sirt --start lower.mha --output no.mha
# A volume that is read may be read twice, and not be written over.
expect 0 'hash' reconstruct --projections p.h5 --like lower.mha --method sirt --mask lower.mha --iterations 1 --json r.json
expect 2 "'lower.mha' is named twice" reconstruct --projections p.h5 --like lower.mha --method sirt --mask lower.mha --output lower.mha
# Shapes are compared before a number is read: readings that would be refused are not looked at.
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  for inputs in '--projections wild.h5' '--projections wild --geometry scan.json --raw-type float32 --line-integrals'; do
    # shellcheck disable=SC2206
    wild=(reconstruct $inputs --extent 16 16 16 --spacing 4 --method cgls --output no.mha)
    expect 2 'reading-mask has 40 views of 28 x 28 numbers .the scan has 20 of 28 x 28' "${wild[@]}" --reading-mask forty.h5
    expect 2 'mask has 16 x 16 x 15 voxels .the result has 16 x 16 x 16' "${wild[@]}" --mask lower.mha
    expect 2 ' is inf ' "${wild[@]}"
  done
  expect 2 '20 views of 28 x 28 readings .the geometry has 40 views of 28 x 28 pixels' reconstruct --projections wild.h5 --geometry upright.json --method cgls --output no.mha
fi
expect 2 'block 21 .the scan has 20 views.; ask for 20 or fewer' "${scan[@]}" --method os-sart --block 21 --output no.mha
expect 2 'block: 0 .must be a whole number from 1' "${scan[@]}" --method os-sart --block 0 --output no.mha
expect 2 'damping with' "${scan[@]}" --method lsqr --damping 3 --stop-residual 0.1 --output no.mha
expect 2 "'h.txt': --history does not end in .csv" "${scan[@]}" --method sirt --history h.txt --output no.mha
expect 2 "'-': --checkpoint does not end in .h5" "${scan[@]}" --method sirt --checkpoint - --output no.mha
expect 2 'checkpoint-every requires --checkpoint' "${scan[@]}" --method sirt --checkpoint-every 2 --output no.mha
expect 2 'is zero everywhere' "${scan[@]}" --method sirt --mask nothing.mha --output no.mha
# Voxels that no ray meets: the top slices of a volume that is taller than what the detector sees.
python3 - <<'PYTHON'
import struct
n, deep = 16, 64
header = f"NDims = 3\nDimSize = {n} {n} {deep}\nElementSpacing = 4 4 4\nOffset = -30 -30 -126\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n"
open("above.mha", "wb").write(header.encode() + struct.pack(f"<{n * n * deep}f", *([0.0] * (n * n * (deep - 2)) + [1.0] * (n * n * 2))))
PYTHON
for method in sirt sart os-sart cgls lsqr mlem osem 'tv --weight 1'; do
  # shellcheck disable=SC2086
  expect 2 'no ray meets a voxel' reconstruct --projections p.h5 --extent 16 16 64 --spacing 4 --mask above.mha --method $method --output no.mha
done
expect 2 'start: the volume lies on other voxels than the result .axis x' "${scan[@]}" --method sirt --start moved.mha --output no.mha
expect 2 'column-sums .method cgls has no such option' "${scan[@]}" --method cgls --column-sums scan --output no.mha
expect 2 'window .method sirt has no such option' "${scan[@]}" --method sirt --window hann --output no.mha
expect 2 'iterations .method fdk has no such option' "${scan[@]}" --method fdk --iterations 3 --output no.mha

# Pixels that are described at the axis: rays end there, unless they are extended.
python3 - <<'PYTHON'
import json
json.dump({"type": "circular_cone", "detector": {"pixels": [28, 28], "pitch_mm": [2.5, 2.5]},
           "source_axis_mm": 500, "source_detector_mm": 500,
           "angles_deg": {"first": 0, "range": 360, "count": 40}}, open("virtual.json", "w"))
PYTHON
phantom=(project --phantom shepp-logan --size 16 --width 64 --geometry virtual.json)
expect 0 'detectors of 40 of 40 views stand in the volume.*--extend-rays' "${phantom[@]}" --output half.h5
expect 0 'hash' "${phantom[@]}" --extend-rays --output whole.h5 --json p.json
grep -q '"views_within": 0' p.json || fail 'p.json counts detectors in the volume'
scan_at_axis=(reconstruct --projections whole.h5 --extent 16 16 16 --spacing 4 --method sirt --iterations 10)
expect 0 'detectors of 40 of 40 views stand in the volume' "${scan_at_axis[@]}" --output twice.mha --json twice.json
expect 0 'hash' "${scan_at_axis[@]}" --extend-rays --output once.mha --json once.json
grep -q '"views_within": 0' once.json || fail 'once.json counts detectors in the volume'
expect 0 'hash' reconstruct --projections forty.h5 --extent 16 16 16 --spacing 4 --method sirt --iterations 10 --output real.mha
python3 - <<'PYTHON' || fail 'the value of a scan described at the axis'
import struct
def values(name):
    return struct.unpack("<4096f", open(name, "rb").read()[-4 * 4096:])
twice, once, real = values("twice.mha"), values("once.mha"), values("real.mha")
most = max(real)
assert max(abs(a - b) for a, b in zip(once, real)) < 1e-3 * most, max(abs(a - b) for a, b in zip(once, real)) / most
assert sum(twice) > 1.5 * sum(real), sum(twice) / sum(real)
PYTHON
# A volume that is smaller than what was scanned.
expect 0 '[0-9.]+ % of the rays with readings pass the volume by.*give --extent 14 18 18 or more' \
  reconstruct --projections forty.h5 --extent 8 8 8 --spacing 4 --method os-sart --iterations 2 --json r.json
expect 0 'hash' reconstruct --projections forty.h5 --extent 16 16 16 --spacing 4 --method os-sart --iterations 2 --json r.json
grep -q '"part_outside": 0.0' r.json || fail "r.json: $(grep part_outside r.json)"
# The extent that it advises does.
expect 0 'give --extent' reconstruct --projections forty.h5 --extent 10 10 10 --spacing 4 --method os-sart --iterations 2 --json r.json
read -ra wanted < <(python3 -c 'import json; print(*json.load(open("r.json"))["extent_wanted"])')
expect 0 'hash' reconstruct --projections forty.h5 --extent "${wanted[@]}" --spacing 4 --method os-sart --iterations 2 --json r.json
! grep -q 'warning' <<<"$answer" || fail "with the extent that was advised: $answer"
# Nor is a hollow box whose walls are the volume's outer voxels, which projectors blend beyond it, a body outside.
python3 - <<'PYTHON'
import json, struct
n, ends = 16, (0, 15)
wall = [0.02 if i in ends or j in ends or k in ends else 0.0 for k in range(n) for j in range(n) for i in range(n)]
header = ("ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n"
          "Offset = -30 -30 -30\nElementSpacing = 4 4 4\nDimSize = 16 16 16\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n")
open("walls.mha", "wb").write(header.encode() + struct.pack(f"<{n**3}f", *wall))
json.dump({"type": "circular_cone", "detector": {"pixels": [20, 20], "pitch_mm": [9, 9]},
           "source_axis_mm": 300, "source_detector_mm": 450,
           "angles_deg": {"first": 0, "range": 360, "count": 30}}, open("wide.json", "w"))
PYTHON
expect 0 'hash' project --volume walls.mha --geometry wide.json --output walls.h5
expect 0 'hash' reconstruct --projections walls.h5 --extent 16 16 16 --spacing 4 --method os-sart --iterations 2 --json r.json
! grep -q 'give --extent' <<<"$answer" || fail "of walls at the volume's end: $answer"
# A hollow box whose corners alone the detector cuts: told of where the volume is too small, and not where it holds it.
python3 - <<'PYTHON'
import json, struct
def write(name, n, spacing, value):
    voxels = [value(i, j, k) for k in range(n) for j in range(n) for i in range(n)]
    first = -0.5 * (n - 1) * spacing
    open(name, "wb").write((
        "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nCompressedData = False\n"
        f"Offset = {first} {first} {first}\nElementSpacing = {spacing} {spacing} {spacing}\nDimSize = {n} {n} {n}\n"
        "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n").encode() + struct.pack(f"<{n**3}f", *voxels))
def scan(name, across, along, pitch):
    json.dump({"type": "circular_cone", "detector": {"pixels": [across, along], "pitch_mm": [pitch, pitch]},
               "source_axis_mm": 300, "source_detector_mm": 450,
               "angles_deg": {"first": 0, "range": 360, "count": 36}}, open(name, "w"))
write("hollow.mha", 30, 2, lambda i, j, k: 0.02 if min(i, j, k) == 0 or max(i, j, k) == 29 else 0.0)
scan("corners.json", 54, 72, 2)
PYTHON
expect 0 'hash' project --volume hollow.mha --geometry corners.json --output hollow.h5
expect 0 'give --extent 3[0-9] 3[0-9] 4[0-9] or more' reconstruct --projections hollow.h5 --extent 20 20 20 --spacing 2 --method sirt --iterations 1 --json r.json
expect 0 'hash' reconstruct --projections hollow.h5 --extent 30 30 30 --spacing 2 --method sirt --iterations 1 --json r.json
! grep -q 'give --extent' <<<"$answer" || fail "of a hollow box within the volume: $answer"
# Rows that end within the body: filtered backprojection warns, unless it continues them.
expect 0 'hash' project --phantom shepp-logan --size 32 --width 128 --geometry upright.json --output wide.h5
expect 0 "[0-9.]+ % of the detector's rows end within what was scanned .*give --truncation-correction" reconstruct --projections wide.h5 --extent 16 16 16 --spacing 4 --json r.json
! grep -q '"part_cut": 0.0' r.json || fail "r.json: $(grep part_cut r.json)"
expect 0 'hash' reconstruct --projections wide.h5 --extent 16 16 16 --spacing 4 --truncation-correction 20 --json r.json
! grep -q 'rows end' <<<"$answer" || fail "with a truncation correction: $answer"
expect 0 'hash' reconstruct --projections forty.h5 --extent 16 16 16 --spacing 4 --json r.json
! grep -q 'rows end' <<<"$answer" || fail "of a body that the detector sees whole: $answer"
# Counts so few that some rays are dark.
expect 0 'readings are those of less than one photon' "${scan[@]}" --method cgls --iterations 3 --stop-noise 2 --json r.json

# What is asked for before a run: os-sart holds the residuals of all blocks, and one block, here of 7 of 20 views. Its
# projector sets up the rays of 7 views at a time, 32 bytes each, that of sirt those of 16.
bytes_of() { grep -oE '[0-9]+ bytes do not fit' <<<"$answer" | grep -oE '^[0-9]+'; }
huge=(reconstruct --projections p.h5 --extent 8192 8192 8192 --spacing 0.01 --backend serial --output no.mha)
expect 3 'do not fit' "${huge[@]}" --method sirt
sirt=$(bytes_of)
expect 3 'do not fit' "${huge[@]}" --method os-sart --column-sums scan --block 8
[ $(($(bytes_of) - sirt)) = $((28 * 28 * (7 * 4 - 9 * 32))) ] || fail "os-sart asks for $(bytes_of) bytes, sirt for $sirt"

# A checkpoint's copies on the host count too: of sirt the volume, of tv seven volumes and three sets.
expect 3 'do not fit' "${huge[@]}" --method sirt --checkpoint state.h5
[ $(($(bytes_of) - sirt)) = $((4 * 8192 ** 3)) ] || fail "a checkpoint of sirt asks for $(bytes_of) bytes, none for $sirt"
expect 3 'do not fit' "${huge[@]}" --method tv --weight 1
tv=$(bytes_of)
expect 3 'do not fit' "${huge[@]}" --method tv --weight 1 --checkpoint state.h5
[ $(($(bytes_of) - tv)) = $((4 * (7 * 8192 ** 3 + 3 * 20 * 28 * 28))) ] ||
  fail "a checkpoint of tv asks for $(bytes_of) bytes, none for $tv"

# What is not the adjoint says so.
cone=(reconstruct --phantom shepp-logan --width 64 --geometry upright.json --extent 16 16 16 --spacing 4)
for method in sirt os-sart mlem; do
  expect 0 'not the adjoint' "${cone[@]}" --method $method --backprojector fdk --iterations 6 --json r.json
  python3 -c 'import json; assert json.load(open("r.json"))["relative_residual"] < 0.3' ||
    fail "$method with FDK's backprojection does not fit the readings"
done
for method in cgls lsqr 'tv --weight 1'; do
  # shellcheck disable=SC2086
  expect 2 'the method needs A.T' "${cone[@]}" --method $method --backprojector fdk --output no.mha
done

python3 -c 'import json; scan = json.load(open("upright.json")); scan["helix_pitch_mm"] = 20; json.dump(scan, open("helix.json", "w"))'
expect 2 "FDK's backprojection does not take this scan .*helix.*; choose the adjoint" "${cone[@]/upright/helix}" --method sirt --backprojector fdk --output no.mha
# Texture units are CUDA's, blend floats and have no adjoint.
expect 2 'the backend serial has no texture units' "${cone[@]}" --method sirt --projector joseph-texture --backend serial --output no.mha
expect 2 'they blend floats' "${cone[@]}" --method sirt --projector joseph-texture --precision double --backend serial --output no.mha
expect 2 'the method needs A.T' "${cone[@]}" --method cgls --projector joseph-texture --backend serial --output no.mha
case " $backends " in
  *' cuda '*)
    for method in sirt os-sart mlem; do
      expect 0 'weights to 8 bits' "${cone[@]}" --method $method --projector joseph-texture --backend cuda --iterations 6 --json r.json
      python3 -c 'import json; assert json.load(open("r.json"))["relative_residual"] < 0.3' ||
        fail "$method with a projection by texture units does not fit the readings"
    done
    ;;
esac

# The adjoint alone: <A x, y> = <x, A^T y>.
expect 0 'hash' project --volume v.mha --geometry tilted.json --precision double --output ax.h5
serial=''
for backend in $backends; do
  expect 0 'by back-project .joseph.*in mm; hash' back-project --projections ax.h5 --extent 16 16 16 --spacing 4 --backend "$backend" --output back.mha
  serial=${serial:-$(hash_of)}
  [ "$(hash_of)" = "$serial" ] || fail "back-project on $backend: $(hash_of) instead of $serial"
done
expect 0 'hash' back-project --projections ax.h5 --extent 16 16 16 --spacing 4 --method siddon --json r.json
expect 2 'no projections' back-project --output no.mha

expect 2 'relaxation 2 \(must lie in \(0, 2\)\)' "${scan[@]}" --method sirt --relaxation 2 --output no.mha
expect 2 'relaxation .method cgls has no such option' "${scan[@]}" --method cgls --relaxation 1 --output no.mha
expect 2 'box is empty' "${scan[@]}" --method sirt --lower 1 --upper 1 --output no.mha
expect 2 'no iterate may be' "${scan[@]}" --method sirt --lower 1 --output no.mha
expect 2 'without --weight' "${scan[@]}" --method tv --output no.mha
expect 2 'damping: -1 .must be a number of at least 0' "${scan[@]}" --method lsqr --damping -1 --output no.mha
expect 2 'random is not known .must be one of sequential, golden' "${scan[@]}" --method sart --order random --output no.mha
[ ! -e no.mha ] || fail 'a refused run wrote no.mha'
finish
