// SPDX-License-Identifier: BSD-3-Clause
//! A detector's readings: made, taken apart, and what is found in them.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/inputs.hpp>

#include <iso/ct/centre_of_rotation.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/line_integrals.hpp>
#include <iso/synthetic/detector_readings.hpp>
#include <iso/synthetic/poisson_counts.hpp>

#include <cmath>

namespace iso::cases {
namespace {

constexpr std::int64_t scan_views = 6;
constexpr std::int64_t scan_u = 64;
constexpr std::int64_t scan_v = 50;
constexpr std::int64_t scan_image = scan_u * scan_v;

/// An image of a dark field, of a flat field, and readings between them.
template <class T>
T dark_at(std::int64_t pixel) {
  return T(100 + 10 * in_unit(std::uint64_t(pixel)));
}
template <class T>
T flat_at(std::int64_t pixel) {
  return T(pixel % 997 == 5 ? 20 : 40000 + 4000 * in_unit(std::uint64_t(pixel) + 0x10000000ULL));
}
template <class T>
T reading_at(std::int64_t index) {
  return T(20000 + 18000 * in_unit(std::uint64_t(index) + 0x20000000ULL));
}

template <class T, class Exec, class Value>
projection_view<T, typename Exec::memory_space> filled(Exec const& exec, std::int64_t count,
                                                       Value const& value) {
  auto const p =
      make_projections<T, typename Exec::memory_space>(exec, "iso::cases", count, scan_u, scan_v);
  auto const host = Kokkos::create_mirror_view(p.data);
  for (std::int64_t i = 0; i < count * scan_image; ++i) {
    host.data()[i] = value(i);
  }
  Kokkos::deep_copy(exec, p.data, host);
  exec.fence("iso::cases: readings in place");
  return p;
}

/// Flat and dark, -log, dead pixels found and replaced.
template <class T>
struct readings_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const dark = filled<T>(exec, 1, dark_at<T>);
    auto const flat = filled<T>(exec, 1, flat_at<T>);
    auto const readings = filled<T>(exec, scan_views, reading_at<T>);
    ct::pixel_mask<space> const dead("iso::cases::dead", scan_u, scan_v);
    return {scan_views * scan_image,
            [=](Exec const& on, variant const&, T* out) {
              auto const p = wrap_projections<space>(out, scan_views, scan_u, scan_v);
              Kokkos::deep_copy(on, p.data, readings.data);
              ct::line_integrals<Exec, T>(on, p, dark, flat);
              ct::find_dead_pixels<Exec, T>(on, dark, flat, dead);
              ct::replace_dead_pixels<Exec, T>(on, p, dead);
            },
            min_work{2.0 * double(scan_views * scan_image) * sizeof(T),
                     25.0 * double(scan_views * scan_image), arithmetic_of<T>},
            [](std::int64_t) {
              std::vector<double> exact;
              for (std::int64_t i = 0; i < scan_views * scan_image; ++i) {
                double const d = double(dark_at<T>(i % scan_image));
                double const f = double(flat_at<T>(i % scan_image));
                exact.push_back(f > d ? -std::log((double(reading_at<T>(i)) - d) / (f - d))
                                      : std::nan(""));
              }
              return exact;
            }};
  }
};

/// The mean over weighted scan_views, and the axis that its symmetry shows.
template <class T>
struct centre_case {
  static T value(std::int64_t index) {
    // A smooth bump about u = 30.3, with something on it that the mean takes away again.
    std::int64_t const view = index / scan_image;
    double const u = double(index % scan_image / scan_v) - 30.3;
    double const v = double(index % scan_v);
    double const odd = view % 2 == 0 ? 1.0 : -1.0;
    return T((1 + 0.01 * v) / (1 + 0.01 * u * u) +
             0.1 * odd * in_unit(std::uint64_t(index % scan_image)));
  }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const p = filled<T>(exec, scan_views, value);
    auto const g = ct::circular_parallel({scan_u, scan_v, 1, 1, 0.5}, even_pairs());
    auto const weights = ct::mirror_weights(g);
    Kokkos::View<double*, space> const w("iso::cases::weights", weights.size());
    Kokkos::deep_copy(w, Kokkos::View<double const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                             weights.data(), weights.size()));
    return {
        scan_image + 2,
        [=](Exec const& on, variant const&, T* out) {
          auto const mean = wrap_projections<space>(out, 1, scan_u, scan_v);
          ct::mean_of_views<Exec, T>(on, p, w, mean);
          auto const values = fetch(on, mean.data);
          std::vector<double> const wide(values.begin(), values.end());
          T const found[2] = {
              T(ct::centre_of_rotation(
                  wrap_projections<Kokkos::HostSpace>(wide.data(), 1, scan_u, scan_v), {31, 0})),
              T(ct::axis_pixel(g))};
          Kokkos::deep_copy(
              on, Kokkos::View<T*, space, Kokkos::MemoryUnmanaged>(out + scan_image, 2),
              Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(found, 2));
          on.fence("iso::cases: what was copied may go");
        },
        min_work{double((scan_views + 1) * scan_image) * sizeof(T),
                 2.0 * double(scan_views * scan_image)},
        [](std::int64_t) {
          std::vector<double> exact;
          for (std::int64_t i = 0; i < scan_image; ++i) {
            double sum = 0;
            for (std::int64_t view = 0; view < scan_views; ++view) {
              sum += double(value(view * scan_image + i));
            }
            exact.push_back(sum / double(scan_views));
          }
          exact.push_back(std::nan(""));  // an estimate
          exact.push_back(31);
          return exact;
        }};
  }

  static std::vector<double> even_pairs() {
    return ct::even_angles(scan_views, 2 * 0x1.921fb54442d18p+1);
  }
};

/// Poisson counts of means from 1/64 to 2^20.
template <class T>
struct poisson_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const means =
        filled<T>(exec, 1, [](std::int64_t i) { return T(std::ldexp(1.0, int(i % 27) - 6)); });
    return {scan_image,
            [=](Exec const& on, variant const&, T* out) {
              using target = Kokkos::View<T*, space>;
              synthetic::poisson_counts<Exec, T>(
                  on, Kokkos::View<T const*, space>(means.data.data(), std::size_t(scan_image)),
                  target(out, std::size_t(scan_image)), {11, 5, 2});
            },
            min_work{2.0 * double(scan_image) * sizeof(T), 0}, nullptr};
  }
};

/// A detector's readings behind line integrals from 0 to 4.
template <class T>
struct detector_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const p = filled<T>(exec, scan_views,
                             [](std::int64_t i) { return T(2 + 2 * in_unit(std::uint64_t(i))); });
    return {scan_views * scan_image,
            [=](Exec const& on, variant const&, T* out) {
              synthetic::detector d;
              d.dead_share = 0.01;
              synthetic::detector_readings<Exec, T>(
                  on, d, 3, p, wrap_projections<space>(out, scan_views, scan_u, scan_v));
            },
            min_work{2.0 * double(scan_views * scan_image) * sizeof(T), 0}, nullptr};
  }
};

}  // namespace

void add_readings(catalogue& all) {
  all.add<readings_case>({"line_integrals",
                          {"iso::backend::for_each_index", "iso::ct::line_integrals",
                           "iso::ct::find_dead_pixels", "iso::ct::replace_dead_pixels"},
                          {{}}});
  all.add<centre_case>({"centre_of_rotation",
                        {"iso::ct::mean_of_views", "iso::ct::mirror_weights",
                         "iso::ct::centre_of_rotation", "iso::ct::axis_pixel"},
                        {{}}});
  all.add<poisson_case>({"poisson_counts", {"iso::synthetic::poisson_counts"}, {{}}, std::nullopt});
  all.add<detector_case>(
      {"detector_readings", {"iso::synthetic::detector_readings"}, {{}}, std::nullopt});
}

}  // namespace iso::cases
