// SPDX-License-Identifier: BSD-3-Clause
// The vector registers that a program asks for, and those that it is told it has.
#include <iso/backend/host_vectors.hpp>
#include <iso/backend/lane_group.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using namespace iso::backend;

/// Bytes of the registers in which the group computes.
struct ask_group {
  int* bytes;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const&, std::int64_t) const {
    constexpr int width = Group::isa::template width<float>;
    *bytes = width == 1 ? 0 : int(sizeof(float)) * width;
  }
};

TEST_CASE("host_vector_bytes says which registers kernels use") {
  int const most = host_vector_bytes();
  for (int const bytes : {-1, 0, 31, 32, 63, 64, 1000}) {
    CAPTURE(bytes);
    set_host_vector_bytes(bytes);
    int used = -1;
    detail::host_body<ask_group>{ask_group{&used}, host_vector_bytes()}(0);
    CHECK(used == host_vector_bytes());
    CHECK(host_vector_bytes() <= most);
  }
  set_host_vector_bytes(32);
  CHECK(host_vector_bytes() == (most == 0 ? 0 : 32));
  set_host_vector_bytes(most);
  CHECK(host_vector_bytes() == most);
}

}  // namespace
