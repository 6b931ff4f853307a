// SPDX-License-Identifier: BSD-3-Clause
//! What the sources of this folder launch alike.
#pragma once

#include <iso/sparse/detail/csr_rows.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::sparse::detail {

template <class Exec>
using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// offsets[i + 1], counts, become running totals.
struct running_total {
  std::int64_t* offsets;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& total, bool last_pass) const {
    total += offsets[i + 1];
    if (last_pass) {
      offsets[i + 1] = total;
    }
  }
};

/// Values are moved by their size alone.
template <class Value>
using bits_like =
    std::conditional_t<sizeof(Value) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>>;

/// As rows_of, with values as their bits.
template <class Value, class Column, class Space>
auto rows_of_bits(csr_view<Value, Column, Space> const& a) {
  using bits = bits_like<Value>;
  return csr_rows<bits, Column>{a.num_rows, a.row_offsets.data(), a.columns.data(),
                                reinterpret_cast<bits const*>(a.values.data()),
                                data_or_null(a.row_bases)};
}

}  // namespace iso::sparse::detail
