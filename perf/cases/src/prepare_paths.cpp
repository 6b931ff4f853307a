// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/paths.hpp>

namespace iso::cases {
namespace {

/// N^2 rays of a cone through N^3 voxels.
template <class T, class Exec>
ready make_ready(Exec const& exec, point const& p) {
  auto const problem = std::make_shared<paths_problem<Exec, T> const>(
      exec, p.size, 1, bundle::coherent, sorting::none);
  ray::radiological_path_options options;
  options.shape.groups_per_launch = p.groups_per_launch;
  return {problem->work(), [=] { problem->run(options); }, [=] { return problem->error(); },
          [=] { return values_of(exec, problem->paths()); }};
}

}  // namespace

template <class Exec>
ready prepare_paths(Exec const& exec, point const& p) {
  return p.precision == "double" ? make_ready<double>(exec, p) : make_ready<float>(exec, p);
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_paths)

}  // namespace iso::cases
