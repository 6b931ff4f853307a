// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/formats.hpp
//! Describes what a matrix costs in each format, and which format is the fastest.
#pragma once

#include <iso/backend/host_vectors.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/job.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/matrix_options.hpp>

#include <cstdint>
#include <string_view>

namespace iso::sparse {

/// Returns the enumerator's name. Determinism: backend_to_backend.
/// \throws iso::invalid_argument  none of the enumeration
std::string_view to_string(matrix_format format);

/// Returns what `a`, valid and its rows ascending, would cost in a format; csr16 whether or not its
/// rows are narrow enough. Fences `exec`; does not allocate. Asks `control` as the functions of
/// iso/sparse/convert.hpp do. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  row blocks of values that do not have 16 bits; arrays whose
///                                lengths disagree; a format that is none of its enumeration
/// \throws iso::cancelled
template <execution_space Exec, class Value, column_index Column>
format_report measure_format(Exec const& exec,
                             csr_view<Value, Column, typename Exec::memory_space> const& a,
                             matrix_format format, job const& control = {});

/// Returns the processor of an execution space on this machine. Determinism: run_to_run.
template <execution_space Exec>
processor processor_of() {
  if constexpr (backend::is_device<Exec>) {
    return processor::device;
  } else {
    return backend::host_vector_bytes() == 64 ? processor::avx512_host : processor::host;
  }
}

/// Estimates how long a product in a format takes, per entry, by the formulas of
/// docs/algorithms/dose_matrices.md. Only the ratio of two costs on one kind of processor means
/// something. Determinism: backend_to_backend.
/// \throws iso::invalid_argument  a format or a processor that is none of its enumeration
double product_cost(format_report const& format, processor kind);

/// Returns the format that a product should be fastest in on this kind of processor: of csr32 and,
/// for values of 16 bits, row blocks and csr16 where no row is wider than 65535 columns the one
/// with the smallest product_cost, by the rules of docs/algorithms/dose_matrices.md. Ordered sums
/// depend on the format, so name `kind` where they must not depend on where they are computed.
/// Fences `exec`; allocates for a while what `validate` does. Asks `control` likewise. Determinism:
/// backend_to_backend, of one kind.
///
/// \param[in] a  valid, its rows ascending
/// \throws iso::invalid_argument  arrays whose lengths disagree; a processor that is none of its
///                                enumeration
/// \throws iso::cancelled
template <execution_space Exec, class Value, column_index Column>
format_report choose_format(Exec const& exec,
                            csr_view<Value, Column, typename Exec::memory_space> const& a,
                            processor kind = processor_of<Exec>(), job const& control = {});

}  // namespace iso::sparse
