// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/dose.hpp>

namespace iso::cases {

/// A cube of 256 mm of N^3 voxels, a field of 100 mm, 64 directions.
template <class Exec>
ready prepare_dose(Exec const& exec, point const& p) {
  field_problem field{{p.size, p.size, p.size}, 256.0 / double(p.size), 100, 0, {8, 8}};
  field.shape.groups_per_launch = p.groups_per_launch;
  return with_precision(p, [&]<class T>() -> ready {
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
  });
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_dose)

}  // namespace iso::cases
