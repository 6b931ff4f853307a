// SPDX-License-Identifier: BSD-3-Clause
// Collapsed-cone convolution: the same bits everywhere, each voxel once, exact lines.
#include "dose_support.hpp"
#include "instances.hpp"

#include <iso/backend/registry.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace dose_support;

setup small_field(double gantry = 0.3, double couch = 0.2) {
  setup s{grid::centred({33, 41, 37}, {3, 2.5, 4}), {}};
  s.field.fluence = fluence_map::rectangle(-21, 26, -17, 30);
  s.field.gantry = gantry;
  s.field.couch = couch;
  s.field.collimator = 0.5;
  return s;
}

template <class T>
void check_same_bits(setup const& s) {
  auto const density = volume_of<T>(s.phantom, mixed);
  std::vector<T> terma;
  std::vector<T> dose;
  iso::test::for_each_instance([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    calculation<T, exec_space> const c(exec, s, density);
    auto const my_terma = numbers(c.terma_on_host());
    auto const my_dose = numbers(c.dose_on_host());
    if (dose.empty()) {
      terma = my_terma;
      dose = my_dose;
      REQUIRE(*std::max_element(dose.begin(), dose.end()) > T(1e-12));
    }
    CHECK(iso::test::difference(terma, my_terma) == "");
    CHECK(iso::test::difference(dose, my_dose) == "");
  });
}

}  // namespace

TEST_CASE_TEMPLATE("dose: TERMA and dose have the same bits on all backends", T, float, double) {
  auto s = small_field();
  // A third of the voxels, for what is of a direction or of a step.
  auto const smaller = grid::centred({19, 21, 37}, {3, 2.5, 4});
  SUBCASE("as they are") { check_same_bits<T>(s); }
  SUBCASE("four terms") {
    s.phantom = smaller;
    s.kernel = named_kernel("6mv_quad");
    s.cones = {5, 7};
    check_same_bits<T>(s);
  }
  SUBCASE("many directions") {
    s.phantom = smaller;
    s.cones = {12, 12};
    check_same_bits<T>(s);
  }
  SUBCASE("along an axis") {
    s.phantom = smaller;
    s.field.gantry = pi / 2;
    s.field.couch = 0;
    check_same_bits<T>(s);
  }
  SUBCASE("by items, as a GPU walks") {
    s.options.walk = lattice_walk::by_items;
    check_same_bits<T>(s);
    s.phantom = smaller;
    s.cones = {12, 12};
    check_same_bits<T>(s);
  }
  SUBCASE("lines of every voxel") {
    s.phantom = smaller;
    s.options.engine = dose_engine::voxel_lines;
    s.cones = {4, 4};
    check_same_bits<T>(s);
  }
}

TEST_CASE_TEMPLATE("dose: how the lattice's lines are dealt out changes no bit", T, float, double) {
  // Regions of one voxel, and narrower than the lines are displaced.
  for (auto const extent :
       {iso::array<std::int64_t, 3>{33, 41, 37}, {5, 60, 3}, {1, 1, 1}, {2, 1, 40}}) {
    for (double const gantry : {0.3, pi / 2, 2.4}) {
      auto s = small_field(gantry);
      s.phantom = grid::centred(extent, {3, 2.5, 4});
      auto const density = volume_of<T>(s.phantom, mixed);
      std::array<std::vector<T>, 2> doses;
      for (auto const walk : {lattice_walk::by_slabs, lattice_walk::by_items}) {
        for (int const cones : {8, 12}) {
          s.options.walk = walk;
          s.cones = {cones, 6};
          Kokkos::DefaultHostExecutionSpace const exec;
          auto const mine = numbers(
              calculation<T, Kokkos::DefaultHostExecutionSpace>(exec, s, density).dose_on_host());
          auto& expected = doses[std::size_t(cones == 8 ? 0 : 1)];
          expected = expected.empty() ? mine : expected;
          CHECK(iso::test::difference(expected, mine) == "");
        }
      }
    }
  }
}

TEST_CASE("dose: GPUs refuse to walk by slabs, and take an option that has no effect") {
  auto s = small_field();
  s.options.walk = lattice_walk::by_slabs;
  iso::test::for_each_instance([&](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    using plan = convolution_plan<float, typename exec_space::memory_space>;
    auto const refused = [&](point_kernel const& kernel, dose_engine engine) {
      s.options.engine = engine;
      auto const cones = make_cones(kernel, s.cones);
      return iso::test::refusal([&] { plan(exec, s.phantom, s.field, cones, s.options); }) != "";
    };
    auto const table = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
    CHECK(refused(s.kernel, dose_engine::lattice) == iso::backend::is_device<exec_space>);
    CHECK_FALSE(refused(s.kernel, dose_engine::voxel_lines));
    CHECK_FALSE(refused(table, dose_engine::lattice));
  });
}

TEST_CASE("dose: how a voxel's lines are walked changes no bit") {
  auto s = small_field();
  s.options.engine = dose_engine::voxel_lines;
  s.cones = {4, 4};
  auto const density = volume_of<float>(s.phantom, mixed);
  std::vector<float> dose;
  for (auto const method : {iso::ray::traversal::amanatides_woo, iso::ray::traversal::branchless,
                            iso::ray::traversal::siddon}) {
    s.options.traversal = method;
    Kokkos::DefaultHostExecutionSpace const exec;
    auto const mine = numbers(
        calculation<float, Kokkos::DefaultHostExecutionSpace>(exec, s, density).dose_on_host());
    dose = dose.empty() ? mine : dose;
    CHECK(iso::test::difference(dose, mine) == "");
  }
}

namespace {

struct body_and_beam {
  bool lung;
  bool oblique;
};

/// Onto bodies of `across` x `deep` x `across` voxels of 2 mm, the middle half of them lung. Of a
/// small body the field's edges, where the two differ most, are the larger part.
void check_lattice(std::int64_t across, std::int64_t deep, double max_rms,
                   std::vector<body_and_beam> const& rows) {
  using exec_space = Kokkos::DefaultHostExecutionSpace;
  exec_space const exec;
  for (auto const& [lung, oblique] : rows) {
    CAPTURE(lung);
    CAPTURE(oblique);
    auto s =
        turned(setup::square(grid::centred({across, deep, across}, {2, 2, 2}), 50, 900), oblique);
    bool const in_lung = lung;
    auto const density = volume_of<double>(s.phantom, [&](auto, std::int64_t j, auto) {
      return in_lung && 4 * j >= deep && 4 * j < 3 * deep ? 0.26 : 1.0;
    });
    calculation<double, exec_space> const lattice(exec, s, density);
    s.options.engine = dose_engine::voxel_lines;
    calculation<double, exec_space> const lines(exec, s, density);
    auto const a = lattice.dose_on_host();
    auto const b = lines.dose_on_host();
    auto const& r = lattice.region;
    vec3<double> const first = s.phantom.to_index(r.origin);
    double most = 0;
    for (double const x : numbers(b)) {
      most = std::max(most, x);
    }
    double squares = 0;
    double beyond_edges = 0;
    std::int64_t count = 0;
    auto const frame = frame_of(s.field);
    for (std::int64_t i = 0; i < r.extent[0]; ++i) {
      for (std::int64_t j = 0; j < r.extent[1]; ++j) {
        for (std::int64_t k = 0; k < r.extent[2]; ++k) {
          auto const at = [&](host_volume<double> const& v) {
            return v.data(i + std::int64_t(std::lround(first.x)),
                          j + std::int64_t(std::lround(first.y)),
                          k + std::int64_t(std::lround(first.z)));
          };
          double const d = (at(a) - at(b)) / most;
          squares += d * d;
          ++count;
          auto const p =
              frame.of({r.origin.x + r.spacing.x * double(i), r.origin.y + r.spacing.y * double(j),
                        r.origin.z + r.spacing.z * double(k)});
          double const scale = p.depth / frame.source_distance;
          double const edge =
              std::min(std::fabs(std::fabs(p.x) - 25), std::fabs(std::fabs(p.y) - 25));
          // The surface is an edge too: the lattice's first layer is as coarse as its voxels. An
          // oblique beam enters and leaves by all faces.
          double surface = p.depth - 900;
          if (oblique) {
            vec3<double> const voxel{double(i) + first.x, double(j) + first.y, double(k) + first.z};
            surface = 1e9;
            for (int axis = 0; axis < 3; ++axis) {
              double const last = double(s.phantom.extent[std::size_t(axis)] - 1);
              surface = std::min(surface, 2 * (std::min(voxel[axis], last - voxel[axis]) + 0.5));
            }
          }
          if (edge * scale > 4.5 && surface > 4.5) {
            beyond_edges = std::max(beyond_edges, std::fabs(d));
          }
        }
      }
    }
    double const rms = std::sqrt(squares / double(count));
    std::string const name = std::string(oblique ? "oblique, " : "") + (lung ? "lung, " : "");
    MESSAGE(name, "lattice against lines: rms ", 100 * rms,
            " %, beyond 4.5 mm of the edges at most ", 100 * beyond_edges, " % of the maximum");
    CHECK(rms < max_rms);
    // Lung stretches what an edge does.
    CHECK(beyond_edges < (!lung ? 0.01 : oblique ? 0.021 : 0.015));
  }
}

}  // namespace

TEST_CASE("dose: the lattice is as exact lines are") {
  check_lattice(40, 44, 0.0075,
                {{.lung = false, .oblique = false}, {.lung = true, .oblique = true}});
}

TEST_CASE("dose: the lattice is as exact lines are, every body and beam") {
  check_lattice(50, 60, 0.005,
                {{.lung = false, .oblique = false},
                 {.lung = false, .oblique = true},
                 {.lung = true, .oblique = false},
                 {.lung = true, .oblique = true}});
}

namespace {

/// The dose of `terma` in water, untilted, on the lattice.
host_volume<double> lattice_dose(host_volume<double> const& terma, point_kernel const& kernel,
                                 cone_options const& cones, double gantry) {
  Kokkos::Serial const exec;
  beam b;
  b.gantry = gantry;
  b.fluence = fluence_map::rectangle(-10, 10, -10, 10);
  auto const water = volume_of<double>(terma.grid, [](auto, auto, auto) { return 1; });
  convolution_plan<double, Kokkos::HostSpace> const plan(
      exec, terma.grid, b, make_cones(kernel, cones), {.tilt = false});
  iso::workspace<Kokkos::HostSpace> const scratch(convolve_bytes_needed<double>(exec, plan));
  auto const dose = iso::make_volume<double, Kokkos::HostSpace>("dose", terma.grid);
  convolve<Kokkos::Serial, double>(exec, plan, terma, water, dose, scratch);
  return dose;
}

}  // namespace

TEST_CASE("dose: every direction's lines visit each voxel once") {
  // All energy is absorbed where it is released: a voxel's dose counts its visits.
  auto const kernel = parse_exponential_kernel("0,60,1200,1e4,800,1e4\n60,180,200,1e4,120,1e4\n",
                                               "absorbed at once");
  auto const random =
      volume_of<double>(grid::centred({19, 23, 17}, {3, 2, 4}),
                        [](auto i, auto j, auto k) { return 0.1 + mixed(i, j, k); });
  double const energy = absorbed_within(kernel, 1);
  for (int const count : {4, 7, 12}) {
    for (double const gantry : {0.0, 0.4}) {
      auto const dose = lattice_dose(random, kernel, {count, count}, gantry);
      double worst = 0;
      for (std::size_t n = 0; n < dose.data.size(); ++n) {
        worst =
            std::max(worst, std::fabs(dose.data.data()[n] / random.data.data()[n] / energy - 1));
      }
      // TERMA is rounded by up to 2^-37.
      CHECK(worst < 0x1p-37);
    }
  }
}

TEST_CASE("dose: batches of tiles are whole lines, within the bytes where a line is") {
  std::vector<iso::dose::detail::lattice_item> tiles;
  std::vector<int> const tiles_of_line = {3, 1, 2, 9, 1, 1};
  for (std::size_t line = 0; line < tiles_of_line.size(); ++line) {
    for (int n = 0; n < tiles_of_line[line]; ++n) {
      tiles.push_back({std::int32_t(line), n, 0, 2, 2 + 5 - n % 2});
    }
  }
  // A tile takes 5 planes of 8 bytes; four tiles fit.
  iso::dose::detail::tile_batches const some(tiles, 8, 4 * 40);
  CHECK(some.max_planes == 5);
  CHECK(some.ends == std::vector<std::int64_t>{4, 6, 15, 17});
  CHECK(some.max_tiles == 9);
  iso::dose::detail::tile_batches const each(tiles, 8, 0);
  CHECK(each.ends == std::vector<std::int64_t>{3, 4, 6, 15, 16, 17});
  iso::dose::detail::tile_batches const all(tiles, 8, 17 * 40);
  CHECK(all.ends == std::vector<std::int64_t>{17});
  CHECK(iso::dose::detail::tile_batches({}, 8, 0).ends.empty());
}

TEST_CASE("dose: what one voxel releases in much water is absorbed") {
  auto const kernel =
      parse_exponential_kernel("0,90,0.1,1.5,0.05,1.2\n90,180,0.025,2,0.01,1.5\n", "short ranges");
  auto const source = volume_of<double>(
      grid::centred({61, 61, 61}, {4, 4, 4}),
      [](auto i, auto j, auto k) { return i == 30 && j == 30 && k == 30 ? 1 : 0; });
  auto const dose = lattice_dose(source, kernel, {8, 8}, 0.3);
  double sum = 0;
  for (std::size_t n = 0; n < dose.data.size(); ++n) {
    sum += dose.data.data()[n];
  }
  // 12 cm of water leave exp(-1.2 12) = 6e-7 of the longer term. A dose in the middle of a step of
  // 4 mm is x / 2 / sinh(x / 2) of the step's mean, x = rate length.
  double const step = 0.4;
  CHECK(sum == doctest::Approx(absorbed_within(kernel, 1e3)).epsilon(2 * step * step / 24));
}

namespace {

/// Of what the middle of a cube releases, the part that is absorbed within so many cm of water.
void check_absorbed(std::int64_t cm) {
  std::int64_t const n = 2 * cm + 1;
  auto const source = volume_of<double>(
      grid::centred({n, n, n}, {10, 10, 10}),
      [&](auto i, auto j, auto k) { return i == n / 2 && j == n / 2 && k == n / 2 ? 1 : 0; });
  auto const check = [&](auto const& kernel, cone_options const& cones) {
    auto const dose = lattice_dose(source, kernel, cones, 0.3);
    double within = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t k = 0; k < n; ++k) {
          double const r =
              10 * norm(vec3<double>{double(i - n / 2), double(j - n / 2), double(k - n / 2)});
          within += r <= 10 * double(cm) ? dose.data(i, j, k) : 0;
        }
      }
    }
    // A step of 1 cm: primary energy is absorbed within it, at its middle (as above).
    double const said = absorbed_within(kernel, double(cm));
    CHECK(within == doctest::Approx(said).epsilon(2e-3));
    MESSAGE("within ", cm, " cm: ", within, ", the kernel's ", said);
  };
  check(named_kernel("6mv"), {8, 8});
  check(mix_kernels(water_kernels(), named_spectrum("mohan_6mv")), {8, 8});
}

}  // namespace

TEST_CASE("dose: in 30 cm of water the 6 MV kernels absorb what they say") { check_absorbed(30); }

TEST_CASE("dose: in 60 cm of water the 6 MV kernels absorb what they say") { check_absorbed(60); }

TEST_CASE_TEMPLATE("dose: TERMA behind slabs is the closed form", T, float, double) {
  // Slabs across y, so that every path is that along y over the cosine of its angle to y.
  auto const upright = setup::square(grid::centred({50, 60, 50}, {2, 2, 2}), 30, 900);
  auto s = upright;
  auto const slab = [](std::int64_t j) { return j < 10 ? 1.0 : j < 40 ? 0.25 : 1.85; };
  auto const density = volume_of<T>(s.phantom, [&](auto, std::int64_t j, auto) { return slab(j); });
  auto const known = named_spectrum("mohan_6mv");
  spectrum const mono{{{1.25, 1, 0.06323, 0.02965}}};
  auto const exact_at = [](spectrum const& photons, bool hardens, double depth) {
    double sums[4] = {};
    for (auto const& b : photons.bins) {
      double const there = b.fluence * b.energy;
      double const left = there * std::exp(-b.attenuation * depth);
      sums[0] += left * b.attenuation;
      sums[1] += left * b.absorption;
      sums[2] += there * b.attenuation;
      sums[3] += there * b.absorption;
    }
    return sums[0] * (hardens ? sums[1] / sums[0] / (sums[3] / sums[2]) : 1.0);
  };
  for (bool const oblique : {false, true}) {
    s = turned(upright, oblique);
    beam_frame const frame = frame_of(s.field);
    double const surface = s.phantom.origin.y - 1;
    for (bool const hardens : {false, true}) {
      for (auto const& photons : {mono, known}) {
        Kokkos::Serial const exec;
        terma_plan<Kokkos::HostSpace> const plan(exec, s.field, photons, {hardens});
        auto const out = iso::make_volume<T, Kokkos::HostSpace>("terma", s.phantom);
        terma<Kokkos::Serial, T>(exec, plan, density, out);
        double worst = 0;
        int compared = 0;
        for (std::int64_t n = 0; n < s.phantom.size(); n += 7) {
          std::int64_t const i = n / 50 / 60;
          std::int64_t const j = n / 50 % 60;
          std::int64_t const k = n % 50;
          vec3<double> const at = middle_of(s.phantom, i, j, k);
          vec3<double> const ray = at - frame.source;
          auto const seen = frame.of(at);
          vec3<double> const entry = frame.source + ((surface - frame.source.y) / ray.y) * ray;
          if (std::max(std::fabs(seen.x), std::fabs(seen.y)) > 13 ||
              std::max(std::fabs(entry.x), std::fabs(entry.z)) > 49.9) {
            continue;  // outside of the field or near its edge, or the ray enters from the side
          }
          ++compared;
          double depth = 0.1 * slab(j);  // g/cm2 along y, to the middle of the layer
          for (std::int64_t before = 0; before < j; ++before) {
            depth += 0.2 * slab(before);
          }
          double const r = norm(ray);
          double const exact = gray_per_mev_per_gram * (1000 / r) * (1000 / r) *
                               exact_at(photons, hardens, depth * r / ray.y);
          worst = std::max(worst, std::fabs(double(out.data(i, j, k)) / exact - 1));
        }
        CAPTURE(oblique);
        CHECK(compared > 150);
        CHECK(worst < (sizeof(T) == 4 ? 1e-6 : 2e-9));
      }
    }
  }
  s = upright;
  // Half of a voxel's width in the field: half of the TERMA there.
  s.field.fluence = fluence_map::rectangle(-15, 1000.0 / 901, -15, 15);
  terma_plan<Kokkos::HostSpace> const plan(Kokkos::Serial(), s.field, known);
  auto const out = iso::make_volume<T, Kokkos::HostSpace>("terma", s.phantom);
  terma<Kokkos::Serial, T>(Kokkos::Serial(), plan, density, out);
  double const inside = out.data(std::int64_t(24), std::int64_t(0), std::int64_t(25));
  double const edge = out.data(std::int64_t(25), std::int64_t(0), std::int64_t(25));
  CHECK(edge / inside == doctest::Approx(0.5).epsilon(1e-6));
}
