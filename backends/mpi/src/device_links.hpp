// SPDX-License-Identifier: BSD-3-Clause
//! Makes what carries between the GPUs of ranks.
#pragma once

#include <iso/mpi/communicator.hpp>

#include <memory>
#include <string>

namespace iso::mpi {

/// Returns the fastest link that carries known words well between these devices, or null; the same
/// on all ranks, which call it together.
/// \param[out] why  where it returns null, what this rank knows of it
#ifdef ISO_MPI_CUDA
std::unique_ptr<backend::device_link> make_device_link(backend::communicator& ranks, int device,
                                                       std::string& why);
#else
inline std::unique_ptr<backend::device_link> make_device_link(backend::communicator& /*ranks*/,
                                                              int /*device*/, std::string& why) {
  why = "this build has no CUDA";
  return nullptr;
}
#endif

}  // namespace iso::mpi
