// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/back_projection.hpp>

namespace iso::cases {
namespace {

/// N^3 voxels, N views of N^2 pixels.
template <class T, class Exec>
ready make_ready(Exec const& exec, point const& p) {
  if (p.operation == "back_project") {
    ct::back_project_options options;
    options.shape.groups_per_launch = p.groups_per_launch;
    auto const problem =
        std::make_shared<pair_problem<Exec, T> const>(exec, p.size, 1.0, p.size, options);
    problem->project();
    exec.fence("iso::cases: projections are there");
    return {problem->work(), [=] { problem->back_project(); }, [=] { return problem->error(); },
            [=] { return values_of(exec, problem->result().data); }};
  }
  ct::forward_project_options options;
  options.shape.groups_per_launch = p.groups_per_launch;
  if (p.operation == "forward_project_reproducible") {
    options.sum = summation::reproducible;
  } else if (p.operation == "forward_project_siddon") {
    options.method = ct::projector::siddon;
  }
  auto const problem =
      std::make_shared<projection_problem<Exec, T> const>(exec, p.size, p.size, options);
  return {problem->work(), [=] { problem->project(); }, [=] { return problem->error(); },
          [=] { return values_of(exec, problem->projections().data); }};
}

}  // namespace

template <class Exec>
ready prepare_projection(Exec const& exec, point const& p) {
  return p.precision == "double" ? make_ready<double>(exec, p) : make_ready<float>(exec, p);
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_projection)

}  // namespace iso::cases
