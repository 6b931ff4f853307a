// SPDX-License-Identifier: BSD-3-Clause
//! Runs a function of numbers that lie in rows.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace iso::detail {

/// Runs rows(i) at every number of a row: a thread each, or one for the whole row, which then
/// divides once a row instead of once a number.
template <class Rows, bool WholeRows>
struct in_rows_kernel {
  Rows rows;
  std::int64_t longest;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    if constexpr (WholeRows) {
      auto const row = rows(index);
      if constexpr (requires { row.all(); }) {
        row.all();
      } else {
        for (std::int64_t n = 0; n < row.count; ++n) {
          row.at(n);
        }
      }
    } else {
      std::int64_t const i = index / longest;
      std::int64_t const n = index - i * longest;
      auto const row = rows(i);
      if (n < row.count) {
        row.at(n);
      }
    }
  }
};

/// A row of numbers that are copied.
template <class Number>
struct copied_row {
  std::int64_t count;
  Number* to;
  Number const* from;

  KOKKOS_FUNCTION void at(std::int64_t n) const { to[n] = from[n]; }
  KOKKOS_FUNCTION void all() const {
    if (count > 0) {
      std::memcpy(to, from, std::size_t(count) * sizeof(Number));
    }
  }
};

/// A row of numbers that are added to others.
template <class Number>
struct added_row {
  std::int64_t count;
  Number* to;
  Number const* from;

  KOKKOS_FUNCTION void at(std::int64_t n) const { to[n] += from[n]; }
};

/// Runs rows(i).at(n) for each i in [0, count) and each n in [0, rows(i).count), which is `longest`
/// at most; in any order. On hosts rows(i).all() does the same for all n, where there is one.
/// Enqueued on `exec`.
template <execution_space Exec, class Rows>
void for_each_in_rows(char const* label, Exec const& exec, std::int64_t count, std::int64_t longest,
                      Rows const& rows) {
  if constexpr (backend::is_device<Exec>) {
    backend::for_each_index(label, exec, count * longest,
                            in_rows_kernel<Rows, false>{rows, longest});
  } else {
    backend::for_each_index(label, exec, count, in_rows_kernel<Rows, true>{rows, longest});
  }
}

}  // namespace iso::detail
