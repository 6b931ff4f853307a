// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_PRODUCT_WALK_HPP
#define ISO_SPARSE_DETAIL_PRODUCT_WALK_HPP

#include <iso/backend/pack.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/sparse/detail/product_lanes.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#define ISO_SET_HEADER <iso/sparse/detail/product_walk.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// Computes what a part of a group's lanes adds to its sums of `Steps::rows` rows times K vectors:
/// by fma, a step of 32 lanes after the other. `InFlight` steps are under way at once.
template <class Group, class T, class Steps, class Sum, int Rows, int K, int InFlight>
struct product_walk {
  static constexpr int count = Rows * K;
  using lanes = typename Group::template lane_array<T, count>;
  using vectors = backend::pack<T, K>;

  Steps const& steps;
  vectors const* KOKKOS_RESTRICT x;
  T const (&origins)[count];
  lanes& sums;
  std::int32_t begin;  ///< of the steps
  std::int32_t end;

  template <class Part>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Part const& part) const {
    using value = typename Part::template per_lane<T>;
    value sum = part.template repeat<count>(origins);
    if constexpr (!product_lanes<Group>::template sums_in_one_part<T, count>) {
      if (begin > 0) {
        sum = part.load(sums);
      }
    }
    std::int32_t step = begin;
    if constexpr (InFlight > 1) {
      add_in_flight(part, step, sum);
    }
    for (; step < end; ++step) {
      add_step<Part>{*this, step, sum}(part);
    }
    if (end == steps.full && steps.left > 0) {
      part.below(steps.left, add_step<Part>{*this, step, sum});
    }
    part.store(sums, sum);
  }

 private:
  template <class Whole>
  struct add_step {
    product_walk const& walk;
    std::int32_t step;
    typename Whole::template per_lane<T>& sum;

    template <class Part>
    KOKKOS_FORCEINLINE_FUNCTION void operator()(Part const& part) const {
      add(part, walk.steps.value.ask(step), part.fetch(walk.x, walk.steps.columns(part, step)),
          sum);
    }
  };

  /// Adds register by register: an expression of all of them would need as many for each operation.
  template <class Part, class Entry, class Fetched, class Value>
  KOKKOS_FORCEINLINE_FUNCTION static void add(Part const& part, Entry const& a, Fetched const& at,
                                              Value& sum) {
    ISO_EACH_REGISTER(int i = 0; i < Value::shape::registers; ++i) {
      if (part.template reaches<count>(i)) {
        auto const before = sum.one(i);
        sum.set(i, part.template chosen<count>(
                       i,
                       fma(part.template widened<T, K>(a, i),
                           Sum::prepared(part.template spread<Rows>(at, i)), before),
                       before));
      }
    }
  }

  /// Adds where a group waits for memory: what the columns bring is asked for first, then the
  /// columns and entries of later steps, and only then is it used.
  template <class Part, class Value>
  KOKKOS_FORCEINLINE_FUNCTION void add_in_flight(Part const& part, std::int32_t& step,
                                                 Value& sum) const {
    if (end - step < InFlight) {
      return;
    }
    decltype(steps.columns(part, 0)) column[InFlight];
    decltype(steps.value.ask(0)) entry[InFlight];
    decltype(part.fetch(x, column[0])) fetched[InFlight];
    Steps const first = steps.later(step);
    backend::unrolled<InFlight>([&](auto u) {
      column[u] = first.columns(part, u);
      entry[u] = first.value.ask(u);
    });
    auto const fetch_all = [&] {
      backend::unrolled<InFlight>([&](auto u) { fetched[u] = part.fetch(x, column[u]); });
    };
    for (step += InFlight; step + InFlight <= end; step += InFlight) {
      fetch_all();
      Steps const next = steps.later(step);
      backend::unrolled<InFlight>([&](auto u) { column[u] = next.columns(part, u); });
      backend::unrolled<InFlight>([&](auto u) {
        add(part, entry[u], fetched[u], sum);
        entry[u] = next.value.ask(u);
      });
    }
    fetch_all();
    backend::unrolled<InFlight>([&](auto u) { add(part, entry[u], fetched[u], sum); });
  }
};

}  // namespace iso::sparse::detail::ISO_SET

#endif
