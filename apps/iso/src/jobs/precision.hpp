// SPDX-License-Identifier: BSD-3-Clause
//! Chooses a backend by name, and a precision.
#pragma once

#include "memory.hpp"
#include "rank_speeds.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/ct/streamed_ranked.hpp>
#include <iso/jobs/ranks.hpp>
#include <iso/jobs/session.hpp>
#include <iso/model/number_type.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace iso::jobs {

/// Returns f(exec, T()) on the named backend, T being of that precision.
/// Throws iso::invalid_argument naming the choices.
template <class F>
auto in_precision(std::string const& backend, precision precision, F const& f) {
  ISO_VALIDATE(!to_word(precision).empty(),
               "precision {} (is none of its values); choose one of {}", int(precision),
               all_words<iso::precision>());
  decltype(f(Kokkos::Serial(), float())) result;
  backend::with_name(backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    compare_ranks(exec);
    result = precision == precision::f32 ? f(exec, float()) : f(exec, double());
  });
  return result;
}

/// Throws where ranks share a job with a limit of memory that is of one process alone.
inline void check_unstreamed(std::optional<std::int64_t> const& memory, char const* command) {
  ISO_VALIDATE(num_ranks() == 1 || !memory,
               "{}: --memory on {} processes (each holds its part whole); leave it out, or start "
               "more processes",
               command, num_ranks());
}

/// A filtered backprojection on the ranks that share a job.
template <class T>
struct fdk_on_ranks {
  using host = Kokkos::HostSpace;
  std::function<void(projection_view<T const, host> const&, volume_view<T, host> const&,
                     job const&)>
      apply;
  std::function<ct::streaming_report()> report;
  ct::scan_arc arc;
  ct::detector_placement detector;
};

/// A projection and its adjoint, of which ranks stream their parts; empty: they are not streamed.
struct pairs_on_ranks {
  std::function<ct::ranked(ct::rank_plan const&)> make;
  /// Returns the bytes of the host's memory that a pair takes, those of the device too where it is
  /// the host. All ranks call it together.
  std::function<std::int64_t(ct::rank_plan const&, ct::view_blocks const&,
                             ct::projector_options const&, bool projects)>
      bytes;
};

/// Returns the bytes of the host's memory that streamed calls of a rank take.
template <class Exec>
std::int64_t bytes_on_host(ct::streamed_ranked_bytes const& of, bool projects) {
  return of.staging + (projects ? of.halo : 0) + (backend::is_device<Exec> ? 0 : of.device);
}

/// What the arrays of a job pass through, where they lie in host memory and a limit of bytes of the
/// backend is given; all empty where none is.
template <class T>
struct passing {
  ct::streamed alone;  ///< of a process alone
  pairs_on_ranks pairs;
  /// Returns the bytes of the host's memory that a reconstruction takes, as pairs_on_ranks.
  std::function<std::int64_t(ct::rank_plan const&, ct::fdk_options const&)> fdk_bytes;
  std::function<fdk_on_ranks<T>(ct::rank_plan const&, ct::fdk_options const&)> fdk;
};

/// The calls that a job has streamed.
struct streamed_calls {
  bool forward = false;
  bool adjoint = false;
  bool step = false;

  /// Returns a report of these alone.
  [[nodiscard]] ct::streaming_report of(ct::streaming_report report) const {
    report.forward = forward ? report.forward : ct::streaming_plan();
    report.adjoint = adjoint ? report.adjoint : ct::streaming_plan();
    report.step = step ? report.step : ct::streaming_plan();
    return report;
  }
};

/// Tells `watch` how the calls that a job runs will be streamed, if they are.
/// \param host_bytes  of the machine's memory that the job takes in all
inline void tell_streamed(observer const& watch, std::optional<ct::streaming_report> const& report,
                          streamed_calls const& calls, double host_bytes) {
  if (report && watch.streams) {
    watch.streams(calls.of(*report), whole_bytes(host_bytes));
  }
}

/// Returns all views of a scan in one block.
inline ct::view_blocks all_views(ct::geometry const& g) {
  return ct::split_views(g.num_views(), g.num_views(), ct::block_order::sequential);
}

/// Returns what passes through `exec`, within these limits.
template <class T, class Exec>
passing<T> passing_through(Exec const& exec, ct::streaming_options const& limits) {
  passing<T> by;
  if (num_ranks() == 1) {
    by.alone = ct::streamed(exec, limits);
    return by;
  }
  by.pairs.make = [=](ct::rank_plan const& plan) {
    return ct::ranked(exec, sharing_ranks(), plan, limits);
  };
  by.pairs.bytes = [=](ct::rank_plan const& plan, ct::view_blocks const& blocks,
                       ct::projector_options const& options, bool projects) {
    return bytes_on_host<Exec>(ct::streamed_ranked_pair<Exec, T>::bytes_needed(
                                   exec, sharing_ranks(), plan, blocks, options, limits),
                               projects);
  };
  by.fdk_bytes = [=](ct::rank_plan const& plan, ct::fdk_options const& options) {
    return bytes_on_host<Exec>(ct::streamed_ranked_fdk<Exec, T>::bytes_needed(
                                   exec, sharing_ranks(), plan, options, limits),
                               false);
  };
  by.fdk = [=](ct::rank_plan const& plan, ct::fdk_options const& options) {
    auto const made = std::make_shared<ct::streamed_ranked_fdk<Exec, T>>(exec, sharing_ranks(),
                                                                         plan, options, limits);
    return fdk_on_ranks<T>{[=](auto const& p, auto const& x, job const& control) {
                             made->apply(p, x, onto::zero, control);
                           },
                           [=] { return made->streaming(); }, made->filter().arc(),
                           made->filter().detector()};
  };
  return by;
}

/// Returns f(exec, T(), through) likewise, `through` being a passing<T>. With a limit of bytes the
/// arrays lie in host memory, where `exec` works, and pass through the named backend.
/// \param stored  readings come as integers of 16 bits
template <class F>
auto in_precision(std::string const& backend, precision precision,
                  std::optional<std::int64_t> const& memory, bool stored, F const& f) {
  return in_precision(backend, precision, [&](auto const& exec, auto zero) {
    using number = decltype(zero);
    check_limit(exec, memory);
    return memory ? f(Kokkos::DefaultHostExecutionSpace(), zero,
                      passing_through<number>(exec,
                                              {.device_bytes = *memory, .stored_readings = stored}))
                  : f(exec, zero, passing<number>());
  });
}

}  // namespace iso::jobs
