// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dvh/detail/placed_dose.hpp>
#include <iso/dvh/detail/ranked_dose_impl.hpp>

namespace iso::dvh {
namespace detail {

slab planes_read(grid const& dose, std::vector<grid> const& shares, slab const& own) {
  slab all = own;
  for (grid const& of : shares) {
    if (own.count() > 0) {
      all.last = std::max(all.last, planes_needed(dose, of, own).dose.last);
    }
  }
  return all;
}

iso::detail::fingerprint fingerprint_of(grid const& dose, std::vector<slab> const& planes,
                                        std::vector<grid> const& shares,
                                        std::int64_t number_bytes) {
  iso::detail::fingerprint of;
  of.add(dose);
  of.add(planes);
  for (grid const& one : shares) {
    of.add(one);
  }
  of.add(number_bytes);
  return of;
}

iso::detail::fingerprint fingerprint_of(grid const& dose, grid const& fractions,
                                        std::vector<slab> const& planes, std::int64_t points,
                                        std::int64_t number_bytes) {
  auto of = fingerprint_of(dose, planes, std::vector<grid>(1, fractions), number_bytes);
  of.add(points);
  return of;
}

iso::detail::fingerprint fingerprint_of(std::vector<quantity> const& quantities, extremes of) {
  iso::detail::fingerprint all;
  for (quantity const& q : quantities) {
    all.add(std::int64_t(q.what));
    all.add(q.value);
  }
  all.add(std::int64_t(of));
  return all;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DVH_RANKED, )

}  // namespace iso::dvh
