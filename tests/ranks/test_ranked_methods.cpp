// SPDX-License-Identifier: BSD-3-Clause
// Iterative methods on ranks: every iterate and every figure has the bits of one memory, for every
// plan, with ranks of different backends.
#include "kokkos_events.hpp"
#include "ranked_support.hpp"

#include <iso/core/error.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace ranks_support;
using iso::ct::projector_options;
using iso::test::refusal;

/// What a method is given, of the whole.
template <class T>
struct inputs {
  geometry scan;
  std::vector<T> readings;
  std::vector<T> start;
  std::vector<T> voxel_mask;    ///< may be empty
  std::vector<T> reading_mask;  ///< may be empty
};

template <class T>
inputs<T> inputs_of(geometry const& scan, projector_options const& options, bool masked) {
  auto const body = random_volume<T>(whole, 4);
  auto const p = iso::make_projections<T, host>("p", scan.num_views(), scan.num_u(), scan.num_v());
  iso::ct::projector_pair<Kokkos::Serial, T>({}, scan, whole, options).forward(0, body, p);
  inputs<T> in{scan, host_vector(p.data), std::vector<T>(std::size_t(whole.size()), T(0)), {}, {}};
  if (masked) {
    for (std::size_t i = 0; i < in.start.size(); ++i) {
      in.voxel_mask.push_back(i % 7 == 3 || i % 37 == 20 ? T(0) : T(1));
      in.start[i] = T(0.125) * T(i % 3);
    }
    for (std::size_t i = 0; i < in.readings.size(); ++i) {
      in.reading_mask.push_back(i % 11 == 5 ? T(0) : T(1));
    }
  }
  return in;
}

/// What a method found.
template <class T>
struct found {
  std::vector<T> x;
  std::vector<iso::ct::iteration> history;
};

template <class Method, class View, class Volume, class T>
found<T> run(auto const& exec, inputs<T> const& in, View const& p, Volume const& x,
             auto const& options, auto const& masks, iso::ct::elsewhere const& through) {
  Method method(exec, in.scan, p, x, options, masks, {}, through);
  auto history = iso::ct::iterate(method, {.iterations = 3});
  return {host_vector(x.data), history};
}

template <template <class, class> class Method, class T>
found<T> in_one_memory(inputs<T> const& in, auto const& options) {
  Kokkos::Serial const exec;
  auto const& g = in.scan;
  auto const p = iso::make_projections<T, host>("p", g.num_views(), g.num_u(), g.num_v());
  auto const x = iso::make_volume<T, host>("x", whole);
  fill(exec, p.data, in.readings);
  fill(exec, x.data, in.start);
  iso::ct::iterative_masks<T, host> masks;
  if (!in.voxel_mask.empty()) {
    auto const voxels = iso::make_volume<T, host>("mask", whole);
    auto const rays = iso::make_projections<T, host>("mask", g.num_views(), g.num_u(), g.num_v());
    fill(exec, voxels.data, in.voxel_mask);
    fill(exec, rays.data, in.reading_mask);
    masks = {voxels.data, rays.data};
  }
  return run<Method<Kokkos::Serial, T>>(exec, in, p, x, options, masks, {});
}

template <template <class, class> class Method, class T, class Exec>
found<T> on_ranks(Exec const& exec, inputs<T> const& in, auto const& options,
                  rank_plan const& plan) {
  int const here = all_ranks().rank();
  auto const p = iso::ct::make_projections_part<T>(exec, "p", plan, here);
  auto const x = iso::ct::make_volume_part<T>(exec, "x", plan, here);
  fill(exec, p.data, rows_of(in.readings, in.scan, plan.rows(here)));
  fill(exec, x.data, planes_of(in.start, whole, plan.planes(here)));
  iso::ct::iterative_masks<T, typename Exec::memory_space> masks;
  if (!in.voxel_mask.empty()) {
    auto const voxels = iso::ct::make_volume_part<T>(exec, "mask", plan, here);
    auto const rays = iso::ct::make_projections_part<T>(exec, "mask", plan, here);
    fill(exec, voxels.data, planes_of(in.voxel_mask, whole, plan.planes(here)));
    fill(exec, rays.data, rows_of(in.reading_mask, in.scan, plan.rows(here)));
    masks = {voxels.data, rays.data};
  }
  return run<Method<Exec, T>>(exec, in, p, x, options, masks,
                              iso::ct::ranked(exec, all_ranks(), plan));
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Compares a method on ranks, of some plans, with one memory.
template <template <class, class> class Method, class T>
void check_method(inputs<T> const& in, auto const& options, int& turn) {
  auto const expected = in_one_memory<Method>(in, options);
  CHECK(expected.history.back().residual < expected.history.front().residual);
  auto const all = plans(all_ranks().size());
  rank_plan const plan(in.scan, whole, all[std::size_t(turn) % all.size()]);
  CAPTURE(turn);
  with_backend_of_rank(++turn, [&](auto const& exec) {
    auto const now = on_ranks<Method>(exec, in, options, plan);
    CHECK(difference(planes_of(expected.x, whole, plan.planes(all_ranks().rank())), now.x) == "");
    REQUIRE(now.history.size() == expected.history.size());
    for (std::size_t n = 0; n < now.history.size(); ++n) {
      CHECK(now.history[n].residual == expected.history[n].residual);
      CHECK(now.history[n].relative_residual == expected.history[n].relative_residual);
      CHECK(same(now.history[n].gap, expected.history[n].gap));
    }
  });
}

}  // namespace

TEST_CASE_TEMPLATE("iterative methods: on ranks, the iterates of one memory", T, float, double) {
  int turn = 0;
  int number = 0;
  for (auto const& [name, scan, fdk] : scans()) {
    CAPTURE(name);
    bool const masked = ++number % 2 == 0;
    projector_options by{.sum = summation::reproducible};
    if (number % 3 == 0) {
      by.method = projector::siddon;
    }
    if (name == std::string("turned by a quarter")) {
      continue;  // few of its rays meet a voxel
    }
    auto const in = inputs_of<T>(scan, by, masked);
    iso::ct::value_range const box{0, 0.75};
    check_method<iso::ct::sart>(in, iso::ct::sart_options{.box = box, .projector = by}, turn);
    check_method<iso::ct::sart>(in, iso::ct::sart_options{.block_views = 6, .projector = by}, turn);
    check_method<iso::ct::cgls>(in, iso::ct::cgls_options{.projector = by}, turn);
    check_method<iso::ct::lsqr>(in, iso::ct::lsqr_options{.damping = 0.5, .projector = by}, turn);
    check_method<iso::ct::mlem>(in, iso::ct::mlem_options{.projector = by}, turn);
    check_method<iso::ct::mlem>(in, iso::ct::mlem_options{.block_views = 12, .projector = by},
                                turn);
    check_method<iso::ct::total_variation>(
        in, iso::ct::total_variation_options{.weight = 0.1, .projector = by}, turn);
  }
}

namespace {

/// Checks that a method on ranks takes what it says of the rank's rows and planes, with the pair on
/// ranks for that of one memory.
template <class Method, class Options>
void check_peak(geometry const& scan, rank_plan const& plan, std::int64_t block_views,
                Options options) {
  using pair = iso::ct::ranked_pair<Kokkos::Serial, float>;
  using pair_of_one = iso::ct::projector_pair<Kokkos::Serial, float>;
  Kokkos::Serial const exec;
  int const here = all_ranks().rank();
  projector_options const by{.sum = summation::reproducible};
  options.projector = by;
  auto const in = inputs_of<float>(scan, by, false);
  auto const p = iso::ct::make_projections_part<float>(exec, "p", plan, here);
  auto const x = iso::ct::make_volume_part<float>(exec, "x", plan, here);
  fill(exec, p.data, rows_of(in.readings, scan, plan.rows(here)));
  auto const found = iso::test::peak_bytes_of([&] {
    Method method(exec, scan, p, x, options, {}, {}, iso::ct::ranked(exec, all_ranks(), plan));
    iso::ct::iterate(method, {.iterations = 2});
  });
  geometry const part(scan.kind(), scan.num_u(), plan.rows(here).count(), scan.views());
  grid box = whole;
  box.extent[2] = plan.planes(here).count();
  auto const blocks =
      iso::ct::split_views(scan.num_views(), block_views, iso::ct::block_order::golden);
  check_share(found, Method::bytes_needed(exec, part, box, options, false) -
                         pair_of_one::bytes_needed(exec, part, box, blocks, by) +
                         pair::bytes_needed(exec, here, plan, blocks, by));
}

}  // namespace

TEST_CASE("iterative methods: a rank holds its share") {
  auto const scan = scans()[0].scan;
  rank_plan const plan(scan, whole, iso::divide_planes(whole, all_ranks().size()));
  std::int64_t const all = scan.num_views();
  using space = Kokkos::Serial;
  check_peak<iso::ct::sart<space, float>>(scan, plan, all, iso::ct::sart_options{});
  check_peak<iso::ct::sart<space, float>>(scan, plan, 6, iso::ct::sart_options{.block_views = 6});
  check_peak<iso::ct::cgls<space, float>>(scan, plan, all, iso::ct::cgls_options{});
  check_peak<iso::ct::lsqr<space, float>>(scan, plan, all, iso::ct::lsqr_options{});
  check_peak<iso::ct::mlem<space, float>>(scan, plan, all, iso::ct::mlem_options{});
  check_peak<iso::ct::total_variation<space, float>>(
      scan, plan, all, iso::ct::total_variation_options{.weight = 0.1});
}

TEST_CASE("iterative methods: what one rank refuses is refused on every rank") {
  using method = iso::ct::sart<Kokkos::Serial, float>;
  Kokkos::Serial const exec;
  auto& ranks = all_ranks();
  int const here = ranks.rank();
  bool const last = here == ranks.size() - 1;
  auto const scan = scans()[0].scan;
  rank_plan const plan(scan, whole, iso::divide_planes(whole, ranks.size()));
  projector_options const by{.sum = summation::reproducible};
  auto const in = inputs_of<float>(scan, by, true);
  auto const p = iso::ct::make_projections_part<float>(exec, "p", plan, here);
  fill(exec, p.data, rows_of(in.readings, scan, plan.rows(here)));
  auto const x = iso::ct::make_volume_part<float>(exec, "x", plan, here);
  auto const mask = iso::ct::make_volume_part<float>(exec, "mask", plan, here);
  iso::ct::ranked const through(exec, ranks, plan);
  auto const said = [&](iso::ct::sart_options const& options, auto const& start,
                        iso::ct::iterative_masks<float, host> const& masks) {
    return refusal([&] { method const of(exec, scan, p, start, options, masks, {}, through); });
  };
  // A mask that is bad on one rank, and readings that are.
  Kokkos::deep_copy(mask.data, last ? 2.F : 1.F);
  auto const bad = std::to_string(mask.data.size());
  auto const of_mask = said({.projector = by}, x, {mask.data, {}});
  CHECK(of_mask.starts_with("iso::ct::sart (SIRT): "));
  CHECK(
      of_mask.ends_with(" numbers of the mask of voxels are neither 0 nor 1 (0 leaves out, 1 "
                        "keeps); set them to 0 or "
                        "1"));
  if (last) {
    CHECK(of_mask.find(" " + bad + " numbers") != std::string::npos);
    p.data(0, 0, 0) = std::numeric_limits<float>::quiet_NaN();
  }
  CHECK(said({.projector = by}, x, {})
            .starts_with("iso::ct::sart (SIRT): 1 readings are not finite"));
  if (last) {
    p.data(0, 0, 0) = 0;
  }
  CHECK(said({.projector = {.sum = summation::ordered}}, x, {})
            .starts_with("iso::ct::ranked_pair: ordered sums"));
  auto const another = refusal([&] {
    rank_plan const of_other(scans()[1].scan, whole, iso::divide_planes(whole, ranks.size()));
    method const of(exec, scan, p, x, {.projector = by}, {}, {},
                    iso::ct::ranked(exec, ranks, of_other));
  });
  CHECK(another.starts_with("iso::ct::ranked: another scan or grid than the plan's"));
  if (ranks.size() == 1) {
    return;
  }
  std::string const elsewhere =
      "iso::ct::sart (SIRT): another rank stopped here (its own sentence says why); read what all "
      "ranks say";
  auto const of_other = iso::ct::make_volume_part<float>(exec, "x", plan, last ? 0 : here);
  auto const of_planes = said({.projector = by}, of_other, {});
  CHECK((last ? of_planes.starts_with("iso::ct::sart (SIRT): planes 0 to ")
              : of_planes == elsewhere));
  Kokkos::deep_copy(mask.data, 1);
  auto const of_no_mask =
      said({.projector = by}, x, {last ? decltype(mask.data)() : mask.data, {}});
  CHECK((last ? of_no_mask.starts_with("iso::ct::sart (SIRT): no mask of this rank's voxels")
              : of_no_mask == elsewhere));
  CHECK(
      said({.relaxation = last ? 0.5 : 1, .projector = by}, x, {}) ==
      "iso::ct::sart (SIRT): ranks with different scans, grids, plans or options (a result of all "
      "needs one); give all ranks the same arguments");
}

TEST_CASE("ranked_pair: where one rank lacks memory, none waits") {
  if (all_ranks().size() == 1) {
    return;
  }
  // The first rank has all planes, of a petabyte; the others have none.
  grid const vast = grid::centred({1 << 23, 1 << 23, 4}, {1, 1, 1});
  std::vector<slab> planes{{0, 4}};
  planes.resize(std::size_t(all_ranks().size()), {4, 4});
  rank_plan const plan(scans()[0].scan, vast, planes);
  std::string said;
  try {
    iso::ct::ranked_pair<Kokkos::Serial, float> const of({}, all_ranks(), plan);
  } catch (iso::error const& why) {
    said = why.what();
  }
  CAPTURE(said);
  CHECK(said.find(all_ranks().rank() == 0 ? "bytes do not fit" : "another rank stopped here") !=
        std::string::npos);
}
