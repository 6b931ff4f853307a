// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "precision.hpp"
#include "rank_columns.hpp"
#include "rank_speeds.hpp"
#include "repeats.hpp"
#include "scan.hpp"
#include "slabs.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/core/job.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/gamma/gamma_index.hpp>
#include <iso/gamma/ranked_gamma.hpp>
#include <iso/jobs/gamma.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace iso::jobs {
namespace {

/// Returns where a value of a volume lies, mm.
std::array<double, 3> position_of(files::host_volume const& v, std::int64_t at) {
  std::int64_t const row = at / v.extent[2];
  return {v.origin[0] + double(row / v.extent[1]) * v.spacing[0],
          v.origin[1] + double(row % v.extent[1]) * v.spacing[1],
          v.origin[2] + double(at % v.extent[2]) * v.spacing[2]};
}

/// Bytes of a slab of the reference: its dose; gamma and status of its points; the evaluated dose
/// about it, and the plan.
template <class Space>
std::int64_t bytes_of_slab(gamma_request const& request, grid const& r, grid const& e,
                           slab const& own) {
  slab const needed = gamma::planes_needed(r, e, own, request.criteria, request.options);
  double const points = double(r.extent[0]) * double(r.extent[1]) * double(own.count());
  return whole_bytes(points * (sizeof(float) * (1.0 + double(request.criteria.size())) + 1.0) +
                     double(e.extent[0]) * double(e.extent[1]) * double(needed.count()) *
                         sizeof(float) +
                     double(gamma::gamma_plan<float, Space>::bytes_needed(r, e, request.criteria,
                                                                          request.options, own)) +
                     double(request.summary.bins) * sizeof(std::uint64_t));
}

/// Throws unless some point of a comparison is compared.
/// \param plan  of the whole, or of a slab
template <class Plan>
void check_cut_off(gamma_request const& request, Plan const& plan) {
  auto const& options = request.options;
  ISO_VALIDATE(plan.cut_off_dose() <= plan.reference_maximum(),
               "iso gamma: no reference dose reaches the cut-off of {} (the largest is {}); "
               "lower the cut-off",
               options.cut_off * (options.normalise == gamma::normalisation::given
                                      ? options.given_dose
                                      : plan.reference_maximum()),
               plan.reference_maximum());
}

/// Gamma and status of a comparison, and what is counted of them.
template <class Exec>
class comparison {
 public:
  using space = typename Exec::memory_space;

  comparison(Exec const& exec, gamma_request const& request)
      : exec_(exec),
        request_(request),
        r_(make_grid(request.reference)),
        e_(make_grid(request.evaluated)) {
    validate(r_, "iso gamma");
    validate(e_, "iso gamma");
    slabs_ = slabs_within(exec_, r_, request.memory, "iso gamma", [&](slab const& own) {
      return bytes_of_slab<space>(request_, r_, e_, own);
    });
    for (slab const& own : slabs_) {
      report.planes = std::max(report.planes, own.count());
      report.device_bytes =
          std::max(report.device_bytes, bytes_of_slab<space>(request_, r_, e_, own));
    }
    auto const points = std::size_t(r_.size());
    numbers.resize(request.criteria.size() * points);
    status.resize(points);
  }

  /// Finds what must be known of the whole of both doses.
  void find_bounds() {
    Kokkos::DefaultHostExecutionSpace const host;
    of_reference_ = gamma::bounds_of(
        host, wrap_volume<Kokkos::HostSpace>(request_.reference.values.data(), r_));
    of_evaluated_ = gamma::bounds_of(
        host, wrap_volume<Kokkos::HostSpace>(request_.evaluated.values.data(), e_));
  }

  /// Compares slab by slab.
  /// \return  the seconds of the search alone
  double compare(job const& control, gamma_result& result) {
    double seconds = 0;
    gamma::gamma_sums sums(r_, request_.criteria, request_.options, request_.summary);
    for (slab const& own : slabs_) {
      auto const here = place(own);
      auto const plan = plan_of(here);
      result.reference_maximum = plan.reference_maximum();
      result.cut_off_dose = plan.cut_off_dose();
      check_cut_off(request_, plan);
      job const part{[&](double fraction) {
                       if (control.progress) {
                         control.progress((double(own.first) + fraction * double(own.count())) /
                                          double(r_.extent[2]));
                       }
                     },
                     control.cancelled};
      seconds += seconds_of(
          exec_, [&] { gamma::gamma_index(exec_, plan, here.values, here.states, part); });
      sums.add(exec_, plan, here.values, here.states);
      take(here);
    }
    result.criteria = sums.finish();
    return seconds;
  }
  /// Plans and searches once more. A single slab is where it was; others come anew.
  void search(job const& control) {
    for (slab const& own : slabs_) {
      auto const here = place(own);
      gamma::gamma_index(exec_, plan_of(here), here.values, here.states, control);
      exec_.fence("iso::jobs::gamma: the slab may go");
    }
  }

  std::vector<float> numbers;               ///< [criteria, nx, ny, nz]
  std::vector<gamma::point_status> status;  ///< [nx, ny, nz]
  slab_report report;

 private:
  /// A slab of the reference with the evaluated planes about it, and its results.
  struct placed {
    slab own;
    volume_view<float const, space> reference;
    volume_view<float const, space> evaluated;
    gamma::gamma_values<float, space> values;
    gamma::status_values<space> states;
  };
  placed place(slab const& own) {
    if (kept_) {
      return *kept_;
    }
    slab const needed = gamma::planes_needed(r_, e_, own, request_.criteria, request_.options);
    auto const& n = r_.extent;
    placed const here{
        own, bring_planes(exec_, r_, request_.reference.values.data(), own, report),
        bring_planes(exec_, e_, request_.evaluated.values.data(), needed, report),
        allocate<gamma::gamma_values<float, space>>(
            "iso::jobs::gamma", {std::int64_t(request_.criteria.size()), n[0], n[1], own.count()},
            exec_, Kokkos::WithoutInitializing),
        allocate<gamma::status_values<space>>("iso::jobs::status", {n[0], n[1], own.count()}, exec_,
                                              Kokkos::WithoutInitializing)};
    if (slabs_.size() == 1) {
      kept_ = here;
    }
    return here;
  }
  [[nodiscard]] gamma::gamma_plan<float, space> plan_of(placed const& here) const {
    return {exec_,         here.reference, here.evaluated, request_.criteria, request_.options,
            of_reference_, of_evaluated_};
  }
  /// Puts a slab's points among those of the whole.
  void take(placed const& here) {
    slab const own = here.own;
    auto const some = fetch(exec_, here.values);
    auto const some_states = fetch(exec_, here.states);
    std::int64_t const columns = r_.extent[0] * r_.extent[1];
    auto const criteria = std::int64_t(request_.criteria.size());
    for (std::int64_t n = 0; n < criteria * columns; ++n) {
      std::copy_n(some.begin() + n * own.count(), own.count(),
                  numbers.begin() + n * r_.extent[2] + own.first);
    }
    for (std::int64_t n = 0; n < columns; ++n) {
      std::copy_n(some_states.begin() + n * own.count(), own.count(),
                  status.begin() + n * r_.extent[2] + own.first);
    }
    report.bytes_out += std::int64_t(some.size() * sizeof(float) + some_states.size());
  }

  Exec exec_;
  gamma_request const& request_;
  grid r_;
  grid e_;
  std::vector<slab> slabs_;
  gamma::dose_bounds of_reference_;
  gamma::dose_bounds of_evaluated_;
  std::optional<placed> kept_;  ///< a single slab
};

/// Puts gamma and status into a result: of the whole, or of this rank's planes.
/// \param numbers  [criteria, nx, ny, nz], or of the first criterion alone
void keep(gamma_request const& request, std::vector<float> const& numbers,
          std::vector<gamma::point_status> const& status, gamma_result& result) {
  result.gamma.extent = request.reference.extent;
  result.gamma.spacing = request.reference.spacing;
  result.gamma.origin = request.reference.origin;
  result.gamma.unit = "1";
  result.status = result.gamma;
  result.gamma.values.assign(numbers.begin(), numbers.begin() + std::ptrdiff_t(status.size()));
  for (auto const one : status) {
    result.status.values.push_back(float(one));
  }
}

/// Returns some planes of a dose on ranks: read by each, or of the whole that all have read.
std::vector<float> planes_of_rank(backend::communicator& ranks, files::host_volume const& whole,
                                  std::function<std::vector<float>(slab const&)> const& read,
                                  slab const& planes, char const* what) {
  if (!read) {
    check_alike(whole.values, what);
    return cut_columns(whole.values, whole.extent[2], range_of(planes));
  }
  std::vector<float> here;
  iso::detail::check_together(ranks, "iso gamma", [&] { here = read(planes); });
  return here;
}

/// Compares on the ranks that share the job: each has its planes of both doses. Gamma and status
/// come to rank 0, or stay; what is counted comes to all.
template <class Exec>
gamma_result run_on_ranks(Exec const& exec, gamma_request const& request, observer const& watch) {
  backend::communicator& ranks = sharing_ranks();
  check_unstreamed(request.memory, "gamma");
  grid const r = make_grid(request.reference);
  grid const e = make_grid(request.evaluated);
  validate(r, "iso gamma");
  validate(e, "iso gamma");
  auto const evaluated_planes = share_planes(e);
  auto const planes = share_planes(r);
  using space = typename Exec::memory_space;
  using volume = volume_view<float const, space>;
  auto const brought = [&](grid const& g, std::vector<float> const& values, slab const& own) {
    if (own.count() == 0) {
      return volume{g, {}, own.first};
    }
    auto const there = make_slab<float, space>(exec, "iso::jobs::slab", g, own);
    cases::put(exec, there.data, values);
    return volume(there);
  };
  auto const here = std::size_t(ranks.rank());
  slab const own = planes[here];
  double const owned = double(e.extent[0]) * double(e.extent[1]) *
                       double(evaluated_planes[here].count()) * double(sizeof(float));
  check_memory_of_ranks(
      exec,
      whole_bytes(owned + (own.count() > 0 ? double(bytes_of_slab<typename Exec::memory_space>(
                                                 request, r, e, own))
                                           : 0.0)),
      "iso gamma", false);
  gamma_result result;
  auto const take = [&](files::host_volume const& whole, auto const& read, grid const& g,
                        slab const& some, char const* what) {
    auto const values = planes_of_rank(ranks, whole, read, some, what);
    if (&whole == &request.reference) {
      auto const most = largest_value::of(values, some, g.extent[2]).joined(ranks);
      result.maximum_position = position_of(whole, most.at);
    }
    return brought(g, values, some);
  };
  auto const reference = take(request.reference, request.read_reference, r, own, "reference doses");
  auto const evaluated =
      take(request.evaluated, request.read_evaluated, e, evaluated_planes[here], "evaluated doses");
  watch.step(0, "preparing");
  using ranked = gamma::ranked_gamma<Exec, float>;
  auto const make = [&] {
    return std::make_unique<ranked>(exec, ranks, reference, evaluated, planes, evaluated_planes,
                                    request.criteria, request.options);
  };
  auto comparison = make();
  result.reference_maximum = comparison->reference_maximum();
  result.cut_off_dose = comparison->cut_off_dose();
  check_cut_off(request, *comparison);
  auto const values = comparison->make_gamma("iso::jobs::gamma");
  auto const states = comparison->make_status("iso::jobs::status");
  job const control{[&](double fraction) { watch.step(fraction, "comparing"); }, watch.cancelled};
  result.seconds = seconds_of(exec, [&] { comparison->apply(values, states, control); });
  result.criteria = comparison->summarise(values, states, request.summary);
  std::int64_t const columns = r.extent[0] * r.extent[1];
  auto numbers = fetch(exec, values);
  result.hash = hash_text(
      hash_of_planes(ranks, numbers, std::int64_t(request.criteria.size()) * columns, planes));
  numbers.resize(std::size_t(columns * own.count()));  // the first criterion's
  auto const status = fetch(exec, states);
  if (request.keeps_planes) {
    keep(request, numbers, status, result);
    result.planes = own;
  } else {
    keep(request, gather_planes(ranks, numbers, columns, planes),
         gather_planes(ranks, status, columns, planes), result);
  }
  result.repeats = repeat(exec, request.repeats, watch, [&](job const& asked) {
    comparison.reset();  // its memory, before there is more
    comparison = make();
    comparison->apply(values, states, asked);
  });
  watch.step(1, "done");
  return result;
}

template <class Exec>
gamma_result run(Exec const& exec, gamma_request const& request, observer const& watch) {
  if (num_ranks() > 1) {
    return run_on_ranks(exec, request, watch);
  }
  gamma_result result;
  watch.step(0, "preparing");
  comparison<Exec> doses(exec, request);
  guard_memory(exec, doses.report.device_bytes, "iso gamma", [&] {
    doses.find_bounds();
    watch.step(0, "comparing");
    job const control{[&](double fraction) {
                        if (watch.progress) {
                          watch.progress(fraction, "comparing");
                        }
                      },
                      watch.cancelled};
    result.seconds = doses.compare(control, result);
    if (request.memory) {
      result.streamed = doses.report;
    }
    result.hash = hash_text(hash_bits<float>(doses.numbers));
    keep(request, doses.numbers, doses.status, result);
    result.repeats =
        repeat(exec, request.repeats, watch, [&](job const& asked) { doses.search(asked); });
    return 0;
  });
  result.maximum_position =
      position_of(request.reference,
                  largest_value::of(request.reference.values, {0, request.reference.extent[2]},
                                    request.reference.extent[2])
                      .at);
  watch.step(1, "done");
  return result;
}

}  // namespace

gamma_result compare_doses(gamma_request const& request, observer const& watch) {
  gamma_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    compare_ranks(exec);
    result = run(exec, request, watch);
  });
  return result;
}

}  // namespace iso::jobs
