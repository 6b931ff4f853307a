// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/compare.hpp
//! Bits compared, and the sentences of what is refused.
#pragma once

#include <iso/core/error.hpp>

#include <cstddef>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::test {

/// Vectors, or dense views on the host, of one length with the same bits in the same order.
template <class Values>
bool same_bits(Values const& a, Values const& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0);
}

/// Where two results differ in a bit; empty: nowhere.
template <class T>
std::string difference(std::vector<T> const& a, std::vector<T> const& b) {
  std::ostringstream out;
  out << std::hexfloat;
  if (a.size() != b.size()) {
    out << a.size() << " values and " << b.size();
    return out.str();
  }
  for (std::size_t n = 0; n < a.size(); ++n) {
    if (std::memcmp(&a[n], &b[n], sizeof(T)) != 0) {
      out << "value " << n << " of " << a.size();
      if constexpr (std::is_arithmetic_v<T>) {
        out << ": " << a[n] << " and " << b[n];
      }
      return out.str();
    }
  }
  return {};
}

/// The sentence of the iso::invalid_argument that `f` throws; empty: it throws none.
template <class F>
std::string refusal(F const& f) {
  try {
    f();
  } catch (invalid_argument const& e) {
    return e.what();
  }
  return "";
}

}  // namespace iso::test
