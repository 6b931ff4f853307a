// SPDX-License-Identifier: BSD-3-Clause
// Parts of ranks in host memory that pass through devices of tiny and different limits: the bits of
// one memory, for every plan, with ranks of different backends.
#include "kokkos_events.hpp"
#include "ranked_support.hpp"
#include "whole_support.hpp"

#include <iso/core/error.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/streamed_ranked.hpp>
#include <iso/ct/total_variation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace ranks_support;
using iso::onto;
using iso::ct::projector_options;
using iso::ct::streamed_ranked_fdk;
using iso::ct::streamed_ranked_pair;
using iso::ct::streaming_options;
using iso::test::refusal;

constexpr std::int64_t plenty = std::int64_t(1) << 34;

/// Returns the bytes of this rank's smallest plan, which all ranks refuse less than.
template <class Make>
std::int64_t min_of(Make const& make) {
  try {
    make(streaming_options{1});
  } catch (iso::out_of_memory const& failure) {
    return std::int64_t(failure.requested());
  }
  FAIL("a limit of one byte was taken");
  return 0;
}

/// Returns this rank's limits: others than its neighbours'.
template <class Make>
streaming_options limits_of_rank(int turn, Make const& make) {
  std::int64_t const least = min_of(make);
  switch ((all_ranks().rank() + turn) % 4) {
    case 0:
      return {least};
    case 1:
      return {least + least / 3};
    case 2:
      return {2 * least, 3};
    default:
      return {plenty};
  }
}

/// The parts of a rank in host memory.
template <class T>
iso::volume_view<T, host> part_of(rank_plan const& plan, std::vector<T> const& all) {
  auto const x = iso::ct::make_volume_part<T>(Kokkos::Serial(), "x", plan, all_ranks().rank());
  fill(Kokkos::Serial(), x.data, planes_of(all, whole, plan.planes(all_ranks().rank())));
  return x;
}
template <class T>
iso::projection_view<T, host> rows_part_of(rank_plan const& plan, std::vector<T> const& all) {
  auto const p = iso::ct::make_projections_part<T>(Kokkos::Serial(), "p", plan, all_ranks().rank());
  fill(Kokkos::Serial(), p.data, rows_of(all, plan.scan(), plan.rows(all_ranks().rank())));
  return p;
}

iso::ct::view_blocks all_views(geometry const& scan) {
  return iso::ct::split_views(scan.num_views(), scan.num_views(), iso::ct::block_order::sequential);
}

}  // namespace

TEST_CASE_TEMPLATE("streamed_ranked_pair: the bits of one memory, whatever the limits", T, float,
                   double) {
  int const here = all_ranks().rank();
  int turn = 0;
  for (auto const& [name, scan, fdk] : scans()) {
    CAPTURE(name);
    auto const options = all_options()[std::size_t(turn) % 3];
    auto const v = signed_volume<T>(unsigned(turn + 1));
    if (turn % 2 == 1) {
      v.data(4, 5, 18) = std::numeric_limits<T>::quiet_NaN();
    }
    auto const voxels = host_vector(v.data);
    auto const pixels = random_pixels<T>(scan, 7);
    auto const rays = projected<T>(Kokkos::Serial(), v, scan,
                                   {.method = options.method,
                                    .sum = summation::reproducible,
                                    .edge = options.edge,
                                    .within = options.within,
                                    .oversampling = options.oversampling});
    onto const to = turn % 2 == 0 ? onto::zero : onto::stored;
    auto const sums = adjoint_of_whole(scan, pixels, options, to);
    auto const all_plans = plans(all_ranks().size());
    rank_plan const plan(scan, whole, all_plans[std::size_t(turn) % all_plans.size()]);
    CAPTURE(turn);
    with_backend_of_rank(++turn, [&](auto const& exec) {
      using pair = streamed_ranked_pair<std::decay_t<decltype(exec)>, T>;
      auto const make = [&](streaming_options const& limits) {
        return pair(exec, all_ranks(), plan, all_views(scan), options, limits);
      };
      auto const limits = limits_of_rank(turn, make);
      pair there(exec, all_ranks(), plan, all_views(scan), options, limits);
      CHECK(there.streaming()->device_bytes <= limits.device_bytes);
      auto const p = rows_part_of(plan, pixels);
      Kokkos::deep_copy(p.data, std::numeric_limits<T>::quiet_NaN());
      there.forward(0, part_of(plan, voxels), p);
      CHECK(difference(rows_of(rays, scan, plan.rows(here)), host_vector(p.data)) == "");
      auto const x = part_of(plan, voxels);
      Kokkos::deep_copy(x.data, to == onto::zero ? std::numeric_limits<T>::quiet_NaN() : T(0.25));
      there.adjoint(0, rows_part_of(plan, pixels), x, to);
      CHECK(difference(planes_of(sums, whole, plan.planes(here)), host_vector(x.data)) == "");
    });
  }
}

TEST_CASE_TEMPLATE("streamed_ranked_fdk: the bits of one memory, whatever the limits", T, float,
                   double) {
  int const here = all_ranks().rank();
  int turn = 0;
  for (auto const& [name, scan, fdk] : scans()) {
    if (!fdk) {
      continue;
    }
    CAPTURE(name);
    auto const pixels = random_pixels<T>(scan, 3);
    auto const all = fdk_of_whole(scan, pixels);
    auto const all_plans = plans(all_ranks().size());
    rank_plan const plan(scan, whole, all_plans[std::size_t(turn) % all_plans.size()]);
    CAPTURE(turn);
    with_backend_of_rank(++turn, [&](auto const& exec) {
      using method = streamed_ranked_fdk<std::decay_t<decltype(exec)>, T>;
      auto const make = [&](streaming_options const& limits) {
        return method(exec, all_ranks(), plan, {}, limits);
      };
      auto const limits = limits_of_rank(turn, make);
      method there(exec, all_ranks(), plan, {}, limits);
      CHECK(there.streaming().device_bytes <= limits.device_bytes);
      auto const x = part_of(plan, std::vector<T>(std::size_t(whole.size()), T(3)));
      there.apply(rows_part_of(plan, pixels), x);
      CHECK(difference(planes_of(all, whole, plan.planes(here)), host_vector(x.data)) == "");
    });
  }
}

namespace {

/// Runs a method in one memory and on streamed ranks, and compares all that it tells.
template <template <class, class> class Method, class T>
void check_method(geometry const& scan, std::vector<T> const& readings, auto const& options,
                  int& turn) {
  Kokkos::Serial const exec;
  using method = Method<Kokkos::Serial, T>;
  auto const p = iso::make_projections<T, host>("p", scan.num_views(), scan.num_u(), scan.num_v());
  fill(exec, p.data, readings);
  auto const x = iso::make_volume<T, host>("x", whole);
  method one(exec, scan, p, x, options);
  auto const expected = iso::ct::iterate(one, {.iterations = 3});

  auto const all = plans(all_ranks().size());
  rank_plan const plan(scan, whole, all[std::size_t(turn) % all.size()]);
  CAPTURE(turn);
  with_backend_of_rank(++turn, [&](auto const& device) {
    auto const mine = part_of(plan, std::vector<T>(std::size_t(whole.size()), T(0)));
    auto const make = [&](streaming_options const& limits) {
      return method(exec, scan, rows_part_of(plan, readings), mine, options, {}, {},
                    iso::ct::ranked(device, all_ranks(), plan, limits));
    };
    auto found = make(limits_of_rank(turn, make));
    auto const history = iso::ct::iterate(found, {.iterations = 3});
    CHECK(difference(planes_of(host_vector(x.data), whole, plan.planes(all_ranks().rank())),
                     host_vector(mine.data)) == "");
    REQUIRE(history.size() == expected.size());
    for (std::size_t n = 0; n < history.size(); ++n) {
      CHECK(history[n].residual == expected[n].residual);
    }
    CHECK(found.streaming().has_value());
  });
}

}  // namespace

TEST_CASE_TEMPLATE("iterative methods: streamed on ranks, the iterates of one memory", T, float,
                   double) {
  projector_options const by{.sum = summation::reproducible};
  int turn = 0;
  auto const scan = scans()[sizeof(T) == 4 ? 3 : 0].scan;
  auto const readings = projected<T>(Kokkos::Serial(), random_volume<T>(whole, 4), scan,
                                     {.sum = summation::reproducible});
  check_method<iso::ct::sart>(scan, readings, iso::ct::sart_options{.projector = by}, turn);
  check_method<iso::ct::sart>(scan, readings,
                              iso::ct::sart_options{.block_views = 6, .projector = by}, turn);
  check_method<iso::ct::cgls>(scan, readings, iso::ct::cgls_options{.projector = by}, turn);
  check_method<iso::ct::lsqr>(scan, readings, iso::ct::lsqr_options{.projector = by}, turn);
  check_method<iso::ct::mlem>(scan, readings,
                              iso::ct::mlem_options{.block_views = 12, .projector = by}, turn);
  check_method<iso::ct::total_variation>(
      scan, readings, iso::ct::total_variation_options{.weight = 0.1, .projector = by}, turn);
}

TEST_CASE("streamed ranks: a rank holds what it says, and no halo for an adjoint") {
  Kokkos::Serial const exec;
  auto& ranks = all_ranks();
  int const here = ranks.rank();
  // Large enough that what Kokkos notes of an array does not count.
  grid const box = grid::centred({40, 40, 48}, {1, 0.9, 0.8});
  auto const scan = scans()[0].scan;
  rank_plan const plan(scan, box, iso::divide_planes(box, ranks.size()));
  projector_options const options{.sum = summation::reproducible};
  auto const x = iso::ct::make_volume_part<float>(exec, "x", plan, here);
  auto const p = iso::ct::make_projections_part<float>(exec, "p", plan, here);
  using pair = streamed_ranked_pair<Kokkos::Serial, float>;
  auto const needed = [&](streaming_options const& within) {
    return pair::bytes_needed(exec, ranks, plan, all_views(scan), options, within);
  };
  streaming_options const limits{min_of(needed) + 200000};
  auto const said = needed(limits);
  auto const peak_of = [&](auto const& call) {
    return iso::test::peak_bytes_of([&] {
      pair of(exec, ranks, plan, all_views(scan), options, limits);
      call(of);
    });
  };
  std::int64_t const both = said.device + said.staging;
  check_share(peak_of([&](pair& of) { of.adjoint(0, p, x); }), both);
  check_share(peak_of([&](pair& of) { of.forward(0, x, p); }), both + said.halo);
  CHECK((said.halo > 0) == (ranks.size() > 1));

  using reconstructor = streamed_ranked_fdk<Kokkos::Serial, float>;
  auto const fdk_within = [&](streaming_options const& within) {
    return reconstructor::bytes_needed(exec, ranks, plan, {}, within);
  };
  streaming_options const fdk_limits{min_of(fdk_within) + 200000};
  auto const fdk = fdk_within(fdk_limits);
  check_share(iso::test::peak_bytes_of([&] {
                reconstructor of(exec, ranks, plan, {}, fdk_limits);
                of.apply(p, x);
              }),
              fdk.device + fdk.staging);
}

TEST_CASE("streamed ranks: a limit that one rank cannot keep is refused on every rank") {
  Kokkos::Serial const exec;
  auto& ranks = all_ranks();
  auto const scan = scans()[0].scan;
  rank_plan const plan(scan, whole, iso::divide_planes(whole, ranks.size()));
  projector_options const options{.sum = summation::reproducible};
  bool const last = ranks.rank() == ranks.size() - 1;
  using pair = streamed_ranked_pair<Kokkos::Serial, float>;
  auto const make = [&](streaming_options const& limits) {
    return pair(exec, ranks, plan, all_views(scan), options, limits);
  };
  std::int64_t const least = min_of(make);
  std::string said;
  try {
    make({last ? least - 1 : plenty});
  } catch (iso::error const& why) {
    said = why.what();
  }

  CHECK(said.starts_with(last ? "iso::ct::streamed_ranked_pair: a limit of " +
                                    std::to_string(least - 1) + " bytes"
                              : "iso::ct::streamed_ranked_pair: another rank stopped here"));
  CHECK(refusal([&] {
          make({plenty, 0, true});
        }).starts_with("iso::ct::streamed_ranked_pair: stored readings"));
  // The tightest limit of all chooses the views of a batch.
  auto const batch = [&](streaming_options const& limits) {
    return make(limits).streaming()->forward.views;
  };
  CHECK(batch({plenty}) == scan.num_views());
  CHECK(batch({last ? least : plenty}) == 16);
}
