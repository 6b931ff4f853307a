// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/store.hpp
//! Holds what the sources of iso_bench_spmv share: the matrix that the present rows are about, kept
//! from row to row, the peers on it, and the parts of the program.
#pragma once

#include "sparse/matrices.hpp"
#include "sparse/peer.hpp"
#include "sparse/rows.hpp"

#include <iso/backend/backends.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace iso::perf {

/// One matrix a backend at a time; made when first asked for, gone with the next or with
/// Kokkos.
template <class Exec>
class matrix_store {
 public:
  /// Returns the problem of A x or, with the transposed matrix written out, of A^T y.
  static product_problem<Exec> const& problem(matrix_source const& source, way direction) {
    auto& self = instance();
    if (self.name_ != source.name) {
      self.clear();
      self.problems_[way::forward] =
          std::make_unique<product_problem<Exec>>(Exec(), make_matrix(Exec(), source));
      self.name_ = source.name;
    }
    auto& found = self.problems_[direction];
    if (!found) {
      auto const& a = self.problems_[way::forward]->matrix;
      found = std::make_unique<product_problem<Exec>>(Exec(), sparse::transpose(Exec(), a));
    }
    return *found;
  }

  /// Returns the library of choice here, in float or double, on that problem. Call `problem` first.
  static peer const& reference_peer(way direction, number values) {
    auto& found = instance().peers_[{direction, values}];
    if (!found) {
      found = std::make_unique<peer>(
          make_reference_peer(Exec(), *instance().problems_[direction], values));
    }
    return *found;
  }

 private:
  static matrix_store& instance() {
    static matrix_store one;
    static bool const registered = [] {
      Kokkos::push_finalize_hook([] { one.clear(); });
      return true;
    }();
    (void)registered;
    return one;
  }

  void clear() {
    peers_.clear();
    problems_.clear();
    name_.clear();
  }

  std::string name_;
  std::map<way, std::unique_ptr<product_problem<Exec>>> problems_;
  std::map<std::pair<way, number>, std::unique_ptr<peer>> peers_;
};

/// Making, checking and turning matrices: bench_formats.cpp.
template <class Exec>
void add_conversion_rows(matrix_source const& source, std::string const& backend);

/// Adds rows on other libraries: bench_peers.cpp.
template <class Exec>
void add_peer_rows(matrix_source const& source, std::string const& backend);

/// Formats beside plain CSR, and the one that choose_format takes: bench_formats.cpp.
template <class Exec>
void add_choice_rows(matrix_source const& source, std::string const& backend);

#if ISO_HAS_CUDA
/// Adds rows on products by hand and the sweep of their block sizes: bench_raw.cpp.
void add_raw_rows(matrix_source const& source);
void add_configuration_rows(matrix_source const& source);
#endif

}  // namespace iso::perf
