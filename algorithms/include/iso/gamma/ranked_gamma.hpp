// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/gamma/ranked_gamma.hpp
//! Compares two doses by the gamma index on the ranks of a job, each of which holds planes of both.
//! A Kokkos space that the build has not needs detail/ranked_gamma_impl.hpp too.
//!
//! docs/algorithms/ranks.md has the bytes that are sent and held.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/job.hpp>
#include <iso/core/rank_report.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/gamma/gamma_index.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::gamma {

namespace detail {
template <class Exec, class T>
struct ranked_gamma_parts;
}  // namespace detail

/// Two doses of which ranks own planes, and criteria, made ready for a comparison. A rank gets the
/// evaluated planes within the search's distance of its reference planes from those who own them,
/// and compares its reference planes. Keeps the reference, and the evaluated dose where no other
/// rank has planes that are needed; their values must not change while it is used.
///
/// All ranks make it and call it together, in the same order. A rank that throws leaves the others
/// waiting, unless all throw: it ends the job (communicator::abort).
/// Determinism: backend_to_backend, for any planes and ranks: gamma, status and summaries have the
/// bits of gamma_plan, gamma_index and summarise.
template <execution_space Exec, real T>
class ranked_gamma final {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T const, space>;

  /// Checks both doses, exchanges planes and prepares the search. Waits for `exec`, and allocates
  /// as gamma_plan, and the evaluated planes that are needed.
  /// \param ranks      must outlive it
  /// \param reference, evaluated  planes that this rank owns, in the same unit; the grids are
  ///                              those of the whole. Without memory where the rank has no plane
  /// \param reference_planes, evaluated_planes  of each rank, as iso::divide_planes returns them
  /// \throws iso::invalid_argument  on every rank: planes for another number of ranks, or that do
  ///                                not cover a grid; ranks of other grids, planes, criteria or
  ///                                options; volumes of other planes; as gamma_plan
  /// \throws iso::out_of_memory     as iso::allocate, on this rank; the others throw too
  ranked_gamma(Exec const& exec, backend::communicator& ranks, volume const& reference,
               volume const& evaluated, std::vector<slab> const& reference_planes,
               std::vector<slab> const& evaluated_planes, std::vector<criterion> const& criteria,
               gamma_options const& options = {});

  // Neither copies nor moves: calls of other ranks wait for this one.
  ranked_gamma(ranked_gamma const&) = delete;
  ranked_gamma& operator=(ranked_gamma const&) = delete;
  ~ranked_gamma();

  /// Returns the reference planes that this rank owns.
  [[nodiscard]] slab const& planes() const;
  /// Makes arrays for this rank's planes; without memory where it has none. Does not fence.
  /// \throws iso::out_of_memory  as iso::allocate
  [[nodiscard]] gamma_values<T, space> make_gamma(std::string const& label) const;
  [[nodiscard]] status_values<space> make_status(std::string const& label) const;

  /// Computes gamma and status of this rank's planes, as gamma_index. The result is there when it
  /// returns.
  /// \throws iso::invalid_argument  on every rank: as gamma_index
  /// \throws iso::cancelled         on every rank
  void apply(gamma_values<T, space> const& gamma, status_values<space> const& status,
             job const& control = {});
  /// Returns the summary of the whole on every rank, of what apply() wrote.
  /// \throws iso::invalid_argument  on every rank: other options than another rank's; as summarise
  [[nodiscard]] std::vector<gamma_summary> summarise(
      gamma_values<std::type_identity_t<T> const, space> const& gamma,
      const_status_values<space> const& status, summary_options const& options = {});

  /// Returns the largest reference dose of all planes.
  [[nodiscard]] double reference_maximum() const;
  /// Returns the least reference dose that is compared.
  [[nodiscard]] double cut_off_dose() const;
  [[nodiscard]] rank_report report() const;

 private:
  std::unique_ptr<detail::ranked_gamma_parts<Exec, T>> parts_;
};

}  // namespace iso::gamma
