// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/gamma/gamma_index.hpp, for the files that instantiate
//! them.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/job.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/survey.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/gamma/detail/gamma_kernels.hpp>
#include <iso/gamma/gamma_index.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

namespace iso::gamma {
namespace detail {

/// Checks what can be checked without the doses.
void validate_request(iso::grid const& reference, iso::grid const& evaluated,
                      std::vector<criterion> const& criteria, gamma_options const& options);
/// Throws where a dose is not finite.
void validate_finite(iso::detail::found_numbers const& not_finite, iso::grid const& g,
                     char const* name);
/// Throws where there is no dose to normalise to, or a criterion is of next to no dose.
/// \param least  reference dose that is compared
void validate_differences(std::vector<criterion> const& criteria, gamma_options const& options,
                          double reference_maximum, double largest_size, double least);

/// Returns the places of the reference coordinates along an axis.
std::vector<reference_place> places_of(iso::grid const& reference, iso::grid const& evaluated,
                                       int axis);
/// Returns what is within reach of any reference point, in the order of the search.
std::vector<site_offset> offsets_of(iso::grid const& evaluated,
                                    std::vector<reference_place> const (&places)[3],
                                    std::vector<criterion> const& criteria,
                                    gamma_options const& options);
/// Returns the criteria in the terms of the search.
/// \param dose  the normalisation's
std::vector<criterion_terms> terms_of(iso::grid const& evaluated,
                                      std::vector<criterion> const& criteria, double dose);
/// Returns how many cells, or voxels, the search has along an axis.
std::int64_t sites_along(iso::grid const& evaluated, gamma_options const& options, int axis);
void validate_results(iso::grid const& reference, std::int64_t criteria,
                      std::int64_t const (&gamma)[4], std::int64_t const (&status)[3],
                      char const* function);
void validate_summary(summary_options const& options);
gamma_summary summary_of(gamma_counts const& counts, std::int64_t points,
                         std::vector<std::uint64_t> const& histogram, double sum, double max_gamma);

template <class Exec>
auto points_range(Exec const& exec, std::int64_t count) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count);
}

template <class T, class Space, class Gamma, class Status>
void validate_results(gamma_plan<T, Space> const& plan, Gamma const& gamma, Status const& status,
                      char const* function) {
  std::int64_t const g[4] = {std::int64_t(gamma.extent(0)), std::int64_t(gamma.extent(1)),
                             std::int64_t(gamma.extent(2)), std::int64_t(gamma.extent(3))};
  std::int64_t const s[3] = {std::int64_t(status.extent(0)), std::int64_t(status.extent(1)),
                             std::int64_t(status.extent(2))};
  validate_results(plan.reference().grid, std::int64_t(plan.criteria().size()), g, s, function);
  validate_memory({memory_of(gamma, "gamma"), memory_of(status, "status")}, function);
  validate_contiguous(gamma, "gamma", function);
  validate_contiguous(status, "status", function);
}

}  // namespace detail

template <real T, class Space>
template <execution_space Exec>
gamma_plan<T, Space>::gamma_plan(Exec const& exec, volume const& reference, volume const& evaluated,
                                 std::vector<criterion> const& criteria,
                                 gamma_options const& options)
    : reference_(reference), evaluated_(evaluated), criteria_(criteria), options_(options) {
  char const* const function = "iso::gamma::gamma_plan";
  iso::validate(reference, function);
  iso::validate(evaluated, function);
  validate_contiguous(reference.data, "reference", function);
  validate_contiguous(evaluated.data, "evaluated", function);
  detail::validate_request(reference.grid, evaluated.grid, criteria, options);
  std::vector<detail::reference_place> places[3];
  for (int axis = 0; axis < 3; ++axis) {
    places[axis] = detail::places_of(reference.grid, evaluated.grid, axis);
  }
  auto const offsets = detail::offsets_of(evaluated.grid, places, criteria, options);
  check_doses(exec);
  double const dose = options.normalise == normalisation::given    ? options.given_dose
                      : options.normalise == normalisation::global ? reference_maximum_
                                                                   : 1.0;
  using iso::detail::copied;
  for (int axis = 0; axis < 3; ++axis) {
    arrays_.places[axis] = copied<Space>(exec, function, places[axis]);
  }
  arrays_.offsets = copied<Space>(exec, function, offsets);
  arrays_.criteria =
      copied<Space>(exec, function, detail::terms_of(evaluated.grid, criteria, dose));
  if (options.between != interpolation::grid_points) {
    std::int64_t cells = 1;
    for (int axis = 0; axis < 3; ++axis) {
      cells *= detail::sites_along(evaluated.grid, options, axis);
    }
    arrays_.ranges = allocate<Kokkos::View<detail::dose_range<T>*, Space>>(
        function, {cells}, exec, Kokkos::WithoutInitializing);
    Kokkos::parallel_for("iso::gamma::gamma_plan: ranges", detail::points_range(exec, cells),
                         detail::dose_range_kernel<T>{search(), arrays_.ranges.data()});
    exec.fence("iso::gamma::gamma_plan: ranges are here");
  }
}

template <real T, class Space>
template <execution_space Exec>
void gamma_plan<T, Space>::check_doses(Exec const& exec) {
  auto const survey_of = [&](volume const& dose, iso::detail::survey_bounds const& bounds) {
    return iso::detail::survey_of("iso::gamma::gamma_plan: doses", exec, dose.data.data(),
                                  dose.grid.size(), bounds);
  };
  auto const reference = survey_of(reference_, {});
  auto const evaluated = survey_of(evaluated_, {});
  detail::validate_finite(reference.not_finite, reference_.grid, "reference");
  detail::validate_finite(evaluated.not_finite, evaluated_.grid, "evaluated");
  reference_maximum_ = reference.largest;
  // As the doses are: one of 0.7 that is a float lies below the double 0.7.
  cut_off_dose_ = double(
      T(options_.cut_off *
        (options_.normalise == normalisation::given ? options_.given_dose : reference_maximum_)));
  double const least = options_.normalise == normalisation::local
                           ? survey_of(reference_, {.lower = cut_off_dose_}).least
                           : reference_maximum_;
  double const size = reference.largest_size > evaluated.largest_size ? reference.largest_size
                                                                      : evaluated.largest_size;
  detail::validate_differences(criteria_, options_, reference_maximum_, size, least);
}

template <real T, class Space>
detail::dose_search<T> gamma_plan<T, Space>::search() const {
  auto const& n = evaluated_.grid.extent;
  vec3<double> const h = evaluated_.grid.spacing;
  detail::dose_search<T> s{};
  s.evaluated = evaluated_.data.data();
  s.ranges = arrays_.ranges.data();
  for (int axis = 0; axis < 3; ++axis) {
    s.places[axis] = arrays_.places[axis].data();
    s.sites[axis] = std::int32_t(detail::sites_along(evaluated_.grid, options_, axis));
    s.top[axis] = n[axis] > 1 ? 1 : 0;
    s.last[axis] = std::int32_t(n[axis] - 1);
  }
  s.offsets = arrays_.offsets.data();
  s.num_offsets = std::int32_t(arrays_.offsets.extent(0));
  s.stride[0] = n[1] * n[2];
  s.stride[1] = n[2];
  s.ratio = {h.x / h.y, h.x / h.z, h.y / h.z};
  s.inverse_ratio = {h.y / h.x, h.z / h.x, h.z / h.y};
  s.criteria = arrays_.criteria.data();
  s.num_criteria = std::int32_t(criteria_.size());
  s.most = options_.max_gamma * options_.max_gamma;
  s.local = options_.normalise == normalisation::local;
  return s;
}

template <execution_space Exec, real T>
void gamma_index(Exec const& exec, gamma_plan<T, typename Exec::memory_space> const& plan,
                 gamma_values<std::type_identity_t<T>, typename Exec::memory_space> const& gamma,
                 status_values<typename Exec::memory_space> const& status, job const& control) {
  char const* const function = "iso::gamma::gamma_index";
  detail::validate_results(plan, gamma, status, function);
  auto const reference = memory_of(plan.reference().data, "reference");
  auto const evaluated = memory_of(plan.evaluated().data, "evaluated");
  validate_apart(memory_of(gamma, "gamma"), {reference, evaluated, memory_of(status, "status")},
                 function);
  validate_apart(memory_of(status, "status"), {reference, evaluated}, function);
  Kokkos::Profiling::ScopedRegion const region("iso::gamma::gamma_index");
  auto const& n = plan.reference().grid.extent;
  auto const launch = [&](auto between) {
    detail::gamma_kernel<T, decltype(between)::value> const kernel{
        plan.search(),       plan.reference().data.data(),
        plan.cut_off_dose(), {n[0], n[1], n[2]},
        gamma.data(),        status.data()};
    // Points have very different amounts of work.
    using policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                       Kokkos::IndexType<std::int64_t>>;
    iso::detail::in_timed_batches(
        exec, plan.reference().grid.size(), control, [&](std::int64_t first, std::int64_t last) {
          policy points(exec, first, last);
          if constexpr (!backend::is_device<Exec>) {
            // Some for each thread, also of a small batch.
            points.set_chunk_size(int(std::clamp<std::int64_t>(
                (last - first) / (4 * std::int64_t(exec.concurrency())), 1, 256)));
          }
          Kokkos::parallel_for("iso::gamma::gamma_index", points, kernel);
        });
  };
  switch (plan.options().between) {
    case interpolation::trilinear:
      return launch(std::integral_constant<interpolation, interpolation::trilinear>());
    case interpolation::tetrahedra:
      return launch(std::integral_constant<interpolation, interpolation::tetrahedra>());
    case interpolation::grid_points:
      return launch(std::integral_constant<interpolation, interpolation::grid_points>());
  }
}

template <execution_space Exec, real T>
std::vector<gamma_summary> summarise(
    Exec const& exec, gamma_plan<T, typename Exec::memory_space> const& plan,
    gamma_values<std::type_identity_t<T> const, typename Exec::memory_space> const& gamma,
    const_status_values<typename Exec::memory_space> const& status,
    summary_options const& options) {
  using space = typename Exec::memory_space;
  using bins_type = Kokkos::View<std::uint64_t*, space>;
  detail::validate_results(plan, gamma, status, "iso::gamma::summarise");
  detail::validate_summary(options);
  std::int64_t const points = plan.reference().grid.size();
  double const max_gamma = plan.options().max_gamma;
  auto const bins = allocate<bins_type>("iso::gamma::summarise", {options.bins}, exec,
                                        Kokkos::WithoutInitializing);
  std::vector<std::uint64_t> histogram(std::size_t(options.bins));
  std::vector<gamma_summary> all;
  for (std::size_t n = 0; n < plan.criteria().size(); ++n) {
    T const* const first = gamma.data() + std::int64_t(n) * points;
    Kokkos::deep_copy(exec, bins, std::uint64_t(0));
    detail::gamma_counts counts{};
    Kokkos::parallel_reduce("iso::gamma::summarise", detail::points_range(exec, points),
                            detail::gamma_counts_kernel<T>{
                                first, status.data(), options.passes == pass_rule::at_most_one,
                                max_gamma / double(options.bins), options.bins, bins.data()},
                            counts);
    Kokkos::deep_copy(exec,
                      Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          histogram.data(), histogram.size()),
                      bins);
    exec.fence("iso::gamma::summarise: the counts are here");
    double const sum = sum_of(exec, points, detail::gamma_term<T>{first, status.data()});
    all.push_back(detail::summary_of(counts, points, histogram, sum, max_gamma));
  }
  return all;
}

#define ISO_GAMMA_INDEX(linkage, Exec, T)                                                   \
  linkage template gamma_plan<T, Exec::memory_space>::gamma_plan(                           \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                         \
      volume_view<T const, Exec::memory_space> const&, std::vector<criterion> const&,       \
      gamma_options const&);                                                                \
  linkage template void gamma_index<Exec, T>(                                               \
      Exec const&, gamma_plan<T, Exec::memory_space> const&,                                \
      gamma_values<T, Exec::memory_space> const&, status_values<Exec::memory_space> const&, \
      job const&);                                                                          \
  linkage template std::vector<gamma_summary> summarise<Exec, T>(                           \
      Exec const&, gamma_plan<T, Exec::memory_space> const&,                                \
      gamma_values<T const, Exec::memory_space> const&,                                     \
      const_status_values<Exec::memory_space> const&, summary_options const&);
ISO_FOR_EACH_INSTANCE(ISO_GAMMA_INDEX, extern)

}  // namespace iso::gamma
