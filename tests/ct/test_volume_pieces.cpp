// SPDX-License-Identifier: BSD-3-Clause
// Pieces of a volume beside the whole: what docs/algorithms/projection.md says of both.
#include "back_project_support.hpp"

#include <iso/ct/detail/back_project_words.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace {

using namespace projector_support;

/// The whole and its slabs across `axis`: of one voxel, of some, and of the rest.
std::vector<grid> slabs(grid const& whole, int axis) {
  std::int64_t const extent = whole.extent[std::size_t(axis)];
  std::vector<grid> pieces;
  for (auto const& [first, last] :
       {std::pair<std::int64_t, std::int64_t>{0, 6}, {6, 7}, {7, extent}}) {
    grid piece = whole;
    piece.extent[std::size_t(axis)] = last - first;
    piece.origin[axis] += double(first) * whole.spacing[axis];
    pieces.push_back(piece);
  }
  return pieces;
}

/// The whole's values at the voxels of a piece.
template <class T>
std::vector<T> values_of(grid const& piece, std::vector<T> const& all, grid const& whole) {
  std::array<std::int64_t, 3> first{};
  for (int a = 0; a < 3; ++a) {
    first[std::size_t(a)] = std::llround((piece.origin[a] - whole.origin[a]) / whole.spacing[a]);
  }
  std::vector<T> values;
  for (std::int64_t i = first[0]; i < first[0] + piece.extent[0]; ++i) {
    for (std::int64_t j = first[1]; j < first[1] + piece.extent[1]; ++j) {
      for (std::int64_t k = first[2]; k < first[2] + piece.extent[2]; ++k) {
        values.push_back(all[std::size_t((i * whole.extent[1] + j) * whole.extent[2] + k)]);
      }
    }
  }
  return values;
}

/// Upright and tilted scans by cones and parallel rays, of two blocks of views. No ray runs along
/// the grid, and none is driven by two axes.
std::vector<geometry> scans() {
  auto const angles = iso::ct::even_angles(18, 2 * pi, 0.3);
  std::vector<geometry> all;
  for (auto const& scan : {iso::ct::circular_cone({23, 31, 1.4, 1.2, 1, -2}, 60, 90, angles),
                           iso::ct::circular_parallel({23, 31, 1.1, 0.9, 1, -2}, angles)}) {
    auto views = scan.views();
    for (auto& w : views) {
      w.v_step = w.v_step + 0.1 * w.u_step;
    }
    all.push_back(scan);
    all.emplace_back(scan.kind(), scan.num_u(), scan.num_v(), views);
  }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("back_project: a piece of a volume has the whole's voxels, but for rounding", T,
                   float, double) {
  grid const whole = grid::centred({17, 14, 19}, {1.1, 1.3, 0.9});
  double const e = 0.5 * double(std::numeric_limits<T>::epsilon());
  double const of_products = sizeof(T) == 4 ? 1e-6 : 1e-13;  // back_project's contract
  int gathered = 0;
  for (auto const& scan : scans()) {
    auto const y = random_pixels<T>(scan);
    for (auto const method : all_methods) {
      CAPTURE(int(method));
      // No reading is larger.
      back_project_options const options{.method = method, .max_abs = 1};
      auto const all = backprojected(y, {whole, scan}, options);
      double most = 0;
      for (T const x : all) {
        most = std::max(most, std::abs(double(x)));
      }
      auto const [rays, weights] = iso::ct::detail::bound_rays(scan, whole, method);
      double const a_view = (2 * of_products + 32 * rays * e) * weights + 32 * 19 * rays * e;
      double const promised =
          double(scan.num_views()) * a_view * iso::norm(whole.spacing) + 4 * e * most;
      for (int axis = 0; axis < 3; ++axis) {
        CAPTURE(axis);
        for (auto const& piece : slabs(whole, axis)) {
          CAPTURE(piece.extent[std::size_t(axis)]);
          auto const here = backprojected(y, {piece, scan}, options);
          auto const there = values_of(piece, all, whole);
          CHECK(farthest(here, there) <= promised);
          // Coordinates that begin at one voxel are the same.
          if (piece.origin[axis] == whole.origin[axis] &&
              iso::ct::detail::gathers(scan, piece, sizeof(T), options)) {
            CHECK(difference(here, there) == "");
            ++gathered;
          }
        }
      }
    }
  }
  CHECK(gathered == 6);
}

TEST_CASE_TEMPLATE("forward_project: what pieces of a volume project to adds up to the whole's", T,
                   float, double) {
  grid const whole = grid::centred({17, 14, 19}, {1.1, 1.3, 0.9});
  double const e = 0.5 * double(std::numeric_limits<T>::epsilon());
  // Of voxels of at most 1.
  double const promised = 136.0 * 19 * 19 * e * iso::norm(whole.spacing);
  auto const voxels = random_volume<T>(whole);
  std::vector<T> const all(voxels.data.data(), voxels.data.data() + voxels.data.size());
  for (auto const& scan : scans()) {
    for (auto const method : all_methods) {
      CAPTURE(int(method));
      for (auto const sum : {iso::summation::ordered, iso::summation::reproducible}) {
        forward_project_options const options{.method = method, .sum = sum};
        auto const expected = projected(voxels, scan, options);
        for (int axis = 0; axis < 3; ++axis) {
          CAPTURE(axis);
          std::vector<double> total(expected.size());
          for (auto const& piece : slabs(whole, axis)) {
            auto const part = iso::make_volume<T, host>("part", piece);
            auto const values = values_of(piece, all, whole);
            std::copy(values.begin(), values.end(), part.data.data());
            auto const some = projected(part, scan, options);
            std::transform(some.begin(), some.end(), total.begin(), total.begin(), std::plus<>());
          }
          CHECK(farthest(total, expected) <= promised);
        }
      }
    }
  }
}
