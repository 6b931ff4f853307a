// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate_products.hpp"

namespace iso::sparse::detail {
ISO_INSTANTIATE_CSR(float)
ISO_INSTANTIATE_CSR_FLOAT_VECTORS(float)
}  // namespace iso::sparse::detail
