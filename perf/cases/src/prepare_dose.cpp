// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/dose.hpp>

namespace iso::cases {
namespace {

/// A cube of 256 mm of N^3 voxels, a field of 100 mm, 64 directions.
template <class T, class Exec>
ready make_ready(Exec const& exec, point const& p) {
  field_problem field{{p.size, p.size, p.size}, 256.0 / double(p.size), 100, 0, {8, 8}};
  field.shape.groups_per_launch = p.groups_per_launch;
  auto const problem = std::make_shared<dose_problem<Exec, T> const>(exec, field);
  exec.fence("iso::cases: TERMA is there");
  if (p.operation == "dose_terma") {
    return {problem->release_work(), [=] { problem->release(); },
            [=] { return problem->release_error(); },
            [=] { return values_of(exec, problem->terma_volume().data); }};
  }
  return {problem->work(), [=] { problem->convolve(); },
          [=] { return error_of<Exec, T>(exec, field); },
          [=] { return values_of(exec, problem->dose_once()); }};
}

}  // namespace

template <class Exec>
ready prepare_dose(Exec const& exec, point const& p) {
  return p.precision == "double" ? make_ready<double>(exec, p) : make_ready<float>(exec, p);
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_dose)

}  // namespace iso::cases
