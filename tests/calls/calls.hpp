// SPDX-License-Identifier: BSD-3-Clause
//! Public functions called as a newcomer writes it: braces, defaults, temporaries, and views of
//! numbers that are not const. What they compute is for other tests; check_calls.py finds a
//! function that is left out.
#pragma once

#include <iso/core/space.hpp>
#include <iso/core/volume_view.hpp>

#include <Kokkos_Core.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace calls {

using exec_space = Kokkos::DefaultExecutionSpace;
using space = iso::space::device;

/// A volume of one number.
template <class T = float>
iso::volume_view<T, space> volume_of(iso::grid const& g, double value) {
  exec_space const exec;
  auto const v = iso::make_volume<T, space>(exec, "volume", g);
  Kokkos::deep_copy(exec, v.data, T(value));
  return v;
}

}  // namespace calls
