// SPDX-License-Identifier: BSD-3-Clause
// The vector registers that a program asks for, and those that it is told it has.
#include <iso/backend/host_vectors.hpp>
#include <iso/backend/lane_group.hpp>
#include "host_vectors_kernels.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using namespace host_vectors_kernels;

using namespace iso::backend;

TEST_CASE("host_vector_bytes says which registers kernels use") {
  int const most = host_vector_bytes();
  for (int const bytes : {-1, 0, 31, 32, 63, 64, 1000}) {
    CAPTURE(bytes);
    set_host_vector_bytes(bytes);
    int used = -1;
    for_each_lane_group("test", Kokkos::Serial(), 1, ask_group{&used});
    CHECK(used == host_vector_bytes());
    CHECK(host_vector_bytes() <= most);
  }
  set_host_vector_bytes(32);
  CHECK(host_vector_bytes() == (most == 0 ? 0 : 32));
  set_host_vector_bytes(0);
  CHECK(host_vector_bytes() == 0);
  set_host_vector_bytes(most);
  CHECK(host_vector_bytes() == most);
}

}  // namespace
