#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_iterative_command.sh ISO
# `iso reconstruct` by iterations as a user meets it: every method on a tilted scan, the same bits on
# every backend, the table of iterations, refusals.
iso=$1
tool=("$iso")
source "$(dirname "$0")/expect.sh"

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
# Rules end it.
expect 0 '[2-7] iterations' "${scan[@]}" --method cgls --iterations 50 --stop-residual 0.2 --json r.json
expect 0 'gap [0-9.e-]+ on \[0, 2\]' "${scan[@]}" --method tv --weight 1 --lower 0 --upper 2 --iterations 400 --stop-gap 0.5 --json r.json
python3 -c 'import json; r = json.load(open("r.json")); assert r["gap"] <= 0.5 and r["iterations"] < 400, r' ||
  fail 'total variation does not stop by its gap'

expect 2 'relaxation 2 \(must lie in \(0, 2\)\)' "${scan[@]}" --method sirt --relaxation 2 --output no.mha
expect 2 'relaxation .method cgls has no such option' "${scan[@]}" --method cgls --relaxation 1 --output no.mha
expect 2 'blocks of 21 views \(must lie in 1 .. 20' "${scan[@]}" --method os-sart --block 21 --output no.mha
expect 2 'box is empty' "${scan[@]}" --method sirt --lower 1 --upper 1 --output no.mha
expect 2 'the box excludes it' "${scan[@]}" --method sirt --lower 1 --output no.mha
expect 2 'without --weight' "${scan[@]}" --method tv --output no.mha
expect 2 'damping -1' "${scan[@]}" --method lsqr --damping -1 --output no.mha
expect 2 "order 'random' is not known" "${scan[@]}" --method sart --order random --output no.mha
[ ! -e no.mha ] || fail 'a refused run wrote no.mha'
finish
