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
# A copy that lies in no folder of a CT: its demo is that of the phantom.
alone=$PWD/iso
cp "$iso" "$alone"

# Help and usage.
expect 0 'info.*' --help
expect 0 'Exit codes' --help
for command in info project reconstruct verify demo; do
  expect 0 '--backend' $command --help
  expect 0 '--json' $command --help
  expect 0 '--threads' $command --help
done
expect 2 'subcommand' ''
expect 2 '--geometry is required \(it is not given\); see iso project --help' project
# What the parser refuses has its true reason.
expect 2 "--window: Han is not known \(must be one of ram-lak, .*, hann\); try 'hann'" reconstruct --window Han
expect 2 "--method: srt is not known .*; try 'sirt'" reconstruct --method srt
expect 2 "--phantom: shep-logan is not known .*; try 'shepp-logan'" project --phantom shep-logan
expect 2 '--method: better is not known .*; choose another' reconstruct --method better
expect 2 '--vector-bytes: 16 is not known \(must be one of 0, 32, 64\)' verify --vector-bytes 16
expect 2 '--backend: .* missing \(it takes another number of values\); see iso info --help' info --backend
expect 2 '--size requires --phantom \(it means nothing without\); give both' project --size 8 --geometry "$cone"
expect 2 '--volume excludes --phantom \(.*\); leave one of them out' "project" --phantom shepp-logan --volume x.mha --geometry "$cone"
# The version says what the program was built from and for; no error lacks its first words.
expect 0 '^iso [0-9]+\.[0-9]+\.[0-9]+, revision [^ ]*, backends: serial' --version
for wrong in '' project matrix 'info --json' 'info --threads x' 'verify --threads 3,0' 'verify 33' frob; do
  # shellcheck disable=SC2086
  "$iso" $wrong >said.txt 2>&1
  [ $? = 2 ] || fail "iso $wrong does not return 2"
  grep -q '^iso: error: ' said.txt && [ "$(wc -l <said.txt)" = 1 ] || fail "iso $wrong: $(cat said.txt)"
done
# What is not known is named, whatever else is missing.
expect 2 "option '--frob' is not known \\(iso info --help" info --frob 3
expect 2 "option '--frob=3' is not known" info --frob=3
expect 2 "option '--sise' is not known \\(iso project --help lists them\\).*try --size" project --phantom shepp-logan --sise 3
expect 2 "option '-z' is not known \\(iso verify" verify -z
expect 2 "option '--out' is not known \\(iso demo .*try --output" demo --out x
expect 2 "option '--facter=2' is not known .*try --factor" matrix generate liver-1 --facter=2
expect 2 "subcommand 'prjoect' is not known .*try 'project'" prjoect --size 3
expect 2 "subcommand 'Reconstruct' is not known .*try 'reconstruct'" Reconstruct
expect 2 "subcommand 'applyy' is not known .*try 'apply'" matrix applyy
expect 2 "option '--frob' is not known \\(iso --help" --frob
expect 2 "option '--frob' is not known \\(iso matrix info" matrix info --frob x.h5
expect 2 "subcommand 'frob' is not known \\(there are apply, bench, convert, generate, info\\)" matrix frob
expect 2 "'33' is not expected \\(iso verify" verify 33
expect 2 'wrong is not known .must be' project "${phantom[@]}" --geometry "$cone" --method wrong
# However long an argument, or a name in a file, the sentence about it can be read.
long=$(printf 'Ab%.0s' {1..1000})
parts=$(printf 'Ab cd %.0s' {1..300})
shown() {  # PATTERN ARGUMENT...
  local pattern=$1
  shift
  expect 2 "$pattern" "$@"
  [ ${#answer} -lt 700 ] || fail "${#answer} characters: $answer"
}
for name in "$long" "$parts" "$(printf "it's \e%.0s" {1..300})"; do
  shown "^iso: error: subcommand '.{60,300}\.\.\..*' is not known \(there are .*\); see iso --help" "$name"
  shown "option '--.*\.\.\..*' is not known \(iso project --help" project "--$name"
  shown "^iso: error: --size: .*\.\.\..* \(must be a whole number from .*\); choose another" project --size "$name"
  shown "^iso: error: --size: .*\.\.\..* \(must be a whole number from .*\); choose another" project "--size=$name"
  shown "--method: .*\.\.\..* is not known \(must be one of" project --method "$name"
  shown "backend '.*\.\.\..*' \(this build has" project "${phantom[@]}" --geometry "$cone" --png p.png --backend "serial,$name"
  shown "folder '.*\.\.\..*' is not there \(nothing can be written in it\); make it first" project "${phantom[@]}" --geometry "$cone" --output "$name/p.h5"
  shown "ending '\..*\.\.\..*' is not a format" project "${phantom[@]}" --geometry "$cone" --output "p.$name"
  python3 -c 'import json, sys; json.dump({"type": sys.argv[1]}, open("type.json", "w")); json.dump({"type": "circular_cone", sys.argv[1]: 1}, open("field.json", "w"))
open("text.json", "w").write("{\"" + sys.argv[1])' "$name"
  for file in type field text; do
    shown "'$file.json': (field .*\.\.\.|is not JSON)" project "${phantom[@]}" --geometry $file.json --png p.png
  done
done
# -V; help of a command, as --help gives it; words in any case.
[ "$("$iso" -V)" = "$("$iso" --version)" ] || fail '-V is not --version'
for command in '' project 'matrix apply'; do
  # shellcheck disable=SC2086
  [ "$("$iso" help $command)" = "$("$iso" $command --help)" ] || fail "iso help $command is not iso $command --help"
done
expect 0 'Examples:' help project
expect 2 "subcommand 'prjoect' is not known .*try 'project'" help prjoect
for words in 'Siddon float SERIAL' 'siddon Float serial'; do
  read -r method precision backend <<<"$words"
  expect 0 'hash' project --phantom Shepp-Logan --size 16 --geometry "$cone" --method "$method" --precision "$precision" --backend "$backend" --json case.json
  tr -d ' \n' <case.json | grep -qF '"method":"siddon"' || fail "case.json: $(cat case.json)"
done
expect 2 'no volume' project --geometry "$cone" --png x.png
expect 2 'nothing to write' project "${phantom[@]}" --geometry "$cone"
expect 2 'choose one of those' info --backend tpu
expect 2 '--threads: 0 \(must be a whole number from 1 to 512\); choose another' verify --threads 3,0
# Kokkos would abort beyond 512 threads, and where its environment holds no number.
expect 2 '--threads: 513 \(must be a whole number from 1' verify --threads 3,513
for command in 'info --no-ceilings' "project ${phantom[*]} --geometry $cone --png x.png" 'demo --output demo' \
  'matrix generate pencil-beams --size 16 --output x.h5' 'matrix info x.h5' 'matrix apply x.h5 --output y.h5' 'matrix bench x.h5'; do
  # shellcheck disable=SC2086
  expect 2 '--threads: 513 \(must be a whole number from 0 to 512' $command --threads 513
done
for setting in OMP_NUM_THREADS=1000 OMP_NUM_THREADS=0 OMP_NUM_THREADS=1000,2 KOKKOS_NUM_THREADS=abc KOKKOS_NUM_THREADS= \
  KOKKOS_NUM_THREADS=513 KOKKOS_NUM_THREADS=-1; do
  tool=(env "$setting" "$iso")
  for command in 'info --no-ceilings' "project ${phantom[*]} --geometry $cone --png x.png" 'verify --repeats 1'; do
    # shellcheck disable=SC2086
    expect 2 "environment variable ${setting%%=*} is '${setting#*=}' .a whole number from 1 to 512" $command
  done
done
for setting in KOKKOS_DEVICE_ID=abc KOKKOS_DEVICE_ID=-3 KOKKOS_DEVICE_ID= KOKKOS_DEVICE_ID=4294967296 KOKKOS_DEVICE_ID=1.5 \
  KOKKOS_VISIBLE_DEVICES=0,x KOKKOS_VISIBLE_DEVICES= KOKKOS_MAP_DEVICE_ID_BY=x KOKKOS_PRINT_CONFIGURATION=maybe \
  KOKKOS_TUNE_INTERNALS=2 KOKKOS_DISABLE_WARNINGS=; do
  tool=(env "$setting" "$iso")
  expect 2 "environment variable ${setting%%=*} is '${setting#*=}' \\(.* expected\\); set it so" info --no-ceilings
done
# The GPU of a build for processors alone is nobody's; another build says how many there are.
tool=(env KOKKOS_DEVICE_ID=99 "$iso")
if "$iso" info --no-ceilings --backend cuda >/dev/null 2>&1; then
  expect 2 "KOKKOS_DEVICE_ID is '99' \\(there are [0-9]+ GPUs" info --no-ceilings
else
  expect 0 'processor' info --no-ceilings
fi
tool=(env OMP_NUM_THREADS=2,1 KOKKOS_NUM_THREADS=2 KOKKOS_TUNE_INTERNALS=False "$iso")
expect 0 'processor' info --no-ceilings
# Threads need a stack for their kernels, whoever says how much there is.
for size in 16k 64k 255k; do
  tool=(env OMP_STACKSIZE=$size OMP_NUM_THREADS=2 "$iso")
  expect 2 'a thread has a stack of [0-9]+ bytes \(kernels want 262144, and crash without\); raise OMP_STACKSIZE' \
    verify --repeats 1
done
# Threads that OpenMP does not grant would be waited for. With OMP_DYNAMIC the machine's load says how many it would take by
# itself: where that is two, these are told before the seven that are asked for.
for setting in OMP_THREAD_LIMIT=1 OMP_DYNAMIC=true; do
  tool=(env $setting "$iso")
  expect 2 'OpenMP grants 1 of [27] threads for certain .* unset OMP_THREAD_LIMIT and OMP_DYNAMIC' \
    verify --backend openmp --threads 7 --repeats 1
  expect 2 'OpenMP grants 1 of 2 threads' project "${phantom[@]}" --geometry "$cone" --threads 2 --png x.png
  expect 0 'processor' info --no-ceilings --threads 1
done
tool=(env OMP_STACKSIZE=256k OMP_NUM_THREADS=2 "$iso")
expect 0 'processor' info --no-ceilings
tool=("$iso")
expect 2 "'frob' is not known \\(there are .*demo, dose, dvh, gamma, help, info, .*project, .*verify\\)" frob
grep -q 'or try' <<<"$answer" && fail "nothing is near: $answer"
expect 2 "'frob' is not known" frob --help
for width in 0 -1 1e-300 1e300 nan inf wide; do
  expect 2 '--width: .* \(must be a number from 0.001 to 1000000\); choose another' project "${phantom[@]}" --geometry "$cone" \
    --png x.png --width $width
done
expect 2 '--view: -1 \(must be a whole number from 0' project "${phantom[@]}" --geometry "$cone" --png x.png --view -1
expect 2 '--view: 1e30 \(must be a whole number from 0' project "${phantom[@]}" --geometry "$cone" --png x.png --view 1e30

# --quiet, before or after the subcommand: the result alone, on a terminal without progress; errors stay.
lines_of() { # COUNT PATTERN ARGUMENT...: so many lines of output, of which one matches
  local count=$1
  shift
  expect 0 "$@"
  # Notes say what was left out, such as the chest CT where it has not been fetched.
  [ "$(grep -vc '^note: ' <<<"$answer")" = "$count" ] || fail "iso ${*:2}: not $count lines: $answer"
}
lines_of 1 'hash [0-9a-f]{16}' project "${phantom[@]}" --geometry "$cone" --png quiet.png --quiet
lines_of 1 'hash [0-9a-f]{16}' --quiet project "${phantom[@]}" --geometry "$cone" --png quiet.png
# A few operations: of a rounded result, of an order and of a report.
few=(--operations 'lane_group_row_sum,sort_rays_entry_and_exit,matrix_plan')
lines_of 1 '^bits: ' verify "${few[@]}" --no-ceilings --backend serial --repeats 1 --quiet
tool=("$alone")
lines_of 2 '^bits: ' demo --size 8 --views 1 --backend serial --output quiet --quiet
tool=("$iso")
lines_of 1 'hash [0-9a-f]{16}' matrix generate pencil-beams --size 16 --output quiet.h5 --quiet
lines_of 1 '^bits: ' matrix bench quiet.h5 --seconds 0 --backend serial --quiet
expect 2 '^iso: error: ' info --backend tpu --quiet
expect 0 '^ *"hash"' project "${phantom[@]}" --geometry "$cone" --json - --quiet
# On a terminal: colours unless NO_COLOR is set, and progress unless --quiet is given.
on_terminal() { script -qec "$*" /dev/null </dev/null; }
if script -qec true /dev/null >/dev/null 2>&1; then
  on_terminal env -u NO_COLOR TERM=xterm "$iso" frob | grep -q $'iso: \e' || fail 'no colours on a terminal'
  on_terminal env NO_COLOR= TERM=xterm "$iso" frob | grep -q $'iso: \e' || fail 'no colours where NO_COLOR is empty'
  on_terminal env NO_COLOR=1 TERM=xterm "$iso" frob | grep -q '^iso: error: ' || fail 'NO_COLOR does not count'
  verify=(verify "${few[@]}" --no-ceilings --backend serial --repeats 1)
  on_terminal "$iso" "${verify[@]}" | grep -q '#' || fail 'no progress on a terminal'
  on_terminal "$iso" "${verify[@]}" --quiet | grep -q '#' && fail 'progress in spite of --quiet'
fi

# Bad input: a sentence that names file and field, exit code 2, nothing written.
expect 2 "'none.json' cannot be opened" project "${phantom[@]}" --geometry none.json --png x.png
sed 's/"source_axis_mm": 1000/"source_axis_mm": -1/' "$cone" >bad.json
expect 2 "'bad.json'.*/source_axis_mm is -1.*mm" project "${phantom[@]}" --geometry bad.json --png x.png
sed 's/"pixels"/"pixel"/' "$cone" >bad.json
expect 2 "'bad.json'.*/detector/pixel" project "${phantom[@]}" --geometry bad.json --png x.png
printf 'NDims = 3\nDimSize = 1024 1024 1024\nElementSpacing = 1 1 1\nElementType = MET_FLOAT\nElementDataFile = LOCAL\nxx' >lies.mha
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

# A limit of the process is what leaves no more, and is named; nothing but sentences comes. Below
# 135000 the system does not load the libraries of DCMTK.
mkdir limited
for limit in 150000 200000 400000 600000; do
  tool=(bash -c 'ulimit -v "$0"; exec "$@"' $limit env OMP_NUM_THREADS=2 "$iso")
  expect 3 'bytes are free under ulimit -v' project --phantom shepp-logan --size 512 --geometry "$cone" --png limited/x.png
  free=$(grep -oE '[0-9]+ bytes are free' <<<"$answer" | grep -oE '^[0-9]+')
  [ "${free:-0}" -gt 0 ] && [ "$free" -lt $((limit * 1024)) ] || fail "ulimit -v $limit: $answer"
done
# The stacks of threads are a part of it: OpenMP would end the program.
tool=(bash -c 'ulimit -v 300000; exec "$@"' _ env OMP_NUM_THREADS=64 "$iso")
expect 3 '64 threads with stacks of [0-9]+ bytes do not fit the memory .[0-9]+ bytes are free under ulimit -v.; set OMP_NUM_THREADS' \
  info --no-ceilings
expect 3 '99 threads with stacks' info --no-ceilings --threads 99
tool=(bash -c 'ulimit -v 300000; exec "$@"' _ env OMP_NUM_THREADS=2 "$iso")
expect 0 'processor' info --no-ceilings
tool=(bash -c 'ulimit -v 300000; exec "$@"' _ env OMP_NUM_THREADS=64 OMP_STACKSIZE=256k "$iso")
expect 0 'processor' info --no-ceilings
# What a library takes to read a file is not known beforehand.
printf 'NDims = 3\nDimSize = 256 256 256\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n' >wide.mha
head -c 67108864 /dev/zero >>wide.mha
for limit in 150000 180000; do
  tool=(bash -c 'ulimit -v "$0"; exec "$@"' $limit env OMP_NUM_THREADS=2 "$iso")
  expect 3 "'wide.mha': 100663296 bytes (and what its library takes besides )?are needed for its 256 x 256 x 256 voxels .[0-9]+ bytes are free under ulimit -v" \
    project --volume wide.mha --geometry "$cone" --png limited/x.png
done
tool=("$iso")
rm wide.mha
[ -z "$(ls -A limited)" ] || fail "runs without memory wrote $(ls -A limited)"

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
said=$(TMPDIR=/nonexistent "$iso" info --no-ceilings --json /dev/stdout 2>&1)
[ $? -eq 2 ] && [[ $said == *"'/dev/stdout' cannot be written (the folder for temporary files"*TMPDIR* ]] ||
  fail "no folder for temporary files: $said"
mkfifo pipe.mha
said=$(timeout 600 "$iso" project --volume pipe.mha --geometry "$cone" --json - 2>&1)
[ $? -eq 2 ] && [[ $said == *"'pipe.mha': cannot be opened (not a regular file)"* ]] || fail "pipe.mha: $said"
rm pipe.mha
# Every subcommand into a pipe, by each of its names; one file named twice is seen all the same.
for command in 'info --no-ceilings' "project ${phantom[*]} --geometry $cone --png pipe.png" \
  'demo --size 8 --views 1 --backend serial --output demo' 'matrix generate prostate-1 --factor 0.01 --output generated.h5' 'matrix info quiet.h5' \
  'matrix convert quiet.h5 converted.h5' 'matrix apply quiet.h5 --output y.h5'; do
  # shellcheck disable=SC2086
  "$alone" $command --json /dev/stdout 2>pipe.err | grep -q '"isocenter"' ||
    fail "iso $command --json /dev/stdout | grep: $(cat pipe.err)"
  # A demo takes seconds, and writes by the same function.
  [[ $command != demo* ]] || continue
  # shellcheck disable=SC2086
  "$alone" $command --json >(cat >process.txt) >process.out 2>&1 || fail "iso $command --json >(cat): $(cat process.out)"
  for ((i = 0; i < 6000; ++i)); do
    grep -q '"isocenter"' process.txt 2>/dev/null && break
    sleep 0.1
  done
  grep -q '"isocenter"' process.txt || fail "iso $command --json >(cat): nothing came"
  rm -f process.txt
done
expect 2 'is named twice' project "${phantom[@]}" --geometry "$cone" --png t.png --json ./t.png
# Sums beyond the largest float: said and counted.
{
  printf 'NDims = 3\nDimSize = 2 2 2\nElementSpacing = 9 9 9\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n'
  printf '\xe6\xb1\x61\x7f%.0s' 1 2 3 4 5 6 7 8
} >large.mha
expect 0 '[1-9][0-9]* of [0-9]+ pixels are not finite' project --volume large.mha --centre --geometry "$cone" \
  --png large.png --json large.json
grep -qE '"not_finite": [1-9]' large.json || fail 'large.json does not count what is not finite'

# A name that is too long; the mode of a file that is replaced.
printf -v long '%0300d' 0
expect 2 "cannot be written \\(File name too long" info --no-ceilings --json "$long.json"
expect 2 "is not there|File name too long" info --no-ceilings --json "$long/x.json"
touch closed.json
chmod 640 closed.json
expect 0 'processor' info --no-ceilings --json closed.json
[ "$(stat -c %a closed.json)" = 640 ] || fail "a file of mode 640 became $(stat -c %a closed.json)"

# A disk that is full after a kilobyte, and one that is: nothing is left half-written.
mkdir full
cp closed.json full/old.json
tool=(bash -c 'ulimit -f 1; exec "$@"' _ "$iso")
for output in '--output full/p.h5' '--output full/p.mha' '--png full/p.png' '--output full/p.nrrd --json full/old.json'; do
  # shellcheck disable=SC2086
  expect 2 "'full/[a-z.0-9]+'.* (cannot be written|was cut short)" project "${phantom[@]}" --geometry "$cone" $output
done
expect 2 "'full/demo.json' cannot be written|'full/[a-z_]+.png': cannot be written" demo --size 24 --views 4 --backend serial --output full
tool=("$iso")
cmp -s closed.json full/old.json || fail 'a full disk spoilt an old file'
[ "$(ls -A full)" = old.json ] || fail "a full disk kept $(ls -A full)"
if unshare -rm mount -t tmpfs none full 2>/dev/null; then
  # shellcheck disable=SC2016
  said=$(unshare -rm bash -c 'mount -t tmpfs -o size=64k none full && echo old >full/old.json &&
    head -c 60K /dev/zero >full/rest; "$0" info --no-ceilings --json full/old.json >/dev/null; echo "code $?";
    cat full/old.json; ls -A full' "$iso" 2>&1)
  [[ $said == *"'full/old.json' cannot be written (its disk may be full)"*'code 2'*old*old.json*rest ]] || fail "a full tmpfs: $said"
fi

# A reader that goes away: a sentence, the code for it, and no file.
{
  until [ -e gone ]; do sleep 0.05; done
  "$iso" project "${phantom[@]}" --geometry "$cone" --output left.h5 --png left.png --json - 2>gone.txt
  echo $? >gone.code
} | {
  exec 0<&-
  touch gone
  until [ -e gone.code ]; do sleep 0.05; done
}
[ "$(cat gone.code)" = 4 ] || fail "a closed pipe gives exit code $(cat gone.code)"
grep -q 'standard output cannot be written (Broken pipe)' gone.txt || fail "a closed pipe: $(cat gone.txt)"
[ "$(grep -c 'standard output' gone.txt)" = 1 ] || fail "a closed pipe is said more than once: $(cat gone.txt)"

if [ -c /dev/full ]; then
  for json in '' '--json -' '--json left.json'; do
    # shellcheck disable=SC2086
    "$iso" project "${phantom[@]}" --geometry "$cone" --output left.h5 --png left.png $json 2>full.txt >/dev/full
    code=$?
    [ $code = 4 ] || fail "project $json >/dev/full returned $code"
    [ "$(grep -c 'standard output cannot be written (No space' full.txt)" = 1 ] || fail "project $json >/dev/full: $(cat full.txt)"
  done
  expect 2 "'/dev/full' cannot be written" project "${phantom[@]}" --geometry "$cone" --output left.h5 --png left.png --json /dev/full
  # Longer than what waits to be written.
  "$alone" demo --size 8 --views 1 --backend serial --output left --json - 2>full.txt >/dev/full
  code=$?
  [ $code = 4 ] || fail "demo --json - >/dev/full returned $code"
  [ "$(grep -c 'standard output cannot be written (No space' full.txt)" = 1 ] || fail "demo >/dev/full: $(cat full.txt)"
  [ ! -e left ] || rmdir left || fail "demo >/dev/full left $(ls -A left)"
fi
[ -z "$(find . -name 'left*')" ] || fail "a run whose output could not be written left $(find . -name 'left*')"
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
# Every operation once, for its error; iso_parity compares the bits of all on every backend.
expect 0 'bits: ' verify "${few[@]}" --no-ceilings --repeats 1 --threads 3
expect 0 'bits: ' verify --backend serial --repeats 1 --json verify.json
"$check_report" verify.json any "$table" || fail 'verify.json'
# Operations by name, in the order of the table; which there are.
expect 0 '^math_exp +iso::math::exp$' verify --list
says '^vectors +iso::dot, iso::norm, '
names=$(sed -n '2,$s/ .*//p' <<<"$answer")
[ "$names" = "$(grep -oE '"operation": "[^"]+' verify.json | sed 's/.*"//' | uniq)" ] ||
  fail "verify --list names other operations than verify runs"
expect 0 "^note: 2 of $(wc -l <<<"$names") operations ran" verify --operations matrix_plan,math_exp math_exp --backend serial --no-ceilings --repeats 1 \
  --threads 1 --json some.json
[ "$(grep -oE '"operation": "[^"]+' some.json | sed 's/.*"//' | uniq | xargs)" = 'math_exp matrix_plan' ] ||
  fail "verify --operations ran $(grep '"operation"' some.json)"
grep -q '"2 of [0-9]* operations ran"' some.json || fail 'some.json does not say what was left out'
grep -q '"share_of_ceiling": [0-9]' some.json && fail 'verify --no-ceilings has shares of ceilings'
expect 2 "^iso: error: verify: operation 'frob' is not known .there are [0-9]+.; ask iso verify --list" verify \
  --operations math_exp,frob --json refused.json
[ ! -e refused.json ] || fail 'verify with an unknown operation wrote a report'
# The same bits by every form of vectors that this processor and this build have, one or two; no
# other is taken, and what there is is named.
widest=$(grep -oE '"vector_bytes": [0-9]+' verify.json | tail -1 | grep -oE '[0-9]+')
hashes_of() { grep -E '"(operation|precision|hash)"' "$1"; }
forms=0
for bytes in 0 32 64; do
  if "$iso" verify --operations spmv_half_vectors_reproducible,lane_group_row_sum --backend serial --no-ceilings --repeats 1 \
    --vector-bytes $bytes --json vectors.json >vectors.txt 2>&1; then
    grep -q "vectors on processors: $bytes " vectors.txt || fail "verify --vector-bytes $bytes: $(cat vectors.txt)"
    grep -q "^  \"vector_bytes\": $bytes" vectors.json || fail "vectors.json does not have $bytes"
    [ ! -e narrow.json ] || diff <(hashes_of narrow.json) <(hashes_of vectors.json) >/dev/null || fail "vectors of $bytes bytes give other bits"
    mv vectors.json narrow.json
    forms=$((forms + 1)) taken=$bytes
  else
    expect 2 "vectors of $bytes bytes .this processor has $widest at most" verify --vector-bytes $bytes
  fi
done
case "$widest" in 64) wanted=3 ;; 32) wanted=2 ;; *) wanted=1 ;; esac
if [ $forms != $wanted ] || [ "$taken" != "$widest" ]; then
  fail "verify takes $forms forms of vectors, the widest of $taken bytes (the default is $widest)"
fi
expect 2 '--vector-bytes: 16 is not known .must be one of 0, 32, 64' verify --vector-bytes 16
# The checker notices an error that is too large, and one that is no number.
for error in 0.01 '"nan"' null; do
  sed -E "0,/\"error\": [0-9]/s/\"error\": [0-9.e+-]+/\"error\": $error/" verify.json >wrong.json
  cmp -s verify.json wrong.json && fail 'verify.json has no error to change'
  "$check_report" wrong.json any 2>wrong.txt && fail "an error of $error passes"
done
"$iso" verify "${few[@]}" --backend serial --repeats 1 --json >(cat >one.json) >one.txt 2>&1 || fail "verify into a pipe: $(cat one.txt)"
grep -q 'nothing to compare' one.txt || fail "verify: $(cat one.txt)"
for ((i = 0; i < 6000; ++i)); do
  grep -q '"bits_agree"' one.json && break
  sleep 0.1
done
"$check_report" one.json null || fail 'one.json'
expect 1 'DIFFER' verify "${few[@]}" --backend serial --repeats 2 --flip-a-bit --json flipped.json
"$check_report" flipped.json false || fail 'flipped.json'
grep -q '"ulps": 1' flipped.json || fail 'the flipped bit is not one ulp'
expect 2 'flip-a-bit with --repeats 1' verify --repeats 1 --flip-a-bit
expect 2 'nope.nii' demo --ct nope.nii --output refused
expect 2 "folder 'nope' is not there" demo --json nope/a.json --output refused/in
[ ! -e refused ] || fail 'a demo that was refused left its folder'
expect 2 'demo/phantom.png. is named twice' demo --size 8 --views 1 --output demo --json demo/phantom.png
expect 2 'demo.json. is named twice' demo --size 8 --views 1 --output demo --json ./demo/demo.json
# A CT of few voxels, water in air: the demo's own one takes longer, and `iso demo` of README.md has it.
python3 -c '
import struct, sys
n = range(12)
hu = [0 if (x - 5.5) ** 2 + (y - 5.5) ** 2 < 20 else -1000 for z in n for y in n for x in n]
sys.stdout.buffer.write(b"NDims = 3\nDimSize = 12 12 12\nElementSpacing = 20 20 20\nElementType = MET_SHORT\nElementDataFile = LOCAL\n"
                        + struct.pack("<1728h", *hu))' >ct.mha
expect 0 'demo.json' demo --size 24 --views 4 --ct ct.mha --output demo
"$check_report" demo/demo.json any || fail 'demo/demo.json'
# Of 24 voxels or pixels of 22 x 22, drawn so many times as large: with a line of title, axes, a bar and its unit.
sizes='chest_ct_fdk 738 634
chest_ct_projection 862 630
difference_joseph 750 646
dose_matrix 738 646
dose_slab 954 1065
dvh_slab 724 554
few_views_fdk 738 646
few_views_total_variation 738 646
phantom 738 646
projection_joseph 750 646
reconstruction_fdk 738 646'
found=$(python3 -c '
import pathlib, struct
for path in sorted(pathlib.Path("demo").glob("*.png")):
    print(path.stem, *struct.unpack(">II", path.read_bytes()[16:24]))')
[ "$found" = "$sizes" ] || fail "the pictures of the demo have other sizes than their parts: $found"

# SIGINT stops a long run with 130, by its own decision, and nothing is written. The signal is sent
# when the run has said that it takes it; the run would last minutes.
"$iso" project --backend serial --phantom shepp-logan --size 512 --geometry "$cone" --method joseph-spline \
  --precision double --output late.h5 --png late.png --json late.json >late.txt 2>&1 &
interrupt $!
[ $code -eq 130 ] || fail "a run stopped by SIGINT returned $code"
grep -q 'cancelled' late.txt || fail "a run stopped by SIGINT does not say so: $(cat late.txt)"
late=$(find . -name 'late.*' ! -name late.txt -o -name '.iso-*')
[ -z "$late" ] || fail "a run that was stopped wrote $late"

finish
