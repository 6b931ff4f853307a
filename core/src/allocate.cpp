// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/allocate.hpp>
#include <iso/core/detail/host_memory.hpp>

#include <cstddef>
#include <limits>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace iso::detail {

std::uint64_t free_host_bytes() { return read_array_memory().available; }

bool may_hold(std::uint64_t bytes, bool on_host) {
  // More than a pointer difference can hold would wrap around inside an allocator.
  if (bytes > std::uint64_t(std::numeric_limits<std::ptrdiff_t>::max()) / 2) {
    return false;
  }
  if (!on_host) {
    return true;
  }
  // An allocator that promises more than there is would have the process killed where it touches
  // that. Small ones are not worth asking the system for.
  constexpr std::uint64_t small = std::uint64_t(1) << 28;
  if (bytes < small) {
    return true;
  }
  std::uint64_t const available = free_host_bytes();
  return available == 0 || bytes <= available;
}

std::uint64_t bytes_of(std::size_t const* extents, std::size_t rank, std::size_t value_bytes) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = value_bytes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    std::uint64_t const n = extents[axis];
    bytes = n == 0 || bytes <= most / n ? bytes * n : most;
  }
  return bytes;
}

void check_extents(std::string const& label, std::initializer_list<std::int64_t> extents,
                   std::size_t rank) {
  ISO_VALIDATE(extents.size() == rank,
               "{}: {} extents for a view of rank {} (each index has one extent); give as many "
               "extents as the view has indices",
               label, extents.size(), rank);
  for (std::int64_t const n : extents) {
    ISO_VALIDATE(n >= 0, "{}: an extent of {} (none may be negative); give 0 or more", label, n);
  }
}

void advise_large_pages(void* memory, std::uint64_t bytes) {
#if defined(__linux__)
  // As NumPy: below it, what the last large page has too much would count.
  constexpr std::uint64_t large = std::uint64_t(1) << 22;
  if (bytes < large) {
    return;
  }
  auto const page = std::uintptr_t(sysconf(_SC_PAGESIZE));
  std::uintptr_t const begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  std::uintptr_t const end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
  // A system without large pages refuses; the array is as good in small ones.
  static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

bool is_want_of_memory(std::exception const& failure) {
  // Kokkos wraps what its allocators throw in a runtime_error with these words.
  return dynamic_cast<std::bad_alloc const*>(&failure) != nullptr ||
         std::string_view(failure.what()).find("allocate") != std::string_view::npos;
}

void throw_out_of_memory(std::string_view label, std::uint64_t bytes, std::string_view space,
                         std::uint64_t available) {
  if (space == Kokkos::HostSpace::name()) {
    available = free_host_bytes();
  }
  auto const bound = space == Kokkos::HostSpace::name() ? read_array_memory().bound : "";
  auto const free = available != 0 ? message("{} bytes are free{}", {available, bound})
                                   : std::string("it does not say what is free");
  throw out_of_memory(message("{}: {} bytes do not fit {} ({}); ask for less at a time",
                              {label, bytes, space, std::string_view(free)}),
                      bytes, available);
}

}  // namespace iso::detail
