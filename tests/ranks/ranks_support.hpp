// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ranks/ranks_support.hpp
//! The ranks of a test program, and what they do together in tests.
#pragma once

#include "compare.hpp"

#include <iso/backend/registry.hpp>
#include <iso/mpi/communicator.hpp>

#include <doctest/doctest.h>

#include <string>

namespace ranks_support {

/// All ranks of the program, from when MPI runs.
iso::backend::communicator& all_ranks();
/// What a communicator said before MPI ran.
std::string const& said_before_mpi();

/// Calls f(exec) with the backend of this rank: ranks have different ones, as far as there are, and
/// `turn` passes them on.
template <class F>
void with_backend_of_rank(int turn, F const& f) {
  int number = 0;
  iso::backend::for_each([&](auto) { ++number; });
  int which = (all_ranks().rank() + turn) % number;
  iso::backend::for_each([&](auto tag) {
    if (which-- == 0) {
      INFO(std::string(tag.name));
      f(typename decltype(tag)::execution_space());
    }
  });
}

}  // namespace ranks_support
