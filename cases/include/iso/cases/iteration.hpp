// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/iteration.hpp
//! Runs iterative reconstruction.
#pragma once

#include <iso/cases/inputs.hpp>
#include <iso/cases/operation.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/oracle/iterations.hpp>

#include <cstdint>
#include <functional>

namespace iso::cases {

/// Gives the exact iterate of a scan and its readings.
using answer = std::function<oracle::numbers(oracle::linear_pair const&, oracle::numbers const&)>;

/// A few iterations of `Method` from the readings of a scan, made anew in every run.
template <class T, template <class, class> class Method, class Options>
struct iteration_case {
  input_projections readings;
  ct::geometry scan;
  grid volume;
  Options options;
  std::int64_t steps;
  std::int64_t made_before;  ///< projections and adjoints before the first iteration
  answer exact;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const pixels = readings.on<T>(exec, scan);
    auto const with = *this;
    return {volume.size(),
            [=](Exec const& on, variant const& how, T* out) {
              auto chosen = with.options;
              chosen.projector.shape.groups_per_launch = how.groups;
              auto const x = wrap_volume<space>(out, with.volume);
              Kokkos::deep_copy(on, x.data, T(0));
              Method<Exec, T> method(on, with.scan, pixels, x, chosen);
              ct::iterate(method, {.iterations = with.steps});
              on.fence("iso::cases: the method may go");
            },
            iteration_work<T>(double(made_before + 2 * steps), scan, volume),
            [=](std::int64_t) {
              auto const host = fetch(exec, pixels.data);
              return with.exact({with.scan, with.volume}, {host.begin(), host.end()});
            }};
  }
};

template <class T>
struct sart_case : iteration_case<T, ct::sart, ct::sart_options> {};
template <class T>
struct cgls_case : iteration_case<T, ct::cgls, ct::cgls_options> {};
template <class T>
struct lsqr_case : iteration_case<T, ct::lsqr, ct::lsqr_options> {};
template <class T>
struct mlem_case : iteration_case<T, ct::mlem, ct::mlem_options> {};
template <class T>
struct total_variation_case : iteration_case<T, ct::total_variation, ct::total_variation_options> {
};

}  // namespace iso::cases
