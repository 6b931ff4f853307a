// SPDX-License-Identifier: BSD-3-Clause
// Projection, adjoint and filtered backprojection on ranks: the bits of one memory, for every plan,
// with ranks of different backends.
#include "kokkos_events.hpp"
#include "ranked_support.hpp"
#include "whole_support.hpp"

#include <iso/ct/projector_pair.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/slab_rays.hpp>

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
using iso::ct::ranked_fdk;
using iso::ct::ranked_pair;
using iso::test::refusal;

/// All of them for the method that most use, one in turn for the others.
std::vector<std::vector<slab>> plans_for(int ranks, projector_options const& options, int turn) {
  auto all = plans(ranks);
  if (options.method == projector::joseph_linear) {
    return all;
  }
  return {all[std::size_t(turn) % all.size()]};
}

template <class T, class Exec>
std::vector<T> forward_on_ranks(Exec const& exec, rank_plan const& plan, volume<T> const& v,
                                projector_options const& options, std::int64_t batch) {
  int const here = all_ranks().rank();
  ranked_pair<Exec, T> pair(exec, all_ranks(), plan, options, batch);
  auto const x = iso::ct::make_volume_part<T>(exec, "x", plan, here);
  fill(exec, x.data,
       planes_of(std::vector<T>(v.data.data(), v.data.data() + v.data.size()), whole,
                 plan.planes(here)));
  auto const p = iso::ct::make_projections_part<T>(exec, "p", plan, here);
  Kokkos::deep_copy(exec, p.data, std::numeric_limits<T>::quiet_NaN());
  pair.forward(0, x, p);
  return host_vector(p.data);
}

template <class T, class Exec>
std::vector<T> adjoint_on_ranks(Exec const& exec, rank_plan const& plan,
                                std::vector<T> const& pixels, projector_options const& options,
                                std::int64_t batch, onto to) {
  int const here = all_ranks().rank();
  ranked_pair<Exec, T> pair(exec, all_ranks(), plan, options, batch);
  auto const p = iso::ct::make_projections_part<T>(exec, "p", plan, here);
  fill(exec, p.data, rows_of(pixels, plan.scan(), plan.rows(here)));
  auto const x = iso::ct::make_volume_part<T>(exec, "x", plan, here);
  Kokkos::deep_copy(exec, x.data, to == onto::zero ? std::numeric_limits<T>::quiet_NaN() : T(0.25));
  pair.adjoint(0, p, x, to);
  return host_vector(x.data);
}

}  // namespace

TEST_CASE_TEMPLATE("ranked_pair: rows have the bits of one memory, whatever the plan", T, float,
                   double) {
  int turn = 0;
  unsigned number = 0;
  for (auto const& [name, scan, fdk] : scans()) {
    CAPTURE(name);
    for (auto const& options : all_options()) {
      auto const v = signed_volume<T>(++number);
      if (number % 2 == 1) {
        v.data(4, 5, 18) = std::numeric_limits<T>::quiet_NaN();
        v.data(9, 2, 3) = std::numeric_limits<T>::infinity();
      }
      auto const all = projected<T>(Kokkos::Serial(), v, scan,
                                    {.method = options.method,
                                     .sum = summation::reproducible,
                                     .edge = options.edge,
                                     .within = options.within,
                                     .oversampling = options.oversampling});
      for (auto const& planes : plans_for(all_ranks().size(), options, turn)) {
        rank_plan const plan(scan, whole, planes);
        CAPTURE(turn);
        with_backend_of_rank(++turn, [&](auto const& exec) {
          auto const found = forward_on_ranks(exec, plan, v, options, turn % 3 == 0 ? 16 : 0);
          CHECK(difference(rows_of(all, scan, plan.rows(all_ranks().rank())), found) == "");
        });
      }
    }
  }
}

TEST_CASE_TEMPLATE("ranked_pair: planes of the adjoint have the bits of one memory", T, float,
                   double) {
  int turn = 0;
  unsigned number = 0;
  for (auto const& [name, scan, fdk] : scans()) {
    CAPTURE(name);
    for (auto const& options : all_options()) {
      onto const to = ++number % 2 == 0 ? onto::zero : onto::stored;
      auto pixels = random_pixels<T>(scan, number);
      if (to == onto::stored) {
        pixels[pixels.size() / 2 + 7] = std::numeric_limits<T>::quiet_NaN();
        pixels[pixels.size() / 3] = std::numeric_limits<T>::infinity();
      }
      auto const all = adjoint_of_whole(scan, pixels, options, to);
      for (auto const& planes : plans_for(all_ranks().size(), options, turn)) {
        rank_plan const plan(scan, whole, planes);
        CAPTURE(turn);
        with_backend_of_rank(++turn, [&](auto const& exec) {
          auto const found =
              adjoint_on_ranks(exec, plan, pixels, options, turn % 3 == 0 ? 16 : 0, to);
          CHECK(difference(planes_of(all, whole, plan.planes(all_ranks().rank())), found) == "");
        });
      }
    }
  }
}

TEST_CASE_TEMPLATE("ranked_pair: blocks of views have the bits of one memory", T, float, double) {
  int const here = all_ranks().rank();
  int turn = 0;
  for (auto const& [name, scan, fdk] : scans()) {
    CAPTURE(name);
    auto const options = all_options()[std::size_t(turn) % 3];
    auto const pixels = random_pixels<T>(scan, 5);
    auto const v = signed_volume<T>(6);
    for (std::int64_t const size : {std::int64_t(1), std::int64_t(6), std::int64_t(17)}) {
      auto const blocks =
          iso::ct::split_views(scan.num_views(), size, iso::ct::block_order::golden);
      auto const planes = plans(all_ranks().size())[std::size_t(turn) % 4];
      rank_plan const plan(scan, whole, planes);
      iso::ct::projector_pair<Kokkos::Serial, T> const one({}, scan, whole, blocks, options);
      with_backend_of_rank(++turn, [&](auto const& exec) {
        ranked_pair<std::decay_t<decltype(exec)>, T> pair(exec, all_ranks(), plan, blocks, options);
        auto const x = iso::ct::make_volume_part<T>(exec, "x", plan, here);
        fill(exec, x.data,
             planes_of(std::vector<T>(v.data.data(), v.data.data() + v.data.size()), whole,
                       plan.planes(here)));
        for (std::int64_t b = 0; b < blocks.count(); b += size == 1 ? 9 : 1) {
          CAPTURE(size);
          CAPTURE(b);
          geometry const block =
              pair.plan().scan().subset(blocks.begins[std::size_t(b)], blocks.size(b));
          auto const all =
              iso::make_projections<T, host>("p", blocks.size(b), scan.num_u(), scan.num_v());
          auto p = iso::ct::make_projections_part<T>(exec, "p", plan, here);
          p.data = {p.data, Kokkos::make_pair(std::int64_t(0), blocks.size(b)), Kokkos::ALL,
                    Kokkos::ALL};
          one.forward(b, v, all);
          pair.forward(b, x, p);
          CHECK(difference(rows_of(host_vector(all.data), block, plan.rows(here)),
                           host_vector(p.data)) == "");
          std::vector<T> const some(pixels.begin(), pixels.begin() + all.data.size());
          std::copy(some.begin(), some.end(), all.data.data());
          fill(exec, p.data, rows_of(some, block, plan.rows(here)));
          auto const sums = iso::make_volume<T, host>("sums", whole);
          auto const found = iso::ct::make_volume_part<T>(exec, "found", plan, here);
          one.adjoint(b, all, sums, onto::zero, {}, 2);
          pair.adjoint(b, p, found, onto::zero, {}, 2);
          CHECK(difference(planes_of(host_vector(sums.data), whole, plan.planes(here)),
                           host_vector(found.data)) == "");
        }
      });
    }
  }
}

namespace {

/// Returns numbers whose NaNs are one and the same.
template <class T>
std::vector<T> with_one_nan(std::vector<T> numbers) {
  for (T& number : numbers) {
    number = number == number ? number : std::numeric_limits<T>::quiet_NaN();
  }
  return numbers;
}

}  // namespace

TEST_CASE_TEMPLATE("ranked_fdk: planes have the bits of one memory", T, float, double) {
  int const here = all_ranks().rank();
  for (auto const& [name, scan, fdk] : scans()) {
    if (!fdk) {
      continue;
    }
    CAPTURE(name);
    int turn = 0;
    auto pixels = random_pixels<T>(scan, 3);
    for (bool const finite : {true, false}) {
      if (!finite) {
        pixels[pixels.size() / 2 + 7] = std::numeric_limits<T>::quiet_NaN();
      }
      auto const all = fdk_of_whole(scan, pixels);
      for (auto const& planes : plans(all_ranks().size())) {
        rank_plan const plan(scan, whole, planes);
        with_backend_of_rank(++turn, [&](auto const& exec) {
          ranked_fdk<std::decay_t<decltype(exec)>, T> ranked(exec, all_ranks(), plan, {},
                                                             turn % 3 == 0 ? 16 : 0);
          auto const p = iso::ct::make_projections_part<T>(exec, "p", plan, here);
          fill(exec, p.data, rows_of(pixels, scan, plan.rows(here)));
          auto const x = iso::ct::make_volume_part<T>(exec, "x", plan, here);
          Kokkos::deep_copy(exec, x.data, std::numeric_limits<T>::quiet_NaN());
          ranked.apply(p, x);
          // Which NaN a sum becomes is the processor's.
          CHECK(difference(with_one_nan(planes_of(all, whole, plan.planes(here))),
                           with_one_nan(host_vector(x.data))) == "");
        });
      }
    }
  }
}

TEST_CASE("rank_plan: each plane and each row has one owner, in shares") {
  for (auto const& [name, scan, fdk] : scans()) {
    CAPTURE(name);
    for (int const ranks : {1, 2, 3, 7, 60}) {
      for (auto const& planes : plans(ranks)) {
        if (planes.back().last != whole.extent[2] || ranks > whole.extent[2]) {
          continue;
        }
        rank_plan const plan(scan, whole, planes);
        std::vector<int> owners(std::size_t(scan.num_v()), 0);
        for (int rank = 0; rank < ranks; ++rank) {
          auto const rows = plan.rows(rank);
          for (std::int64_t v = rows.first; v < rows.last; ++v) {
            ++owners[std::size_t(v)];
          }
          CHECK((plan.planes(rank).count() > 0 || rows.count() == 0));
        }
        CHECK(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; }));
      }
    }
  }
  auto const circle = scans()[0].scan;
  rank_plan const halves(circle, whole, iso::divide_planes(whole, 2));
  // The middle plane is seen 1 mm, 0.6 pixels, above the middle of the detector's 34 rows.
  CHECK(halves.rows(0).last == 18);
  CHECK(halves.rows(1) == row_range{18, 34});
  rank_plan const quarters(circle, whole, iso::divide_planes(whole, 4, {1, 1, 1, 1}));
  CHECK(quarters.rows(1).first > 8);
  CHECK(rank_plan(scans()[2].scan, whole, iso::divide_planes(whole, 2)).rows(0).last == 34);
  CHECK(rank_plan(circle, whole, iso::divide_planes(whole, 60)).idle() == 23);
}

TEST_CASE("ranked_pair: what ranks send is what their planes need and others own") {
  Kokkos::Serial const exec;
  int const here = all_ranks().rank();
  auto const sent_by_all = [](std::int64_t bytes) {
    std::uint64_t sum(bytes);
    all_ranks().sum({&sum, 1});
    return std::int64_t(sum);
  };
  for (auto const& [name, scan, fdk] : scans()) {
    CAPTURE(name);
    rank_plan const plan(scan, whole, iso::divide_planes(whole, all_ranks().size()));
    // Pixels that the planes of a rank, and some more, meet in other ranks' rows.
    auto const foreign = [&](std::int64_t halo) {
      std::int64_t pixels = 0;
      for (int rank = 0; rank < plan.size(); ++rank) {
        slab const own = plan.planes(rank);
        auto const windows = iso::ct::slab_rays(scan, whole,
                                                {std::max<std::int64_t>(own.first - halo, 0),
                                                 std::min(own.last + halo, whole.extent[2])});
        for (auto const& w : windows) {
          for (std::int64_t v = w.first_v; v < w.last_v; ++v) {
            bool const owned = v >= plan.rows(rank).first && v < plan.rows(rank).last;
            pixels += owned ? 0 : w.last_u - w.first_u;
          }
        }
      }
      return pixels;
    };
    projector_options const options{.method = projector::siddon, .sum = summation::reproducible};
    ranked_pair<Kokkos::Serial, double> chords(exec, all_ranks(), plan, options);
    auto const p = iso::ct::make_projections_part<double>(exec, "p", plan, here);
    auto const x = iso::ct::make_volume_part<double>(exec, "x", plan, here);
    chords.forward(0, x, p);
    CHECK(sent_by_all(chords.report().bytes_sent) == 8 * foreign(0));
    chords.adjoint(0, p, x);
    CHECK(sent_by_all(chords.report().bytes_sent) == 2 * 8 * foreign(0));

    // Joseph's samples have a halo: planes come, and more rays are met. It is at least 2 planes.
    ranked_pair<Kokkos::Serial, double> samples(exec, all_ranks(), plan);
    samples.forward(0, x, p);
    std::int64_t const words = sent_by_all(samples.report().bytes_sent);
    CHECK((words > 8 * foreign(2)) == (plan.size() > 1));
    samples.adjoint(0, p, x);
    CHECK(sent_by_all(samples.report().bytes_sent) == words + 8 * foreign(0));
  }
}

TEST_CASE("ranked_pair: a rank holds the bytes that it says") {
  Kokkos::Serial const exec;
  int const here = all_ranks().rank();
  auto const scan = scans()[1].scan;
  auto const near = [](std::int64_t found, std::int64_t said) {
    CAPTURE(found);
    CAPTURE(said);
    // Kokkos' own notes of each array, and the number that a reduction returns, are not counted.
    CHECK(std::abs(found - said) <= 1024 + said / 100);
  };
  for (auto const& planes : plans(all_ranks().size())) {
    rank_plan const plan(scan, whole, planes);
    auto const p = iso::ct::make_projections_part<float>(exec, "p", plan, here);
    auto const x = iso::ct::make_volume_part<float>(exec, "x", plan, here);
    std::int64_t said = 0;
    std::int64_t const of_pair = iso::test::peak_bytes_of([&] {
      ranked_pair<Kokkos::Serial, float> pair(exec, all_ranks(), plan);
      pair.forward(0, x, p);
      pair.adjoint(0, p, x);
      said = pair.report().bytes_held;
    });
    near(of_pair, said);
    // Several batches, of which words of two are held.
    std::int64_t said_of_small = 0;
    std::int64_t const of_small = iso::test::peak_bytes_of([&] {
      ranked_pair<Kokkos::Serial, float> pair(exec, all_ranks(), plan,
                                              {.sum = iso::summation::reproducible}, 16);
      pair.forward(0, x, p);
      said_of_small = pair.report().bytes_held;
    });
    near(of_small, said_of_small);
    CHECK(ranked_pair<Kokkos::Serial, float>::bytes_needed(
              exec, here, plan,
              iso::ct::split_views(scan.num_views(), scan.num_views(),
                                   iso::ct::block_order::sequential),
              {.sum = iso::summation::reproducible}, 16) == said_of_small);
    CHECK(ranked_pair<Kokkos::Serial, float>::bytes_needed(
              exec, here, plan,
              iso::ct::split_views(scan.num_views(), scan.num_views(),
                                   iso::ct::block_order::sequential)) == said);
    std::int64_t const of_fdk = iso::test::peak_bytes_of([&] {
      ranked_fdk<Kokkos::Serial, float> fdk(exec, all_ranks(), plan);
      fdk.apply(p, x);
      said = fdk.report().bytes_held;
    });
    near(of_fdk, said);
    CHECK(ranked_fdk<Kokkos::Serial, float>::bytes_needed(exec, here, plan) == said);
  }
}

TEST_CASE("ranks: what cannot be is refused on every rank") {
  Kokkos::Serial const exec;
  auto& ranks = all_ranks();
  int const here = ranks.rank();
  auto const circle = scans()[0].scan;
  using pair = ranked_pair<Kokkos::Serial, float>;
  rank_plan const plan(circle, whole, iso::divide_planes(whole, ranks.size()));
  CHECK(refusal([&] { rank_plan const short_one(circle, whole, {slab{0, 30}}); }) ==
        "iso::ct::rank_plan: slabs that end at plane 30 (the grid has 37); take the slabs "
        "from iso::divide_planes");
  CHECK(refusal([&] {
          rank_plan const gap(circle, whole, {slab{0, 10}, slab{11, 37}});
        }).starts_with("iso::ct::rank_plan: slab 1 of 26 planes from plane 11 on"));
  rank_plan const more(circle, whole, iso::divide_planes(whole, ranks.size() + 1));
  CHECK(refusal([&] {
          pair const of_more(exec, ranks, more);
        }).starts_with("iso::ct::ranked_pair: a plan for " + std::to_string(ranks.size() + 1)));
  CHECK(refusal([&] {
          pair const ordered(exec, ranks, plan, {.sum = summation::ordered});
        }).starts_with("iso::ct::ranked_pair: ordered sums"));
  CHECK(refusal([&] {
          pair const batches(exec, ranks, plan, {.sum = summation::reproducible}, 8);
        }).starts_with("iso::ct::ranked_pair: 8 views at a time"));
  if (ranks.size() > 1) {
    // One rank has something else than the others.
    bool const other = here == ranks.size() - 1;
    std::string const differ =
        "ranks with different scans, grids, plans or options (a result of all needs one); give all "
        "ranks the same arguments";
    CHECK(refusal([&] {
            pair const of(exec, ranks, plan,
                          {.method = other ? projector::siddon : projector::branchless,
                           .sum = summation::reproducible});
          }) == "iso::ct::ranked_pair: " + differ);
    CHECK(refusal([&] {
            ranked_fdk<Kokkos::Serial, float> const of(exec, ranks, plan,
                                                       {.cutoff = other ? 0.5 : 0.6});
          }) == "iso::ct::ranked_fdk: " + differ);
    rank_plan const moved(rolled(circle, other ? 1e-9 : 0), whole,
                          iso::divide_planes(whole, ranks.size()));
    CHECK(refusal([&] { pair const of(exec, ranks, moved); }) == "iso::ct::ranked_pair: " + differ);
    // One rank gives an array that is not its own: all stop, and go on.
    pair of(exec, ranks, plan);
    auto const x = iso::ct::make_volume_part<float>(exec, "x", plan, other ? 0 : here);
    auto const p = iso::ct::make_projections_part<float>(exec, "p", plan, here);
    auto const said = refusal([&] { of.forward(0, x, p); });
    CHECK(said.starts_with(other ? "iso::ct::ranked_pair::forward: planes 0 to "
                                 : "iso::ct::ranked_pair::forward: another rank stopped here"));
    iso::job const stopped{{}, [&] { return other; }};
    auto const mine = iso::ct::make_volume_part<float>(exec, "x", plan, here);
    CHECK_THROWS_AS(of.forward(0, mine, p, stopped), iso::cancelled);
    of.forward(0, mine, p);
    // Stopped while words of a batch are on their way: 35 views are three batches.
    int asked = 0;
    iso::job const later{{}, [&] { return other && ++asked == 2; }};
    pair small(exec, ranks, plan, {.sum = summation::reproducible}, 16);
    CHECK_THROWS_AS(small.forward(0, mine, p, later), iso::cancelled);
    small.forward(0, mine, p);
  }
}
