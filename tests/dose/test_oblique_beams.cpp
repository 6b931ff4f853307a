// SPDX-License-Identifier: BSD-3-Clause
// Beams from every side onto a body as thick as a patient: the lattice against an exact
// superposition that knows nothing of voxels, cones or the library's beams.
#include "dose_support.hpp"

#include <iso/oracle/superposition.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace dose_support;
using exec_space = Kokkos::DefaultHostExecutionSpace;

struct angles {
  double gantry;  ///< degrees
  double couch;
  double collimator;
};

/// Where the beam lies by the rotation matrices of IEC 61217, written out: gantry about IEC's y,
/// collimator about z, couch about z the other way; then from IEC's axes to the patient's.
struct independent_frame {
  vec3<double> x;
  vec3<double> y;
  vec3<double> along;

  explicit independent_frame(angles const& a) {
    auto const rad = [](double degrees) { return degrees * pi / 180; };
    double const g = rad(a.gantry);
    double const c = rad(a.collimator);
    double const t = -rad(a.couch);
    using matrix = std::array<std::array<double, 3>, 3>;
    matrix const about_y{
        {{std::cos(g), 0, std::sin(g)}, {0, 1, 0}, {-std::sin(g), 0, std::cos(g)}}};
    auto const about_z = [](double angle) {
      return matrix{{{std::cos(angle), -std::sin(angle), 0},
                     {std::sin(angle), std::cos(angle), 0},
                     {0, 0, 1}}};
    };
    matrix const to_patient{{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}};
    auto const times = [](matrix const& m, vec3<double> const& v) {
      vec3<double> out;
      for (int i = 0; i < 3; ++i) {
        auto const& row = m[std::size_t(i)];
        out[i] = row[0] * v.x + row[1] * v.y + row[2] * v.z;
      }
      return out;
    };
    auto const whole = [&](vec3<double> const& v) {
      return times(to_patient, times(about_z(t), times(about_y, times(about_z(c), v))));
    };
    x = whole({1, 0, 0});
    y = whole({0, 1, 0});
    along = whole({0, 0, -1});
  }
};

/// A cube of water, 400 mm wide, with its middle at the origin, in voxels of 4 mm; all around it,
/// `empty` mm of nothing.
struct cube {
  double half = 200;
  double empty = 0;
  double voxel = 4;

  [[nodiscard]] grid voxels() const {
    auto const n = std::int64_t(std::lround(2 * (half + empty) / voxel));
    return grid::centred({n, n, n}, {voxel, voxel, voxel});
  }
  [[nodiscard]] double density(grid const& g, std::int64_t i, std::int64_t j,
                               std::int64_t k) const {
    auto const inside = [&](double origin, std::int64_t n) {
      return std::fabs(origin + voxel * double(n)) < half;
    };
    return inside(g.origin.x, i) && inside(g.origin.y, j) && inside(g.origin.z, k) ? 1 : 0;
  }
};

struct oblique_field {
  cube body = {};
  angles turned = {};
  double side = 100;
  vec3<double> isocentre = {};
  cone_options cones = {};
  double margin = 1000;

  [[nodiscard]] setup as_setup() const {
    setup s{body.voxels(), {}};
    s.field.fluence = fluence_map::rectangle(-side / 2, side / 2, -side / 2, side / 2);
    s.field.isocentre = isocentre;
    s.field.gantry = turned.gantry * pi / 180;
    s.field.couch = turned.couch * pi / 180;
    s.field.collimator = turned.collimator * pi / 180;
    s.margin = margin;
    s.cones = cones;
    s.hardening.hardening_correction = false;
    return s;
  }
  template <class T>
  [[nodiscard]] host_volume<T> density_of() const {
    grid const g = body.voxels();
    return volume_of<T>(g, [&](auto i, auto j, auto k) { return body.density(g, i, j, k); });
  }
  template <class T>
  [[nodiscard]] calculation<T, exec_space> calculated() const {
    return calculation<T, exec_space>({}, as_setup(), density_of<T>());
  }
  /// The faces of the cube as the source sees them.
  [[nodiscard]] iso::oracle::field_on_water exact_field() const {
    independent_frame const f(turned);
    iso::oracle::field_on_water out{side, {}};
    vec3<double> const source = isocentre - out.source_distance * f.along;
    for (int axis = 0; axis < 3; ++axis) {
      for (double const sign : {-1.0, 1.0}) {
        vec3<double> const normal{sign * f.x[axis], sign * f.y[axis], sign * f.along[axis]};
        out.water.push_back({normal, body.half - sign * source[axis]});
      }
    }
    return out;
  }
  /// Depth at which the axis enters the water, from the source, mm.
  [[nodiscard]] double surface() const {
    double from = 0;
    for (auto const& side_of : exact_field().water) {
      if (side_of.normal.z < 0) {
        from = std::max(from, side_of.bound / side_of.normal.z);
      }
    }
    return from;
  }
  /// Of the point `depth` along the axis from the source, and aside of it, mm.
  [[nodiscard]] vec3<double> place(vec3<double> const& p) const {
    independent_frame const f(turned);
    return isocentre + p.x * f.x + p.y * f.y + (p.z - 1000) * f.along;
  }
};

using iso::oracle::superposition_nodes;

/// For a check within half a per cent: a third of the time, and the same to 0.02 per cent.
constexpr superposition_nodes few_nodes{.polar = 6, .azimuths = 6, .radial = 6};

/// The exact superposition at a point of the beam.
double exact_at(oblique_field const& f, vec3<double> const& point, superposition_nodes const& nodes,
                bool tilt = true) {
  auto const s = f.as_setup();
  return iso::oracle::exact_water_dose(f.exact_field(), std::get<exponential_kernel>(s.kernel),
                                       named_spectrum(s.photons), s.hardening, tilt, point, nodes);
}

}  // namespace

namespace {

constexpr std::array<angles, 7> all_angles{angles{0, 0, 0}, {34.4, 28.6, 0}, {45, 35, 10},
                                           {70, 60, 45},    {200, 320, 20},  {300, 15, 80},
                                           {123, 80, 5}};

/// Gantry, couch and collimator turned.
constexpr angles one_side = all_angles[3];

void check_exact(std::vector<angles> const& sides, superposition_nodes const& nodes = {}) {
  double const maximum = exact_at({}, {0, 0, 815}, nodes);
  for (angles const& a : sides) {
    oblique_field const f{{}, a, 100, {}};
    double const surface = f.surface();
    auto const dose = f.calculated<float>().dose_on_host();
    double worst = 0;
    double aside = 0;
    std::string row;
    for (double const depth : {30.0, 100.0, 200.0, 300.0}) {
      vec3<double> const p{0, 0, surface + depth};
      double const d = 100 * (interpolated(dose, f.place(p)) - exact_at(f, p, nodes)) / maximum;
      row += " " + std::to_string(d);
      worst = std::max(worst, std::fabs(d));
    }
    // Off the axis, in the field and outside.
    for (vec3<double> const& p : {vec3<double>{30, 20, surface + 90},
                                  {-28, 25, surface + 150},
                                  {65, 0, surface + 100},
                                  {10, -70, surface + 150}}) {
      double const d = 100 * (interpolated(dose, f.place(p)) - exact_at(f, p, nodes)) / maximum;
      row += " | " + std::to_string(d);
      aside = std::max(aside, std::fabs(d));
    }
    MESSAGE("gantry ", a.gantry, ", couch ", a.couch, ", collimator ", a.collimator, ", surface ",
            surface, ": ", row, " % of the maximum");
    CHECK(worst < 0.6);
    CHECK(aside < 0.6);
  }
}

void check_other_fields(bool table, std::vector<angles> const& sides,
                        superposition_nodes const& nodes = {}) {
  // The isocentre 69 mm aside of the cube's middle, so that the axis enters elsewhere.
  vec3<double> const isocentre{31, -57, 23};
  for (angles const& a : sides) {
    oblique_field f{{}, a, 60, isocentre};
    f.cones = table ? cone_options{6, 6} : cone_options{};
    double const surface = f.surface();
    double const maximum = exact_at(f, {0, 0, surface + 15}, nodes);
    auto s = f.as_setup();
    if (table) {
      s.own_cones = tabulated(make_cones(s.kernel, f.cones));
      s.kernel = mix_kernels(water_kernels(), named_spectrum(s.photons));
      s.options.tilt = false;  // which a table of all terms has of its own
      s.margin = default_margin;
    }
    calculation<float, exec_space> const c({}, s, f.density_of<float>());
    auto const dose = c.dose_on_host();
    double worst = 0;
    std::string row;
    for (vec3<double> const& p : {vec3<double>{0, 0, surface + 40},
                                  {0, 0, surface + 110},
                                  {0, 0, surface + 210},
                                  {15, -12, surface + 110}}) {
      s.options.tilt = !table;
      double const d =
          100 * (interpolated(dose, f.place(p)) - exact_at(f, p, nodes, !table)) / maximum;
      row += " " + std::to_string(d);
      worst = std::max(worst, std::fabs(d));
    }
    MESSAGE("gantry ", a.gantry, ", couch ", a.couch, ", collimator ", a.collimator, ", surface ",
            surface, std::string(table ? ", table: " : ": "), row, " % of the maximum");
    CHECK(worst < 0.6);
  }
}

}  // namespace

TEST_CASE("dose: an oblique beam has the dose of an exact superposition") {
  check_exact({one_side}, few_nodes);
}

TEST_CASE("dose: an oblique beam to another depth, of another width, and by a table") {
  check_other_fields(false, {one_side}, few_nodes);
  check_other_fields(true, {one_side}, few_nodes);
}

TEST_CASE("dose: oblique beams from every side have the dose of an exact superposition") {
  check_exact({all_angles.begin(), all_angles.end()});
}

TEST_CASE(
    "dose: oblique beams from every side to another depth, of another width, and by a table") {
  check_other_fields(false, {all_angles.begin(), all_angles.end()});
  check_other_fields(true, {all_angles[0], all_angles[3], all_angles[6]});
}

namespace {

/// The dose in the voxels of the water, in the order of its voxels; zero where none was calculated.
template <class T>
std::vector<double> dose_in_water(oblique_field const& f) {
  auto const dose = f.calculated<T>().dose_on_host();
  grid const& g = dose.grid;
  std::vector<double> out;
  for (std::int64_t i = 0; i < g.extent[0]; ++i) {
    for (std::int64_t j = 0; j < g.extent[1]; ++j) {
      for (std::int64_t k = 0; k < g.extent[2]; ++k) {
        if (f.body.density(g, i, j, k) > 0) {
          out.push_back(double(dose.data(i, j, k)));
        }
      }
    }
  }
  return out;
}

/// The largest difference where both have a dose, over the largest dose. Where `a` has more than
/// 1e-3 of it, `b` has one.
double max_apart(std::vector<double> const& a, std::vector<double> const& b) {
  double most = 0;
  double apart = 0;
  int lost = 0;
  REQUIRE(a.size() == b.size());
  for (std::size_t n = 0; n < a.size(); ++n) {
    most = std::max(most, a[n]);
    apart = a[n] > 0 && b[n] > 0 ? std::max(apart, std::fabs(a[n] - b[n])) : apart;
  }
  for (std::size_t n = 0; n < a.size(); ++n) {
    lost += a[n] > 1e-3 * most && !(b[n] > 0) ? 1 : 0;
  }
  CHECK(lost == 0);
  return apart / most;
}

/// Water with so much of nothing about it, mm, has the dose of a body that is cut out.
template <class T>
void check_empty(std::vector<double> const& about) {
  oblique_field f{{100, 40}, {45, 35, 0}};
  f.margin = default_margin;
  auto const cropped = dose_in_water<T>(f);
  for (double const empty : about) {
    f.body.empty = empty;
    double const apart = max_apart(cropped, dose_in_water<T>(f));
    MESSAGE(empty, " mm about the water: ", 100 * apart, " % of the maximum");
    // The numbers of the nearness lie further apart in a larger region.
    CHECK(apart < (sizeof(T) == 4 ? 1e-3 : 1e-8));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("dose: empty voxels about a body change nothing", T, float, double) {
  check_empty<T>({200});
}

TEST_CASE("dose: empty voxels about a body, every margin") {
  check_empty<double>({300});
  // The last reaches to 109 mm from the source.
  check_empty<float>({300, 500});
}

TEST_CASE("dose: parts of a field that meet no body change nothing") {
  for (dose_engine const engine : {dose_engine::lattice, dose_engine::voxel_lines}) {
    std::vector<double> of_field[2];
    for (int n = 0; n < 2; ++n) {
      oblique_field const f{{48, 0, 6}, {34.4, 28.6, 11}, n == 0 ? 240.0 : 2000.0};
      auto s = f.as_setup();
      s.options.engine = engine;
      s.cones = {4, 4};
      auto const water = volume_of<double>(s.phantom, [](auto, auto, auto) { return 1.0; });
      of_field[n] = numbers(calculation<double, exec_space>({}, s, water).dose_on_host());
    }
    double const apart = max_apart(of_field[0], of_field[1]);
    CAPTURE(int(engine));
    MESSAGE("fields of 240 mm and 2 m: ", 100 * apart, " % of the maximum");
    CHECK(apart < 1e-9);
  }
}

TEST_CASE("dose: a field of any size, and a turned one, release what they should") {
  // All fields cover the body.
  double of_field[3];
  int n = 0;
  for (double const side : {600.0, 2e7, 2e9}) {
    oblique_field const f{{48, 0, 6}, {34.4, 28.6, 11}, side};
    auto const s = f.as_setup();
    auto const water = volume_of<double>(s.phantom, [](auto, auto, auto) { return 1.0; });
    auto const terma = terma_of<double, exec_space>({}, s, water);
    auto const all = numbers(terma);
    of_field[n++] = *std::max_element(all.begin(), all.end());
  }
  CHECK(of_field[1] == doctest::Approx(of_field[0]).epsilon(1e-6));
  CHECK(of_field[2] == doctest::Approx(of_field[0]).epsilon(1e-6));
  // The sum over a plane across the beam does not depend on how the field is turned.
  double sums[4];
  int m = 0;
  for (double const collimator : {0.0, 20.0, 45.0, 70.0}) {
    oblique_field const f{{100, 0, 2}, {0, 0, collimator}};
    auto const s = f.as_setup();
    auto const air = volume_of<double>(s.phantom, [](auto, auto, auto) { return 1e-9; });
    auto const terma = terma_of<double, exec_space>({}, s, air);
    std::int64_t const j = terma.grid.extent[1] / 2;
    double sum = 0;
    for (std::int64_t i = 0; i < terma.grid.extent[0]; ++i) {
      for (std::int64_t k = 0; k < terma.grid.extent[2]; ++k) {
        vec3<double> const from_source{terma.grid.origin.x + 2 * double(i),
                                       terma.grid.origin.y + 2 * double(j) + 1000,
                                       terma.grid.origin.z + 2 * double(k)};
        // Without the inverse square of the distance, so that the field's area is left.
        sum += terma.data(i, j, k) * dot(from_source, from_source);
      }
    }
    sums[m++] = sum;
    MESSAGE("collimator ", collimator, ": ", 100 * (sum / sums[0] - 1), " % of an upright field");
    CHECK(std::fabs(sum / sums[0] - 1) < 2e-4);
  }
}

namespace {

/// The lattice beside exact lines, with the source so far from the body, mm.
void check_near_source(double gap, angles const& turned) {
  oblique_field f{{48, 0, 4}, turned, 50};
  auto s = f.as_setup();
  double const reach = turned.gantry == 0 ? 48 : 48 * std::sqrt(2.0);
  s.field.source_distance = reach + gap;
  s.field.fluence = fluence_map::rectangle(-15, 15, -15, 15);
  auto const water = volume_of<double>(s.phantom, [](auto, auto, auto) { return 1.0; });
  auto const lattice = numbers(calculation<double, exec_space>({}, s, water).dose_on_host());
  s.options.engine = dose_engine::voxel_lines;
  auto const lines = numbers(calculation<double, exec_space>({}, s, water).dose_on_host());
  double most = 0;
  double sum = 0;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    most = std::max(most, lines[n]);
    sum += (lattice[n] - lines[n]) * (lattice[n] - lines[n]);
  }
  double const rms = std::sqrt(sum / double(lines.size())) / most;
  double const largest = max_apart(lines, lattice);
  MESSAGE("source ", gap, " mm from the body, gantry ", turned.gantry, ": rms ", 100 * rms,
          " %, at most ", 100 * largest, " % of the maximum");
  // As far away: edges of the field differ by a voxel's width, the rest does not.
  CHECK(rms < 0.006);
  CHECK(largest < 0.07);
  if (turned.gantry == 0) {
    s.field.source_distance = 48 + 97;
    CHECK_THROWS_WITH_AS((calculation<double, exec_space>({}, s, water)),
                         doctest::Contains("the source is 99 mm from a voxel"),
                         iso::invalid_argument);
  }
}

}  // namespace

TEST_CASE("dose: with the source near the body the lattice is as exact lines are") {
  check_near_source(102, {0, 0, 0});
  check_near_source(102, {34.4, 28.6, 0});
}

TEST_CASE("dose: with the source near the body, every distance") {
  check_near_source(150, {0, 0, 0});
  check_near_source(150, {34.4, 28.6, 0});
}

namespace {

/// The lattice beside exact lines in a cube of `width` mm of voxels of 1 mm x 1 mm x `length`.
void check_long_voxels(double width, double length, double max_rms) {
  auto const across = std::int64_t(width);
  setup s{grid::centred({across, across, std::int64_t(width / length)}, {1, 1, length}), {}};
  s.field.fluence = fluence_map::rectangle(-15, 15, -15, 15);
  s = turned(s, true);
  auto const water = volume_of<double>(s.phantom, [](auto, auto, auto) { return 1.0; });
  auto const lattice = numbers(calculation<double, exec_space>({}, s, water).dose_on_host());
  s.options.engine = dose_engine::voxel_lines;
  auto const lines = numbers(calculation<double, exec_space>({}, s, water).dose_on_host());
  double most = 0;
  double sum = 0;
  std::int64_t count = 0;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    most = std::max(most, lines[n]);
    sum += (lattice[n] - lines[n]) * (lattice[n] - lines[n]);
    count += lines[n] > 0 ? 1 : 0;
  }
  double const rms = std::sqrt(sum / double(count)) / most;
  MESSAGE("voxels of 1 mm x 1 mm x ", length, " mm: lattice against lines, rms ", 100 * rms,
          " % of the maximum");
  CHECK(rms < max_rms);
}

}  // namespace

TEST_CASE("dose: voxels that are longer than wide") {
  // Of a small body the edges of the field are the larger part.
  check_long_voxels(50, 5, 0.0195);
}

TEST_CASE("dose: voxels that are longer than wide, every length") {
  check_long_voxels(80, 1, 0.004);
  check_long_voxels(80, 3, 0.008);
  check_long_voxels(80, 5, 0.012);
}
