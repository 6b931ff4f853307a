// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/support/kokkos_events.hpp
//! What a call does, as Kokkos tells its tools: launches, fences and allocations.
#pragma once

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iso::test {

enum class event_kind { launch, fence, allocation };

struct kokkos_event {
  event_kind kind;
  std::string name;
  std::uint32_t device;  ///< Kokkos::Tools::Experimental::device_id of the instance; 0 of memory
};

namespace detail {

inline std::vector<kokkos_event>& recorded_events() {
  static std::vector<kokkos_event> all;
  return all;
}

template <event_kind Kind>
void record_event(char const* name, std::uint32_t device, std::uint64_t* id) {
  recorded_events().push_back({Kind, name, device});
  *id = recorded_events().size();
}

inline void record_allocation(Kokkos_Profiling_SpaceHandle, char const* name, void const*,
                              std::uint64_t) {
  recorded_events().push_back({event_kind::allocation, name, 0});
}

/// Memory that Kokkos holds, beyond what it held when the recording began.
struct held_bytes {
  std::int64_t now = 0;
  std::int64_t most = 0;
};
inline held_bytes& recorded_bytes() {
  static held_bytes held;
  return held;
}
inline void record_taken(Kokkos_Profiling_SpaceHandle, char const*, void const*,
                         std::uint64_t size) {
  auto& held = recorded_bytes();
  held.now += std::int64_t(size);
  held.most = std::max(held.most, held.now);
}
inline void record_given_back(Kokkos_Profiling_SpaceHandle, char const*, void const*,
                              std::uint64_t size) {
  recorded_bytes().now -= std::int64_t(size);
}

/// The callbacks of tools, put back at its end.
struct callbacks_kept {
  Kokkos::Tools::Experimental::EventSet before = Kokkos::Tools::Experimental::get_callbacks();
  ~callbacks_kept() { Kokkos::Tools::Experimental::set_callbacks(before); }
};

}  // namespace detail

/// The most memory that Kokkos holds at once while `f` runs, beyond what it held before. One
/// recording at a time.
template <class F>
std::int64_t peak_bytes_of(F const& f) {
  namespace tools = Kokkos::Tools::Experimental;
  detail::callbacks_kept const guard;
  detail::recorded_bytes() = {};
  tools::set_allocate_data_callback(detail::record_taken);
  tools::set_deallocate_data_callback(detail::record_given_back);
  f();
  return detail::recorded_bytes().most;
}

/// What Kokkos tells while `f` runs. One recording at a time.
template <class F>
std::vector<kokkos_event> events_during(F const& f) {
  namespace tools = Kokkos::Tools::Experimental;
  detail::callbacks_kept const guard;
  detail::recorded_events().clear();
  tools::set_begin_parallel_for_callback(detail::record_event<event_kind::launch>);
  tools::set_begin_parallel_reduce_callback(detail::record_event<event_kind::launch>);
  tools::set_begin_parallel_scan_callback(detail::record_event<event_kind::launch>);
  tools::set_begin_fence_callback(detail::record_event<event_kind::fence>);
  tools::set_allocate_data_callback(detail::record_allocation);
  f();
  return detail::recorded_events();
}

/// A fence that Kokkos adds around each callback of a tool.
inline bool is_tool_fence(kokkos_event const& e) {
  return e.kind == event_kind::fence &&
         e.name.find("Kokkos Profile Tool Fence") != std::string::npos;
}

/// Memory that is taken, or a fence that Kokkos adds where memory is taken or given back.
inline bool is_of_memory(kokkos_event const& e) {
  if (e.kind == event_kind::fence) {
    for (std::string_view const part : {"alloc", "before free", "async free"}) {
      if (e.name.find(part) != std::string::npos) {
        return true;
      }
    }
  }
  return e.kind == event_kind::allocation;
}

/// How many kernels `f` launches, all of them on `exec`; it neither fences nor allocates.
template <class Exec, class F>
int launches_of(Exec const& exec, F const& f) {
  f();  // what Kokkos allocates at a kernel's first launch is not the call's business
  exec.fence();
  int launches = 0;
  for (auto const& e : events_during(f)) {
    CAPTURE(e.name);
    if (!is_tool_fence(e)) {
      CHECK(e.kind == event_kind::launch);
      CHECK(e.device == Kokkos::Tools::Experimental::device_id(exec));
      ++launches;
    }
  }
  exec.fence();
  return launches;
}

}  // namespace iso::test
