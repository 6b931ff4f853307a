// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "repeats.hpp"
#include "scan.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/core/job.hpp>
#include <iso/gamma/gamma_index.hpp>
#include <iso/jobs/gamma.hpp>

#include <algorithm>
#include <optional>

namespace iso::jobs {
namespace {

std::array<double, 3> position_of_maximum(files::host_volume const& v) {
  auto const at =
      std::int64_t(std::max_element(v.values.begin(), v.values.end()) - v.values.begin());
  std::int64_t const row = at / v.extent[2];
  return {v.origin[0] + double(row / v.extent[1]) * v.spacing[0],
          v.origin[1] + double(row % v.extent[1]) * v.spacing[1],
          v.origin[2] + double(at % v.extent[2]) * v.spacing[2]};
}

template <class Exec>
gamma_result run(Exec const& exec, gamma_request const& request, observer const& watch) {
  using space = typename Exec::memory_space;
  auto const& options = request.options;
  grid const r = make_grid(request.reference);
  grid const e = make_grid(request.evaluated);
  validate(r, "iso gamma");
  validate(e, "iso gamma");
  // Doses; gamma and status of the points.
  double const wanted =
      double(r.size()) * (sizeof(float) * (1.0 + double(request.criteria.size())) + 1.0) +
      double(e.size()) * sizeof(float) +
      double(gamma::gamma_plan<float, space>::bytes_needed(r, e, request.criteria, options));
  gamma_result result;
  watch.step(0, "preparing");
  guard_memory(
      exec, wanted < 0x1p62 ? std::int64_t(wanted) : std::int64_t(1) << 62, "iso gamma", [&] {
        auto const reference = files::make_volume_view<float>(exec, request.reference);
        auto const evaluated = files::make_volume_view<float>(exec, request.evaluated);
        std::optional<gamma::gamma_plan<float, space>> plan;
        auto const make_plan = [&] {
          plan.reset();  // its memory, before there is more
          plan.emplace(exec, reference, evaluated, request.criteria, options);
        };
        make_plan();
        result.reference_maximum = plan->reference_maximum();
        result.cut_off_dose = plan->cut_off_dose();
        ISO_VALIDATE(plan->cut_off_dose() <= plan->reference_maximum(),
                     "iso gamma: no reference dose reaches the cut-off of {} (the largest is {}); "
                     "lower the cut-off",
                     options.cut_off * (options.normalise == gamma::normalisation::given
                                            ? options.given_dose
                                            : plan->reference_maximum()),
                     plan->reference_maximum());
        gamma::gamma_values<float, space> const values(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::gamma"),
            request.criteria.size(), std::size_t(r.extent[0]), std::size_t(r.extent[1]),
            std::size_t(r.extent[2]));
        gamma::status_values<space> const status(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::status"),
            std::size_t(r.extent[0]), std::size_t(r.extent[1]), std::size_t(r.extent[2]));
        exec.fence("iso::jobs::gamma: data are in place");
        watch.step(0, "comparing");
        job const control{[&](double fraction) {
                            if (watch.progress) {
                              watch.progress(0.9 * fraction, "comparing");
                            }
                          },
                          watch.cancelled};
        result.seconds =
            seconds_of(exec, [&] { gamma::gamma_index(exec, *plan, values, status, control); });
        watch.step(0.9, "counting");
        result.criteria = gamma::summarise(exec, *plan, values, status, request.summary);
        auto const numbers = fetch(exec, values);
        result.hash = hash_text(hash_bits<float>(numbers));
        result.gamma.extent = request.reference.extent;
        result.gamma.spacing = request.reference.spacing;
        result.gamma.origin = request.reference.origin;
        result.gamma.unit = "1";
        result.status = result.gamma;
        result.gamma.values.assign(numbers.begin(), numbers.begin() + std::ptrdiff_t(r.size()));
        for (auto const one : fetch(exec, status)) {
          result.status.values.push_back(float(one));
        }
        result.repeats = repeat(exec, request.repeats, watch, [&](job const& asked) {
          make_plan();
          gamma::gamma_index(exec, *plan, values, status, asked);
        });
        return 0;
      });
  result.maximum_position = position_of_maximum(request.reference);
  watch.step(1, "done");
  return result;
}

}  // namespace

gamma_result compare_doses(gamma_request const& request, observer const& watch) {
  gamma_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    result = run(exec, request, watch);
  });
  return result;
}

}  // namespace iso::jobs
