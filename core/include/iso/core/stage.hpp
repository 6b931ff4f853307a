// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/stage.hpp
#pragma once

#include <iso/core/allocate.hpp>
#include <iso/core/concepts.hpp>

#include <Kokkos_Core.hpp>

namespace iso {

enum class access { read, write, read_write };

/// A view that `exec` reaches, in place of one that it may not reach: the same storage where `exec`
/// reaches it, otherwise a mirror, which is filled on `exec` unless it is only written. Results go
/// back by `commit()` alone, never by a destructor.
template <access Access, execution_space Exec, view View>
class staged {
  static constexpr bool reachable =
      Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible;

 public:
  using mirror_type = Kokkos::View<typename View::non_const_data_type, typename View::array_layout,
                                   typename Exec::memory_space>;
  using view_type = std::conditional_t<
      reachable, View,
      std::conditional_t<Access == access::read,
                         Kokkos::View<typename View::const_data_type, typename View::array_layout,
                                      typename Exec::memory_space>,
                         mirror_type>>;

  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  staged(staged const&) = default;
  staged& operator=(staged const&) = default;
  ~staged() = default;

  staged(Exec const& exec, View const& original) : exec_(exec), original_(original) {
    if constexpr (reachable) {
      view_ = original;
    } else {
      auto const mirror = allocate<mirror_type>(original.label(), original.layout(), exec,
                                                Kokkos::WithoutInitializing);
      if constexpr (Access != access::write) {
        Kokkos::deep_copy(exec, mirror, original);
      }
      view_ = mirror;
    }
  }

  /// Returns what the kernel gets.
  [[nodiscard]] view_type const& view() const { return view_; }

  /// Enqueues the copy back on `exec`; the caller fences.
  void commit() const
    requires(Access != access::read)
  {
    if constexpr (!reachable) {
      Kokkos::deep_copy(exec_, original_, view_);
    }
  }

 private:
  Exec exec_;
  View original_;
  view_type view_;
};

/// Enqueues on `exec` and does not fence; the original must live until `exec` has passed the copy.
/// Allocates only where `exec` does not reach `original`.
/// Determinism: backend_to_backend, a copy.
/// \throws iso::out_of_memory  as iso::allocate
template <access Access, execution_space Exec, view View>
staged<Access, Exec, View> stage(Exec const& exec, View const& original) {
  return {exec, original};
}

}  // namespace iso
