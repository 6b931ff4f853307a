// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/convolution_plan.hpp
//! Declares the plan of a collapsed-cone convolution: the directions and lines for a region, a beam
//! and a kernel. iso/dose/convolution.hpp has the function that computes a dose with it.
#pragma once

#include <iso/backend/launch_shape.hpp>
#include <iso/core/concepts.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/detail/lattice.hpp>
#include <iso/ray/radiological_path.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace iso::dose {

/// The method by which energy is carried along the directions of the cones.
enum class dose_engine {
  lattice,        ///< lines on a sheared lattice, each voxel once: the fast one
  voxel_lines,    ///< one line of each direction through the middle of every voxel, exact lengths
  voxel_samples,  ///< the same, by samples at equal steps, interpolated
  non_voxel,      ///< rays and samples of a grid turned into each direction, interpolated twice
};

/// The distribution of the lattice's lines over lane groups. It changes no bit.
enum class lattice_walk {
  fastest,   ///< by_items on a GPU, by_slabs elsewhere
  by_items,  ///< a group takes some rows of a line's rays through all planes
  by_slabs,  ///< a thread takes some lines through a few planes in turn
};

struct convolution_options {
  dose_engine engine = dose_engine::lattice;
  /// The method by which voxel_lines walks a line. It changes no bit.
  ray::traversal traversal = ray::traversal::fastest;
  lattice_walk walk = lattice_walk::fastest;
  double radial_step = 1;  ///< mm, between samples (voxel_samples and non_voxel)
  double ray_spacing = 2;  ///< mm, between rays (non_voxel)
  bool tilt = true;        ///< the kernel's axis follows the diverging rays, else the beam's axis
  backend::launch_shape shape = {};  ///< how it is laid onto the machine; changes no bit
};

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

  /// Computes the plan. It waits for `exec`, and fences no other instance.
  /// \param region  the voxels that get dose, as region_around returns them; at most 2^22 along an
  ///                axis
  /// \param b       the beam of the TERMA; its place and the border of its field are used
  /// \param cones   the cones of the kernel, as make_cones returns them
  /// \throws iso::invalid_argument  as frame_of; an invalid grid, or one too large for 32-bit
  ///                                offsets; a source nearer to a voxel than min_source_to_voxel; a
  ///                                step or ray spacing below a 2^20th of the region's diagonal or,
  ///                                for an engine that samples, above a quarter of its longest
  ///                                side; an unknown engine; cones that make_cones does not make
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  convolution_plan(Exec const& exec, iso::grid const& region, beam const& b, cone_set const& cones,
                   convolution_options const& options = {})
      : convolution_plan(exec, region, frame_of(b), b.fluence, cones, options) {}
  /// Computes the plan for a frame that no angles describe, such as that of a mirrored beam.
  /// \throws iso::invalid_argument  as for a beam; a frame that is not finite
  template <execution_space Exec>
  convolution_plan(Exec const& exec, iso::grid const& region, beam_frame const& frame,
                   fluence_map const& field, cone_set const& cones,
                   convolution_options const& options = {});

  [[nodiscard]] iso::grid const& region() const { return region_; }
  [[nodiscard]] beam_frame const& frame() const { return frame_; }
  [[nodiscard]] std::int64_t num_directions() const { return num_directions_; }
  /// Returns the unit of the fixed-point sum, relative to the largest TERMA rounded up to a power
  /// of two. The dose of one direction is rounded by at most half of this unit.
  [[nodiscard]] double unit() const { return unit_; }
  [[nodiscard]] int num_terms() const { return num_terms_; }       ///< of an exponential kernel
  [[nodiscard]] bool is_table() const { return num_terms_ == 0; }  ///< a tabulated kernel
  [[nodiscard]] detail::lattice_storage<T, Space> const& storage() const { return storage_; }
  [[nodiscard]] convolution_options const& options() const { return options_; }

 private:
  iso::grid region_;
  beam_frame frame_;
  std::int64_t num_directions_;
  double unit_;
  int num_terms_;
  convolution_options options_;
  detail::lattice_storage<T, Space> storage_;
};

}  // namespace iso::dose
