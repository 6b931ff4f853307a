// SPDX-License-Identifier: BSD-3-Clause
// The two halves of fdk, which programs may call themselves: filter_projections and
// weighted_back_project. And the memory of a reconstructor, which has both.
#include "fdk_truth.hpp"
#include "instances.hpp"
#include "kokkos_events.hpp"

#include <iso/ct/fdk_reconstructor.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace fdk_support;
using iso::test::refusal;

/// Filtered views, with their columns extended. All that is written begins as NaN.
template <class T, class Exec>
iso::projection_view<T, typename Exec::memory_space> filtered(
    Exec const& exec, iso::ct::fdk_plan<typename Exec::memory_space> const& plan,
    geometry const& scan, stack<T> const& p, fdk_options const& options) {
  using space = typename Exec::memory_space;
  geometry const& g = plan.geometry().host();
  auto const pixels = iso::stage<iso::access::read>(exec, p.data);
  auto const out = iso::make_projections<T, space>("filtered", g.num_views(), g.num_u(), g.num_v());
  Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
  iso::workspace<space> const scratch(
      iso::ct::filter_projections_bytes_needed<T>(exec, scan, options));
  fill_with_nan(exec, scratch);
  iso::ct::filter_projections<Exec, T>(exec, plan, {pixels.view()}, out, scratch);
  exec.fence("test_fdk_halves");
  return out;
}

}  // namespace

TEST_CASE_TEMPLATE("fdk: its halves give its bits on every backend, onto zero and what is stored",
                   T, float, double) {
  auto const volume = grid::centred({13, 11, 40}, {1.3, 1.1, 0.8});
  auto const angles = iso::ct::even_angles(37, 2 * pi, 0.3);
  struct scan {
    geometry g;
    fdk_options options = {};
  };
  for (auto const& [g, options] : std::vector<scan>{
           {iso::ct::circular_cone({33, 41, 1.1, 0.9, 2.5, -1}, 120, 180, angles), {}},
           {iso::ct::circular_cone({33, 41, 1.1, 0.9, 9}, 120, 180, angles),
            {.window = ramp_window::hann, .scan = {.truncation_correction = 5}}},
           {iso::ct::circular_parallel({31, 29, 0.8, 1.2, 1, 3}, iso::ct::even_angles(19, pi)), {}},
           {fdk_truth::posed(beam::cone, {.skew = -20}, iso::ct::even_angles(37, 1.4 * pi, 0.3),
                             {.num_u = 80, .num_v = 50, .pitch = 2.4}),
            {}}}) {
    auto const p = random_stack<T>(g);
    auto const once = reconstructed(Kokkos::Serial(), g, p, volume, options);
    iso::test::for_each_instance([&](auto const& exec) {
      using Exec = std::decay_t<decltype(exec)>;
      using space = typename Exec::memory_space;
      iso::ct::fdk_plan<space> const plan(exec, g, options);
      auto const views = filtered<T>(exec, plan, g, p, options);
      auto const out = iso::make_volume<T, space>("out", volume);
      Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
      iso::workspace<space> const scratch(
          iso::ct::weighted_back_project_bytes_needed<T>(exec, g, options));
      fill_with_nan(exec, scratch);
      iso::ct::weighted_back_project<Exec, T>(exec, plan, views, out, scratch);
      exec.fence("test_fdk_halves");
      CHECK(difference(host_vector(out.data), once) == "");

      // What is stored, here the volume itself, is where the sum begins.
      auto const twice = iso::make_volume<T, space>("twice", volume);
      Kokkos::deep_copy(exec, twice.data, out.data);
      iso::ct::weighted_back_project<Exec, T>(exec, plan, views, out, scratch, iso::onto::stored);
      iso::workspace<space> const work(iso::ct::fdk_bytes_needed<T>(exec, g, options));
      auto const pixels = iso::stage<iso::access::read>(exec, p.data);
      iso::ct::fdk<Exec, T>(exec, plan, {pixels.view()}, twice, work, iso::onto::stored);
      exec.fence("test_fdk_halves");
      CHECK(difference(host_vector(out.data), host_vector(twice.data)) == "");
    });
  }
}

TEST_CASE("filter_projections: a row of a parallel beam is the plain convolution") {
  auto const g = iso::ct::circular_parallel({45, 3, 1.5, 2}, iso::ct::even_angles(5, pi));
  for (auto const window : {ramp_window::ram_lak, ramp_window::hamming}) {
    fdk_options const options{.window = window};
    auto const p = random_stack<double>(g);
    iso::ct::fdk_plan<host> const plan(Kokkos::Serial(), g, options);
    auto const out = filtered<double>(Kokkos::Serial(), plan, g, p, options).data;
    auto const taps = iso::ct::ramp_taps(45, options);
    int wrong = 0;
    for (std::int64_t view = 0; view < 5; ++view) {
      for (std::int64_t u = 0; u < 45; ++u) {
        for (std::int64_t v = 0; v < 3; ++v) {
          double sum = 0;
          for (std::int64_t from = 0; from < 45; ++from) {
            sum = std::fma(taps[std::size_t(std::abs(u - from))], p.data(view, from, v), sum);
          }
          wrong += out(view, u, v) == sum ? 0 : 1;
        }
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("fdk: what its halves refuse") {
  auto const g = iso::ct::circular_cone({16, 8, 1, 1}, 120, 180, iso::ct::even_angles(20, 2 * pi));
  Kokkos::Serial const exec;
  using Exec = Kokkos::Serial;
  iso::ct::fdk_plan<host> const plan(exec, g);
  auto const p = random_stack<float>(g);
  auto const out = random_stack<float>(g, 2);
  auto const voxels = iso::make_volume<float, host>("voxels", grid::centred({8, 8, 8}, {1, 1, 1}));
  std::int64_t const bytes = iso::ct::filter_projections_bytes_needed<float>(exec, g);
  CHECK(bytes < iso::ct::fdk_bytes_needed<float>(exec, g));
  CHECK(iso::ct::weighted_back_project_bytes_needed<float>(exec, g) <
        iso::ct::fdk_bytes_needed<float>(exec, g));
  iso::workspace<host> const scratch(iso::ct::fdk_bytes_needed<float>(exec, g));
  auto const filter = [&](stack<float> const& from, stack<float> const& to,
                          iso::workspace<host> const& work) {
    return refusal([&] { iso::ct::filter_projections<Exec, float>(exec, plan, from, to, work); });
  };
  CHECK(filter(p, out, scratch) == "");
  CHECK(filter(p, p, scratch).find("filtered and projections overlap") != std::string::npos);
  CHECK(filter(p, out, iso::workspace<host>(bytes - 1)).find(std::to_string(bytes)) !=
        std::string::npos);
  auto const narrow = iso::make_projections<float, host>("narrow", 20, 15, 8);
  CHECK(filter(narrow, out, scratch).find("[20, 15, 8]") != std::string::npos);
  CHECK(filter(p, narrow, scratch).find("[20, 15, 8]") != std::string::npos);
  auto const back = [&](stack<float> const& from, iso::onto onto) {
    return refusal([&] {
      iso::ct::weighted_back_project<Exec, float>(exec, plan, from, voxels, scratch, onto);
    });
  };
  CHECK(back(out, iso::onto::zero) == "");
  CHECK(back(narrow, iso::onto::zero).find("[20, 15, 8]") != std::string::npos);
  CHECK(back(out, iso::onto(2)).find("onto 2") != std::string::npos);
}

TEST_CASE_TEMPLATE("fdk: a reconstructor takes the memory that it asks for, and no more", T, float,
                   double) {
  iso::ct::flat_detector const middle{60, 4, 2, 2};
  iso::ct::flat_detector const beside{60, 4, 2, 2, 20};
  auto const cone = [](iso::ct::flat_detector const& d, double arc) {
    return iso::ct::circular_cone(d, 300, 450, iso::ct::even_angles(90, arc));
  };
  // Rays of a column differ where columns do not run along z.
  auto const rolled = [](geometry const& g) {
    auto views = g.views();
    for (auto& w : views) {
      auto const u = w.u_step;
      w.u_step = std::cos(0.01) * u + std::sin(0.01) * w.v_step;
      w.v_step = std::cos(0.01) * w.v_step - std::sin(0.01) * u;
    }
    return geometry(g.kind(), g.num_u(), g.num_v(), views);
  };
  struct scan {
    geometry g;
    fdk_options options = {};
  };
  scan const scans[] = {{cone(middle, 2 * pi)},
                        {cone(middle, 2 * pi), {.scan = {.truncation_correction = 30}}},
                        {cone(middle, 1.3 * pi)},
                        {cone(beside, 2 * pi)},
                        {rolled(cone(middle, 1.3 * pi))},
                        {rolled(cone(beside, 2 * pi))},
                        {iso::ct::circular_parallel(middle, iso::ct::even_angles(40, pi))}};
  grid const box = grid::centred({9, 7, 11}, {1.25, 1, 1});
  iso::test::for_each_instance([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    using reconstructor = iso::ct::fdk_reconstructor<exec_space, T>;
    for (auto const& [g, options] : scans) {
      auto const needed = reconstructor::bytes_needed(exec, g, options);
      auto const taken = iso::test::peak_bytes_of([&] { reconstructor(exec, g, box, options); });
      // Kokkos counts 128 bytes for each of the weights' arrays that has no elements.
      CHECK(taken >= needed);
      CHECK(taken <= needed + std::int64_t(3) * 128);
    }
  });
}
