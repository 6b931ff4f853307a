// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/synthetic/poisson_counts.hpp
//! Photon counts: Poisson-distributed random numbers, the same on every backend.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/job.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/synthetic/detail/poisson_kernel.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

namespace iso::synthetic {

/// The choice of the random numbers that are drawn. Element i of a call is element first + i of the
/// stream, so that arrays may be drawn in parts.
struct random_options {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint32_t stream = 0;  ///< numbers of different streams have nothing to do with each other
};

/// Draws a Poisson-distributed count for every mean.
///
/// Random bits are Philox 4x32-10 of (element, stream, attempt) under the seed: no state, so that
/// no number depends on how many others are drawn. Means below 10 by inversion with one uniform
/// number of 52 bits, those from 10 on by transformed rejection (PTRS), which is exact up to
/// rounding in double. A mean that is negative, above 2^30 or NaN gives the canonical NaN.
///
/// Enqueued on `exec`; fences for a job alone. Overwrites `counts`, which may be `means`.
/// Determinism: backend_to_backend. Computed in double for every T with iso::math's functions, and
/// rounded once: float holds counts up to 2^24 exactly.
///
/// \param[in]  means   [n], from 0 to 2^30
/// \param[out] counts  [n]
/// \param      control  asked between batches of numbers
/// \throws iso::invalid_argument  lengths that disagree, data with gaps
/// \throws iso::cancelled         as job::step
/// \par Method  J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as
/// easy
///              as 1, 2, 3, SC 2011, doi:10.1145/2063384.2063405; W. Hoermann, The transformed
///              rejection method for generating Poisson random variables, Insurance: Mathematics
///              and Economics 12(1), 1993, doi:10.1016/0167-6687(93)90997-4.
template <execution_space Exec, real T>
void poisson_counts(
    Exec const& exec,
    Kokkos::View<std::type_identity_t<T> const*, typename Exec::memory_space> const& means,
    Kokkos::View<T*, typename Exec::memory_space> const& counts, random_options const& options = {},
    job const& control = {});

template <execution_space Exec, real T>
void poisson_counts(
    Exec const& exec,
    Kokkos::View<std::type_identity_t<T> const*, typename Exec::memory_space> const& means,
    Kokkos::View<T*, typename Exec::memory_space> const& counts, random_options const& options,
    job const& control) {
  ISO_VALIDATE(means.extent(0) == counts.extent(0),
               "iso::synthetic::poisson_counts: {} means, {} counts (each mean has one count); "
               "give as many counts as means",
               means.extent(0), counts.extent(0));
  validate_memory({memory_of(means, "means"), memory_of(counts, "counts")},
                  "iso::synthetic::poisson_counts");
  validate_contiguous(means, "means", "iso::synthetic::poisson_counts");
  validate_contiguous(counts, "counts", "iso::synthetic::poisson_counts");
  iso::detail::for_each_index_in_batches(
      "iso::synthetic::poisson_counts", exec, std::int64_t(counts.extent(0)), control,
      detail::poisson_kernel<T>{means.data(), counts.data(), options.seed, options.first,
                                options.stream});
}

#define ISO_SYNTHETIC_POISSON(linkage, Exec, T)                                             \
  linkage template void poisson_counts<Exec, T>(                                            \
      Exec const&, Kokkos::View<std::type_identity_t<T> const*, Exec::memory_space> const&, \
      Kokkos::View<T*, Exec::memory_space> const&, random_options const&, job const&);
ISO_FOR_EACH_INSTANCE(ISO_SYNTHETIC_POISSON, extern)

}  // namespace iso::synthetic
