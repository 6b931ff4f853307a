#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_ends.sh ISO MPIEXEC [PROCESSES]
# A process that is killed, or a signal to one of them or to mpirun, ends all of them within ten seconds.
# Nothing is left of the output. ISO_TEST_BACKEND is where they compute (serial).
iso=$1
mpiexec=$2
number=${3:-3}
last=$((number - 1))
backend=${ISO_TEST_BACKEND:-serial}
tool=("$iso")
source "$(dirname "$0")/../app/expect.sh"

cat >cone.json <<'JSON'
{"type": "circular_cone", "detector": {"pixels": [64, 64], "pitch_mm": [3, 3]},
 "source_axis_mm": 500, "source_detector_mm": 800, "angles_deg": {"range": 360, "count": 40}}
JSON
expect 0 hash project --phantom shepp-logan --size 64 --geometry cone.json --output p.h5

# ranks_of PID: the processes below it that run the tool
ranks_of() {
  local child
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    if [ "/proc/$child/exe" -ef "$iso" ]; then echo "$child"; else ranks_of "$child"; fi
  done
}
# ends WHOM SIGNAL CODE PATTERN: with code CODE (an extended regular expression) and what it says
ends() {
  local launched ranks i began took code left
  "$mpiexec" -n "$number" "$iso" reconstruct --backend "$backend" --projections p.h5 --method sirt --iterations 1000000 \
    --checkpoint c.h5 --checkpoint-every 20 --output late.mha >ended.txt 2>&1 &
  launched=$!
  # They compute when there is a checkpoint.
  for ((i = 0; i < 3000; ++i)); do
    [ -e c.h5 ] && break
    sleep 0.02
  done
  mapfile -t ranks < <(ranks_of $launched)
  if [ ${#ranks[@]} -ne "$number" ]; then
    fail "$1 $2: ${#ranks[@]} ranks: $(cat ended.txt)"
    kill $launched 2>/dev/null
    wait $launched
    rm -f c.h5
    return
  fi
  began=$(date +%s%N)
  case $1 in
    launcher) kill "-$2" $launched ;;
    *) kill "-$2" "${ranks[$1]}" ;;
  esac
  wait $launched
  code=$?
  took=$((($(date +%s%N) - began) / 1000000))
  grep -qE "^($3)\$" <<<$code || fail "$1 $2: exit code $code: $(cat ended.txt)"
  grep -qE -- "$4" ended.txt || fail "$1 $2: not '$4': $(cat ended.txt)"
  [ $took -lt 10000 ] || fail "$1 $2: went on for $took ms"
  for i in "${ranks[@]}"; do
    [ ! "/proc/$i/exe" -ef "$iso" ] || fail "$1 $2: process $i goes on"
  done
  left=$(find . -name 'late.*' -o -name '.iso-*')
  [ -z "$left" ] || fail "$1 $2: left $left"
  "$iso" info c.h5 >/dev/null || fail "$1 $2: a checkpoint that cannot be read"
  rm -f c.h5
}
ends 1 KILL '[1-9][0-9]*' 'signal 9|KILL'
ends $last INT 130 "iso: error: rank $last: cancelled"
ends launcher INT '[1-9][0-9]*' 'iso: error: .*cancelled'

# One that is killed while they write a stack, one after the other: it is not there, or whole where they were done before.
sed 's/64, 64/200, 200/; s/"count": 40/"count": 300/' cone.json >long.json
"$mpiexec" -n "$number" "$iso" project --backend "$backend" --phantom shepp-logan --size 8 --geometry long.json --output late.h5 >ended.txt 2>&1 &
launched=$!
for ((i = 0; i < 3000; ++i)); do
  [ -n "$(find . -name '.iso-*' -size +1M)" ] && break
  sleep 0.01
done
mapfile -t ranks < <(ranks_of $launched)
[ ${#ranks[@]} -lt 2 ] || kill -KILL "${ranks[1]}" 2>/dev/null
if wait $launched; then
  expect 0 '300' info late.h5
else
  # MPICH's launcher kills the others outright: a temporary file goes with the next run then.
  left=$(find . -name 'late.*' -o -name '.iso-*')
  if "$mpiexec" --version 2>&1 | grep -q HYDRA; then left=$(find . -name 'late.*'); fi
  [ -z "$left" ] || fail "while they write: left $left"
fi
finish
