// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/catalogue.hpp
//! Holds all operations. A new one is a case and a line in the src/AREA.cpp of its area.
#pragma once

#include <iso/cases/operation.hpp>
#include <iso/cases/table.hpp>

#include <utility>
#include <vector>

namespace iso::cases {

struct catalogue {
  std::vector<operation> operations;   ///< small, to compare bits: every public function is in one
  std::vector<sized_operation> sized;  ///< large, to measure

  /// Adds a line in float and in double: Case<T>{arguments...}.
  template <template <class> class Case, class... Arguments>
  void add(operation_text const& text, Arguments const&... arguments) {
    auto& line = operations.emplace_back(text);
    line.take(Case<float>{arguments...});
    line.take(Case<double>{arguments...});
  }
  /// Adds a line of what only double computes.
  template <template <class> class Case, class... Arguments>
  void add_double(operation_text const& text, Arguments const&... arguments) {
    operations.emplace_back(text).take(Case<double>{arguments...});
  }
  template <class F>
  void add_sized(sized_text const& text, F const& prepare) {
    sized.emplace_back(text, prepare);
  }
};

/// Returns all cases, made once in a program's life.
catalogue const& all_cases();

/// Adds a part of the catalogue, each in its src/AREA.cpp.
void add_loops(catalogue& all);
void add_core(catalogue& all);
void add_rays(catalogue& all);
void add_readings(catalogue& all);
void add_projections(catalogue& all);
void add_back_projections(catalogue& all);
void add_reconstructions(catalogue& all);
void add_iterations(catalogue& all);
void add_dose(catalogue& all);
void add_dvh(catalogue& all);
void add_gamma(catalogue& all);
void add_matrices(catalogue& all);
void add_products(catalogue& all);

}  // namespace iso::cases
