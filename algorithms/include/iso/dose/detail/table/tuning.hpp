// SPDX-License-Identifier: BSD-3-Clause
//! Holds launch parameters of the walk along the lattice with a table.
#pragma once

#include <iso/backend/registry.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// The distribution of a table's tiles over a machine. No bit depends on it.
template <class Exec>
struct table_tuning {
  /// Whether TERMA, density and nearness of a voxel stand together in memory.
  static constexpr bool joined = backend::is_device<Exec>;
  /// The number of planes of a ray that look back together, and of bytes of rays that are under
  /// way. Where the bytes are those of one line, no two groups add to the same voxel.
  static constexpr int planes = backend::is_device<Exec> ? 8 : 2;
  static constexpr std::int64_t bytes = backend::is_device<Exec> ? std::int64_t(1) << 29 : 0;
  /// The blocks of a multiprocessor: small registers for many warps, each of which waits for a
  /// look-up.
  template <class T>
  static constexpr unsigned blocks = backend::is_device<Exec> && sizeof(T) == 4 ? 12 : 0;
};

}  // namespace iso::dose::detail
