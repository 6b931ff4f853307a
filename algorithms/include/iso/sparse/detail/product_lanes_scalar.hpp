// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_SPARSE_DETAIL_PRODUCT_LANES_SCALAR_HPP
#define ISO_SPARSE_DETAIL_PRODUCT_LANES_SCALAR_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/backend/widen.hpp>

#include <Kokkos_Core.hpp>

#define ISO_SET_HEADER <iso/sparse/detail/product_lanes_scalar.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::sparse::detail::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

/// The operations of products on a register of the instruction set `Isa`, beyond those of lane
/// values. Here with one lane, which is what every other instruction set does, bit by bit.
template <class Isa>
struct product_operations {
  static_assert(Isa::template width<float> == 1,
                "iso::sparse: products have no operations for this instruction set");

  /// Returns stored numbers of any type from p on, exactly; zeros from the count-th on.
  template <class R, class Stored>
  KOKKOS_FORCEINLINE_FUNCTION static R widened(Stored const* p) {
    return backend::widen<R>(*p);
  }
  template <class R, class Stored>
  KOKKOS_FORCEINLINE_FUNCTION static R widened(Stored const* p, int count) {
    return count > 0 ? backend::widen<R>(*p) : R(0);
  }
  /// Returns the n-th register of stored numbers from p on, where there is an even number of them:
  /// two may be made at once.
  template <class R, class Stored>
  KOKKOS_FORCEINLINE_FUNCTION static R widened_register(Stored const* p, int n) {
    return widened<R>(p + n);
  }
  /// Puts element from + j / Times in place j.
  template <int Times, class R>
  KOKKOS_FORCEINLINE_FUNCTION static R repeated(R a, int) {
    return a;
  }
  /// Fills `Lanes` stretches of the register one after the other: `Count` numbers from at(n) on,
  /// again and again.
  template <class R, int Count, int Lanes, class At>
  KOKKOS_FORCEINLINE_FUNCTION static R spread(At const& at) {
    return *at(0);
  }
  /// Reads p[columns[n]] for the width's n, columns being mostly runs of neighbours.
  template <class R, class Column>
  KOKKOS_FORCEINLINE_FUNCTION static R gather_runs(R const* p, Column const* columns) {
    return p[columns[0]];
  }
  /// Adds the upper half to the lower one until `Count` numbers are left, and stores these.
  template <int Count, class R>
  KOKKOS_FORCEINLINE_FUNCTION static void store_folded(R* p, R a) {
    *p = a;
  }
};

}  // namespace iso::sparse::detail::ISO_SET

#endif
