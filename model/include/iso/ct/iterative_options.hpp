// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/iterative_options.hpp
//! Holds what iterative methods may choose, and what they report.
#pragma once

#include <iso/core/check.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/model/describe.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

namespace iso::ct {

/// The projection that stands for A.
enum class projection {
  exact,    ///< forward_project: the matrix that the method names
  texture,  ///< forward_project_texture: linear Joseph with weights of 8 bits; float, on CUDA
};

/// The backprojection that stands for A^T.
enum class backprojection {
  adjoint,  ///< the transpose of A
  fdk,      ///< weighted_back_project: unmatched; of scans that FDK takes
};

/// The choice of the matrix A that projects, and of what projects back.
struct projector_options {
  projector method = projector::joseph_linear;
  summation sum = summation::ordered;  ///< of the projection; what is streamed is `reproducible`
  boundary edge = boundary::zero;
  region within = region::box;
  std::int32_t oversampling = 1;  ///< exact methods: rays per pixel each way
  std::int32_t words = 0;         ///< back_project_options::words of the adjoint
  /// A projection other than `exact`, or a backprojection other than the adjoint, is only for
  /// methods that divide by sums of rows and columns. Such a pair minimises no function.
  ct::projection projection = ct::projection::exact;
  ct::backprojection backprojection = ct::backprojection::adjoint;
  launch_shape shape = {};  ///< changes no bit
};

/// The smallest and the largest value that a voxel may have, 1/mm.
struct value_range {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// The order in which blocks of views are taken.
enum class block_order {
  sequential,
  golden,  ///< each as far from those before it as the golden angle is
};

/// The column sums by which a block's correction is divided.
enum class column_sums {
  of_blocks,  ///< each block's own; one volume a block is held
  of_scan,    ///< of each voxel the largest of all blocks'; one volume is held
};

struct sart_options {
  std::int64_t block_views = 0;  ///< 0: all views, SIRT; 1: SART; else OS-SART
  block_order order = block_order::golden;
  double relaxation = 1;  ///< in (0, 2)
  column_sums columns = column_sums::of_blocks;
  value_range box = {};
  projector_options projector = {};
};

struct mlem_options {
  std::int64_t block_views = 0;  ///< 0: all views, MLEM; else OSEM
  block_order order = block_order::golden;
  projector_options projector = {};
};

struct cgls_options {
  projector_options projector = {};
};

struct lsqr_options {
  double damping = 0;  ///< mm, at least 0: a voxel's weight beside the lengths of rays
  projector_options projector = {};
};

struct total_variation_options {
  double weight = 0;  ///< lambda, at least 0; dimension of x times length^2
  /// The factor g (mm) of the differences' rows beside the rays' rows. 0: twice the weight over the
  /// readings' average along a ray and the side of a voxel, or the root of that times a sixth of
  /// the largest column sum, whichever is larger. It changes how fast the method is, and not the
  /// minimum.
  double gradient_scale = 0;
  /// The bounds of voxel values. A side without a bound holds no voxel back.
  value_range box = {};
  projector_options projector = {};
};

/// The methods of iteration, as users name them.
enum class iterative_method {
  sirt,     ///< sart of one block
  sart,     ///< of blocks of one view
  os_sart,  ///< sart of blocks of some views
  cgls,
  lsqr,
  mlem,
  osem,  ///< mlem of blocks of some views
  tv,    ///< total_variation
};

/// The options of a method of iteration.
using iterative_options =
    std::variant<sart_options, mlem_options, cgls_options, lsqr_options, total_variation_options>;

/// The figures of one iteration. Those that a method does not compute are NaN.
struct iteration {
  std::int64_t number = 0;  ///< 1, 2, ...; a resumed run goes on counting
  /// The norm ||b - A x|| of the readings that count, as the iteration computes it anyway. CGLS,
  /// LSQR and TV: of the new x; the others: of x as the iteration, or each of its blocks, found it.
  /// LSQR with damping d: the root of ||b - A x||^2 + d^2 ||x - start||^2.
  double residual = std::numeric_limits<double>::quiet_NaN();
  double relative_residual = std::numeric_limits<double>::quiet_NaN();  ///< over ||b||
  double gap = std::numeric_limits<double>::quiet_NaN();  ///< TV: primal-dual gap over the primal
};

/// The rules by which a run of iterations ends. A rule that is zero, or empty, does not count.
struct stopping_rules {
  std::int64_t iterations = 20;  ///< at most, of this run
  double relative_residual = 0;  ///< at or below
  double noise = 0;              ///< discrepancy: ||b - A x|| at or below it, see noise_of_counts
  double gap = 0;                ///< TV: relative primal-dual gap at or below
  std::function<bool(iteration const&)> proceed = {};  ///< after each; false stops

  /// Returns whether a number of this iteration ends the run.
  [[nodiscard]] bool met_by(iteration const& now) const {
    return (relative_residual > 0 && now.relative_residual <= relative_residual) ||
           (noise > 0 && now.residual <= noise) || (gap > 0 && now.gap <= gap);
  }
};

constexpr auto words(projection) {
  return std::array{word{projection::exact, "exact"}, word{projection::texture, "texture"}};
}
constexpr auto words(backprojection) {
  return std::array{word{backprojection::adjoint, "adjoint"}, word{backprojection::fdk, "fdk"}};
}
constexpr auto words(block_order) {
  return std::array{word{block_order::sequential, "sequential"},
                    word{block_order::golden, "golden"}};
}
constexpr auto words(column_sums) {
  return std::array{word{column_sums::of_blocks, "blocks"}, word{column_sums::of_scan, "scan"}};
}

constexpr auto words(iterative_method) {
  using enum iterative_method;
  return std::array{word{sirt, "sirt"}, word{sart, "sart"}, word{os_sart, "os-sart"},
                    word{cgls, "cgls"}, word{lsqr, "lsqr"}, word{mlem, "mlem"},
                    word{osem, "osem"}, word{tv, "tv"}};
}

constexpr void describe(auto&& visit, describes<projector_options> auto& x) {
  visit(x.method, field{.name = "projector", .says = "how an iterative method projects"});
  visit(x.sum, field{.name = "sum",
                     .says = "how the terms of a ray are added; reproducible: in any order"});
  visit(x.edge, field{.name = "edge", .says = "what lies beyond the volume's voxels"});
  visit(x.within, field{.name = "region", .says = "the voxels that count"});
  visit(x.oversampling, field{.name = "oversampling",
                              .says = "exact projectors: rays a pixel along u and along v",
                              .low = 1,
                              .high = 64});
  visit(x.words, field{.name = "words",
                       .says = "of 32 bits, that a sum of the adjoint has at least; 0: as few as "
                               "its error allows",
                       .low = 0,
                       .high = 3});
  visit(x.projection, field{.name = "projection",
                            .says = "exact, of that projector; or texture, by a GPU's texture "
                                    "units, which no backprojection matches"});
  visit(x.backprojection,
        field{.name = "backprojector",
              .says = "adjoint, of that projector; or fdk, that of filtered backprojection, which "
                      "does not match it (sirt, sart, os-sart, mlem, osem)"});
  visit(x.shape, hidden_field{{.name = "launch-shape", .says = "threads of a launch"}});
}

constexpr void describe(auto&& visit, describes<value_range> auto& x) {
  visit(x.lower,
        field{.name = "lower", .says = "least value of a voxel, /mm", .unit = units::per_mm});
  visit(x.upper,
        field{.name = "upper", .says = "largest value of a voxel, /mm", .unit = units::per_mm});
}

namespace detail {

// Fields that several methods have.
inline constexpr field block_field{.name = "block",
                                   .says = "views of a block (default: 8)",
                                   .low = 1,
                                   .high = 1e6,
                                   .zero_is_none = true};
inline constexpr field order_field{.name = "order",
                                   .says =
                                       "golden, each block far from those before it, or "
                                       "sequential"};
inline constexpr field box_field{.name = "box", .says = "values of voxels", .flat = true};
inline constexpr field projector_field{
    .name = "projector", .says = "the matrix that projects, and what projects back", .flat = true};

}  // namespace detail

constexpr void describe(auto&& visit, describes<sart_options> auto& x) {
  visit(x.block_views, detail::block_field);
  visit(x.order, detail::order_field);
  visit(x.relaxation, field{.name = "relaxation",
                            .says = "length of a step, above 0 and below 2",
                            .low = 0,
                            .high = 2});
  visit(x.columns,
        field{.name = "column-sums",
              .says = "blocks, of each block its own, a volume each; or scan, one volume for all, "
                      "of each voxel the largest"});
  visit(x.box, detail::box_field);
  visit(x.projector, detail::projector_field);
}

constexpr void describe(auto&& visit, describes<mlem_options> auto& x) {
  visit(x.block_views, detail::block_field);
  visit(x.order, detail::order_field);
  visit(x.projector, detail::projector_field);
}

constexpr void describe(auto&& visit, describes<cgls_options> auto& x) {
  visit(x.projector, detail::projector_field);
}

constexpr void describe(auto&& visit, describes<lsqr_options> auto& x) {
  visit(x.damping, field{.name = "damping",
                         .says = "weight of the volume's size, mm",
                         .unit = units::mm,
                         .low = 0});
  visit(x.projector, detail::projector_field);
}

constexpr void describe(auto&& visit, describes<total_variation_options> auto& x) {
  visit(x.weight, field{.name = "weight",
                        .says = "weight of the variation beside half the sum of squared "
                                "differences of readings (default: none, it must be given)",
                        .low = 0});
  visit(x.gradient_scale, field{.name = "gradient-scale",
                                .says = "weight of the differences' rows beside the rays', mm: how "
                                        "fast the method is (default: by the readings)",
                                .unit = units::mm,
                                .low = 0,
                                .zero_is_none = true});
  visit(x.box, detail::box_field);
  visit(x.projector, detail::projector_field);
}

constexpr void describe(auto&& visit, describes<stopping_rules> auto& x) {
  visit(x.iterations,
        field{.name = "iterations",
              .says = "at most, of an iterative method, with those of a checkpoint (default: tv "
                      "1000, whose gap ends it, the others 20)",
              .low = 1,
              .high = 1e6});
  visit(x.relative_residual,
        field{.name = "stop-residual",
              .says = "end where the residual, the norm of the readings' differences from the "
                      "projections, is this part of the readings' norm. The residual that an "
                      "iteration tells, and every rule ends by, is that of the volume before the "
                      "iteration (sirt, sart, os-sart, mlem, osem: the volume that is written fits "
                      "the readings better) or of the volume that it made (cgls, lsqr, tv)",
              .low = 0,
              .high = 1});
  visit(x.noise, field{.name = "noise",
                       .says = "end where the residual is at or below it; 0: no matter",
                       .low = 0});
  visit(x.gap, field{.name = "stop-gap",
                     .says = "end where the primal-dual gap is this part of the value; in float at "
                             "least 1e-5, 0: never (default: 0.001)",
                     .low = 0,
                     .high = 1});
  visit(x.proceed, hidden_field{{.name = "proceed", .says = "asked after each iteration"}});
}

constexpr void describe(auto&& visit, describes<iteration> auto& x) {
  visit(x.number, field{.name = "iteration", .says = "1, 2, ..."});
  visit(x.residual, field{.name = "residual", .says = "norm of the readings' differences"});
  visit(x.relative_residual,
        field{.name = "relative-residual", .says = "over the norm of the readings"});
  visit(x.gap, field{.name = "gap", .says = "tv: primal-dual gap over the primal"});
}

/// Returns the options of a method where nothing is chosen: all views at once for SIRT and MLEM,
/// one for SART, and 8, or all where there are fewer, for OS-SART and OSEM. Determinism:
/// backend_to_backend; made on the host.
iterative_options default_options(iterative_method method, std::int64_t num_views);

/// Returns the rules of a method where nothing is chosen: 20 iterations, or of TV 1,000 and a gap
/// of 1e-3, which ends it. Determinism: backend_to_backend; made on the host.
stopping_rules default_rules(iterative_method method);

/// Returns whether a method takes the field of that name, of its options or of the rules: not those
/// that its own name decides.
/// Determinism: backend_to_backend; made on the host.
bool takes_field(iterative_method method, std::string_view name);

/// Returns whether the residuals that a method tells, and stops by, are of the volume as each
/// iteration found it; else they are of the volume that the iteration made.
/// Determinism: backend_to_backend; made on the host.
bool tells_residual_before(iterative_method method);

}  // namespace iso::ct
