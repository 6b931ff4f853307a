// SPDX-License-Identifier: BSD-3-Clause
//! The part of the demo that applies a dose-deposition matrix.
#include "demo_runs.hpp"
#include "product_runner.hpp"
#include "sparse_formats.hpp"

#include <iso/backend/registry.hpp>
#include <iso/synthetic/generate.hpp>

#include <algorithm>

namespace iso::jobs {
namespace {

/// A field of pencil beams on a sphere behind bone and lung, in a cube of 192 mm.
synthetic::pencil_beams demo_field(std::int64_t size) {
  std::int64_t const n = std::clamp<std::int64_t>(size, 16, 64);
  double const voxel = 192 / double(n);
  synthetic::pencil_beams field;
  field.voxels = grid::centred({n, n, n}, {voxel, voxel, voxel});
  field.entrance = 96;
  field.radius = 30;
  field.slabs = {{20, 1.0}, {10, 1.6}, {25, 0.3}};
  return field;
}

/// The deepest layer lifts the others' sum to a plateau.
std::vector<double> demo_weights(synthetic::pencil_beams const& field) {
  auto const plan = synthetic::plan_of(field);
  std::vector<double> weights;
  for (auto const& spot : plan.spots) {
    weights.push_back(spot.layer == 0 ? 0.08 : 0.02);
  }
  return weights;
}

/// One product, the shortest of several; its record, and y.
template <class Exec, class Matrix>
std::vector<double> time_product(Exec const& exec, std::string const& backend, demo_state& state,
                                 std::string const& operation, Matrix const& a,
                                 std::vector<double> const& weights,
                                 std::vector<double> const& exact) {
  product_runner<double, Exec, Matrix> const product(
      exec, a, weights, std::vector<double>(std::size_t(sparse::shape_of(a).num_rows), 0));
  double best = 1e30;
  for (int run = 0; run < 5; ++run) {
    best = std::min(best, product.seconds(1, 0, std::nullopt));
  }
  auto y = product.result();
  double const error = relative_l1(y, exact);
  state.add<double>(operation, backend, y, best, error, product_work<double>(sparse::shape_of(a)));
  return y;
}

/// A x of the matrix in double, on the host.
template <class Exec, class Matrix>
std::vector<double> exact_dose(Exec const& exec, Matrix const& a,
                               std::vector<double> const& weights) {
  return exact_product(1, host_copy(exec, a), weights, 0, weights);
}

template <class Exec>
void run_matrix_on(Exec const& exec, std::string const& backend, demo_state& state) {
  state.next("dose matrix on " + backend);
  auto const field = demo_field(state.request.size);
  auto const weights = demo_weights(field);
  auto const wide = synthetic::generate<double>(exec, field);
  auto const exact = exact_dose(exec, wide, weights);
  time_product(exec, backend, state, "dose_matrix_double", wide, weights, exact);
  auto const narrow = sparse::convert_values<half>(exec, wide).matrix;
  time_product(exec, backend, state, "dose_matrix_half", narrow, weights, exact);
  auto const format = sparse::choose_format(exec, narrow).format;
  with_format(exec, narrow, format, [&](auto const& formatted) {
    auto const dose = time_product(exec, backend, state, "dose_matrix_half_" + name_of(format),
                                   formatted, weights, exact);
    if (backend == state.request.backends.front()) {
      draw_dose(state, field.voxels, dose);
    }
  });
}

}  // namespace

void run_matrix(demo_state& state) {
  for (auto const& name : state.request.backends) {
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      run_matrix_on(exec, name, state);
    });
  }
}

}  // namespace iso::jobs
