// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/reconstruction.hpp>

namespace iso::cases {

/// N^3 voxels from N views of N^2 pixels.
template <class Exec>
ready prepare_reconstruction(Exec const& exec, point const& p) {
  return with_precision(p, [&]<class T>() -> ready {
    auto const problem =
        std::make_shared<fdk_problem<Exec, T> const>(exec, p.size, p.size, ct::fdk_options());
    return {problem->work(), [=] { problem->reconstruct(); }, [=] { return problem->error(); },
            [=] { return values_of(exec, problem->volume().data); }};
  });
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_reconstruction)

}  // namespace iso::cases
