// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/calculator.hpp
//! Computes the dose of beams by TERMA and convolution, and keeps what they need between beams.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/detail/presence.hpp>
#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/core/wrap.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/dose_options.hpp>
#include <iso/dose/kernel.hpp>
#include <iso/dose/spectrum.hpp>
#include <iso/dose/terma.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::dose {

/// A dose calculation on a patient's grid, for one beam after the other. It owns the cones of its
/// kernels and the memory that a beam needs, which grows to that of the largest beam. What was
/// moved from refuses every call. Determinism: backend_to_backend. Parts of a spectrum are added in
/// their order.
template <execution_space Exec, real T>
class calculator {
 public:
  using space = typename Exec::memory_space;

  /// Prepares the doses of photons with one kernel, on the host: nothing is enqueued or allocated
  /// where `exec` computes.
  /// \param patient  the voxels that may get dose
  /// \param kernel   of these photons
  /// \throws iso::invalid_argument  as make_cones; a patient as iso::validate refuses a grid
  calculator(Exec const& exec, iso::grid const& patient, point_kernel const& kernel,
             spectrum const& photons, calculator_options const& options = {})
      : calculator(exec, patient, std::vector<energy_component>{{1, photons, kernel}}, options) {}

  /// Takes a kernel for each part of a spectrum (split_by_energy).
  /// \throws iso::invalid_argument  likewise, and where there are no parts
  calculator(Exec const& exec, iso::grid const& patient, std::vector<energy_component> parts,
             calculator_options const& options = {})
      : exec_(exec),
        patient_(patient),
        parts_(std::move(parts)),
        options_(options),
        releases_(parts_.size()) {
    validate(patient_, "iso::dose::calculator");
    ISO_VALIDATE(!parts_.empty(),
                 "iso::dose::calculator: no part of a spectrum (there would be no dose); give one "
                 "or more, as split_by_energy makes them");
    for (energy_component const& part : parts_) {
      ISO_VALIDATE(part.share > 0 && std::isfinite(part.share),
                   "iso::dose::calculator: a part's share of {} (must be positive); leave out "
                   "parts without photons",
                   part.share);
      cones_.push_back(make_cones(part.kernel, options_.cones));
    }
  }

  /// Adds the dose of a beam in the voxels of region_around. Allocates more memory where no beam
  /// before needed as much, for which it waits for what is enqueued. Else it enqueues the beam
  /// behind that, and waits for the beam before the last alone: a device computes a beam while the
  /// host plans the next one.
  ///
  /// \param[in]  density    g/cm3; its grid has the region's voxels, and nothing lies outside of it
  /// \param[in,out] dose    Gy, times the beam's weight (photons/cm2); its grid likewise
  /// \param[in]  control    progress and cancellation, asked between launches
  /// \throws iso::invalid_argument  as region_around, terma_plan, terma, convolution_plan, convolve
  /// \throws iso::out_of_memory     as iso::allocate
  /// \throws iso::cancelled         `dose` is then incomplete
  void add(beam const& b, volume_view<std::type_identity_t<T> const, space> const& density,
           volume_view<T, space> const& dose, job const& control = {}) {
    present_.check("iso::dose::calculator");
    iso::grid const region = region_around(b, patient_, options_.margin);
    terma_.reserve(terma_bytes(region));
    auto const released = wrap_volume<space>(reinterpret_cast<T*>(terma_.data()), region);
    for (std::size_t n = 0; n < parts_.size(); ++n) {
      beam of_part = b;
      of_part.weight *= parts_[n].share;
      convolution_plan<T, space> const plan(exec_, region, frame_of(of_part), of_part.fluence,
                                            cones_[n], options_.lines, {}, &plan_memory_);
      scratch_.reserve(convolve_bytes_needed<T>(exec_, plan));
      releases_[n] = releases_[n]
                         ? terma_plan<space>(exec_, of_part, *releases_[n], &fluence_memory_)
                         : terma_plan<space>(exec_, of_part, parts_[n].photons, options_.terma);
      // About what a ray to each voxel takes, beside its lines.
      constexpr double of_terma = 0.05;
      auto const at = [&](double part) { return (double(n) + part) / double(parts_.size()); };
      iso::dose::terma<Exec, T>(exec_, *releases_[n], density, released,
                                iso::detail::part_of(control, at(0), at(of_terma)));
      convolve<Exec, T>(exec_, plan, released, density, dose, scratch_, onto::stored,
                        iso::detail::part_of(control, at(of_terma), at(1)));
    }
  }

  /// Returns the bytes that the calculator holds once it has added this beam, in the execution
  /// space's memory; plans are small beside them. Makes a plan, which allocates and waits for
  /// the execution space.
  /// \throws iso::invalid_argument  as add
  [[nodiscard]] std::int64_t bytes_needed(beam const& b) const {
    present_.check("iso::dose::calculator");
    iso::grid const region = region_around(b, patient_, options_.margin);
    std::int64_t scratch = scratch_.size();
    for (cone_set const& cones : cones_) {
      convolution_plan<T, space> const plan(exec_, region, b, cones, options_.lines);
      scratch = std::max(scratch, convolve_bytes_needed<T>(exec_, plan));
    }
    return scratch + std::max<std::int64_t>(terma_.size(), terma_bytes(region));
  }
  /// Returns the bytes that it holds now.
  [[nodiscard]] std::int64_t bytes_held() const {
    present_.check("iso::dose::calculator");
    return scratch_.size() + terma_.size();
  }
  [[nodiscard]] std::int64_t num_directions() const {
    present_.check("iso::dose::calculator");
    return cones_.front().size();
  }
  /// Returns the number of kernels, one for each part of the spectrum.
  [[nodiscard]] std::int64_t num_kernels() const {
    present_.check("iso::dose::calculator");
    return std::int64_t(cones_.size());
  }

 private:
  static std::int64_t terma_bytes(iso::grid const& region) {
    return region.size() * std::int64_t(sizeof(T));
  }

  Exec exec_;
  iso::grid patient_;
  std::vector<energy_component> parts_;
  calculator_options options_;
  std::vector<cone_set> cones_;
  std::vector<std::optional<terma_plan<space>>> releases_;  ///< of the parts' last beam
  iso::detail::reused_copy<Exec> plan_memory_;
  iso::detail::reused_copy<Exec> fluence_memory_;
  workspace<space> terma_;
  workspace<space> scratch_;
  iso::detail::presence present_;
};

}  // namespace iso::dose
