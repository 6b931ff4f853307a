// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/density_impl.hpp>

namespace iso::dose {
namespace detail {

density_fault fault_of(iso::detail::found_numbers const& found, iso::grid const& g) {
  density_fault f;
  f.count = found.count;
  if (found.count > 0) {
    std::int64_t const rest = found.first / g.extent[2];
    f.first = {rest / g.extent[1], rest % g.extent[1], found.first % g.extent[2]};
  }
  return f;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DOSE_DENSITY, )
ISO_FOR_EACH_BACKEND(ISO_DOSE_STAGED_DENSITY_TABLE)

}  // namespace iso::dose
