// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "scan.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/centre_of_rotation.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/line_integrals.hpp>
#include <iso/jobs/info.hpp>
#include <iso/jobs/scan_input.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace iso::jobs {
namespace {

using extents = std::array<std::int64_t, 3>;

/// Returns how many things of so many numbers pass through a backend at a time.
std::int64_t batch_of(scan_request const& request, std::int64_t numbers, std::int64_t count) {
  return std::clamp<std::int64_t>(request.batch_bytes / (numbers * std::int64_t(sizeof(float))), 1,
                                  count);
}

/// Copies numbers of a range, as many as `to` has, to where `exec` computes; waits.
template <class Exec, class View>
void bring(Exec const& exec, View const& to, float const* from) {
  put(exec, to, std::span<float const>(from, to.size()));
}

template <class T, class Exec>
Kokkos::View<T*, typename Exec::memory_space> numbers_on(Exec const& exec,
                                                         std::vector<T> const& values) {
  Kokkos::View<T*, typename Exec::memory_space> const copy(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::numbers"), values.size());
  Kokkos::deep_copy(exec, copy,
                    Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        values.data(), values.size()));
  exec.fence("iso::jobs::scan_input: numbers in place");
  return copy;
}

void check_field(std::optional<files::image_stack> const& field, extents const& n,
                 char const* name) {
  ISO_VALIDATE(!field || (field->extent[1] == n[1] && field->extent[2] == n[2]),
               "{}: images of {} x {} pixels (those of the scan have {} x {}); take fields of the "
               "same detector",
               name, field ? field->extent[1] : 0, field ? field->extent[2] : 0, n[1], n[2]);
}

/// Returns the mean of images, so weighted or of all, pixel by pixel: [u, v]. All images of some
/// columns pass through the backend at a time.
template <class Exec>
std::vector<float> mean_of(Exec const& exec, scan_request const& request,
                           std::vector<float> const& values, extents const& n,
                           std::vector<double> const& weights) {
  using space = typename Exec::memory_space;
  auto const weights_there = numbers_on(exec, weights);
  std::int64_t const step = batch_of(request, n[0] * n[2], n[1]);
  auto const all = make_projections<float, space>(exec, "iso::jobs::columns", n[0], step, n[2]);
  auto const mean = make_projections<float, space>(exec, "iso::jobs::mean", 1, step, n[2]);
  std::vector<float> some(all.data.size());
  std::vector<float> result;
  for (std::int64_t u = 0; u < n[1]; u += step) {
    std::int64_t const count = std::min(step, n[1] - u);
    for (std::int64_t image = 0; image < n[0]; ++image) {
      std::copy_n(values.begin() + (image * n[1] + u) * n[2], count * n[2],
                  some.begin() + image * count * n[2]);
    }
    auto const p = wrap_projections<space>(all.data.data(), n[0], count, n[2]);
    auto const of_these = wrap_projections<space>(mean.data.data(), 1, count, n[2]);
    bring(exec, p.data, some.data());
    ct::mean_of_views<Exec, float>(exec, p, weights_there, of_these);
    auto const here = fetch(exec, of_these.data);
    result.insert(result.end(), here.begin(), here.end());
  }
  return result;
}

/// One image: the mean of `field`, or `otherwise` everywhere.
template <class Exec>
projection_view<float, typename Exec::memory_space> field_of(
    Exec const& exec, scan_request const& request, std::optional<files::image_stack> const& field,
    double otherwise, extents const& n) {
  auto const mean =
      make_projections<float, typename Exec::memory_space>(exec, "iso::jobs::field", 1, n[1], n[2]);
  if (field) {
    put(exec, mean.data, mean_of(exec, request, field->values, field->extent, {}));
  } else {
    Kokkos::deep_copy(exec, mean.data, float(otherwise));
  }
  return mean;
}

/// The dead pixels, as a mask where `exec` computes, and their number.
template <class Exec>
std::pair<ct::pixel_mask<typename Exec::memory_space>, std::int64_t> dead_of(
    Exec const& exec, scan_request const& request,
    projection_view<float, typename Exec::memory_space> const& dark,
    projection_view<float, typename Exec::memory_space> const& flat, extents const& n) {
  ct::pixel_mask<typename Exec::memory_space> const mask(
      Kokkos::view_alloc(exec, "iso::jobs::dead"), std::size_t(n[1]), std::size_t(n[2]));
  if (request.find_dead) {
    ct::find_dead_pixels<Exec, float>(exec, dark, flat, mask);
  }
  auto const host = Kokkos::create_mirror_view(mask);
  Kokkos::deep_copy(exec, host, mask);
  exec.fence("iso::jobs::scan_input: dead pixels found");
  for (auto const& [u, v] : request.dead) {
    ISO_VALIDATE(u >= 0 && u < n[1] && v >= 0 && v < n[2],
                 "dead pixel ({}, {}) (the detector has {} x {} pixels, counted from 0); correct "
                 "its line in --dead-pixels",
                 u, v, n[1], n[2]);
    host(std::size_t(u), std::size_t(v)) = 1;
  }
  // Without response no line integral can be told, whether or not somebody looked for such pixels.
  auto const open = fetch(exec, flat.data);
  auto const closed = fetch(exec, dark.data);
  std::int64_t responding = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < open.size(); ++i) {
    bool const responds = open[i] > closed[i];
    responding += responds ? 1 : 0;
    host.data()[i] = host.data()[i] != 0 || !responds ? 1 : 0;
    count += host.data()[i];
  }
  ISO_VALIDATE(responding > 0,
               "flat field: no pixel reads more than the dark field (the beam was off, or the two "
               "are exchanged); take flats with the beam on");
  ISO_VALIDATE(count < std::int64_t(open.size()),
               "dead pixels: all {} pixels of the detector are dead (none is left to replace them "
               "from); check the flats and darks",
               count);
  Kokkos::deep_copy(exec, mask, host);
  exec.fence("iso::jobs::scan_input: dead pixels in place");
  return {mask, count};
}

/// Sets what the mask hides, where there is one, to 0.
void hide(std::vector<float>& values, std::span<float const> mask) {
  for (std::size_t i = 0; i < mask.size(); ++i) {
    values[i] = mask[i] == 0 ? 0 : values[i];
  }
}

template <class Exec>
double estimated_centre(Exec const& exec, scan_request const& request, ct::geometry const& g,
                        std::vector<float> const& values, extents const& n) {
  auto const mean = mean_of(exec, request, values, n, ct::mirror_weights(g));
  std::vector<double> const wide(mean.begin(), mean.end());
  double const last = double(g.num_u() - 1);
  return ct::centre_of_rotation(
      wrap_projections<Kokkos::HostSpace>(wide.data(), 1, g.num_u(), g.num_v()),
      {std::clamp(ct::axis_pixel(g), 0.0, last), 0});
}

/// Makes line integrals of readings, where they lie, some views at a time. Returns the number of
/// dead pixels.
template <class Exec>
std::int64_t correct(Exec const& exec, scan_request const& request, extents const& n,
                     std::vector<float>& values, observer const& watch) {
  using space = typename Exec::memory_space;
  ISO_VALIDATE(request.flats || request.white,
               "no flat field (readings say nothing without that of an open beam); give "
               "--flats or --white, or --line-integrals where the images hold those");
  check_field(request.flats, n, "flat fields");
  check_field(request.darks, n, "dark fields");
  auto const dark = field_of(exec, request, request.darks, 0, n);
  auto const flat = field_of(exec, request, request.flats, request.white.value_or(0), n);
  auto const [dead, count] = dead_of(exec, request, dark, flat, n);
  std::int64_t const image = n[1] * n[2];
  std::int64_t const step = batch_of(request, image, n[0]);
  auto const all = make_projections<float, space>(exec, "iso::jobs::readings", step, n[1], n[2]);
  for (std::int64_t first = 0; first < n[0]; first += step) {
    watch.step(0.7 * double(first) / double(n[0]), "correcting readings");
    auto const p =
        wrap_projections<space>(all.data.data(), std::min(step, n[0] - first), n[1], n[2]);
    bring(exec, p.data, values.data() + first * image);
    ct::line_integrals<Exec, float>(exec, p, dark, flat, ct::line_integral_options());
    ct::replace_dead_pixels<Exec, float>(exec, p, dead);
    std::ranges::copy(fetch(exec, p.data), values.begin() + first * image);
  }
  return count;
}

void check_sizes(scan_request const& request, extents const& n, ct::geometry const& g) {
  ISO_VALIDATE(n[0] == g.num_views() && n[1] == g.num_u() && n[2] == g.num_v(),
               "{} images of {} x {} pixels (the geometry has {} views of {} x {}); give the "
               "geometry of these images",
               n[0], n[1], n[2], g.num_views(), g.num_u(), g.num_v());
  auto const& mask = request.mask;
  ISO_VALIDATE(
      mask.empty() || mask.size() == request.readings.values.size(),
      "mask of readings: {} numbers (there are {} readings); write the mask in the scan's shape",
      mask.size(), request.readings.values.size());
  ISO_VALIDATE(!request.stored || (request.already_integrals && !request.find_centre),
               "readings of 16 bits (they stay what they are); give numbers to correct them, or to "
               "look for the axis");
}

template <class Exec>
scan_result run(Exec const& exec, scan_request& request, observer const& watch) {
  auto const g = ct::make_geometry(request.geometry.scan);
  extents const n = request.stored ? request.stored->extent : request.readings.extent;
  check_sizes(request, n, g);
  scan_result result;
  result.geometry = std::move(request.geometry);
  result.shape = n;
  result.stored = std::move(request.stored);
  result.projections = std::move(request.readings.values);
  std::int64_t const image = n[1] * n[2] * std::int64_t(sizeof(float));
  // A batch, and the fields.
  std::int64_t const wanted =
      2 * image + std::min(n[0] * image, std::max(request.batch_bytes, image));
  guard_memory(exec, wanted, "iso reconstruct", [&] {
    watch.step(0, "correcting readings");
    if (!request.already_integrals) {
      result.dead_pixels = correct(exec, request, n, result.projections, watch);
    }
    hide(result.projections, request.mask);
    if (request.centre || request.find_centre) {
      watch.step(0.7, "looking for the axis");
      double const centre = request.centre
                                ? *request.centre
                                : estimated_centre(exec, request, g, result.projections, n);
      // The detector moves such that it sees the axis there.
      result.geometry.scan = ct::moved_along_u(result.geometry.scan, ct::axis_pixel(g) - centre);
      result.centre = centre;
    }
    return 0;
  });
  if (!request.already_integrals) {
    float const most = -std::log(float(ct::line_integral_options().min_transmission));
    result.opaque = std::count_if(result.projections.begin(), result.projections.end(),
                                  [&](float x) { return x >= 0.9999F * most; });
    std::int64_t const hidden = std::count(request.mask.begin(), request.mask.end(), 0.0F);
    ISO_VALIDATE(
        result.opaque == 0 || result.opaque < std::int64_t(result.projections.size()) - hidden,
        "all {} readings are too dark to tell a line integral (hardly a photon has reached the "
        "detector); check whether the beam was on, and the flats and darks",
        result.opaque);
  }
  watch.step(1, "readings corrected");
  return result;
}

}  // namespace

scan_result line_integrals_of(scan_request request, observer const& watch) {
  scan_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    result = run(exec, request, watch);
  });
  return result;
}

}  // namespace iso::jobs
