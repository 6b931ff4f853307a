// SPDX-License-Identifier: BSD-3-Clause
//! Holds kernels about a walk along the lattice: the range of the data, the copies of the region
//! that lines are followed in, and the sums that join the dose.
#ifndef ISO_SET
#ifndef ISO_DOSE_DETAIL_COPY_KERNELS_HPP
#define ISO_DOSE_DETAIL_COPY_KERNELS_HPP

#include <iso/backend/atomic_maximum.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/pack.hpp>
#include <iso/core/numerics.hpp>
#include <iso/dose/detail/carried_voxel.hpp>
#include <iso/dose/detail/cone_step.hpp>
#include <iso/dose/detail/lattice.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::dose::detail {

/// The facts that only the data tell.
struct lattice_range {
  double terma;  ///< the largest
  double density;
  std::int32_t invalid;  ///< 1: some number is negative or not finite
};

/// A box of voxels within a volume, z fastest.
template <class T>
struct boxed_volume {
  T* first;  ///< the box's first voxel
  std::int64_t x_stride;
  std::int64_t y_stride;

  KOKKOS_FUNCTION T* row(std::int64_t x, std::int64_t y) const {
    return first + x * x_stride + y * y_stride;
  }
};

struct clear_range_kernel {
  lattice_range* range;
  KOKKOS_FUNCTION void operator()(int) const { *range = {0, 0, 0}; }
};

/// Returns the exponent e for which the largest TERMA lies in [1/2, 1) 2^e; 0 where there is none.
inline KOKKOS_FUNCTION int terma_exponent(lattice_range const& range) {
  if (!(range.terma > 0) || range.invalid != 0) {
    return 0;
  }
  // Of a double's exponent field; float data are normal numbers here, and so are most of double's.
  return int(Kokkos::bit_cast<std::uint64_t>(range.terma) >> 52 & 0x7ff) - 1022;
}
/// Returns 2^e of exponents that a normal double holds.
inline KOKKOS_FUNCTION double power_of_two(int e) {
  int const kept = e < -1000 ? -1000 : (e > 1000 ? 1000 : e);
  return Kokkos::bit_cast<double>(std::uint64_t(kept + 1023) << 52);
}

/// The number of rows of a copy in the order of the other axis that a group takes together: the
/// volume stands turned to copy 1, and its neighbours there are next to each other in memory.
template <int Copy>
inline constexpr int rows_together = Copy == 0 ? 1 : 8;

/// Says what a voxel of a region releases at least, over the most that one does: far below the grid
/// to which doses are rounded. What travels along a line then decays towards it and never to
/// subnormal numbers, with which processors compute slowly.
template <class T>
inline constexpr T min_terma = sizeof(T) == 4 ? T(0x1p-60) : T(0x1p-120);

/// Returns the dose of a unit of sums.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T unit_of_dose(lattice_range const& range, double unit) {
  return T(unit * power_of_two(terma_exponent(range)));
}
/// Adds `sum` units to a voxel's dose, which is NaN where some number of the data is invalid.
template <class T, class Word>
KOKKOS_FORCEINLINE_FUNCTION void add_to_dose(T unit, bool invalid, Word sum, T& dose) {
  using whole = std::make_signed_t<Word>;
  T const add = T(whole(sum)) * unit;
  dose = invalid ? Kokkos::bit_cast<T>(bits_of<T>(float_bits<T>::canonical_nan))
                 : canonical(dose + add);
}

/// The place of the sums of a region's voxels that are a beam's dose: they are added to it.
template <class T>
struct dose_target {
  boxed_volume<T> dose;

  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION void put(lattice_range const& range, double unit, std::int64_t x,
                                       std::int64_t y, std::int64_t z, Word sum) const {
    add_to_dose(unit_of_dose<T>(range, unit), range.invalid != 0, sum, dose.row(x, y)[z]);
  }
};
/// The place of sums to which others are to be added, [nx, ny, nz] of the region.
template <class T>
struct word_target {
  using word = typename fixed_point<T>::word;
  word* words;
  std::int64_t ny;
  std::int64_t nz;

  KOKKOS_FORCEINLINE_FUNCTION void put(lattice_range const&, double, std::int64_t x, std::int64_t y,
                                       std::int64_t z, word sum) const {
    words[(x * ny + y) * nz + z] = sum;
  }
};
/// Either of both.
template <class T>
struct sum_target {
  dose_target<T> dose;
  word_target<T> words;

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool is_words() const { return words.words != nullptr; }
  template <class Word>
  KOKKOS_FORCEINLINE_FUNCTION void put(lattice_range const& range, double unit, std::int64_t x,
                                       std::int64_t y, std::int64_t z, Word sum) const {
    if (is_words()) {
      words.put(range, unit, x, y, z, sum);
    } else {
      dose.put(range, unit, x, y, z, sum);
    }
  }
};

/// Adds sums of a box of voxels to their doses; a row is the voxels (x, y) of the box.
template <class T>
struct add_words_rows {
  using word = typename fixed_point<T>::word;
  struct of_column {
    std::int64_t count;
    word const* words;
    T* dose;
    T unit;
    bool invalid;
    KOKKOS_FUNCTION void at(std::int64_t n) const { add_to_dose(unit, invalid, words[n], dose[n]); }
  };
  boxed_volume<word const> words;
  boxed_volume<T> dose;
  std::int64_t ny;
  std::int64_t nz;
  double unit;
  lattice_range const* range;

  KOKKOS_FUNCTION of_column operator()(std::int64_t column) const {
    std::int64_t const x = column / ny;
    std::int64_t const y = column - x * ny;
    return {nz, words.row(x, y), dose.row(x, y), unit_of_dose<T>(*range, unit),
            range->invalid != 0};
  }
};

}  // namespace iso::dose::detail

#define ISO_SET_HEADER <iso/dose/detail/copy_kernels.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::dose::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Finds the range, rows of the box in turn. A maximum has no order.
template <class T>
struct lattice_range_kernel {
  ISO_KERNEL(lattice_range_kernel<T>);

  boxed_volume<T const> terma;
  boxed_volume<T const> density;
  std::int64_t extent[3];
  lattice_range* range;
  std::int64_t num_groups;
  static constexpr int together = 4;  ///< rows, for more loads at a time

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<double> max_terma(0.0);
    typename Group::template lane_array<double> max_density(0.0);
    typename Group::template lane_array<bool> bad(false);
    std::int64_t const rows = extent[0] * extent[1];
    for (std::int64_t row = index; row < rows; row += together * num_groups) {
      T const* t[together];
      T const* d[together];
      ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
        // Past the last row, the first again.
        std::int64_t const mine = row + r * num_groups < rows ? row + r * num_groups : row;
        t[r] = terma.row(mine / extent[1], mine % extent[1]);
        d[r] = density.row(mine / extent[1], mine % extent[1]);
      }
      group.strided(std::int64_t(0), extent[2], [&](int lane, std::int64_t k) {
        ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
          T const x = t[r][k];
          T const y = d[r][k];
          bad[lane] = bad[lane] || !(is_finite(x) && x >= T(0) && is_finite(y) && y >= T(0));
          max_terma[lane] = x > max_terma[lane] ? double(x) : max_terma[lane];
          max_density[lane] = y > max_density[lane] ? double(y) : max_density[lane];
        }
      });
    }
    double const highest_terma = group.highest(max_terma);
    double const highest_density = group.highest(max_density);
    bool const any_bad = group.any(bad);
    group.once([&] {
      backend::atomic_maximum(&range->terma, highest_terma);
      backend::atomic_maximum(&range->density, highest_density);
      if (any_bad) {
        backend::atomic_maximum(&range->invalid, 1);
      }
    });
  }
};

/// Sets the directions' numbers for the densities at hand. `Line` is a lattice_line or a cone_line.
template <class Line, class T, int Terms>
struct cone_terms_kernel {
  Line const* lines;
  lattice_range const* range;
  T longest;  ///< step by which rates are multiplied
  cone_terms<T, Terms>* out;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    line_terms<T> const& of_line = lines[index].terms;
    cone_terms<T, Terms> c;
    for (int n = 0; n < Terms; ++n) {
      c.set(n, of_line.rate[n], longest, range->density);
      c.energy[n] = of_line.energy[n];
      for (int p = 0; p < tilt_degree; ++p) {
        c.tilt.coefficients[p][n] = of_line.tilt.coefficients[p][n];
      }
    }
    c.tilt.least = of_line.tilt.least;
    c.tilt.most = of_line.tilt.most;
    out[index] = c;
  }
};

/// The places of the voxels of a copy.
template <class T>
struct copied_voxels {
  using word = typename fixed_point<T>::word;
  /// Says where they go: filled are these, side by side, or the three arrays below; of the
  /// lattice's engine alone, the nearness of voxels that release anything.
  backend::pack<T, 2>* joined;
  T* voxels;
  T* densities;
  T* near;
  word* sums;  ///< or null

  /// Writes v(lane) to each of `count` places from `at` on, with no sum yet.
  template <class Group, class F>
  KOKKOS_FORCEINLINE_FUNCTION void write(Group const& group, voxel_code<T> const& code,
                                         std::int64_t at, std::int64_t count, F const& v) const {
    std::int64_t const none = 0;
    if (joined != nullptr) {
      group.strided(none, count,
                    [&](int lane, std::int64_t i) { code.write(joined, at + i, v(lane)); });
    } else {
      T* const to_voxels = voxels + at;
      T* const to_densities = densities + at;
      group.strided(none, count, [&](int lane, std::int64_t i) {
        to_voxels[i] = v(lane).terma;
        to_densities[i] = v(lane).density;
      });
      if (near != nullptr) {
        T* const to_near = near + at;
        group.strided(none, count,
                      [&](int lane, std::int64_t i) { to_near[i] = v(lane).nearness; });
      }
    }
    if (sums != nullptr) {
      word* const to_sums = sums + at;
      group.strided(none, count, [&](int, std::int64_t i) { to_sums[i] = 0; });
    }
  }
};

/// Fills a copy, TERMA scaled to 1 at most, zeros in its border, and clears its sums.
template <class T, int Copy>
struct lattice_copy_kernel {
  ISO_KERNEL(lattice_copy_kernel<T, Copy>);

  using word = typename fixed_point<T>::word;
  static constexpr int together = rows_together<Copy>;
  lattice_layout layout;
  boxed_volume<T const> terma;
  boxed_volume<T const> density;
  lattice_range const* range;
  voxel_nearness<T> nearness;
  voxel_code<T> code;
  T least;  ///< that a voxel releases, of the most
  copied_voxels<T> copied;

  /// Counts rows along the fastest axis, of planes that lie side by side; the last group has the
  /// room behind them.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_groups() const {
    return layout.rows() * ((layout.planes(Copy) + together - 1) / together) + 1;
  }

  template <class Group>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const pitch = layout.pitch[Copy];
    if (index == num_groups() - 1) {
      std::int64_t const from = layout.planes(Copy) * layout.rows() * pitch;
      carried_voxel<T> const nothing = code.of(T(0), T(0), T(0), false);
      copied.write(group, code, from, layout.size[Copy] - from, [&](int) { return nothing; });
      return;
    }
    std::int64_t const row = index % layout.rows();
    std::int64_t const plane = index / layout.rows() * together;
    std::int64_t const y = row - layout.border;
    std::int64_t const first_slow = plane - layout.border;
    bool const has_row = y >= 0 && y < layout.extent[1];
    double const scale = power_of_two(-terma_exponent(*range));
    std::int64_t const slow_extent = layout.extent[Copy == 0 ? 0 : 2];
    std::int64_t const fast_extent = has_row ? layout.extent[Copy == 0 ? 2 : 0] : 0;
    voxel_code<T> const coded = code;
    voxel_nearness<T> const from_source = nearness;
    T const at_least = least;
    // Loops of one kind of work each, which a processor's compiler makes vectors of.
    for (std::int64_t first = 0; first < pitch; first += 32) {
      typename Group::template lane_array<T, together> released;
      typename Group::template lane_array<T, together> dense;
      typename Group::template lane_array<T, together> near_source;
      typename Group::template lane_array<T, together> outside;
      typename Group::template lane_array<T, together> releases;
      group.each([&](int lane) {
        std::int64_t const fast = first + lane;
        ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
          std::int64_t const slow = first_slow + r;
          bool const inside = fast < fast_extent && slow >= 0 && slow < slow_extent;
          std::int64_t const x = Copy == 0 ? slow : fast;
          std::int64_t const z = Copy == 0 ? fast : slow;
          released(r, lane) = inside ? terma.row(x, y)[z] : T(0);
          dense(r, lane) = inside ? density.row(x, y)[z] : T(0);
          outside(r, lane) = inside ? T(0) : T(1);
        }
      });
      ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
        group.each([&](int lane) {
          auto const fast = std::int32_t(first) + lane;
          auto const slow = std::int32_t(first_slow) + r;
          near_source(r, lane) =
              from_source.at(Copy == 0 ? slow : fast, std::int32_t(y), Copy == 0 ? fast : slow);
        });
        group.each([&](int lane) {
          T const scaled = T(double(released(r, lane)) * scale);
          releases(r, lane) = scaled > T(0) ? T(1) : T(0);
          released(r, lane) =
              outside(r, lane) > T(0) ? T(0) : (scaled < at_least ? at_least : scaled);
        });
        group.each([&](int lane) {
          carried_voxel<T> const v = coded.of(released(r, lane), dense(r, lane),
                                              near_source(r, lane), releases(r, lane) > T(0));
          released(r, lane) = v.terma;
          dense(r, lane) = v.density;
          near_source(r, lane) = v.nearness;
        });
      }
      std::int64_t const count = pitch - first < 32 ? pitch - first : 32;
      ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
        if (plane + r < layout.planes(Copy)) {
          copied.write(group, coded, ((plane + r) * layout.rows() + row) * pitch + first, count,
                       [&](int lane) {
                         return carried_voxel<T>{released(r, lane), dense(r, lane),
                                                 near_source(r, lane)};
                       });
        }
      }
    }
  }
};

/// Adds the sums of both copies, and puts them to a target.
template <class T, class Target>
struct lattice_join_kernel {
  ISO_KERNEL(lattice_join_kernel<T, Target>);

  using word = typename fixed_point<T>::word;
  lattice_layout layout;
  word const* sums[2];
  word bias;  ///< what all lines have added to the bits
  double unit;
  lattice_range const* range;
  Target to;

  static constexpr int together = rows_together<1>;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t num_groups() const {
    return layout.extent[1] * ((layout.extent[0] + together - 1) / together);
  }

  /// Copies some rows along z.
  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    std::int64_t const y = index % layout.extent[1];
    std::int64_t const first = index / layout.extent[1] * together;
    group.strided(std::int64_t(0), layout.extent[2], [&](int, std::int64_t z) {
      word of_copy[together];
      ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
        // Of the last rows, those that are there, again.
        std::int64_t const x = first + r < layout.extent[0] ? first + r : layout.extent[0] - 1;
        of_copy[r] = sums[1][layout.at(1, x, y, z)] + sums[0][layout.at(0, x, y, z)];
      }
      ISO_EACH_REGISTER(int r = 0; r < together; ++r) {
        if (first + r < layout.extent[0]) {
          to.put(*range, unit, first + r, y, z, of_copy[r] - bias);
        }
      }
    });
  }
};

}  // namespace iso::dose::detail::ISO_SET

#endif
