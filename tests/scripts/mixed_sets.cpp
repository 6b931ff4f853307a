// SPDX-License-Identifier: BSD-3-Clause
// Three faults that instruction_sets.py must find.
namespace iso::backend::avx512 {

[[gnu::noinline]] int add(int a, int b) {
  asm volatile("");
  return a + b;
}

}  // namespace iso::backend::avx512

// A call into a set from outside.
int twice(int a) { return iso::backend::avx512::add(a, a) + 1; }

// A register of AVX-512 outside of its set.
void clear() {
  asm volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xef, 0xc0");
}  // vpxord zmm0, zmm0, zmm0

// An instruction of AVX-512 outside of its set that names no register of it.
void combine() {
  asm volatile(".byte 0x62, 0xf3, 0x75, 0x28, 0x25, 0xc2, 0x96");
}  // vpternlogd ymm0, ymm1, ymm2, 0x96
