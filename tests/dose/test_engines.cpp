// SPDX-License-Identifier: BSD-3-Clause
// The engines beside each other, and tabulated kernels.
#include "dose_support.hpp"
#include "instances.hpp"

#include <iso/oracle/dose.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

using namespace dose_support;

/// Largest and root mean square difference over the maximum of `b`.
struct distance {
  double most;
  double rms;
};
template <class T, class U>
distance apart(host_volume<T> const& a, host_volume<U> const& b) {
  auto const x = numbers(a);
  auto const y = numbers(b);
  double const top = double(*std::max_element(y.begin(), y.end()));
  distance d{0, 0};
  for (std::size_t n = 0; n < x.size(); ++n) {
    double const difference = (double(x[n]) - double(y[n])) / top;
    d.most = std::max(d.most, std::fabs(difference));
    d.rms += difference * difference;
  }
  d.rms = std::sqrt(d.rms / double(x.size()));
  return d;
}

/// A field of 30 mm onto a small body with a layer of lung.
setup small_body(iso::array<std::int64_t, 3> const& voxels = {30, 36, 30}) {
  auto s = setup::square(grid::centred(voxels, {2, 2, 2}), 30, 900);
  s.margin = 12;
  return s;
}
double layers(std::int64_t, std::int64_t j, std::int64_t) { return j >= 12 && j < 22 ? 0.26 : 1.0; }

template <class T>
host_volume<T> dose_of(setup const& s) {
  return calculation<T, Kokkos::DefaultHostExecutionSpace>({}, s, volume_of<T>(s.phantom, layers))
      .dose_on_host();
}

}  // namespace

TEST_CASE("dose: lines of every voxel are those of the oracle") {
  for (auto const& [table, oblique] :
       {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    CAPTURE(table);
    CAPTURE(oblique);
    auto s = turned(small_body(), oblique);
    s.phantom = grid::centred({13, 17, 11}, {5, 4, 6});
    s.field.gantry = oblique ? s.field.gantry : 0.4;
    s.cones = {4, 5};
    s.options.engine = dose_engine::voxel_lines;
    auto const density = volume_of<double>(s.phantom, layers);
    s.kernel = table ? point_kernel(mix_kernels(water_kernels(), named_spectrum("mohan_6mv")))
                     : point_kernel(named_kernel("6mv_quad"));
    calculation<double, Kokkos::DefaultHostExecutionSpace> const c({}, s, density);
    auto const terma = c.terma_on_host();
    auto const offset = s.phantom.to_index(c.region.origin);
    auto const at = [&](int axis) { return std::int64_t(std::lround(offset[axis])); };
    auto const rho = volume_of<double>(c.region, [&](auto i, auto j, auto k) {
      return density.data(i + at(0), j + at(1), k + at(2));
    });
    auto const exact = iso::oracle::exact_dose(s.field, make_cones(s.kernel, s.cones), true,
                                               {terma.grid, terma.data}, {rho.grid, rho.data});
    auto const dose = c.dose_on_host();
    double const most = *std::max_element(exact.begin(), exact.end());
    double worst = 0;
    auto const& n = c.region.extent;
    for (std::int64_t v = 0; v < c.region.size(); ++v) {
      double const mine =
          dose.data(v / n[2] / n[1] + at(0), v / n[2] % n[1] + at(1), v % n[2] + at(2));
      worst = std::max(worst, std::fabs(mine - exact[std::size_t(v)]) / most);
    }
    MESSAGE("largest difference from the oracle: ", worst, " of the maximum");
    // A table is straight within a sixteenth of an octave.
    CHECK(worst < (table ? 1e-3 : 1e-9));
  }
}

TEST_CASE("dose: tables of exponentials give their dose") {
  auto const kernel = named_kernel("6mv");
  for (auto const& [engine, oblique] : {std::pair(dose_engine::lattice, false),
                                        {dose_engine::voxel_lines, false},
                                        {dose_engine::lattice, true},
                                        {dose_engine::voxel_lines, true}}) {
    auto s = turned(small_body({20, 28, 20}), oblique);
    s.options.tilt = false;  // a table tilts its terms together
    CAPTURE(int(engine));
    CAPTURE(oblique);
    s.options.engine = engine;
    s.kernel = kernel;
    s.own_cones = make_cones(kernel);
    auto const expected = dose_of<float>(s);
    s.kernel = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
    s.own_cones = tabulated(make_cones(kernel));
    auto const d = apart(dose_of<float>(s), expected);
    MESSAGE("engine ", int(engine), ": largest difference ", d.most, " of the maximum");
    CHECK(d.most < 1e-3);
  }
}

namespace {

struct sampled {
  dose_engine engine;
  double step;
  double spacing;
  double max_rms;
};

void check_sampled(bool oblique, iso::array<std::int64_t, 3> const& voxels,
                   std::vector<sampled> const& rows) {
  auto s = turned(small_body(voxels), oblique);
  s.options.engine = dose_engine::voxel_lines;
  s.cones = {4, 8};
  auto const lines = dose_of<double>(s);
  for (sampled const& r : rows) {
    s.options.engine = r.engine;
    s.options.radial_step = r.step;
    s.options.ray_spacing = r.spacing;
    auto const d = apart(dose_of<double>(s), lines);
    MESSAGE(std::string(oblique ? "oblique, " : ""), "engine ", int(r.engine), ", step ", r.step,
            " mm, rays ", r.spacing, " mm apart: largest ", 100 * d.most, " %, rms ", 100 * d.rms,
            " % of the maximum");
    CHECK(d.rms < r.max_rms);
  }
}

}  // namespace

TEST_CASE("dose: engines that sample come near exact lines") {
  check_sampled(false, {20, 28, 20}, {{dose_engine::non_voxel, 1, 2, 0.03}});
  check_sampled(true, {20, 28, 20},
                {{dose_engine::voxel_samples, 1, 2, 0.02}, {dose_engine::non_voxel, 1, 2, 0.03}});
}

TEST_CASE("dose: engines that sample come near exact lines, every step") {
  for (bool const oblique : {false, true}) {
    check_sampled(oblique, {30, 36, 30},
                  {{dose_engine::voxel_samples, 1, 2, 0.02},
                   {dose_engine::voxel_samples, 0.5, 2, 0.02},
                   {dose_engine::non_voxel, 1, 2, 0.03},
                   {dose_engine::non_voxel, 1, 1, 0.03}});
  }
}

TEST_CASE("dose: every engine and either kernel has the same bits on all backends") {
  auto s = small_body();
  s.phantom = grid::centred({17, 21, 15}, {4, 3, 5});
  s.field.gantry = 0.7;
  s.cones = {4, 4};
  auto const density = volume_of<float>(s.phantom, layers);
  auto const table = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
  for (auto const engine : {dose_engine::lattice, dose_engine::voxel_lines,
                            dose_engine::voxel_samples, dose_engine::non_voxel}) {
    for (bool const is_table : {false, true}) {
      CAPTURE(int(engine));
      CAPTURE(is_table);
      s.options.engine = engine;
      s.kernel = is_table ? point_kernel(table) : point_kernel(named_kernel("6mv"));
      std::vector<float> dose;
      iso::test::for_each_instance([&](auto const& exec) {
        using exec_space = std::decay_t<decltype(exec)>;
        auto const mine = numbers(calculation<float, exec_space>(exec, s, density).dose_on_host());
        dose = dose.empty() ? mine : dose;
        CHECK(iso::test::difference(dose, mine) == "");
      });
      CHECK(*std::max_element(dose.begin(), dose.end()) > 1e-12F);
    }
  }
}

TEST_CASE("dose: kernels keep the energy of their tables") {
  // Sums of model/data/kernel_*.csv, and what cones make of them.
  CHECK(absorbed_within(named_kernel("6mv"), 60) == doctest::Approx(0.9581337).epsilon(1e-6));
  CHECK(absorbed_within(named_kernel("6mv_quad"), 60) == doctest::Approx(0.9581337).epsilon(1e-6));
  CHECK(absorbed_within(named_kernel("6mv"), 1e9) == doctest::Approx(1.0327).epsilon(1e-4));
  struct row {
    double radius;
    double fraction;
  };
  // The data of which the exponentials are a fit, to its error of 1.14 per cent.
  for (row const r :
       {row{0.5, 0.384}, row{1, 0.488}, row{2, 0.542}, row{10, 0.652}, row{20, 0.765}}) {
    CAPTURE(r.radius);
    CHECK(std::fabs(absorbed_within(named_kernel("6mv"), r.radius) - r.fraction) < 0.0115);
    CHECK(std::fabs(
              absorbed_within(mix_kernels(water_kernels(), named_spectrum("mohan_6mv")), r.radius) -
              r.fraction) < 0.004);
  }
  for (char const* const name : {"4mv", "6mv", "6mv_quad", "10mv", "15mv", "24mv"}) {
    CAPTURE(name);
    auto const k = named_kernel(name);
    for (auto const placing : {cone_placing::equal_energy, cone_placing::equal_solid_angle}) {
      for (int const n : {4, 8, 24, 48}) {
        if (n == 48 && std::string(name) != "6mv") {
          continue;  // seconds, all of them
        }
        auto const cones = make_cones(k, {n, n, placing});
        double sum = 0;
        double within = 0;
        for (auto const& cone : std::get<exponential_cones>(cones.absorbed).terms) {
          for (std::size_t c = 0; c < std::size_t(k.num_terms); ++c) {
            sum += n * cone.energy[c];
            within -= n * cone.energy[c] * std::expm1(-60 * cone.rate[c]);
          }
        }
        CHECK(sum == doctest::Approx(absorbed_within(k, 1e9)).epsilon(1e-9));
        CHECK(within == doctest::Approx(absorbed_within(k, 60)).epsilon(5e-3));
      }
    }
  }
  auto const table = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
  for (int const n : {4, 8, 48}) {
    double sum = 0;
    auto const cones = make_cones(table, {n, n});
    for (auto const& within : std::get<tabulated_cones>(cones.absorbed).within) {
      sum += n * within.back();
    }
    CHECK(sum == doctest::Approx(absorbed_within(table, 60)).epsilon(1e-9));
  }
}

TEST_CASE("dose: kernels and spectra that make no sense are refused") {
  using iso::test::refusal;
  auto const kernel = [](std::string const& text) {
    return refusal([&] { parse_exponential_kernel(text, "k.csv"); });
  };
  CHECK(kernel("0,90,0.04,1,0.03,1\n90,180,0.04,1,0.03,1\n") == "");
  CHECK(kernel("0,90,1,1,1,1\n100,180,1,1,1,1\n").find("must begin at 90") != std::string::npos);
  CHECK(kernel("0,90,1,1,1,1\n").find("must reach 180") != std::string::npos);
  CHECK(kernel("0,180,1,-1,1,1\n").find("rate of -1") != std::string::npos);
  CHECK(kernel("0,180,-1,1,0.5,1\n").find("must not be negative") != std::string::npos);
  CHECK(kernel("0,180,1,1,1\n").find("6 or 10") != std::string::npos);
  CHECK(kernel("").find("empty") != std::string::npos);
  CHECK(kernel("0,180,1,x,1,1\n0,180,1,x,1,1\n").find("no finite number") != std::string::npos);
  CHECK(kernel("0,180,nan,1,1,1\n") ==
        "k.csv, line 1: \"nan\" (is no finite number); write numbers with commas between");
  CHECK(kernel("low,high,A,a,B,b\n0,180,1O,1,1,1\n").find("line 2: \"1O\"") != std::string::npos);
  // Terms that vanish somewhere, or change their sign, have no mean rate.
  CHECK(kernel("0,90,0.08,1,0,1\n90,180,0.08,1,0.001,0.05\n").find("must not be 0") !=
        std::string::npos);
  CHECK(kernel("0,90,0.1,1,0.01,1\n90,180,0.1,1,-0.01,1\n").find("must keep its sign") !=
        std::string::npos);
  CHECK(kernel("0,180,1,1,1,1\n").find("absorbs 25.1") != std::string::npos);
  CHECK(kernel("0,180,1e-30,1,1e-30,1\n").find("of the released energy (must be from") !=
        std::string::npos);
  auto const table = [](std::string const& text) {
    return refusal([&] { parse_tabulated_kernel(text, "t.csv"); });
  };
  CHECK(table("90,1,0.5\n90,2,0.2\n180,1,0.1\n180,2,0.1\n") == "");
  CHECK(table("90,1,0.5\n90,2,0.2\n180,1,0.1\n").find("hole") != std::string::npos);
  CHECK(table("90,1,0.5\n180,1,-0.1\n").find("must not be negative") != std::string::npos);
  CHECK(table("90,1,0.5\n180,2,0.1\n").find("shells of the first") != std::string::npos);
  CHECK(table("90,1,0.5\n").find("ends at 90") != std::string::npos);
  CHECK(table("10,1,0.5\n10,5,0.3\n180,1,0\n180,5,0\n").find("absorbs nothing within 15 cm") !=
        std::string::npos);
  CHECK(table("90,1,50\n90,2,20\n180,1,10\n180,2,10\n").find("absorbs 90 of") != std::string::npos);
  CHECK(refusal([] {
          parse_mono_kernels("1,90,1,0.5\n1,180,1,0.4\n2,60,1,0.5\n2,180,1,0.4\n", "m.csv");
        }) ==
        "m.csv: the kernel of 2 MeV has other cones or shells than that of 1 MeV (they are mixed "
        "cell by cell); tabulate all on the same angles and radii");
  CHECK(refusal([] { named_kernel("7mv"); }).find("choose") != std::string::npos);
  CHECK(refusal([] { named_spectrum("7mv"); }).find("choose") != std::string::npos);
  CHECK(refusal([] { make_cones(named_kernel("6mv"), {3, 8}); }) ==
        "iso::dose::make_cones: cones is 3 (must be from 4 to 48); choose another");
  CHECK(refusal([] { make_cones(named_kernel("6mv"), {8, 49}); }) ==
        "iso::dose::make_cones: azimuths is 49 (must be from 4 to 48); choose another");
  CHECK(refusal([] {
          make_cones(named_kernel("6mv"), {8, 8, cone_placing(7)});
        }).find("placing is 7 (none of its values); choose one of ") != std::string::npos);
  CHECK(refusal([] {
          mix_kernels(water_kernels(), {{{8, 1, 0.02, 0.015}}});
        }).find("kernels end at 6") != std::string::npos);
  // Below the first kernel that one is taken.
  CHECK(absorbed_within(mix_kernels(water_kernels(), {{{0.1, 1, 0.17, 0.026}}}), 60) ==
        doctest::Approx(0.99285).epsilon(1e-4));
  auto const spectrum_of = [](std::string const& text) {
    return refusal([&] { parse_spectrum(text, "s.csv"); });
  };
  CHECK(spectrum_of("1,1,0.07,0.03\n2,1,0.05,0.026\n") == "");
  CHECK(spectrum_of("1,1,0.07,0.03\n1,1,0.05,0.026\n").find("rise") != std::string::npos);
  CHECK(spectrum_of("1,-1,0.07,0.03\n").find("negative") != std::string::npos);
  CHECK(spectrum_of("1,0,0.07,0.03\n").find("no photons") != std::string::npos);
  for (char const* const odd : {"1,1,0.07,1e-300\n", "1e-300,1,0.07,0.03\n", "1,1,1e300,0.03\n"}) {
    CAPTURE(odd);
    CHECK(spectrum_of(odd).find("must be from 1e-9 to 1e9") != std::string::npos);
  }
  CHECK(spectrum_of("1,1e308,0.07,0.03\n2,1e308,0.05,0.02\n").find("add up to inf") !=
        std::string::npos);
}

TEST_CASE("dose: plans that make no sense are refused") {
  auto const s = small_body();
  Kokkos::Serial const exec;
  auto const plan = [&](grid const& region, beam_frame const& frame,
                        convolution_options const& options) {
    return iso::test::refusal([&] {
      convolution_plan<float, Kokkos::HostSpace>(exec, region, frame, s.field.fluence,
                                                 make_cones(s.kernel), options);
    });
  };
  auto const frame = frame_of(s.field);
  CHECK(plan(s.phantom, frame, {}) == "");
  for (double const step : {0.0, -1.0, 1e-300, double(NAN)}) {
    CHECK(plan(s.phantom, frame, {.radial_step = step}).find("radial step") != std::string::npos);
    CHECK(plan(s.phantom, frame, {.ray_spacing = step}).find("ray spacing") != std::string::npos);
  }
  for (auto const engine : {dose_engine::voxel_samples, dose_engine::non_voxel}) {
    CHECK(plan(s.phantom, frame, {.engine = engine, .radial_step = 500})
              .find("a quarter of the region's longest side") != std::string::npos);
  }
  CHECK(plan(s.phantom, frame, {.engine = dose_engine::non_voxel, .ray_spacing = 500})
            .find("a quarter of the region's longest side") != std::string::npos);
  CHECK(plan(s.phantom, frame, {.radial_step = 500, .ray_spacing = 500}) == "");
  auto nowhere = frame;
  nowhere.source.x = NAN;
  CHECK(plan(s.phantom, nowhere, {}).find("not finite") != std::string::npos);
  auto flat = s.phantom;
  flat.spacing.y = 0;
  CHECK(plan(flat, frame, {}).find("spacing") != std::string::npos);
}

TEST_CASE("dose: kernels made by hand are checked by what takes them") {
  using iso::test::refusal;
  auto const exponential = [](auto const& change) {
    auto k = named_kernel("6mv");
    change(k);
    return refusal([&] { make_cones(k); });
  };
  CHECK(exponential([](auto&) {}) == "");
  CHECK(exponential([](auto& k) { k.cones.clear(); }) ==
        "iso::dose::make_cones: a kernel without cones (its directions are missing); give cones "
        "from 0 to pi");
  CHECK(exponential([](auto& k) { k.num_terms = 9; }).find("9 terms") != std::string::npos);
  CHECK(exponential([](auto& k) { k.cones.pop_back(); }).find("must reach pi") !=
        std::string::npos);
  CHECK(exponential([](auto& k) { k.cones[3].terms[1].rate = 0; }).find("rate of 0") !=
        std::string::npos);
  CHECK(exponential([](auto& k) { k.cones[3].terms[0].amplitude = NAN; }).find("amplitude") !=
        std::string::npos);
  auto const tabulated = [](auto const& change) {
    auto k = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
    change(k);
    return refusal([&] { make_cones(k); });
  };
  CHECK(tabulated([](auto&) {}) == "");
  CHECK(tabulated([](auto& k) { k = {}; }) ==
        "iso::dose::make_cones: a kernel without cones (its directions are missing); give cones "
        "from 0 to pi");
  CHECK(tabulated([](auto& k) { k.radii[3] = 0; }).find("must be positive and rise") !=
        std::string::npos);
  CHECK(tabulated([](auto& k) { k.cones[7].fraction.pop_back(); }).find("23 shells") !=
        std::string::npos);
  CHECK(tabulated([](auto& k) { k.cones[7].fraction[2] = NAN; }).find("fraction of nan") !=
        std::string::npos);
  auto kernels = water_kernels();
  kernels[1].kernel.cones.resize(3);
  CHECK(refusal([&] { mix_kernels(kernels, named_spectrum("mohan_6mv")); }) != "");
  auto const s = small_body();
  auto const plan = [&](auto const& change) {
    auto cones = make_cones(s.kernel);
    change(cones);
    return refusal([&] {
      convolution_plan<float, Kokkos::HostSpace>(Kokkos::Serial(), s.phantom, s.field, cones);
    });
  };
  CHECK(plan([](auto&) {}) == "");
  std::string const advice = "by iso::dose::make_cones";
  auto const sums = [&](auto const& change) {
    return plan([&](auto& c) { change(std::get<exponential_cones>(c.absorbed)); });
  };
  CHECK(sums([](auto& c) { c.terms[2].rate[0] = 0; }).find(advice) != std::string::npos);
  CHECK(sums([](auto& c) { c.terms.pop_back(); }).find(advice) != std::string::npos);
  CHECK(plan([](auto& c) { c.cones[2].tilt.coefficients[1][3] = NAN; }).find(advice) !=
        std::string::npos);
  CHECK(plan([](auto& c) { c.cones.clear(); }).find(advice) != std::string::npos);
  // Of three terms, a plan would leave one out.
  for (int const terms : {0, 1, 3, 5}) {
    CHECK(sums([&](auto& c) { c.num_terms = terms; }).find("must be 2 or 4") != std::string::npos);
  }
  CHECK(plan([](auto& c) { c.absorbed = tabulated_cones(); }).find(advice) != std::string::npos);
}

TEST_CASE("dose: a spectrum whose photons do not get through a depth step is refused") {
  Kokkos::Serial const exec;
  auto const s = small_body();
  auto const plan = [&](spectrum const& photons) {
    return iso::test::refusal(
        [&] { terma_plan<Kokkos::HostSpace> const made(exec, s.field, photons); });
  };
  CHECK(plan(named_spectrum("mohan_6mv")) == "");
  CHECK(plan({{{0.05, 1, 0.2269, 0.0422}}}) == "");
  for (spectrum const& low : {spectrum{{{0.003, 1, 192.9, 191.7}}}, {{{0.01, 1, 5.33, 4.94}}}}) {
    CHECK(plan(low).find("leave out bins of low energy") != std::string::npos);
  }
}

TEST_CASE("dose: the field is where a map is open") {
  fluence_map map{-200, -160, 10, 8, 40, 40, std::vector<double>(1600, 0)};
  for (std::int64_t i = 15; i < 25; ++i) {
    for (std::int64_t j = 14; j < 27; ++j) {
      map.values[std::size_t(i * 40 + j)] = 1;
    }
  }
  auto const open = map.open_edges();
  CHECK(open.x_low == -50);
  CHECK(open.x_high == 50);
  CHECK(open.y_low == -48);
  CHECK(open.y_high == 56);
  // Region and dose are then those of the rectangle, to the bit.
  auto s = small_body();
  s.field.fluence = {-60, -60, 10, 10, 12, 12, std::vector<double>(144, 0)};
  for (std::int64_t i = 5; i < 7; ++i) {
    for (std::int64_t j = 5; j < 7; ++j) {
      s.field.fluence.values[std::size_t(i * 12 + j)] = 1;
    }
  }
  auto const water = volume_of<double>(s.phantom, [](auto, auto, auto) { return 1; });
  calculation<double, Kokkos::Serial> const by_map(Kokkos::Serial(), s, water);
  s.field.fluence = fluence_map::rectangle(-10, 10, -10, 10);
  calculation<double, Kokkos::Serial> const by_rectangle(Kokkos::Serial(), s, water);
  CHECK(by_map.region == by_rectangle.region);
  auto const a = numbers(by_map.dose_on_host());
  auto const b = numbers(by_rectangle.dose_on_host());
  double most = 0;
  double largest = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    most = std::max(most, std::fabs(a[n] - b[n]));
    largest = std::max(largest, b[n]);
  }
  REQUIRE(largest > 1e-13);
  CHECK(most <= 1e-14 * largest);
}

TEST_CASE("dose: beams that make no sense are refused") {
  using iso::test::refusal;
  auto const s = small_body();
  auto const region = [&](auto const& change) {
    beam b = s.field;
    change(b);
    return refusal([&] { region_around(b, s.phantom); });
  };
  CHECK(region([](beam&) {}) == "");
  CHECK(region([](beam& b) { b.isocentre.x = 1e4; }).find("misses the patient") !=
        std::string::npos);
  CHECK(region([](beam& b) {
          b.fluence = fluence_map::rectangle(0, 0, -1, 1);
        }).find("size must be positive") != std::string::npos);
  CHECK(region([](beam& b) { b.fluence.values[0] = -1; }).find("not negative") !=
        std::string::npos);
  CHECK(region([](beam& b) { b.fluence.values[0] = 0; }).find("zero everywhere") !=
        std::string::npos);
  CHECK(region([](beam& b) { b.source_distance = 60; }).find("within the patient") !=
        std::string::npos);
  CHECK(region([](beam& b) { b.gantry = NAN; }).find("must be finite") != std::string::npos);
}

TEST_CASE("dose: densities that are negative or not finite make the region NaN") {
  auto s = small_body();
  s.cones = {4, 4};
  s.options.radial_step = 4;
  s.options.ray_spacing = 4;
  point_kernel const table = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
  for (double const bad : {-1.0, -1e6, double(NAN), double(INFINITY)}) {
    CAPTURE(bad);
    auto density = volume_of<float>(s.phantom, layers);
    density.data(15, 20, 15) = float(bad);
    for (auto const& [engine, kernel] :
         {std::pair{dose_engine::lattice, point_kernel(named_kernel("6mv"))},
          std::pair{dose_engine::lattice, table}, std::pair{dose_engine::non_voxel, table},
          std::pair{dose_engine::voxel_lines, table}}) {
      s.options.engine = engine;
      s.kernel = kernel;
      calculation<float, Kokkos::DefaultHostExecutionSpace> const c({}, s, density);
      auto const dose = c.dose_on_host();
      CHECK(std::isnan(dose.data(15, 5, 15)));
      std::uint32_t bits;
      std::memcpy(&bits, &dose.data(15, 5, 15), sizeof bits);
      CHECK(bits == 0x7fc00000U);
    }
  }
}

TEST_CASE("dose: the gantry's angles put the source where IEC 61217 does") {
  beam b;
  b.fluence = fluence_map::rectangle(-1, 1, -1, 1);
  struct row {
    double gantry;
    double couch;
    double collimator;
    vec3<double> source;
    vec3<double> x;
  };
  // Patient's axes: x to the left, y to the back, z to the head.
  for (row const& r :
       {row{0, 0, 0, {0, -1000, 0}, {1, 0, 0}}, row{pi / 2, 0, 0, {1000, 0, 0}, {0, 1, 0}},
        row{pi, 0, 0, {0, 1000, 0}, {-1, 0, 0}}, row{1.5 * pi, 0, 0, {-1000, 0, 0}, {0, -1, 0}},
        row{0, 0, pi / 2, {0, -1000, 0}, {0, 0, 1}},
        // A couch that turns the head towards the gantry's right at 90 degrees.
        row{pi / 2, pi / 2, 0, {0, 0, -1000}, {0, 1, 0}}}) {
    b.gantry = r.gantry;
    b.couch = r.couch;
    b.collimator = r.collimator;
    auto const f = frame_of(b);
    CHECK(norm(f.source - r.source) == 0);
    CHECK(norm(f.x - r.x) == 0);
    CHECK(dot(f.x, f.y) == 0);
    CHECK(norm(cross(f.y, f.x) - f.along) == 0);
  }
}
