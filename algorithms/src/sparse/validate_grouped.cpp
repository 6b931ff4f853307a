// SPDX-License-Identifier: BSD-3-Clause
#include "inspect_slots.hpp"
#include "instantiate.hpp"

namespace iso::sparse::detail {

template <execution_space Exec, class Offset>
void inspect_groups(Exec const& exec, grouped_arrays<Offset> const& a, double const* row_scales,
                    grouped_shape const& shape, std::uint16_t infinite,
                    csr_demands::of_values values, grouped_report& report) {
  if (!inspect_slot_offsets(exec, a.slot_offsets, shape, report)) {
    return;
  }
  report.entries = shape.entries;
  with_rows(shape.rows, [&](auto rows) {
    using slots = grouped_slots<rows, Offset>;
    inspect_places(
        exec,
        slot_places<slots>{shape.num_rows, shape.num_cols,
                           slots{a.slot_offsets, a.bases, a.offsets, a.values}, infinite},
        shape.num_groups(), values, report);
  });
  inspect_scales(exec, row_scales, shape.scales, report);
}

#define ISO_INSTANTIATE_OFFSET(Exec, Offset)                                                     \
  template void inspect_groups<Exec, Offset>(Exec const&, grouped_arrays<Offset> const&,         \
                                             double const*, grouped_shape const&, std::uint16_t, \
                                             csr_demands::of_values, grouped_report&);
#define ISO_INSTANTIATE(Exec) ISO_FOR_EACH_OFFSET(ISO_INSTANTIATE_OFFSET, Exec)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_OFFSET
#undef ISO_INSTANTIATE

}  // namespace iso::sparse::detail
