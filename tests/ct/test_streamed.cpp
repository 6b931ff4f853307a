// SPDX-License-Identifier: BSD-3-Clause
// Volumes in host memory that pass through a device slab by slab: the bits of one memory, whatever
// the limit, and no byte above it.
#include "back_project_support.hpp"
#include "compare.hpp"
#include "fdk_kinds.hpp"
#include "kokkos_events.hpp"

#include <iso/backend/event.hpp>
#include <iso/backend/registry.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/stored_readings.hpp>
#include <iso/ct/streamed_fdk.hpp>
#include <iso/ct/streamed_pair.hpp>
#include <iso/ct/total_variation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace projector_support;
using iso::onto;
using iso::ct::iteration;
using iso::ct::projector_options;
using iso::ct::streamed;
using iso::ct::streamed_fdk;
using iso::ct::streamed_pair;
using iso::ct::streaming_options;
using iso::ct::streaming_plan;

/// Calls f(exec) with the default instance of each backend.
template <class F>
void for_each_backend(F const& f) {
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    f(typename decltype(tag)::execution_space());
  });
}

/// A scan of an odd number of views, upright or with the detector rolled.
geometry scan_of(std::int64_t views, double roll) {
  auto const upright = iso::ct::circular_cone({21, 34, 2.1, 1.7, 0.3, -1}, 90, 140,
                                              iso::ct::even_angles(views, 2 * pi, 0.1));
  auto turned = upright.views();
  for (auto& w : turned) {
    auto const u = w.u_step;
    w.u_step = w.u_step + roll * w.v_step;
    w.v_step = w.v_step - roll * u;
  }
  return {upright.kind(), upright.num_u(), upright.num_v(), turned};
}

template <class T>
volume<T> signed_volume(grid const& g, unsigned seed) {
  auto const v = random_volume<T>(g, seed);
  for (std::size_t n = 0; n < v.data.size(); ++n) {
    v.data.data()[n] -= T(0.5);
  }
  return v;
}

template <class T>
iso::projection_view<T, host> host_projections(geometry const& g, T value) {
  auto const p = iso::make_projections<T, host>("p", g.num_views(), g.num_u(), g.num_v());
  Kokkos::deep_copy(p.data, value);
  return p;
}

iso::ct::view_blocks blocks_of(geometry const& g, std::int64_t size) {
  return iso::ct::split_views(g.num_views(), size, iso::ct::block_order::golden);
}

/// The bytes of the smallest plan, as the message of a limit of one byte tells.
template <class Make>
std::int64_t smallest_limit(Make const& make) {
  try {
    make(1);
  } catch (iso::out_of_memory const& failure) {
    CHECK(failure.available() == 1);
    return std::int64_t(failure.requested());
  }
  FAIL("a limit of one byte was taken");
  return 0;
}

/// Returns the least bytes for which `enough` does not throw, and is true.
template <class Enough>
std::int64_t min_limit(Enough const& enough) {
  std::int64_t below = 1;
  std::int64_t most = std::int64_t(1) << 30;
  while (most - below > 1) {
    std::int64_t const middle = (below + most) / 2;
    bool holds = false;
    try {
      holds = enough(middle);
    } catch (iso::out_of_memory const&) {
    }
    (holds ? most : below) = middle;
  }
  return most;
}

/// Limits from the smallest to one that holds everything.
template <class Make>
std::vector<streaming_options> limits_for(Make const& make) {
  std::int64_t const least = smallest_limit(make);
  return {{least},
          {least + least / 3},
          {2 * least, 3},
          {std::int64_t(1) << 34, 1},
          {std::int64_t(1) << 34}};
}

}  // namespace

TEST_CASE_TEMPLATE("streamed_pair: the bits of one memory, whatever the limit", T, float, double) {
  grid const whole = grid::centred({17, 15, 37}, {1, 0.9, 0.8});
  for (double const roll : {0.0, 0.02}) {
    geometry const scan = scan_of(35, roll);
    auto const x = signed_volume<T>(whole, 3);
    auto pixels = random_pixels<T>(scan, 5);
    pixels[3] *= T(300);  // in one batch: the unit of a scatter's sums is of all
    auto const p = host_projections<T>(scan, T(0));
    std::copy(pixels.begin(), pixels.end(), p.data.data());
    projector_options const options{
        .method = roll == 0 ? projector::joseph_linear : projector::joseph_spline,
        .sum = summation::reproducible};
    Kokkos::Serial const serial;
    auto const blocks = blocks_of(scan, 18);
    iso::ct::projector_pair<Kokkos::Serial, T> const here(serial, scan, whole, blocks, options);
    for_each_backend([&](auto const& exec) {
      using exec_space = std::decay_t<decltype(exec)>;
      using pair = streamed_pair<exec_space, T>;
      auto const make = [&](std::int64_t bytes) {
        return pair::plan(exec, scan, whole, blocks, options, {bytes});
      };
      for (streaming_options const& limits : limits_for(make)) {
        CAPTURE(limits.device_bytes);
        pair there(exec, scan, whole, blocks, options, limits);
        CHECK(there.report().device_bytes <= limits.device_bytes);
        for (std::int64_t b = 0; b < blocks.count(); ++b) {
          auto const part = here.part(p, b);
          auto const expected = host_projections<T>(scan, std::numeric_limits<T>::quiet_NaN());
          auto const found = host_projections<T>(scan, std::numeric_limits<T>::quiet_NaN());
          here.forward(b, x, here.part(expected, b));
          there.forward(b, x, here.part(found, b));
          CHECK(here.part(expected, b).data(0, 10, 17) != 0);  // of the ray in the middle
          CHECK(difference(host_vector(found.data), host_vector(expected.data)) == "");
          for (onto const to : {onto::zero, onto::stored}) {
            auto const start = signed_volume<T>(whole, 9);
            auto const stepped = signed_volume<T>(whole, 9);
            std::int32_t const words = to == onto::zero ? 0 : 2;
            here.adjoint(b, part, start, to, {}, words);
            there.adjoint(b, part, stepped, to, {}, words);
            CHECK(difference(host_vector(stepped.data), host_vector(start.data)) == "");
          }
        }
      }
    });
  }
}

namespace {

/// Every choice of a matrix that a pair takes, the exact ones with one ray a pixel and with four.
std::vector<projector_options> all_matrices() {
  using enum iso::ct::projector;
  std::vector<projector_options> all;
  for (auto const method :
       {joseph_linear, joseph_spline, amanatides_woo, branchless, siddon, exact}) {
    for (auto const edge : {iso::boundary::zero, iso::boundary::truncate}) {
      for (auto const within : {iso::ct::region::box, iso::ct::region::cylinder}) {
        for (std::int32_t const rays : {1, 2}) {
          if (rays == 1 || !iso::ct::detail::is_joseph(method)) {
            all.push_back({.method = method,
                           .sum = summation::reproducible,
                           .edge = edge,
                           .within = within,
                           .oversampling = rays,
                           .words = std::int32_t(all.size() % 4)});
          }
        }
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("streamed_pair: the bits of one memory, by every matrix") {
  // What options are to say is written here once more: pairs in one memory and streamed ones take
  // them by the same functions.
  grid const whole = grid::centred({13, 15, 23}, {1, 0.9, 0.8});
  Kokkos::Serial const serial;
  for (double const roll : {0.0, 0.02}) {
    geometry const scan = scan_of(20, roll);
    auto const x = signed_volume<float>(whole, 3);
    auto const p = host_projections<float>(scan, 0);
    auto const pixels = random_pixels<float>(scan, 5);
    std::copy(pixels.begin(), pixels.end(), p.data.data());
    auto const staged = iso::ct::stage(serial, scan);
    auto const blocks = iso::ct::split_views(20, 20, iso::ct::block_order::sequential);
    for (projector_options const& o : all_matrices()) {
      CAPTURE(iso::to_word(o.method));
      CAPTURE(int(o.edge));
      CAPTURE(int(o.within));
      CAPTURE(o.oversampling);
      CAPTURE(o.words);
      iso::ct::forward_project_options const forward{.method = o.method,
                                                     .sum = summation::reproducible,
                                                     .edge = o.edge,
                                                     .within = o.within,
                                                     .oversampling = o.oversampling};
      iso::ct::back_project_options const back{.method = o.method,
                                               .edge = o.edge,
                                               .within = o.within,
                                               .oversampling = o.oversampling,
                                               .words = o.words};
      auto const q = host_projections<float>(scan, 0);
      auto const y = signed_volume<float>(whole, 9);
      iso::workspace<host> const scratch(
          std::max(iso::ct::forward_project_bytes_needed<float>(serial, scan, whole, forward),
                   iso::ct::back_project_bytes_needed<float>(serial, scan, whole, back)));
      iso::ct::forward_project<Kokkos::Serial, float>(serial, staged, x, q, scratch, forward);
      iso::ct::back_project<Kokkos::Serial, float>(serial, staged, p, y, scratch, back);
      for_each_backend([&](auto const& exec) {
        using pair = streamed_pair<std::decay_t<decltype(exec)>, float>;
        std::int64_t const bytes = smallest_limit(
            [&](std::int64_t limit) { return pair::plan(exec, scan, whole, blocks, o, {limit}); });
        pair there(exec, scan, whole, blocks, o, {2 * bytes, 5});
        auto const found = host_projections<float>(scan, -1);
        there.forward(0, x, found);
        CHECK(difference(host_vector(found.data), host_vector(q.data)) == "");
        auto const stepped = signed_volume<float>(whole, 9);
        there.adjoint(0, p, stepped, onto::zero, {}, 0);
        CHECK(difference(host_vector(stepped.data), host_vector(y.data)) == "");
      });
    }
  }
}

TEST_CASE_TEMPLATE(
    "streamed_pair: more views than leave at once, of several kinds, and voxels of any kind", T,
    float, double) {
  grid const whole = grid::centred({15, 17, 37}, {1, 0.9, 0.8});
  geometry const upright = scan_of(104, 0);
  auto mixed = upright.views();
  for (std::size_t n = 60; n < mixed.size(); ++n) {
    auto& w = mixed[n];
    auto const u = w.u_step;
    double const turn = n < 80 ? 0.03 : 1.0;  // a little rolled, or by a quarter of a turn
    w.u_step = (n < 80 ? 1.0 : 0.0) * u + turn * w.v_step;
    w.v_step = (n < 80 ? 1.0 : 0.0) * w.v_step - turn * u;
    w.detector_origin = w.detector_origin + 0.5 * 20 * (u - w.u_step);
  }
  geometry const parallel =
      iso::ct::circular_parallel({21, 34, 1.3, 0.8, 0.3, -1}, iso::ct::even_angles(104, pi, 0.1));
  for (geometry const& scan :
       {upright, geometry(upright.kind(), upright.num_u(), upright.num_v(), mixed), parallel}) {
    for (bool const finite : {true, false}) {
      auto const x = signed_volume<T>(whole, 3);
      if (!finite) {
        x.data(7, 8, 20) = std::numeric_limits<T>::quiet_NaN();
        x.data(3, 2, 0) = std::numeric_limits<T>::infinity();
      }
      projector_options const options{.sum = summation::reproducible};
      auto const blocks = blocks_of(scan, 104);
      Kokkos::Serial const serial;
      auto const expected = host_projections<T>(scan, T(0));
      iso::ct::projector_pair<Kokkos::Serial, T>(serial, scan, whole, blocks, options)
          .forward(0, x, expected);
      for_each_backend([&](auto const& exec) {
        using exec_space = std::decay_t<decltype(exec)>;
        for (std::int64_t const planes : {5, 16}) {
          streamed_pair<exec_space, T> there(exec, scan, whole, blocks, options,
                                             {std::int64_t(1) << 30, planes});
          auto const found = host_projections<T>(scan, T(-1));
          there.forward(0, x, found);
          CHECK(difference(host_vector(found.data), host_vector(expected.data)) == "");
        }
      });
    }
  }
}

TEST_CASE_TEMPLATE(
    "streamed_fdk: the bits of one memory, whatever the limit, of every kind of scan", T, float,
    double) {
  grid const whole = grid::centred({9, 8, 37}, {2, 1.8, 0.8});
  for (auto const& kind : fdk_support::fdk_kinds(35)) {
    auto const& scan = kind.scan;
    auto const& options = kind.options;
    CAPTURE(kind.name);
    auto const pixels = random_pixels<T>(scan, 5);
    auto const p = host_projections<T>(scan, T(0));
    std::copy(pixels.begin(), pixels.end(), p.data.data());
    Kokkos::Serial const serial;
    auto const expected = signed_volume<T>(whole, 1);
    iso::ct::fdk_reconstructor<Kokkos::Serial, T>(serial, scan, whole, options).apply(p, expected);
    for_each_backend([&](auto const& exec) {
      using exec_space = std::decay_t<decltype(exec)>;
      auto const make = [&](std::int64_t bytes) {
        return streamed_fdk<exec_space, T>(exec, scan, whole, options, {bytes});
      };
      bool several_batches = false;
      bool unequal_slabs = false;
      std::int64_t const least = smallest_limit(make);
      for (streaming_options const& limits :
           {streaming_options{least}, {2 * least, 3}, {std::int64_t(1) << 34}}) {
        CAPTURE(limits.device_bytes);
        streamed_fdk<exec_space, T> there(exec, scan, whole, options, limits);
        auto const& plan = there.report().adjoint;
        several_batches = several_batches || plan.views < scan.num_views();
        unequal_slabs = unequal_slabs || whole.extent[2] % plan.planes != 0;
        auto const found = signed_volume<T>(whole, 2);
        for (int times = kind.name == "full" ? 2 : 1; times > 0; --times) {
          there.apply(p, found);
          CHECK(difference(host_vector(found.data), host_vector(expected.data)) == "");
        }
      }
      CHECK(several_batches);
      CHECK(unequal_slabs);
    });
  }
}

namespace {

/// Random readings of 16 bits, the ends of their range among them, and the numbers they stand for.
template <class T>
struct coded_readings {
  iso::ct::stored_readings<host> stored;
  iso::projection_view<T, host> numbers;

  coded_readings(geometry const& scan, unsigned seed) : numbers(host_projections<T>(scan, T(0))) {
    Kokkos::View<std::uint16_t***, Kokkos::LayoutRight, host> const data(
        "stored", scan.num_views(), scan.num_u(), scan.num_v());
    std::mt19937 random(seed);
    std::generate_n(data.data(), data.size(), [&] { return std::uint16_t(random() >> 16); });
    data.data()[0] = 0;
    data.data()[data.size() - 1] = 65535;
    stored = {data, 0.3e-4, -1.7};  // the least number is the largest in size
    std::transform(data.data(), data.data() + data.size(), numbers.data.data(),
                   [](std::uint16_t n) { return T(std::fma(0.3e-4, double(n), -1.7)); });
  }
};

}  // namespace

TEST_CASE_TEMPLATE("streamed: readings of 16 bits give the bits of the numbers they stand for", T,
                   float, double) {
  grid const whole = grid::centred({17, 15, 37}, {1, 0.9, 0.8});
  for (double const roll : {0.0, 0.02}) {
    geometry const scan = scan_of(35, roll);
    coded_readings<T> const p(scan, 5);
    auto const decoded = host_projections<T>(scan, T(-1));
    iso::ct::decode_readings(Kokkos::Serial(), p.stored, decoded);
    CHECK(difference(host_vector(decoded.data), host_vector(p.numbers.data)) == "");
    projector_options const options{.sum = summation::reproducible};
    auto const blocks = blocks_of(scan, 35);
    for_each_backend([&](auto const& exec) {
      using exec_space = std::decay_t<decltype(exec)>;
      using pair = streamed_pair<exec_space, T>;
      streaming_options limits{std::int64_t(1) << 34, 11, true};
      for (bool const small : {false, true}) {
        if (small) {
          limits.device_bytes =
              smallest_limit([&](std::int64_t bytes) {
                return pair::plan(exec, scan, whole, blocks, options, {bytes, 0, true});
              }) *
              5 / 4;
        }
        pair there(exec, scan, whole, blocks, options, limits);
        auto const expected = signed_volume<T>(whole, 1);
        auto const found = signed_volume<T>(whole, 1);
        for (onto const to : {onto::zero, onto::stored}) {
          there.adjoint(0, p.numbers, expected, to);
          std::int64_t const of_numbers = there.report().bytes_in;
          there.adjoint(0, p.stored, found, to);
          CHECK(difference(host_vector(found.data), host_vector(expected.data)) == "");
          std::int64_t const saved = std::int64_t(p.numbers.data.size()) * (sizeof(T) - 2);
          if (to == onto::zero) {
            CHECK(2 * of_numbers - there.report().bytes_in == saved);
            CHECK(there.report().bytes_in - of_numbers == there.report().adjoint.bytes_in);
          }
        }
      }
      streamed_fdk<exec_space, T> fdk(exec, scan, whole, {}, {std::int64_t(1) << 34, 11, true});
      auto const expected = signed_volume<T>(whole, 1);
      auto const found = signed_volume<T>(whole, 2);
      fdk.apply(p.numbers, expected);
      std::int64_t const of_numbers = fdk.report().bytes_in;
      fdk.apply(p.stored, found);
      CHECK(fdk.report().bytes_in - of_numbers == fdk.report().adjoint.bytes_in);
      CHECK(difference(host_vector(found.data), host_vector(expected.data)) == "");
    });
  }
}

TEST_CASE("stored readings: what cannot be is refused in a sentence") {
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  exec_space const exec;
  geometry const scan = scan_of(20, 0);
  grid const whole = grid::centred({12, 13, 24}, {1, 1, 1});
  coded_readings<float> p(scan, 5);
  streamed_pair<exec_space, float> there(exec, scan, whole, blocks_of(scan, 20),
                                         {.sum = summation::reproducible}, {1 << 24});
  auto const x = signed_volume<float>(whole, 1);
  CHECK(iso::test::refusal([&] { there.adjoint(0, p.stored, x); }) ==
        "iso::ct::streamed_pair::adjoint: stored readings (the limits keep no place for them); set "
        "streaming_options::stored_readings");
  p.stored.scale = std::numeric_limits<double>::infinity();
  CHECK(iso::test::refusal([&] { iso::ct::decode_readings(exec, p.stored, p.numbers); }) ==
        "iso::ct::decode_readings: scale inf and offset -1.7 of stored readings (must be finite); "
        "give those of the file");
  auto const fewer = host_projections<float>(scan_of(19, 0), 0);
  CHECK(iso::test::refusal([&] { iso::ct::decode_readings(exec, p.stored, fewer); }) ==
        "iso::ct::decode_readings: projections of [20, 21, 34] (geometry has [19, 21, 34]: views, "
        "u, v); give them the geometry's extents");
}

namespace {

template <class T>
struct found {
  std::vector<T> x;
  std::vector<iteration> history;
};

/// Three iterations of a method from `start` on, its projections by `through`.
template <class Method, class T, class Options>
found<T> run(geometry const& scan, grid const& box, iso::projection_view<T, host> const& readings,
             Options const& options, streamed const& through,
             iso::ct::iterative_masks<T, host> const& masks = {}) {
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const x = iso::make_volume<T, host>(exec, "x", box);
  Method method(exec, scan, readings, x, options, masks, {}, through);
  found<T> result;
  result.history = iso::ct::iterate(method, {.iterations = 3});
  result.x = host_vector(x.data);
  return result;
}

void check_method(auto const& run_method) {
  auto const expected = run_method(streamed());
  CHECK(expected.history.back().residual < expected.history.front().residual);
  for_each_backend([&](auto const& exec) {
    // The smallest takes views in several batches.
    std::int64_t const least =
        smallest_limit([&](std::int64_t bytes) { return run_method(streamed(exec, {bytes})); });
    for (streaming_options const& limits :
         {streaming_options{least}, streaming_options{least + least / 3, 5}, {1 << 30}}) {
      CAPTURE(limits.device_bytes);
      auto const now = run_method(streamed(exec, limits));
      CHECK(difference(now.x, expected.x) == "");
      REQUIRE(now.history.size() == expected.history.size());
      for (std::size_t n = 0; n < now.history.size(); ++n) {
        CHECK(now.history[n].residual == expected.history[n].residual);
      }
    }
  });
}

}  // namespace

TEST_CASE_TEMPLATE("iterative methods: streamed, the iterates of one memory", T, float, double) {
  using exec = Kokkos::DefaultHostExecutionSpace;
  grid const box = grid::centred({13, 12, 25}, {1, 1, 1});
  for (double const roll : {0.0, 0.02}) {
    geometry const scan = scan_of(24, roll);
    auto const body = random_volume<T>(box, 4);
    auto const readings = host_projections<T>(scan, T(0));
    iso::ct::projector_pair<exec, T>(exec(), scan, box).forward(0, body, readings);
    projector_options const by{.sum = summation::reproducible};
    auto const check = [&]<class Method>(auto const& options) {
      check_method([&](streamed const& through) {
        return run<Method, T>(scan, box, readings, options, through);
      });
    };
    check.template operator()<iso::ct::sart<exec, T>>(iso::ct::sart_options{.projector = by});
    check.template operator()<iso::ct::sart<exec, T>>(
        iso::ct::sart_options{.block_views = 6, .projector = by});
    check.template operator()<iso::ct::cgls<exec, T>>(iso::ct::cgls_options{.projector = by});
    check.template operator()<iso::ct::lsqr<exec, T>>(iso::ct::lsqr_options{.projector = by});
    check.template operator()<iso::ct::mlem<exec, T>>(iso::ct::mlem_options{.projector = by});
    check.template operator()<iso::ct::mlem<exec, T>>(
        iso::ct::mlem_options{.block_views = 12, .projector = by});
    check.template operator()<iso::ct::total_variation<exec, T>>(
        iso::ct::total_variation_options{.weight = 0.1, .projector = by});
    auto by_lengths = by;
    by_lengths.method = projector::siddon;
    check.template operator()<iso::ct::sart<exec, T>>(
        iso::ct::sart_options{.projector = by_lengths});
    auto with_fdk = by;
    with_fdk.backprojection = iso::ct::backprojection::fdk;
    check.template operator()<iso::ct::sart<exec, T>>(
        iso::ct::sart_options{.relaxation = 0.5, .projector = with_fdk});
  }
}

TEST_CASE_TEMPLATE("sart: residuals that are made on the device have the bits of one memory", T,
                   float, double) {
  using on_host = Kokkos::DefaultHostExecutionSpace;
  using sart = iso::ct::sart<on_host, T>;
  grid const box = grid::centred({24, 24, 40}, {1, 1, 1});
  std::mt19937 random(9);
  for (double const roll : {0.0, 0.02}) {
    CAPTURE(roll);
    geometry const scan = scan_of(40, roll);
    auto const readings = host_projections<T>(scan, T(0));
    iso::ct::projector_pair<on_host, T>(on_host(), scan, box)
        .forward(0, random_volume<T>(box, 4), readings);
    auto const mask = host_projections<T>(scan, T(1));
    for (std::size_t n = 0; n < mask.data.size(); ++n) {
      mask.data.data()[n] = T(random() % 5 != 0);
    }
    for (bool const masked : {false, true}) {
      for (std::int64_t const views : {0, 20}) {
        CAPTURE(masked);
        CAPTURE(views);
        iso::ct::iterative_masks<T, host> masks;
        if (masked) {
          masks.readings = mask.data;
        }
        auto const by = [&](streamed const& through) {
          return run<sart, T>(scan, box, readings,
                              iso::ct::sart_options{.block_views = views,
                                                    .box = {.lower = 0},
                                                    .projector = {.sum = summation::reproducible}},
                              through, masks);
        };
        auto const expected = by({});
        for_each_backend([&](auto const& exec) {
          // Whole, in batches of 16 views, and in slabs.
          auto const most = std::int64_t(1) << 30;
          std::int64_t const several = min_limit([&](std::int64_t bytes) {
            auto const blocks =
                iso::ct::split_views(40, views == 0 ? 40 : views, iso::ct::block_order::golden);
            auto const plan = streamed_pair<std::decay_t<decltype(exec)>, T>::plan(
                exec, scan, box, blocks, {.sum = summation::reproducible}, {bytes, 25});
            return plan.beside_in > 0;
          });
          for (streaming_options limits : {streaming_options{most}, {most, 40}, {several, 25}}) {
            CAPTURE(limits.device_bytes);
            CAPTURE(limits.max_planes);
            std::int64_t beside = 0;
            limits.told = [&](iso::ct::streaming_report const& plan) { beside = plan.beside_in; };
            auto const now = by(streamed(exec, limits));
            CHECK(beside == (roll == 0 ? 2 : 3) * std::int64_t(readings.data.size() * sizeof(T)));
            CHECK(difference(now.x, expected.x) == "");
            for (std::size_t n = 0; n < now.history.size(); ++n) {
              CHECK(now.history[n].residual == expected.history[n].residual);
            }
          }
        });
      }
    }
  }
}

TEST_CASE("sart: weights of rays come with readings that take more than a slab") {
  using on_host = Kokkos::DefaultHostExecutionSpace;
  // Exact lengths have no halo: sixteen views are as large as a slab, and twice as large with their
  // weights.
  grid const box = grid::centred({24, 24, 120}, {1, 1, 1});
  geometry const scan = scan_of(32, 0);
  auto const readings = host_projections<float>(scan, 0);
  iso::ct::projector_pair<on_host, float>(on_host(), scan, box)
      .forward(0, random_volume<float>(box, 4), readings);
  iso::ct::sart_options const options{
      .block_views = 16,
      .projector = {.method = projector::siddon, .sum = summation::reproducible}};
  using sart = iso::ct::sart<on_host, float>;
  auto const expected = run<sart, float>(scan, box, readings, options, {});
  for_each_backend([&](auto const& exec) {
    std::int64_t beside = 0;
    streaming_options limits{std::int64_t(1) << 30, 20};
    limits.told = [&](iso::ct::streaming_report const& plan) { beside = plan.beside_in; };
    auto const now = run<sart, float>(scan, box, readings, options, streamed(exec, limits));
    CHECK(beside > 0);
    CHECK(difference(now.x, expected.x) == "");
  });
}

TEST_CASE("sart: the largest voxel is looked for once, and anew behind a visit") {
  using on_host = Kokkos::DefaultHostExecutionSpace;
  using sart = iso::ct::sart<on_host, float>;
  grid const box = grid::centred({24, 24, 40}, {1, 1, 1});
  geometry const scan = scan_of(24, 0);
  auto const readings = host_projections<float>(scan, 0);
  iso::ct::projector_pair<on_host, float>(on_host(), scan, box)
      .forward(0, random_volume<float>(box, 4), readings);
  for (std::int64_t const block : {0, 6}) {
    CAPTURE(block);
    iso::ct::sart_options const options{.block_views = block,
                                        .projector = {.sum = summation::reproducible}};
    auto const start = [&](streamed const& through) {
      return sart(on_host(), scan, readings, iso::make_volume<float, host>("x", box), options, {},
                  {}, through);
    };
    // Far above what a step makes.
    auto const put = [](sart& method) {
      method.visit([](char const*, auto& value) {
        if constexpr (requires { value.data; }) {
          for (std::size_t n = 0; n < value.data.size(); ++n) {
            value.data.data()[n] = float(5000 + n % 7);
          }
        }
      });
    };
    auto const bits = [](sart& method) {
      std::vector<float> x;
      method.visit([&](char const*, auto& value) {
        if constexpr (requires { value.data; }) {
          x = host_vector(value.data);
        }
      });
      return x;
    };
    auto here = start({});
    here.step();
    here.step();
    auto const expected = bits(here);
    put(here);
    here.step();
    for_each_backend([&](auto const& exec) {
      auto there = start(streamed(exec, {std::int64_t(1) << 30, 20}));
      REQUIRE(there.streaming().value().beside_in > 0);
      auto const looked = [&] {
        auto const events = iso::test::events_during([&] { there.step(); });
        return std::count_if(events.begin(), events.end(), [](auto const& e) {
          return e.kind == iso::test::event_kind::allocation &&
                 e.name.find("bounds_of") != std::string::npos;
        });
      };
      CHECK(looked() == 1);
      CHECK(looked() == 0);
      CHECK(difference(bits(there), expected) == "");
      put(there);
      CHECK(looked() == 1);
      CHECK(difference(bits(there), bits(here)) == "");
    });
  }
}

TEST_CASE("streamed_pair: what crosses the bus is the volume once, and the stack once") {
  grid const whole = grid::centred({32, 32, 96}, {1, 1, 1});
  geometry const scan = scan_of(48, 0);
  projector_options const options{.sum = summation::reproducible};
  auto const blocks = blocks_of(scan, 48);
  std::int64_t const volume_bytes = whole.size() * 4;
  std::int64_t const stack_bytes = scan.num_views() * scan.num_u() * scan.num_v() * 4;
  std::int64_t const plane_bytes = 32 * 32 * 4;
  std::int64_t const halo = iso::ct::ray_sums<float, host>::halo_needed(scan, whole);
  for_each_backend([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    using pair = streamed_pair<exec_space, float>;
    auto const x = signed_volume<float>(whole, 3);
    auto const p = host_projections<float>(scan, 0);
    auto const all_at_once = [&] {
      return pair(exec, scan, whole, blocks, options, {std::int64_t(1) << 30, 32});
    };
    auto there = all_at_once();
    CHECK(there.report().forward.views == 48);
    CHECK(there.report().forward.planes == 32);
    there.forward(0, x, p);
    std::int64_t planes = 0;
    for (std::int64_t first = 0; first < whole.extent[2]; first += 32) {
      planes +=
          std::min(first + 32 + halo, whole.extent[2]) - std::max(first - halo, std::int64_t(0));
    }
    CHECK(planes > whole.extent[2]);
    CHECK(there.report().bytes_in == planes * plane_bytes);
    CHECK(there.report().bytes_out == stack_bytes);
    auto back = all_at_once();
    back.adjoint(0, p, x);
    CHECK(back.report().bytes_in == stack_bytes);
    CHECK(back.report().bytes_out == volume_bytes);
    back.adjoint(0, p, x, onto::stored);
    CHECK(back.report().bytes_in == 2 * stack_bytes + volume_bytes);
    CHECK(back.report().bytes_out == 2 * volume_bytes);
  });
}

namespace {

/// Bytes that cross the bus.
struct crossing {
  std::int64_t in = 0;
  std::int64_t out = 0;

  friend crossing operator+(crossing const& a, crossing const& b) {
    return {a.in + b.in, a.out + b.out};
  }
  friend bool operator==(crossing const&, crossing const&) = default;
};
[[maybe_unused]] std::ostream& operator<<(std::ostream& out, crossing const& c) {
  return out << c.in << " in, " << c.out << " out";
}

/// What the report says more than before.
crossing crossed(iso::ct::streaming_report const& before, iso::ct::streaming_report const& after) {
  return {after.bytes_in - before.bytes_in, after.bytes_out - before.bytes_out};
}

/// What the plan says that a call of every block will carry.
crossing foretold(streaming_plan const& plan) { return {plan.bytes_in, plan.bytes_out}; }

/// The table of docs/algorithms/streaming.md, of floats.
struct carried_bytes {
  grid box;
  geometry scan;

  [[nodiscard]] std::int64_t volume() const { return box.size() * 4; }
  [[nodiscard]] std::int64_t stack(std::int64_t views) const {
    return views * scan.num_u() * scan.num_v() * 4;
  }
  static std::int64_t batches(streaming_plan const& plan, std::int64_t views) {
    return (views + plan.views - 1) / plan.views;
  }
  [[nodiscard]] crossing forward(streaming_plan const& plan, std::int64_t views) const {
    std::int64_t const halo = iso::ct::ray_sums<float, host>::halo_needed(scan, box);
    std::int64_t const depth = box.extent[2];
    std::int64_t planes = 0;
    for (std::int64_t first = 0; first < depth; first += plan.planes) {
      std::int64_t const last = std::min(first + plan.planes, depth);
      planes += std::min(last + halo, depth) - std::max(first - halo, std::int64_t(0));
    }
    return {batches(plan, views) * planes * volume() / depth, stack(views)};
  }
  [[nodiscard]] crossing adjoint(streaming_plan const& plan, std::int64_t views) const {
    std::int64_t const n = batches(plan, views);
    return {stack(views) + (n - 1) * volume(), n * volume()};
  }
  [[nodiscard]] crossing step(streaming_plan const& plan, std::int64_t views) const {
    std::int64_t const n = batches(plan, views);
    return {stack(views) + (n + 1) * volume(), n * volume()};
  }
};

}  // namespace

TEST_CASE("streamed: what crosses the bus in several batches and slabs, to the byte") {
  using on_host = Kokkos::DefaultHostExecutionSpace;
  grid const box = grid::centred({24, 24, 64}, {1, 1, 1});
  geometry const scan = scan_of(48, 0);
  carried_bytes const table{box, scan};
  auto const body = random_volume<float>(box, 4);
  auto const readings = host_projections<float>(scan, 0);
  iso::ct::projector_pair<on_host, float>(on_host(), scan, box).forward(0, body, readings);
  projector_options const by{.sum = summation::reproducible};
  for_each_backend([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    using pair = streamed_pair<exec_space, float>;
    auto const blocks = blocks_of(scan, 48);
    auto const x = iso::make_volume<float, host>(on_host(), "x", box);
    for (std::int64_t const planes : {64, 20}) {
      for (std::int64_t const views : {48, 32, 16}) {
        CAPTURE(planes);
        CAPTURE(views);
        streaming_options limits{0, planes};
        limits.device_bytes = min_limit([&](std::int64_t bytes) {
          auto const plan = pair::plan(exec, scan, box, blocks, by, {bytes, planes});
          return plan.step.views >= views && plan.forward.views >= views;
        });
        pair there(exec, scan, box, blocks, by, limits);
        auto const plan = there.report();
        std::int64_t const batches = (48 + views - 1) / views;
        REQUIRE(std::max(table.batches(plan.step, 48), table.batches(plan.forward, 48)) == batches);
        REQUIRE((planes == 64 || plan.forward.planes * 2 < 64));
        auto before = there.report();
        auto const check = [&](crossing const& expected) {
          CHECK(crossed(before, there.report()) == expected);
          before = there.report();
        };
        auto const said = pair::plan(exec, scan, box, blocks, by, limits);
        CHECK(foretold(said.forward) == table.forward(plan.forward, 48));
        CHECK(foretold(said.adjoint) == table.adjoint(plan.adjoint, 48));
        CHECK(foretold(said.step) == table.step(plan.step, 48));
        there.forward(0, body, readings);
        check(table.forward(plan.forward, 48));
        there.adjoint(0, readings, x);
        check(table.adjoint(plan.adjoint, 48));
        there.adjoint(0, readings, x, onto::stored);
        check(table.adjoint(plan.adjoint, 48) + crossing{table.volume(), 0});

        auto const check_step = [&](auto& method, crossing const& expected) {
          auto const start = *method.streaming();
          method.step();
          CHECK(crossed(start, *method.streaming()) == expected);
        };
        streamed const through(exec, limits);
        Kokkos::deep_copy(x.data, 0.5F);
        iso::ct::sart<on_host, float> sirt(on_host(), scan, readings, x, {.projector = by}, {}, {},
                                           through);
        crossing const beside{there.report().beside_in, 0};
        // Slabs of a few planes leave no place for weights of rays.
        bool const fits = 16 * scan.num_u() * scan.num_v() <= 24 * 24 * plan.step.planes;
        CHECK(beside.in == (fits ? 2 * table.stack(48) : 0));
        check_step(sirt, table.forward(plan.forward, 48) + table.step(plan.step, 48) + beside);
        iso::ct::mlem<on_host, float> mlem(on_host(), scan, readings, x, {.projector = by}, {}, {},
                                           through);
        check_step(mlem, table.forward(plan.forward, 48) + table.step(plan.step, 48));
        iso::ct::cgls<on_host, float> cgls(on_host(), scan, readings, x, {.projector = by}, {}, {},
                                           through);
        check_step(cgls, table.forward(plan.forward, 48) + table.adjoint(plan.adjoint, 48));
        iso::ct::sart<on_host, float> blocks_of_24(
            on_host(), scan, readings, x, {.block_views = 24, .projector = by}, {}, {}, through);
        auto const of_24 = *blocks_of_24.streaming();
        auto const one = table.forward(of_24.forward, 24) + table.step(of_24.step, 24);
        CHECK(foretold(of_24.forward) + foretold(of_24.step) == one + one);
        check_step(blocks_of_24, one + one + crossing{of_24.beside_in, 0});
      }
    }
  });
}

TEST_CASE("streamed_fdk: what crosses the bus in several batches") {
  grid const box = grid::centred({24, 24, 64}, {1, 1, 1});
  geometry const scan = scan_of(48, 0);
  carried_bytes const table{box, scan};
  auto const p = host_projections<float>(scan, 1);
  auto const x = signed_volume<float>(box, 1);
  for_each_backend([&](auto const& exec) {
    using fdk = streamed_fdk<std::decay_t<decltype(exec)>, float>;
    for (std::int64_t const views : {48, 32, 16}) {
      CAPTURE(views);
      std::int64_t const limit = min_limit([&](std::int64_t bytes) {
        return fdk(exec, scan, box, {}, {bytes, 20}).report().adjoint.views >= views;
      });
      fdk there(exec, scan, box, {}, {limit, 20});
      auto const plan = there.report();
      REQUIRE(plan.adjoint.views == views);
      CHECK(foretold(plan.adjoint) == table.adjoint(plan.adjoint, 48));
      there.apply(p, x);
      CHECK(crossed(plan, there.report()) == table.adjoint(plan.adjoint, 48));
      auto const before = there.report();
      there.apply(p, x);
      CHECK(crossed(before, there.report()) == table.adjoint(plan.adjoint, 48));
    }
  });
}

TEST_CASE("streamed: what iterations of each method and filtered backprojection carry") {
  using on_host = Kokkos::DefaultHostExecutionSpace;
  grid const box = grid::centred({24, 24, 64}, {1, 1, 1});
  geometry const scan = scan_of(48, 0);
  std::int64_t const volume_bytes = box.size() * 4;
  std::int64_t const stack_bytes = scan.num_views() * scan.num_u() * scan.num_v() * 4;
  auto const body = random_volume<float>(box, 4);
  auto const readings = host_projections<float>(scan, 0);
  iso::ct::projector_pair<on_host, float>(on_host(), scan, box).forward(0, body, readings);
  projector_options const by{.sum = summation::reproducible};
  for_each_backend([&](auto const& exec) {
    // One batch, and one slab, which has no halo.
    streaming_options const limits{std::int64_t(1) << 30, 64};
    auto const check = [&]<class Method>(char const* name, auto const& options,
                                         std::int64_t volumes_in, std::int64_t volumes_out) {
      CAPTURE(name);
      auto const x = iso::make_volume<float, host>(on_host(), "x", box);
      Method method(on_host(), scan, readings, x, options, {}, {}, streamed(exec, limits));
      auto const before = *method.streaming();
      method.step();
      auto const after = *method.streaming();
      std::int64_t const beside = std::is_same_v<Method, iso::ct::sart<on_host, float>> ? 2 : 0;
      CHECK(after.beside_in == 2 * stack_bytes);
      CHECK(after.bytes_in - before.bytes_in ==
            volumes_in * volume_bytes + (1 + beside) * stack_bytes);
      CHECK(after.bytes_out - before.bytes_out == volumes_out * volume_bytes + stack_bytes);
    };
    // A projection, and an adjoint.
    check.template operator()<iso::ct::cgls<on_host, float>>(
        "CGLS", iso::ct::cgls_options{.projector = by}, 1, 1);
    check.template operator()<iso::ct::lsqr<on_host, float>>(
        "LSQR", iso::ct::lsqr_options{.projector = by}, 1, 1);
    check.template operator()<iso::ct::total_variation<on_host, float>>(
        "TV", iso::ct::total_variation_options{.weight = 0.1, .projector = by}, 1, 1);
    // A projection, and an adjoint with its step, of each block.
    check.template operator()<iso::ct::mlem<on_host, float>>(
        "MLEM", iso::ct::mlem_options{.projector = by}, 3, 1);
    check.template operator()<iso::ct::mlem<on_host, float>>(
        "OSEM", iso::ct::mlem_options{.block_views = 16, .projector = by}, 9, 3);
    check.template operator()<iso::ct::sart<on_host, float>>(
        "OS-SART", iso::ct::sart_options{.block_views = 12, .projector = by}, 12, 4);

    streamed_fdk<std::decay_t<decltype(exec)>, float> fdk(exec, scan, box, {}, limits);
    auto const x = iso::make_volume<float, host>(on_host(), "x", box);
    fdk.apply(readings, x);
    CHECK(fdk.report().bytes_in == stack_bytes);
    CHECK(fdk.report().bytes_out == volume_bytes);
  });
}

namespace {

/// The bytes that Kokkos takes for the instances that copy: on a GPU some tens of KiB each.
template <class Exec>
std::int64_t bytes_of_instances(Exec const& exec) {
  return iso::test::peak_bytes_of([&] {
    [[maybe_unused]] auto const in = iso::backend::another_instance(exec);
    [[maybe_unused]] auto const out = iso::backend::another_instance(exec);
  });
}

}  // namespace

TEST_CASE("streamed_pair: it takes the device's bytes that it says") {
  grid const whole = grid::centred({32, 31, 48}, {1, 1, 1});
  projector_options const options{.sum = summation::reproducible};
  for (double const roll : {0.0, 0.02}) {
    geometry const scan = scan_of(48, roll);
    auto const blocks = blocks_of(scan, 48);
    auto const x = signed_volume<float>(whole, 3);
    auto const p = host_projections<float>(scan, 0);
    for_each_backend([&](auto const& exec) {
      using exec_space = std::decay_t<decltype(exec)>;
      using pair = streamed_pair<exec_space, float>;
      iso::ct::streaming_report said;
      auto const pass = [&] {
        pair there(exec, scan, whole, blocks, options, {4 << 20});
        there.forward(0, x, p);
        there.adjoint(0, p, x);
        said = there.report();
      };
      pass();  // Kokkos keeps what it takes for reductions.
      auto const taken = iso::test::peak_bytes_of(pass);
      std::int64_t const expected =
          said.device_bytes + said.staging_bytes + bytes_of_instances(exec);
      CHECK(taken <= expected + 4096);
      CHECK(taken >= expected - expected / 50);
    });
  }
}

TEST_CASE("streamed: it says what it will take and carry before it takes anything") {
  grid const whole = grid::centred({32, 31, 48}, {1, 1, 1});
  geometry const scan = scan_of(48, 0);
  auto const blocks = blocks_of(scan, 48);
  projector_options const options{.sum = summation::reproducible};
  struct enough {};
  for_each_backend([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    iso::ct::streaming_report said;
    streaming_options limits{4 << 20};
    auto const taken = [&](auto const& make) {
      said = {};
      limits.told = [&](iso::ct::streaming_report const& report) {
        said = report;
        throw enough();
      };
      return iso::test::peak_bytes_of([&] { CHECK_THROWS_AS(make(), enough); });
    };
    CHECK(taken([&] {
            streamed_pair<exec_space, float>(exec, scan, whole, blocks, options, limits);
          }) < 4096);
    CHECK(said.device_bytes > 1 << 20);
    CHECK(said.forward.bytes_in > whole.size() * 4);
    // FDK's plan alone is there.
    std::int64_t const plan =
        taken([&] { streamed_fdk<exec_space, float>(exec, scan, whole, {}, limits); });
    CHECK(plan < said.device_bytes / 4);
    CHECK(said.adjoint.bytes_out == whole.size() * 4);
  });
}

TEST_CASE("streamed_pair: it takes the bytes that it says with FDK's plan of a leaning detector") {
  grid const whole = grid::centred({32, 31, 48}, {2, 2, 2});
  auto const upright =
      iso::ct::circular_cone({.num_u = 31, .num_v = 37, .pitch_u = 4, .pitch_v = 4}, 200, 320,
                             iso::ct::even_angles(48, 4.0));
  geometry const scan = iso::ct::turn_detector(upright, {.yaw = 0.05, .pitch = 0.1, .roll = 0.01});
  auto const blocks = blocks_of(scan, 48);
  projector_options const options{.sum = summation::reproducible,
                                  .backprojection = iso::ct::backprojection::fdk};
  // Or the plan would have no tables.
  CHECK(iso::ct::fdk_plan<host>(Kokkos::DefaultHostExecutionSpace(), scan,
                                {.scan = {.detector = iso::ct::detector_placement::centred}})
            .shares()
            .begins != nullptr);
  auto const x = signed_volume<float>(whole, 3);
  auto const p = host_projections<float>(scan, 0);
  for_each_backend([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    iso::ct::streaming_report said;
    auto const pass = [&] {
      streamed_pair<exec_space, float> there(exec, scan, whole, blocks, options, {4 << 20});
      there.forward(0, x, p);
      there.adjoint(0, p, x);
      said = there.report();
    };
    pass();
    auto const taken = iso::test::peak_bytes_of(pass);
    std::int64_t const expected = said.device_bytes + said.staging_bytes + bytes_of_instances(exec);
    CHECK(taken <= expected + 4096);
    CHECK(taken >= expected - expected / 50);
  });
}

TEST_CASE("streamed_pair: large arrays are page-locked on a GPU while it is there") {
  using iso::backend::is_page_locked;
  // Arrays below 64 MiB stay as they are, and so does what a View does not own.
  grid const whole = grid::centred({256, 256, 256}, {0.1, 0.1, 0.1});
  geometry const scan = scan_of(16, 0);
  auto const blocks = blocks_of(scan, 16);
  projector_options const options{.sum = summation::reproducible};
  auto const x = signed_volume<float>(whole, 3);
  iso::volume_view<float, host> const not_owned{
      whole, decltype(x.data)(x.data.data(), whole.extent[0], whole.extent[1], whole.extent[2])};
  auto const small = host_projections<float>(scan, 0);
  auto const p = host_projections<float>(scan, 0);
  auto const of_locked = host_projections<float>(scan, 0);
  for_each_backend([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    bool const locks = iso::backend::is_device<exec_space>;
    float const* const last = x.data.data() + x.data.size() - 1;
    {
      streamed_pair<exec_space, float> there(exec, scan, whole, blocks, options, {256 << 20});
      there.page_lock(not_owned.data);
      there.page_lock(small.data);
      CHECK(there.report().page_locked_bytes == 0);
      there.forward(0, x, p);
      there.page_lock(x.data);
      CHECK(there.report().page_locked_bytes == (locks ? whole.size() * 4 : 0));
      CHECK(is_page_locked(exec, x.data.data(), last) == locks);
      there.forward(0, x, of_locked);
    }
    CHECK(!is_page_locked(exec, x.data.data(), last));
    CHECK(iso::test::same_bits(p.data, of_locked.data));
  });
}

TEST_CASE(
    "streamed_fdk: it takes the device's bytes that it says, tables of a leaning detector too") {
  grid const whole = grid::centred({32, 31, 48}, {2, 2, 2});
  auto const displaced =
      iso::ct::circular_cone({.num_u = 31, .num_v = 37, .pitch_u = 4, .pitch_v = 4, .offset_u = 30},
                             200, 320, iso::ct::even_angles(48, 2 * pi));
  geometry const scan =
      iso::ct::turn_detector(displaced, {.yaw = 0.05, .pitch = 0.1, .roll = 0.01});
  iso::ct::fdk_options const options{.scan = {.max_roll = 0.125}};
  auto const x = signed_volume<float>(whole, 3);
  auto const p = host_projections<float>(scan, 0);
  for_each_backend([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    iso::ct::streaming_report said;
    bool tables = false;
    auto const pass = [&] {
      streamed_fdk<exec_space, float> there(exec, scan, whole, options, {4 << 20});
      there.apply(p, x);
      said = there.report();
      tables = there.plan().shares().overlaps != nullptr;
    };
    pass();
    CHECK(tables);
    auto const taken = iso::test::peak_bytes_of(pass);
    std::int64_t const expected = said.device_bytes + said.staging_bytes + bytes_of_instances(exec);
    CHECK(taken <= expected + 4096);
    CHECK(taken >= expected - expected / 50);
  });
}

TEST_CASE("streamed: the smallest plan's bytes are taken, and a byte less is refused") {
  grid const whole = grid::centred({17, 15, 37}, {1, 0.9, 0.8});
  geometry const scan = scan_of(35, 0.02);
  auto const blocks = blocks_of(scan, 35);
  projector_options const options{.sum = summation::reproducible};
  for_each_backend([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    auto const check = [&](auto const& make) {
      std::int64_t const least = smallest_limit(make);
      CHECK(make(least) == least);
      try {
        make(least - 1);
        FAIL("a limit below the smallest plan was taken");
      } catch (iso::out_of_memory const& failure) {
        CHECK(std::int64_t(failure.requested()) == least);
        CHECK(std::int64_t(failure.available()) == least - 1);
      }
    };
    check([&](std::int64_t bytes) {
      return streamed_pair<exec_space, float>(exec, scan, whole, blocks, options, {bytes})
          .report()
          .device_bytes;
    });
    check([&](std::int64_t bytes) {
      return streamed_fdk<exec_space, float>(exec, scan, whole, {}, {bytes}).report().device_bytes;
    });
  });
}

TEST_CASE(
    "streamed: what cannot be is refused in a sentence, and a cancelled call may be repeated") {
  Kokkos::DefaultHostExecutionSpace const exec;
  using pair = streamed_pair<Kokkos::DefaultHostExecutionSpace, float>;
  grid const whole = grid::centred({12, 13, 24}, {1, 1, 1});
  geometry const scan = scan_of(20, 0);
  auto const blocks = blocks_of(scan, 20);
  projector_options options;
  auto const make = [&](streaming_options const& limits) {
    return iso::test::refusal([&] { pair(exec, scan, whole, blocks, options, limits); });
  };
  CHECK(make({1 << 24}) ==
        "iso::ct::streamed_pair: ordered sums (sums of slabs have no order); choose reproducible "
        "sums, which have the same bits in one memory");
  options.sum = summation::reproducible;
  CHECK(make({0}) ==
        "iso::ct::streamed_pair: a limit of 0 bytes (it must be positive); give the bytes of the "
        "device's memory that may be used");
  CHECK(make({1 << 24, -1}) ==
        "iso::ct::streamed_pair: slabs of at most -1 planes (must not be negative); give 0 to "
        "have it chosen");
  std::string small;
  try {
    pair(exec, scan, whole, blocks, options, {1000});
  } catch (iso::out_of_memory const& failure) {
    small = failure.what();
  }
  CHECK(small.find("a limit of 1000 bytes (slabs of one plane, with what projections read about "
                   "it, and 16 views need ") != std::string::npos);
  options.projection = iso::ct::projection::texture;
  CHECK(make({1 << 24}).find("texture units (they read whole volumes)") != std::string::npos);
  options.projection = iso::ct::projection::exact;

  pair there(exec, scan, whole, blocks, options, {1 << 22, 4});
  auto const x = signed_volume<float>(whole, 3);
  auto const p = host_projections<float>(scan, 0);
  there.forward(0, x, p);
  auto const expected = host_vector(p.data);
  int asked = 0;
  iso::job const stop{{}, [&] { return ++asked == 3; }};
  CHECK_THROWS_AS(there.forward(0, x, p, stop), iso::cancelled);
  there.forward(0, x, p);
  CHECK(difference(host_vector(p.data), expected) == "");
  auto const other = signed_volume<float>(grid::centred({12, 13, 23}, {1, 1, 1}), 1);
  CHECK(iso::test::refusal([&] { there.forward(0, other, p); }) ==
        "iso::ct::streamed_pair::forward: a volume on another grid (what streams is for one); "
        "make another");
  std::vector<double> told;
  there.forward(0, x, p, {[&](double fraction) { told.push_back(fraction); }, {}});
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 1);
}
