// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ranks/ranks_support.hpp
//! The ranks of a test program, and what they do together in tests.
#pragma once

#include "compare.hpp"

#include <iso/backend/host_vectors.hpp>
#include <iso/backend/registry.hpp>
#include <iso/mpi/communicator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace ranks_support {

/// All ranks of the program, from when MPI runs.
iso::backend::communicator& all_ranks();
/// What a communicator said before MPI ran.
std::string const& said_before_mpi();

/// Calls f(exec) with the backend of this rank: ranks have different ones, as far as there are, and
/// `turn` passes them on. Their registers differ too, each width with each backend in turn: the
/// widest of this processor, 32 bytes, and none that is wide. Where the variable ISO_TEST_BACKEND
/// is set, all have the backend that it names: only ranks that all compute on GPUs exchange by
/// NCCL.
template <class F>
void with_backend_of_rank(int turn, F const& f) {
  if (char const* const named = std::getenv("ISO_TEST_BACKEND")) {
    iso::backend::with_name(named, [&](auto tag) { f(typename decltype(tag)::execution_space()); });
    return;
  }
  int number = 0;
  iso::backend::for_each([&](auto) { ++number; });
  int which = (all_ranks().rank() + turn) % number;
  int const widest = iso::backend::host_vector_bytes();
  int const widths[] = {widest, std::min(widest, 32), 0};
  iso::backend::set_host_vector_bytes(widths[(all_ranks().rank() + turn / number) % 3]);
  iso::backend::for_each([&](auto tag) {
    if (which-- == 0) {
      INFO(std::string(tag.name));
      f(typename decltype(tag)::execution_space());
    }
  });
  iso::backend::set_host_vector_bytes(widest);
}

/// Checks that a rank holds what it says, to one part in ten: `found` bytes of Kokkos' allocations,
/// whose own notes of each array are not counted.
inline void check_share(std::int64_t found, std::int64_t said) {
  CAPTURE(found);
  CAPTURE(said);
  CHECK(std::abs(found - said) <= 2048 + said / 10);
}

}  // namespace ranks_support
