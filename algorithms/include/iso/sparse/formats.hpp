// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/formats.hpp
//! What a matrix costs in each format, and which format is the fastest.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/sparse/csr.hpp>

#include <cstdint>

namespace iso::sparse {

/// What a matrix costs in a format.
struct format_report {
  int rows = 1;                ///< rows a group, R; 1: csr_view
  int offset_bits = 32;        ///< of a column: 8 or 16 in slots, 16 or 32 in csr_view
  bool paired = false;         ///< paired_view, R = 8 and 16 bits
  std::int64_t slots = 0;      ///< of 32 places
  double bytes_per_entry = 0;  ///< of the matrix's arrays
  double fill = 1;             ///< entries over places for them, those at the slots' ends included
  double reads_per_entry = 1;  ///< values of x read an entry
};

/// What `a`, valid and its rows ascending, would cost in groups of `rows` (2, 4 or 8) with offsets
/// of `offset_bits` (8 or 16); rows = 1: as csr_view with columns of 32 or 16 bits, be its rows
/// narrow enough for these or not. Fences `exec`. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  another number of rows or bits; arrays whose lengths disagree
template <execution_space Exec, class Value, column_index Column>
format_report measure_format(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a,
                             int rows, int offset_bits);
/// The same as a paired_view. Determinism: backend_to_backend.
template <execution_space Exec, class Value, column_index Column>
format_report measure_paired(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a);

/// What a product runs on.
enum class processor {
  host,       ///< few fast threads; vectors are what compilers make
  wide_host,  ///< a host with AVX-512: products of 16-bit values by hand, paired: of four vectors
  device,     ///< many lanes that wait for memory: a GPU
};

/// That of an execution space on this machine. Determinism: run_to_run.
template <execution_space Exec>
processor processor_of();

/// How long a product in a format takes, an entry. Only the ratio of two costs on one kind of
/// processor means something. On a device, in bytes of streamed matrix,
///
///     (bytes_per_entry^4 + (6.3 reads_per_entry)^4)^(1/4),
///
/// 1.06 times as much with offsets of 8 bits, 1.04 times for paired_view: 6.3 bytes take as long as
/// one read of x by a lane on an H200 (0.776 ms for 4.9e8 reads at 56 % of the read ceiling with
/// 16-bit columns), each hides most of the other, and jumps and second reads of a place cost a
/// little (docs/algorithms/dose_matrices.md: how far from the fastest that leads). On a host
///
///     (1 + 1.95 rows) reads_per_entry,
///
/// 1.4 times as much with offsets of 8 bits, 1.3 times with csr_view's columns of 16: a value takes
/// at most 1.95 times as long as finding and reading its place of x, and bases and jumps cost
/// vectors more than their bytes save. On a wide host 0.6 for 1.95, 1.3 for 1.4, and csr_view's
/// columns of 16 bits gain nothing that can be relied upon. (One thread, perf/sparse/choice.py: the
/// upper edge of what was measured, so that no format is taken for what it does not gain.)
/// On hosts it does not know the paired format. Determinism: backend_to_backend.
double product_cost(format_report const& format, processor kind);

/// The format that a product should be fastest in on this kind of processor: of csr_view and, for
/// values of 16 bits, csr_view with 16-bit columns where no row is wider than 65535 columns
/// (`to_relative_columns`), the grouped formats with R = 2, 4, 8 and 8- or 16-bit offsets, and on a
/// device the paired one, the one with the smallest product_cost. A grouped format must beat
/// csr_view by a tenth; equal costs go to the smaller R and the shorter offset. On a host columns
/// must lie together as well (not on a wide one): where 8-bit offsets want twice the slots of
/// 16-bit ones, reads of x leave the first cache, and groups wait for them longer than rows do.
/// Ordered sums depend on the grouped format, so name `kind` where they must not depend on where
/// they are computed. Fences `exec`. Determinism: backend_to_backend, of one kind.
///
/// \param[in] a  valid, its rows ascending
/// \throws iso::invalid_argument  arrays whose lengths disagree
template <execution_space Exec, class Value, column_index Column>
format_report choose_format(Exec const& exec,
                            csr_view<Value, Column, typename Exec::memory_space> const& a,
                            processor kind = processor_of<Exec>());

}  // namespace iso::sparse

#include <iso/sparse/detail/formats_impl.hpp>
