// SPDX-License-Identifier: BSD-3-Clause
//! Holds launch parameters of the engines that follow lines back.
#pragma once

#include <iso/backend/registry.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// The distribution of the voxels over a machine. No bit depends on it.
template <class Exec>
struct lines_tuning {
  /// The number of launches: a processor takes minutes for a large region, and says where it
  /// stands.
  static constexpr std::int64_t parts = backend::is_device<Exec> ? 1 : 64;
};

}  // namespace iso::dose::detail
