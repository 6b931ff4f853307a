// SPDX-License-Identifier: BSD-3-Clause
//! Holds the launches of iso/dvh/dose_volume.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/detail/copied.hpp>
#include <iso/dvh/detail/dose_volume_kernels.hpp>
#include <iso/dvh/dose_volume.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace iso::dvh {
namespace detail {

void validate_levels(std::vector<double> const& levels);
void validate_volumes(std::vector<double> const& volumes);
void validate_facts(region_facts const& facts, std::int64_t voxels, char const* function);
void validate_bins(histogram_options const& options, double largest);
void validate_prescription(double prescription);
void validate_extremes(extremes of, char const* function);

/// Narrows, for each volume, the doses between which the structure's volume falls below it.
class dose_search {
 public:
  /// \param volumes  as many as doses are sought
  dose_search(std::vector<double> volumes, dose_range const& range, double volume);

  [[nodiscard]] bool done() const { return levels_.empty(); }
  /// Returns the levels to evaluate next, ascending.
  [[nodiscard]] std::vector<double> const& levels() const { return levels_; }
  void take(std::vector<double> const& volumes_at_levels);
  [[nodiscard]] std::vector<double> result() const;

 private:
  /// Holds a dose that has the volume and one that has not, with the volumes that these have.
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

/// Reads quantities off what `statistics`, volumes_at and doses_at found.
class quantity_reader {
 public:
  explicit quantity_reader(std::vector<quantity> const& quantities, dose_statistics const& all);

  [[nodiscard]] std::vector<double> const& volumes() const { return volumes_; }
  [[nodiscard]] std::vector<double> const& levels() const { return levels_; }
  [[nodiscard]] bool has_conformity() const { return has_conformity_; }
  /// \param anywhere  volumes at the levels in all of the dose; unless has_conformity() may be
  /// empty
  [[nodiscard]] std::vector<double> values(std::vector<double> const& doses,
                                           std::vector<double> const& at_levels,
                                           std::vector<double> const& anywhere) const;

 private:
  std::vector<quantity> const& quantities_;
  dose_statistics all_;
  std::vector<double> volumes_;  ///< in the order of the quantities
  std::vector<double> levels_;   ///< ascending, each once
  bool has_conformity_ = false;
};

/// Returns Paddick's index of volumes.
double paddick(double inside, double whole, double anywhere);
histogram histogram_of(std::vector<double> const& cumulative, double bin_width, double volume,
                       double outside);
std::vector<double> bin_edges(histogram_options const& options, double end);

template <class Exec>
auto cells_range(Exec const& exec, std::int64_t count) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count);
}

template <class T, class Space>
dose_reader<T> reader_of(volume_view<T const, Space> const& dose) {
  auto const& n = dose.grid.extent;
  return {dose.data.data(), {n[0], n[1], n[2]}};
}

/// Returns the voxels of `g` in the dose.
template <class T, class Space>
structure_cells<T> cells_of(volume_view<T const, Space> const& dose, T const* fractions,
                            grid const& g) {
  grid const& d = dose.grid;
  structure_cells<T> cells{reader_of(dose), fractions, {}, {}, {}};
  for (int axis = 0; axis < 3; ++axis) {
    cells.extent[axis] = g.extent[axis];
    cells.step[axis] = g.spacing[axis] / d.spacing[axis];
    cells.first[axis] =
        (g.origin[axis] - d.origin[axis]) / d.spacing[axis] - 0.5 * cells.step[axis];
  }
  return cells;
}

template <class T, class Space>
structure_cells<T> cells_of(volume_view<T const, Space> const& dose, region<T, Space> const& where,
                            char const* function) {
  iso::validate(dose, function);
  iso::validate(where.fractions, function);
  validate_contiguous(dose.data, "dose", function);
  validate_contiguous(where.fractions.data, "fractions", function);
  validate_contiguous(where.surface, "surface", function);
  return cells_of(dose, where.fractions.data.data(), where.fractions.grid);
}

inline std::int64_t size_of(std::int64_t const (&extent)[3]) {
  return extent[0] * extent[1] * extent[2];
}

inline double voxel_volume(grid const& g) { return g.spacing.x * g.spacing.y * g.spacing.z; }

template <execution_space Exec, class T>
region_facts facts_of(Exec const& exec, structure_cells<T> const& cells, char const* function) {
  region_facts facts{};
  std::int64_t const count = size_of(cells.extent);
  Kokkos::parallel_reduce("iso::dvh: facts", cells_range(exec, count),
                          region_facts_kernel<T>{cells}, facts);
  exec.fence("iso::dvh: facts");
  validate_facts(facts, count, function);
  for (auto* range : {&facts.touched, &facts.whole}) {
    *range = {range->least + 0.0, range->largest + 0.0};  // -0 and 0 come in any order
  }
  return facts;
}

/// Returns the largest finite dose at the voxels' middles; below all doses where there is none.
template <execution_space Exec, class T, class Space>
double largest_dose(Exec const& exec, volume_view<T const, Space> const& dose) {
  double largest = 0;
  Kokkos::parallel_reduce("iso::dvh::histograms: largest dose",
                          cells_range(exec, std::int64_t(dose.data.size())),
                          largest_dose_kernel<T>{dose.data.data()}, Kokkos::Max<double>(largest));
  exec.fence("iso::dvh::histograms: the largest dose is here");
  return largest;
}

/// Returns the shares, in voxels, that get each level or more.
template <execution_space Exec, class T>
std::vector<double> shares_at(Exec const& exec, structure_cells<T> const& cells,
                              std::vector<double> const& levels) {
  using space = typename Exec::memory_space;
  char const* const label = "iso::dvh::volumes_at";
  auto const count = std::int64_t(levels.size());
  if (count == 0) {
    return {};
  }
  auto const there = iso::detail::copied<space>(exec, label, levels);
  auto const counts = allocate<Kokkos::View<std::uint64_t*, space>>(label, {count}, exec);
  std::int64_t const voxels = size_of(cells.extent);
  reproducible_scale<double> const scale(1, double(voxels));
  Kokkos::parallel_for(label, cells_range(exec, voxels),
                       volumes_kernel<T>{cells, there.data(), count, scale, counts.data()});
  std::vector<std::uint64_t> sums(levels.size());
  Kokkos::deep_copy(exec,
                    Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        sums.data(), sums.size()),
                    counts);
  exec.fence("iso::dvh::volumes_at: the counts are here");
  std::vector<double> shares(levels.size());
  std::uint64_t above = 0;
  for (std::size_t n = levels.size(); n-- > 0;) {
    above += sums[n];
    shares[n] = scale.value(above);
  }
  return shares;
}

template <execution_space Exec, class T>
std::vector<double> volumes_of(Exec const& exec, structure_cells<T> const& cells, double voxel,
                               std::vector<double> const& levels) {
  auto volumes = shares_at(exec, cells, levels);
  for (double& v : volumes) {
    v *= voxel;
  }
  return volumes;
}

/// Returns the volumes, mm3, between the middles of the dose's voxels that get each level or more.
template <execution_space Exec, class T, class Space>
std::vector<double> volumes_anywhere(Exec const& exec, volume_view<T const, Space> const& dose,
                                     std::vector<double> const& levels, char const* function) {
  grid between = dose.grid;
  for (int axis = 0; axis < 3; ++axis) {
    if (between.extent[axis] > 1) {
      --between.extent[axis];
      between.origin[axis] += 0.5 * between.spacing[axis];
    }
  }
  auto const everywhere = cells_of<T>(dose, nullptr, between);
  facts_of(exec, everywhere, function);
  return volumes_of(exec, everywhere, voxel_volume(between), levels);
}

template <execution_space Exec, class T>
std::vector<double> search_doses(Exec const& exec, structure_cells<T> const& cells,
                                 dose_range const& range, double voxel,
                                 std::vector<double> const& volumes) {
  double const all = sum_of(exec, size_of(cells.extent), share_term<T>{cells, true}) * voxel;
  dose_search search(volumes, range, all);
  while (!search.done()) {
    search.take(volumes_of(exec, cells, voxel, search.levels()));
  }
  return search.result();
}

template <execution_space Exec, class T, class Space>
dose_statistics statistics_of(Exec const& exec, volume_view<T const, Space> const& dose,
                              region<T, Space> const& where, structure_cells<T> const& cells,
                              region_facts const& facts, extremes of) {
  std::int64_t const count = size_of(cells.extent);
  double const voxel = voxel_volume(where.fractions.grid);
  double const share = sum_of(exec, count, share_term<T>{cells, true});
  dose_range r = of == extremes::touched_voxels ? facts.touched : facts.whole;
  if (of == extremes::surface && where.surface.extent(0) > 0) {
    dose_range on{};
    Kokkos::parallel_reduce("iso::dvh::statistics: surface",
                            cells_range(exec, std::int64_t(where.surface.extent(0))),
                            surface_range_kernel<T>{cells.dose, where.surface.data(),
                                                    dose.grid.origin, dose.grid.spacing},
                            on);
    exec.fence("iso::dvh::statistics: surface");
    region_facts_kernel<T>::join(r, on);
  }
  double const none = std::numeric_limits<double>::quiet_NaN();
  bool const has_range = r.least <= r.largest;
  r = {r.least + 0.0, r.largest + 0.0};
  return {share * voxel, sum_of(exec, count, share_term<T>{cells, false}) * voxel,
          share > 0 ? sum_of(exec, count, dose_term<T>{cells}) / share : none,
          has_range ? r.least : none, has_range ? r.largest : none};
}

}  // namespace detail

template <execution_space Exec, real T>
dose_statistics statistics(Exec const& exec,
                           volume_view<T const, typename Exec::memory_space> const& dose,
                           region<T, typename Exec::memory_space> const& where, extremes of) {
  char const* const function = "iso::dvh::statistics";
  detail::validate_extremes(of, function);
  auto const cells = detail::cells_of(dose, where, function);
  return detail::statistics_of(exec, dose, where, cells, detail::facts_of(exec, cells, function),
                               of);
}

template <execution_space Exec, real T>
std::vector<double> volumes_at(Exec const& exec,
                               volume_view<T const, typename Exec::memory_space> const& dose,
                               region<T, typename Exec::memory_space> const& where,
                               std::vector<double> const& levels) {
  char const* const function = "iso::dvh::volumes_at";
  auto const cells = detail::cells_of(dose, where, function);
  detail::validate_levels(levels);
  detail::facts_of(exec, cells, function);
  return detail::volumes_of(exec, cells, detail::voxel_volume(where.fractions.grid), levels);
}

template <execution_space Exec, real T>
std::vector<double> doses_at(Exec const& exec,
                             volume_view<T const, typename Exec::memory_space> const& dose,
                             region<T, typename Exec::memory_space> const& where,
                             std::vector<double> const& volumes) {
  char const* const function = "iso::dvh::doses_at";
  auto const cells = detail::cells_of(dose, where, function);
  detail::validate_volumes(volumes);
  auto const facts = detail::facts_of(exec, cells, function);
  return detail::search_doses(exec, cells, facts.touched,
                              detail::voxel_volume(where.fractions.grid), volumes);
}

template <execution_space Exec, real T>
std::vector<std::vector<std::vector<double>>> evaluate(
    Exec const& exec, std::vector<volume_view<T const, typename Exec::memory_space>> const& doses,
    std::vector<region<T, typename Exec::memory_space>> const& structures,
    std::vector<quantity> const& quantities, extremes of) {
  char const* const function = "iso::dvh::evaluate";
  detail::validate_extremes(of, function);
  std::vector<std::vector<std::vector<double>>> all;
  for (auto const& dose : doses) {
    auto& of_dose = all.emplace_back();
    for (auto const& where : structures) {
      auto const cells = detail::cells_of(dose, where, function);
      auto const facts = detail::facts_of(exec, cells, function);
      double const voxel = detail::voxel_volume(where.fractions.grid);
      detail::quantity_reader const reader(
          quantities, detail::statistics_of(exec, dose, where, cells, facts, of));
      of_dose.push_back(reader.values(
          detail::search_doses(exec, cells, facts.touched, voxel, reader.volumes()),
          detail::volumes_of(exec, cells, voxel, reader.levels()),
          reader.has_conformity() ? detail::volumes_anywhere(exec, dose, reader.levels(), function)
                                  : std::vector<double>()));
    }
  }
  return all;
}

template <execution_space Exec, real T>
std::vector<std::vector<histogram>> histograms(
    Exec const& exec, std::vector<volume_view<T const, typename Exec::memory_space>> const& doses,
    std::vector<region<T, typename Exec::memory_space>> const& structures,
    histogram_options const& options) {
  char const* const function = "iso::dvh::histograms";
  double largest = 0;
  for (auto const& dose : doses) {
    iso::validate(dose, function);
    validate_contiguous(dose.data, "dose", function);
    if (options.end == 0) {
      largest = std::max(largest, detail::largest_dose(exec, dose));
    }
  }
  detail::validate_bins(options, largest);
  double const end = options.end > 0 ? options.end : 1.02 * largest;
  auto const edges = detail::bin_edges(options, end);
  std::vector<std::vector<histogram>> all;
  for (auto const& dose : doses) {
    auto& of_dose = all.emplace_back();
    for (auto const& where : structures) {
      auto const cells = detail::cells_of(dose, where, function);
      detail::facts_of(exec, cells, function);
      double const voxel = detail::voxel_volume(where.fractions.grid);
      auto const share = [&](bool with_dose) {
        return sum_of(exec, detail::size_of(cells.extent), detail::share_term<T>{cells, with_dose});
      };
      of_dose.push_back(detail::histogram_of(detail::volumes_of(exec, cells, voxel, edges),
                                             end / double(options.bins), share(true) * voxel,
                                             share(false) * voxel));
    }
  }
  return all;
}

template <execution_space Exec, real T>
double conformity(Exec const& exec, volume_view<T const, typename Exec::memory_space> const& dose,
                  region<T, typename Exec::memory_space> const& target, double prescription) {
  char const* const function = "iso::dvh::conformity";
  auto const cells = detail::cells_of(dose, target, function);
  detail::validate_prescription(prescription);
  detail::facts_of(exec, cells, function);
  double const voxel = detail::voxel_volume(target.fractions.grid);
  double const whole =
      sum_of(exec, detail::size_of(cells.extent), detail::share_term<T>{cells, true}) * voxel;
  double const inside = detail::volumes_of(exec, cells, voxel, {prescription})[0];
  return detail::paddick(inside, whole,
                         detail::volumes_anywhere(exec, dose, {prescription}, function)[0]);
}

#define ISO_DVH(linkage, Exec, T)                                                                 \
  linkage template dose_statistics statistics<Exec, T>(                                           \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                               \
      region<T, Exec::memory_space> const&, extremes);                                            \
  linkage template std::vector<double> volumes_at<Exec, T>(                                       \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                               \
      region<T, Exec::memory_space> const&, std::vector<double> const&);                          \
  linkage template std::vector<double> doses_at<Exec, T>(                                         \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                               \
      region<T, Exec::memory_space> const&, std::vector<double> const&);                          \
  linkage template std::vector<std::vector<std::vector<double>>> evaluate<Exec, T>(               \
      Exec const&, std::vector<volume_view<T const, Exec::memory_space>> const&,                  \
      std::vector<region<T, Exec::memory_space>> const&, std::vector<quantity> const&, extremes); \
  linkage template std::vector<std::vector<histogram>> histograms<Exec, T>(                       \
      Exec const&, std::vector<volume_view<T const, Exec::memory_space>> const&,                  \
      std::vector<region<T, Exec::memory_space>> const&, histogram_options const&);               \
  linkage template double conformity<Exec, T>(Exec const&,                                        \
                                              volume_view<T const, Exec::memory_space> const&,    \
                                              region<T, Exec::memory_space> const&, double);
ISO_FOR_EACH_INSTANCE(ISO_DVH, extern)

}  // namespace iso::dvh
