// SPDX-License-Identifier: BSD-3-Clause
#include "product_launch.hpp"

namespace iso::sparse::detail {
ISO_FOR_EACH_BACKEND(ISO_CSR_PRODUCTS, bfloat16)
}  // namespace iso::sparse::detail
