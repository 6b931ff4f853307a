// SPDX-License-Identifier: BSD-3-Clause
// A warp takes 64 pixels along v of one (view, u), two a lane. What happens once a fan or ray (the
// numbers of joseph_path.hpp) is the library's code; the loops over planes are written out.
#include "raw_joseph.hpp"

#include <iso/backend/cuda_check.hpp>

#include <algorithm>

namespace iso::perf {
namespace {

using ct::detail::block_planes;
using ct::detail::plane_range;
using fan = ct::detail::joseph_fan<float>;

constexpr int rows = 2;
constexpr float whole_number = 8388608.0F;         // 2^23: adding it leaves an integer's bits
constexpr std::uint64_t whole_bits = 0x4b000000U;  // those of 2^23

__global__ void __launch_bounds__(256)
    make_fans(ct::detail::joseph_fan_kernel<float> const make, std::int64_t count) {
  std::int64_t const i = std::int64_t(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) {
    make(i);
  }
}

/// The rays of a lane and the planes that its warp walks.
struct lane_rays {
  float slope[rows];
  float base[rows];
  float sum[rows];
  float total[rows];
  plane_range outer;
  plane_range inner;

  __device__ float z(int r, int i) const { return __fmaf_rn(float(i), slope[r], base[r]); }
};

__device__ __forceinline__ void start(lane_rays& s, fan const& f, int first_v, int num_v,
                                      int height) {
  plane_range outer{f.planes.last, f.planes.first};
  plane_range inner = f.inside;
  for (int r = 0; r < rows; ++r) {
    auto const z = f.z(min(first_v + 32 * r, num_v - 1)).rounded<float>();
    s.slope[r] = z.slope;
    s.base[r] = z.base;
    auto const about = planes_about(z, -1.0F, float(height), f.planes);
    if (!about.empty()) {
      outer = {min(outer.first, about.first), max(outer.last, about.last)};
    }
    inner = planes_inside(z, height, inner);
  }
  if (inner.empty()) {
    inner = {f.planes.last, f.planes.first};
  }
  s.outer = {__reduce_min_sync(~0U, outer.first), __reduce_max_sync(~0U, outer.last)};
  s.inner = {__reduce_max_sync(~0U, inner.first), __reduce_min_sync(~0U, inner.last)};
}

/// The volume as a fan sees it; distances in voxels.
struct fan_volume {
  float const* voxels;
  int columns;
  int height;
  std::uint32_t plane;
  std::uint32_t column;

  __device__ fan_volume(raw_joseph_arrays const& a, int axis)
      : voxels(a.volume),
        columns(int(axis == 0 ? a.g.extent[1] : a.g.extent[0])),
        height(int(a.g.extent[2])),
        plane(std::uint32_t(axis == 0 ? a.g.extent[1] * a.g.extent[2] : a.g.extent[2])),
        column(std::uint32_t(axis == 0 ? a.g.extent[2] : a.g.extent[1] * a.g.extent[2])) {}
};

/// Planes where some lane may lie at the border: every neighbour is asked for.
__device__ __forceinline__ void edge_planes(fan_volume const& volume, fan const& f, lane_rays& s,
                                            plane_range planes) {
  auto const [voxels, nx, nz, plane, column] = volume;
  for (int i = planes.first; i < planes.last; ++i) {
    float const x = __fmaf_rn(float(i), f.across.slope, f.across.base);
    if (!(x >= -1.0F && x <= float(nx))) {
      continue;
    }
    float const x_floor = floorf(x);
    auto const k = int(x_floor);
    float const w = x - x_floor;
    float const* const lower = voxels + std::int64_t(i) * plane + std::int64_t(k) * column;
    for (int r = 0; r < rows; ++r) {
      float const z = s.z(r, i);
      if (z >= -1.0F && z <= float(nz)) {
        float const z_floor = floorf(z);
        auto const at = [&](int h) {
          bool const inside = h >= 0 && h < nz;
          float const p = inside && k >= 0 && k < nx ? lower[h] : 0.0F;
          float const q = inside && k + 1 < nx ? lower[h + std::int64_t(column)] : 0.0F;
          return __fmaf_rn(w, q - p, p);
        };
        float const below = at(int(z_floor));
        s.sum[r] += __fmaf_rn(z - z_floor, at(int(z_floor) + 1) - below, below);
      }
    }
  }
}

/// Planes where all four neighbours of every lane are voxels.
__device__ __forceinline__ void inner_planes(fan_volume const& volume, fan const& f, lane_rays& s,
                                             plane_range planes) {
  std::uint32_t const plane = 4 * volume.plane;
  std::uint32_t const column = 4 * volume.column;
  std::uint64_t const origin =
      reinterpret_cast<std::uint64_t>(volume.voxels) - whole_bits * (4 + std::uint64_t(column));
  float const across_slope = f.across.slope;
  float const across_base = f.across.base;
#pragma unroll 4
  for (int i = planes.first; i < planes.last; ++i) {
    float const x = __fmaf_rn(float(i), across_slope, across_base);
    float const x_whole = __fadd_rd(x, whole_number);
    float const w = x - (x_whole - whole_number);
    std::uint64_t const lower = origin + std::uint64_t(std::uint32_t(i)) * plane +
                                std::uint64_t(__float_as_uint(x_whole)) * column;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      float const z = s.z(r, i);
      float const z_whole = __fadd_rd(z, whole_number);
      std::uint64_t const down = 4 * std::uint64_t(__float_as_uint(z_whole));
      auto const* const p = reinterpret_cast<float const*>(lower + down);
      auto const* const q = reinterpret_cast<float const*>(lower + column + down);
      float const below = __fmaf_rn(w, q[0] - p[0], p[0]);
      float const above = __fmaf_rn(w, q[1] - p[1], p[1]);
      s.sum[r] += __fmaf_rn(z - (z_whole - whole_number), above - below, below);
    }
  }
}

/// Bands of v slowest, then views, then u.
__global__ void __launch_bounds__(256, 4)
    project(raw_joseph_arrays const a, plane_range const slab, bool const is_last) {
  unsigned const warp = blockIdx.x * 8U + threadIdx.x / 32U;
  auto const num_fans = unsigned(a.num_views) * unsigned(a.num_u);
  unsigned const band = warp / num_fans;
  unsigned const index = warp - band * num_fans;
  int const first_v = int(band * 64U + threadIdx.x % 32U);
  if (band * 64U >= unsigned(a.num_v)) {
    return;
  }
  fan const& f = a.fans[index];
  float* const pixels = a.projections + std::int64_t(index) * a.num_v;
  fan_volume const volume(a, f.axis);
  lane_rays s;
  start(s, f, first_v, a.num_v, volume.height);
  for (int r = 0; r < rows; ++r) {
    int const v = first_v + 32 * r;
    s.total[r] = slab.first > 0 && v < a.num_v ? pixels[v] : 0.0F;
  }
  for (int b = slab.first; b < slab.last; b += block_planes) {
    plane_range const block = s.outer.clipped(b, min(b + block_planes, slab.last));
    plane_range const fast = s.inner.clipped(block.first, block.last);
    s.sum[0] = s.sum[1] = 0;
    edge_planes(volume, f, s, {block.first, fast.empty() ? block.last : fast.first});
    if (!fast.empty()) {
      inner_planes(volume, f, s, fast);
      edge_planes(volume, f, s, {fast.last, block.last});
    }
    s.total[0] += s.sum[0];
    s.total[1] += s.sum[1];
  }
  double const dm = f.axis == 0 ? a.g.spacing.x : a.g.spacing.y;
  double const dx = f.slope_across * (f.axis == 0 ? a.g.spacing.y : a.g.spacing.x);
  for (int r = 0; r < rows; ++r) {
    int const v = first_v + 32 * r;
    if (v < a.num_v) {
      double const dz = f.z(v).slope * a.g.spacing.z;
      float const step = float(sqrt(fma(dz, dz, fma(dx, dx, dm * dm))));
      pixels[v] = is_last ? s.total[r] * step : s.total[r];
    }
  }
}

}  // namespace

void raw_joseph(Kokkos::Cuda const& exec, raw_joseph_arrays const& a, std::int32_t slab_planes) {
  std::int64_t const num_fans = std::int64_t(a.num_views) * a.num_u;
  decltype(ct::detail::joseph_fan_kernel<float>::views) const views(a.views, a.num_views);
  ct::detail::joseph_fan_kernel<float> const make{views, a.fans, a.g, ct::beam::cone, a.num_u};
  make_fans<<<unsigned((num_fans + 255) / 256), 256, 0, exec.cuda_stream()>>>(make, num_fans);
  auto const warps = num_fans * ((a.num_v + 63) / 64);
  auto const planes = std::int32_t(std::max(a.g.extent[0], a.g.extent[1]));
  for (std::int32_t first = 0; first < planes; first += slab_planes) {
    std::int32_t const last = std::min(planes, first + slab_planes);
    project<<<unsigned((warps + 7) / 8), 256, 0, exec.cuda_stream()>>>(a, {first, last},
                                                                       last == planes);
  }
  ISO_CUDA_CHECK(cudaGetLastError());
}

}  // namespace iso::perf
