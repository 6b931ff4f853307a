// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/registry.hpp
//! Lists the backends of this build, as types and by name.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/error.hpp>

#include <Kokkos_Core.hpp>

#include <string>
#include <string_view>
#include <tuple>

namespace iso::backend {

/// A Kokkos execution space with the name that users give it.
template <execution_space Exec>
struct tag;

template <>
struct tag<Kokkos::Serial> {
  using execution_space = Kokkos::Serial;
  static constexpr std::string_view name = "serial";
};
#if ISO_HAS_OPENMP
template <>
struct tag<Kokkos::OpenMP> {
  using execution_space = Kokkos::OpenMP;
  static constexpr std::string_view name = "openmp";
};
#endif
#if ISO_HAS_THREADS
/// The tag of Kokkos::Threads, which launches only from the thread that initialised Kokkos.
template <>
struct tag<Kokkos::Threads> {
  using execution_space = Kokkos::Threads;
  static constexpr std::string_view name = "threads";
};
#endif
#if ISO_HAS_CUDA
template <>
struct tag<Kokkos::Cuda> {
  using execution_space = Kokkos::Cuda;
  static constexpr std::string_view name = "cuda";
};
#endif
using all = std::tuple<tag<Kokkos::Serial> ISO_IF_OPENMP(, tag<Kokkos::OpenMP>)
                           ISO_IF_THREADS(, tag<Kokkos::Threads>) ISO_IF_CUDA(, tag<Kokkos::Cuda>)>;

/// True where kernels of `Exec` run on a GPU, whose memory the host does not reach.
template <execution_space Exec>
inline constexpr bool is_device =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

/// The error of a thread whose rounding or flushing differs from the defaults of IEEE 754.
class floating_point_error : public error {
 public:
  using error::error;
};

/// Throws iso::backend::floating_point_error unless the calling thread and, once Kokkos is
/// initialised, its threads on the host round to nearest and keep subnormal numbers. These settings
/// belong to a thread: std::fesetround, the processor's FTZ and DAZ bits, and an object linked with
/// -ffast-math, which sets these when it is loaded, change them for all that the thread does later.
/// Some microseconds; for_each and with_name call it.
void check_floating_point_environment();

/// Calls f(tag<Exec>{}) for every backend of this build, Serial first.
/// \throws iso::backend::floating_point_error  as check_floating_point_environment, before any call
template <class F>
void for_each(F&& f) {
  check_floating_point_environment();
  std::apply([&](auto... each) { (f(each), ...); }, all{});
}

/// Calls f(tag<Exec>{}) for the backend called `name`. Never falls back to another.
/// \throws iso::invalid_argument               this build has none of that name, with those it has
/// \throws iso::backend::floating_point_error  as check_floating_point_environment
template <class F>
void with_name(std::string_view name, F&& f) {
  bool found = false;
  std::string known;
  for_each([&](auto each) {
    known += known.empty() ? "" : ", ";
    known += each.name;
    if (each.name == name) {
      found = true;
      f(each);
    }
  });
  ISO_VALIDATE(found,
               "iso::backend::with_name: backend '{}' (this build has: {}); choose one of those",
               name, known);
}

}  // namespace iso::backend
