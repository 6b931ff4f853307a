// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/reconstruction.hpp>

namespace iso::cases {
namespace {

/// N^3 voxels from N views of N^2 pixels.
template <class T, class Exec>
ready make_ready(Exec const& exec, point const& p) {
  auto const problem =
      std::make_shared<fdk_problem<Exec, T> const>(exec, p.size, p.size, ct::fdk_options());
  return {problem->work(), [=] { problem->reconstruct(); }, [=] { return problem->error(); },
          [=] { return values_of(exec, problem->volume().data); }};
}

}  // namespace

template <class Exec>
ready prepare_reconstruction(Exec const& exec, point const& p) {
  return p.precision == "double" ? make_ready<double>(exec, p) : make_ready<float>(exec, p);
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_reconstruction)

}  // namespace iso::cases
