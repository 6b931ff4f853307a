// SPDX-License-Identifier: BSD-3-Clause
//! Declares convolutions whose sums stay integers, to which others may be added.
#pragma once

#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/dose/convolution_plan.hpp>
#include <iso/dose/detail/lattice.hpp>

#include <type_traits>

namespace iso::dose::detail {

/// Overwrites `words`, [nx, ny, nz] of the plan's region, by what its directions give, in units of
/// the plan. Does all else as convolve. The first part of `scratch` is then the lattice_range that
/// the words' unit depends on.
/// \param[out] words  may be the memory of `terma`, which is copied before
template <execution_space Exec, real T>
void convolve_to_words(
    Exec const& exec, convolution_plan<T, typename Exec::memory_space> const& plan,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& terma,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
    typename fixed_point<T>::word* words, workspace<typename Exec::memory_space> const& scratch,
    job const& control);

}  // namespace iso::dose::detail
