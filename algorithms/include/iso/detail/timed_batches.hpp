// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/detail/job_parts.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace iso::detail {

/// Calls launch(first, last) for batches that make up 0 to `count`, in order, and asks `control`
/// after each. Without callbacks there is one batch, and nothing is waited for. With them each is
/// waited for, and is as large as those before it say that a twentieth of a second allows: work per
/// index may differ by orders of magnitude.
template <execution_space Exec, class Launch>
void in_timed_batches(Exec const& exec, std::int64_t count, job const& control,
                      Launch const& launch) {
  if (!control.progress && !control.cancelled) {
    launch(std::int64_t(0), count);
    return;
  }
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds short_time(25);
  constexpr std::chrono::milliseconds long_time(100);
  // From one index a thread on; a device has many.
  std::int64_t const least = backend::is_device<Exec> ? 1 << 14 : exec.concurrency();
  std::int64_t const most = least << 14;
  std::int64_t size = least;
  for (std::int64_t first = 0; first < count;) {
    std::int64_t const last = std::min(count, first + size);
    auto const begin = clock::now();
    launch(first, last);
    exec.fence("iso::job: asked between batches");
    auto const taken = clock::now() - begin;
    if (taken > long_time) {
      size = std::max<std::int64_t>(size / 4, 1);
    } else if (taken < short_time) {
      size = std::min(2 * size, most);
    }
    first = last;
    control.step(double(last) / double(count));
  }
}

/// Calls kernel(i) for i from 0 to `count`, in such batches.
template <execution_space Exec, class Kernel>
void for_each_index_in_batches(std::string const& label, Exec const& exec, std::int64_t count,
                               job const& control, Kernel const& kernel) {
  using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  in_timed_batches(exec, count, control, [&](std::int64_t first, std::int64_t last) {
    Kokkos::parallel_for(label, range(exec, first, last), kernel);
  });
}

/// Copies an array, where `control` has callbacks in parts that take much less than a second,
/// between which it is asked.
template <execution_space Exec, class To, class From>
void copy_in_parts(Exec const& exec, To const& to, From const& from, job const& control) {
  constexpr std::int64_t elements = std::int64_t(1) << 24;
  auto const count = std::int64_t(to.extent(0));
  std::int64_t const step = control.progress || control.cancelled ? elements : count;
  for (std::int64_t first = 0; first < count; first += step) {
    auto const part = Kokkos::make_pair(first, std::min(count, first + step));
    Kokkos::deep_copy(exec, Kokkos::subview(to, part), Kokkos::subview(from, part));
    control.step(double(part.second) / double(count));
  }
}

}  // namespace iso::detail
