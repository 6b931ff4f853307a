// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/instances.hpp
//! What every test of the same bits needs: the instances to run on, and compare.hpp.
#pragma once

#include "compare.hpp"

#include <iso/backend/registry.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>

namespace iso::test {

/// Calls f(exec) with the default instance of each backend, and with OpenMP pools of 3 and 16
/// threads; backend and threads stand in the messages of what fails. One thread is Serial's, whose
/// kernels are the same.
template <class F>
void for_each_instance(F&& f) {
  backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    f(exec_space());
#if ISO_HAS_OPENMP
    if constexpr (std::is_same_v<exec_space, Kokkos::OpenMP>) {
      for (int const threads : {3, 16}) {
        CAPTURE(threads);
        f(Kokkos::OpenMP(threads));
      }
    }
#endif
  });
}

}  // namespace iso::test
