// SPDX-License-Identifier: BSD-3-Clause
//! Holds launch parameters of forward projection, by kind of processor.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>

#include <algorithm>
#include <cstdint>

namespace iso::ct::detail {

/// Launch parameters of the Joseph projectors. No bit depends on them.
struct joseph_tuning {
  int ray_columns;            ///< neighbouring u that a group walks together
  int rows;                   ///< rows of 32 v that a group walks together
  int whole_rows;             ///< a detector is filled up to a multiple of so many rows
  unsigned threads;           ///< of a GPU's block
  unsigned min_blocks;        ///< of a GPU's multiprocessor
  std::int64_t slab_columns;  ///< columns times planes a launch; 0: all planes
  std::int64_t few_views;     ///< below so many views, blocks of planes are walked apart, all at
                              ///< once
};

/// The parameters for GPUs: two rows share the work across z. What a tile along v of all views
/// reads of a slab stays in the level-2 cache: of slabs of 64 to 512 planes, 128 were fastest on an
/// H200 at 512^3 and 64 at 1024^3. Fewer than 8 views do not fill it.
inline constexpr joseph_tuning joseph_on_gpu = {
    .ray_columns = 1,
    .rows = 2,
    .whole_rows = 2,
    .threads = 128,
    .min_blocks = 7,
    .slab_columns = std::int64_t(1) << 16,
    .few_views = 8,
};

/// The parameters for processors: of 4 to 32 columns of rays and 2 to 8 rows these were fastest;
/// slabs gain nothing.
inline constexpr joseph_tuning joseph_on_host = {
    .ray_columns = 8,
    .rows = 8,
    .whole_rows = 2,
    .threads = 128,
    .min_blocks = 0,
    .slab_columns = 0,
    .few_views = 0,
};

/// The number of blocks of 128 of the general kernel that a GPU's multiprocessor is to hold: so
/// many leave a lane the registers for four planes at once, whose loads are under way together.
/// Doubles would not fit them.
template <class T>
inline constexpr unsigned joseph_general_min_blocks = sizeof(T) == 4 ? 6 : 0;

/// The lines of the general kernel that a group walks together, a few planes at a time. On a GPU
/// neighbouring groups run at the same time. On a processor, of 8, 16 and 32 lines and 16 and 32
/// planes, these were among the fastest at 128^3 to 384^3, with registers of 64 and of 32 bytes.
template <class Exec>
inline constexpr int joseph_general_lines = backend::is_device<Exec> ? 1 : 16;
inline constexpr std::int32_t joseph_general_planes = 32;

/// The number of slabs of the fast path in one of the general path, whose launches begin with more
/// work: of slabs of 64 to 512 planes, 192 and 256 were fastest on an H200 at 512^3 and 128 at
/// 1024^3.
inline constexpr std::int32_t joseph_general_slab = 2;

template <class Exec>
inline constexpr joseph_tuning joseph_tuning_of =
    backend::is_device<Exec> ? joseph_on_gpu : joseph_on_host;

/// The number of chords of a ray for each of its planes: it crosses those of three axes.
inline constexpr double chords_a_plane = 1.7;

/// Counts the samples of a view, about: one of each ray in each plane, or by exact lengths its
/// chords; or one of each voxel.
inline double samples_of_view(geometry const& g, iso::grid const& volume,
                              projector method = projector::joseph_linear) {
  auto const& n = volume.extent;
  double const planes =
      (is_joseph(method) ? 1.0 : chords_a_plane) * double(std::max({n[0], n[1], n[2]}));
  return std::max(double(g.num_u()) * double(g.num_v()) * planes, double(volume.size()));
}

}  // namespace iso::ct::detail
