// SPDX-License-Identifier: BSD-3-Clause
//! Chooses backend and precision by name.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>

#include <string>

namespace iso::jobs {

/// Returns f(exec, T()) on the named backend, T being the precision of that name.
/// Throws iso::invalid_argument naming the choices.
template <class F>
auto in_precision(std::string const& backend, std::string const& precision, F const& f) {
  ISO_VALIDATE(precision == "float" || precision == "double",
               "precision '{}' is not known (there are two); choose float or double", precision);
  decltype(f(Kokkos::Serial(), float())) result;
  backend::with_name(backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    result = precision == "float" ? f(exec, float()) : f(exec, double());
  });
  return result;
}

}  // namespace iso::jobs
