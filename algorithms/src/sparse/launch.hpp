// SPDX-License-Identifier: BSD-3-Clause
//! What the sources of this folder launch alike, and the lists of types that they instantiate for.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/sparse/detail/row_block_rows.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

/// Calls macro(Exec, Value, further arguments...) for every backend and type of values.
#define ISO_FOR_EACH_VALUE(macro, ...) \
  ISO_FOR_EACH_BACKEND(ISO_VALUES_OF_BACKEND, macro __VA_OPT__(, ) __VA_ARGS__)
#define ISO_VALUES_OF_BACKEND(Exec, macro, ...)                                                 \
  macro(Exec, half __VA_OPT__(, ) __VA_ARGS__) macro(Exec, bfloat16 __VA_OPT__(, ) __VA_ARGS__) \
      macro(Exec, float __VA_OPT__(, ) __VA_ARGS__) macro(Exec, double __VA_OPT__(, ) __VA_ARGS__)
/// Calls macro(Exec, Value, Column) for every csr_view, of const values too.
#define ISO_FOR_EACH_CSR(macro) ISO_FOR_EACH_VALUE(ISO_CSRS_OF_VALUE, macro)
#define ISO_CSRS_OF_VALUE(Exec, Value, macro)                             \
  macro(Exec, Value, std::int32_t) macro(Exec, Value const, std::int32_t) \
      macro(Exec, Value, std::uint16_t) macro(Exec, Value const, std::uint16_t)
#define ISO_CSR(Exec, Value, Column) csr_view<Value, Column, Exec::memory_space>

namespace iso::sparse::detail {

template <class Exec>
using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// Throws where `value` is none of its enumeration, whose enumerators go from 0 to `last`.
template <class Enum>
void validate_choice(char const* function, char const* name, Enum value, Enum last,
                     char const* enumeration) {
  ISO_VALIDATE(int(value) >= 0 && value <= last,
               "{}: {} {} (is none of the enumeration); choose one of iso::sparse::{}", function,
               std::string_view(name), int(value), std::string_view(enumeration));
}

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

/// As rows_of, with values as their bits: they are moved by their size alone.
template <class Value, class Column, class Space>
auto rows_of_bits(csr_view<Value, Column, Space> const& a) {
  using bits = decltype(stored_bits(std::remove_const_t<Value>()));
  return csr_rows<bits, Column>{a.num_rows, a.row_offsets.data(), a.columns.data(),
                                reinterpret_cast<bits const*>(a.values.data()),
                                data_or_null(a.row_bases)};
}

}  // namespace iso::sparse::detail
