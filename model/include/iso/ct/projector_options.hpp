// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/projector_options.hpp
//! Names the projectors and what their calls may choose.
#pragma once

#include <iso/core/launch_shape.hpp>
#include <iso/ct/region.hpp>
#include <iso/model/core_words.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace iso::ct {

/// The way in which a line integral is computed from voxels.
enum class projector {
  joseph_linear,   ///< steps of one voxel along the driving axis, linear weights
  joseph_spline,   ///< the same with smooth weights (Graetz 2020, equation 14)
  amanatides_woo,  ///< exact lengths in voxels, one axis a step
  branchless,      ///< exact lengths, comparisons as flags (Xiao 2012)
  siddon,          ///< exact lengths, merged crossings
  exact,           ///< exact lengths by the fastest of the three, whose bits are equal: siddon on a
                   ///< GPU, branchless elsewhere
};

namespace detail {
inline bool is_joseph(projector method) {
  return method == projector::joseph_linear || method == projector::joseph_spline;
}
}  // namespace detail

/// A choice between two kernels that give the same bits.
enum class joseph_path {
  automatic,  ///< the fast one wherever v runs along z and no ray is steep
  general,
};

struct forward_project_options {
  projector method = projector::joseph_linear;
  summation sum = summation::ordered;  ///< ordered: in blocks of 64 planes, or along the ray
  boundary edge = boundary::zero;
  region within = region::box;  ///< cylinder: fewer planes, where nothing lies in the corners
  joseph_path path = joseph_path::automatic;
  std::optional<double> max_abs =
      {};                         ///< reproducible: largest |voxel|; empty: found by a reduction
  std::int32_t oversampling = 1;  ///< exact methods: rays per pixel each way, averaged
  std::int32_t slab_planes = 0;   ///< driving planes a launch, multiple of 64; 0: chosen by size
  launch_shape shape = {};
};

struct back_project_options {
  projector method = projector::joseph_linear;  ///< of the forward_project whose adjoint it is
  boundary edge = boundary::zero;
  region within = region::box;
  joseph_path path = joseph_path::automatic;  ///< general: by scatter, whose sums round otherwise
  std::int32_t oversampling = 1;              ///< exact methods: rays per pixel each way
  /// The largest |reading| of the scan, for the scatter form. Empty: found by a reduction over the
  /// projections given.
  std::optional<double> max_abs = {};
  std::int32_t words = 0;  ///< scatter: 32-bit words a voxel's sum has at least, 1..3; 0: as few as
                           ///< its error allows
  std::int64_t first_view = 0;  ///< of the scan's, which the first projection is; a multiple of 16
  launch_shape shape = {};
};

struct texture_projection_options {
  region within = region::box;
  launch_shape shape = {};
};

constexpr auto words(projector) {
  return std::array{word{projector::joseph_linear, "joseph"},
                    word{projector::joseph_spline, "joseph-spline"},
                    word{projector::amanatides_woo, "amanatides-woo"},
                    word{projector::branchless, "branchless"},
                    word{projector::siddon, "siddon"},
                    word{projector::exact, "exact"}};
}
constexpr auto words(joseph_path) {
  return std::array{word{joseph_path::automatic, "automatic"},
                    word{joseph_path::general, "general"}};
}
constexpr auto words(region) {
  return std::array{word{region::box, "box"}, word{region::cylinder, "cylinder"}};
}

}  // namespace iso::ct
