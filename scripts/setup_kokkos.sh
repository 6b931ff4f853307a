# SPDX-License-Identifier: BSD-3-Clause
# Sourced by setup.sh: Kokkos at .deps/kokkos/openmp (OpenMP, Serial), .deps/kokkos/cuda (CUDA,
# OpenMP, Serial), .deps/kokkos/cuda-check (CUDA, Serial, not optimised) and .deps/kokkos/threads
# (Threads, Serial), from the first source that works: an installed Kokkos >= 5.0, a local copy of
# the release archive, the pool of the distribution's archive, the upstream release.
# shellcheck shell=bash

KOKKOS_VERSION=5.0.2
KOKKOS_ARCHIVE=kokkos_$KOKKOS_VERSION.orig.tar.gz
KOKKOS_SHA256=188817bb452ca805ee8701f1c5adbbb4fb83dc8d1c50624566a18a719ba0fa5e
KOKKOS_RELEASE=https://github.com/kokkos/kokkos/releases/download/$KOKKOS_VERSION

kokkos_arch_option() {
  case "$1" in
    70 | 72) printf 'VOLTA%s' "$1" ;;
    75) printf 'TURING75' ;;
    80 | 86 | 87) printf 'AMPERE%s' "$1" ;;
    89) printf 'ADA89' ;;
    90) printf 'HOPPER90' ;;
    100 | 120) printf 'BLACKWELL%s' "$1" ;;
    *) fail "GPU architecture $1 is not one that Kokkos $KOKKOS_VERSION names" \
      "Set ISO_CUDA_ARCH to 70, 72, 75, 80, 86, 87, 89, 90, 100 or 120, or ISO_CUDA=off." ;;
  esac
}

# probe_kokkos KIND [ROOT]: writes found.txt in the folder whose name it prints. Without ROOT: what
# the environment leads CMake to.
probe_kokkos() {
  local build=$ISO_DEPS/probe/kokkos-$1
  rm -rf "$build"
  mkdir -p "$build"
  cmake -S "$ISO_TOP/scripts/probe/kokkos" -B "$build" -G Ninja ${2:+"-DKokkos_ROOT=$2"} \
    >"$build/log.txt" 2>&1 || rm -f "$build/found.txt"
  printf '%s' "$build"
}

# backends_of KIND: as Kokkos names them. OpenMP and Threads exclude each other.
backends_of() {
  case "$1" in
    openmp) printf 'SERIAL OPENMP' ;;
    threads) printf 'SERIAL THREADS' ;;
    cuda) printf 'SERIAL OPENMP CUDA' ;;
    cuda-check) printf 'SERIAL CUDA' ;;
  esac
}

# kokkos_fits KIND FOUND: that Kokkos has the backends of KIND, for the GPU at hand. One with a GPU
# backend fits cuda and cuda-check alone: it wants device code of its users, and its programs a driver.
kokkos_fits() {
  [ -s "$2" ] || return 1
  local devices device
  devices=";$(sed -n 3p "$2");"
  if [[ $1 = cuda* ]]; then
    [ "$(sed -n 4p "$2")" = "$(cuda_arch)" ] || return 1
  else
    case "$devices" in *";CUDA;"* | *";HIP;"* | *";SYCL;"*) return 1 ;; esac
  fi
  for device in $(backends_of "$1"); do
    case "$devices" in *";$device;"*) ;; *) return 1 ;; esac
  done
}

# An installed Kokkos is used where it is: .deps/kokkos/KIND becomes a link to it.
use_installed_kokkos() {
  local kind=$1 place=$ISO_DEPS/kokkos/$1 found where
  found=$(probe_kokkos "$kind")/found.txt
  [ -s "$found" ] || return 1
  where=$(sed -n 1p "$found")
  if ! kokkos_fits "$kind" "$found"; then
    say "Kokkos ($kind): $where has $(sed -n 3p "$found") $(sed -n 4p "$found"): does not fit"
    return 1
  fi
  case "$where" in */lib/cmake/Kokkos | */lib64/cmake/Kokkos) where=${where%/*/cmake/Kokkos} ;; esac
  # The user may have named the one that we built.
  if [ -d "$place" ] && [ ! -L "$place" ] && [ "$where" -ef "$place" ]; then return 1; fi
  if [ -d "$place" ] && [ ! -L "$place" ]; then
    rm -rf "$place.own"
    mv "$place" "$place.own"
  fi
  ln -sfn "$where" "$place"
  say "Kokkos ($kind): the installed $(sed -n 2p "$found") at $where"
}

archive_is_good() { [ -f "$1" ] && [ "$(sha256_of "$1")" = "$KOKKOS_SHA256" ]; }

from_local_copy() {
  local copy=${ISO_SOURCE_CACHE:-}/$KOKKOS_ARCHIVE
  [ -n "${ISO_SOURCE_CACHE:-}" ] && [ -f "$copy" ] || return 1
  archive_is_good "$copy" || fail "the SHA-256 of $copy is not $KOKKOS_SHA256" \
    "Delete that file, or unset ISO_SOURCE_CACHE to use another source."
  cp "$copy" "$1"
  say "Kokkos $KOKKOS_VERSION: source from the local copy in ISO_SOURCE_CACHE"
}

# The addresses come from apt, whatever mirror or proxy this machine has; apt checks the hash too.
from_distribution_pool() {
  local helper=/usr/lib/apt/apt-helper address part
  have apt-get && [ -x $helper ] || return 1
  while read -r address; do
    for part in main universe; do
      if $helper download-file "${address%/}/pool/$part/k/kokkos/$KOKKOS_ARCHIVE" "$1" \
        "SHA256:$KOKKOS_SHA256" >>"$ISO_DEPS/kokkos-download.log" 2>&1 && archive_is_good "$1"; then
        say "Kokkos $KOKKOS_VERSION: source from the pool of the distribution's archive"
        return 0
      fi
    done
  done < <(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sort -u)
  rm -f "$1"
  return 1
}

from_upstream_release() {
  local name=kokkos-$KOKKOS_VERSION.tar.gz sums=$1.sums published
  {
    download "$KOKKOS_RELEASE/kokkos-$KOKKOS_VERSION-SHA-256.txt" "$sums" &&
      download "$KOKKOS_RELEASE/$name" "$1"
  } >>"$ISO_DEPS/kokkos-download.log" 2>&1 || return 1
  published=$(grep -F "$name" "$sums" | grep -oE '[0-9a-f]{64}' | head -n 1)
  [ -n "$published" ] && [ "$(sha256_of "$1")" = "$published" ] ||
    fail "the upstream archive does not have its published checksum ($published)" \
      "Try again; if it stays so, put $KOKKOS_ARCHIVE into a folder and name that folder in" \
      "ISO_SOURCE_CACHE."
  say "Kokkos $KOKKOS_VERSION: source from the upstream release, published checksum"
}

# Prints the folder of the unpacked sources.
kokkos_sources() {
  local folder=$ISO_DEPS/kokkos-source archive=$ISO_DEPS/$KOKKOS_ARCHIVE
  if [ ! -f "$folder/.whole" ]; then
    archive_is_good "$archive" && say "Kokkos $KOKKOS_VERSION: source from the earlier download" >&2 ||
      from_local_copy "$archive" >&2 || from_distribution_pool "$archive" >&2 ||
      from_upstream_release "$archive" >&2 || fail "no source of Kokkos $KOKKOS_VERSION works" \
      "One of these helps:" \
      "- install Kokkos >= 5.0 and set Kokkos_ROOT or CMAKE_PREFIX_PATH (modules and Spack do);" \
      "- put $KOKKOS_ARCHIVE into a folder and name that folder in ISO_SOURCE_CACHE;" \
      "- make the network reach the distribution's archive or the upstream release" \
      "  (what was tried: $ISO_DEPS/kokkos-download.log)."
    rm -rf "$folder"
    mkdir -p "$folder"
    tar -xzf "$archive" -C "$folder" --strip-components=1
    touch "$folder/.whole"
  fi
  printf '%s' "$folder"
}

build_kokkos() {
  local kind=$1 place=$ISO_DEPS/kokkos/$1 build=$ISO_DEPS/kokkos-build-$1 source arch options=()
  local backend
  local log=$ISO_DEPS/kokkos-$1.log
  source=$(kokkos_sources)
  rm -rf "$build" "$place"
  mkdir -p "$place/bin"
  for backend in $(backends_of "$kind"); do options+=("-DKokkos_ENABLE_$backend=ON"); done
  if [[ $kind = cuda* ]]; then
    arch=$(kokkos_arch_option "$(cuda_arch)")
    # At its installed place before it is used: Kokkos remembers the path of its compiler.
    cp "$source/bin/nvcc_wrapper" "$place/bin/"
    options+=("-DKokkos_ARCH_$arch=ON" "-DCMAKE_CXX_COMPILER=$place/bin/nvcc_wrapper"
      "-DCMAKE_CXX_COMPILER_LAUNCHER=$ISO_TOP/cmake/nvcc_once.sh")
  fi
  [ "$kind" != cuda-check ] || options+=("-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG")
  # Two dozen small files, each of which would include most of Kokkos: twelve at once.
  [ "$kind" = cuda ] || options+=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12)
  say "Kokkos ($kind): building, a minute or two (log: $log)"
  {
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 \
      -DCMAKE_POSITION_INDEPENDENT_CODE=ON "-DCMAKE_INSTALL_PREFIX=$place" \
      -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_CXX_FLAGS=-ffp-contract=off "${options[@]}" &&
      cmake --build "$build" -j "$(job_count)" --target install
  } >"$log" 2>&1 || fail "Kokkos ($kind) did not build (log: $log)" \
    "Read the end of that file. Without a CUDA build: ISO_CUDA=off."
  rm -rf "$build"
}

setup_kokkos() {
  local kind=$1 place=$ISO_DEPS/kokkos/$1 stamp=$ISO_DEPS/stamp/kokkos-$1 key
  key=$(key_of "$KOKKOS_VERSION" "${Kokkos_ROOT:-}" "${Kokkos_DIR:-}" "${CMAKE_PREFIX_PATH:-}" \
    "$([[ $kind != cuda* ]] || { cuda_arch && command -v nvcc; })" "$(g++ -dumpfullversion)")
  if [ "$(cat "$stamp" 2>/dev/null)" = "$key" ] && [ -e "$place/." ]; then return; fi
  mkdir -p "$ISO_DEPS/kokkos"
  if ! use_installed_kokkos "$kind"; then
    [ ! -L "$place" ] || rm "$place"
    [ -d "$place" ] || [ ! -d "$place.own" ] || mv "$place.own" "$place"
    if [ -d "$place" ] && kokkos_fits "$kind" "$(probe_kokkos "$kind" "$place")/found.txt"; then
      say "Kokkos ($kind): already in .deps"
    else
      # Not what the stamp says any more, should this be killed.
      rm -f "$stamp"
      build_kokkos "$kind"
    fi
  fi
  printf '%s\n' "$key" >"$stamp"
}
