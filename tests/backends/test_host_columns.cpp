// SPDX-License-Identifier: BSD-3-Clause
// Rays between columns of voxels, by hand for processors with AVX-512, against the definition
// written out ray by ray.
#include <iso/backend/detail/host_columns.hpp>
#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/core/order_free.hpp>

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#ifdef ISO_HOST_WIDE

namespace {

using namespace iso::backend::detail;

/// Rows of 32 rays through 16 planes of `height` voxels a column.
template <class T>
struct problem {
  static constexpr std::int32_t planes = column_planes<T>::most;
  static constexpr std::int64_t columns = 5;
  std::mt19937 random{11};
  std::vector<T> volume;
  column_planes<T> fan{};
  std::array<T, 32> slope{};
  std::array<T, 32> base{};
  std::array<T, 32> exact{};
  std::array<iso::bits_of<T>, 32> sums{};
  std::array<iso::bits_of<T>, 32> flags{};

  problem(std::int32_t height, T lowest, T highest) {
    std::uniform_real_distribution<T> value(T(-1), T(1));
    volume.resize(std::size_t(planes * columns * height));
    for (T& v : volume) {
      v = value(random);
    }
    fan.next = height;
    fan.first = 37;
    fan.height = height;
    fan.lowest = lowest;
    fan.highest = highest;
    for (std::int32_t p = 0; p < planes; ++p) {
      fan.lower[p] = volume.data() + (p * columns + p % (columns - 1)) * height;
      fan.weight[p] = std::abs(value(random));
    }
    for (T& e : exact) {
      e = value(random);
    }
  }
  /// Heights at plane 0 from `low` on, `apart` voxels from ray to ray, rising by `rise` a plane.
  void aim(T low, T apart, T rise) {
    for (int l = 0; l < 32; ++l) {
      slope[std::size_t(l)] = rise * (1 + T(l) / 64);
      base[std::size_t(l)] = low + apart * T(l) - T(fan.first) * slope[std::size_t(l)];
    }
  }
  [[nodiscard]] T z(std::int32_t p, int l) const {
    return std::fma(T(fan.first + p), slope[std::size_t(l)], base[std::size_t(l)]);
  }
  [[nodiscard]] T sample(std::int32_t p, int l) const {
    T const at = z(p, l) < fan.lowest ? T(-2) : z(p, l) > fan.highest ? T(fan.height) : z(p, l);
    T const down = std::floor(at);
    auto const height = [&](std::int64_t k) {
      if (k < 0 || k >= fan.height) {
        return T(0);
      }
      T const a = fan.lower[p][k];
      T const b = fan.lower[p][fan.next + k];
      return std::fma(fan.weight[p], b - a, a);
    };
    T const a = height(std::int64_t(down));
    T const b = height(std::int64_t(down) + 1);
    return std::fma(at - down, b - a, a);
  }
  /// The widest range of planes with voxels on both sides of every ray.
  [[nodiscard]] planes_of_row range(std::int32_t first, std::int32_t last) const {
    planes_of_row r{first, last, last, last};
    for (std::int32_t p = last - 1; p >= first; --p) {
      for (int l = 0; l < 32; ++l) {
        if (!(z(p, l) >= 0 && z(p, l) < T(fan.height - 1))) {
          return r.inner_first = p + 1, r;
        }
      }
      r.inner_first = p;
    }
    return r;
  }
};

template <class T>
bool same(T a, T b) {
  return std::bit_cast<iso::bits_of<T>>(a) == std::bit_cast<iso::bits_of<T>>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Whether the rows ran by hand; checks that nothing but the sums' bits tells.
template <class T>
bool check(problem<T> p, planes_of_row const& range) {
  iso::order_free_scale<T> const scale(1.0, 64);
  auto want = p.exact;
  auto want_sums = p.sums;
  auto want_flags = p.flags;
  for (std::size_t l = 0; l < 32; ++l) {
    for (std::int32_t plane = range.first; plane < range.last; ++plane) {
      T const sample = p.sample(plane, int(l));
      want[l] = want[l] + sample;
      want_sums[l] += scale.round(sample);
      want_flags[l] |= scale.round(sample);
    }
  }
  auto const before = p;
  ray_lanes<T> const rays{p.slope.data(), p.base.data()};
  bool const ran = walk_columns(p.fan, range, rays, ordered_lanes<T>{p.exact.data()});
  CHECK(ran == walk_columns(p.fan, range, rays,
                            order_free_lanes<T, iso::bits_of<T>>{p.sums.data(), p.flags.data(),
                                                                 scale.scale(), scale.rounder}));
  bool equal = true;
  for (std::size_t l = 0; l < 32; ++l) {
    equal = equal && same(p.exact[l], ran ? want[l] : before.exact[l]);
    // Which NaN is added to a flagged sum is nobody's business.
    bool const flagged = ran && scale.flagged(want_flags[l]);
    equal = equal && (flagged ? scale.flagged(p.flags[l]) : p.sums[l] == (ran ? want_sums[l] : 0));
    equal = equal && (flagged || p.flags[l] == (ran ? want_flags[l] : 0));
  }
  CHECK(equal);
  return ran;
}

}  // namespace

TEST_CASE_TEMPLATE("rays between columns by hand keep the bits of the definition", T, float,
                   double) {
  if (host_vector_bytes() != 64) {
    return;
  }
  constexpr int width = 64 / int(sizeof(T));
  for (std::int32_t const height : {2 * width, 2 * width + 1, 100, 257}) {
    // Around the field, blending with nothing beyond its ends, and cut at the outermost centres.
    for (bool const cut : {false, true}) {
      T const lowest = cut ? T(0) : std::nextafter(T(-1), T(0));
      T const highest = cut ? T(height - 1) : std::nextafter(T(height), T(0));
      problem<T> p(height, lowest, highest);
      CAPTURE(height);
      CAPTURE(cut);
      for (T const apart : {T(0), T(0.3), T(0.93), T(-0.93), T(1)}) {
        for (T const rise : {T(0), T(0.37), T(-0.9)}) {
          for (T const low : {T(-40), T(-3.5), T(0), T(0.25), T(height) / 2, T(height - 33),
                              T(height - 1), T(height + 2)}) {
            p.aim(low, apart, rise);
            CHECK(check(p, p.range(0, p.planes)));
            CHECK(check(p, p.range(3, 9)));
            CHECK(check(p, p.range(15, 16)));
            CHECK(check(p, p.range(5, 5)));
            // All planes by the code of the ends.
            CHECK(check(p, {0, p.planes, p.planes, p.planes}));
          }
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("rays too far apart for two registers of voxels are left alone", T, float,
                   double) {
  if (host_vector_bytes() != 64) {
    return;
  }
  problem<T> p(1000, T(0), T(999));
  int by_hand = 0;
  int left = 0;
  for (T apart = T(0.5); apart < 8; apart += T(0.25)) {
    for (T const sign : {T(1), T(-1)}) {
      p.aim(T(500), sign * apart, T(0.7));
      (check(p, p.range(0, p.planes)) ? by_hand : left) += 1;
    }
  }
  CHECK(by_hand > 5);
  CHECK(left > 40);
  // A column shorter than the two registers.
  problem<T> low(2 * 64 / int(sizeof(T)) - 1, T(0), T(8));
  low.aim(T(1), T(0.1), T(0));
  CHECK(!check(low, low.range(0, low.planes)));
}

TEST_CASE_TEMPLATE("voxels that are not finite reach no ray but their own", T, float, double) {
  if (host_vector_bytes() != 64) {
    return;
  }
  problem<T> p(100, std::nextafter(T(-1), T(0)), std::nextafter(T(100), T(0)));
  p.volume[std::size_t(2 * p.columns * 100 + 2 * 100 + 40)] = std::numeric_limits<T>::infinity();
  p.volume[std::size_t(7 * p.columns * 100 + 3 * 100)] = std::numeric_limits<T>::quiet_NaN();
  p.volume[std::size_t(9 * p.columns * 100 + 1 * 100 + 99)] = -std::numeric_limits<T>::infinity();
  for (T const low : {T(-5), T(0), T(20), T(37), T(68), T(80)}) {
    p.aim(low, T(0.97), T(0.11));
    CHECK(check(p, p.range(0, p.planes)));
  }
}

#endif
