// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/convert.hpp
//! Converts a matrix to other columns, other values, or its transpose.
//!
//! Each function asks its iso::job while it works, several times a second as a rule, and throws
//! iso::cancelled as job::step does. What it returns has the same bits with and without.
#pragma once

#include <iso/core/job.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/sparse/matrix_options.hpp>

#include <cstdint>

namespace iso::sparse {

template <class Matrix>
struct converted {
  Matrix matrix;
  value_report report;
};

/// Returns `a` with its values rounded to `To`, to nearest and even; columns and row offsets are
/// copied. Fences `exec`; allocates. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  arrays whose lengths disagree
/// \throws iso::out_of_memory
/// \throws iso::cancelled
template <stored_real To, execution_space Exec, class Value, column_index Column>
converted<csr_view<To, Column, typename Exec::memory_space>> convert_values(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
    row_scaling scaling = row_scaling::none, job const& control = {});

/// Returns `a` with 16-bit columns relative to each row's lowest. Fences `exec`; allocates.
/// Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  with their number: rows whose columns lie more than 65535 apart;
///                                arrays whose lengths disagree
/// \throws iso::out_of_memory
/// \throws iso::cancelled
template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::uint16_t, typename Exec::memory_space>
to_relative_columns(Exec const& exec,
                    csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
                    job const& control = {});

/// Returns `a` with 32-bit columns. Fences `exec`; allocates. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  arrays whose lengths disagree
/// \throws iso::out_of_memory
/// \throws iso::cancelled
template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to_absolute_columns(
    Exec const& exec, csr_view<Value, std::uint16_t, typename Exec::memory_space> const& a,
    job const& control = {});

/// Returns A^T by rows, with 32-bit columns: of every row the entries in the order of a's rows,
/// those of one row of `a` in their order there. `a` must be valid. Fences `exec`; besides the
/// result it takes at most as much scratch as 32-bit columns of `a`, and 64 MiB or 4 bytes a
/// column. By counting, without atomics. Determinism: backend_to_backend.
///
/// \throws iso::invalid_argument  row_scales (they would scale columns: transpose first); arrays
///                                whose lengths disagree
/// \throws iso::out_of_memory
/// \throws iso::cancelled
template <execution_space Exec, class Value, column_index Column>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> transpose(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
    job const& control = {});

}  // namespace iso::sparse
