// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/ray/detail/entry.hpp>
#include <iso/ray/detail/traversal_tuning.hpp>
#include <iso/ray/sort_rays.hpp>

#include <algorithm>
#include <utility>

namespace iso::ray::detail {
namespace {

constexpr int index_bits = 32;
constexpr std::uint64_t empty_ray = (std::uint64_t(1) << 31) - 1;

/// Bits of x, y and z below 2^bits in turn, the highest first.
KOKKOS_FUNCTION std::uint64_t interleave(vec3<std::int64_t> p, int bits) {
  std::uint64_t code = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    code =
        code << 3 | std::uint64_t((p.x >> bit & 1) << 2 | (p.y >> bit & 1) << 1 | (p.z >> bit & 1));
  }
  return code;
}

/// Place of the ray at t along one axis, as one of 2^bits parts of the grid.
KOKKOS_FUNCTION std::int64_t part(axis_planes const& a, double t, int bits) {
  double const parts = double(std::int64_t(1) << bits);
  double const along = (t * a.speed - a.distance(0)) / (a.count * a.spacing) * parts;
  double const inside = less_of(greater_of(along, 0.0), parts - 1);
  return std::int64_t(a.sign < 0 ? parts - 1 - inside : inside);
}

KOKKOS_FUNCTION vec3<std::int64_t> parts(clipped_ray const& c, double t, int bits) {
  return {part(c.x, t, bits), part(c.y, t, bits), part(c.z, t, bits)};
}

/// At most 30 bits; less than `empty_ray`.
template <class T>
KOKKOS_FUNCTION std::uint64_t place(ray<T> const& r, traversal_grid const& g, ray_order order) {
  clipped_ray const c(r, g);
  if (!c.hits) {
    return empty_ray;
  }
  if (order == ray_order::octant_then_entry) {
    std::uint64_t const octant =
        (c.x.sign < 0 ? 4U : 0U) | (c.y.sign < 0 ? 2U : 0U) | (c.z.sign < 0 ? 1U : 0U);
    return octant << 27 | interleave(parts(c, c.t_in, 9), 9);
  }
  constexpr int bits = 5;
  vec3<std::int64_t> const in = parts(c, c.t_in, bits);
  vec3<std::int64_t> const out = parts(c, c.t_out, bits);
  std::uint64_t code = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    auto const digit = [&](vec3<std::int64_t> p) {
      return std::uint64_t((p.x >> bit & 1) << 2 | (p.y >> bit & 1) << 1 | (p.z >> bit & 1));
    };
    code = code << 6 | digit(in) << 3 | digit(out);
  }
  return code;
}

template <class T>
struct key_maker {
  traversal_grid grid;
  ray<T> const* rays;
  std::uint64_t* keys;
  ray_order order;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    keys[i] = place(rays[i], grid, order) << index_bits | std::uint64_t(i);
  }
};

/// Keys of one tile, compared each with each: where a key goes is how many are less.
constexpr std::int64_t tile = 32;

struct tile_sorter {
  std::uint64_t const* from;
  std::uint64_t* to;
  std::int64_t count;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const first = i / tile * tile;
    std::int64_t const end = first + tile < count ? first + tile : count;
    std::uint64_t const key = from[i];
    std::int64_t place = first;
    for (std::int64_t other = first; other < end; ++other) {
      place += from[other] < key ? 1 : 0;
    }
    to[place] = key;
  }
};

/// Merges neighbouring sorted runs of `width` keys. Each thread writes `part` keys of the result,
/// and finds by bisection how many of them come from either run: Odeh, Green, Mwassi, Shmueli and
/// Birk, Merge path, IPDPS workshops 2012, doi:10.1109/IPDPSW.2012.202.
struct run_merger {
  std::uint64_t const* from;
  std::uint64_t* to;
  std::int64_t count;
  std::int64_t width;
  std::int64_t part;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    auto const least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
    std::int64_t const begin = thread * part;
    std::int64_t const first = begin / (2 * width) * (2 * width);
    std::int64_t const a_count = least(width, count - first);
    std::int64_t const b_count = least(width, count - first - a_count);
    std::uint64_t const* const a = from + first;
    std::uint64_t const* const b = a + a_count;
    std::int64_t const before = begin - first;
    std::int64_t i = before > b_count ? before - b_count : 0;
    for (std::int64_t high = least(before, a_count); i < high;) {
      std::int64_t const middle = (i + high) / 2;
      if (a[middle] < b[before - 1 - middle]) {
        i = middle + 1;
      } else {
        high = middle;
      }
    }
    std::int64_t j = before - i;
    std::int64_t const end = least(begin + part, first + a_count + b_count);
    for (std::int64_t out = begin; out < end; ++out) {
      bool const from_a = i < a_count && (j >= b_count || a[i] < b[j]);
      to[out] = from_a ? a[i] : b[j];
      i += from_a ? 1 : 0;
      j += from_a ? 0 : 1;
    }
  }
};

/// In place where `keys` and `permutation` are the same memory.
struct index_reader {
  std::uint64_t const* keys;
  std::int64_t* permutation;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    permutation[i] = std::int64_t(keys[i] & ((std::uint64_t(1) << index_bits) - 1));
  }
};

/// Runs a pass; on a processor, where it may last, in batches between which the job is asked.
template <class Exec, class Kernel>
void run_pass(char const* label, Exec const& exec, std::int64_t count, Kernel const& kernel,
              job const& control) {
  if constexpr (backend::is_device<Exec>) {
    backend::for_each_index(label, exec, count, kernel);
  } else {
    iso::detail::for_each_index_in_batches(label, exec, count, control, kernel);
  }
}

}  // namespace

template <execution_space Exec, real T>
void launch_sort_rays(Exec const& exec, traversal_grid const& grid, ray<T> const* rays,
                      std::int64_t count, ray_order order, std::uint64_t* scratch,
                      std::int64_t* permutation, job const& control) {
  job const asked = iso::detail::asked_only(control);
  // Signed and unsigned words of one size may share memory.
  auto* from = reinterpret_cast<std::uint64_t*>(permutation);
  auto* to = scratch;
  run_pass("iso::ray::sort_rays: keys", exec, count, key_maker<T>{grid, rays, from, order}, asked);
  run_pass("iso::ray::sort_rays: tiles", exec, count, tile_sorter{from, to, count}, asked);
  std::swap(from, to);
  constexpr std::int64_t longest = traversal_tuning_of<Exec, T>.merge_part;
  for (std::int64_t width = tile; width < count; width *= 2) {
    std::int64_t const part = std::min(longest, 2 * width);
    run_pass("iso::ray::sort_rays: merge", exec, (count + part - 1) / part,
             run_merger{from, to, count, width, part}, asked);
    std::swap(from, to);
  }
  run_pass("iso::ray::sort_rays: permutation", exec, count, index_reader{from, permutation}, asked);
}

#define ISO_SORT_RAYS(linkage, Exec, T)                                                   \
  linkage template void launch_sort_rays<Exec, T>(Exec const&, traversal_grid const&,     \
                                                  ray<T> const*, std::int64_t, ray_order, \
                                                  std::uint64_t*, std::int64_t*, job const&);
ISO_FOR_EACH_INSTANCE(ISO_SORT_RAYS, )

}  // namespace iso::ray::detail
