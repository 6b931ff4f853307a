// SPDX-License-Identifier: BSD-3-Clause
//! Reads volumes and doses off a structure that is placed in a dose.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/job.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/survey.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/dvh/detail/dose_volume_kernels.hpp>
#include <iso/dvh/detail/placed_region.hpp>
#include <iso/dvh/detail/sum_of_bricks.hpp>
#include <iso/dvh/dose_volume.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace iso::dvh::detail {

void validate_levels(std::vector<double> const& levels);
void validate_volumes(std::vector<double> const& volumes);
void validate_bins(histogram_options const& options, double largest);
void validate_prescription(double prescription);
void validate_extremes(extremes of, char const* function);

/// Returns a hash of what ranks that share a dose must have alike.
/// \param number_bytes  of a dose
iso::detail::fingerprint fingerprint_of(grid const& dose, grid const& fractions,
                                        std::vector<slab> const& planes, std::int64_t points,
                                        std::int64_t number_bytes);
iso::detail::fingerprint fingerprint_of(std::vector<quantity> const& quantities, extremes of);

/// For each volume the doses between which the structure's volume falls below it, ever closer.
class dose_search {
 public:
  /// \param volumes  as many as doses are sought
  dose_search(std::vector<double> volumes, dose_range const& range, double volume);
  /// Returns the most levels that so many volumes ask for at once.
  static std::int64_t levels_at_once(std::size_t volumes);

  [[nodiscard]] bool done() const { return levels_.empty(); }
  /// Returns the levels to evaluate next, ascending.
  [[nodiscard]] std::vector<double> const& levels() const { return levels_; }
  void take(std::vector<double> const& volumes_at_levels);
  [[nodiscard]] std::vector<double> result() const;

 private:
  /// A dose that has the volume and one that has not, with the volumes that these have.
  struct bracket {
    double least;
    double largest;
    double at_least;
    double at_largest;
  };

  void choose_levels();

  std::vector<double> volumes_;
  std::vector<bracket> brackets_;
  std::vector<double> levels_;
  double narrow_;
  int round_ = 0;
};

/// A reader of quantities off what `statistics`, volumes_at and doses_at found.
class quantity_reader {
 public:
  quantity_reader(std::vector<quantity> const& quantities, dose_statistics const& all, extremes of);

  [[nodiscard]] std::vector<double> const& volumes() const { return volumes_; }
  [[nodiscard]] std::vector<double> const& levels() const { return levels_; }
  [[nodiscard]] bool has_conformity() const { return has_conformity_; }
  /// \param anywhere  volumes at the levels in all of the dose; unless has_conformity() may be
  /// empty
  [[nodiscard]] std::vector<double> values(std::vector<double> const& doses,
                                           std::vector<double> const& at_levels,
                                           std::vector<double> const& anywhere) const;

 private:
  /// Returns a dose that was found for a volume, `percent` of all where that is known.
  [[nodiscard]] double dose_of(double found, double percent) const;

  std::vector<quantity> const& quantities_;
  dose_statistics all_;
  extremes of_;
  std::vector<double> volumes_;  ///< in the order of the quantities
  std::vector<double> levels_;   ///< ascending, each once
  bool has_conformity_ = false;
};

/// Returns the fraction that is done after a structure of a dose, both counted from 1.
double part_done(std::size_t dose, std::size_t structure, std::size_t doses,
                 std::size_t structures);
/// Returns Paddick's index of volumes.
double paddick(double inside, double whole, double anywhere);
histogram histogram_of(std::vector<double> const& cumulative, double bin_width, double volume,
                       double outside);
std::vector<double> bin_edges(std::int64_t bins, double end);

/// Returns the largest finite dose at the voxels' middles; below all doses where there is none.
template <execution_space Exec, class T, class Space>
double largest_dose(Exec const& exec, volume_view<T const, Space> const& dose) {
  auto const found = iso::detail::survey_of("iso::dvh::histograms: largest dose", exec,
                                            dose.data.data(), std::int64_t(dose.data.size()));
  return std::max(found.largest, 0.0);
}

/// Returns the volumes, mm3, that get each level or more.
template <execution_space Exec, class T>
std::vector<double> volumes_of(placed_region<Exec, T> const& placed,
                               std::vector<double> const& levels, job const& asked) {
  using space = typename Exec::memory_space;
  char const* const label = "iso::dvh::volumes_at";
  auto const& exec = placed.exec;
  auto const count = std::int64_t(levels.size());
  if (count == 0) {
    return {};
  }
  std::vector<std::uint64_t> sums(levels.size());
  placed.together(asked, [&] {
    auto const there = iso::detail::copied<space>(exec, label, levels);
    auto const counts = allocate<Kokkos::View<std::uint64_t*, space>>(label, {count}, exec);
    std::int64_t const run = max_brick_extent<space>(0) > 1 ? 8 : 1;
    placed.for_each_part(asked, [&](auto const& part) {
      iso::detail::in_timed_batches(
          exec, (part.cells.num_bricks() + run - 1) / run, asked,
          [&](std::int64_t first, std::int64_t last) {
            Kokkos::parallel_for(
                label, cells_range(exec, first, last),
                volumes_kernel<T>{part.cells, part.bricks.data(), run, there.data(), count,
                                  placed.scale, counts.data()});
          });
    });
    Kokkos::deep_copy(exec,
                      Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          sums.data(), sums.size()),
                      counts);
    exec.fence("iso::dvh::volumes_at: the counts are here");
  });
  placed.add_up(sums);
  std::vector<double> volumes(levels.size());
  std::uint64_t above = 0;
  for (std::size_t n = levels.size(); n-- > 0;) {
    above += sums[n];
    volumes[n] = placed.scale.value(above) * placed.voxel;
  }
  return volumes;
}

/// Returns the sum of shares where there is a dose, or where there is none.
template <execution_space Exec, class T>
double share_of(placed_region<Exec, T> const& placed, bool with_dose, job const& asked) {
  auto const& cells = placed.cells;
  bool all_held = true;
  for (int axis = 0; axis < 3; ++axis) {
    all_held = all_held && cells.held.from[axis] == 0 && cells.held.to[axis] == cells.extent[axis];
  }
  if (!with_dose && all_held) {
    return 0;
  }
  return sum_of_bricks(
      placed, [&](auto const& part) { return share_terms<T>{part.cells, with_dose}; }, asked);
}

/// Places cells between the middles of a dose's voxels, and to their faces or further, where voxels
/// of a region lie. Returns the largest volume of one, in voxels of the dose.
template <execution_space Exec, class T>
double place_everywhere(placed_region<Exec, T>& everywhere) {
  auto const& source = everywhere.source;
  grid const& d = source.dose;
  auto& cells = everywhere.cells;
  double widest = 1;
  for (int axis = 0; axis < 3; ++axis) {
    // Cells between the middles, and one at either end to the faces. The dose is constant there:
    // how far they reach makes no other corner.
    std::int64_t const extent = d.extent[axis];
    place_axis(everywhere, axis, {-1, 1}, extent + 1);
    auto const steps = steps_of(source.fractions, d, axis);
    auto const held = held_along(steps.first, steps.step, source.fractions.extent[axis], extent);
    double const last = double(extent - 1);
    double low = -0.5;
    double high = last + 0.5;
    if (held.first < held.second) {
      low = std::min(low, steps.first + double(held.first) * steps.step);
      high = std::max(high, steps.first + double(held.second) * steps.step);
    }
    cells.held.to[axis] = extent + 1;
    cells.end_width[axis][0] = -low;
    cells.end_width[axis][1] = high - last;
    widest *= std::max({1.0, -low, high - last});
  }
  return widest;
}

/// Returns the volumes, mm3, that get each level or more in the dose's voxels, and in what the
/// voxels of a region that their faces cut have beyond.
template <execution_space Exec, class T>
std::vector<double> volumes_anywhere(placed_region<Exec, T> const& placed,
                                     std::vector<double> const& levels, job const& asked) {
  auto const& source = placed.source;
  grid const& d = source.dose;
  placed_region<Exec, T> everywhere{};
  everywhere.exec = placed.exec;
  everywhere.source = source;
  everywhere.function = placed.function;
  everywhere.ranks = placed.ranks;
  double widest = 1;
  everywhere.together(asked, [&] { widest = place_everywhere(everywhere); });
  everywhere.voxel = voxel_volume(d);
  everywhere.scale = {widest, double(size_of(everywhere.cells.extent))};
  find_facts(everywhere, asked);
  return volumes_of(everywhere, levels, asked);
}

/// \param whole  mm3, of all that has a dose
template <execution_space Exec, class T>
std::vector<double> search_doses(placed_region<Exec, T> const& placed, double whole,
                                 std::vector<double> const& volumes, job const& asked) {
  dose_search search(volumes, placed.facts.touched, whole);
  while (!search.done()) {
    search.take(volumes_of(placed, search.levels(), asked));
  }
  return search.result();
}

template <execution_space Exec, class T>
dose_statistics statistics_of(placed_region<Exec, T> const& placed, extremes of, job const& asked) {
  auto const& exec = placed.exec;
  auto const& source = placed.source;
  double const share = share_of(placed, true, asked);
  dose_range r = of == extremes::touched_voxels ? placed.facts.touched : placed.facts.whole;
  if (auto const points = std::int64_t(source.surface.extent(0));
      of == extremes::surface && points > 0) {
    placed.together(asked, [&] {
      placed.for_each_part(asked, [&](auto const& part) {
        if (part.dose.data.size() == 0) {
          return;
        }
        dose_range on{};
        Kokkos::parallel_reduce(
            "iso::dvh::statistics: surface", cells_range(exec, 0, points),
            surface_range_kernel<T>{part.cells.dose, source.surface.data(), source.dose.origin,
                                    source.dose.spacing, part.own},
            on);
        exec.fence("iso::dvh::statistics: surface");
        region_facts_kernel<T>::join(r, on);
      });
    });
    r = placed.joined(r);
  }
  double const none = std::numeric_limits<double>::quiet_NaN();
  bool const has_range = r.least <= r.largest;
  r = {r.least + 0.0, r.largest + 0.0};
  double mean = none;
  if (share > 0) {
    mean =
        sum_of_bricks(
            placed, [](auto const& part) { return dose_terms<T>{part.cells, part.bricks.data()}; },
            asked) /
        share;
  }
  return {share * placed.voxel, share_of(placed, false, asked) * placed.voxel, mean,
          has_range ? r.least : none, has_range ? r.largest : none};
}

/// A structure that is placed in a dose, with what is read off it.
template <execution_space Exec, real T>
class placed_dose {
 public:
  using space = typename Exec::memory_space;

  /// \param function  that messages name
  placed_dose(Exec const& exec, volume_view<T const, space> const& dose,
              region<T, space> const& where, char const* function, job const& asked) {
    validate_region(dose, where, function);
    placed_ = placed_in(exec, source_of(dose, where), function, asked);
  }
  placed_dose(Exec const& exec, slab_source<T, space> const& source, char const* function,
              job const& asked) {
    iso::validate(source.dose, function);
    iso::validate(source.fractions, function);
    validate_contiguous(source.surface, "surface", function);
    placed_ = placed_in(exec, source, function, asked);
  }
  /// \param ranks   that share the dose
  /// \param source  its slabs are the planes of each
  placed_dose(Exec const& exec, backend::communicator& ranks, slab_source<T, space> const& source,
              char const* function, job const& asked) {
    iso::detail::validate_agreement(
        ranks, int(source.slabs.size()),
        fingerprint_of(source.dose, source.fractions, source.slabs,
                       std::int64_t(source.surface.extent(0)), std::int64_t(sizeof(T))),
        function, "doses, structures or planes");
    slab_source<T, space> here = source;
    iso::detail::check_together(ranks, function, [&] {
      iso::validate(source.slabs, source.dose, function);
      iso::validate(source.fractions, function);
      validate_contiguous(source.surface, "surface", function);
      slab const own = source.slabs[std::size_t(ranks.rank())];
      here.slabs.assign(own.count() > 0 ? 1 : 0, own);
    });
    placed_ = placed_in(exec, here, function, asked, &ranks);
  }

  /// Throws on every rank, unless all that share the dose ask for the same.
  void agree(iso::detail::fingerprint const& of) const {
    if (placed_.ranks != nullptr) {
      iso::detail::validate_agreement(*placed_.ranks, placed_.ranks->size(), of, placed_.function,
                                      "levels, volumes, quantities or options");
    }
  }
  void agree(std::vector<double> const& numbers) const {
    iso::detail::fingerprint of;
    of.add(numbers);
    agree(of);
  }
  [[nodiscard]] dose_statistics statistics(extremes of, job const& asked) const {
    return statistics_of(placed_, of, asked);
  }
  [[nodiscard]] std::vector<double> volumes_at(std::vector<double> const& levels,
                                               job const& asked) const {
    return volumes_of(placed_, levels, asked);
  }
  [[nodiscard]] std::vector<double> doses_at(std::vector<double> const& volumes,
                                             job const& asked) const {
    return search_doses(placed_, volume(true, asked), volumes, asked);
  }
  [[nodiscard]] std::vector<double> evaluate(std::vector<quantity> const& quantities, extremes of,
                                             job const& asked) const {
    auto const all = statistics(of, asked);
    quantity_reader const reader(quantities, all, of);
    auto const levels_anywhere =
        reader.has_conformity() ? anywhere(reader.levels(), asked) : std::vector<double>();
    return reader.values(search_doses(placed_, all.volume, reader.volumes(), asked),
                         volumes_at(reader.levels(), asked), levels_anywhere);
  }
  /// \param end  where the last bin ends
  [[nodiscard]] histogram make_histogram(std::int64_t bins, double end, job const& asked) const {
    auto const volumes = volumes_at(bin_edges(bins, end), asked);
    return histogram_of(volumes, end / double(bins), volume(true, asked), volume(false, asked));
  }
  [[nodiscard]] double conformity(double prescription, job const& asked) const {
    return paddick(volumes_at({prescription}, asked)[0], volume(true, asked),
                   anywhere({prescription}, asked)[0]);
  }
  /// Returns where the last bin ends.
  [[nodiscard]] double end_of(histogram_options const& options) const {
    double largest = 0;
    placed_.together({}, [&] {
      for (slab const& own : placed_.source.slabs) {
        if (options.end == 0) {
          largest = std::max(largest, largest_dose(placed_.exec, placed_.source.dose_planes(own)));
        }
      }
    });
    largest = placed_.largest(largest);
    validate_bins(options, largest);
    return options.end > 0 ? options.end : beyond_largest_dose * largest;
  }

 private:
  /// Returns the volume, mm3, where there is a dose, or where there is none.
  [[nodiscard]] double volume(bool with_dose, job const& asked) const {
    return share_of(placed_, with_dose, asked) * placed_.voxel;
  }
  [[nodiscard]] std::vector<double> anywhere(std::vector<double> const& levels,
                                             job const& asked) const {
    return volumes_anywhere(placed_, levels, asked);
  }

  placed_region<Exec, T> placed_{};
};

/// Calls f(placed, asked) for every structure in every dose: [doses][structures] of what it
/// returns.
template <class Exec, class T, class Space, class F>
auto for_each_placed(Exec const& exec, std::vector<volume_view<T const, Space>> const& doses,
                     std::vector<region<T, Space>> const& structures, char const* function,
                     job const& control, F const& f) {
  auto const asked = iso::detail::asked_only(control);
  using result = decltype(f(std::declval<placed_dose<Exec, T> const&>(), asked));
  std::vector<std::vector<result>> all;
  for (auto const& dose : doses) {
    auto& of_dose = all.emplace_back();
    for (auto const& where : structures) {
      of_dose.push_back(f(placed_dose<Exec, T>(exec, dose, where, function, asked), asked));
      control.step(part_done(all.size(), of_dose.size(), doses.size(), structures.size()));
    }
  }
  return all;
}

}  // namespace iso::dvh::detail
