// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/convolution_plan.hpp
//! Declares the plan of a collapsed-cone convolution: the directions and lines for a region, a beam
//! and a kernel. iso/dose/convolution.hpp has the function that computes a dose with it.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/detail/copied.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/detail/plan_storage.hpp>
#include <iso/dose/dose_options.hpp>
#include <iso/ray/radiological_path.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <variant>

namespace iso::dose {

/// The smallest distance, mm, of the source from the middle of a voxel of the region. Nearer to the
/// source, the direction of the photons changes too much within a voxel.
inline constexpr double min_source_to_voxel = 100;

/// The plan of a convolution in the precision T: its directions and their lines, in the memory
/// `Space`. It may be used for any TERMA and density on its region.
template <real T, class Space>
class convolution_plan {
 public:
  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  convolution_plan(convolution_plan const&) = default;
  convolution_plan& operator=(convolution_plan const&) = default;
  ~convolution_plan() = default;

  /// Computes the plan. It allocates the plan's arrays and waits for `exec`, and fences no other
  /// instance.
  /// \param region  the voxels that get dose, as region_around returns them; at most 2^22 along an
  ///                axis
  /// \param b       the beam of the TERMA; its place and the border of its field are used
  /// \param cones   the cones of the kernel, as make_cones returns them
  /// \throws iso::invalid_argument  as frame_of; an invalid grid, or one too large for 32-bit
  ///                                offsets; a source nearer to a voxel than min_source_to_voxel; a
  ///                                step or ray spacing below a 2^20th of the region's diagonal or,
  ///                                for an engine that samples, above a quarter of its longest
  ///                                side; an unknown engine; a walk by slabs on a GPU; cones that
  ///                                make_cones does not make
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  convolution_plan(Exec const& exec, iso::grid const& region, beam const& b, cone_set const& cones,
                   convolution_options const& options = {})
      : convolution_plan(exec, region, frame_of(b), b.fluence, cones, options) {}
  /// Computes the plan for a frame that no angles describe, such as that of a mirrored beam.
  /// Allocates and waits likewise.
  /// \param some    directions that it is for: the doses of all add up to that of the beam, in its
  ///                unit
  /// \param memory  for the arrays, which lose what they hold with the next plan there; given this,
  ///                it enqueues their copy and does not wait
  /// \throws iso::invalid_argument  as for a beam; a frame that is not finite
  template <execution_space Exec>
  convolution_plan(Exec const& exec, iso::grid const& region, beam_frame const& frame,
                   fluence_map const& field, cone_set const& cones,
                   convolution_options const& options = {},
                   detail::direction_range const& some = {},
                   iso::detail::reused_copy<Exec>* memory = nullptr);

  [[nodiscard]] iso::grid const& region() const { return region_; }
  [[nodiscard]] beam_frame const& frame() const { return frame_; }
  [[nodiscard]] std::int64_t num_directions() const { return num_directions_; }
  /// Returns the unit of the fixed-point sum, relative to the largest TERMA rounded up to a power
  /// of two. The dose of one direction is rounded by at most half of this unit.
  [[nodiscard]] double unit() const { return unit_; }
  /// Returns whether the kernel is tabulated.
  [[nodiscard]] bool is_table() const {
    return std::holds_alternative<detail::tabulated>(storage_.kernel);
  }
  [[nodiscard]] detail::plan_storage<T, Space> const& storage() const { return storage_; }
  [[nodiscard]] convolution_options const& options() const { return options_; }

 private:
  iso::grid region_;
  beam_frame frame_;
  std::int64_t num_directions_;
  double unit_;
  convolution_options options_;
  detail::plan_storage<T, Space> storage_;
};

}  // namespace iso::dose
