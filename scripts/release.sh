#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Everything that is checked before a release, in stages: hours on two processors.
#
#   scripts/release.sh [--list] [--stage NAME]... [--stages FILE]
#
#   --list         print the stages, and what is known of each at this revision; run none
#   --stage NAME   run this stage alone, also where it has passed; may be given several times
#   --stages FILE  other stages: lines of a name, blanks and a command
#
# Results stand in build/release/REVISION.txt, one stage a line: result, seconds, date. Called again, the
# script runs the stages that have not passed at this revision. With changes that are not committed, all of them.
# What a stage printed stands in build/release/REVISION/STAGE.log. The programs that this machine lacks are named
# first. What no stage ran, for want of a program or a library, and what tests said that they did not run, is named at
# the end. A stage that fails does not stop the others.
# Exit code 1: a stage has not passed, or something was left out that .ci/not_run.txt does not name.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ISO_TOP"

# A name and a command, run by bash at the top of the tree. A stage that lacks what it needs fails.
stages() {
  cat <<'END'
lint          scripts/setup.sh && scripts/lint.sh --headers
documents     scripts/get_example_data.sh && scripts/performance_page.py --check-ages && scripts/test.sh --label quick && scripts/test.sh --label documents
tests         scripts/get_example_data.sh && scripts/test.sh --all -- -LE '^(documents|perf-smoke)$' && scripts/test_costs.py "build/$(. scripts/common.sh && preset_of_machine)" --check
python        ISO_EXAMPLES=10000 scripts/test.sh --label python
mpich         scripts/setup.sh && scripts/ranks_by_mpich.sh
benchmarks    scripts/test.sh --label perf-smoke
cuda          ISO_CUDA=on scripts/setup.sh && scripts/build.sh cuda all benchmarks
clang         scripts/compilers.sh 'clang++ -O3'
gcc           scripts/compilers.sh 'g++ -O1 -fstack-protector-strong'
tidy          scripts/lint.sh --tidy
mutants       scripts/setup.sh && scripts/mutants.py
END
}

# A program that a stage needs or a test asks for, and what brings it.
programs() {
  cat <<'END'
clang++         clang
clang-tidy      clang-tidy
dciodvfy        dicom3tools
groff           groff
mandoc          mandoc
mpicc.mpich     libmpich-dev
mpirun          libopenmpi-dev
nvcc            CUDA's toolkit
qemu-x86_64     qemu-user
reframe         ReFrame (pip install reframe-hpc)
END
}

# say_what_lacks: the hours come after it.
say_what_lacks() {
  local program package lacking=() packages=()
  while read -r program package; do
    if ! have "$program"; then
      lacking+=("$program")
      packages+=("$package")
    fi
  done < <(programs)
  [ ${#lacking[@]} = 0 ] ||
    say "this machine cannot pass all stages (it has no $(join ', ' "${lacking[@]}")); install $(join ', ' "${packages[@]}")"
}
join() {
  local with=$1 first=$2
  shift 2
  printf '%s' "$first" "${@/#/$with}"
}

list="" chosen=() file=""
while [ $# -gt 0 ]; do
  case "$1" in
    --stage | --stages)
      [ -n "${2:-}" ] || misused "$1 needs a name (none follows it); see scripts/release.sh --help"
      if [ "$1" = --stage ]; then chosen+=("$2"); else file=$2; fi
      shift 2
      ;;
    --list) list=1 && shift ;;
    -h | --help) sed -n '3,16s/^# \{0,1\}//p' "$0" && exit 0 ;;
    *) misused "unknown argument: $1 (it is no option); see scripts/release.sh --help" ;;
  esac
done
if [ -n "$file" ]; then
  [ -r "$file" ] || misused "$file cannot be read (it is not there, or not for this user); check its name"
  lines=$(cat "$file")
else
  lines=$(stages)
fi
mapfile -t names < <(awk 'NF { print $1 }' <<<"$lines")
for name in "${chosen[@]}"; do
  printf '%s\n' "${names[@]}" | grep -qxF -e "$name" ||
    misused "there is no stage '$name' (known: ${names[*]}); choose one of these"
done

[ -n "$file" ] || say_what_lacks
revision=$(git rev-parse --short=12 HEAD)
results=$ISO_TOP/build/release/$revision
if [ -n "$(git status --porcelain)" ]; then
  results+=-changed
  [ -n "$list" ] || rm -f "$results.txt"
fi
mkdir -p "$results"
touch "$results.txt"

# line_of STAGE: its name, result, seconds and date
line_of() { awk -v name="$1" '$1 == name' "$results.txt"; }
passed() { [[ $(line_of "$1") == *" passed "* ]]; }
is_chosen() {
  if [ ${#chosen[@]} -gt 0 ]; then
    printf '%s\n' "${chosen[@]}" | grep -qxF -e "$1"
  else
    ! passed "$1"
  fi
}

run_stage() {
  local name=$1 begin=$SECONDS result=passed command
  command=$(awk -v name="$name" '$1 == name { sub(/^[ \t]*[^ \t]+[ \t]+/, ""); print }' <<<"$lines")
  say "stage $name: $command"
  bash -euo pipefail -c "$command" 2>&1 </dev/null | tee "$results/$name.log" || result=failed
  {
    awk -v name="$name" '$1 != name' "$results.txt"
    printf '%-14s %-8s %6d s  %s\n' "$name" $result $((SECONDS - begin)) "$(date -u +%Y-%m-%dT%H:%MZ)"
  } >"$results.part"
  mv "$results.part" "$results.txt"
}

for name in "${names[@]}"; do
  if [ -z "$list" ] && is_chosen "$name"; then run_stage "$name"; fi
done
say "revision $revision ($results.txt):"
failed=0
for name in "${names[@]}"; do
  line=$(line_of "$name")
  echo "${line:-$(printf '%-14s not run' "$name")}"
  passed "$name" || failed=1
done
left_out | sed 's/^/left out: /'
# As scripts/test.sh and others print it.
for name in "${names[@]}"; do
  sed -nE "s/^(\[isocenter\] )?not run: /not run: $name: /p" "$results/$name.log" 2>/dev/null || true
done | sort -u
if [ -z "$list" ]; then
  python3 scripts/check_not_run.py release <(left_out | sed 's/^/left out: /') "$results"/*.log || failed=1
  exit $failed
fi
