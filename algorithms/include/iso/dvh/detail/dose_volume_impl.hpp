// SPDX-License-Identifier: BSD-3-Clause
//! Holds the definitions of iso/dvh/dose_volume.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/job.hpp>
#include <iso/dvh/detail/placed_dose.hpp>
#include <iso/dvh/dose_volume.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace iso::dvh {

template <execution_space Exec, real T>
histogrammer<Exec, T>::histogrammer(
    Exec const& exec,
    volume_view<std::type_identity_t<T> const, std::type_identity_t<space>> const& dose,
    region<T, space> const& where, job const& control)
    : held_(std::make_shared<detail::placed_dose<Exec, T> const>(
          exec, dose, where, "iso::dvh::histogrammer", iso::detail::asked_only(control))) {}

template <execution_space Exec, real T>
histogrammer<Exec, T>::histogrammer(Exec const& exec, slab_source<T, space> const& source,
                                    job const& control)
    : held_(std::make_shared<detail::placed_dose<Exec, T> const>(
          exec, source, "iso::dvh::histogrammer", iso::detail::asked_only(control))) {}

template <execution_space Exec, real T>
histogrammer<Exec, T>::histogrammer(Exec const& exec, backend::communicator& ranks,
                                    slab_source<T, space> const& source, job const& control)
    : held_(std::make_shared<detail::placed_dose<Exec, T> const>(
          exec, ranks, source, "iso::dvh::histogrammer", iso::detail::asked_only(control))) {}

template <execution_space Exec, real T>
std::int64_t histogrammer<Exec, T>::bytes_needed(grid const& dose, grid const& shares,
                                                 std::vector<quantity> const& quantities,
                                                 std::int64_t bins,
                                                 std::optional<slab> const& own) {
  char const* const function = "iso::dvh::histogrammer";
  iso::validate(dose, function);
  iso::validate(shares, function);
  slab const planes = own.value_or(all_planes(dose));
  iso::validate(planes, dose, function);
  detail::quantity_reader const reader(quantities, {}, extremes::surface);
  // A level, and what gets it.
  auto const levels = [](std::int64_t count) {
    return double(count) * double(sizeof(double) + sizeof(std::uint64_t));
  };
  auto const& n = dose.extent;
  double anywhere = 0;
  if (reader.has_conformity()) {
    anywhere = levels(std::int64_t(reader.levels().size())) +
               detail::bytes_of_cells<space>({{-1, 1}, {-1, 1}, {-1, 1}},
                                             {n[0] + 1, n[1] + 1, n[2] + 1}, n[2], planes);
  }
  auto const at_once = std::max({std::int64_t(reader.levels().size()), bins > 0 ? bins + 1 : 0,
                                 detail::dose_search::levels_at_once(reader.volumes().size())});
  double const bytes = detail::bytes_of_cells<space>(
                           {detail::steps_of(shares, dose, 0), detail::steps_of(shares, dose, 1),
                            detail::steps_of(shares, dose, 2)},
                           shares.extent, n[2], planes) +
                       std::max(anywhere, levels(at_once));
  return std::int64_t(std::min(bytes, 0x1p60));
}

template <execution_space Exec, real T>
dose_statistics histogrammer<Exec, T>::statistics(extremes of, job const& control) const {
  held_->agree(std::vector<double>(1, double(of)));
  detail::validate_extremes(of, "iso::dvh::histogrammer");
  return held_->statistics(of, iso::detail::asked_only(control));
}

template <execution_space Exec, real T>
std::vector<double> histogrammer<Exec, T>::volumes_at(std::vector<double> const& levels,
                                                      job const& control) const {
  held_->agree(levels);
  detail::validate_levels(levels);
  return held_->volumes_at(levels, iso::detail::asked_only(control));
}

template <execution_space Exec, real T>
std::vector<double> histogrammer<Exec, T>::doses_at(std::vector<double> const& volumes,
                                                    job const& control) const {
  held_->agree(volumes);
  detail::validate_volumes(volumes);
  return held_->doses_at(volumes, iso::detail::asked_only(control));
}

template <execution_space Exec, real T>
std::vector<double> histogrammer<Exec, T>::evaluate(std::vector<quantity> const& quantities,
                                                    extremes of, job const& control) const {
  held_->agree(detail::fingerprint_of(quantities, of));
  detail::validate_extremes(of, "iso::dvh::histogrammer");
  return held_->evaluate(quantities, of, iso::detail::asked_only(control));
}

template <execution_space Exec, real T>
histogram histogrammer<Exec, T>::make_histogram(histogram_options const& options,
                                                job const& control) const {
  held_->agree(std::vector<double>{double(options.bins), options.end});
  return held_->make_histogram(options.bins, held_->end_of(options),
                               iso::detail::asked_only(control));
}

template <execution_space Exec, real T>
double histogrammer<Exec, T>::conformity(double prescription, job const& control) const {
  held_->agree(std::vector<double>(1, prescription));
  detail::validate_prescription(prescription);
  return held_->conformity(prescription, iso::detail::asked_only(control));
}

template <execution_space Exec, real T>
dose_statistics statistics(Exec const& exec,
                           volume_view<T const, typename Exec::memory_space> const& dose,
                           region<T, typename Exec::memory_space> const& where, extremes of,
                           job const& control) {
  char const* const function = "iso::dvh::statistics";
  detail::validate_extremes(of, function);
  auto const asked = iso::detail::asked_only(control);
  return detail::placed_dose<Exec, T>(exec, dose, where, function, asked).statistics(of, asked);
}

template <execution_space Exec, real T>
std::vector<double> volumes_at(Exec const& exec,
                               volume_view<T const, typename Exec::memory_space> const& dose,
                               region<T, typename Exec::memory_space> const& where,
                               std::vector<double> const& levels, job const& control) {
  detail::validate_levels(levels);
  auto const asked = iso::detail::asked_only(control);
  return detail::placed_dose<Exec, T>(exec, dose, where, "iso::dvh::volumes_at", asked)
      .volumes_at(levels, asked);
}

template <execution_space Exec, real T>
std::vector<double> doses_at(Exec const& exec,
                             volume_view<T const, typename Exec::memory_space> const& dose,
                             region<T, typename Exec::memory_space> const& where,
                             std::vector<double> const& volumes, job const& control) {
  detail::validate_volumes(volumes);
  auto const asked = iso::detail::asked_only(control);
  return detail::placed_dose<Exec, T>(exec, dose, where, "iso::dvh::doses_at", asked)
      .doses_at(volumes, asked);
}

template <execution_space Exec, real T>
std::vector<std::vector<std::vector<double>>> evaluate(
    Exec const& exec, std::vector<volume_view<T const, typename Exec::memory_space>> const& doses,
    std::vector<region<T, typename Exec::memory_space>> const& structures,
    std::vector<quantity> const& quantities, extremes of, job const& control) {
  char const* const function = "iso::dvh::evaluate";
  detail::validate_extremes(of, function);
  return detail::for_each_placed(
      exec, doses, structures, function, control,
      [&](auto const& placed, job const& asked) { return placed.evaluate(quantities, of, asked); });
}

template <execution_space Exec, real T>
std::vector<std::vector<histogram>> histograms(
    Exec const& exec, std::vector<volume_view<T const, typename Exec::memory_space>> const& doses,
    std::vector<region<T, typename Exec::memory_space>> const& structures,
    histogram_options const& options, job const& control) {
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
  double const end = options.end > 0 ? options.end : beyond_largest_dose * largest;
  return detail::for_each_placed(exec, doses, structures, function, control,
                                 [&](auto const& placed, job const& asked) {
                                   return placed.make_histogram(options.bins, end, asked);
                                 });
}

template <execution_space Exec, real T>
double conformity(Exec const& exec, volume_view<T const, typename Exec::memory_space> const& dose,
                  region<T, typename Exec::memory_space> const& target, double prescription,
                  job const& control) {
  detail::validate_prescription(prescription);
  auto const asked = iso::detail::asked_only(control);
  return detail::placed_dose<Exec, T>(exec, dose, target, "iso::dvh::conformity", asked)
      .conformity(prescription, asked);
}

#define ISO_DVH(linkage, Exec, T)                                                                \
  linkage template class histogrammer<Exec, T>;                                                  \
  linkage template dose_statistics statistics<Exec, T>(                                          \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                              \
      region<T, Exec::memory_space> const&, extremes, job const&);                               \
  linkage template std::vector<double> volumes_at<Exec, T>(                                      \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                              \
      region<T, Exec::memory_space> const&, std::vector<double> const&, job const&);             \
  linkage template std::vector<double> doses_at<Exec, T>(                                        \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                              \
      region<T, Exec::memory_space> const&, std::vector<double> const&, job const&);             \
  linkage template std::vector<std::vector<std::vector<double>>> evaluate<Exec, T>(              \
      Exec const&, std::vector<volume_view<T const, Exec::memory_space>> const&,                 \
      std::vector<region<T, Exec::memory_space>> const&, std::vector<quantity> const&, extremes, \
      job const&);                                                                               \
  linkage template std::vector<std::vector<histogram>> histograms<Exec, T>(                      \
      Exec const&, std::vector<volume_view<T const, Exec::memory_space>> const&,                 \
      std::vector<region<T, Exec::memory_space>> const&, histogram_options const&, job const&);  \
  linkage template double conformity<Exec, T>(                                                   \
      Exec const&, volume_view<T const, Exec::memory_space> const&,                              \
      region<T, Exec::memory_space> const&, double, job const&);
ISO_FOR_EACH_INSTANCE(ISO_DVH, extern)

}  // namespace iso::dvh
