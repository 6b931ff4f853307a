// SPDX-License-Identifier: BSD-3-Clause
#include "product_launch.hpp"

namespace iso::sparse::detail {
ISO_FOR_EACH_BACKEND(ISO_CSR_PRODUCTS, float)
ISO_FOR_EACH_BACKEND(ISO_PRODUCTS_OF, float, csr_rows<float, std::int32_t>)
ISO_FOR_EACH_BACKEND(ISO_PRODUCTS_OF, float, csr_rows<float, std::uint16_t>)
}  // namespace iso::sparse::detail
