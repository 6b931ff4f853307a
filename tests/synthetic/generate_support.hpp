// SPDX-License-Identifier: BSD-3-Clause
//! Matrices on the host, and their figures counted the slow way.
#pragma once

#include <iso/core/half.hpp>
#include <iso/sparse/csr.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace iso::test {

struct host_csr {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> places;
  std::vector<double> values;

  friend bool operator==(host_csr const&, host_csr const&) = default;

  [[nodiscard]] std::int64_t length(std::int64_t row) const {
    return offsets[std::size_t(row) + 1] - offsets[std::size_t(row)];
  }
  /// The columns of some rows together.
  [[nodiscard]] std::set<std::int32_t> columns_of(std::int64_t first, std::int64_t last) const {
    return {places.begin() + offsets[std::size_t(first)],
            places.begin() + offsets[std::size_t(last)]};
  }
};

template <class View>
auto on_host(View const& view) {
  auto const mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<typename View::non_const_value_type>(mirror.data(),
                                                          mirror.data() + mirror.size());
}

template <class Value, class Space>
host_csr on_host(sparse::csr_view<Value, std::int32_t, Space> const& a) {
  host_csr h{a.num_rows, a.num_cols, on_host(a.row_offsets), on_host(a.columns), {}};
  for (auto const value : on_host(a.values)) {
    h.values.push_back(double(value));
  }
  return h;
}

/// What is wrong with the arrays; empty where they make a matrix with ascending rows.
inline std::string fault(host_csr const& a) {
  if (std::int64_t(a.offsets.size()) != a.rows + 1 || a.offsets.front() != 0 ||
      a.offsets.back() != std::int64_t(a.places.size()) || a.places.size() != a.values.size()) {
    return "lengths";
  }
  for (std::int64_t r = 0; r < a.rows; ++r) {
    if (a.length(r) < 0) {
      return "offsets fall at row " + std::to_string(r);
    }
    for (auto i = a.offsets[std::size_t(r)]; i < a.offsets[std::size_t(r) + 1]; ++i) {
      bool const first = i == a.offsets[std::size_t(r)];
      auto const c = a.places[std::size_t(i)];
      if (c < 0 || c >= a.columns || (!first && c <= a.places[std::size_t(i) - 1])) {
        return "row " + std::to_string(r) + ", column " + std::to_string(c);
      }
    }
  }
  return {};
}

}  // namespace iso::test
