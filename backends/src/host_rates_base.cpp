// SPDX-License-Identifier: BSD-3-Clause
#include "host_rates_body.hpp"

namespace iso::backend::detail {

host_rates const& host_rates_base() { return here; }

}  // namespace iso::backend::detail
