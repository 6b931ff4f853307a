// SPDX-License-Identifier: BSD-3-Clause
//! \file  sparse/store.hpp
//! The matrix that the present rows are about, kept from row to row, and the peers on it.
#pragma once

#include "sparse/matrices.hpp"
#include "sparse/peer.hpp"
#include "sparse/rows.hpp"

#include <map>
#include <memory>
#include <utility>

namespace iso::perf {

/// One matrix a backend at a time; made when first asked for, gone with the next or with Kokkos.
template <class Exec>
class matrix_store {
 public:
  /// The problem of A x or, with the transposed matrix written out, of A^T y.
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

  /// The library of choice here, in float or double, on that problem. Call `problem` first.
  static peer const& reference_peer(way direction, number values) {
    auto& found = instance().peers_[{direction, values}];
    if (!found) {
      found = std::make_unique<peer>(
          make_reference_peer(Exec(), *instance().problems_[direction], values));
    }
    return *found;
  }

  /// Frees what other rows left behind.
  static void forget() { instance().clear(); }

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

}  // namespace iso::perf
