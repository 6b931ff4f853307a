// SPDX-License-Identifier: BSD-3-Clause
//! Describes what becomes of a detector's readings before they are line integrals, pixel by pixel.
#pragma once

#include <iso/core/math.hpp>
#include <iso/core/numerics.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Computes the mean of a pixel over the images, ascending, in double.
template <class T>
struct mean_kernel {
  T const* images;
  double const* weights;  ///< null: all 1
  T* mean;
  std::int64_t count;
  std::int64_t size;

  KOKKOS_FUNCTION void operator()(std::int64_t pixel) const {
    double sum = 0;
    double total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      double const w = weights == nullptr ? 1.0 : weights[i];
      // An image of weight 0 is left out, whatever it holds.
      if (w != 0) {
        sum = Kokkos::fma(w, double(images[i * size + pixel]), sum);
        total += w;
      }
    }
    mean[pixel] = canonical(T(sum / total));
  }
};

template <class T>
struct line_integral_kernel {
  T* readings;
  T const* dark;
  T const* flat;
  T least;
  std::int64_t size;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const pixel = index % size;
    T const open = flat[pixel] - dark[pixel];
    T const t = (readings[index] - dark[pixel]) / open;
    // A NaN is not below.
    T const transmission = t < least ? least : t;
    T const integral = T(0) - math::log(transmission);
    readings[index] =
        open > T(0) ? canonical(integral) : Kokkos::bit_cast<T>(float_bits<T>::canonical_nan);
  }
};

/// Compares the response of a pixel, flat - dark, with the median of those around it.
template <class T>
struct find_dead_kernel {
  T const* dark;
  T const* flat;
  std::uint8_t* dead;
  std::int64_t num_u;
  std::int64_t num_v;
  std::int64_t radius;
  T tolerance;

  KOKKOS_FUNCTION T response(std::int64_t u, std::int64_t v) const {
    std::int64_t const pixel = u * num_v + v;
    T const x = flat[pixel] - dark[pixel];
    // One that is not finite is as good as none.
    return x - x == T(0) ? x : T(0);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t pixel) const {
    std::int64_t const u = pixel / num_v;
    std::int64_t const v = pixel - u * num_v;
    std::int64_t const u0 = u < radius ? 0 : u - radius;
    std::int64_t const v0 = v < radius ? 0 : v - radius;
    std::int64_t const u1 = u + radius < num_u ? u + radius : num_u - 1;
    std::int64_t const v1 = v + radius < num_v ? v + radius : num_v - 1;
    std::int64_t const middle = (u1 - u0 + 1) * (v1 - v0 + 1) / 2;
    T median = T(0);
    for (std::int64_t a = u0; a <= u1; ++a) {
      for (std::int64_t b = v0; b <= v1; ++b) {
        T const x = response(a, b);
        std::int64_t below = 0;
        std::int64_t same = 0;
        for (std::int64_t c = u0; c <= u1; ++c) {
          for (std::int64_t d = v0; d <= v1; ++d) {
            T const y = response(c, d);
            below += y < x ? 1 : 0;
            same += y == x ? 1 : 0;
          }
        }
        median = below <= middle && middle < below + same ? x : median;
      }
    }
    T const x = response(u, v);
    T const off = x < median ? median - x : x - median;
    dead[pixel] = x > T(0) && off <= tolerance * median ? 0 : 1;
  }
};

/// Gives a dead pixel the mean of the others of the smallest square about it that has any.
template <class T>
struct replace_dead_kernel {
  T* images;
  std::uint8_t const* dead;
  std::int64_t num_u;
  std::int64_t num_v;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const size = num_u * num_v;
    std::int64_t const image = index / size;
    std::int64_t const pixel = index - image * size;
    if (dead[pixel] == 0) {
      return;
    }
    std::int64_t const u = pixel / num_v;
    std::int64_t const v = pixel - u * num_v;
    std::int64_t const farthest = num_u > num_v ? num_u : num_v;
    T value = Kokkos::bit_cast<T>(float_bits<T>::canonical_nan);
    for (std::int64_t r = 1; r < farthest; ++r) {
      T sum = T(0);
      std::int64_t count = 0;
      std::int64_t const u1 = u + r < num_u ? u + r : num_u - 1;
      std::int64_t const v1 = v + r < num_v ? v + r : num_v - 1;
      for (std::int64_t a = u < r ? 0 : u - r; a <= u1; ++a) {
        for (std::int64_t b = v < r ? 0 : v - r; b <= v1; ++b) {
          if (dead[a * num_v + b] == 0) {
            sum += images[image * size + a * num_v + b];
            ++count;
          }
        }
      }
      if (count > 0) {
        value = sum / T(count);
        break;
      }
    }
    images[index] = canonical(value);
  }
};

}  // namespace iso::ct::detail
