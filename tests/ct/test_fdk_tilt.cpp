// SPDX-License-Identifier: BSD-3-Clause
// Scans whose detector does not stand upright across the central ray give the volume of those whose
// detector does.
#include "fdk_truth.hpp"
#include "instances.hpp"

#include <iso/ct/detail/ray_weight.hpp>
#include <iso/oracle/reconstruction.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace fdk_truth;
using iso::test::refusal;

constexpr double allowed = 2e-3;  // of the scale

grid measured() { return grid::centred({40, 40, 7}, {2, 2, 2.5}); }

template <class T>
stack<T> rounded(stack<double> const& p) {
  auto const out = iso::make_projections<T, host>("p", p.data.extent_int(0), p.data.extent_int(1),
                                                  p.data.extent_int(2));
  std::transform(p.data.data(), p.data.data() + p.data.size(), out.data.data(),
                 [](double x) { return T(x); });
  return out;
}

template <class T>
comparison gaussian_result(geometry const& g, stack<double> const& exact,
                           fdk_options const& options = {}) {
  auto const p = rounded<T>(exact);
  auto const found = reconstructed(fast(), g, p, measured(), options);
  if constexpr (std::is_same_v<T, double>) {
    CHECK(difference(reconstructed(Kokkos::Serial(), g, p, measured(), options), found) == "");
  }
  return compared(found, measured(), gaussians(), [](auto const&) { return true; });
}
comparison gaussian_result(geometry const& g, fdk_options const& options = {}) {
  return gaussian_result<float>(g, exact_stack<double>(g, gaussians()), options);
}

template <class T>
comparison ball_result(geometry const& g, stack<double> const& exact,
                       fdk_options const& options = {}) {
  auto const found = reconstructed(fast(), g, rounded<T>(exact), measured(), options);
  auto const bodies = one_ball();
  return compared(found, measured(), bodies, [&](vec3<double> x) {
    return norm(x - bodies.front().centre) < 0.75 * bodies.front().width;
  });
}

/// A scan of both bodies, projected once for both precisions.
struct scan_of_bodies {
  geometry g;
  stack<double> gaussians;
  stack<double> ball;

  explicit scan_of_bodies(geometry const& how)
      : g(how),
        gaussians(exact_stack<double>(g, fdk_truth::gaussians())),
        ball(exact_stack<double>(g, one_ball())) {}
};

/// What comes back of both bodies, in one precision.
struct results {
  comparison gaussian;
  comparison ball;
};
template <class T>
results results_of(scan_of_bodies const& s, fdk_options const& options = {}) {
  return {gaussian_result<T>(s.g, s.gaussians, options), ball_result<T>(s.g, s.ball, options)};
}

/// Both bodies against what the upright scan gives and against the truth.
void check_scale(results const& turned, results const& upright) {
  CHECK(std::abs(turned.gaussian.scale - 1) < allowed);
  CHECK(std::abs(turned.ball.scale - 1) < allowed);
  CHECK(std::abs(turned.gaussian.scale / upright.gaussian.scale - 1) < allowed);
  CHECK(std::abs(turned.ball.scale / upright.ball.scale - 1) < allowed);
  CHECK(turned.gaussian.root_mean_square < 4e-3);
}

/// Scans in `poses` against the one in the pose `upright`, in float, the first and the last in
/// double and on both backends too.
template <class Posed>
void check_poses(pose const& upright, std::vector<pose> const& poses, Posed const& scan_in,
                 fdk_options const& options = {}) {
  scan_of_bodies const straight(scan_in(upright));
  auto const expected = results_of<float>(straight);
  auto const expected_double = results_of<double>(straight);
  for (pose const& p : poses) {
    CAPTURE(p.yaw);
    CAPTURE(p.pitch);
    CAPTURE(p.skew);
    CAPTURE(p.source_u);
    CAPTURE(p.source_v);
    CAPTURE(p.detector_u);
    auto const turned = p == upright ? straight : scan_of_bodies(scan_in(p));
    check_scale(results_of<float>(turned, options), expected);
    if (&p == &poses.front() || &p == &poses.back()) {
      check_scale(results_of<double>(turned, options), expected_double);
    }
  }
}

std::vector<double> turn() { return iso::ct::even_angles(180, 2 * pi); }

}  // namespace

namespace {

/// Poses of a detector in a cone beam against an upright one.
void check_cone_poses(pose const& upright, std::vector<pose> const& poses) {
  check_poses(upright, poses, [](pose const& p) { return posed(beam::cone, p, turn()); },
              {.scan = {.detector = detector_placement::centred}});
}
void check_cone_poses(std::vector<pose> const& poses) { check_cone_poses({}, poses); }

}  // namespace

TEST_CASE("fdk: the scale of a cone beam does not depend on how the detector stands") {
  check_cone_poses(
      {{}, {.yaw = -25, .pitch = 15, .skew = 10}, {.yaw = 15, .detector_u = -20, .source_u = 40}});
  // At its height, where FDK is as good as there.
  check_cone_poses({.detector_v = 3, .source_v = -6},
                   {{.yaw = 10, .pitch = 15, .detector_v = 3, .source_v = -6}});
}

TEST_CASE("fdk: the scale of a cone beam, every pose of the detector") {
  check_cone_poses({{.yaw = 5},
                    {.yaw = -20},
                    {.yaw = 30},
                    {.pitch = 5},
                    {.pitch = -20},
                    {.pitch = 30},
                    {.yaw = 20, .pitch = 20},
                    {.skew = 25},
                    {.detector_u = -30, .source_u = 60},
                    {.detector_u = 30, .source_u = -60}});
  check_cone_poses({.detector_v = 15}, {{.detector_u = 12, .detector_v = 15}});
  pose const low{.detector_v = -3, .source_v = 6};
  check_cone_poses(low, {low});
}

namespace {

void check_parallel_poses(std::vector<pose> const& poses) {
  auto const half = iso::ct::even_angles(120, pi);
  check_poses({}, poses,
              [&](pose const& p) { return posed(beam::parallel, p, half, {.pitch = 0.8}); });
}

}  // namespace

TEST_CASE("fdk: the scale of a parallel beam does not depend on how the detector stands") {
  check_parallel_poses({{}, {.skew = -30}, {.yaw = 20, .pitch = 20, .skew = 20}});
}

TEST_CASE("fdk: the scale of a parallel beam, every pose of the detector") {
  check_parallel_poses({{.yaw = 30}, {.pitch = 30}, {.skew = 10}});
}

namespace {

std::vector<pose> const turned_poses = {
    {.yaw = 20, .pitch = 20}, {.skew = -10}, {.yaw = -10, .pitch = 10, .skew = 10}};
std::vector<pose> const more_turned_poses = {{.yaw = 15},   {.yaw = -20}, {.yaw = 15, .pitch = -15},
                                             {.pitch = 20}, {.skew = 5},  {.skew = 20}};

/// Short scans, or full ones of a detector so far aside, mm, against those of an upright one.
void check_turned(double aside, std::vector<pose> const& poses) {
  CAPTURE(aside);
  auto const arc = iso::ct::even_angles(140, 1.4 * pi, 0.3);
  auto const found = [&](pose const& p) {
    return p.detector_u == 0 ? gaussian_result(posed(beam::cone, p, arc))
                             : gaussian_result(posed(beam::cone, p, turn(), {.num_u = 120}));
  };
  auto const upright = found({.detector_u = aside});
  CHECK(std::abs(upright.scale - 1) < allowed);
  // On most of these the axis does not run along a column.
  for (pose p : poses) {
    p.detector_u = aside;
    CAPTURE(p.yaw);
    CAPTURE(p.pitch);
    CAPTURE(p.skew);
    auto const turned = found(p);
    CHECK(std::abs(turned.scale / upright.scale - 1) < allowed);
    CHECK(turned.root_mean_square < 4e-3);
    CHECK(turned.largest < 0.012);
  }
}

}  // namespace

TEST_CASE("fdk: short scans and displaced detectors that are turned") {
  check_turned(0, turned_poses);
  check_turned(36, turned_poses);
}

TEST_CASE("fdk: short scans and displaced detectors, every pose of the detector") {
  check_turned(0, more_turned_poses);
  check_turned(36, more_turned_poses);
}

TEST_CASE("fdk: detectors that are displaced to the other side and turned") {
  check_turned(-36, turned_poses);
  check_turned(-36, more_turned_poses);
}

TEST_CASE("fdk: an arc about an axis that is far beside of the line from source to detector") {
  // 40 of 300 mm: to one side of the axis the fan is more than twice as wide as to the other.
  scan_size const wide{.num_u = 260};
  for (double const aside : {40.0, -40.0}) {
    CAPTURE(aside);
    pose const p{.detector_u = -aside, .source_u = -aside};
    for (auto const& angles : {turn(), iso::ct::even_angles(140, 1.4 * pi, 0.3),
                               iso::ct::even_angles(170, 1.7 * pi, 2)}) {
      CAPTURE(angles.size());
      auto const g = posed(beam::cone, p, angles, wide);
      bool const is_arc = angles.size() < 180;
      // What both sides see is enough: an arc leaves no choice.
      fdk_options const options{.scan = {.detector = is_arc ? detector_placement::centred
                                                            : detector_placement::automatic}};
      CHECK((iso::ct::weigh_scan(g, options.scan).arc == scan_arc::short_scan) == is_arc);
      auto const found = gaussian_result(g, options);
      CAPTURE(found.scale);
      CAPTURE(found.root_mean_square);
      CAPTURE(found.largest);
      CHECK(std::abs(found.scale - 1) < allowed);
      CHECK(found.root_mean_square < 4e-3);
      CHECK(found.largest < 0.012);
    }
  }
}

namespace {

void check_leaning_columns(double aside) {
  scan_size const size{.num_u = 100, .pitch = 0.8};
  for (double const skew : {0.0, 10.0, -20.0}) {
    CAPTURE(aside);
    CAPTURE(skew);
    auto const found =
        gaussian_result(posed(beam::parallel, {.skew = skew, .detector_u = aside}, turn(), size));
    CHECK(std::abs(found.scale - 1) < allowed);
    CHECK(found.root_mean_square < 1e-3);
  }
}

}  // namespace

TEST_CASE("fdk: a displaced detector in a parallel beam whose columns lean") {
  check_leaning_columns(24);
}

TEST_CASE("fdk: a detector that is displaced to the other side in a parallel beam") {
  check_leaning_columns(-24);
}

TEST_CASE("fdk: weights of a short scan and of a displaced detector hold at all its heights") {
  // Of a body that is the same at all heights. With one weight a column short scans had 7e-4 and
  // 1.5e-3.
  auto const volume = grid::centred({40, 40, 5}, {2, 2, 12});
  auto const found = [&](pose const& p, std::vector<double> const& angles, std::int64_t num_u) {
    auto const g = posed(beam::cone, p, angles, {.num_u = num_u, .num_v = 100});
    auto const values = reconstructed(fast(), g, exact_stack<float>(g, columns()), volume);
    return compared(values, volume, columns(), [](auto const&) { return true; });
  };
  for (auto const& [aside, num_u] : {std::pair(0.0, 160), std::pair(36.0, 120)}) {
    CAPTURE(aside);
    auto const angles = aside == 0 ? iso::ct::even_angles(140, 1.4 * pi, 0.3) : turn();
    for (double const skew : {10.0, -20.0}) {
      CAPTURE(skew);
      auto const turned = found({.skew = skew, .detector_u = aside}, angles, num_u);
      CHECK(turned.root_mean_square < (aside == 0 ? 5e-4 : 1e-3));
    }
  }
}

TEST_CASE(
    "oracle::exact_fdk: short scans and displaced detectors whose columns lean, in subsets of "
    "views") {
  auto const volume = grid::centred({12, 12, 3}, {6, 6, 5});
  scan_size const size{.views = 60, .num_u = 64, .num_v = 60, .pitch = 2.4};
  for (auto const& [arc, aside] :
       {std::pair(1.5 * pi, 0.0), std::pair(2 * pi, 40.0), std::pair(2 * pi, -40.0)}) {
    CAPTURE(arc);
    CAPTURE(aside);
    auto const g = posed(beam::cone, {.yaw = 10, .pitch = 10, .skew = 10, .detector_u = aside},
                         iso::ct::even_angles(size.views, arc), size);
    fdk_options const options{.scan = {.truncation_correction = 5}};
    auto const stack = exact_stack<double>(g, gaussians());
    auto const found = iso::oracle::exact_fdk<double>(g, stack, volume, options);
    auto const weights = iso::ct::weigh_scan(g, options.scan);
    CHECK(weights.begins.size() == (aside == 0 ? 60 : 0));
    CHECK(weights.overlaps.size() == (aside == 0 ? 0 : 60));
    iso::test::for_each_instance([&](auto const& exec) {
      CHECK(farthest(reconstructed(exec, g, stack, volume, options), found) < 1e-13);
    });
  }
}

TEST_CASE("fdk: a body that is the same at all heights comes back so however the detector stands") {
  // Far from the plane of the sources, where the rays climb by 7 degrees.
  auto const volume = grid::centred({40, 40, 2}, {2, 2, 70});
  scan_size const size{.num_v = 160};
  auto const root_mean_square = [&](pose const& p) {
    auto const g = posed(beam::cone, p, turn(), size);
    auto const found = reconstructed(fast(), g, exact_stack<float>(g, columns()), volume);
    return compared(found, volume, columns(), [](auto const&) { return true; }).root_mean_square;
  };
  double const upright = root_mean_square({});
  CHECK(upright < 1e-3);
  for (pose const& p : std::vector<pose>{{.yaw = 15},
                                         {.pitch = 15},
                                         {.yaw = -20, .pitch = -10, .skew = 5},
                                         {.yaw = 10, .detector_u = 15, .source_u = -30}}) {
    CAPTURE(p.yaw);
    CAPTURE(p.pitch);
    CHECK(root_mean_square(p) < 1.5 * upright);
  }
}

TEST_CASE_TEMPLATE("oracle::exact_fdk: known bodies on a detector that is turned every way", T,
                   float, double) {
  scan_size const size{.views = 60, .num_u = 84, .num_v = 60, .pitch = 2.4};
  auto const volume = grid::centred({12, 12, 3}, {6, 6, 5});
  for (pose const& p : std::vector<pose>{
           {}, {.yaw = 30}, {.pitch = 30}, {.yaw = -20, .pitch = 20, .roll = 1, .skew = 10}}) {
    auto const g = posed(beam::cone, p, iso::ct::even_angles(size.views, 2 * pi), size);
    auto const stack = exact_stack<T>(g, gaussians());
    auto const found = iso::oracle::exact_fdk<T>(g, stack, volume);
    CAPTURE(p.yaw);
    CAPTURE(p.pitch);
    CHECK(std::abs(compared(found, volume, gaussians(), [](auto const&) { return true; }).scale -
                   1) < 1e-2);
    // The function computes its weights in another way.
    double most = 0;
    for (double const x : found) {
      most = std::max(most, std::abs(x));
    }
    CHECK(farthest(reconstructed(fast(), g, stack, volume), found) <
          100 * double(std::numeric_limits<T>::epsilon()) * most);
  }
}

TEST_CASE("fdk: rows that leave the plane of rotation") {
  scan_options const most{.detector = detector_placement::centred, .max_roll = 0.2};
  struct expected {
    double roll;
    double scale;    ///< of Gaussians
    double largest;  ///< error, of the peak
  };
  for (auto const& [roll, scale, largest] :
       {expected{0, 0.9986, 0.0023}, expected{5, 1.0021, 0.0073}, expected{10, 1.0121, 0.0272}}) {
    CAPTURE(roll);
    auto const g = posed(beam::cone, {.roll = roll}, turn());
    auto const gaussian = gaussian_result(g, {.scan = most});
    CHECK(std::abs(gaussian.scale - scale) < 3e-4);
    CHECK(std::abs(gaussian.largest - largest) < 0.05 * largest);
    CHECK(std::abs(ball_result<float>(g, exact_stack<double>(g, one_ball()), {.scan = most}).scale -
                   1) < allowed);
  }
  // What is long in z loses 1 - cos(roll).
  auto const g = posed(beam::cone, {.roll = 10}, turn());
  auto const long_ones = compared(
      reconstructed(fast(), g, exact_stack<float>(g, columns()), measured(), {.scan = most}),
      measured(), columns(), [](auto const&) { return true; });
  CHECK(std::abs(long_ones.scale - std::cos(pi / 18)) < allowed);

  auto const weigh = [](double roll, std::optional<double> limit) {
    auto const g = posed(beam::cone, {.roll = roll}, turn(), {.num_u = 20, .num_v = 10});
    return refusal([&] { iso::ct::weigh_scan(g, {.max_roll = limit}); });
  };
  std::optional<double> const usual;
  CHECK(weigh(5, usual) == "");
  CHECK(weigh(5.1, usual).find("rows of u leave the plane of rotation by 5.1 degrees") !=
        std::string::npos);
  CHECK(weigh(5.1, usual).find("by max_roll, at most 11.45 degrees") != std::string::npos);
  CHECK(weigh(5.1, 0.1) == "");
  CHECK(weigh(1, 0.0).find("at most 0") != std::string::npos);
  CHECK(weigh(11.4, 0.2) == "");
  CHECK(weigh(11.45, 11.45 * pi / 180) == "");
  CHECK(weigh(11.5, 0.2).find("11.5 degrees") != std::string::npos);
  CHECK(weigh(0, 0.3).find("0.3 rad") != std::string::npos);
  CHECK(weigh(0, -0.1).find("max_roll") != std::string::npos);
  CHECK(weigh(0, std::numeric_limits<double>::quiet_NaN()).find("max_roll") != std::string::npos);
}

namespace {

struct rolled_scan {
  char const* scan;
  double roll;
  double scale;    ///< of Gaussians
  double largest;  ///< error, of the peak
};

void check_rolled(std::vector<rolled_scan> const& rows) {
  scan_size const narrow{.num_u = 120};
  auto const half = iso::ct::even_angles(120, pi);
  auto const arc = iso::ct::even_angles(140, 1.4 * pi, 0.3);
  for (auto const& [scan, roll, scale, largest] : rows) {
    CAPTURE(scan);
    CAPTURE(roll);
    std::string const name(scan);
    auto const g = name == "half" ? posed(beam::parallel, {.roll = roll}, half, {.pitch = 0.8})
                   : name == "short"
                       ? posed(beam::cone, {.roll = roll}, arc)
                       : posed(beam::cone, {.roll = roll, .detector_u = 36}, turn(), narrow);
    auto const found = gaussian_result(g, {.scan = {.max_roll = 0.2}});
    MESSAGE(name, ", roll ", roll, ": scale ", found.scale, ", largest error ", found.largest);
    CHECK(std::abs(found.scale - scale) < 3e-4);
    CHECK(std::abs(found.largest - largest) < 0.05 * largest);
    // What is accepted without a word.
    auto const why = refusal([&] { iso::ct::weigh_scan(g); });
    CHECK((why == "") == (roll < 2));
    CHECK((why == "" || roll > 5 ||
           why.find("at most 1.5 where rays are measured once") != std::string::npos));
  }
}

}  // namespace

TEST_CASE("fdk: rolled detectors in scans that measure rays once") {
  check_rolled({{"half", 1.5, 1.0007, 0.0138},
                {"short", 5, 1.0054, 0.0415},
                {"offset", 10, 0.9855, 0.1249}});
  // Parallel rays about the whole circle cancel as those of a cone do.
  auto const both = posed(beam::parallel, {.roll = 5}, turn(), {.pitch = 0.8});
  CHECK(gaussian_result(both).largest < 0.0075);
}

TEST_CASE("fdk: rolled detectors, every scan and angle") {
  check_rolled({{"half", 5, 1.0065, 0.0463},
                {"half", 10, 1.0205, 0.0918},
                {"short", 1.5, 0.9999, 0.0166},
                {"short", 10, 1.0186, 0.0805},
                {"offset", 1.5, 0.9938, 0.0194},
                {"offset", 5, 0.9864, 0.0600}});
}

TEST_CASE("fdk: a detector that lies so flat that rows do not stand before the source") {
  scan_size const size{.num_u = 20, .num_v = 200, .pitch = 5};
  auto const weigh = [&](double pitch) {
    return refusal([&] { iso::ct::weigh_scan(posed(beam::cone, {.pitch = pitch}, turn(), size)); });
  };
  CHECK(weigh(60) == "");
  CHECK(weigh(70).find("a row of pixels does not stand across from the source") !=
        std::string::npos);
}

TEST_CASE("fdk: upright detectors have the plain cosine, to the bit") {
  std::vector<double> angles = iso::ct::even_angles(360, 2 * pi, 0.1);
  for (double const pitch : {0.1, 1.0, 3.7}) {
    iso::ct::flat_detector const d{9, 7, pitch, 1.3 * pitch, 2.1, -0.7};
    auto const cone = iso::ct::circular_cone(d, 571.3, 1234.5, angles);
    std::int64_t others = 0;
    for (view_vectors const& w : cone.views()) {
      vec3<double> const n = iso::cross(w.u_step, w.v_step);
      for (int pixel = 0; pixel < 63; ++pixel) {
        vec3<double> const ray = w.detector_origin - w.source + double(pixel / 7) * w.u_step +
                                 double(pixel % 7) * w.v_step;
        double const cosine = std::abs(dot(n, ray)) / std::sqrt(dot(n, n) * dot(ray, ray));
        others += iso::ct::detail::ray_weight(w, ray) == cosine ? 0 : 1;
      }
    }
    CHECK(others == 0);
    auto const parallel = iso::ct::circular_parallel(d, angles);
    for (view_vectors const& w : parallel.views()) {
      others +=
          iso::ct::detail::column_spread(w, (1 / dot(w.u_step, w.u_step)) * w.u_step) == 1 ? 0 : 1;
    }
    CHECK(others == 0);
  }
}
