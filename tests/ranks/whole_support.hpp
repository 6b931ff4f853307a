// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ranks/whole_support.hpp
//! What one memory makes of volumes and readings, with which tests compare ranks.
#pragma once

#include "ranked_support.hpp"

#include <iso/ct/back_project.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/projector_pair.hpp>

#include <algorithm>
#include <vector>

namespace ranks_support {

template <class T>
volume<T> signed_volume(unsigned seed) {
  auto const v = random_volume<T>(whole, seed);
  for (std::size_t n = 0; n < v.data.size(); ++n) {
    v.data.data()[n] -= T(0.5);
  }
  // The largest voxel is another slab's: the unit of sums is the whole's.
  v.data(3, 4, whole.extent[2] - 1) = T(-5.75);
  return v;
}

template <class T>
std::vector<T> adjoint_of_whole(geometry const& scan, std::vector<T> const& pixels,
                                iso::ct::projector_options const& o, iso::onto to) {
  Kokkos::Serial const exec;
  auto const p = iso::make_projections<T, host>("p", scan.num_views(), scan.num_u(), scan.num_v());
  std::copy(pixels.begin(), pixels.end(), p.data.data());
  auto const x = iso::make_volume<T, host>("x", whole);
  Kokkos::deep_copy(x.data, T(0.25));
  iso::ct::back_project_options const options{
      .method = o.method, .edge = o.edge, .within = o.within, .oversampling = o.oversampling};
  iso::workspace<host> const scratch(
      iso::ct::back_project_bytes_needed<T>(exec, scan, whole, options));
  iso::ct::back_project<Kokkos::Serial, T>(exec, iso::ct::stage(exec, scan), p, x, scratch, options,
                                           to);
  return host_vector(x.data);
}

template <class T>
std::vector<T> fdk_of_whole(geometry const& scan, std::vector<T> const& pixels) {
  Kokkos::Serial const exec;
  auto const p = iso::make_projections<T, host>("p", scan.num_views(), scan.num_u(), scan.num_v());
  std::copy(pixels.begin(), pixels.end(), p.data.data());
  auto const x = iso::make_volume<T, host>("x", whole);
  iso::ct::fdk_reconstructor<Kokkos::Serial, T> const reconstructor(exec, scan, whole);
  reconstructor.apply(p, x);
  return host_vector(x.data);
}

inline std::vector<iso::ct::projector_options> all_options() {
  return {{.sum = summation::reproducible},
          {.method = projector::joseph_spline, .sum = summation::reproducible},
          {.method = projector::siddon,
           .sum = summation::reproducible,
           .edge = iso::boundary::truncate,
           .within = region::cylinder,
           .oversampling = 2}};
}

}  // namespace ranks_support
