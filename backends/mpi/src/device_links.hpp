// SPDX-License-Identifier: BSD-3-Clause
//! Makes what carries between the GPUs of ranks.
#pragma once

#include <iso/mpi/communicator.hpp>

#include <memory>

namespace iso::mpi {

/// Returns the fastest link that carries known words well between these devices, or null; the same
/// on all ranks, which call it together.
#ifdef ISO_MPI_CUDA
std::unique_ptr<backend::device_link> make_device_link(backend::communicator& ranks, int device);
#else
inline std::unique_ptr<backend::device_link> make_device_link(backend::communicator& /*ranks*/,
                                                              int /*device*/) {
  return nullptr;
}
#endif

}  // namespace iso::mpi
