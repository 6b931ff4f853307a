// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/dose/ranked_calculator.hpp declares.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/carrier.hpp>
#include <iso/backend/event.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/wrap.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/for_each_in_rows.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/detail/plane_exchange.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/detail/convolution_words.hpp>
#include <iso/dose/detail/copy_kernels.hpp>
#include <iso/dose/detail/terma_share.hpp>
#include <iso/dose/ranked_calculator.hpp>
#include <iso/dose/terma.hpp>

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace iso::dose {
namespace detail {

/// Adds up what is told of numbers and their places: where two arrays differ, the sums do as a
/// rule. Integers, in any order.
template <class T>
struct bits_sum_kernel {
  T const* x;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const {
    std::uint64_t const bits = Kokkos::bit_cast<bits_of<T>>(x[i]);
    sum += (bits + 1) * (2 * std::uint64_t(i) + 0x9e3779b97f4a7c15);
  }
};

/// Returns a hash of what all ranks must have alike to make a calculator.
/// \param number_bytes  of a voxel
iso::detail::fingerprint fingerprint_of(iso::grid const& patient,
                                        std::vector<iso::slab> const& planes,
                                        std::vector<energy_component> const& parts,
                                        calculator_options const& options,
                                        std::int64_t number_bytes);
/// Returns a hash of a beam, and of a density's grid and numbers.
iso::detail::fingerprint fingerprint_of(beam const& b, iso::grid const& density,
                                        std::uint64_t bits);
/// Throws unless a calculator can be made.
void validate_parts(std::vector<energy_component> const& parts);
/// Returns the rank that computes the TERMA of a plane across x of a region, its share of all being
/// that of the planes along z that it owns. A few neighbouring planes go to one rank, and the next
/// ones to another, since those beside the field are no work.
int rank_of_terma(std::vector<iso::slab> const& planes, std::int64_t x);
/// Returns the first voxel of a region along each axis of a grid whose voxels it has.
array<std::int64_t, 3> first_voxel_of(iso::grid const& region, iso::grid const& whole);

/// Throws, naming `function`, unless a dose is what a rank owns, and apart from the density.
template <class T, class Space>
void validate_share(volume_view<T, Space> const& dose, volume_view<T const, Space> const& density,
                    iso::grid const& patient, iso::slab const& own, char const* function) {
  validate(density, function);
  validate_contiguous(density.data, "density", function);
  if (own.count() > 0) {
    validate_slab(dose, function);
    validate_contiguous(dose.data, "dose", function);
    ISO_VALIDATE(dose.grid == patient && dose.planes() == own,
                 "{}: a dose of planes {} to {} of a grid of {} (this rank owns {} to {} of the "
                 "patient's {}); make it by make_dose",
                 function, dose.planes().first, dose.planes().last - 1, dose.grid.extent[2],
                 own.first, own.last - 1, patient.extent[2]);
  }
  validate_apart(memory_of(dose.data, "dose"), {memory_of(density.data, "density")}, function);
}

/// What a calculator has, and what it does.
template <class Exec, class T>
struct ranked_calculator_parts {
  using space = typename Exec::memory_space;
  using word = typename fixed_point<T>::word;
  static constexpr char const* function = "iso::dose::ranked_calculator";

  ranked_calculator_parts(Exec const& on, backend::communicator& ranks, iso::grid const& grid,
                          std::vector<iso::slab> of_ranks, std::vector<energy_component> components,
                          calculator_options const& by)
      : exec(on),
        carrier(on, ranks),
        here(ranks.rank()),
        patient(grid),
        planes(std::move(of_ranks)),
        parts(std::move(components)),
        options(by),
        releases(parts.size()) {}

  [[nodiscard]] iso::slab const& own() const { return planes[std::size_t(here)]; }
  /// Returns the share of the directions that a rank has of the planes.
  [[nodiscard]] direction_range directions_of(int rank, std::int64_t all) const {
    iso::slab const& s = planes[std::size_t(rank)];
    return {all * s.first / patient.extent[2], all * s.last / patient.extent[2]};
  }
  /// Enqueues the sum of what is told of a density, and its copy to the host.
  void sum_density(volume_view<T const, space> const& density) {
    constexpr std::int64_t bytes = sizeof(std::uint64_t);
    density_sum.reserve(bytes);
    density_sum_here.reserve(bytes);
    using scalar = Kokkos::View<std::uint64_t, space, Kokkos::MemoryUnmanaged>;
    Kokkos::parallel_reduce("iso::dose::ranked_calculator: density",
                            Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                                exec, 0, std::int64_t(density.data.size())),
                            bits_sum_kernel<T>{density.data.data()},
                            scalar(reinterpret_cast<std::uint64_t*>(density_sum.data())));
    backend::copy_rows(exec, {density_sum_here.data(), bytes}, {density_sum.data(), bytes}, bytes,
                       1);
    summed.record(exec);
  }
  /// Waits for the sum, and for nothing that is enqueued behind it.
  [[nodiscard]] std::uint64_t summed_density() const {
    summed.wait();
    return *reinterpret_cast<std::uint64_t const*>(density_sum_here.data());
  }

  void add(beam const& b, volume_view<T const, space> const& density,
           volume_view<T, space> const& dose, job const& control);
  /// Prepares the convolution of this rank's directions, while a device may still be at the part
  /// before.
  void plan_share(beam const& of_part, std::size_t part, iso::grid const& region);
  /// Computes this rank's planes of a TERMA.
  void release_share(beam const& of_part, std::size_t part, iso::grid const& region,
                     volume_view<T const, space> const& density, job const& control);
  /// Takes the planes that other ranks have computed of a TERMA, and gives them its own.
  void exchange_terma(iso::grid const& region);
  /// Takes what the directions of other ranks give at this rank's voxels, and gives them theirs.
  void exchange_words(word* words, iso::grid const& region, std::int64_t first_plane,
                      std::int64_t directions);
  /// Adds the words of this rank's voxels to its dose.
  void add_words(word const* words, double unit, iso::grid const& region,
                 array<std::int64_t, 3> const& first, volume_view<T, space> const& dose);
  /// Returns the planes of a region, counted from its first, that a rank owns.
  [[nodiscard]] iso::slab planes_of_region(int rank, iso::grid const& region,
                                           std::int64_t first_plane) const {
    auto const both = iso::detail::common_planes(planes[std::size_t(rank)],
                                                 {first_plane, first_plane + region.extent[2]});
    return both.count() > 0 ? iso::slab{both.first - first_plane, both.last - first_plane}
                            : iso::slab{0, 0};
  }

  Exec exec;
  backend::carrier<Exec> carrier;
  int here;
  iso::grid patient;
  std::vector<iso::slab> planes;
  std::vector<energy_component> parts;
  calculator_options options;
  std::vector<cone_set> cones;
  std::optional<convolution_plan<T, space>> plan;          ///< of the last beam and part
  std::vector<std::optional<terma_plan<space>>> releases;  ///< of the parts' last beam
  iso::detail::reused_copy<Exec> plan_memory;
  iso::detail::reused_copy<Exec> fluence_memory;
  Kokkos::View<std::int32_t*, space> some_x;  ///< planes of its TERMA, of a region of
  std::int64_t some_x_of = 0;                 ///< so many
  workspace<space> density_sum;
  workspace<backend::staging_space<Exec>> density_sum_here;
  backend::event<Exec> summed;
  workspace<space> terma;
  workspace<space> scratch;
  iso::detail::plane_exchange<Exec> exchange;
  std::int64_t sent_of_terma = 0;
};

template <class Exec, class T>
void ranked_calculator_parts<Exec, T>::add(beam const& b,
                                           volume_view<T const, space> const& density,
                                           volume_view<T, space> const& dose, job const& control) {
  auto& ranks = carrier.ranks();
  iso::grid region;
  std::uint64_t bits = 0;
  // About what a ray to each voxel takes, beside its lines.
  constexpr double of_terma = 0.05;
  auto const part_of = [&](std::size_t n, double from, double to) {
    double const all = double(parts.size());
    return iso::detail::part_of(control, (double(n) + from) / all, (double(n) + to) / all);
  };
  auto const begin_part = [&](std::size_t n) {
    if (own().count() > 0) {
      beam of_part = b;
      of_part.weight *= parts[n].share;
      plan_share(of_part, n, region);
      release_share(of_part, n, region, density, part_of(n, 0, of_terma));
    }
  };
  iso::detail::check_together(ranks, function, control, [&] {
    validate_share(dose, density, patient, own(), function);
    region = region_around(b, patient, options.margin);
    terma.reserve(own().count() > 0 ? region.size() * std::int64_t(sizeof(T)) : 0);
    sum_density(density);
    // A device computes this rank's share of the TERMA while ranks compare their densities.
    begin_part(0);
    bits = summed_density();
  });
  iso::detail::validate_agreement(ranks, int(planes.size()), fingerprint_of(b, density.grid, bits),
                                  function, "beams or densities");
  auto* const words = reinterpret_cast<word*>(terma.data());
  auto const first = first_voxel_of(region, patient);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (n > 0) {
      iso::detail::check_together(ranks, function, control, [&] { begin_part(n); });
    }
    exchange_terma(region);
    iso::detail::check_together(ranks, function, control, [&] {
      if (own().count() > 0) {
        auto const released = wrap_volume<space>(reinterpret_cast<T*>(terma.data()), region);
        convolve_to_words<Exec, T>(exec, *plan, released, density, words, scratch,
                                   part_of(n, of_terma, 1));
      }
    });
    exchange_words(words, region, first[2], cones[n].size());
    if (own().count() > 0) {
      add_words(words, plan->unit(), region, first, dose);
    }
  }
}

template <class Exec, class T>
void ranked_calculator_parts<Exec, T>::plan_share(beam const& of_part, std::size_t part,
                                                  iso::grid const& region) {
  cone_set const& of_kernel = cones[part];
  // Copied, not moved: a Kokkos::View that is moved from would dangle.
  convolution_plan<T, space> const made(exec, region, frame_of(of_part), of_part.fluence, of_kernel,
                                        options.lines, directions_of(here, of_kernel.size()),
                                        &plan_memory);
  plan = made;
  scratch.reserve(convolve_bytes_needed<T>(exec, made));
}

template <class Exec, class T>
void ranked_calculator_parts<Exec, T>::release_share(beam const& of_part, std::size_t part,
                                                     iso::grid const& region,
                                                     volume_view<T const, space> const& density,
                                                     job const& control) {
  if (some_x_of != region.extent[0]) {
    std::vector<std::int32_t> mine;
    for (std::int64_t x = 0; x < region.extent[0]; ++x) {
      if (rank_of_terma(planes, x) == here) {
        mine.push_back(std::int32_t(x));
      }
    }
    some_x = iso::detail::copied<space>(exec, function, mine);
    some_x_of = region.extent[0];
  }
  if (some_x.extent(0) == 0) {
    return;
  }
  auto& release = releases[part];
  release = release ? terma_plan<space>(exec, of_part, *release, &fluence_memory)
                    : terma_plan<space>(exec, of_part, parts[part].photons, options.terma);
  terma_across<Exec, T>(exec, *release, density,
                        wrap_volume<space>(reinterpret_cast<T*>(terma.data()), region), some_x,
                        control);
}

template <class Exec, class T>
void ranked_calculator_parts<Exec, T>::exchange_terma(iso::grid const& region) {
  int const size = carrier.ranks().size();
  std::int64_t const bytes = region.extent[1] * region.extent[2] * std::int64_t(sizeof(T));
  auto const planes_of = [&](int rank, int for_rank) {
    std::vector<backend::parcel> parcels;
    for (std::int64_t x = 0; x < region.extent[0]; ++x) {
      if (planes[std::size_t(for_rank)].count() == 0 || rank_of_terma(planes, x) != rank) {
        continue;
      }
      auto* const plane = terma.data() + x * bytes;
      if (!parcels.empty() && parcels.back().data + parcels.back().bytes == plane) {
        parcels.back().bytes += bytes;
      } else {
        parcels.push_back({for_rank == here ? rank : for_rank, plane, bytes});
      }
    }
    return parcels;
  };
  for (int round = 1; round < size; ++round) {
    int const before = (here - round + size) % size;
    auto const out = planes_of(here, (here + round) % size);
    auto const in = planes_of(before, here);
    carrier.exchange(out, in);
    for (backend::parcel const& parcel : out) {
      sent_of_terma += parcel.bytes;
    }
  }
}

template <class Exec, class T>
void ranked_calculator_parts<Exec, T>::exchange_words(word* words, iso::grid const& region,
                                                      std::int64_t first_plane,
                                                      std::int64_t directions) {
  auto const gives = [&](int rank) {
    auto const d = directions_of(rank, directions);
    return d.first < d.last;
  };
  iso::slab const mine = planes_of_region(here, region, first_plane);
  std::vector<iso::slab> out;
  std::vector<iso::slab> in;
  for (int rank = 0; rank < int(planes.size()); ++rank) {
    out.push_back(gives(here) ? planes_of_region(rank, region, first_plane) : iso::slab());
    in.push_back(gives(rank) ? mine : iso::slab());
  }
  std::int64_t const columns = region.extent[0] * region.extent[1];
  iso::detail::check_together(carrier.ranks(), function, [&] {
    exchange.reserve(columns, out, in, std::int64_t(sizeof(word)), here);
  });
  iso::slab const all{0, region.extent[2]};
  iso::detail::plane_columns<word const> const from{words, columns, all};
  iso::detail::plane_columns<word> const to{words, columns, all};
  exchange.template run<true>(exec, carrier, from, out, to, in);
}

template <class Exec, class T>
void ranked_calculator_parts<Exec, T>::add_words(word const* words, double unit,
                                                 iso::grid const& region,
                                                 array<std::int64_t, 3> const& first,
                                                 volume_view<T, space> const& dose) {
  iso::slab const mine = planes_of_region(here, region, first[2]);
  if (mine.count() == 0) {
    return;
  }
  auto const& n = region.extent;
  auto const& all = patient.extent;
  std::int64_t const held = own().count();
  T* const to = dose.data.data() + (first[0] * all[1] + first[1]) * held + first[2] + mine.first -
                own().first;
  workspace_parts of_scratch(scratch, function);
  iso::detail::for_each_in_rows("iso::dose::ranked_calculator: join", exec, n[0] * n[1],
                                mine.count(),
                                add_words_rows<T>{{words + mine.first, n[1] * n[2], n[2]},
                                                  {to, all[1] * held, held},
                                                  n[1],
                                                  mine.count(),
                                                  unit,
                                                  of_scratch.take<lattice_range>({1})});
}

}  // namespace detail

template <execution_space Exec, real T>
ranked_calculator<Exec, T>::ranked_calculator(Exec const& exec, backend::communicator& ranks,
                                              iso::grid const& patient,
                                              std::vector<iso::slab> const& planes,
                                              point_kernel const& kernel, spectrum const& photons,
                                              calculator_options const& options)
    : ranked_calculator(exec, ranks, patient, planes,
                        std::vector<energy_component>{{1, photons, kernel}}, options) {}

template <execution_space Exec, real T>
ranked_calculator<Exec, T>::ranked_calculator(Exec const& exec, backend::communicator& ranks,
                                              iso::grid const& patient,
                                              std::vector<iso::slab> const& planes,
                                              std::vector<energy_component> const& parts,
                                              calculator_options const& options) {
  using parts_type = detail::ranked_calculator_parts<Exec, T>;
  char const* const function = parts_type::function;
  iso::detail::validate_agreement(
      ranks, int(planes.size()),
      detail::fingerprint_of(patient, planes, parts, options, std::int64_t(sizeof(T))), function,
      "patients, planes, spectra, kernels or options");
  iso::detail::check_together(ranks, function, [&] {
    validate(planes, patient, function);
    detail::validate_parts(parts);
  });
  parts_ = std::make_unique<parts_type>(exec, ranks, patient, planes, parts, options);
  iso::detail::check_together(ranks, function, [&] {
    for (energy_component const& part : parts) {
      parts_->cones.push_back(make_cones(part.kernel, options.cones));
    }
  });
}

template <execution_space Exec, real T>
ranked_calculator<Exec, T>::~ranked_calculator() = default;

template <execution_space Exec, real T>
iso::slab const& ranked_calculator<Exec, T>::planes() const {
  return parts_->own();
}

template <execution_space Exec, real T>
volume_view<T, typename Exec::memory_space> ranked_calculator<Exec, T>::make_dose(
    std::string const& label) const {
  iso::slab const& own = parts_->own();
  auto const& n = parts_->patient.extent;
  return {parts_->patient,
          allocate<typename volume::data_type>(label, {n[0], n[1], own.count()}, parts_->exec),
          own.first};
}

template <execution_space Exec, real T>
void ranked_calculator<Exec, T>::add(
    beam const& b, volume_view<std::type_identity_t<T> const, space> const& density,
    volume const& dose, job const& control) {
  parts_->add(b, density, dose, control);
}

template <execution_space Exec, real T>
std::int64_t ranked_calculator<Exec, T>::num_directions() const {
  return parts_->cones.front().size();
}

template <execution_space Exec, real T>
std::int64_t ranked_calculator<Exec, T>::num_kernels() const {
  return std::int64_t(parts_->cones.size());
}

template <execution_space Exec, real T>
rank_report ranked_calculator<Exec, T>::report() const {
  std::size_t numbers = 0;  // of the parts' curves of attenuation
  for (auto const& release : parts_->releases) {
    numbers += release ? release->curve().size() : 0;
  }
  return {parts_->exchange.bytes_sent() + parts_->sent_of_terma,
          std::int64_t(numbers * sizeof(double)) + parts_->terma.size() + parts_->scratch.size() +
              parts_->exchange.bytes_held() + parts_->plan_memory.size() +
              parts_->fluence_memory.size() +
              std::int64_t(parts_->some_x.size() * sizeof(std::int32_t))};
}

#define ISO_DOSE_RANKED(linkage, Exec, T) linkage template class ranked_calculator<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_DOSE_RANKED, extern)

}  // namespace iso::dose
