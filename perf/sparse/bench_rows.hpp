// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/bench_rows.hpp
//! The parts of iso_bench_spmv, each a source of its own.
#pragma once

#include "sparse/matrices.hpp"

#include <iso/backend/backends.hpp>

#include <string>

namespace iso::perf {

/// Making, checking and turning matrices: bench_conversions.cpp.
template <class Exec>
void add_conversion_rows(matrix_source const& source, std::string const& backend);

/// Other libraries: bench_peers.cpp.
template <class Exec>
void add_peer_rows(matrix_source const& source, std::string const& backend);

/// Formats beside plain CSR, and the one that choose_format takes: bench_choice.cpp.
template <class Exec>
void add_choice_rows(matrix_source const& source, std::string const& backend);

#if ISO_HAS_CUDA
/// Products by hand and the sweep of their block sizes: bench_raw.cpp.
void add_raw_rows(matrix_source const& source);
void add_configuration_rows(matrix_source const& source);
#endif

}  // namespace iso::perf
