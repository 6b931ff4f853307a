// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/formats.hpp
//! What a matrix costs in each format, and which format is the fastest.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/sparse/csr.hpp>

#include <cstdint>
#include <string_view>

namespace iso::sparse {

/// How a matrix is stored.
enum class matrix_format {
  csr32,       ///< csr_view, 32-bit columns
  csr16,       ///< csr_view, 16-bit columns from a base per row
  row_block4,  ///< row_block_csr of 4 rows
  row_block8,  ///< row_block_csr of 8 rows
};

/// The enumerator's name. Determinism: backend_to_backend.
std::string_view to_string(matrix_format format);

/// What a matrix costs in a format.
struct format_report {
  matrix_format format = matrix_format::csr32;
  std::int64_t chunks = 0;       ///< of 32 columns; 0: a csr_view
  double bytes_per_entry = 0;    ///< of the matrix's arrays
  double fill = 1;               ///< entries over stored values, padding included
  double reads_per_entry = 1;    ///< values of x read per entry
  double columns_per_chunk = 0;  ///< from its first to its last, mean

  /// Rows of a block; 1: a csr_view.
  [[nodiscard]] int rows() const {
    return format == matrix_format::row_block4 ? 4 : format == matrix_format::row_block8 ? 8 : 1;
  }
};

/// What `a`, valid and its rows ascending, would cost in a format; csr16 whether or not its rows
/// are narrow enough. Fences `exec`. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  row blocks of values that do not have 16 bits; arrays whose
///                                lengths disagree
template <execution_space Exec, class Value, column_index Column>
format_report measure_format(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a,
                             matrix_format format);

/// What a product runs on.
enum class processor {
  host,         ///< few fast threads; vectors are what compilers make
  avx512_host,  ///< a host with AVX-512: products of 16-bit values by hand
  device,       ///< many lanes that wait for memory: a GPU
};

/// That of an execution space on this machine. Determinism: run_to_run.
template <execution_space Exec>
processor processor_of() {
  if constexpr (backend::is_device<Exec>) {
    return processor::device;
  } else {
    return backend::host_vector_bytes() == 64 ? processor::avx512_host : processor::host;
  }
}

/// How long a product in a format takes, per entry. Only the ratio of two costs on one kind of
/// processor means something. On a device, in bytes of streamed matrix,
///
///     (bytes_per_entry^4 + (6.3 reads_per_entry)^4)^(1/4):
///
/// 6.3 bytes take as long as one read of x by a lane on an H200, and each hides most of the other
/// (docs/algorithms/dose_matrices.md: how far from the fastest that leads). On a host
///
///     (1 + 1.95 rows) reads_per_entry,
///
/// 1.3 times as much for csr16: a value takes at most 1.95 times as long as finding and reading its
/// x, and bases cost vectors more than their bytes save. On a host with AVX-512 0.6 for 1.95, and
/// 1 for 1.3. (One thread,
/// perf/sparse/choice.py: the upper edge of what was measured, so that no format is taken for what
/// it does not gain.) Determinism: backend_to_backend.
double product_cost(format_report const& format, processor kind);

/// The format that a product should be fastest in on this kind of processor, the one with the
/// smallest product_cost: of csr32 and, for values of 16 bits, row blocks and csr16 where no row is
/// wider than 65535 columns (`to_relative_columns`). Row blocks must beat csr_view by a tenth;
/// equal costs go to the format that the enumeration has first, but on a host with AVX-512 csr16 is
/// taken before csr32: it takes 0.8 to 1.04 of its time. On a host without AVX-512 row blocks are
/// also left where the columns of a chunk lie more than 1024 apart: reads of x then leave the first
/// cache, and blocks wait for them longer than rows do. Ordered sums depend on the format, so name
/// `kind` where they must not depend on where they are computed. Fences `exec`. Determinism:
/// backend_to_backend, of one kind.
///
/// \param[in] a  valid, its rows ascending
/// \throws iso::invalid_argument  arrays whose lengths disagree
template <execution_space Exec, class Value, column_index Column>
format_report choose_format(Exec const& exec,
                            csr_view<Value, Column, typename Exec::memory_space> const& a,
                            processor kind = processor_of<Exec>());

}  // namespace iso::sparse
