// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/forward_project_texture.hpp, for the files that
//! instantiate them.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/detail/joseph_path.hpp>
#include <iso/ct/detail/ray_sum.hpp>
#include <iso/ct/forward_project_texture.hpp>
#include <iso/detail/check_word.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <cstdint>

namespace iso::ct::detail {

/// Takes a lane a ray; a group takes a tile of neighbouring pixels, whose samples share cache lines
/// in both directions of a plane. All its rays step through the planes together.
struct joseph_texture_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  backend::texture_planes across[3];
  float* projections;
  grid g;
  beam kind;
  region within;
  std::int64_t num_u;
  std::int64_t num_v;
  std::int32_t tile_v = 8;  ///< of 32 pixels: 32 / tile_v along u

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t tiles_along_u() const {
    return (num_u + 32 / tile_v - 1) / (32 / tile_v);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t tiles_along_v() const {
    return (num_v + tile_v - 1) / tile_v;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_groups() const {
    return std::int64_t(views.extent(0)) * tiles_along_u() * tiles_along_v();
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    // Tiles along v slowest: what all views read for one of them stays in a cache.
    std::int64_t const lines = std::int64_t(views.extent(0)) * tiles_along_u();
    std::int64_t const along_v = index / lines;
    std::int64_t const rest = index - along_v * lines;
    std::int64_t const view = rest / tiles_along_u();
    std::int64_t const first_u = (rest - view * tiles_along_u()) * (32 / tile_v);
    std::int64_t const first_v = along_v * tile_v;
    typename Group::template lane_array<joseph_line<float>> lines_of;
    typename Group::template lane_array<std::int32_t> first;
    typename Group::template lane_array<std::int32_t> last;
    group.each([&](int lane) {
      std::int64_t const u = first_u + lane / tile_v;
      std::int64_t const v = first_v + lane % tile_v;
      auto line = make_line<float>(to_index(views(view), g, kind), kind, g,
                                   double(u < num_u ? u : num_u - 1),
                                   double(v < num_v ? v : num_v - 1), within);
      for (int c = 0; c < 2; ++c) {
        std::int64_t const n = g.extent[std::size_t(other_axis(line.axis, c))];
        line.planes = planes_about(line.across[c], -1.0F, float(n), line.planes);
      }
      lines_of[lane] = line;
      first[lane] = line.planes.empty() ? 1 << 30 : line.planes.first;
      last[lane] = line.planes.empty() ? 0 : line.planes.last;
    });
    plane_range const all{group.lowest(first), group.highest(last)};
    group.each([&](int lane) {
      std::int64_t const u = first_u + lane / tile_v;
      std::int64_t const v = first_v + lane % tile_v;
      if (u < num_u && v < num_v) {
        projections[(view * num_u + u) * num_v + v] = integrate(lines_of[lane], all);
      }
    });
  }

 private:
  /// Integrates along a ray; `all`: the planes of this ray and of those beside it.
  KOKKOS_FORCEINLINE_FUNCTION float integrate(joseph_line<float> const& line,
                                              plane_range all) const {
    if (line.planes.empty()) {
      return 0;  // of a ray without length, too, whose step is NaN
    }
    backend::texture_planes const sample = line.axis == 0   ? across[0]
                                           : line.axis == 1 ? across[1]
                                                            : across[2];
    coordinate<float> const p = line.across[0];
    coordinate<float> const q = line.across[1];
    float total = 0;
    for (std::int32_t b = all.first / block_planes * block_planes; b < all.last;
         b += block_planes) {
      plane_range const block = all.clipped(b, b + block_planes);
      float sum = 0;
      ISO_DEVICE_UNROLL
      for (std::int32_t i = block.first; i < block.last; ++i) {
        if (i >= line.planes.first && i < line.planes.last) {
          sum += sample(i, p(i), q(i));
        }
      }
      total += sum;
    }
    return canonical(total * line.step);
  }
};

}  // namespace iso::ct::detail

namespace iso::ct {

template <execution_space Exec>
void forward_project_texture(Exec const& exec,
                             staged_geometry<typename Exec::memory_space> const& g,
                             backend::texture_volume const& volume,
                             projection_view<float, typename Exec::memory_space> const& projections,
                             texture_projection_options const& options) {
  constexpr auto name = "iso::ct::forward_project_texture";
  geometry const& host = g.host();
  validate(projections, {host.num_views(), host.num_u(), host.num_v()}, name);
  validate_contiguous(projections.data, "projections", name);
  iso::detail::check_word(options.within, name, "within");
  ISO_VALIDATE(options.shape.groups_per_launch >= 0,
               "{}: groups_per_launch {} (must not be negative); leave it at 0 for one launch",
               name, options.shape.groups_per_launch);
  Kokkos::Profiling::ScopedRegion const profiled("iso::ct::forward_project_texture");
  detail::joseph_texture_kernel const kernel{g.views(),
                                             {volume.planes(0), volume.planes(1), volume.planes(2)},
                                             projections.data.data(),
                                             volume.grid(),
                                             host.kind(),
                                             options.within,
                                             host.num_u(),
                                             host.num_v()};
  backend::for_each_lane_group("iso::ct::forward_project_texture", exec, kernel.num_groups(),
                               kernel, options.shape);
}

#define ISO_FORWARD_PROJECT_TEXTURE(Exec, ...)                                                 \
  __VA_ARGS__ template void forward_project_texture<Exec>(                                     \
      Exec const&, staged_geometry<Exec::memory_space> const&, backend::texture_volume const&, \
      projection_view<float, Exec::memory_space> const&, texture_projection_options const&);
ISO_FOR_EACH_BACKEND(ISO_FORWARD_PROJECT_TEXTURE, extern)

}  // namespace iso::ct
