// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of dose_engine::lattice for an exponential kernel: the walks along its lines.
#ifndef ISO_SET
#ifndef ISO_DOSE_DETAIL_LATTICE_WALK_KERNELS_HPP
#define ISO_DOSE_DETAIL_LATTICE_WALK_KERNELS_HPP

#include <iso/backend/integer_atomics.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/loads.hpp>
#include <iso/backend/pack.hpp>
#include <iso/dose/detail/cone_step.hpp>
#include <iso/dose/detail/copy_kernels.hpp>
#include <iso/dose/detail/lattice.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/dose/detail/lattice/walk_kernels.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::dose::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Walks by items: a group takes `Rows` rows of 32 lanes through their planes, each lane on its
/// own, and adds to the sums in memory.
template <class T, int Terms, int Rows>
struct lattice_item_kernel {
  ISO_KERNEL(lattice_item_kernel<T, Terms, Rows>);

  using word = typename fixed_point<T>::word;

  lattice_item const* items;
  lattice_line<T> const* lines;
  lattice_plane<T> const* planes;
  cone_terms<T, Terms> const* terms;
  backend::pack<T, 2> const* voxels[2];
  voxel_code<T> code;
  word* sums[2];
  std::int32_t first_element[2];  ///< of the region's first voxel

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    lattice_item const item = items[index];
    group.each([&](int lane) { walk(item, lane); });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void walk(lattice_item const& item, int lane) const {
    using value = backend::one_lane_part::per_lane<T>;
    lattice_line<T> const& line = lines[item.line];
    lattice_path const& l = line.path;
    cone_terms<T, Terms> const c = terms[item.line];
    lattice_plane<T> const* const table = planes + l.table;
    std::int32_t const lanes = l.lanes;
    std::int32_t const row_stride = l.row_stride;
    std::int32_t const step = l.way * l.plane_stride;
    auto const from = voxels[l.copy];
    word* const to = sums[l.copy];
    std::int32_t const mine = item.lane + lane;
    if (mine >= lanes) {
      return;
    }
    value travels[Rows][Terms];
    ISO_EACH_REGISTER(int r = 0; r < Rows; ++r) {
      ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) { travels[r][n] = value(T(0)); }
    }
    std::int32_t before = 0;
    std::int32_t plane = first_element[l.copy] +
                         (l.way > 0 ? item.first : l.planes - 1 - item.first) * l.plane_stride;
    ISO_DEVICE_NO_UNROLL
    for (std::int32_t k = item.first; k < item.last; ++k, plane += step) {
      lattice_plane<T> const p = backend::vector_load(table + k);
      std::int32_t n = mine + p.lane_shift;
      n = n >= lanes ? n - lanes : n;
      if (n != before + p.lane_step()) {
        // The ray has left the box, and a new one enters on the other side.
        ISO_EACH_REGISTER(int r = 0; r < Rows; ++r) {
          ISO_EACH_REGISTER(int t = 0; t < Terms; ++t) { travels[r][t] = value(T(0)); }
        }
      }
      before = n;
      std::int32_t const row = item.row + p.row_shift();
      std::int32_t const at = plane + row * row_stride + n;
      voxels_met<value, Rows> met;
      T const toward = line.toward(p.toward, n, row);
      ISO_EACH_REGISTER(int r = 0; r < Rows; ++r) {
        auto const here = code.read(from, at + r * row_stride);
        value const of_row(Kokkos::fma(T(r), line.toward_row, toward));
        met.terma[r] = value(here.terma);
        met.density[r] = value(here.density);
        met.delta[r] = (tilt_of)(line, of_row, value(here.nearness));
      }
      value dose[Rows];
      cone_step(c, met, travels, dose);
      ISO_EACH_REGISTER(int r = 0; r < Rows; ++r) {
        backend::atomic_sum(to + (at + r * row_stride),
                            Kokkos::bit_cast<word>(dose[r].r[0] + fixed_point<T>::magic));
      }
    }
  }
};

/// Walks by slabs: lines of one class, some planes of each in turn, so that these planes stay
/// in a cache. What travels along a line's rays is kept in memory, by the ray's number. Bundles of
/// lines follow each other through the planes, so that no two add to the same ones at a time.
template <class T, int Terms>
struct lattice_slab_kernel {
  ISO_KERNEL(lattice_slab_kernel<T, Terms>);

  using word = typename fixed_point<T>::word;
  using signed_word = std::make_signed_t<word>;
  static constexpr std::int32_t slab_planes = 2;

  lattice_line<T> const* lines;
  lattice_plane<T> const* planes;
  cone_terms<T, Terms> const* terms;
  T const* terma[2];
  T const* density[2];
  T const* near[2];
  word* sums[2];
  T* states;  ///< [lines at a time, Terms, state_size]
  std::int64_t state_size;
  std::int32_t first_line;  ///< of those that are under way
  std::int32_t last_line;
  std::int32_t bundle;  ///< lines
  std::int32_t slabs;
  std::int32_t step;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int32_t const slab = step - std::int32_t(index);
    if (slab < 0 || slab >= slabs) {
      return;
    }
    std::int32_t const from = first_line + std::int32_t(index) * bundle;
    std::int32_t const to = from + bundle < last_line ? from + bundle : last_line;
    for (std::int32_t line = from; line < to; ++line) {
      std::int32_t const first = slab * slab_planes;
      std::int32_t const most = lines[line].path.planes;
      walk(group, line, first, first + slab_planes < most ? first + slab_planes : most);
    }
  }

 private:
  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void walk(Group const& group, std::int32_t number, std::int32_t first,
                                        std::int32_t last) const {
    lattice_line<T> const line = lines[number];
    lattice_path const& l = line.path;
    cone_terms<T, Terms> const c = terms[number];
    T* const states_of_line = states + (number - first_line) * Terms * state_size;
    if (first == 0) {
      for (std::int64_t i = 0; i < Terms * state_size; ++i) {
        states_of_line[i] = T(0);
      }
    }
    // Rays by number; behind each row, room for lanes past the last.
    std::int64_t const ray_row = (l.lanes + 31) / 32 * 32 + (l.max_lane_shift - l.min_lane_shift);
    std::int32_t const blocks = (l.lanes + 31) / 32;
    for (std::int32_t k = first; k < last; ++k) {
      lattice_plane<T> const p = planes[l.table + k];
      std::int64_t const plane = std::int64_t(l.way > 0 ? k : l.planes - 1 - k) * l.plane_stride;
      for (std::int32_t j = 0; j < l.rows; ++j) {
        std::int64_t const at = plane + std::int64_t(j) * l.row_stride;
        T const* const t_row = terma[l.copy] + at;
        T const* const d_row = density[l.copy] + at;
        T const* const n_row = near[l.copy] + at;
        auto* const sum_row = reinterpret_cast<signed_word*>(sums[l.copy] + at);
        T* const travels_row = states_of_line + (j - p.row_shift() + l.max_row_shift) * ray_row +
                               (l.max_lane_shift - p.lane_shift);
        T const of_row = line.toward(p.toward, 0, j);
        for (std::int32_t block = 0; block < blocks; ++block) {
          std::int32_t const i = 32 * block;
          T const first_toward = Kokkos::fma(T(i), line.toward_lane, of_row);
          group.template parts<T, 2>([&](auto const& part) {
            using part_type = std::decay_t<decltype(part)>;
            using value = typename part_type::template per_lane<T>;
            value const toward =
                fma(convert<T>(part.lane()), value(line.toward_lane), value(first_toward));
            value const delta = (tilt_of)(line, toward, part.load(n_row + i));
            value travels[1][Terms];
            ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) {
              travels[0][n] = part.load(travels_row + (n * state_size + i));
            }
            value dose[1];
            voxels_met<value, 1> met;
            met.terma[0] = part.load(t_row + i);
            met.density[0] = part.load(d_row + i);
            met.delta[0] = delta;
            cone_step(c, met, travels, dose);
            ISO_EACH_REGISTER(int n = 0; n < Terms; ++n) {
              part.store(travels_row + (n * state_size + i), travels[0][n]);
            }
            auto const add = bit_cast<signed_word>(dose[0] + value(fixed_point<T>::magic));
            part.store(sum_row + i, part.load(sum_row + i) + add);
          });
        }
      }
    }
  }
};

}  // namespace iso::dose::detail::ISO_SET

#endif
