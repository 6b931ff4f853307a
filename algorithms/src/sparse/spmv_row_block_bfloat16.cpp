// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate_products.hpp"

namespace iso::sparse::detail {
ISO_INSTANTIATE_ROW_BLOCKS(bfloat16)
}  // namespace iso::sparse::detail
