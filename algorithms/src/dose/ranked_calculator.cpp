// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/ranked_calculator_impl.hpp>

#include <cmath>
#include <cstdint>
#include <variant>

namespace iso::dose {
namespace detail {
namespace {

void add(iso::detail::fingerprint& of, spectrum const& s) {
  for (energy_bin const& bin : s.bins) {
    for (double const x : {bin.energy, bin.fluence, bin.attenuation, bin.absorption}) {
      of.add(x);
    }
  }
}

void add(iso::detail::fingerprint& of, exponential_kernel const& k) {
  of.add(std::int64_t(k.num_terms));
  for (kernel_cone const& cone : k.cones) {
    of.add(cone.theta_low);
    of.add(cone.theta_high);
    for (kernel_term const& term : cone.terms) {
      of.add(term.amplitude);
      of.add(term.rate);
    }
  }
}

void add(iso::detail::fingerprint& of, tabulated_kernel const& k) {
  of.add(k.radii);
  for (tabulated_cone const& cone : k.cones) {
    of.add(cone.theta_low);
    of.add(cone.theta_high);
    of.add(cone.fraction);
  }
}

}  // namespace

iso::detail::fingerprint fingerprint_of(iso::grid const& patient,
                                        std::vector<iso::slab> const& planes,
                                        std::vector<energy_component> const& parts,
                                        calculator_options const& options,
                                        std::int64_t number_bytes) {
  iso::detail::fingerprint of;
  of.add(patient);
  of.add(planes);
  of.add(number_bytes);
  describe(of, options);
  for (energy_component const& part : parts) {
    of.add(part.share);
    add(of, part.photons);
    std::visit([&](auto const& kernel) { add(of, kernel); }, part.kernel);
  }
  return of;
}

iso::detail::fingerprint fingerprint_of(beam const& b, iso::grid const& density,
                                        std::uint64_t bits) {
  iso::detail::fingerprint of;
  describe(of, b);
  fluence_map const& f = b.fluence;
  for (double const x : {f.x_low, f.y_low, f.pixel_x, f.pixel_y}) {
    of.add(x);
  }
  of.add(f.columns);
  of.add(f.rows);
  of.add(f.values);
  of.add(density);
  of.add(std::int64_t(bits));
  return of;
}

void validate_parts(std::vector<energy_component> const& parts) {
  ISO_VALIDATE(!parts.empty(),
               "iso::dose::ranked_calculator: no part of a spectrum (there would be no dose); give "
               "one or more, as split_by_energy makes them");
  for (energy_component const& part : parts) {
    ISO_VALIDATE(part.share > 0 && std::isfinite(part.share),
                 "iso::dose::ranked_calculator: a part's share of {} (must be positive); leave out "
                 "parts without photons",
                 part.share);
  }
}

int rank_of_terma(std::vector<iso::slab> const& planes, std::int64_t x) {
  // So many planes lie side by side in memory, and go as one piece.
  constexpr std::int64_t together = 4;
  // Multiples of the golden section, of 2^32, lie evenly between 0 and 1 wherever they end.
  std::uint64_t const part =
      (std::uint64_t(x / together) * 0x9e3779b9U + 0x80000000U) & 0xffffffffU;
  auto const plane = std::int64_t(part * std::uint64_t(planes.back().last) >> 32);
  int rank = 0;
  while (!planes[std::size_t(rank)].holds(plane)) {
    ++rank;
  }
  return rank;
}

array<std::int64_t, 3> first_voxel_of(iso::grid const& region, iso::grid const& whole) {
  array<std::int64_t, 3> first{};
  for (int axis = 0; axis < 3; ++axis) {
    first[std::size_t(axis)] =
        std::llround((region.origin[axis] - whole.origin[axis]) / whole.spacing[axis]);
  }
  return first;
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_DOSE_RANKED, )

}  // namespace iso::dose
