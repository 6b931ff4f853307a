// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/convolution_plan.hpp
//! Holds what a convolution derives from a region, a beam and a kernel; iso/dose/convolution.hpp
//! has what runs it.
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

/// Specifies how energy is carried along the cones' directions.
enum class dose_engine {
  lattice,        ///< lines on a sheared lattice, each voxel once: the fast one
  voxel_lines,    ///< one line of each direction through the middle of every voxel, exact lengths
  voxel_samples,  ///< the same, by samples at equal steps, interpolated
  non_voxel,      ///< rays and samples of a grid turned into each direction, interpolated twice
};

/// Specifies how the lattice's lines are dealt out; changes no bit.
enum class lattice_walk {
  fastest,   ///< by_items on a GPU, by_slabs elsewhere
  by_items,  ///< a group takes some rows of a line's rays through all planes
  by_slabs,  ///< a thread takes some lines through a few planes in turn
};

struct convolution_options {
  dose_engine engine = dose_engine::lattice;
  /// Says how voxel_lines walks lines; changes no bit.
  ray::traversal traversal = ray::traversal::fastest;
  lattice_walk walk = lattice_walk::fastest;
  double radial_step = 1;  ///< mm, between samples (voxel_samples and non_voxel)
  double ray_spacing = 2;  ///< mm, between rays (non_voxel)
  bool tilt = true;        ///< the kernel's axis follows the diverging rays, else the beam's axis
  backend::launch_shape shape = {};  ///< how it is laid onto the machine; changes no bit
};

/// Bounds how near the source may be to the middle of a voxel of the region, mm. Nearer to it, the
/// direction of the photons changes too much within a voxel.
inline constexpr double min_source_to_voxel = 100;

/// Holds the lines of a convolution of T, in `Space`.
template <real T, class Space>
class convolution_plan {
 public:
  /// Waits for `exec`: no other instance is fenced.
  /// \param region  the voxels that get dose, as region_around gives them; at most 2^22 along an
  ///                axis
  /// \param b       its place and the border of its field; that of `terma`
  /// \param cones   of the kernel, as make_cones gives them
  /// \throws iso::invalid_argument  as frame_of; an invalid grid, or one too large for 32-bit
  ///                                offsets; a source nearer to a voxel than min_source_to_voxel;
  ///                                a step or ray spacing below a 2^20th of the diagonal or, of an
  ///                                engine that samples, above a quarter of the longest side; an
  ///                                unknown engine; cones that make_cones would not make
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  convolution_plan(Exec const& exec, iso::grid const& region, beam const& b, cone_set const& cones,
                   convolution_options const& options = {})
      : convolution_plan(exec, region, frame_of(b), b.fluence, cones, options) {}
  /// Does the same for a frame that no angles give, as that of a mirrored beam.
  /// \throws iso::invalid_argument  likewise; a frame that is not finite
  template <execution_space Exec>
  convolution_plan(Exec const& exec, iso::grid const& region, beam_frame const& frame,
                   fluence_map const& field, cone_set const& cones,
                   convolution_options const& options = {});

  [[nodiscard]] iso::grid const& region() const { return region_; }
  [[nodiscard]] beam_frame const& frame() const { return frame_; }
  [[nodiscard]] std::int64_t num_directions() const { return num_directions_; }
  /// A rounding of a direction's dose is at most half of this times the largest TERMA, rounded up
  /// to a power of two.
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
