#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_command_line.sh ISO CHECK_REPORT GEOMETRIES DETERMINISM_TABLE
# The built tool as a user meets it: exit codes, messages, files.
iso=$1
check_report=$2
geometries=$3
table=$4
tool=("$iso")
source "$(dirname "$0")/expect.sh"

cone=$geometries/circular_cone.json
phantom=(--phantom shepp-logan --size 16)

# Help and usage.
expect 0 'info.*' --help
expect 0 'Exit codes' --help
for command in info project verify demo; do
  expect 0 '--backend' $command --help
  expect 0 '--json' $command --help
  expect 0 '--threads' $command --help
done
expect 2 'subcommand' ''
expect 2 '--geometry is required' project
# What is not known is named, whatever else is missing.
expect 2 "option '--frob' is not known \\(iso info --help" info --frob 3
expect 2 "option '--frob=3' is not known" info --frob=3
expect 2 "option '--sise' is not known \\(iso project --help" project --phantom shepp-logan --sise 3
expect 2 "option '-z' is not known \\(iso verify" verify -z
expect 2 "option '--out' is not known \\(iso demo" demo --out x
expect 2 "option '--frob' is not known \\(iso --help" --frob
expect 2 "option '--frob' is not known \\(iso matrix info" matrix info --frob x.h5
expect 2 "subcommand 'frob' is not known \\(there are apply, bench, convert, generate, info\\)" matrix frob
expect 2 "'33' is not expected \\(iso info" info 33
expect 2 'wrong not in' project "${phantom[@]}" --geometry "$cone" --method wrong
expect 2 'no volume' project --geometry "$cone" --png x.png
expect 2 'nothing to write' project "${phantom[@]}" --geometry "$cone"
expect 2 'choose one of those' info --backend tpu
expect 2 'Value 0 not in range' verify --threads 3,0
expect 2 "'frob' is not known \\(there are .*demo, info, .*project, verify\\)" frob
expect 2 "'frob' is not known" frob --help
for width in 0 -1 1e-300 1e300 nan inf wide; do
  expect 2 '--width: .* is not a number from 0.001 to 1000000' project "${phantom[@]}" --geometry "$cone" \
    --png x.png --width $width
done
expect 2 'not in range' project "${phantom[@]}" --geometry "$cone" --png x.png --view -1
expect 2 'not in range|[Cc]ould not convert' project "${phantom[@]}" --geometry "$cone" --png x.png --view 1e30

# Bad input: a sentence that names file and field, exit code 2, nothing written.
expect 2 "'none.json' cannot be opened" project "${phantom[@]}" --geometry none.json --png x.png
sed 's/"source_axis_mm": 1000/"source_axis_mm": -1/' "$cone" >bad.json
expect 2 "'bad.json'.*/source_axis_mm is -1.*mm" project "${phantom[@]}" --geometry bad.json --png x.png
sed 's/"pixels"/"pixel"/' "$cone" >bad.json
expect 2 "'bad.json'.*/detector/pixel" project "${phantom[@]}" --geometry bad.json --png x.png
printf 'NDims = 3\nDimSize = 1024 1024 1024\nElementType = MET_FLOAT\nElementDataFile = LOCAL\nxx' >lies.mha
expect 2 "'lies.mha'.*truncated" project --volume lies.mha --geometry "$cone" --png x.png
expect 2 "'none.nrrd'" project --volume none.nrrd --geometry "$cone" --png x.png
expect 2 "ending '.jpg'" project "${phantom[@]}" --geometry "$cone" --output x.jpg
expect 2 "folder 'no'" project "${phantom[@]}" --geometry "$cone" --output no/x.h5
expect 2 'counted from 0' project "${phantom[@]}" --geometry "$cone" --png x.png --view 60
printf '{"type": "vectors", "type": "vectors"}' >bad.json
expect 2 "'bad.json': field /type stands there twice" project "${phantom[@]}" --geometry bad.json --png x.png
printf '{"type" "vectors"}' >bad.json
expect 2 "'bad.json': is not JSON \\(line 1, column" project "${phantom[@]}" --geometry bad.json --png x.png
# A folder that takes no files is noticed before anything is computed: this much would not fit.
for output in /proc/x.h5 /proc/x.mha; do
  expect 2 "'$output' cannot be written" project --phantom shepp-logan --size 8192 --geometry "$cone" --output $output
done
expect 2 "'/proc/x.png' cannot be written" project --phantom shepp-logan --size 8192 --geometry "$cone" --png /proc/x.png
expect 2 "'/proc/x.json' cannot be written" verify --json /proc/x.json
expect 2 "'/proc/x.json' cannot be written" info --json /proc/x.json
expect 2 "'/proc/x.json' cannot be written" demo --output demo --json /proc/x.json
expect 2 "'/proc/demo': this folder cannot be made" demo --output /proc/demo
expect 3 'iso demo: [0-9]+ bytes do not fit the memory' demo --size 1024 --views 10000 --output demo
expect 3 'do not fit the memory' project --phantom shepp-logan --size 8192 --geometry "$cone" --png x.png
[ -e x.png ] && fail 'x.png was written by a run that failed'

# Projections to files, from every example geometry; two formats, a picture, and JSON.
for geometry in "$geometries"/*.json; do
  expect 0 'hash [0-9a-f]{16}' project "${phantom[@]}" --geometry "$geometry" --output p.h5 --png p.png
done
expect 0 'black is 0' project "${phantom[@]}" --geometry "$cone" --output p.mha --png p.png --view 3
expect 0 '"hash"' project "${phantom[@]}" --geometry "$cone" --json - --precision double --method siddon
for file in p.h5 p.mha p.png; do
  [ -s $file ] || fail "$file was not written"
done
# A stack written as an image is a volume again.
expect 0 'hash' project --volume p.mha --centre --geometry "$cone" --output q.nrrd
leftovers=$(find . -name '.iso-*')
[ -z "$leftovers" ] || fail "temporary files stayed: $leftovers"

# Endings in capitals.
expect 0 'hash' project "${phantom[@]}" --geometry "$cone" --output P.MHA --png P.PNG
expect 0 'hash' project "${phantom[@]}" --geometry "$cone" --output P.H5
expect 0 'hash' project --volume P.MHA --centre --geometry "$cone" --output P.NRRD
for file in P.H5 P.MHA P.PNG P.NRRD; do
  [ -s $file ] || fail "$file was not written"
done
[ "$(find . -iname 'p.*' | wc -l)" -eq 7 ] || fail "files nobody asked for: $(ls)"

# Outputs that are no regular files: links are followed, pipes and devices written straight.
mkdir elsewhere
ln -s elsewhere/facts.json facts.json
expect 0 'processor' info --no-ceilings --json facts.json
[ -L facts.json ] || fail 'a link was replaced'
grep -q '"machine"' elsewhere/facts.json || fail 'nothing lies where the link leads'
mkfifo pipe
cat pipe >piped.json &
reader=$!
expect 0 'processor' info --no-ceilings --json pipe
wait $reader
[ -p pipe ] || fail 'a pipe was replaced'
grep -q '"machine"' piped.json || fail 'nothing came through the pipe'
"$iso" info --no-ceilings --json /dev/stdout >both.txt
grep -q 'processor' both.txt && grep -q '"machine"' both.txt || fail '/dev/stdout does not get both'
"$iso" info --no-ceilings --json /dev/stdout | grep -q '"machine"' || fail '/dev/stdout as a pipe gets nothing'
if [ -c /dev/full ]; then
  expect 2 "'/dev/full' cannot be written .No space" info --no-ceilings --json /dev/full
  [ -c /dev/full ] || fail 'a device was replaced'
  for what in '--no-ceilings --json -' '--no-ceilings' '--help'; do
    # shellcheck disable=SC2086
    "$iso" info $what 2>full.txt >/dev/full && fail "iso info $what >/dev/full returned 0"
    grep -qE 'standard output cannot be written \(No space' full.txt || fail "iso info $what >/dev/full: $(cat full.txt)"
  done
fi
[ -z "$(find . -name '.iso-*')" ] || fail "temporary files stayed: $(find . -name '.iso-*')"

# Facts, verification and its alarm, the demo.
expect 0 'processor' info --no-ceilings --json info.json
grep -q '"machine"' info.json || fail 'info.json has no machine'
expect 0 'bits: ' verify --repeats 1 --threads 3 --json verify.json
"$check_report" verify.json any "$table" || fail 'verify.json'
expect 0 'nothing to compare' verify --backend serial --repeats 1 --json one.json
"$check_report" one.json null || fail 'one.json'
expect 1 'DIFFER' verify --backend serial --repeats 2 --flip-a-bit --json flipped.json
"$check_report" flipped.json false || fail 'flipped.json'
grep -q '"ulps": 1' flipped.json || fail 'the flipped bit is not one ulp'
expect 0 'demo.json' demo --size 24 --views 4 --output demo
"$check_report" demo/demo.json any || fail 'demo/demo.json'
for file in phantom projection_joseph difference_joseph dose_matrix; do
  [ -s demo/$file.png ] || fail "demo/$file.png was not written"
done

# SIGINT stops a long run with 130, by its own decision, and nothing is written. The signal is sent
# when the run has said that it takes it; the run would last minutes.
"$iso" project --backend serial --phantom shepp-logan --size 512 --geometry "$cone" --method joseph-spline \
  --precision double --output late.h5 --png late.png --json late.json >late.txt 2>&1 &
job=$!
takes_interrupts() { [ $((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$job/status") & 2)) -ne 0 ]; }
for ((i = 0; i < 300; ++i)); do
  takes_interrupts 2>/dev/null && break
  sleep 0.1
done
sleep 0.3
kill -INT $job
wait $job
code=$?
[ $code -eq 130 ] || fail "a run stopped by SIGINT returned $code"
grep -q 'cancelled' late.txt || fail "a run stopped by SIGINT does not say so: $(cat late.txt)"
late=$(find . -name 'late.*' ! -name late.txt -o -name '.iso-*')
[ -z "$late" ] || fail "a run that was stopped wrote $late"

finish
