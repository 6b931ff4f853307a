// SPDX-License-Identifier: BSD-3-Clause
//! Backprojects by gather on a GPU: sums in registers.
#ifndef ISO_SET
#ifndef ISO_CT_DETAIL_BACK_PROJECT_REGISTER_KERNEL_HPP
#define ISO_CT_DETAIL_BACK_PROJECT_REGISTER_KERNEL_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/backend/saturate.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/ct/detail/back_project_sums.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/ct/detail/back_project_register_kernel.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::ct::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Backprojects by gather where a group has many registers and hides its waits behind other
/// groups: it keeps the sums of 4 x 4 columns of `Heights` x 32 voxels. Eight u's of a view at once
/// get their weights, a lane for each (u, plane), into memory that the lanes share; then, u by u, a
/// lane loads the three rays that may touch its voxel, blends them in every plane that the u
/// touches, and adds that to the plane's four columns. `Steps`: voxels step by their sums, which
/// takes registers.
template <class T, int Heights, bool Steps = false>
struct back_project_register_kernel {
  ISO_KERNEL(back_project_register_kernel<T, Heights, Steps>);

  static constexpr std::int32_t edge = 4;      ///< columns of a tile each way
  static constexpr int ray_columns = 8;        ///< whose weights are made at once
  static constexpr int candidates = 3;         ///< that have code of their own
  static constexpr int height = 32 * Heights;  ///< of a tile
  static_assert(edge == candidate_planes);

  /// The values of `ray_columns` u's that a group's lanes share.
  struct shared_values {
    backend::pack<T, edge> weights[ray_columns * edge];  ///< [u][plane]: of its columns
    ray_candidates<T> found[ray_columns];
  };

  back_project_tables<T> t;
  back_project_volume<T> out;

  KOKKOS_FUNCTION std::int64_t num_groups() const {
    return std::int64_t((t.tiles_x + 1) / 2) * ((t.tiles_y + 1) / 2) * 4 * out.layers(height);
  }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    // Four neighbouring groups, a GPU's block, make 2 x 2 tiles: they share rays and columns of
    // rays.
    auto const number = std::uint32_t(group.uniform(std::int32_t(index)));  // each has 2048 bytes
    auto const blocks_y = std::uint32_t(t.tiles_y + 1) / 2;
    std::uint32_t const per_layer = std::uint32_t(t.tiles_x + 1) / 2 * blocks_y * 4;
    std::uint32_t const layer = number / per_layer;
    std::uint32_t const in_layer = number - layer * per_layer;
    std::uint32_t const block_x = in_layer / 4 / blocks_y;
    auto const x = std::int32_t(block_x * 2 + in_layer / 2 % 2);
    auto const y = std::int32_t((in_layer / 4 - block_x * blocks_y) * 2 + in_layer % 2);
    if (x >= t.tiles_x || y >= t.tiles_y) {
      return;
    }
    std::int32_t const z = out.first_of(std::int32_t(layer), height);
    switch (out.care_for(z, height, group.uniform(*t.unsafe) != 0)) {
      case care::none:
        return add_views<care::none>(group, x, y, z);
      case care::low:
        return add_views<care::low>(group, x, y, z);
      default:
        return add_views<care::full>(group, x, y, z);
    }
  }

 private:
  template <class Group>
  using sums_of = typename Group::template lane_array<T, edge * edge * Heights>;

  /// The place of a group's voxels.
  template <class Group>
  struct tile {
    std::int32_t x;  ///< tile
    std::int32_t y;
    std::int32_t z;  ///< first voxel
    T plane[2];      ///< the first plane of either axis
    typename Group::template lane_array<T, Heights> k;

    KOKKOS_FORCEINLINE_FUNCTION tile(Group const& group, std::int32_t tile_x, std::int32_t tile_y,
                                     std::int32_t first)
        : x(tile_x), y(tile_y), z(first), plane{T(edge * tile_x), T(edge * tile_y)} {
      backend::unrolled<Heights>([&](auto e) {
        group.each([&](int lane) { k(e, lane) = T(first + 32 * int(e) + lane); });
      });
    }
  };
  /// Returns where the sum of column (x, y) of the tile stands.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int row_of(int e, int x, int y) {
    return (e * edge + x) * edge + y;
  }

  template <care Care, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_views(Group const& group, std::int32_t x, std::int32_t y,
                                             std::int32_t z) const {
    typename Group::template shared_array<shared_values, 1, true> shared(group);
    tile<Group> const at(group, x, y, z);
    sums_of<Group> sums(T(0));
    plane_range const* range = t.u_ranges + (std::int64_t(x) * t.tiles_y + y);
    std::int64_t const tiles = std::int64_t(t.tiles_x) * t.tiles_y;
    ISO_DEVICE_NO_UNROLL
    for (std::int32_t view = 0; view < t.num_views; ++view, range += tiles) {
      std::int32_t const last = group.uniform(range->last);
      ISO_DEVICE_NO_UNROLL
      for (std::int32_t u = group.uniform(range->first); u < last; u += ray_columns) {
        add_ray_columns<Care>(group, at, view, u, last, shared[0], sums);
      }
      if (view % block_views == block_views - 1 || view == t.num_views - 1) {
        end_block(group, at, view < block_views, sums);
      }
    }
  }

  /// Adds u's [u0, u0 + ray_columns), below `last`.
  template <care Care, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_ray_columns(Group const& group, tile<Group> const& at,
                                                   std::int32_t view, std::int32_t u0,
                                                   std::int32_t last, shared_values& shared,
                                                   sums_of<Group>& sums) const {
    typename Group::template lane_array<bool> touches;
    typename Group::template lane_array<bool> along_y;
    typename Group::template lane_array<bool> many;
    group.each([&](int lane) {
      std::int32_t const u = u0 + lane / edge;
      std::int32_t const row = view * t.num_u + (u < t.num_u ? u : t.num_u - 1);
      auto const f = backend::vector_load(t.columns + row);
      bool const y_drives = f.axis() != 0;
      auto const q = backend::vector_load(
          t.candidates + (row * std::int64_t(t.groups) + (y_drives ? at.y : at.x)));
      std::int32_t const i = edge * (y_drives ? at.y : at.x) + lane % edge;
      T const j = y_drives ? at.plane[0] : at.plane[1];
      T const p = out.kept(f.across(i), y_drives ? 0 : 1);
      bool const touched =
          u < last && i >= f.first && i < f.last() && p > j - T(1) && p < j + T(edge);
      backend::pack<T, edge> weights;
      backend::unrolled<edge>(
          [&](auto b) { weights[b] = touched ? share_of(p, j + T(int(b))) : T(0); });
      shared.weights[lane] = weights;
      if (lane % edge == 0) {
        shared.found[lane / edge] = q;
      }
      touches[lane] = touched;
      along_y[lane] = y_drives;
      many[lane] = touched && q.count != candidates;
    });
    std::uint32_t const mask = group.uniform(group.mask(touches));
    std::uint32_t const axes = group.uniform(group.mask(along_y));
    bool const general = group.uniform(group.mask(many)) != 0;
    group.sync();
    if (mask != 0) {
      auto const row = std::uint32_t(view * t.num_u + u0);
      // Up to the last u that touches the tile.
      int const unused = Kokkos::countl_zero(mask) / edge * edge;
      if (Care == care::full || general || (axes << unused != 0 && ~axes << unused != 0)) {
        add_any<Care>(group, at, row, mask, axes, shared, sums);
      } else if (axes << unused != 0) {
        add_three<Care, 1>(group, at, row, mask, shared, sums);
      } else {
        add_three<Care, 0>(group, at, row, mask, shared, sums);
      }
    }
    group.sync();
  }

  /// Adds what the rays blend to at a height of one plane to the plane's columns.
  template <care Care, int Axis, int E, int A, class Sums>
  KOKKOS_FORCEINLINE_FUNCTION static void add_columns(backend::pack<T, edge> const& weights,
                                                      T blended, int lane, Sums& sums) {
    backend::unrolled<edge>([&](auto b) {
      T& sum = sums(Axis == 0 ? row_of(E, A, b) : row_of(E, b, A), lane);
      sum = add_share<Care>(weights[b], blended, sum);
    });
  }

  /// Adds the u's of `mask`, four planes each, whose voxels have three candidates each and along
  /// one axis.
  template <care Care, int Axis, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_three(Group const& group, tile<Group> const& at,
                                             std::uint32_t row, std::uint32_t mask,
                                             shared_values const& shared,
                                             sums_of<Group>& sums) const {
    ISO_DEVICE_NO_UNROLL
    for (int n = 0; mask != 0; ++n, ++row, mask >>= edge) {
      group.each([&](int lane) {
        ray_candidates<T> const q = shared.found[n];
        pixel_ray_line<T> rays[Heights][candidates];
        backend::unrolled<Heights>([&](auto e) {
          pixel_ray_line<T> const* const first = rays_from<Group>(row, q, at.k(e, lane));
          backend::unrolled<candidates>(
              [&](auto c) { rays[e][c] = backend::vector_load(first + int(c)); });
        });
        backend::unrolled<edge>([&](auto a) {
          if ((mask >> int(a) & 1U) != 0) {
            backend::pack<T, edge> const weights = shared.weights[edge * n + int(a)];
            T const i = at.plane[Axis] + T(int(a));
            backend::unrolled<Heights>([&](auto e) {
              T blended = T(0);
              backend::unrolled<candidates>([&](auto c) {
                T const z = Kokkos::fma(i, rays[e][c].z.slope, rays[e][c].z.base);
                blended = add_share<Care>(out.template height_share<Care>(z, at.k(e, lane)),
                                          rays[e][c].value, blended);
              });
              add_columns<Care, Axis, int(e), int(a)>(weights, blended, lane, sums);
            });
          }
        });
      });
    }
  }

  /// Does the same with any number of candidates and both axes.
  template <care Care, class Group>
  KOKKOS_FORCEINLINE_FUNCTION void add_any(Group const& group, tile<Group> const& at,
                                           std::uint32_t row, std::uint32_t mask,
                                           std::uint32_t axes, shared_values const& shared,
                                           sums_of<Group>& sums) const {
    ISO_DEVICE_NO_UNROLL
    for (int n = 0; mask != 0; ++n, ++row, mask >>= edge, axes >>= edge) {
      bool const y_drives = (axes & 1U) != 0;
      group.each([&](int lane) {
        ray_candidates<T> const q = shared.found[n];
        backend::unrolled<Heights>([&](auto e) {
          T const k = at.k(e, lane);
          pixel_ray_line<T> const* const first = rays_from<Group>(row, q, k);
          T blended[edge] = {};
          ISO_DEVICE_NO_UNROLL
          for (std::int32_t c = 0; c < q.count; ++c) {
            pixel_ray_line<T> const ray = backend::vector_load(first + c);
            backend::unrolled<edge>([&](auto a) {
              T const i = (y_drives ? at.plane[1] : at.plane[0]) + T(int(a));
              T const z = Kokkos::fma(i, ray.z.slope, ray.z.base);
              blended[a] =
                  add_share<Care>(out.template height_share<Care>(z, k), ray.value, blended[a]);
            });
          }
          backend::unrolled<edge>([&](auto a) {
            if ((mask >> int(a) & 1U) != 0) {
              backend::pack<T, edge> const weights = shared.weights[edge * n + int(a)];
              if (y_drives) {
                add_columns<Care, 1, int(e), int(a)>(weights, blended[a], lane, sums);
              } else {
                add_columns<Care, 0, int(e), int(a)>(weights, blended[a], lane, sums);
              }
            }
          });
        });
      });
    }
  }

  /// Returns the first candidate of a voxel at height k.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION pixel_ray_line<T> const* rays_from(std::uint32_t row,
                                                                 ray_candidates<T> const& q,
                                                                 T k) const {
    std::uint32_t first;
    T rest;
    Group::split(q.place(k), first, rest);
    return t.rays.lines + (row * std::uint32_t(t.num_v) + (first - Group::template index_bias<T>));
  }

  /// Adds the sums to the volume, or steps by them, and begins anew.
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void end_block(Group const& group, tile<Group> const& at,
                                             bool is_first, sums_of<Group>& sums) const {
    backend::unrolled<edge>([&](auto x) {
      std::int64_t const i = edge * at.x + int(x);
      std::int64_t const j = edge * at.y;
      group.each([&](int lane) {
        std::int64_t const k = at.z + lane;
        // All loads of a row of columns go out at once.
        voxel_before<T> was[edge][Heights];
        if constexpr (Steps) {
          each_height(
              [&](auto y, auto e) { was[y][e] = out.before_step(i, j + int(y), k + 32 * int(e)); });
        }
        each_height([&](auto y, auto e) {
          T& sum = sums(row_of(e, x, y), lane);
          if constexpr (Steps) {
            out.step(was[y][e], i, j + int(y), k + 32 * int(e), sum);
          } else {
            out.add(i, j + int(y), k + 32 * int(e), is_first, sum);
          }
          sum = T(0);
        });
      });
    });
  }

  /// Calls f(y, e) for the heights of a row of columns.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void each_height(F const& f) {
    backend::unrolled<edge>([&](auto y) { backend::unrolled<Heights>([&](auto e) { f(y, e); }); });
  }
};

}  // namespace iso::ct::detail::ISO_SET

#endif
