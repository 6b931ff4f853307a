// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/density_impl.hpp>

namespace iso::dose {
namespace detail {

density_report report_of(density_counts const& counts, iso::grid const& g) {
  auto const fault = [&](int kind) {
    density_fault f;
    f.count = counts.count[kind];
    if (f.count > 0) {
      std::int64_t const rest = counts.first[kind] / g.extent[2];
      f.first = {rest / g.extent[1], rest % g.extent[1], counts.first[kind] % g.extent[2]};
    }
    return f;
  };
  return {g.size(), fault(0), fault(1), fault(2)};
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DOSE_DENSITY, )
ISO_FOR_EACH_BACKEND(ISO_DOSE_STAGED_DENSITY_TABLE)

}  // namespace iso::dose
