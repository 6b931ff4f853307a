// SPDX-License-Identifier: BSD-3-Clause
// Two doses compared on ranks: gamma, status and summaries of the whole, with ranks of different
// backends.
#include "gamma_support.hpp"
#include "kokkos_events.hpp"
#include "planes_support.hpp"

#include <iso/core/error.hpp>
#include <iso/gamma/ranked_gamma.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gamma_of_ranks {
namespace {

using namespace gamma_support;
using gamma_support::host_volume;
using iso::slab;
using iso::gamma::ranked_gamma;
using iso::test::difference;
using iso::test::planes_of;
using ranks_support::all_ranks;
using ranks_support::divisions;
using ranks_support::on_host;
using ranks_support::part_of;
using ranks_support::refusal_of_all;
using ranks_support::with_backend_of_rank;

struct comparison {
  grid reference;
  grid evaluated;
  std::vector<criterion> criteria;
  gamma_options options;
};

/// Grids that differ in everything, and doses on one grid, by each of the searches.
std::vector<comparison> comparisons() {
  grid const r{{6, 5, 13}, {2.5, 2, 2}, {-9, -6, -15}};
  grid const e{{8, 7, 17}, {2, 2.25, 1.7}, {-8, -7, -14}};
  std::vector<criterion> const criteria{{0.03, 3}, {0.02, 2}};
  std::vector<comparison> all;
  for (auto const between :
       {interpolation::trilinear, interpolation::tetrahedra, interpolation::grid_points}) {
    gamma_options options;
    options.between = between;
    options.cut_off = 0.2;
    all.push_back({r, e, criteria, options});
    options.normalise = normalisation::local;
    options.max_gamma = 3;
    all.push_back({r, r, criteria, options});
  }
  return all;
}

template <class T>
host_volume<T> rough_hill(grid const& g, double aside, std::uint64_t seed) {
  return dose_of<T>(g, [&](double x, double y, double z) {
    return hill(x - aside, y, z + aside) * (1 + 0.05 * noise(seed++));
  });
}

void check_summaries(std::vector<gamma_summary> const& found,
                     std::vector<gamma_summary> const& one) {
  REQUIRE(found.size() == one.size());
  for (std::size_t k = 0; k < one.size(); ++k) {
    auto const& a = found[k];
    auto const& b = one[k];
    CHECK(difference(std::vector{a.pass_rate, a.largest, a.mean, a.bin_width},
                     std::vector{b.pass_rate, b.largest, b.mean, b.bin_width}) == "");
    CHECK(std::vector{a.below_cut_off, a.compared, a.passed, a.outside, a.outside_passed} ==
          std::vector{b.below_cut_off, b.compared, b.passed, b.outside, b.outside_passed});
    CHECK(a.histogram == b.histogram);
  }
}

/// Compares on ranks, with what one process found.
template <class T, class Exec>
void check_ranks(Exec const& exec, comparison const& c, host_volume<T> const& reference,
                 host_volume<T> const& evaluated, std::vector<slab> const& of_reference,
                 std::vector<slab> const& of_evaluated, found<T> const& one) {
  auto const here = std::size_t(all_ranks().rank());
  slab const own = of_reference[here];
  ranked_gamma<Exec, T> ranked(exec, all_ranks(), part_of(exec, reference, own),
                               part_of(exec, evaluated, of_evaluated[here]), of_reference,
                               of_evaluated, c.criteria, c.options);
  auto const gamma = ranked.make_gamma("gamma");
  auto const status = ranked.make_status("status");
  ranked.apply(gamma, status);
  std::vector<T> expected;
  auto const points = std::ptrdiff_t(c.reference.size());
  for (std::size_t k = 0; k < c.criteria.size(); ++k) {
    auto const from = one.gamma.begin() + std::ptrdiff_t(k) * points;
    auto const some = planes_of(std::vector<T>(from, from + points), c.reference, own);
    expected.insert(expected.end(), some.begin(), some.end());
  }
  CHECK(difference(on_host(gamma), expected) == "");
  CHECK(on_host(status) == planes_of(one.status, c.reference, own));
  check_summaries(ranked.summarise(gamma, status), one.summaries);
}

}  // namespace

TEST_CASE_TEMPLATE("ranked_gamma: gamma, status and summaries are those of one process", T, float,
                   double) {
  int turn = 0;
  for (comparison const& c : comparisons()) {
    CAPTURE(turn);
    auto const reference = rough_hill<T>(c.reference, 0, 0);
    auto const evaluated = rough_hill<T>(c.evaluated, 1, 1 << 20);
    auto const one = gamma_of<T>(reference, evaluated, c.criteria, c.options);
    auto const of_reference = divisions(c.reference, all_ranks().size());
    auto const of_evaluated = divisions(c.evaluated, all_ranks().size());
    for (std::size_t n = 0; n < of_reference.size(); ++n) {
      with_backend_of_rank(++turn, [&](auto const& exec) {
        check_ranks<T>(exec, c, reference, evaluated, of_reference[n],
                       of_evaluated[(n + std::size_t(turn / 5)) % of_evaluated.size()], one);
      });
    }
  }
}

TEST_CASE("ranked_gamma: what is sent are the planes within reach that others own") {
  Kokkos::Serial const exec;
  int const size = all_ranks().size();
  int const here = all_ranks().rank();
  grid const g{{4, 5, 24}, {2, 2, 2}, {0, 0, 0}};
  auto const dose = rough_hill<float>(g, 0, 0);
  auto const planes = iso::divide_planes(g, size);
  auto const own = planes[std::size_t(here)];
  std::vector<criterion> const criteria{{0.03, 2}};
  ranked_gamma<Kokkos::Serial, float> const ranked(exec, all_ranks(), part_of(exec, dose, own),
                                                   part_of(exec, dose, own), planes, planes,
                                                   criteria);
  std::int64_t sent = 0;
  for (int rank = 0; rank < size; ++rank) {
    auto const needed = planes_needed(g, g, planes[std::size_t(rank)], criteria);
    for (std::int64_t z = own.first; z < own.last; ++z) {
      sent += rank != here && needed.holds(z) ? 4 * 5 * 4 : 0;
    }
  }
  CHECK(ranked.report().bytes_sent == sent);
  CHECK((sent > 0) == (size > 1));
  std::int64_t said = 0;
  auto const reference = part_of(exec, dose, own);
  auto const taken = iso::test::peak_bytes_of([&] {
    ranked_gamma<Kokkos::Serial, float> const one(exec, all_ranks(), reference, reference, planes,
                                                  planes, criteria);
    said = one.report().bytes_held;
  });
  CHECK(said > 0);
  ranks_support::check_share(taken, said);
  CHECK(ranked.planes() == own);
  CHECK(ranked.reference_maximum() ==
        bounds_of(exec, host_volume<float const>{g, dose.data}).largest);
  CHECK(ranked.cut_off_dose() > 0);
}

TEST_CASE("ranked_gamma: refusals are of all ranks") {
  Kokkos::Serial const exec;
  int const size = all_ranks().size();
  int const here = all_ranks().rank();
  grid const g{{4, 5, 24}, {2, 2, 2}, {0, 0, 0}};
  auto const dose = rough_hill<float>(g, 0, 0);
  auto const planes = iso::divide_planes(g, size);
  auto const own = part_of(exec, dose, planes[std::size_t(here)]);
  std::vector<criterion> const criteria{{0.03, 2}};
  using ranked_type = ranked_gamma<Kokkos::Serial, float>;
  auto const made = [&](auto const& evaluated, std::vector<slab> const& by, gamma_options const& o,
                        std::vector<criterion> const& c) {
    return refusal_of_all(
        [&] { ranked_type(exec, all_ranks(), own, evaluated, planes, by, c, o); });
  };
  CHECK(made(own, iso::divide_planes(g, size + 1), {}, criteria)
            .find("iso::gamma::ranked_gamma: a plan for") == 0);
  CHECK(made(own, planes, {.max_gamma = 0.5}, criteria).find("iso::gamma::gamma_plan") == 0);
  CHECK(made(own, planes, {}, {}) != "a rank goes on");
  auto gap = planes;
  gap.back().last -= 1;
  CHECK(made(own, gap, {}, criteria) != "a rank goes on");
  auto const empty = rough_hill<float>(g, 0, 0);
  Kokkos::deep_copy(empty.data, 0.0F);
  CHECK(refusal_of_all([&] {
          auto const none = part_of(exec, empty, planes[std::size_t(here)]);
          ranked_type(exec, all_ranks(), none, own, planes, planes, criteria);
        }).find("iso::gamma::gamma_plan: the largest reference dose is 0") == 0);
  if (size > 1) {
    CHECK(made(own, planes, {}, {{0.03, here == 0 ? 2.0 : 2.5}})
              .find("iso::gamma::ranked_gamma: ranks with different grids") == 0);
    auto const whole = part_of(exec, dose, iso::all_planes(g));
    CHECK(made(here == 1 ? whole : own, planes, {}, criteria)
              .find(here == 1 ? "iso::gamma::ranked_gamma: evaluated planes 0 to 23"
                              : "iso::gamma::ranked_gamma: another rank stopped here") == 0);
    // A dose that is not a number on one rank.
    auto const bad = rough_hill<float>(g, 0, 0);
    bad.data(1, 2, 23) = std::numeric_limits<float>::quiet_NaN();
    CHECK(made(part_of(exec, bad, planes[std::size_t(here)]), planes, {}, criteria)
              .find(here + 1 == size ? "iso::gamma::bounds_of"
                                     : "iso::gamma::ranked_gamma: another rank stopped here") == 0);
  }
  ranked_type ranked(exec, all_ranks(), own, own, planes, planes, criteria);
  auto const status = ranked.make_status("status");
  iso::gamma::gamma_values<float, Kokkos::HostSpace> const wrong("wrong", 2, 4, 5, 24);
  CHECK(refusal_of_all([&] { ranked.apply(wrong, status); }) != "a rank goes on");
  auto const gamma = ranked.make_gamma("gamma");
  bool const last = here + 1 == size;
  CHECK_THROWS_AS(ranked.apply(gamma, status, {{}, [&] { return last; }}), iso::cancelled);
  ranked.apply(gamma, status);
  {
    // The last rank has no plane.
    std::vector<slab> idle(std::size_t(size), slab{24, 24});
    idle[0] = {0, 24};
    ranked_type one(exec, all_ranks(), part_of(exec, dose, idle[std::size_t(here)]),
                    part_of(exec, dose, idle[std::size_t(here)]), idle, idle, criteria);
    CHECK_THROWS_AS(
        one.apply(one.make_gamma("gamma"), one.make_status("status"), {{}, [&] { return last; }}),
        iso::cancelled);
  }
  if (size > 1) {
    CHECK(refusal_of_all([&] {
            static_cast<void>(ranked.summarise(gamma, status, {.bins = here == 0 ? 10 : 20}));
          }).find("iso::gamma::ranked_gamma: ranks with different summary options") == 0);
  }
  CHECK(ranked.summarise(gamma, status).front().pass_rate == 1);
}

}  // namespace gamma_of_ranks
