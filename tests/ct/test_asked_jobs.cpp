// SPDX-License-Identifier: BSD-3-Clause
// How often long calls on a processor ask their job, and that it changes no bit.
#include "back_project_support.hpp"
#include "fdk_support.hpp"

#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ct/total_variation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace asked_jobs {
namespace {

using namespace fdk_support;
using exec_space = Kokkos::Serial;

/// What a job saw of a call.
struct asked_job {
  int asked = 0;
  int stop_at = 0;  ///< 0: never
  std::vector<double> told;

  iso::job control() {
    return {[&](double fraction) { told.push_back(fraction); }, [&] { return ++asked == stop_at; }};
  }
};

/// Checks that run(control) asks at least so often, tells how far it is, writes what it writes
/// without a job, and ends where it is told to.
template <class Run, class Result>
void check_job(int least, Run const& run, Result const& result) {
  run(iso::job{});
  auto const alone = result();
  asked_job listening;
  run(listening.control());
  CHECK(difference(result(), alone) == "");
  CHECK(listening.asked >= least);
  CHECK(std::is_sorted(listening.told.begin(), listening.told.end()));
  CHECK(listening.told.back() == 1);
  asked_job stopping;
  stopping.stop_at = 2;
  CHECK_THROWS_AS(run(stopping.control()), iso::cancelled);
  CHECK(stopping.asked == 2);
}

/// Checks that the constructor of an iterative method asks after each of so many arrays, of which
/// large ones take long, beside what its projections ask; and that it ends at each question.
template <template <class, class> class Method, class Options>
void check_constructor(int arrays, Options const& options) {
  auto const scan = iso::ct::circular_cone({7, 7, 1, 1}, 100, 150, iso::ct::even_angles(5, 2 * pi));
  auto const readings = iso::make_projections<float, host>("readings", 5, 7, 7);
  Kokkos::deep_copy(readings.data, 1.0F);
  iso::projection_view<float const, host> const b = readings;
  auto const make = [&](iso::job const& control) {
    auto const x = iso::make_volume<float, host>("x", grid::centred({6, 5, 4}, {1, 1, 1}));
    Method<exec_space, float> const method(exec_space(), scan, b, x, options, {}, control);
  };
  asked_job listening;
  make(listening.control());
  CHECK(listening.asked - int(listening.told.size()) >= arrays);
  for (int n = 1; n <= listening.asked; ++n) {
    asked_job stopping;
    stopping.stop_at = n;
    CHECK_THROWS_AS(make(stopping.control()), iso::cancelled);
    CHECK(stopping.asked == n);
  }
}

}  // namespace

TEST_CASE("iterative methods: a constructor is asked to stop after each array that it makes") {
  // The readings, a block's projections and the correction, and each method's own.
  check_constructor<iso::ct::sart>(5, iso::ct::sart_options{});
  check_constructor<iso::ct::sart>(8, iso::ct::sart_options{.block_views = 2});
  check_constructor<iso::ct::mlem>(5, iso::ct::mlem_options{});
  check_constructor<iso::ct::cgls>(5, iso::ct::cgls_options{});
  check_constructor<iso::ct::lsqr>(6, iso::ct::lsqr_options{});
  check_constructor<iso::ct::total_variation>(14, iso::ct::total_variation_options{.weight = 1});
}

TEST_CASE("fdk: a processor's thread is asked to stop within a batch of views") {
  // Sixteen views of 2^22 voxels are 2^26 samples.
  grid const g = grid::centred({256, 256, 64}, {1, 1, 1});
  exec_space const exec;
  for (double const pitch : {0.0, 0.1}) {
    CAPTURE(pitch);
    auto const scan = iso::ct::turn_detector(
        iso::ct::circular_cone({48, 40, 4, 4}, 500, 800, iso::ct::even_angles(16, 2 * pi)),
        {.pitch = pitch});
    auto const p = random_stack<float>(scan);
    auto const out = iso::make_volume<float, host>("out", g);
    iso::ct::fdk_plan<host> const plan(exec, scan);
    iso::workspace<host> const scratch(iso::ct::fdk_bytes_needed<float>(exec, scan));
    check_job(
        3,
        [&](iso::job const& control) {
          iso::ct::fdk<exec_space, float>(exec, plan, p, out, scratch, iso::onto::zero, control);
        },
        [&] { return host_vector(out.data); });
    auto const filtered = iso::make_projections<float, host>("filtered", 16, scan.num_u(), 40);
    iso::workspace<host> const more(iso::ct::weighted_back_project_bytes_needed<float>(exec, scan));
    check_job(
        2,
        [&](iso::job const& control) {
          iso::ct::weighted_back_project<exec_space, float>(exec, plan, filtered, out, more,
                                                            iso::onto::zero, control);
        },
        [&] { return host_vector(out.data); });
  }
}

TEST_CASE("filter_projections: a processor's thread is asked to stop within a batch of views") {
  // Eight views of 2^17 pixels, with 2^10 taps and sixteen products a sample, are 2^26 samples.
  exec_space const exec;
  auto const scan =
      iso::ct::circular_cone({1024, 128, 1, 1}, 800, 1200, iso::ct::even_angles(8, 2 * pi));
  auto const p = random_stack<float>(scan);
  iso::ct::fdk_plan<host> const plan(exec, scan);
  iso::workspace<host> const scratch(iso::ct::filter_projections_bytes_needed<float>(exec, scan));
  auto const filtered = iso::make_projections<float, host>("filtered", 8, 1024, 128);
  check_job(
      3,
      [&](iso::job const& control) {
        iso::ct::filter_projections<exec_space, float>(exec, plan, p, filtered, scratch, control);
      },
      [&] { return host_vector(filtered.data); });
}

TEST_CASE("back_project: a processor's thread is asked to stop while rays are set up") {
  // Sixteen views of 256 x 256 rays, half of whose readings are no numbers.
  problem const p{
      grid::centred({24, 24, 24}, {1, 1, 1}),
      iso::ct::turn_detector(iso::ct::circular_cone({256, 256, 0.2, 0.2}, 300, 500,
                                                    iso::ct::even_angles(16, 2 * pi, 0.1)),
                             {.pitch = 0.1})};
  exec_space const exec;
  auto pixels = random_pixels<float>(p.scan);
  for (std::size_t n = 0; n < pixels.size(); n += 2) {
    pixels[n] = std::numeric_limits<float>::quiet_NaN();
  }
  auto const scan = iso::ct::stage(exec, p.scan);
  auto const readings = staged_pixels(exec, p.scan, pixels, 0, 16);
  auto const out = iso::make_volume<float, host>("out", p.volume);
  for (auto const method : all_methods) {
    back_project_options options;
    options.method = method;
    iso::workspace<host> const scratch(
        iso::ct::back_project_bytes_needed<float>(exec, p.scan, p.volume, options));
    check_job(
        8,
        [&](iso::job const& control) {
          iso::ct::back_project<exec_space, float>(exec, scan, readings, out, scratch, options,
                                                   iso::onto::zero, control);
        },
        [&] { return host_vector(out.data); });
  }
}

TEST_CASE("phantoms: a job is asked between batches of voxels and of pixels") {
  exec_space const exec;
  auto const head = iso::ct::shepp_logan(50);
  auto const volume =
      iso::make_volume<float, host>("volume", grid::centred({40, 40, 70}, {2, 2, 2}));
  check_job(
      4,
      [&](iso::job const& control) {
        iso::ct::rasterise_ellipsoids<exec_space, float>(exec, head, volume, {}, control);
      },
      [&] { return host_vector(volume.data); });
  auto const scan =
      iso::ct::circular_cone({30, 40, 4, 4}, 500, 800, iso::ct::even_angles(6, 2 * pi));
  auto const pixels = iso::make_projections<float, host>("pixels", 6, 30, 40);
  check_job(
      4,
      [&](iso::job const& control) {
        iso::ct::project_ellipsoids<exec_space, float>(exec, head, iso::ct::stage(exec, scan),
                                                       pixels, {.subsamples = 2}, control);
      },
      [&] { return host_vector(pixels.data); });
}

}  // namespace asked_jobs
