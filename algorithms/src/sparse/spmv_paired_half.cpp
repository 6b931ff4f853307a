// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate_csr.hpp"

#include <iso/sparse/detail/paired_rows.hpp>

namespace iso::sparse::detail {
using paired = paired_rows<half>;
#define ISO_INSTANTIATE(Exec) ISO_INSTANTIATE_ROWS(Exec, paired)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
}  // namespace iso::sparse::detail
