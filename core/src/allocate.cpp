// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/allocate.hpp>
#include <iso/core/detail/host_memory.hpp>

#include <new>

namespace iso::detail {

std::uint64_t free_host_bytes() { return read_array_memory().available; }

bool host_has(std::uint64_t bytes) {
  // Small ones are not worth asking the system for.
  constexpr std::uint64_t small = std::uint64_t(1) << 28;
  if (bytes < small) {
    return true;
  }
  std::uint64_t const available = free_host_bytes();
  return available == 0 || bytes <= available;
}

bool is_want_of_memory(std::exception const& failure) {
  // Kokkos wraps what its allocators throw in a runtime_error with these words.
  return dynamic_cast<std::bad_alloc const*>(&failure) != nullptr ||
         std::string_view(failure.what()).find("allocate") != std::string_view::npos;
}

void throw_out_of_memory(std::string_view label, std::uint64_t bytes, std::string_view space,
                         std::uint64_t available) {
  auto const bound = space == Kokkos::HostSpace::name() ? read_array_memory().bound : "";
  auto const free = available != 0 ? message("{} bytes are free{}", {available, bound})
                                   : std::string("it does not say what is free");
  throw out_of_memory(message("{}: {} bytes do not fit {} ({}); ask for less at a time",
                              {label, bytes, space, std::string_view(free)}),
                      bytes, available);
}

}  // namespace iso::detail
