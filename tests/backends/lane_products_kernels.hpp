// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels of test_lane_products.cpp, for every instruction set.
#ifndef ISO_SET
#ifndef TESTS_BACKENDS_LANE_PRODUCTS_KERNELS_HPP
#define TESTS_BACKENDS_LANE_PRODUCTS_KERNELS_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/core/half.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER "lane_products_kernels.hpp"
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace lane_product_kernels::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);
using iso::backend::pack;

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
    group.template parts_of_sums<T, count>(of_part<array>{*this, sums});
    group.template sums<count>(sums, less_one()).each([&](int n, T sum) { found[n] = sum; });
  }
};

}  // namespace lane_product_kernels::ISO_SET

#endif
