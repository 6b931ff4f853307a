// SPDX-License-Identifier: BSD-3-Clause
//! Declares the TERMA of some planes of a volume.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/dose/terma.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::dose::detail {

/// Does what iso::dose::terma does, in some planes across x alone.
/// \param some_x  their numbers; without memory: all
template <execution_space Exec, real T>
void terma_across(
    Exec const& exec, terma_plan<typename Exec::memory_space> const& plan,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
    volume_view<T, typename Exec::memory_space> const& terma,
    Kokkos::View<std::int32_t const*, typename Exec::memory_space> const& some_x,
    job const& control);

}  // namespace iso::dose::detail
