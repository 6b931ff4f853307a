// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/space.hpp
#pragma once

#include <Kokkos_Core.hpp>

namespace iso::space {

using host = Kokkos::HostSpace;
/// The memory of the default execution space: the GPU's where there is one.
using device = Kokkos::DefaultExecutionSpace::memory_space;
/// Host memory that the default execution space reaches, for transfers.
using pinned = Kokkos::SharedHostPinnedSpace;

}  // namespace iso::space
