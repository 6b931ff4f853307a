#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_reconstruct_command.sh ISO GEOMETRIES
# `iso reconstruct` as a user meets it: stacks and folders of images in, volumes out, refusals.
iso=$1
geometries=$2
tool=("$iso")
source "$(dirname "$0")/expect.sh"
[ -n "${ISO_TEST_PYTHON:-}" ] || not_run 'what h5py reads and writes (.deps/venv is not there); run scripts/setup.sh'

phantom=(--phantom shepp-logan --size 32 --width 64)
cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [48, 40], "pitch_mm": [3, 3]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 40}}
JSON
backends=$(for name in serial openmp threads cuda; do
  "$iso" info --no-ceilings --backend $name >/dev/null 2>&1 && echo $name
done)
hash_of() { grep -oE 'hash [0-9a-f]{16}' <<<"$answer"; }

# From projections to a volume, a picture and JSON; the same bits on every backend and from every
# number of threads.
expect 0 'hash' project "${phantom[@]}" --geometry cone.json --output p.h5
expect 0 'hash' reconstruct --projections p.h5 --backend serial --output v.mha --png v.png --json v.json
serial=$(hash_of)
grep -q "\"hash\": \"${serial#hash }\"" v.json || fail 'v.json has another hash'
for file in v.mha v.png v.json; do
  [ -s $file ] || fail "$file was not written"
done
for backend in $backends; do
  expect 0 'hash' reconstruct --projections p.h5 --backend "$backend" --json w.json
  [ "$(hash_of)" = "$serial" ] || fail "reconstruct on $backend: $(hash_of) instead of $serial"
done
expect 0 'hash' reconstruct --projections p.h5 --threads 3 --json w.json
[ "$(hash_of)" = "$serial" ] || fail "reconstruct with 3 threads: $(hash_of) instead of $serial"
# Other precision, window, grid: other bits; a geometry that is given wins over the stack's own.
expect 0 'hash' reconstruct --projections p.h5 --precision double --json w.json
[ "$(hash_of)" != "$serial" ] || fail 'double gives the bits of float'
expect 0 '20 x 21 x 22 voxels of 2 mm' reconstruct --projections p.h5 --extent 20 21 22 --spacing 2 --json w.json
expect 0 'hash' reconstruct --projections p.h5 --geometry cone.json --json w.json
[ "$(hash_of)" = "$serial" ] || fail 'the same geometry from a file gives other bits'
expect 0 'readings are taken as float' reconstruct --help
# The picture's first slice, across z: x to the right, y downwards.
expect 0 'hash' reconstruct --projections p.h5 --extent 30 20 9 --spacing 3 --output y.nii --png y.png
python3 - <<'PYTHON' || fail 'the picture is not the middle slice across z with y downwards'
import struct, sys
from read_png import rows_of
nx, ny, nz = 30, 20, 9
data = open("y.nii", "rb").read()
start = int(struct.unpack_from("<f", data, 108)[0])
volume = struct.unpack_from(f"<{nx * ny * nz}f", data, start)
width, lines = rows_of("y.png", 2)
height = len(lines)
rows = [struct.unpack(f">{width}H", line) for line in lines]
wanted = [[volume[(nz // 2 * ny + y) * nx + x] for x in range(nx)] for y in range(ny)]
def order(table):
    return sorted(range(nx * ny), key=lambda n: table[n // nx][n % nx])
scale = width // (2 * nx + ny)  # pixels of a voxel
if width < 768 or scale * (2 * nx + ny) != width or scale * ny != height:
    sys.exit(1)
shown = [row[: scale * nx : scale] for row in rows[: scale * ny : scale]]
if any(rows[r][c] != shown[r // scale][c // scale] for r in range(scale * ny) for c in range(scale * nx)):
    sys.exit(1)
kept = order(wanted)
values = [shown[n // nx][n % nx] for n in kept]
sys.exit(0 if values == sorted(values) and values[-1] > values[0] else 1)
PYTHON
# Stacks that h5py writes: the geometry as str, no unit, no geometry.
if [ -n "${ISO_TEST_PYTHON:-}" ]; then
  "$ISO_TEST_PYTHON" - <<'PYTHON' || fail 'h5py'
import h5py
with h5py.File("p.h5") as p:
    values, geometry = p["projections"][...], p["geometry"][()].decode()
for name, text, unit in ("text.h5", geometry, None), ("bare.h5", None, None), ("counts.h5", geometry, "counts"):
    with h5py.File(name, "w") as f:
        f["projections"] = values
        if text:
            f["geometry"] = text
        if unit:
            f["projections"].attrs["unit"] = unit
for name, other in ("list.h5", [1.0, 2.0]), ("group.h5", None), ("empty.h5", ""), ("null.h5", h5py.Empty("f")):
    with h5py.File(name, "w") as f:
        f["projections"] = values
        if other is None:
            f.create_group("geometry")
        else:
            f["geometry"] = other
PYTHON
  expect 0 'hash' reconstruct --projections text.h5 --json w.json
  [ "$(hash_of)" = "$serial" ] || fail "a geometry that h5py wrote as str: $(hash_of) instead of $serial"
  expect 0 'hash' reconstruct --projections bare.h5 --geometry cone.json --json w.json
  [ "$(hash_of)" = "$serial" ] || fail "a stack without unit and geometry: $(hash_of) instead of $serial"
  expect 2 "'bare.h5': has no geometry .* give --geometry" reconstruct --projections bare.h5 --json w.json
  for kind in list group empty null; do
    expect 0 'hash' reconstruct --projections $kind.h5 --geometry cone.json --json w.json
    [ "$(hash_of)" = "$serial" ] || fail "a $kind as /geometry, which is not read: $(hash_of) instead of $serial"
  done
  expect 2 "'list.h5': dataset /geometry has 1 axis" reconstruct --projections list.h5 --json w.json
  expect 2 "'group.h5': dataset /geometry cannot be opened" reconstruct --projections group.h5 --json w.json
  expect 2 "'empty.h5': has no geometry .* give --geometry" reconstruct --projections empty.h5 --json w.json
  expect 2 "'null.h5': dataset /geometry is empty" reconstruct --projections null.h5 --json w.json
  expect 0 "'counts.h5': /projections is in 'counts' .line integrals" reconstruct --projections counts.h5 --json w.json
fi
# Parallel beams.
expect 0 'hash' project "${phantom[@]}" --geometry "$geometries/circular_parallel.json" --output q.h5
expect 0 'by fbp' reconstruct --projections q.h5 --method fbp --output q.nrrd

# Refusals: a sentence, exit code 2, nothing written.
touch -d '2000-01-01' stamp
mkdir refused
refuse() { expect 2 "$@" --output refused/x.mha --png refused/x.png; }
expect 2 'nothing to write' reconstruct --projections p.h5
expect 2 "ending '.jpg'" reconstruct --projections p.h5 --output refused/x.jpg
expect 2 'does not end in .png' reconstruct --projections p.h5 --png refused/x.jpg
expect 2 "folder 'no'" reconstruct --projections p.h5 --output no/x.mha
expect 2 'is named twice' reconstruct --projections p.h5 --output refused/x.mha --json refused/x.mha
refuse "'none.h5'" reconstruct --projections none.h5
refuse '--method fbp \(the geometry has cone rays\)' reconstruct --projections p.h5 --method fbp
refuse '--method fdk \(the geometry has parallel rays\)' reconstruct --projections q.h5
refuse 'name one' reconstruct --projections p.h5 --backend all
refuse 'must be a number from' reconstruct --projections p.h5 --cutoff 0
refuse 'wrong is not known .must be' reconstruct --projections p.h5 --window wrong
head -c 20000 p.h5 >cut.h5
refuse "'cut.h5'" reconstruct --projections cut.h5
sed 's/40\]/41]/' cone.json >other.json
refuse '40 views of 48 x 40 readings .the geometry has 40 views of 48 x 41' reconstruct --projections p.h5 --geometry other.json
# As many readings, of another shape.
sed 's/48, 40/40, 48/' cone.json >turned.json
sed 's/48, 40/96, 20/' cone.json >flat.json
sed 's/48, 40/48, 20/; s/"count": 40/"count": 80/' cone.json >twice.json
refuse '40 views of 48 x 40 readings .the geometry has 40 views of 40 x 48 pixels' reconstruct --projections p.h5 --geometry turned.json
refuse '40 views of 48 x 40 readings .the geometry has 40 views of 96 x 20 pixels' reconstruct --projections p.h5 --geometry flat.json
refuse '40 views of 48 x 40 readings .the geometry has 80 views of 48 x 20 pixels' reconstruct --projections p.h5 --geometry twice.json
refuse 'geometry has 40 views of 40 x 48' reconstruct --projections p.h5 --geometry turned.json --centre-of-rotation 19.5
refuse 'source' reconstruct --projections p.h5 --extent 400 400 8 --spacing 3
refuse 'hold line integrals already|a stack holds line integrals' reconstruct --projections p.h5 --white 1

# Of stacks only HDF5 is read.
expect 0 'hash' project "${phantom[@]}" --geometry cone.json --output p.mha
refuse "'p.mha': projections are not read from .mha .*write them as .h5" reconstruct --projections p.mha --geometry cone.json
refuse "'p.mha': projections are not read from .mha" reconstruct --projections p.mha

# Projections and views that say nothing.
expect 0 'hash' project --phantom shepp-logan --size 4 --width 0.001 --geometry cone.json --output zero.h5
refuse 'all 76800 readings are zero' reconstruct --projections zero.h5
sed 's/"pitch_mm"/"offset_mm": [0, 128], "pitch_mm"/' cone.json >beside.json
refuse 'none of the 40 views sees any voxel' reconstruct --projections p.h5 --extent 20 20 20 --spacing 2 --geometry beside.json
refuse 'none of the 40 views sees any voxel' reconstruct --phantom shepp-logan --width 64 --extent 20 20 20 --spacing 2 --geometry beside.json
# cone.json view by view, the detector of every fourth one far above.
awk 'BEGIN { printf "{\"type\": \"vectors\", \"rays\": \"cone\", \"detector\": {\"pixels\": [48, 40]}, \"views\": ["
  for (i = 0; i < 40; ++i) { a = i * 8 * atan2(1, 1) / 40; c = cos(a); s = sin(a)
    printf "%s{\"source_mm\": [%.15g, %.15g, 0], \"detector_origin_mm\": [%.15g, %.15g, %g], \"u_step_mm\": [%.15g, %.15g, 0], \"v_step_mm\": [0, 0, 3]}",
      i ? ", " : "", 500 * c, 500 * s, -300 * c + 70.5 * s, -300 * s - 70.5 * c, i % 4 ? -58.5 : 500, -3 * s, 3 * c }
  print "]}" }' >some.json
expect 0 'hash' reconstruct --projections p.h5 --geometry some.json --json w.json
says '10 of 40 views see nothing of the volume'
grep -q '"blind_views": 10' w.json || fail 'w.json does not say that ten views see nothing'

# A scan of images: readings of 16 bits with flats and darks come back to what was projected.
expect 0 'hash' project "${phantom[@]}" --geometry cone.json --scan scan --photons 1e6 --gain-spread 0.2 --dead-share 0.005 --seed 7
[ "$(find scan -name 'projection_*.tif' | wc -l)" -eq 40 ] || fail "the scan has $(find scan | wc -l) files"
expect 2 'is not an empty folder' project "${phantom[@]}" --geometry cone.json --scan scan
expect 2 'folder .*no. is not there' project "${phantom[@]}" --geometry cone.json --scan no/scan
images=(reconstruct --projections 'scan/projection_*.tif' --geometry scan/geometry.json)
fields=(--flats 'scan/flat_*.tif' --darks 'scan/dark_*.tif')
expect 0 'hash' "${images[@]}" "${fields[@]}" --output s.mha --json s.json --backend serial
scanned=$(hash_of)
grep -qE '"dead_pixels": [1-9]' s.json || fail 'no dead pixel was found'
for backend in $backends; do
  expect 0 'hash' "${images[@]}" "${fields[@]}" --json w.json --backend "$backend"
  [ "$(hash_of)" = "$scanned" ] || fail "images on $backend: $(hash_of) instead of $scanned"
done
# The same noise on every backend: the same files.
expect 0 'hash' project "${phantom[@]}" --geometry cone.json --scan again --photons 1e6 --gain-spread 0.2 --dead-share 0.005 --seed 7 --backend serial
diff -rq scan again >/dev/null || fail 'the same scan twice gives other files'
expect 0 'hash' project "${phantom[@]}" --geometry cone.json --scan other --photons 1e6 --gain-spread 0.2 --dead-share 0.005 --seed 8
cmp -s scan/projection_0000.tif other/projection_0000.tif && fail 'another seed gives the same noise'
# The axis, found and given.
expect 0 'axis of rotation at u = 23\.[45]' "${images[@]}" "${fields[@]}" --centre-of-rotation estimate --json w.json
grep -q '"centre_of_rotation": 23' w.json || fail 'w.json has no axis'
expect 0 'axis of rotation at u = 23.500' reconstruct --projections p.h5 --centre-of-rotation 23.5 --json w.json
[ "$(hash_of)" = "$serial" ] || fail 'an axis where it was gives other bits'
# Dead pixels from a list; raw files; an open beam by number.
printf '# u v\n3 4\n5, 6\n' >dead.txt
expect 0 'replaced' "${images[@]}" "${fields[@]}" --dead-pixels dead.txt --json w.json
mkdir raw
for file in scan/projection_*.tif; do
  # Images of one strip that ends 8 + 3840 bytes after the start.
  tail -c +9 "$file" | head -c 3840 >"raw/$(basename "$file" .tif).raw"
done
expect 0 'hash' reconstruct --projections raw --geometry scan/geometry.json "${fields[@]}" --json w.json
[ "$(hash_of)" = "$scanned" ] || fail 'raw files of the same numbers give other bits'
expect 0 'hash' "${images[@]}" --white 50000 --json w.json

# Images that are not whole, or do not go with the rest.
refuse 'no flat field .* give --flats or --white' "${images[@]}"
refuse '--white with --flats' "${images[@]}" "${fields[@]}" --white 3
refuse 'without --geometry' reconstruct --projections scan
refuse 'all 76800 readings are too dark' "${images[@]}" --white 1e12
# A shell makes many names of a * without quotes.
refuse "'scan/projection_0001.tif' is not expected .* in quotes" reconstruct --geometry scan/geometry.json --projections scan/projection_*.tif
refuse 'two series' reconstruct --projections scan --geometry scan/geometry.json "${fields[@]}"
refuse "'no': cannot be listed" reconstruct --projections 'no/p_*.tif' --geometry scan/geometry.json "${fields[@]}"
mkdir empty
refuse 'no images lie in this folder' reconstruct --projections empty --geometry scan/geometry.json "${fields[@]}"
refuse "'empty': no images" "${images[@]}" --flats empty
refuse 'flat field: no pixel reads more' "${images[@]}" --flats 'scan/dark_*.tif' --darks 'scan/flat_*.tif'
printf '48 3\n' >dead.txt
refuse 'dead pixel \(48, 3\)' "${images[@]}" "${fields[@]}" --dead-pixels dead.txt
printf '3\n' >dead.txt
refuse "'dead.txt': line 1 is '3'" "${images[@]}" "${fields[@]}" --dead-pixels dead.txt
refuse "'none.txt'" "${images[@]}" "${fields[@]}" --dead-pixels none.txt
refuse '--centre-of-rotation: middle .must be a number from -1000000 to 1000000.; choose another' "${images[@]}" "${fields[@]}" --centre-of-rotation middle
mv scan/projection_0017.tif kept.tif
refuse 'image 17 of the series is missing' "${images[@]}" "${fields[@]}"
head -c 2000 kept.tif >scan/projection_0017.tif
refuse "projection_0017.tif.*(damaged|cut short)" "${images[@]}" "${fields[@]}"
cp again/flat_0000.tif other.tif
mv kept.tif scan/projection_0017.tif
mv scan/projection_0039.tif kept.tif
refuse '39 images .the geometry has 40 views' "${images[@]}" "${fields[@]}"
mv kept.tif scan/projection_0039.tif
refuse 'has 48 x 40 pixels .the geometry.s detector has 48 x 41' reconstruct --projections 'scan/projection_*.tif' --geometry other.json "${fields[@]}"
head -c 3000 raw/projection_0005.raw >short.raw && mv short.raw raw/projection_0005.raw
refuse 'projection_0005.raw.: has 3000 bytes' reconstruct --projections raw --geometry scan/geometry.json "${fields[@]}"
refuse 'not a whole number of raw images' reconstruct --projections raw --geometry scan/geometry.json "${fields[@]}" --raw-type float64

# Nikon's settings instead of a geometry file.
cat >scan.xtekct <<'XTEKCT'
[XTekCT]
SrcToObject=500
SrcToDetector=800
DetectorPixelsX=48
DetectorPixelsY=40
DetectorPixelSizeX=3
DetectorPixelSizeY=3
Projections=40
InitialAngle=0
AngularStep=9
XTEKCT
expect 0 'hash' reconstruct --projections 'scan/projection_*.tif' --geometry scan.xtekct "${fields[@]}" --json w.json
[ "$(hash_of)" = "$scanned" ] || fail '.xtekct gives other bits than the same geometry as JSON'
sed -i 's/SrcToObject=500/SrcToObject=near/' scan.xtekct
refuse "'scan.xtekct': key SrcToObject is 'near'" reconstruct --projections 'scan/projection_*.tif' --geometry scan.xtekct "${fields[@]}"

# An .h5 of readings that are not numbers; a volume that would not fit.
expect 3 'do not fit the memory|bytes' reconstruct --projections p.h5 --extent 60000 60000 60000 --spacing 0.001 --output refused/x.mha
[ -z "$(ls -A refused)" ] || fail "a run that failed wrote $(ls -A refused)"

# A disk that is full after two kilobytes: no image is left.
tool=(bash -c 'ulimit -f 2; exec "$@"' _ "$iso")
expect 2 "'full/projection_0000.tif'.*(cannot be written|was cut short|bytes)" project "${phantom[@]}" --geometry cone.json --scan full
[ -z "$(ls -A full 2>/dev/null)" ] || fail "a full disk kept $(ls -A full)"
tool=("$iso")

# A run that is stopped, and one that is killed, leave the old file whole.
cp v.mha old.mha
sed 's/48, 40/480, 400/; s/\[3, 3\]/[0.3, 0.3]/; s/"count": 40/"count": 360/' cone.json >large.json
"$iso" project --phantom shepp-logan --size 8 --width 64 --geometry large.json --output large.h5 >/dev/null 2>&1 || fail 'large.h5'
"$iso" reconstruct --backend serial --projections large.h5 --precision double --output old.mha --png late.png >late.txt 2>&1 &
interrupt $!
[ $code -eq 130 ] || fail "a run stopped by SIGINT returned $code: $(cat late.txt)"
cmp -s v.mha old.mha || fail 'a run that was stopped changed the old volume'
"$iso" reconstruct --backend serial --projections large.h5 --precision double --output old.mha --png late.png >late.txt 2>&1 &
job=$!
sleep 1
kill -KILL $job
wait $job 2>/dev/null
cmp -s v.mha old.mha || fail 'a run that was killed changed the old volume'
[ ! -e late.png ] || fail 'a run that was killed wrote a picture'

finish
