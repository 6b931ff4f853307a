// SPDX-License-Identifier: BSD-3-Clause
// Compiled for AVX-512 where the compiler has it (backends/CMakeLists.txt).
#include "host_rates_body.hpp"

namespace iso::backend::detail {

host_rates const& host_rates_wide() { return here; }

}  // namespace iso::backend::detail
