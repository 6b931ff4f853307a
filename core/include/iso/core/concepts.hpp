// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/concepts.hpp
#pragma once

#include <iso/core/real.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <type_traits>

namespace iso {

template <class E>
concept execution_space = Kokkos::is_execution_space_v<E>;

template <class V>
concept view = Kokkos::is_view_v<V>;

/// A memory space that kernels of `Exec` may read and write.
template <class Exec, class Space>
concept accesses =
    execution_space<Exec> && bool(Kokkos::SpaceAccessibility<Exec, Space>::accessible);

}  // namespace iso
