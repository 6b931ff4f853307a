// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of test_host_vectors.cpp, for every instruction set.
#ifndef ISO_SET
#ifndef TESTS_BACKENDS_HOST_VECTORS_KERNELS_HPP
#define TESTS_BACKENDS_HOST_VECTORS_KERNELS_HPP

#include <iso/backend/lane_group.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "host_vectors_kernels.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace host_vectors_kernels::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Bytes of the registers in which the group computes.
struct ask_group {
  ISO_KERNEL(ask_group);

  int* bytes;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const&, std::int64_t) const {
    constexpr int width = Group::isa::template width<float>;
    *bytes = width == 1 ? 0 : int(sizeof(float)) * width;
  }
};

}  // namespace host_vectors_kernels::ISO_SET

#endif
