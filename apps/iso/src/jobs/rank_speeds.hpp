// SPDX-License-Identifier: BSD-3-Clause
//! Compares ranks that compute on different processors, by what each of them does.
#pragma once

#include <iso/backend/device_facts.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/jobs/ranks.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace iso::jobs {

/// Returns how many projections a second of a small scan `exec` does: the most of three, after one
/// that starts what is to be started.
template <class Exec>
double speed_of(Exec const& exec) {
  auto const box = grid::centred({128, 128, 128}, {1, 1, 1});
  auto const scan =
      ct::circular_cone({128, 128, 1.5, 1.5}, 500, 750, ct::even_angles(32, 2 * std::numbers::pi));
  using space = typename Exec::memory_space;
  auto const volume = make_volume<float, space>(exec, "iso::jobs: volume of a trial", box);
  auto const views = make_projections<float, space>(exec, "iso::jobs: projections of a trial",
                                                    scan.num_views(), scan.num_u(), scan.num_v());
  workspace<space> const work(ct::forward_project_bytes_needed<float>(exec, scan, box));
  auto const staged = ct::stage(exec, scan);
  double least = std::numeric_limits<double>::infinity();
  for (int n = 0; n < 4; ++n) {
    auto const began = std::chrono::steady_clock::now();
    ct::forward_project<Exec, float>(exec, staged, volume, views, work);
    exec.fence("iso::jobs: a trial");
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
    least = n == 0 ? least : std::min(least, took.count());
  }
  return 1 / least;
}

/// Measures, once a run, how fast the ranks are, where they compute on different processors. Ranks
/// on equal ones are not measured: their shares are equal, whatever else keeps a machine busy. All
/// ranks call it.
template <class Exec>
void compare_ranks(Exec const& exec) {
  if (num_ranks() > 1 && !knows_speeds()) {
    auto const facts = backend::facts(exec);
    auto const kinds = numbers_of_ranks(number_of_text(facts.backend + ' ' + facts.processor + ' ' +
                                                       std::to_string(facts.threads)));
    bool const alike = std::equal(kinds.begin() + 1, kinds.end(), kinds.begin());
    // In millionths, as ranks exchange integers.
    learn_speeds(alike ? std::vector<std::uint64_t>()
                       : numbers_of_ranks(std::uint64_t(1e6 * speed_of(exec)) + 1));
  }
}

}  // namespace iso::jobs
