// SPDX-License-Identifier: BSD-3-Clause
//! Asks for memory for jobs: throws a typed error instead of whatever the allocator throws.
#pragma once

#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>
#include <iso/core/detail/host_memory.hpp>
#include <iso/core/error.hpp>
#include <iso/core/numerics.hpp>
#include <iso/jobs/ranks.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace iso::jobs {

/// Returns bytes that are counted in double, so that no sum leaves its range.
inline std::int64_t whole_bytes(double bytes) {
  return bytes < 0x1p61 ? std::int64_t(bytes) : std::int64_t(1) << 61;
}

/// Names what leaves no more memory where `exec` computes; empty: the machine itself.
template <class Exec>
char const* bound_of(Exec const&) {
  return Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible
             ? iso::detail::read_array_memory().bound
             : "";
}

/// Throws iso::out_of_memory unless `bytes` are free where `exec` computes.
template <class Exec>
void check_free(Exec const& exec, std::int64_t bytes, char const* what) {
  auto const facts = backend::facts(exec);
  if (facts.memory_free_bytes > 0 && bytes > facts.memory_free_bytes) {
    throw out_of_memory(
        message("{}: {} bytes do not fit the memory of backend {} ({} bytes are free{}); ask for "
                "less, or use a larger machine or limit",
                {iso::detail::as_message_arg(what), iso::detail::as_message_arg(bytes),
                 iso::detail::as_message_arg(facts.backend),
                 iso::detail::as_message_arg(facts.memory_free_bytes),
                 iso::detail::as_message_arg(bound_of(exec))}),
        std::uint64_t(bytes), std::uint64_t(facts.memory_free_bytes));
  }
}

/// Throws iso::invalid_argument where a limit of bytes is more than there are where `exec`
/// computes: it limits nothing.
template <class Exec>
void check_limit(Exec const& exec, std::optional<std::int64_t> const& limit) {
  if (!limit) {
    return;
  }
  auto const facts = backend::facts(exec);
  ISO_VALIDATE(facts.memory_bytes == 0 || *limit <= facts.memory_bytes,
               "a limit of {} bytes (the memory of backend {} has {}); give less, or leave the "
               "limit out",
               *limit, facts.backend, facts.memory_bytes);
}

/// Throws iso::out_of_memory unless `bytes` are free on the host. Works without Kokkos.
inline void check_free(std::int64_t bytes, char const* what) {
  auto const memory = iso::detail::read_array_memory();
  auto const free = memory.available;
  if (free > 0 && std::uint64_t(bytes) > free) {
    throw out_of_memory(
        message("{}: {} bytes do not fit the memory ({} bytes are free{}); ask for less, or use a "
                "larger machine or limit",
                {iso::detail::as_message_arg(what), iso::detail::as_message_arg(bytes),
                 iso::detail::as_message_arg(std::int64_t(free)),
                 iso::detail::as_message_arg(memory.bound)}),
        std::uint64_t(bytes), free);
  }
}

/// Does as the first for two parts: `there`, where `exec` computes, and `host`, on the host.
template <class Exec>
void check_free(Exec const& exec, std::int64_t there, std::int64_t host, char const* what) {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                           typename Exec::memory_space>::accessible) {
    check_free(exec, there + host, what);
  } else {
    check_free(exec, there, what);
    check_free(Kokkos::DefaultHostExecutionSpace(), host, what);
  }
}

/// Throws iso::out_of_memory on every rank, with one sentence, unless each has `bytes` free where
/// `exec` computes. All ranks call it.
/// \param streams  they take --memory
template <class Exec>
void check_memory_of_ranks(Exec const& exec, std::int64_t bytes, char const* what,
                           bool streams = true) {
  if constexpr (backend::is_device<Exec>) {
    check_memory_of_ranks(
        {number_of_device(exec.cuda_device()), bytes, backend::facts(exec).memory_free_bytes}, "",
        "", what, streams);
  } else {
    auto const memory = iso::detail::read_array_memory();
    std::int64_t const alone = memory.available < memory.shared
                                   ? std::max(std::int64_t(memory.available), std::int64_t(1))
                                   : 0;
    check_memory_of_ranks({number_of_machine(), bytes, std::int64_t(memory.shared), alone},
                          memory.shared_bound, memory.bound, what, streams);
  }
}
/// Does so for two parts: `there`, where `exec` computes, and `host`, on the host. Other ranks may
/// have other backends.
template <class Exec>
void check_memory_of_ranks(Exec const& exec, std::int64_t there, std::int64_t host,
                           char const* what) {
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;
  check_memory_of_ranks(exec, on_host ? there + host : there, what, false);
  check_memory_of_ranks(Kokkos::DefaultHostExecutionSpace(), on_host ? there + host : host, what,
                        false);
}

/// Runs `allocate`; an allocation that fails becomes iso::out_of_memory, of `bytes`.
/// \param host  bytes of the host besides
template <class Exec, class Allocate>
auto guard_memory(Exec const& exec, std::int64_t bytes, std::int64_t host, char const* what,
                  Allocate&& allocate) {
  check_free(exec, bytes, host, what);
  try {
    return allocate();
  } catch (error const&) {
    throw;
  } catch (std::exception const&) {
    throw out_of_memory(
        message("{}: {} bytes could not be allocated ({} bytes are free{}); ask for less",
                {iso::detail::as_message_arg(what), iso::detail::as_message_arg(bytes),
                 iso::detail::as_message_arg(backend::facts(exec).memory_free_bytes),
                 iso::detail::as_message_arg(bound_of(exec))}),
        std::uint64_t(bytes), std::uint64_t(backend::facts(exec).memory_free_bytes));
  }
}

template <class Exec, class Allocate>
auto guard_memory(Exec const& exec, std::int64_t bytes, char const* what, Allocate&& allocate) {
  return guard_memory(exec, bytes, 0, what, std::forward<Allocate>(allocate));
}

}  // namespace iso::jobs
