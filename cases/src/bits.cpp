// SPDX-License-Identifier: BSD-3-Clause
#include <iso/cases/bits.hpp>

#include <cinttypes>
#include <cstdio>

namespace iso::cases {

std::string hash_text(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

std::string number_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a (%.17g)", value, value);
  return text;
}

}  // namespace iso::cases
