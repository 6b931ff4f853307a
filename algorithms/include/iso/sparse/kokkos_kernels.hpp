// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/kokkos_kernels.hpp
//! Shares a matrix with Kokkos Kernels. Needs Kokkos Kernels 4.7 or later, which this
//! library does not: no other header includes this one, and a program that does links
//! Kokkos::kokkoskernels itself.
//!
//! `as_` functions copy nothing, `to_` functions copy the row offsets into 32 bits or out of them;
//! columns and values are shared by both, so that what one side writes the other one reads. Values
//! are float or double: Kokkos' half_t is a float on some backends and 16 bits on others, and
//! KokkosSparse::spmv would add in it. Values of 16 bits go through convert_values.
#pragma once

#include <iso/core/concepts.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/detail/csr_rows.hpp>

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

namespace iso::sparse {

/// The types of row offsets: of 64 bits, as ours, and of 32 bits.
template <class T>
concept wide_offset = std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;
template <class T>
concept short_offset = std::same_as<T, std::int32_t> || std::same_as<T, std::uint32_t>;

/// The type that Kokkos Kernels has for a csr_view<Value, std::int32_t, ...> with offsets of type
/// `Offset`.
template <class Value, class Offset, execution_space Exec>
  requires real<std::remove_const_t<Value>>
using crs_matrix = KokkosSparse::CrsMatrix<
    Value, std::conditional_t<std::is_const_v<Value>, std::int32_t const, std::int32_t>,
    Kokkos::Device<Exec, typename Exec::memory_space>, void, Offset>;

namespace detail {

/// A CrsMatrix that csr_view can share, in the memory of `Exec`: values float or double, columns of
/// 32 bits.
template <class Matrix, class Exec>
concept crs_like = real<typename Matrix::non_const_value_type> &&
                   std::same_as<typename Matrix::non_const_ordinal_type, std::int32_t> &&
                   std::same_as<typename Matrix::memory_space, typename Exec::memory_space>;

/// Returns `from` [rows + 1] as numbers of type To, or the single zero that a matrix without rows
/// has. Where only the sign differs the memory is the same but `from` alone owns it; else a copy.
template <class To, execution_space Exec, class From>
auto offsets_as(Exec const& exec, std::string const& label, From const& from) {
  using given = typename From::non_const_value_type;
  using array = Kokkos::View<To*, Kokkos::LayoutRight, typename Exec::memory_space>;
  using result = Kokkos::View<To const*, Kokkos::LayoutRight, typename Exec::memory_space>;
  if constexpr (sizeof(To) == sizeof(given)) {
    if (from.extent(0) > 0) {
      if constexpr (std::same_as<To, given>) {
        return result(from);
      } else {
        return result(reinterpret_cast<To const*>(from.data()), from.extent(0));
      }
    }
  }
  auto const to =
      allocate<array>(label, {std::max<std::int64_t>(1, std::int64_t(from.extent(0)))}, exec);
  if (from.extent(0) > 0) {
    Kokkos::deep_copy(exec, to, from);
  }
  return result(to);
}

/// Throws unless a CrsMatrix of `Offset` can have the matrix.
template <class Offset, class Exec, class Value>
crs_matrix<Value, Offset, Exec> crs_of(
    Exec const& exec, char const* function,
    csr_view<Value, std::int32_t, typename Exec::memory_space> const& a) {
  validate_shape(a, function);
  ISO_VALIDATE(a.row_scales.extent(0) == 0,
               "{}: {} row scales (CrsMatrix has none); convert the values without row_scaling",
               function, a.row_scales.extent(0));
  constexpr auto most = std::uint64_t(std::numeric_limits<Offset>::max());
  ISO_VALIDATE(std::uint64_t(a.num_entries()) <= most,
               "{}: {} entries (the offsets count to {}); take offsets of 64 bits", function,
               a.num_entries(), most);
  return {function,
          std::int32_t(a.num_rows),
          std::int32_t(a.num_cols),
          Offset(a.num_entries()),
          a.values,
          offsets_as<Offset>(exec, function, a.row_offsets),
          a.columns};
}

/// Throws unless the arrays of `m` fit together.
template <class Exec, class Matrix>
auto csr_of(Exec const& exec, char const* function, Matrix const& m) {
  csr_view<typename Matrix::const_value_type, std::int32_t, typename Exec::memory_space> a;
  a.row_offsets = offsets_as<std::int64_t>(exec, function, m.graph.row_map);
  a.num_rows = std::int64_t(a.row_offsets.extent(0)) - 1;
  a.num_cols = std::int64_t(m.numCols());
  a.columns = m.graph.entries;
  a.values = m.values;
  validate_shape(a, function);
  return a;
}

}  // namespace detail

/// Views `a` as a matrix of Kokkos Kernels, nothing copied: row offsets [num_rows + 1], columns and
/// values [num_entries] are a's memory. The result shares in owning it, but for row offsets that
/// are unsigned: those `a` must outlive. Where `a` is const, so are the result's columns and
/// values. `exec` says which execution space the result names; nothing is enqueued on it.
/// Determinism: backend_to_backend.
///
/// \tparam Offset  std::int64_t, or std::uint64_t, which is Kokkos Kernels' usual std::size_t
/// \throws iso::invalid_argument  lengths that disagree; extents above 2^31 - 1; row_scales
template <wide_offset Offset = std::int64_t, execution_space Exec, class Value>
  requires real<std::remove_const_t<Value>>
crs_matrix<Value, Offset, Exec> as_crs_matrix(
    Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a) {
  return detail::crs_of<Offset>(exec, "iso::sparse::as_crs_matrix", a);
}

/// Does the same as as_crs_matrix, with a copy of the row offsets in 32 bits, which cuSPARSE takes.
/// `a` must be valid. Enqueued on `exec`; allocates. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  as as_crs_matrix; more entries than Offset counts to
template <short_offset Offset = std::int32_t, execution_space Exec, class Value>
  requires real<std::remove_const_t<Value>>
crs_matrix<Value, Offset, Exec> to_crs_matrix(
    Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a) {
  return detail::crs_of<Offset>(exec, "iso::sparse::to_crs_matrix", a);
}

/// Views `m` as our matrix, nothing copied: the arrays are m's memory, read-only. The result
/// shares in owning what `m` owns, but for row offsets that are unsigned: those `m` must outlive. A
/// matrix without row offsets, which for Kokkos Kernels is empty, is given one, a zero, allocated
/// and enqueued on `exec`; else nothing is. `validate` says whether the entries are sound.
/// Determinism: backend_to_backend.
///
/// \param[in] m  offsets of 64 bits, columns of 32, values of float or double, in Exec's memory
/// \throws iso::invalid_argument  lengths that disagree; extents above 2^31 - 1
template <execution_space Exec, class Value, class Ordinal, class Device, class Traits,
          class Offset>
  requires wide_offset<std::remove_const_t<Offset>> &&
           detail::crs_like<KokkosSparse::CrsMatrix<Value, Ordinal, Device, Traits, Offset>, Exec>
csr_view<Value const, std::int32_t, typename Exec::memory_space> as_csr(
    Exec const& exec, KokkosSparse::CrsMatrix<Value, Ordinal, Device, Traits, Offset> const& m) {
  return detail::csr_of(exec, "iso::sparse::as_csr", m);
}

/// Does the same as as_csr for a matrix with row offsets of 32 bits, which are copied. Enqueued on
/// `exec`; allocates. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  as as_csr; more entries than the offsets count to
template <execution_space Exec, class Value, class Ordinal, class Device, class Traits,
          class Offset>
  requires short_offset<std::remove_const_t<Offset>> &&
           detail::crs_like<KokkosSparse::CrsMatrix<Value, Ordinal, Device, Traits, Offset>, Exec>
csr_view<Value const, std::int32_t, typename Exec::memory_space> to_csr(
    Exec const& exec, KokkosSparse::CrsMatrix<Value, Ordinal, Device, Traits, Offset> const& m) {
  char const* const function = "iso::sparse::to_csr";
  constexpr auto most = std::uint64_t(std::numeric_limits<Offset>::max());
  // nnz() has the offsets' type: too large a number is no longer seen in it.
  auto const entries = std::uint64_t(m.graph.entries.extent(0));
  ISO_VALIDATE(entries <= most,
               "{}: {} entries (the offsets count to {}, so that some have overflowed); make the "
               "CrsMatrix with offsets of 64 bits",
               function, entries, most);
  return detail::csr_of(exec, function, m);
}

}  // namespace iso::sparse
