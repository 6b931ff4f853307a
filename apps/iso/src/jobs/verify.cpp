// SPDX-License-Identifier: BSD-3-Clause
#include "verify_plan.hpp"

#include <iso/jobs/info.hpp>
#include <iso/jobs/session.hpp>

#include <algorithm>

namespace iso::jobs {

report verify(verify_request const& request, observer const& watch) {
  ISO_VALIDATE(!request.backends.empty(), "verify: no backend (choose at least one)");
  ISO_VALIDATE(request.repeats >= 1 && request.repeats <= 1000,
               "verify: {} repetitions (from 1 to 1000)", request.repeats);
  for (int const count : request.threads) {
    ISO_VALIDATE(count >= 1 && count <= 1024, "verify: {} threads (from 1 to 1024)", count);
    if (std::ranges::find(request.backends, "openmp") != request.backends.end()) {
      check_threads(count);
    }
  }
  report result;
  result.machine = info(request.backends, ceilings_wanted::no, {});
  plan all(request, measure_ceilings(result.machine, watch));
  for (auto const add_area : {add_core, add_rays, add_projections, add_back_projections,
                              add_readings, add_reconstruction, add_dose, add_sparse}) {
    add_area(all);
  }
  result.records = all.run(watch);
  result.bits_agree = judge(result.records, request.backends.size());
  return result;
}

}  // namespace iso::jobs
