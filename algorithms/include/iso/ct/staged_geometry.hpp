// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/staged_geometry.hpp
#pragma once

#include <iso/core/allocate.hpp>
#include <iso/core/concepts.hpp>
#include <iso/ct/geometry.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <utility>

namespace iso::ct {

/// A geometry whose views lie in `Space`, where kernels read them.
template <class Space>
class staged_geometry {
 public:
  using views_type = Kokkos::View<view_vectors*, Space>;

  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  staged_geometry(staged_geometry const&) = default;
  staged_geometry& operator=(staged_geometry const&) = default;
  ~staged_geometry() = default;

  /// Copies the views into `Space` by way of `exec`, which allocates, and waits for `exec`: no
  /// other instance is fenced.
  /// \throws iso::out_of_memory  as iso::allocate
  template <execution_space Exec>
  staged_geometry(Exec const& exec, iso::ct::geometry g)
      : host_(std::move(g)),
        views_(allocate<views_type>("iso::ct::geometry", {std::int64_t(host_.views().size())}, exec,
                                    Kokkos::WithoutInitializing)) {
    Kokkos::View<view_vectors const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const source(
        host_.views().data(), host_.views().size());
    Kokkos::deep_copy(exec, views_, source);
    exec.fence("iso::ct::staged_geometry: the host copy may go");
  }

  [[nodiscard]] iso::ct::geometry const& host() const { return host_; }
  [[nodiscard]] views_type const& views() const { return views_; }
  /// Returns views [first, first + count), in the memory of this one; enqueues nothing.
  /// \throws iso::invalid_argument  as geometry::subset
  [[nodiscard]] staged_geometry subset(std::int64_t first, std::int64_t count) const {
    return {host_.subset(first, count),
            views_type(views_, Kokkos::make_pair(first, first + count))};
  }

 private:
  staged_geometry(iso::ct::geometry host, views_type views)
      : host_(std::move(host)), views_(std::move(views)) {}

  iso::ct::geometry host_;
  views_type views_;
};

/// Stages `g`, so that kernels of `exec` read its views; allocates and waits for `exec`, as
/// staged_geometry does.
/// Determinism: backend_to_backend, a copy.
/// \throws iso::out_of_memory  as iso::allocate
template <execution_space Exec>
staged_geometry<typename Exec::memory_space> stage(Exec const& exec, geometry const& g) {
  return {exec, g};
}

}  // namespace iso::ct
