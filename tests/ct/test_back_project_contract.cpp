// SPDX-License-Identifier: BSD-3-Clause
// What back_project refuses, in which words, and that nothing is written then.
#include "back_project_support.hpp"

#include <iso/core/error.hpp>
#include <iso/core/wrap.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace {

using namespace projector_support;
using iso::test::refusal;
using exec_space = Kokkos::Serial;

/// A good call of back_project, to be spoilt one argument at a time.
struct call {
  geometry scan = iso::ct::circular_cone({4, 5, 1, 1}, 20, 30, iso::ct::even_angles(20, 2 * pi));
  iso::projection_view<float, host> pixels = iso::make_projections<float, host>("p", 20, 4, 5);
  iso::volume_view<float, host> out =
      iso::make_volume<float, host>("out", grid::centred({6, 7, 8}, {1, 1, 1}));
  iso::workspace<host> scratch{1 << 20};
  back_project_options options;
  iso::onto to = iso::onto::zero;

  std::string operator()() const {
    return refusal_of(out.data, [&](iso::job const& control) {
      iso::ct::back_project<exec_space, float>(exec_space(), iso::ct::stage(exec_space(), scan),
                                               pixels, out, scratch, options, to, control);
    });
  }
};

}  // namespace

TEST_CASE("back_project: what it refuses") {
  CHECK(call()() == "");
  call c;
  c.pixels = iso::make_projections<float, host>("p", 20, 4, 6);
  CHECK(c() ==
        "iso::ct::back_project: projections of [20, 4, 6] (geometry has [20, 4, 5]: views, u, v); "
        "give them the geometry's extents");
  c = {};
  c.pixels = iso::make_projections<float, host>("p", 21, 4, 5);
  CHECK(c() ==
        "iso::ct::back_project: 21 views of projections from view 0 on (the geometry has 20); give "
        "no more views than the geometry has from there on");
  c = {};
  c.options.first_view = 16;
  CHECK(c() ==
        "iso::ct::back_project: 20 views of projections from view 16 on (the geometry has 20); "
        "give no more views than the geometry has from there on");
  c.pixels = iso::make_projections<float, host>("p", 4, 4, 5);
  CHECK(c() == "");
  c.options.first_view = 15;
  CHECK(c() ==
        "iso::ct::back_project: first_view 15 (must be a multiple of 16: sums go by blocks of "
        "views); begin at the block that holds it");
  c = {};
  c.options.method = projector(9);
  CHECK(c() ==
        "iso::ct::back_project: method is 9 (none of its values); choose one of joseph, "
        "joseph-spline, amanatides-woo, branchless, siddon, exact");
  c = {};
  c.to = iso::onto(2);
  CHECK(c() ==
        "iso::ct::back_project: onto 2 (none of its enumeration); choose from iso/core/onto.hpp");
  c = {};
  c.options.oversampling = 2;
  CHECK(c() ==
        "iso::ct::back_project: oversampling 2 with a Joseph projector (only the exact methods "
        "oversample); leave it at 1");
  c.options.oversampling = 65;
  CHECK(c() ==
        "iso::ct::back_project: oversampling 65 (must lie in 1..64); use 1 for one ray per pixel");
  c = {};
  c.scan = iso::ct::circular_cone({65536, 32768, 1, 1}, 20, 30, iso::ct::even_angles(20, 2 * pi));
  CHECK(c() ==
        "iso::ct::back_project: a detector of 65536 x 32768 pixels (must be below 2^31); bin or "
        "crop the detector");
  c = {};
  c.options.words = 4;
  CHECK(c() ==
        "iso::ct::back_project: words 4 (must lie in 0..3); leave it at 0 to have it chosen");
  c = {};
  c.options.max_abs = -1.0;
  CHECK(c() ==
        "iso::ct::back_project: max_abs -1 (must be finite and not negative); leave it empty to "
        "have it computed");
  c = {};
  c.options.shape.groups_per_launch = -1;
  CHECK(c() ==
        "iso::ct::back_project: groups_per_launch -1 (must not be negative); leave it at 0 for one "
        "launch");
  c = {};
  c.pixels.data = {};
  CHECK(c().find("iso::ct::back_project: 0 views of projections") == 0);
  c = {};
  c.out.data = decltype(c.out.data)(nullptr, 6, 7, 8);
  c.out.data = {};
  CHECK(c().find("iso::ct::back_project: ") == 0);
}

TEST_CASE("back_project: arrays that overlap, too little scratch, a cancelled job") {
  call c;
  c.scratch = iso::workspace<host>(64);
  CHECK(c().find("iso::ct::back_project: scratch of 64 bytes (") == 0);
  c = {};
  // The volume over the pixels.
  iso::volume_view<float, host> const over{c.out.grid,
                                           decltype(c.out.data)(c.pixels.data.data(), 6, 7, 8)};
  CHECK(refusal([&] {
          iso::ct::back_project<exec_space, float>(exec_space(),
                                                   iso::ct::stage(exec_space(), c.scan), c.pixels,
                                                   over, c.scratch, c.options);
        }).find("iso::ct::back_project: ") == 0);
  for (auto const method : all_methods) {
    int asked = 0;
    back_project_options options;
    options.method = method;
    iso::job const control{{}, [&] { return ++asked == 1; }};
    CHECK_THROWS_AS((iso::ct::back_project<exec_space, float>(
                        exec_space(), iso::ct::stage(exec_space(), c.scan), c.pixels, c.out,
                        c.scratch, options, c.to, control)),
                    iso::cancelled);
    CHECK(asked == 1);
  }
  CHECK(refusal([&] {
          iso::ct::back_project_bytes_needed<float>(
              exec_space(), c.scan, grid{{std::int64_t(1) << 24, 4, 4}, {1, 1, 1}, {0, 0, 0}});
        }).find("iso::ct::back_project: volume of [16777216, 4, 4] voxels") == 0);
}

TEST_CASE("back_project: a processor's thread is asked to stop after a part of the volume") {
  // Sixteen views of 64^3 voxels and 256 x 256 pixels are 2^26 samples.
  problem const p{grid::centred({64, 64, 64}, {1, 1, 1}),
                  iso::ct::circular_cone({256, 256, 0.5, 0.5}, 300, 500,
                                         iso::ct::even_angles(16, 2 * pi, 0.1))};
  auto const pixels = random_pixels<float>(p.scan);
  auto const scan = iso::ct::stage(exec_space(), p.scan);
  auto const readings = staged_pixels(exec_space(), p.scan, pixels, 0, 16);
  auto const out = iso::make_volume<float, host>("out", p.volume);
  for (back_project_options const& options :
       {back_project_options{}, back_project_options{.path = iso::ct::joseph_path::general},
        back_project_options{.method = iso::ct::projector::siddon}}) {
    iso::workspace<host> const scratch(
        iso::ct::back_project_bytes_needed<float>(exec_space(), p.scan, p.volume, options));
    int asked = 0;
    auto const run = [&](int stop_at) {
      asked = 0;
      iso::job const control{{}, [&] { return ++asked == stop_at; }};
      iso::ct::back_project<exec_space, float>(exec_space(), scan, readings, out, scratch, options,
                                               iso::onto::zero, control);
    };
    run(0);
    // A scatter is asked once its rays are set up, too; exact lengths are 1.7 chords a sample.
    bool const scatters = !iso::ct::detail::gathers(p.scan, p.volume, sizeof(float), options);
    CHECK(asked >= (scatters ? 3 : 2) + (iso::ct::detail::is_joseph(options.method) ? 0 : 1));
    CHECK_THROWS_AS(run(1), iso::cancelled);
    CHECK(asked == 1);
  }
}
