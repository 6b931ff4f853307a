// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate_grouped.hpp"

namespace iso::sparse::detail {
ISO_INSTANTIATE_GROUPED(half, std::uint16_t)
}  // namespace iso::sparse::detail
