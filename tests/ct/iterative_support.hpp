// SPDX-License-Identifier: BSD-3-Clause
//! Runs an iterative method from readings in double, in float or double.
#pragma once

#include <iso/ct/iterate.hpp>
#include <iso/ct/projector_pair.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace iso::test {

template <class T>
struct run {
  std::vector<double> x;
  std::vector<ct::iteration> history;
};

template <template <class, class> class Method, class T, class Options>
run<T> run_of(ct::geometry const& g, std::vector<double> const& readings, Options const& options,
              ct::stopping_rules const& rules, grid const& volume, double start = 0) {
  using host = Kokkos::HostSpace;
  using exec = Kokkos::Serial;
  auto const x = make_volume<T, host>("x", volume);
  Kokkos::deep_copy(x.data, T(start));
  auto const b = make_projections<T, host>("b", g.num_views(), g.num_u(), g.num_v());
  std::transform(readings.begin(), readings.end(), b.data.data(), [](double r) { return T(r); });
  Method<exec, T> method(exec(), g, projection_view<T const, host>(b), x, options);
  auto history = ct::iterate(method, rules);
  return {{x.data.data(), x.data.data() + x.data.size()}, std::move(history)};
}

}  // namespace iso::test
