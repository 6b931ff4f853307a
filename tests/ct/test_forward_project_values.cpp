// SPDX-License-Identifier: BSD-3-Clause
// What reproducible sums may be off by, and how far a voxel that is not finite reaches.
#include "forward_project_support.hpp"

#include <iso/core/numerics.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/ct/detail/chords.hpp>
#include <iso/ct/detail/forward_project_dda_kernel.hpp>
#include <iso/ct/detail/joseph_sample.hpp>
#include <iso/ct/detail/ray_sum.hpp>
#include <iso/ray/traverse.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using iso::boundary;
using namespace projector_support;

template <class T>
T from_bits(iso::bits_of<T> bits) {
  return Kokkos::bit_cast<T>(bits);
}

template <class T>
double largest(volume<T> const& v) {
  double most = 0;
  for (std::size_t n = 0; n < v.data.size(); ++n) {
    most = std::max(most, std::abs(double(v.data.data()[n])));
  }
  return most;
}

/// The samples' sum without any rounding of its own: each of the kernels' samples, added in long
/// double.
template <class T>
struct unrounded {
  long double sum = 0;
  double step = 0;
  std::int64_t samples = 0;

  unrounded(problem const& p, volume<T> const& v, view_vectors const& view, double u, double w) {
    using namespace iso::ct::detail;
    auto const& g = p.volume;
    auto const line =
        make_line<T>(iso::ct::detail::to_index(view, g, p.scan.kind()), p.scan.kind(), g, u, w);
    int const a = other_axis(line.axis, 0);
    int const b = other_axis(line.axis, 1);
    std::int64_t const strides[3] = {g.extent[1] * g.extent[2], g.extent[2], 1};
    for (std::int32_t i = line.planes.first; i < line.planes.last; ++i) {
      sum +=
          edge_sample(static_cast<T const*>(v.data.data()) + i * strides[line.axis],
                      line.across[0](i), strides[a], g.extent[std::size_t(a)], line.across[1](i),
                      strides[b], g.extent[std::size_t(b)], boundary::zero, iso::linear_weight{});
      ++samples;
    }
    step = double(line.step);
  }
};

/// The chords of the n x n rays of a pixel: their words by the definition, and their sum without
/// any rounding of its own.
template <class T>
struct sum_of_chords {
  std::int64_t words = 0;
  long double sum = 0;
  std::int64_t chords = 0;

  /// `per_unit`: units a product of 1.
  sum_of_chords(problem const& p, volume<T> const& v, view_vectors const& view, double u, double w,
                forward_project_options const& options, double per_unit) {
    using namespace iso::ct::detail;
    iso::ray::traversal_grid const walked(p.volume);
    ray_limits const limits(p.volume, options.within);
    double const n = options.oversampling;
    for (int part = 0; part < options.oversampling * options.oversampling; ++part) {
      double const du = (part / options.oversampling + 0.5) / n - 0.5;
      double const dw = (part % options.oversampling + 0.5) / n - 0.5;
      auto const visit = [&](std::int64_t voxel, T chord) {
        T const value = v.data.data()[voxel];
        sum += (long double)(value) * (long double)(chord);
        // Rounded once: to the nearest whole number, of two the even one.
        words +=
            std::int64_t(std::fma(double(value) * per_unit, double(chord), 0x1.8p52) - 0x1.8p52);
        ++chords;
      };
      iso::ray::detail::reporter<T, decltype(visit) const> report{visit};
      iso::ray::detail::walk(
          iso::ray::siddon{},
          iso::ray::detail::enter<T, std::int64_t>(
              limits.clipped(pixel_ray(view, p.scan.kind(), u + du, w + dw)), walked),
          report);
    }
  }
};

/// The scans of the tests below: both kinds of path, several slabs, rays that miss.
std::vector<problem> some_problems() {
  std::vector<problem> list;
  list.push_back({grid::centred({70, 66, 40}, {1, 1.25, 0.75}),
                  iso::ct::circular_cone({17, 70, 7, 1.1, 3, 2}, 200, 300,
                                         iso::ct::even_angles(3, 2 * pi, 0.1))});
  std::mt19937_64 random(41);
  for (int n = 0; n < 12; ++n) {
    list.push_back(random_problem(random, n % 2 == 0 ? tilt::none : tilt::any));
  }
  return list;
}

/// One voxel about the grid's middle.
template <class T>
T& middle_voxel(volume<T> const& v) {
  auto const& n = v.grid.extent;
  return v.data(n[0] / 2, n[1] / 2, n[2] / 2);
}

struct options_case {
  projector method;
  summation sum;
  joseph_path path;
};

std::vector<options_case> all_cases() {
  std::vector<options_case> list;
  for (auto const method : all_methods) {
    list.push_back({method, summation::ordered, joseph_path::automatic});
    list.push_back({method, summation::reproducible, joseph_path::automatic});
  }
  list.push_back({projector::joseph_linear, summation::ordered, joseph_path::general});
  list.push_back({projector::joseph_linear, summation::reproducible, joseph_path::general});
  return list;
}

enum class backends { first, all };

/// Rays that blend or cross the bad voxel are those to which the voxel alone gives something.
template <class T>
std::int64_t check_reach(problem const& p, T bad, forward_project_options const& options,
                         unsigned seed, backends which) {
  auto v = random_volume<T>(p.volume, seed);
  auto const alone = volume_of<T>(p.volume, [](auto, auto, auto) { return 0; });
  middle_voxel(alone) = 1;
  middle_voxel(v) = 0;
  auto const clean = projected(v, p.scan, options);
  auto const touches = projected(alone, p.scan, {.method = options.method});
  middle_voxel(v) = bad;
  std::int64_t reached = 0;
  iso::backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    if (which == backends::first && !std::is_same_v<exec_space, Kokkos::Serial>) {
      return;
    }
    auto const ours = projected(exec_space(), v, p.scan, options);
    std::int64_t wrong = 0;
    reached = 0;
    for (std::size_t n = 0; n < ours.size(); ++n) {
      auto const bits = Kokkos::bit_cast<iso::bits_of<T>>(ours[n]);
      bool const canonical = bits == iso::bits_of<T>(iso::float_bits<T>::canonical_nan);
      if (touches[n] != T(0)) {
        ++reached;
        bool const infinity =
            std::isinf(ours[n]) && std::isinf(bad) && options.sum == summation::ordered;
        wrong += canonical || infinity ? 0 : 1;
      } else {
        wrong += bits == Kokkos::bit_cast<iso::bits_of<T>>(clean[n]) ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  });
  return reached;
}

}  // namespace

TEST_CASE_TEMPLATE(
    "reproducible sums: half a grid step a sample, and the given maximum counts as the found one",
    T, float, double) {
  double worst = 0;
  unsigned seed = 1;
  for (auto const& p : some_problems()) {
    auto v = random_volume<T>(p.volume, ++seed);
    for (std::size_t n = 0; n < v.data.size(); n += 3) {
      v.data.data()[n] *= T(-0.7);
    }
    auto const& n = p.volume.extent;
    double const most = largest(v);
    double const unit =
        double(iso::reproducible_scale<T>(most, double(std::max({n[0], n[1], n[2]}))).unit());
    auto const found = projected(v, p.scan, {.sum = summation::reproducible});
    CHECK(difference(found, projected(v, p.scan,
                                      {.sum = summation::reproducible, .max_abs = most})) == "");
    std::size_t at = 0;
    for (auto const& view : p.scan.views()) {
      for (std::int64_t u = 0; u < p.scan.num_u(); ++u) {
        for (std::int64_t w = 0; w < p.scan.num_v(); ++w, ++at) {
          unrounded<T> const truth(p, v, view, double(u), double(w));
          double const expected = double(truth.sum) * truth.step;
          double const rounding =
              2 * double(std::numeric_limits<T>::epsilon()) * std::abs(expected);
          double const bound = 0.5 * unit * double(truth.samples) * truth.step;
          double const error = std::abs(double(found[at]) - expected);
          CHECK(error <= bound + rounding + 1e-15 * std::abs(expected));
          worst = bound > 0 ? std::max(worst, error / bound) : worst;
        }
      }
    }
  }
  CHECK(worst > 1e-3);  // else the bound says nothing
}

TEST_CASE_TEMPLATE("reproducible sums of chords: half a unit a chord, by their definition", T,
                   float, double) {
  double worst = 0;
  unsigned seed = 1;
  for (auto const& p : some_problems()) {
    auto v = random_volume<T>(p.volume, ++seed);
    for (std::size_t n = 0; n < v.data.size(); n += 3) {
      v.data.data()[n] *= T(-0.7);
    }
    forward_project_options options{.method = exact_methods[seed % exact_methods.size()],
                                    .sum = summation::reproducible,
                                    .within = seed % 3 == 0 ? region::cylinder : region::box,
                                    .oversampling = seed % 2 == 0 ? 1 : 3};
    double const rays = double(options.oversampling) * double(options.oversampling);
    auto const& n = p.volume.extent;
    iso::reproducible_scale<T> const scale(largest(v) * iso::ct::detail::longest_step<T>(p.volume),
                                           rays * double(n[0] + n[1] + n[2] + 3));
    auto const found = projected(v, p.scan, options);
    options.max_abs = largest(v);
    CHECK(difference(found, projected(v, p.scan, options)) == "");
    std::vector<T> expected;
    for (auto const& view : p.scan.views()) {
      for (std::int64_t u = 0; u < p.scan.num_u(); ++u) {
        for (std::int64_t w = 0; w < p.scan.num_v(); ++w) {
          sum_of_chords<T> const truth(p, v, view, double(u), double(w), options,
                                       double(scale.scale()));
          expected.push_back(T(truth.words) * scale.unit() / T(rays));
          double const bound = 0.5 * double(scale.unit()) * double(truth.chords) / rays;
          double const sum = double(truth.sum) / rays;
          double const error = std::abs(double(found[expected.size() - 1]) - sum);
          CHECK(error <= bound + double(std::numeric_limits<T>::epsilon()) * std::abs(sum) +
                             1e-15 * std::abs(sum));
          worst = bound > 0 ? std::max(worst, error / bound) : worst;
        }
      }
    }
    CHECK(difference(found, expected) == "");
  }
  CHECK(worst > 1e-3);  // else the bound says nothing
}

TEST_CASE_TEMPLATE("reproducible sums: a larger maximum than there is only coarsens them", T, float,
                   double) {
  auto const p = some_problems()[0];
  auto const v = random_volume<T>(p.volume);
  auto const fine = projected(v, p.scan, {.sum = summation::reproducible});
  auto const coarse = projected(v, p.scan, {.sum = summation::reproducible, .max_abs = 1000.0});
  double const unit = double(iso::reproducible_scale<T>(1000.0, 70.0).unit());
  CHECK(difference(fine, coarse) != "");
  CHECK(farthest(fine, coarse) <= 70 * 1.8 * 1.25 * unit);
}

TEST_CASE_TEMPLATE("reproducible sums of nothing but zeros are zero", T, float, double) {
  auto const p = some_problems()[0];
  auto const v = volume_of<T>(p.volume, [](auto, auto, auto) { return 0; });
  for (auto const max_abs : {std::optional<double>(), std::optional<double>(0.0)}) {
    for (T const value :
         projected(v, p.scan, {.sum = summation::reproducible, .max_abs = max_abs})) {
      CHECK(value == T(0));
    }
  }
}

TEST_CASE_TEMPLATE(
    "a voxel that is not finite reaches the rays that blend or cross it, and no others", T, float,
    double) {
  using word = iso::bits_of<T>;
  // A negative NaN with a payload: what leaves must be the canonical one.
  T const nan = from_bits<T>(word(~word(0) - word(5)));
  T const infinity = std::numeric_limits<T>::infinity();
  std::int64_t reached = 0;
  unsigned seed = 7;
  for (auto const& p : some_problems()) {
    ++seed;
    CAPTURE(seed);
    for (auto const& c : all_cases()) {
      CAPTURE(int(c.method));
      CAPTURE(int(c.sum));
      CAPTURE(int(c.path));
      for (T const bad : {nan, infinity, T(-infinity)}) {
        reached += check_reach<T>(p, bad, {.method = c.method, .sum = c.sum, .path = c.path}, seed,
                                  seed < 10 ? backends::all : backends::first);
      }
    }
  }
  CHECK(reached > 1000);
}

// Between such voxels a blend is infinite, though none of them is.
TEST_CASE_TEMPLATE("reproducible sums of voxels as large as can be: flagged where blends overflow",
                   T, float, double) {
  auto const p = some_problems()[0];
  T const most = std::numeric_limits<T>::max();
  for (T const size : {most, T(0.2) * most}) {
    auto const v = volume_of<T>(p.volume, [size](auto i, auto j, auto k) {
      return double((i + j + k) % 2 == 0 ? size : -size);
    });
    auto const found = projected(v, p.scan, {.sum = summation::reproducible});
    CHECK(difference(found, projected(v, p.scan,
                                      {.sum = summation::reproducible, .max_abs = double(size)})) ==
          "");
    CHECK(difference(found, projected(v, p.scan,
                                      {.sum = summation::reproducible,
                                       .path = joseph_path::general})) == "");
    auto const overflown =
        std::count_if(found.begin(), found.end(), [](T x) { return std::isnan(x); });
    CHECK((overflown > 100) == (size == most));
  }
}

TEST_CASE_TEMPLATE("volumes of nothing but NaN: canonical everywhere they are met", T, float,
                   double) {
  auto const p = some_problems()[0];
  auto const v = volume_of<T>(
      p.volume, [](auto, auto, auto) { return std::numeric_limits<double>::quiet_NaN(); });
  for (auto const& c : all_cases()) {
    CAPTURE(int(c.method));
    CAPTURE(int(c.sum));
    std::int64_t met = 0;
    for (T const value : projected(v, p.scan, {.method = c.method, .sum = c.sum, .path = c.path})) {
      bool const canonical = Kokkos::bit_cast<iso::bits_of<T>>(value) ==
                             iso::bits_of<T>(iso::float_bits<T>::canonical_nan);
      met += canonical ? 1 : 0;
      CHECK((canonical || value == T(0)));
    }
    CHECK(met > 100);
  }
}

TEST_CASE_TEMPLATE("a NaN beside a ray through voxel centres: of the upper neighbour alone", T,
                   float, double) {
  auto const g = grid::centred({5, 5, 5}, {1, 1, 1});
  geometry const along_x(beam::parallel, 1, 1, {{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  for (auto const path : {joseph_path::automatic, joseph_path::general}) {
    for (int const beside : {-1, 1}) {
      auto const v = volume_of<T>(g, [&](auto, auto j, auto k) {
        return j == 2 + beside && k == 2 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
      });
      T const joseph = projected(v, along_x, {.path = path})[0];
      CHECK(std::isnan(joseph) == (beside == 1));
      CHECK(projected(v, along_x, {.method = projector::siddon})[0] == 5);
    }
  }
}
