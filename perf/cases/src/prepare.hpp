// SPDX-License-Identifier: BSD-3-Clause
//! How the operations of one area are made ready, each in its prepare_AREA.cpp.
#pragma once

#include <iso/cases/table.hpp>

#include <Kokkos_Core.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace iso::cases {

template <class Exec>
ready prepare_loop(Exec const& exec, point const& p);
template <class Exec>
ready prepare_projection(Exec const& exec, point const& p);
template <class Exec>
ready prepare_reconstruction(Exec const& exec, point const& p);
template <class Exec>
ready prepare_dose(Exec const& exec, point const& p);
template <class Exec>
ready prepare_paths(Exec const& exec, point const& p);
template <class Exec>
ready prepare_product(Exec const& exec, point const& p);

/// Instantiates one of them for every backend.
#define ISO_PREPARE_ON(Exec, function) template ready function(Exec const&, point const&);

/// The numbers of a view, in the order they lie.
template <class Exec, class View>
result_values values_of(Exec const& exec, View const& view) {
  exec.fence("iso::cases: the result is there");
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  using T = typename View::non_const_value_type;
  return std::vector<T>(host.data(), host.data() + host.size());
}

}  // namespace iso::cases
