// SPDX-License-Identifier: BSD-3-Clause
//! Answers in long double by the plainest loops, from the definitions alone: what the `error` of a
//! record is measured against.
//!
//! Where an array is long, only every `stride`-th element is computed; the others are NaN, which
//! relative_l1 leaves out. So are those that rounding may decide: rays in a face between voxels.
#pragma once

#include "scan.hpp"

#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/ray.hpp>
#include <iso/sparse/csr.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace iso::jobs {

enum class weighting { linear, spline };

using index3 = std::array<std::int64_t, 3>;
using point3 = std::array<long double, 3>;

/// Sum of |found - exact| over sum of |exact|, over the elements that `exact` has; 0 where `found`
/// is `exact`, were all of it zeros.
template <class T, class Exact>
double relative_l1(std::vector<T> const& found, std::vector<Exact> const& exact);

/// A voxel volume between its centres; `at` in voxels, centres at whole numbers.
long double exact_sample(files::host_volume const& volume, point3 const& at, weighting weight,
                         boundary edge);

/// What a projection asks for: Joseph's sums, or the exact lengths in voxels.
std::vector<double> exact_projections(files::host_volume const& volume, ct::geometry const& scan,
                                      ct::forward_project_options const& options,
                                      std::int64_t stride = 1);

/// Sums of length times f(voxel) along every ray.
template <class T>
std::vector<double> exact_paths(grid const& box, std::vector<ray::ray<T>> const& rays,
                                std::function<double(index3 const&)> const& f);

/// Line integrals through ellipsoids, and their voxels, as iso/ct/shepp_logan.hpp defines them.
std::vector<double> exact_projections(std::vector<ct::ellipsoid> const& bodies,
                                      ct::geometry const& scan, std::int64_t subsamples,
                                      std::int64_t stride = 1);
std::vector<double> exact_raster(std::vector<ct::ellipsoid> const& bodies, grid const& g,
                                 std::int64_t samples, std::int64_t stride = 1);

/// alpha A x + beta y for `vectors` vectors side by side, their number fastest.
template <class Result = double, class Value, class T>
std::vector<Result> exact_product(double alpha,
                                  sparse::csr_view<Value, std::int32_t, Kokkos::HostSpace> const& a,
                                  std::vector<T> const& x, double beta, std::vector<T> const& y,
                                  std::int64_t vectors = 1) {
  std::vector<Result> result;
  std::int64_t const* const offsets = a.row_offsets.data();
  for (std::int64_t row = 0; row < a.num_rows; ++row) {
    for (std::int64_t k = 0; k < vectors; ++k) {
      long double sum = 0;
      long double lost = 0;  // what the additions round away (Neumaier)
      for (std::int64_t i = offsets[row]; i < offsets[row + 1]; ++i) {
        auto const at = std::size_t(a.columns.data()[i] * vectors + k);
        long double const term = static_cast<long double>(double(a.values.data()[i])) * x[at];
        long double const next = sum + term;
        lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
        sum = next;
      }
      sum += lost;
      long double const before = beta == 0 ? 0 : y[std::size_t(row * vectors + k)];
      result.push_back(Result(alpha * sum + beta * before));
    }
  }
  return result;
}

}  // namespace iso::jobs
