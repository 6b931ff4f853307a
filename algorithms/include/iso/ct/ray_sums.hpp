// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/ray_sums.hpp
//! Projects a volume slab by slab: the sums of rays, with the bits of the whole volume's.
//! A Kokkos space that the build has not needs detail/ray_sums_impl.hpp too.
#pragma once

#include <iso/core/detail/added_planes.hpp>
#include <iso/core/detail/presence.hpp>
#include <iso/core/job.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/detail/joseph_groups.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/slab_rays.hpp>
#include <iso/ct/voxel_bounds.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace iso::ct {

namespace detail {

/// Returns ray_sums::halo_needed for voxels of so many bytes.
std::int64_t halo_needed(geometry const& g, iso::grid const& whole,
                         forward_project_options const& options, std::int64_t value_bytes);

template <execution_space Exec, real T>
voxel_bounds find_bounds(Exec const& exec,
                         volume_view<T const, typename Exec::memory_space> const& volume);

}  // namespace detail

/// Returns the bounds of the voxels that are held, of a volume or a slab. Waits for `exec`.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  data of other extents than the grid's, with gaps or without
///                                memory
template <execution_space Exec, class T>
voxel_bounds bounds_of(Exec const& exec,
                       volume_view<T, typename Exec::memory_space> const& volume) {
  return detail::find_bounds<Exec, std::remove_const_t<T>>(exec, volume);
}

/// The sums of a scan's rays while the slabs of a volume come, in any order.
///
/// A Joseph sample lies between the voxels of two planes along z and is rounded once, to a multiple
/// of one power of two that is common to the whole volume. Where a ray passes a plane of the axis
/// that drives it, its sample belongs to one slab: the samples there of 32 or 64 neighbouring
/// rays to that which owns plane floor(z) of the middle one, so that rays that walk together do so
/// in all slabs. By exact lengths each product of chord and voxel is rounded once and belongs to
/// the slab that owns the voxel; chords are those of the whole grid. The words of a ray are added
/// as integers, modulo 2^32 (float) or 2^64 (double). So any partition into slabs, in any order, on
/// any backends, gives forward_project's `summation::reproducible`, to the bit. A slab is read some
/// planes beyond those that it owns (`halo_needed`), within the volume.
///
/// An object can be moved, not copied: two would add to the same words.
/// Determinism: backend_to_backend, in any order and number of slabs.
template <real T, class Space>
class ray_sums {
 public:
  using word = bits_of<T>;
  using words_type = Kokkos::View<word***, Kokkos::LayoutRight, Space>;
  using flags_type = Kokkos::View<std::uint32_t***, Kokkos::LayoutRight, Space>;

  /// Makes sums of no slabs. Allocates `bytes_needed` and fences `exec`, unless it is given memory
  /// to work in, which must outlive it.
  /// \param scan     all views; its memory is shared
  /// \param whole    the grid that slabs are planes of
  /// \param bounds   of the whole volume's voxels: the maximum of all slabs'
  /// \param options  `sum` and `max_abs` have no meaning
  /// \param memory   at least `bytes_needed`, or empty: then it allocates
  /// \throws iso::invalid_argument  an extent above 2^24 - 1, bounds that are negative or not
  ///                                finite, an option out of its range, too little memory
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
    requires accesses<Exec, Space>
  ray_sums(Exec const& exec, staged_geometry<Space> const& scan, iso::grid const& whole,
           voxel_bounds const& bounds, forward_project_options const& options = {},
           workspace<Space> const& memory = {});
  ray_sums(ray_sums&&) = default;
  ray_sums& operator=(ray_sums&&) = default;
  ~ray_sums() = default;

  /// Returns the bytes that the sums and the work on them take in `Exec`'s memory.
  /// \throws iso::invalid_argument  as the constructor
  template <execution_space Exec>
  static std::int64_t bytes_needed(Exec const& exec, geometry const& g, iso::grid const& whole,
                                   voxel_bounds const& bounds,
                                   forward_project_options const& options = {});

  /// Returns the planes below and above those that a slab owns that its samples may read; none by
  /// exact lengths. Determinism: backend_to_backend; computed on the host.
  static std::int64_t halo_needed(geometry const& g, iso::grid const& whole,
                                  forward_project_options const& options = {}) {
    return detail::halo_needed(g, whole, options, sizeof(T));
  }

  /// Adds the samples or chords of the planes that a slab owns. Enqueued on `exec`; does not fence
  /// and does not allocate.
  /// \param volume  [nx, ny, planes], 1/mm: holds `own`, and halo_needed planes of the volume below
  ///                and above
  /// \param own     no plane that was added before
  /// \throws iso::invalid_argument  another grid, planes that are not held or were added before,
  ///                                data with gaps or without memory
  /// \throws iso::cancelled         the sums are then of no use
  template <execution_space Exec>
    requires accesses<Exec, Space>
  void add(Exec const& exec, volume_view<T const, Space> const& volume, slab const& own,
           job const& control = {});

  /// Adds other sums of the same scan, grid, bounds and options. Enqueued on `exec`.
  /// \throws iso::invalid_argument  sums of something else, or of planes that were added before
  template <execution_space Exec>
    requires accesses<Exec, Space>
  void add(Exec const& exec, ray_sums const& other);

  /// Counts planes as added. For those whose words and flags the caller has added to words() and
  /// flags() by itself, as those that came from another process. Enqueues nothing.
  /// \throws iso::invalid_argument  planes that were added before
  void count_added(std::vector<slab> const& planes) {
    present_.check("iso::ct::ray_sums");
    iso::detail::join_planes(planes_, planes, "iso::ct::ray_sums::count_added");
  }

  /// Writes the line integrals of the whole volume, of as many views as `projections` has, from
  /// `first_view` on. Enqueued on `exec`; does not fence and does not allocate. The sums stay as
  /// they are, unless `projections` lie in the words' memory, each pixel in its own word's.
  /// \param[out] projections  [views, u, v], dimensionless
  /// \throws iso::invalid_argument  planes that were not added, views that the scan has not, shape
  ///                                mismatch
  template <execution_space Exec>
    requires accesses<Exec, Space>
  void finish(Exec const& exec, projection_view<T, Space> const& projections,
              std::int64_t first_view = 0) const {
    present_.check("iso::ct::ray_sums");
    finish(exec, projections, first_view, {0, scan_.host().num_v()});
  }
  /// Writes those of some rows of the detector alone.
  /// \param[out] projections  [views, u, rows], dimensionless
  /// \throws iso::invalid_argument  likewise, and rows that the detector has not
  template <execution_space Exec>
    requires accesses<Exec, Space>
  void finish(Exec const& exec, projection_view<T, Space> const& projections,
              std::int64_t first_view, row_range const& rows) const;

  /// Returns the sums of some views, whose words and scratch lie in those of all: what one of both
  /// adds or finishes next must wait for the other's work, and planes are counted apart from here.
  /// Enqueues nothing.
  /// \throws iso::invalid_argument  views that the scan has not
  [[nodiscard]] ray_sums of_views(std::int64_t first, std::int64_t count) const {
    present_.check("iso::ct::ray_sums");
    auto const views = Kokkos::make_pair(first, first + count);
    ray_sums part(scan_.subset(first, count));
    part.whole_ = whole_;
    part.bounds_ = bounds_;
    part.options_ = options_;
    part.planes_ = planes_;
    part.memory_ = memory_;
    part.words_ = Kokkos::subview(words_, views, Kokkos::ALL, Kokkos::ALL);
    if (flags_.size() > 0) {
      part.flags_ = Kokkos::subview(flags_, views, Kokkos::ALL, Kokkos::ALL);
    }
    part.scratch_ = scratch_;
    part.groups_ = groups_;
    part.halo_ = halo_;
    return part;
  }

  /// Returns the planes that were added, in ascending order, neighbours joined.
  [[nodiscard]] std::vector<slab> const& planes() const {
    present_.check("iso::ct::ray_sums");
    return planes_;
  }
  /// Returns the sums: whole numbers of the volume's unit, modulo 2^32 or 2^64; of all rays of a
  /// pixel, where it has several.
  [[nodiscard]] words_type const& words() const {
    present_.check("iso::ct::ray_sums");
    return words_;
  }
  /// Returns a bit a pixel, 32 of v in a word, that is set where a sample was not finite; empty
  /// where all voxels are, and none is so large that a blend of four might not be.
  [[nodiscard]] flags_type const& flags() const {
    present_.check("iso::ct::ray_sums");
    return flags_;
  }

 private:
  explicit ray_sums(staged_geometry<Space> const& scan) : scan_(scan) {}

  staged_geometry<Space> scan_;
  iso::grid whole_;
  voxel_bounds bounds_;
  forward_project_options options_;
  std::vector<slab> planes_;
  words_type words_;
  flags_type flags_;
  workspace<Space> memory_;
  workspace<Space> scratch_;      ///< a part of it
  detail::joseph_groups groups_;  ///< of all views, also in what of_views returns
  std::int64_t halo_ = 0;
  iso::detail::presence present_;
};

}  // namespace iso::ct
