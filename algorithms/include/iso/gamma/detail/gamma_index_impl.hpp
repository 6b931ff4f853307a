// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/gamma/gamma_index.hpp, for the files that instantiate
//! them.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/detail/added_planes.hpp>
#include <iso/core/job.hpp>
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
/// Throws where a dose is not finite. Numbers are counted in the planes that are held.
/// \param name  which dose, before its name; may be empty
void validate_finite(iso::detail::found_numbers const& not_finite, iso::grid const& g,
                     slab const& planes, char const* name, char const* function);
/// Throws where what is held of a dose is larger than the bounds of all of it.
void validate_bounds(dose_bounds const& held, dose_bounds const& all, char const* name);
/// Throws where evaluated planes are not held that the search about the reference's needs.
void validate_planes(slab const& held, slab const& needed, slab const& reference_planes);
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
/// Returns how many cells along z, or 0 without interpolation, some evaluated planes hold.
std::int64_t cells_held(iso::grid const& evaluated, gamma_options const& options,
                        slab const& planes);
/// \param points  extents of the reference, and planes that are held of it
void validate_results(std::int64_t const (&points)[3], std::int64_t criteria,
                      std::int64_t const (&gamma)[4], std::int64_t const (&status)[3],
                      char const* function);
bool same_comparison(std::vector<criterion> const& a, gamma_options const& of_a,
                     std::vector<criterion> const& b, gamma_options const& of_b);

template <class Exec>
auto points_range(Exec const& exec, std::int64_t count) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count);
}

/// The extents of what a plan compares: those of the reference, and the planes that it holds.
template <class T, class Space>
array<std::int64_t, 3> points_of(gamma_plan<T, Space> const& plan) {
  auto const& n = plan.reference().grid.extent;
  return {n[0], n[1], plan.reference().planes().count()};
}

template <class T, class Space, class Gamma, class Status>
void validate_results(gamma_plan<T, Space> const& plan, Gamma const& gamma, Status const& status,
                      char const* function) {
  std::int64_t const g[4] = {std::int64_t(gamma.extent(0)), std::int64_t(gamma.extent(1)),
                             std::int64_t(gamma.extent(2)), std::int64_t(gamma.extent(3))};
  std::int64_t const s[3] = {std::int64_t(status.extent(0)), std::int64_t(status.extent(1)),
                             std::int64_t(status.extent(2))};
  auto const n = points_of(plan);
  validate_results({n[0], n[1], n[2]}, std::int64_t(plan.criteria().size()), g, s, function);
  validate_memory({memory_of(gamma, "gamma"), memory_of(status, "status")}, function);
  validate_contiguous(gamma, "gamma", function);
  validate_contiguous(status, "status", function);
}

template <execution_space Exec, real T>
iso::detail::survey survey_of(Exec const& exec,
                              volume_view<T const, typename Exec::memory_space> const& dose,
                              iso::detail::survey_bounds const& bounds = {}) {
  return iso::detail::survey_of("iso::gamma: doses", exec, dose.data.data(),
                                std::int64_t(dose.data.size()), bounds);
}

template <execution_space Exec, real T>
dose_bounds find_bounds(Exec const& exec,
                        volume_view<T const, typename Exec::memory_space> const& dose) {
  char const* const function = "iso::gamma::bounds_of";
  validate_slab(dose, function);
  validate_contiguous(dose.data, "dose", function);
  auto const found = survey_of<Exec, T>(exec, dose);
  validate_finite(found.not_finite, dose.grid, dose.planes(), "", function);
  return {found.largest, found.largest_size};
}

}  // namespace detail

template <real T, class Space>
template <execution_space Exec>
gamma_plan<T, Space>::gamma_plan(Exec const& exec, volume const& reference, volume const& evaluated,
                                 std::vector<criterion> const& criteria,
                                 gamma_options const& options)
    : reference_(reference), evaluated_(evaluated), criteria_(criteria), options_(options) {
  iso::validate(reference, "iso::gamma::gamma_plan");
  iso::validate(evaluated, "iso::gamma::gamma_plan");
  prepare(exec, nullptr, nullptr);
}

template <real T, class Space>
template <execution_space Exec>
gamma_plan<T, Space>::gamma_plan(Exec const& exec, volume const& reference, volume const& evaluated,
                                 std::vector<criterion> const& criteria,
                                 gamma_options const& options, dose_bounds const& of_reference,
                                 dose_bounds const& of_evaluated)
    : reference_(reference), evaluated_(evaluated), criteria_(criteria), options_(options) {
  validate_slab(reference, "iso::gamma::gamma_plan");
  validate_slab(evaluated, "iso::gamma::gamma_plan");
  prepare(exec, &of_reference, &of_evaluated);
}

/// \param of_reference, of_evaluated  null: of what is held
template <real T, class Space>
template <execution_space Exec>
void gamma_plan<T, Space>::prepare(Exec const& exec, dose_bounds const* of_reference,
                                   dose_bounds const* of_evaluated) {
  char const* const function = "iso::gamma::gamma_plan";
  validate_contiguous(reference_.data, "reference", function);
  validate_contiguous(evaluated_.data, "evaluated", function);
  grid const& r = reference_.grid;
  grid const& e = evaluated_.grid;
  slab const held = evaluated_.planes();
  detail::validate_planes(held, planes_needed(r, e, reference_.planes(), criteria_, options_),
                          reference_.planes());
  std::vector<detail::reference_place> places[3];
  for (int axis = 0; axis < 3; ++axis) {
    places[axis] = detail::places_of(r, e, axis);
  }
  auto const offsets = detail::offsets_of(e, places, criteria_, options_);
  check_doses(exec, of_reference, of_evaluated);
  double const dose = options_.normalise == normalisation::given    ? options_.given_dose
                      : options_.normalise == normalisation::global ? reference_maximum_
                                                                    : 1.0;
  using iso::detail::copied;
  for (int axis = 0; axis < 3; ++axis) {
    arrays_.places[axis] = copied<Space>(exec, function, places[axis]);
  }
  arrays_.offsets = copied<Space>(exec, function, offsets);
  arrays_.criteria = copied<Space>(exec, function, detail::terms_of(e, criteria_, dose));
  if (options_.between != interpolation::grid_points) {
    std::int64_t const cells = detail::sites_along(e, options_, 0) *
                               detail::sites_along(e, options_, 1) *
                               detail::cells_held(e, options_, held);
    arrays_.ranges = allocate<Kokkos::View<detail::dose_range<T>*, Space>>(
        function, {cells}, exec, Kokkos::WithoutInitializing);
    Kokkos::parallel_for("iso::gamma::gamma_plan: ranges", detail::points_range(exec, cells),
                         detail::dose_range_kernel<T>{search(), held.first, arrays_.ranges.data()});
    exec.fence("iso::gamma::gamma_plan: ranges are here");
  }
}

template <real T, class Space>
template <execution_space Exec>
void gamma_plan<T, Space>::check_doses(Exec const& exec, dose_bounds const* of_reference,
                                       dose_bounds const* of_evaluated) {
  auto const found_in = [&](volume const& dose, dose_bounds const* all, char const* name) {
    auto const found = detail::survey_of<Exec, T>(exec, dose);
    detail::validate_finite(found.not_finite, dose.grid, dose.planes(), name,
                            "iso::gamma::gamma_plan");
    dose_bounds const held{found.largest, found.largest_size};
    detail::validate_bounds(held, all != nullptr ? *all : held, name);
    return all != nullptr ? *all : held;
  };
  dose_bounds const reference = found_in(reference_, of_reference, "reference ");
  dose_bounds const evaluated = found_in(evaluated_, of_evaluated, "evaluated ");
  reference_maximum_ = reference.largest;
  // As the doses are: one of 0.7 that is a float lies below the double 0.7.
  cut_off_dose_ = double(
      T(options_.cut_off *
        (options_.normalise == normalisation::given ? options_.given_dose : reference_maximum_)));
  double const least =
      options_.normalise == normalisation::local
          ? detail::survey_of<Exec, T>(exec, reference_, {.lower = cut_off_dose_}).least
          : reference_maximum_;
  detail::validate_differences(criteria_, options_, reference_maximum_,
                               reference.joined(evaluated).largest_size, least);
}

template <real T, class Space>
detail::dose_search<T> gamma_plan<T, Space>::search() const {
  auto const& n = evaluated_.grid.extent;
  vec3<double> const h = evaluated_.grid.spacing;
  detail::dose_search<T> s{};
  slab const held = evaluated_.planes();
  s.evaluated = evaluated_.data.data() - held.first;
  if (options_.between != interpolation::grid_points) {
    s.ranges = arrays_.ranges.data() - held.first;
  }
  s.row = std::int32_t(detail::cells_held(evaluated_.grid, options_, held));
  for (int axis = 0; axis < 3; ++axis) {
    s.places[axis] = arrays_.places[axis].data();
    s.sites[axis] = std::int32_t(detail::sites_along(evaluated_.grid, options_, axis));
    s.top[axis] = n[axis] > 1 ? 1 : 0;
    s.last[axis] = std::int32_t(n[axis] - 1);
  }
  s.places[2] += reference_.first_plane;
  s.offsets = arrays_.offsets.data();
  s.num_offsets = std::int32_t(arrays_.offsets.extent(0));
  s.stride[0] = n[1] * held.count();
  s.stride[1] = held.count();
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
  auto const n = detail::points_of(plan);
  auto const launch = [&](auto between) {
    detail::gamma_kernel<T, decltype(between)::value> const kernel{
        plan.search(),       plan.reference().data.data(),
        plan.cut_off_dose(), {n[0], n[1], n[2]},
        gamma.data(),        status.data()};
    // Points have very different amounts of work.
    using policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                       Kokkos::IndexType<std::int64_t>>;
    iso::detail::in_timed_batches(
        exec, n[0] * n[1] * n[2], control, [&](std::int64_t first, std::int64_t last) {
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
void gamma_sums::add(
    Exec const& exec, gamma_plan<T, typename Exec::memory_space> const& plan,
    gamma_values<std::type_identity_t<T> const, typename Exec::memory_space> const& gamma,
    const_status_values<typename Exec::memory_space> const& status) {
  using space = typename Exec::memory_space;
  using bins_type = Kokkos::View<std::uint64_t*, space>;
  char const* const function = "iso::gamma::gamma_sums::add";
  detail::validate_results(plan, gamma, status, function);
  ISO_VALIDATE(plan.reference().grid == reference_ &&
                   detail::same_comparison(plan.criteria(), plan.options(), criteria_, options_),
               "{}: a plan of another grid, criteria or options (counts are of one comparison); "
               "make both of the same",
               function);
  auto planes = planes_;
  iso::detail::join_planes(planes, std::vector<slab>(1, plan.reference().planes()), function);
  auto const n = detail::points_of(plan);
  std::int64_t const points = n[0] * n[1] * n[2];
  auto const bins =
      allocate<bins_type>(function, {summary_.bins}, exec, Kokkos::WithoutInitializing);
  std::vector<std::uint64_t> histogram(std::size_t(summary_.bins));
  for (std::size_t c = 0; c < criteria_.size(); ++c) {
    Kokkos::deep_copy(exec, bins, std::uint64_t(0));
    detail::gamma_counts counts{};
    Kokkos::parallel_reduce(
        function, detail::points_range(exec, points),
        detail::gamma_counts_kernel<T>{gamma.data() + std::int64_t(c) * points, status.data(),
                                       summary_.passes == pass_rule::at_most_one,
                                       options_.max_gamma / double(summary_.bins), summary_.bins,
                                       scale_, bins.data()},
        counts);
    Kokkos::deep_copy(exec,
                      Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          histogram.data(), histogram.size()),
                      bins);
    exec.fence("iso::gamma::gamma_sums::add: the counts are here");
    sums_[c].add({counts, histogram});
  }
  planes_ = planes;
}

template <execution_space Exec, real T>
std::vector<gamma_summary> summarise(
    Exec const& exec, gamma_plan<T, typename Exec::memory_space> const& plan,
    gamma_values<std::type_identity_t<T> const, typename Exec::memory_space> const& gamma,
    const_status_values<typename Exec::memory_space> const& status,
    summary_options const& options) {
  gamma_sums sums(plan.reference().grid, plan.criteria(), plan.options(), options);
  sums.add<Exec, T>(exec, plan, gamma, status);
  return sums.finish();
}

#define ISO_GAMMA_INDEX(linkage, Exec, T)                                                          \
  linkage template dose_bounds detail::find_bounds<Exec, T>(                                       \
      Exec const&, volume_view<T const, Exec::memory_space> const&);                               \
  linkage template gamma_plan<T, Exec::memory_space>::gamma_plan(                                  \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                                \
      volume_view<T const, Exec::memory_space> const&, std::vector<criterion> const&,              \
      gamma_options const&);                                                                       \
  linkage template gamma_plan<T, Exec::memory_space>::gamma_plan(                                  \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                                \
      volume_view<T const, Exec::memory_space> const&, std::vector<criterion> const&,              \
      gamma_options const&, dose_bounds const&, dose_bounds const&);                               \
  linkage template void gamma_sums::add<Exec, T>(Exec const&,                                      \
                                                 gamma_plan<T, Exec::memory_space> const&,         \
                                                 gamma_values<T const, Exec::memory_space> const&, \
                                                 const_status_values<Exec::memory_space> const&);  \
  linkage template void gamma_index<Exec, T>(                                                      \
      Exec const&, gamma_plan<T, Exec::memory_space> const&,                                       \
      gamma_values<T, Exec::memory_space> const&, status_values<Exec::memory_space> const&,        \
      job const&);                                                                                 \
  linkage template std::vector<gamma_summary> summarise<Exec, T>(                                  \
      Exec const&, gamma_plan<T, Exec::memory_space> const&,                                       \
      gamma_values<T const, Exec::memory_space> const&,                                            \
      const_status_values<Exec::memory_space> const&, summary_options const&);
ISO_FOR_EACH_INSTANCE(ISO_GAMMA_INDEX, extern)

}  // namespace iso::gamma
