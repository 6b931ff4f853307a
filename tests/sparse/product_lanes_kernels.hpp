// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of test_product_lanes.cpp, for every instruction set.
#ifndef ISO_SET
#ifndef TESTS_SPARSE_PRODUCT_LANES_KERNELS_HPP
#define TESTS_SPARSE_PRODUCT_LANES_KERNELS_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/pack.hpp>
#include <iso/core/half.hpp>
#include <iso/sparse/detail/product_lanes.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "product_lanes_kernels.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace product_lanes_kernels::ISO_SET {

using iso::backend::lanes;
using iso::backend::pack;
using ISO_SET_OF(iso::sparse::detail)::product_lanes;

/// Adds the products of R rows and K vectors over `steps` steps, and `left` lanes more, as the sums
/// of a group: f(group) once.
template <class T, class Stored, int R, int K>
struct add_products {
  ISO_KERNEL(add_products<T, Stored, R, K>);

  static constexpr int count = R * K;
  std::int32_t from;
  std::uint16_t const* columns;
  pack<Stored, R> const* values;
  pack<T, K> const* x;
  T const* origins;  ///< [count]
  int steps;
  int left;
  T* found;  ///< [count]

  template <class Part, class Lanes, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add(Part const& part, Lanes const& columns_of,
                                       pack<Stored, R> const* a, Value& sum) const {
    auto const at = part.fetch(x, part.columns(from, columns_of));
    ISO_EACH_REGISTER(int i = 0; i < Value::shape::registers; ++i) {
      if (part.template reaches<count>(i)) {
        auto const before = sum.one(i);
        sum.set(i, part.template chosen<count>(i,
                                               fma(part.template widened<T, K>(a, i),
                                                   part.template spread<R>(at, i), before),
                                               before));
      }
    }
  }
  template <class Value>
  struct add_left {
    add_products const& all;
    Value& sum;
    template <class Part>
    KOKKOS_FORCEINLINE_FUNCTION void operator()(Part const& part) const {
      all.add(part, all.columns + 32 * all.steps, all.values + 32 * all.steps, sum);
    }
  };
  template <class Array>
  struct of_part {
    add_products const& all;
    Array& sums;
    template <class Part>
    KOKKOS_FORCEINLINE_FUNCTION void operator()(Part const& part) const {
      auto sum = part.template repeat<count>(all.origins);
      for (int step = 0; step < all.steps; ++step) {
        all.add(part, all.columns + 32 * step, all.values + 32 * step, sum);
      }
      if (all.left > 0) {
        part.below(all.left, add_left<decltype(sum)>{all, sum});
      }
      part.store(sums, sum);
    }
  };
  struct less_one {
    template <class V>
    KOKKOS_FORCEINLINE_FUNCTION V operator()(V const& x) const {
      return x - V(T(1));
    }
  };

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t) const {
    using array = typename Group::template lane_array<T, count>;
    array sums;
    using of_lanes = product_lanes<Group>;
    of_lanes::template parts_of_sums<T, count>(group, of_part<array>{*this, sums});
    of_lanes::template sums<T, count>(group, sums, less_one()).each([&](int n, T sum) {
      found[n] = sum;
    });
  }
};

template <int Count, class T, class Group>
struct load_numbers {
  using numbers = typename Group::template lane_array<T, Count>;
  using array = typename product_lanes<Group>::template stepped_array<pack<T, Count>>;
  array const& values;
  numbers& mine;

  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Part const& part) const {
    typename Part::template per_lane<T> found;
    ISO_EACH_REGISTER(int i = 0; i < Part::template per_lane<T>::shape::registers; ++i) {
      found.set(i, part.template widened<T, 1>(values.ask(0), i));
    }
    part.store(mine, found);
  }
};

struct twice {
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V operator()(V const& x) const {
    return x + x;
  }
};

template <int Count, class T>
struct sums_kernel {
  ISO_KERNEL(sums_kernel<Count, T>);

  pack<T, Count> const* values;
  T* out;
  bool* above;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename load_numbers<Count, T, Group>::numbers mine;
    typename load_numbers<Count, T, Group>::array const array(group, values + index * lanes);
    using of_lanes = product_lanes<Group>;
    of_lanes::template parts_of_sums<T, Count>(group, load_numbers<Count, T, Group>{array, mine});
    auto const sums = of_lanes::template sums<T, Count>(group, mine, twice());
    sums.each([&](int n, T sum) { out[index * Count + n] = sum; });
    bool const any = sums.any([](T sum) { return sum > T(1e5); });
    group.once([&] { above[index] = any; });
  }
};

}  // namespace product_lanes_kernels::ISO_SET

#endif
