// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/ranked_calculator.hpp
//! Computes the dose of beams on the ranks of a job, each of which holds a part of it.
//! A Kokkos space that the build has not needs detail/ranked_calculator_impl.hpp too.
//!
//! docs/algorithms/ranks.md has the bytes that are sent and held.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/job.hpp>
#include <iso/core/rank_report.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/dose_options.hpp>
#include <iso/dose/kernel.hpp>
#include <iso/dose/spectrum.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::dose {

namespace detail {
template <class Exec, class T>
struct ranked_calculator_parts;
}  // namespace detail

/// A dose calculation on a patient's grid by the ranks of a job, for one beam after the other. Each
/// rank owns planes of the dose, and carries energy along the share of the directions that it has
/// of the planes. All engines add directions as integers: those of a rank go to the owners of the
/// voxels, which add them up, and then beams and parts of the spectrum in their order, as one
/// calculator does.
///
/// Density and TERMA are whole on each rank; of the TERMA, each computes a share and sends it to
/// the others. A rank without a plane has no direction either.
///
/// All ranks make it and call it together, in the same order. A rank that throws leaves the others
/// waiting, unless all throw: it ends the job (communicator::abort).
/// Determinism: backend_to_backend, for any planes and ranks: the bits of iso::dose::calculator.
template <execution_space Exec, real T>
class ranked_calculator final {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;

  /// Prepares the doses of photons with one kernel, on the host.
  /// \param ranks    must outlive it
  /// \param patient  the voxels that may get dose
  /// \param planes   of each rank, as iso::divide_planes returns them
  /// \throws iso::invalid_argument  on every rank: planes for another number of ranks, or that do
  ///                                not cover the patient; ranks of other arguments; as calculator
  ranked_calculator(Exec const& exec, backend::communicator& ranks, iso::grid const& patient,
                    std::vector<iso::slab> const& planes, point_kernel const& kernel,
                    spectrum const& photons, calculator_options const& options = {});
  /// Takes a kernel for each part of a spectrum (split_by_energy).
  /// \throws iso::invalid_argument  likewise, and where there are no parts
  ranked_calculator(Exec const& exec, backend::communicator& ranks, iso::grid const& patient,
                    std::vector<iso::slab> const& planes,
                    std::vector<energy_component> const& parts,
                    calculator_options const& options = {});

  // Neither copies nor moves: calls of other ranks wait for this one.
  ranked_calculator(ranked_calculator const&) = delete;
  ranked_calculator& operator=(ranked_calculator const&) = delete;
  ~ranked_calculator();

  /// Returns the planes that this rank owns.
  [[nodiscard]] iso::slab const& planes() const;
  /// Makes this rank's planes of a dose, set to zero on `exec`; does not fence. Without memory
  /// where it has none.
  /// \throws iso::out_of_memory  as iso::allocate
  [[nodiscard]] volume make_dose(std::string const& label) const;

  /// Adds the dose of a beam in the voxels of region_around that this rank owns. Allocates more
  /// memory where no beam before needed as much. It waits for what is enqueued on the execution
  /// space before, so that ranks can compare their densities, and leaves the beam enqueued there.
  /// \param[in]     density  g/cm3, the same on all ranks; its grid has the region's voxels, and
  ///                         nothing lies outside of it
  /// \param[in,out] dose     [nx, ny, planes] that this rank owns of the patient's grid, Gy
  /// \throws iso::invalid_argument  on every rank: another beam or density than another rank's, a
  ///                                dose of other planes or without memory, as calculator::add
  /// \throws iso::out_of_memory     as iso::allocate, on this rank; the others throw too
  /// \throws iso::cancelled         on every rank; `dose` is then incomplete
  void add(beam const& b, volume_view<std::type_identity_t<T> const, space> const& density,
           volume const& dose, job const& control = {});

  [[nodiscard]] std::int64_t num_directions() const;
  /// Returns the number of kernels, one for each part of the spectrum.
  [[nodiscard]] std::int64_t num_kernels() const;
  [[nodiscard]] rank_report report() const;

 private:
  std::unique_ptr<detail::ranked_calculator_parts<Exec, T>> parts_;
};

}  // namespace iso::dose
