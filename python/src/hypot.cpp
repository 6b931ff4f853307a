// SPDX-License-Identifier: BSD-3-Clause
// The library's one function of glibc 2.35: `hypot` has had another version there, which sets no
// errno, and the older version's values. The module has its own, which the library's calls are
// bound to, and which asks for the older version: so it loads with glibc 2.34. (The linker's
// --wrap=hypot does as much with GNU ld alone: with gold the function then calls itself.)
extern "C" {

double hypot_of_2_2_5(double x, double y);
__asm__(".symver hypot_of_2_2_5, hypot@GLIBC_2.2.5");

double hypot(double x, double y);
double hypot(double x, double y) { return hypot_of_2_2_5(x, y); }
}
