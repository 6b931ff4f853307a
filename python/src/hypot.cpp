// SPDX-License-Identifier: BSD-3-Clause
// The library's one function of glibc 2.35: `hypot` has had another version there, which sets no
// errno, and the older version's values. With the linker's --wrap=hypot the module asks for the
// older version, and loads with glibc 2.34.
extern "C" {

double hypot_of_2_2_5(double x, double y);
__asm__(".symver hypot_of_2_2_5, hypot@GLIBC_2.2.5");

double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return hypot_of_2_2_5(x, y); }
}
