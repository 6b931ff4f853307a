// SPDX-License-Identifier: BSD-3-Clause
// A warp takes 64 pixels along v of one (view, u), two a lane. What happens once a column of rays
// or ray (the numbers of joseph_path.hpp) is the library's code; the loops over planes are written
// out.
#include "raw_joseph.hpp"

#include <iso/backend/cuda_check.hpp>

#include <algorithm>

namespace iso::perf {
namespace {

using ct::detail::block_planes;
using ct::detail::plane_range;
using ray_column = ct::detail::joseph_ray_column<float>;

constexpr int rows = 2;
constexpr float whole_number = 8388608.0F;         // 2^23: adding it leaves an integer's bits
constexpr std::uint64_t whole_bits = 0x4b000000U;  // those of 2^23

template <class Make>
__global__ void __launch_bounds__(256) for_each(Make const make, std::int64_t count) {
  std::int64_t const i = std::int64_t(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) {
    make(i);
  }
}

/// One of a lane's rays and the planes that its row of 32 walks.
struct lane_ray {
  float slope;
  float base;
  float sum;
  plane_range outer;
  plane_range inner;

  __device__ float z(int i) const { return __fmaf_rn(float(i), slope, base); }
};

/// The volume as a column of rays sees it; distances in voxels.
struct column_volume {
  float const* voxels;
  int columns;
  int height;
  std::uint32_t plane;
  std::uint32_t column;

  __device__ column_volume(raw_joseph_arrays const& a, int axis)
      : voxels(a.volume),
        columns(int(axis == 0 ? a.g.extent[1] : a.g.extent[0])),
        height(int(a.g.extent[2])),
        plane(std::uint32_t(axis == 0 ? a.g.extent[1] * a.g.extent[2] : a.g.extent[2])),
        column(std::uint32_t(axis == 0 ? a.g.extent[2] : a.g.extent[1] * a.g.extent[2])) {}
};

/// Planes where some lane may lie at the border: every neighbour is asked for.
__device__ __forceinline__ void edge_planes(column_volume const& volume, ray_column const& f,
                                            lane_ray& ray, plane_range planes) {
  auto const [voxels, nx, nz, plane, column] = volume;
#pragma unroll 2
  for (int i = planes.first; i < planes.last; ++i) {
    float const x = __fmaf_rn(float(i), f.across.slope, f.across.base);
    float const z = ray.z(i);
    if (x > -1.0F && x < float(nx) && z > -1.0F && z < float(nz)) {
      float const x_floor = floorf(x);
      float const z_floor = floorf(z);
      auto const k = int(x_floor);
      float const w = x - x_floor;
      float const* const lower = voxels + std::int64_t(i) * plane + std::int64_t(k) * column;
      auto const at = [&](int h) {
        bool const inside = h >= 0 && h < nz;
        float const p = inside && k >= 0 ? lower[h] : 0.0F;
        float const q = inside && k + 1 < nx ? lower[h + std::int64_t(column)] : 0.0F;
        return __fmaf_rn(w, q - p, p);
      };
      float const below = at(int(z_floor));
      ray.sum += __fmaf_rn(z - z_floor, at(int(z_floor) + 1) - below, below);
    }
  }
}

/// Planes where all four neighbours of every lane of `Count` rows are voxels.
template <int Count>
__device__ __forceinline__ void inner_planes(column_volume const& volume, ray_column const& f,
                                             lane_ray* rays, plane_range planes) {
  std::uint32_t const plane = 4 * volume.plane;
  std::uint32_t const column = 4 * volume.column;
  std::uint64_t at = __cvta_generic_to_global(volume.voxels) -
                     whole_bits * (4 + std::uint64_t(column)) + std::uint64_t(planes.first) * plane;
  float const across_slope = f.across.slope;
  float const across_base = f.across.base;
#pragma unroll 2
  for (int i = planes.first; i < planes.last; ++i) {
    float const x = __fmaf_rn(float(i), across_slope, across_base);
    float const x_whole = __fadd_rd(x, whole_number);
    float const w = x - (x_whole - whole_number);
    std::uint64_t const lower = at + std::uint64_t(__float_as_uint(x_whole)) * column;
    at += plane;
#pragma unroll
    for (int r = 0; r < Count; ++r) {
      float const z = rays[r].z(i);
      float const z_whole = __fadd_rd(z, whole_number);
      std::uint64_t const p = lower + 4 * std::uint64_t(__float_as_uint(z_whole));
      std::uint64_t const q = p + column;
      float v[4];
      asm("ld.global.nc.f32 %0, [%1];" : "=f"(v[0]) : "l"(p));
      asm("ld.global.nc.f32 %0, [%1 + 4];" : "=f"(v[1]) : "l"(p));
      asm("ld.global.nc.f32 %0, [%1];" : "=f"(v[2]) : "l"(q));
      asm("ld.global.nc.f32 %0, [%1 + 4];" : "=f"(v[3]) : "l"(q));
      float const below = __fmaf_rn(w, v[2] - v[0], v[0]);
      float const above = __fmaf_rn(w, v[3] - v[1], v[1]);
      rays[r].sum += __fmaf_rn(z - (z_whole - whole_number), above - below, below);
    }
  }
}

/// One row's planes of `part`: edge, inner, edge.
__device__ __forceinline__ void row_planes(column_volume const& volume, ray_column const& f,
                                           lane_ray& ray, plane_range part) {
  plane_range const outer = ray.outer.clipped(part);
  plane_range const inner = ray.inner.clipped(outer);
  if (inner.empty()) {
    edge_planes(volume, f, ray, outer);
    return;
  }
  edge_planes(volume, f, ray, {outer.first, inner.first});
  inner_planes<1>(volume, f, &ray, inner);
  edge_planes(volume, f, ray, {inner.last, outer.last});
}

/// Bands of v slowest, then views, then u.
__global__ void __launch_bounds__(128, 7)
    project(raw_joseph_arrays const a, plane_range const slab, bool const is_last) {
  unsigned const warp = blockIdx.x * 4U + threadIdx.x / 32U;
  auto const num_ray_columns = unsigned(a.num_views) * unsigned(a.num_u);
  unsigned const tile_v = warp / num_ray_columns;
  unsigned const index = warp - tile_v * num_ray_columns;
  int const first_v = int(tile_v * 64U + threadIdx.x % 32U);
  if (tile_v * 64U >= unsigned(a.num_v)) {
    return;
  }
  ray_column const& f = a.ray_columns[index];
  float* const pixels = a.projections + std::int64_t(index) * a.num_v;
  column_volume const volume(a, f.axis);
  lane_ray rays[rows];
  float total[rows];
  plane_range both{slab};
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    int const v = first_v + 32 * r;
    auto const z = f.z(min(v, a.num_v - 1)).rounded<float>();
    auto const range = a.row_ranges[std::int64_t(index) * a.rows(a.num_v) + 2 * tile_v + r];
    rays[r] = {z.slope, z.base, 0, range.outer, range.inner};
    total[r] = slab.first > 0 && v < a.num_v ? pixels[v] : 0.0F;
    both = both.clipped(range.inner);
  }
  for (int b = slab.first; b < slab.last; b += block_planes) {
    plane_range const block = slab.clipped(b, b + block_planes);
    plane_range const fast = both.clipped(block);
    rays[0].sum = rays[1].sum = 0;
    int const before = fast.empty() ? block.last : fast.first;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      row_planes(volume, f, rays[r], {block.first, before});
    }
    if (!fast.empty()) {
      inner_planes<rows>(volume, f, rays, fast);
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        row_planes(volume, f, rays[r], {fast.last, block.last});
      }
    }
    total[0] += rays[0].sum;
    total[1] += rays[1].sum;
  }
  double const dm = f.axis == 0 ? a.g.spacing.x : a.g.spacing.y;
  double const dx = f.slope_across * (f.axis == 0 ? a.g.spacing.y : a.g.spacing.x);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    int const v = first_v + 32 * r;
    if (v < a.num_v) {
      double const dz = f.z(v).slope * a.g.spacing.z;
      float const step = float(sqrt(fma(dz, dz, fma(dx, dx, dm * dm))));
      pixels[v] = is_last ? total[r] * step : total[r];
    }
  }
}

}  // namespace

void raw_joseph(Kokkos::Cuda const& exec, raw_joseph_arrays const& a, std::int32_t slab_planes) {
  std::int64_t const num_ray_columns = std::int64_t(a.num_views) * a.num_u;
  auto const blocks = [](std::int64_t count, std::int64_t size) {
    return unsigned((count + size - 1) / size);
  };
  cudaStream_t const stream = exec.cuda_stream();
  decltype(ct::detail::ray_column_kernel<float>::views) const views(a.views, a.num_views);
  ct::detail::ray_column_kernel<float> const ray_columns{views, a.ray_columns, a.g, ct::beam::cone,
                                                         a.num_u};
  for_each<<<blocks(num_ray_columns, 256), 256, 0, stream>>>(ray_columns, num_ray_columns);
  std::int32_t const num_rows = raw_joseph_arrays::rows(a.num_v);
  ct::detail::joseph_range_kernel<float> const row_ranges{
      a.ray_columns, a.row_ranges, num_rows, {0, num_rows}, a.num_v, {a.g, iso::all_planes(a.g)}};
  for_each<<<blocks(num_ray_columns * num_rows, 256), 256, 0, stream>>>(row_ranges,
                                                                        num_ray_columns * num_rows);
  auto const planes = std::int32_t(std::max(a.g.extent[0], a.g.extent[1]));
  for (std::int32_t first = 0; first < planes; first += slab_planes) {
    std::int32_t const last = std::min(planes, first + slab_planes);
    project<<<blocks(num_ray_columns * num_rows / rows, 4), 128, 0, stream>>>(a, {first, last},
                                                                              last == planes);
  }
  ISO_CUDA_CHECK(cudaGetLastError());
}

}  // namespace iso::perf
