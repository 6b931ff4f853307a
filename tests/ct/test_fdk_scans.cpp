// SPDX-License-Identifier: BSD-3-Clause
// Short scans, displaced detectors, truncated projections and subsets of views.
#include "fdk_support.hpp"
#include "instances.hpp"

#include <iso/core/wrap.hpp>
#include <iso/ct/fdk_reconstructor.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace fdk_support;
using iso::ct::ellipsoid;
using iso::ct::weigh_scan;
using iso::test::refusal;

/// A number for each view and column, read between them.
struct table {
  std::vector<double> const& values;
  std::int64_t columns;

  [[nodiscard]] double at(double view, double column) const {
    auto const i = std::int64_t(std::floor(view));
    auto const c = std::int64_t(std::floor(column));
    auto const of = [&](std::int64_t a, std::int64_t b) {
      return values.at(std::size_t(a * columns + b));
    };
    double const x = view - double(i);
    double const y = column - double(c);
    return (1 - x) * ((1 - y) * of(i, c) + y * of(i, c + 1)) +
           x * ((1 - y) * of(i + 1, c) + y * of(i + 1, c + 1));
  }
};

/// Mean |a - b| over the voxels of one slice about which `truth` has one value, three voxels far.
double apart_from_edges(std::vector<float> const& a, std::vector<float> const& b,
                        std::vector<float> const& truth, grid const& g, std::int64_t k,
                        double radius) {
  auto const at = [&](std::vector<float> const& x, std::int64_t i, std::int64_t j) {
    return double(x[std::size_t((i * g.extent[1] + j) * g.extent[2] + k)]);
  };
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 3; i < g.extent[0] - 3; ++i) {
    for (std::int64_t j = 3; j < g.extent[1] - 3; ++j) {
      double const x = g.origin.x + double(i) * g.spacing.x;
      double const y = g.origin.y + double(j) * g.spacing.y;
      bool flat = std::hypot(x, y) < radius;
      for (std::int64_t m = i - 3; m <= i + 3; ++m) {
        for (std::int64_t n = j - 3; n <= j + 3; ++n) {
          flat = flat && at(truth, m, n) == at(truth, i, j);
        }
      }
      if (flat) {
        sum += std::abs(at(a, i, j) - at(b, i, j));
        ++count;
      }
    }
  }
  REQUIRE(count > 100);
  return sum / double(count);
}

constexpr double fan_of(double half_width, double distance) {
  return 2 * half_width / distance;  // a little more than the angle
}

}  // namespace

TEST_CASE("fdk: opposite rays of a short scan add up to two, rays measured once count twice") {
  constexpr double source = 300;
  constexpr double detector = 450;
  constexpr std::int64_t columns = 101;
  constexpr double pitch = 2;
  double const fan = 2 * std::atan(0.5 * double(columns - 1) * pitch / detector);
  // The shortest arc and the longest from two angles each.
  std::vector<std::pair<double, std::vector<double>>> const arcs = {{pi + fan + 1e-9, {0.0, 2.9}},
                                                                    {pi + 2 * fan, {-1.0}},
                                                                    {1.5 * pi, {2.9}},
                                                                    {1.9 * pi, {0.0, -1.0}}};
  for (auto const& [arc, firsts] : arcs) {
    for (double const first : firsts) {
      CAPTURE(arc);
      CAPTURE(first);
      constexpr std::int64_t count = 1500;
      auto const g = iso::ct::circular_cone({columns, 3, pitch, pitch}, source, detector,
                                            iso::ct::even_angles(count, arc, first));
      auto const w = weigh_scan(g, {.arc = scan_arc::short_scan});
      REQUIRE(w.rows == count);
      double sum = 0;
      for (double const angle : w.angles) {
        sum += angle;
      }
      CHECK(sum == doctest::Approx(arc).epsilon(1e-9));
      table const factors{w.redundancy_weights, columns};
      double const step = arc / double(count);
      double worst = 0;
      int pairs = 0;
      for (std::int64_t view = 0; view < count; view += 7) {
        for (std::int64_t u = 0; u < columns; ++u) {
          // At angle 0 the source stands at +x and u runs along +y: the ray turns from the inward
          // radius by -atan(u / detector).
          double const place = (double(u) - 0.5 * double(columns - 1)) * pitch;
          double const gamma = -std::atan(place / detector);
          double const own = factors.at(double(view) * (1 - 1e-15), double(u) * (1 - 1e-15));
          double partner = 0;
          double where = -1;
          for (double const turns : {-1.0, 0.0, 1.0}) {
            double const other = double(view) + (pi + 2 * gamma + turns * 2 * pi) / step;
            where = other > 0 && other < double(count - 1) ? other : where;
          }
          double const edge = double(columns - 1) - double(u);
          if (0.5 * (arc - pi) - std::abs(gamma) < 10 * step) {
            continue;  // there the weight rises too steeply to be read between views
          }
          if (where >= 0) {
            partner = factors.at(where, std::min(edge, double(columns - 1) - 1e-9));
            ++pairs;
          } else if (own < 2 - 1e-2) {
            continue;  // the partner lies within half a view of the arc's end
          }
          worst = std::max(worst, std::abs(own + partner - 2));
        }
      }
      CHECK(pairs > 1000);
      CHECK(worst < 5e-3);
    }
  }
}

TEST_CASE("fdk: opposite rays of a displaced detector add up to two") {
  for (bool const cone : {true, false}) {
    for (double const offset : {30.0, -30.0}) {
      iso::ct::flat_detector const d{61, 3, 2, 2, offset};
      auto const angles = iso::ct::even_angles(90, 2 * pi);
      auto const g = cone ? iso::ct::circular_cone(d, 300, 450, angles)
                          : iso::ct::circular_parallel(d, angles);
      auto const w = weigh_scan(g);
      CHECK(w.detector == detector_placement::displaced);
      CHECK((offset > 0 ? w.before : w.after) == 30);
      CHECK((offset > 0 ? w.after : w.before) == 0);
      double angle = 0;
      for (double const a : w.angles) {
        angle += a;
      }
      CHECK(angle == doctest::Approx(cone ? 2 * pi : pi));
      // The extended detector is symmetric about the axis.
      for (std::int64_t c = 0; c < 91; ++c) {
        CHECK(w.redundancy_weights[std::size_t(c)] + w.redundancy_weights[std::size_t(90 - c)] ==
              doctest::Approx(2));
      }
      CHECK(*std::min_element(w.redundancy_weights.begin(), w.redundancy_weights.end()) == 0);
    }
  }
}

TEST_CASE("fdk: short and offset scans give what the full scan gives") {
  auto const head = iso::ct::shepp_logan(60);
  // The slice of the sources, which the detector's middle row sees.
  auto const volume = grid::centred({128, 128, 1}, {1, 1, 1});
  auto const truth = rastered_bodies<float>(head, volume);
  constexpr double source = 300;
  constexpr double distance = 450;
  constexpr double pitch = 1.5;
  double const fan = fan_of(96 * pitch, distance);
  auto const turn = iso::ct::even_angles(360, 2 * pi);
  auto const cone = [&](iso::ct::flat_detector const& d, std::vector<double> const& angles,
                        fdk_options const& options = {}) {
    auto const g = iso::ct::circular_cone(d, source, distance, angles);
    return reconstructed(fast(), g, projected_bodies<float>(head, g), volume, options);
  };
  auto const full = cone({192, 3, pitch, pitch}, turn);
  auto const against = [&](std::vector<float> const& found, char const* name) {
    CAPTURE(name);
    // 0.0007 to 0.0017; the head's contrast is 1, its weakest body's 0.1.
    CHECK(apart_from_edges(found, full, truth, volume, 0, 60) < 0.0025);
  };
  CHECK(apart_from_edges(full, truth, truth, volume, 0, 60) < 0.006);
  for (double const arc : {pi + fan, 1.4 * pi, 1.8 * pi}) {
    auto const count = std::int64_t(std::ceil(360 * arc / (2 * pi)));
    against(cone({192, 3, pitch, pitch}, iso::ct::even_angles(count, arc, 0.4)), "short");
  }
  std::vector<double> uneven;
  for (double at = 0.2; at < 0.2 + pi + fan + 0.05; at += 0.015 + 0.005 * std::sin(50 * at)) {
    uneven.push_back(at);
  }
  std::reverse(uneven.begin() + 20, uneven.begin() + 90);
  against(cone({192, 3, pitch, pitch}, uneven), "short, uneven");
  for (double const offset : {51.0, -51.0}) {
    against(cone({120, 3, pitch, pitch, offset}, turn), "offset");
  }
  // The weights of a displaced detector hold for one in the middle too.
  against(cone({192, 3, pitch, pitch}, turn, {.scan = {.detector = detector_placement::displaced}}),
          "offset by nothing");
  auto const parallel = [&](iso::ct::flat_detector const& d, std::vector<double> const& angles,
                            fdk_options const& options = {}) {
    auto const g = iso::ct::circular_parallel(d, angles);
    return reconstructed(fast(), g, projected_bodies<float>(head, g), volume, options);
  };
  auto const half = parallel({128, 3}, iso::ct::even_angles(180, pi));
  auto const against_half = [&](std::vector<float> const& found, char const* name) {
    CAPTURE(name);
    // Opposite parallel rays of these detectors meet the same pixels.
    CHECK(apart_from_edges(found, half, truth, volume, 0, 60) < 1e-5);
  };
  against_half(parallel({128, 3}, iso::ct::even_angles(220, 220 * pi / 180)), "parallel over-scan");
  against_half(parallel({128, 3}, iso::ct::even_angles(220, 220 * pi / 180),
                        {.scan = {.arc = scan_arc::short_scan}}),
               "parallel short");
  against_half(parallel({80, 3, 1, 1, 24}, turn), "parallel offset");
}

TEST_CASE("fdk: a body wider than the detector") {
  // A cylinder of 100 mm radius, of which the detector sees 60.
  std::vector<ellipsoid> const body = {{{0, 0, 0}, {100, 100, 1e4}, 0, 1}};
  auto const volume = grid::centred({96, 96, 1}, {1, 1, 1});
  auto const g =
      iso::ct::circular_cone({120, 3, 1.5, 1.5}, 400, 600, iso::ct::even_angles(240, 2 * pi));
  auto const p = projected_bodies<float>(body, g);
  auto const error = [&](std::int64_t truncation_correction) {
    auto const found = reconstructed(fast(), g, p, volume,
                                     {.scan = {.truncation_correction = truncation_correction}});
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < 96; ++i) {
      for (std::int64_t j = 0; j < 96; ++j) {
        if (std::hypot(double(i) - 47.5, double(j) - 47.5) < 45) {
          sum += std::abs(double(found[std::size_t(i * 96 + j)]) - 1);
          ++count;
        }
      }
    }
    return sum / double(count);
  };
  double const without = error(0);
  CHECK(without == doctest::Approx(0.397).epsilon(0.02));
  CHECK(error(40) < 0.25 * without);   // 0.083
  CHECK(error(60) < 0.005 * without);  // 0.0012
  CHECK(error(80) < 0.2 * without);    // 0.065
}

TEST_CASE_TEMPLATE("fdk: subsets of whole blocks of views add up to the whole, to the bit", T,
                   float, double) {
  auto const volume = grid::centred({13, 11, 40}, {1.3, 1.1, 0.8});
  fdk_options const continued{.scan = {.truncation_correction = 3}};
  std::vector<std::pair<geometry, fdk_options>> const scans = {
      {iso::ct::circular_cone({33, 41, 1.1, 0.9}, 120, 180, iso::ct::even_angles(70, 2 * pi)), {}},
      {iso::ct::circular_cone({33, 41, 1.1, 0.9}, 120, 180, iso::ct::even_angles(70, 2 * pi)),
       continued},
      {iso::ct::circular_cone({33, 41, 1.1, 0.9}, 120, 180, iso::ct::even_angles(70, 1.3 * pi)),
       {}},
      {iso::ct::circular_cone({33, 41, 1.1, 0.9, 7}, 120, 180, iso::ct::even_angles(70, 2 * pi)),
       {}}};
  for (auto const& [g, options] : scans) {
    auto const p = random_stack<T>(g);
    auto const whole = reconstructed(Kokkos::Serial(), g, p, volume, options);
    iso::test::for_each_instance([&](auto const& exec) {
      using Exec = std::decay_t<decltype(exec)>;
      using space = typename Exec::memory_space;
      iso::ct::fdk_plan<space> const plan(exec, g, options);
      auto const out = iso::make_volume<T, space>("out", volume);
      iso::workspace<space> const scratch(iso::ct::fdk_bytes_needed<T>(exec, g, options));
      auto const pixels = iso::stage<iso::access::read>(exec, p.data);
      std::int64_t const cuts[] = {0, 16, 64, 70};
      for (int n = 0; n < 3; ++n) {
        std::int64_t const count = cuts[n + 1] - cuts[n];
        auto const part = plan.subset(cuts[n], count);
        CHECK(part.geometry().host().num_views() == count);
        auto const some = iso::wrap_projections<space>(
            pixels.view().data() + cuts[n] * g.num_u() * g.num_v(), count, g.num_u(), g.num_v());
        if (n == 0) {
          iso::ct::fdk<Exec, T>(exec, part, some, out, scratch);
        } else {
          iso::ct::fdk<Exec, T>(exec, part, some, out, scratch, iso::onto::stored);
        }
      }
      exec.fence("test_fdk_scans");
      CHECK(difference(host_vector(out.data), whole) == "");
    });
  }
  auto const& g = scans.front().first;
  iso::ct::fdk_plan<host> const plan(Kokkos::Serial(), g);
  CHECK(refusal([&] { static_cast<void>(plan.subset(60, 11)); }).find("70") != std::string::npos);
  CHECK(refusal([&] { static_cast<void>(plan.subset(0, 0)); }) != "");
}

TEST_CASE("fdk: what a scan chooses by itself") {
  auto const chosen = [](iso::ct::flat_detector const& d, std::vector<double> const& angles) {
    auto const w = weigh_scan(iso::ct::circular_cone(d, 300, 450, angles));
    return std::pair(w.arc, w.detector);
  };
  iso::ct::flat_detector const centred{60, 4, 2, 2, 11};
  iso::ct::flat_detector const beside{60, 4, 2, 2, 13};
  auto const turn = iso::ct::even_angles(90, 2 * pi);
  CHECK(chosen(centred, turn) == std::pair(scan_arc::full, detector_placement::centred));
  CHECK(chosen(beside, turn) == std::pair(scan_arc::full, detector_placement::displaced));
  CHECK(chosen(centred, iso::ct::even_angles(90, 1.3 * pi)) ==
        std::pair(scan_arc::short_scan, detector_placement::centred));
  // Five neighbouring views are missing, 24 degrees: no full circle any more.
  CHECK(chosen(centred, iso::ct::even_angles(85, 2 * pi * 85 / 90)).first == scan_arc::short_scan);
  CHECK(chosen(centred, iso::ct::even_angles(88, 2 * pi * 88 / 90)).first == scan_arc::full);
  // 3n + 1 views, and a single one.
  CHECK(chosen(centred, iso::ct::even_angles(31, 2 * pi)).first == scan_arc::full);
  CHECK(chosen(centred, {0.5}).first == scan_arc::full);
}

TEST_CASE("fdk: irregular angles over a full circle are not taken for an arc") {
  iso::ct::flat_detector const d{60, 4, 2, 2};
  iso::ct::flat_detector const beside{60, 4, 2, 2, 20};
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> anywhere(0, 2 * pi);
  // Of 50 scans; the widest of 90 random gaps has 20 degrees. One scan of 180 leaves out 29 degrees
  // and nowhere else more than 6.
  int arcs = 0;
  for (auto const& [views, accepted] : {std::pair(360, 50), std::pair(180, 25), std::pair(90, 0)}) {
    CAPTURE(views);
    int full = 0;
    for (int scan = 0; scan < 50; ++scan) {
      std::vector<double> angles(std::size_t(views), 0.0);
      for (double& angle : angles) {
        angle = anywhere(random);
      }
      auto const g = iso::ct::circular_cone(d, 300, 450, angles);
      auto const why = refusal([&] { weigh_scan(g); });
      CAPTURE(why);
      CHECK((why == "" || why.find("full circle") != std::string::npos));
      arcs += why.find("degrees of an arc") != std::string::npos ? 1 : 0;
      full += why == "" && weigh_scan(g).arc == scan_arc::full ? 1 : 0;
      auto const other =
          refusal([&] { weigh_scan(iso::ct::circular_cone(beside, 300, 450, angles)); });
      CHECK((other == "") == (why == "" && weigh_scan(g).arc == scan_arc::full));
    }
    CAPTURE(full);
    CHECK(full >= accepted);
  }
  CHECK(arcs <= 1);
  auto const weigh = [&](std::vector<double> const& angles, iso::ct::flat_detector const& on) {
    return refusal([&] { weigh_scan(iso::ct::circular_cone(on, 300, 450, angles)); });
  };
  auto uneven = iso::ct::even_angles(90, 2 * pi);
  uneven.erase(uneven.begin() + 10, uneven.begin() + 13);
  uneven.erase(uneven.begin() + 50, uneven.begin() + 53);
  CHECK(weigh(uneven, d).find(
            "no view within 16 degrees (views are 4.286 degrees apart on average; "
            "an arc without gaps, or a full circle, is needed)") != std::string::npos);
  CHECK(weigh(uneven, beside).find("a full circle is needed") != std::string::npos);
}

TEST_CASE("fdk: whether a scan that lacks views is an arc depends on what the others cover") {
  iso::ct::flat_detector const d{60, 4, 2, 2};
  iso::ct::flat_detector const beside{60, 4, 2, 2, 20};
  auto const lacking = [](std::int64_t views, double range, int gone) {
    auto angles = iso::ct::even_angles(views, range, 0.3);
    angles.erase(angles.begin() + 50, angles.begin() + 50 + gone);
    return angles;
  };
  auto const cone = [](iso::ct::flat_detector const& on, std::vector<double> const& angles) {
    return iso::ct::circular_cone(on, 300, 450, angles);
  };
  for (int const gone : {3, 4, 5}) {
    CHECK(weigh_scan(cone(d, lacking(180, 2 * pi, gone))).arc == scan_arc::full);
    CHECK(weigh_scan(cone(beside, lacking(180, 2 * pi, gone))).arc == scan_arc::full);
  }
  CHECK(weigh_scan(cone(d, lacking(180, 2 * pi, 6))).arc == scan_arc::short_scan);
  CHECK(refusal([&] {
          weigh_scan(cone(beside, lacking(180, 2 * pi, 6)));
        }).find("beside the z axis and the views are taken for an arc of 346 degrees") !=
        std::string::npos);
  for (int const gone : {3, 4, 10}) {
    CHECK(refusal([&] {
            weigh_scan(cone(d, lacking(112, 1.25 * pi, gone)));
          }).find("degrees of an arc of 223 degrees (views are 2.") != std::string::npos);
  }
  CHECK(refusal([&] {
          weigh_scan(cone(d, lacking(112, 1.25 * pi, 4)));
        }).find("scan the arc without gaps, or the full circle") != std::string::npos);
}

TEST_CASE("fdk: scans for which the weights do not hold are refused with a sentence") {
  auto const has = [](std::string const& text, std::initializer_list<char const*> words) {
    CAPTURE(text);
    for (char const* const word : words) {
      CAPTURE(word);
      CHECK(text.find(word) != std::string::npos);
    }
  };
  iso::ct::flat_detector const d{60, 4, 2, 2};
  iso::ct::flat_detector const beside{60, 4, 2, 2, 20};
  auto const weigh = [&](geometry const& g, scan_options const& options = {}) {
    return refusal([&] { weigh_scan(g, options); });
  };
  auto const cone = [](iso::ct::flat_detector const& detector, double arc) {
    return iso::ct::circular_cone(detector, 300, 450, iso::ct::even_angles(90, arc));
  };
  // 2 atan(59 / 450) = 14.94 degrees.
  has(weigh(cone(d, pi)), {"180 degrees", "14.94", "194.9", "scan further"});
  CHECK(weigh(cone(d, pi + 0.261)) == "");
  has(weigh(cone(d, 1.3 * pi), {.arc = scan_arc::full}), {"full circle"});
  has(weigh(cone(beside, 1.3 * pi)), {"beside the z axis", "arc"});
  has(weigh(cone(d, 1.3 * pi), {.detector = detector_placement::displaced}), {"beside the z axis"});
  CHECK(weigh(cone(beside, 1.4 * pi), {.detector = detector_placement::centred}) == "");
  has(weigh(cone({60, 4, 2, 2, 70}, 2 * pi)), {"beyond the displaced detector"});
  has(weigh(iso::ct::circular_parallel(d, iso::ct::even_angles(40, 2))), {"half a circle"});
  has(weigh(cone(d, 2 * pi), {.truncation_correction = -1}), {"truncation correction"});
  auto const widest = 4 * cone(d, 2 * pi).num_u();
  CHECK(weigh(cone(d, 2 * pi), {.truncation_correction = widest}) == "");
  has(weigh(cone(d, 2 * pi), {.truncation_correction = widest + 1}), {"truncation correction"});
  has(weigh(cone(d, 2 * pi), {.arc = scan_arc(7)}),
      {"arc is 7", "choose one of automatic, full, short"});
  has(weigh(cone(d, 2 * pi), {.detector = detector_placement(7)}), {"detector is 7"});

  auto const turned = [&](geometry const& g, double x) {
    auto views = g.views();
    for (view_vectors& w : views) {
      for (vec3<double>* a : {&w.source, &w.detector_origin, &w.u_step, &w.v_step}) {
        *a = {a->x, std::cos(x) * a->y - std::sin(x) * a->z,
              std::sin(x) * a->y + std::cos(x) * a->z};
      }
    }
    return geometry(g.kind(), g.num_u(), g.num_v(), views);
  };
  has(weigh(turned(cone(d, 2 * pi), 5 * pi / 180)), {"tilted by 5 degrees"});
  has(weigh(turned(iso::ct::circular_parallel(d, iso::ct::even_angles(40, pi)), 0.1)),
      {"plane of rotation", "iterative method"});
  auto const changed = [&](auto const& change) {
    auto const g = cone(d, 2 * pi);
    auto views = g.views();
    for (std::size_t n = 0; n < views.size(); ++n) {
      change(views[n], n);
    }
    return geometry(g.kind(), g.num_u(), g.num_v(), views);
  };
  has(weigh(changed([](view_vectors& w, std::size_t n) {
        w.source.z += double(n);
        w.detector_origin.z += double(n);
      })),
      {"not a helix", "iterative method"});
  auto const several = iso::ct::even_angles(100, 6 * pi);
  has(weigh(iso::ct::helix(iso::ct::circular_cone(d, 300, 450, several), several, 10)),
      {"not a helix", "iterative method"});
  // A detector of 8 mm that climbs by almost 30 mm, or by less than its height.
  auto const climbing = iso::ct::circular_parallel(d, several);
  has(weigh(iso::ct::helix(climbing, several, 10)), {"no height", "helix", "iterative method"});
  CHECK(weigh(iso::ct::helix(climbing, several, 2.5)) == "");
  for (auto const& circle :
       {cone(d, 2 * pi), iso::ct::circular_parallel(d, iso::ct::even_angles(40, 2 * pi))}) {
    has(weigh(iso::ct::laminography(circle, 0.5)), {"laminography", "iterative method"});
    has(weigh(iso::ct::laminography(circle, -0.1)), {"laminography", "iterative method"});
    has(weigh(iso::ct::turn_detector(circle, {.roll = 0.5})), {"rows of u", "iterative method"});
    has(weigh(iso::ct::turn_detector(circle, {.roll = pi / 2})), {"rows of u"});
  }
  // The rows reach within 5 degrees of the plane of rotation, or not: 1.5 rows of 2 mm are 0.38.
  CHECK(weigh(iso::ct::laminography(cone(d, 2 * pi), 5.3 * pi / 180)) == "");
  has(weigh(iso::ct::laminography(cone(d, 2 * pi), 5.5 * pi / 180)), {"by 5.12 degrees or more"});
  // What it takes: a fan, detectors turned, rolled a little and shifted from view to view.
  std::vector<std::array<double, 2>> shifts;
  for (std::size_t n = 0; n < 90; ++n) {
    shifts.push_back({double(n % 3) - 1, double(n % 5) - 2});
  }
  CHECK(weigh(cone({.num_u = 60, .num_v = 1, .pitch_u = 2, .pitch_v = 2}, 2 * pi)) == "");
  CHECK(weigh(iso::ct::turn_detector(cone(d, 2 * pi), {0.3, 0.3, 0.05})) == "");
  CHECK(weigh(iso::ct::shift_detector(cone(d, 2 * pi), shifts)) == "");
  has(weigh(changed([](view_vectors& w, std::size_t) { w.source.x *= 1.2; })), {"a circle about"});
  has(weigh(changed([](view_vectors& w, std::size_t) { w.source.x += 20; })), {"a circle about"});
  has(weigh(changed([](view_vectors& w, std::size_t) { w.u_step.z = 1; })), {"rows of u"});
  has(weigh(changed([](view_vectors& w, std::size_t n) {
        w.detector_origin = w.detector_origin + (n % 2 == 0 ? 15.0 : -15.0) * w.u_step;
      })),
      {"the other side"});
}

TEST_CASE("fdk: projections that are zero or not finite") {
  auto const volume = grid::centred({24, 24, 40}, {1, 1, 1});
  auto const g =
      iso::ct::circular_cone({48, 41, 1.1, 1.6}, 120, 180, iso::ct::even_angles(20, 2 * pi));
  auto const zero = stack_of<float>(g, std::vector<float>(std::size_t(20 * 48 * 41), 0.f));
  auto const nothing = reconstructed(fast(), g, zero, volume);
  CHECK(std::all_of(nothing.begin(), nothing.end(), [](float x) { return x == 0; }));

  for (float const bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto const p = random_stack<float>(g);
    auto const clean = reconstructed(fast(), g, p, volume);
    p.data(3, 20, 30) = bad;
    auto const found = reconstructed(fast(), g, p, volume);
    std::int64_t touched = 0;
    for (std::int64_t i = 0; i < 24; ++i) {
      for (std::int64_t j = 0; j < 24; ++j) {
        for (std::int64_t k = 0; k < 40; ++k) {
          auto const n = std::size_t((i * 24 + j) * 40 + k);
          // Where the view sees the voxel along v: only rows 29 to 31 read row 30.
          view_vectors const& w = g.views()[3];
          vec3<double> const x = volume.origin + vec3<double>{double(i), double(j), double(k)};
          vec3<double> const normal = iso::cross(w.u_step, w.v_step);
          double const t = dot(normal, w.detector_origin - w.source) / dot(normal, x - w.source);
          double const v = (w.source.z + t * (x.z - w.source.z) - w.detector_origin.z) / 1.6;
          if (v < 28.999 || v > 31.001) {
            CHECK(found[n] == clean[n]);
          } else if (v > 29.001 && v < 30.999) {
            CHECK_FALSE(std::isfinite(found[n]));
            ++touched;
          }
        }
      }
    }
    CHECK(touched > 100);
  }

  // The last reading of a row, continued beyond the detector, spoils its own row only.
  scan_options const wide{.truncation_correction = 4};
  auto const p = random_stack<float>(g);
  auto const some = reconstructed(fast(), g, p, volume, {.scan = wide});
  CHECK(std::all_of(some.begin(), some.end(), [](float x) { return std::isfinite(x); }));
  p.data(3, 47, 5) = std::numeric_limits<float>::quiet_NaN();
  auto const worse = reconstructed(fast(), g, p, volume, {.scan = wide});
  CHECK(std::count_if(worse.begin(), worse.end(), [](float x) { return !std::isfinite(x); }) > 0);
  CHECK(std::count_if(worse.begin(), worse.end(), [](float x) { return std::isfinite(x); }) >
        24 * 24 * 30);
}

TEST_CASE("fdk: a reading without weight does not count, even if it is not finite") {
  // A displaced detector that reaches less far beyond the axis in view 0 than in the others: what
  // these see beyond that is not measured in all opposite views, and has no weight.
  auto const even =
      iso::ct::circular_cone({48, 21, 1.1, 1.6, 15}, 120, 180, iso::ct::even_angles(20, 2 * pi));
  auto views = even.views();
  views[0].detector_origin = views[0].detector_origin + 2.0 * views[0].u_step;
  geometry const g(even.kind(), even.num_u(), even.num_v(), views);
  auto const weights = weigh_scan(g);
  REQUIRE(weights.detector == detector_placement::displaced);
  REQUIRE(weights.rows == 20);
  std::int64_t const columns = weights.before + 48 + weights.after;
  auto const volume = grid::centred({24, 24, 20}, {1, 1, 1});
  auto const p = random_stack<float>(g);
  iso::test::for_each_instance([&](auto const& exec) {
    auto const q = random_stack<float>(g);
    auto const clean = reconstructed(exec, g, p, volume);
    std::int64_t spoilt = 0;
    for (std::int64_t view = 0; view < 20; ++view) {
      for (std::int64_t u = 0; u < 48; ++u) {
        if (weights.redundancy_weights[std::size_t(view * columns + weights.before + u)] == 0) {
          q.data(view, u, 9) = std::numeric_limits<float>::quiet_NaN();
          q.data(view, u, 10) = std::numeric_limits<float>::infinity();
          ++spoilt;
        }
      }
    }
    CHECK(spoilt == 2 * 19);
    CHECK(difference(reconstructed(exec, g, q, volume), clean) == "");
  });
}

TEST_CASE("fdk: a detector that sees nothing of the volume gives zero") {
  auto const g = iso::ct::circular_cone({16, 8, 1, 1}, 120, 180, iso::ct::even_angles(20, 2 * pi));
  auto volume = grid::centred({8, 8, 8}, {1, 1, 1});
  volume.origin.z += 500;
  auto const found = reconstructed(fast(), g, random_stack<float>(g), volume);
  CHECK(std::all_of(found.begin(), found.end(), [](float x) { return x == 0; }));
}

TEST_CASE("fdk: shapes that disagree are refused, and nothing is written") {
  auto const g = iso::ct::circular_cone({16, 8, 1, 1}, 120, 180, iso::ct::even_angles(20, 2 * pi));
  auto const volume = grid::centred({8, 8, 8}, {1, 1, 1});
  iso::ct::fdk_plan<host> const plan(Kokkos::Serial(), g);
  auto const attempt = [&](std::int64_t views, std::int64_t nu, std::int64_t nv,
                           std::int64_t bytes) {
    auto const p = iso::make_projections<float, host>("p", views, nu, nv);
    auto const out = iso::make_volume<float, host>("out", volume);
    Kokkos::deep_copy(out.data, 7.f);
    iso::workspace<host> const scratch(bytes);
    auto const sentence = refusal(
        [&] { iso::ct::fdk<Kokkos::Serial, float>(Kokkos::Serial(), plan, p, out, scratch); });
    for (std::int64_t n = 0; n < 512; ++n) {
      CHECK((sentence == "") == (out.data.data()[n] != 7.f));
    }
    return sentence;
  };
  auto const enough = iso::ct::fdk_bytes_needed<float>(Kokkos::Serial(), g);
  CHECK(attempt(20, 16, 8, enough) == "");
  CHECK(attempt(19, 16, 8, enough).find("[20, 16, 8]") != std::string::npos);
  CHECK(attempt(20, 15, 8, enough).find("[20, 15, 8]") != std::string::npos);
  CHECK(attempt(20, 16, 9, enough) != "");
  CHECK(attempt(20, 16, 8, enough - 1).find(std::to_string(enough)) != std::string::npos);
}

TEST_CASE("fdk: arrays and scratch that overlap are refused, and nothing is written") {
  auto const g = iso::ct::circular_cone({16, 8, 1, 1}, 120, 180, iso::ct::even_angles(20, 2 * pi));
  iso::ct::fdk_plan<host> const plan(Kokkos::Serial(), g);
  std::int64_t const bytes = iso::ct::fdk_bytes_needed<float>(Kokkos::Serial(), g);
  std::int64_t const work = bytes / std::int64_t(sizeof(float));
  std::int64_t const pixels = 20 * 16 * 8;
  std::int64_t const voxels = 8 * 8 * 8;
  Kokkos::View<float*, host> const all("all", std::size_t(work + pixels + voxels));
  // The scratch comes first; the others begin so many floats behind its first.
  auto const attempt = [&](std::int64_t p, std::int64_t out) {
    Kokkos::deep_copy(all, 7.F);
    auto const sentence = refusal([&] {
      iso::ct::fdk<Kokkos::Serial, float>(Kokkos::Serial(), plan,
                                          {stack<float>::data_type(all.data() + p, 20, 16, 8)},
                                          {grid::centred({8, 8, 8}, {1, 1, 1}),
                                           volume<float>::data_type(all.data() + out, 8, 8, 8)},
                                          iso::wrap_workspace<host>(all.data(), bytes));
    });
    bool const written =
        std::any_of(all.data(), all.data() + all.size(), [](float x) { return x != 7.F; });
    CHECK(written == sentence.empty());
    return sentence;
  };
  std::string const why = " overlap (one is written while the other is read); copy one of them";
  CHECK(attempt(work, work + pixels) == "");  // neighbours
  CHECK(attempt(work, work + pixels - 1) == "iso::ct::fdk: volume data and projections" + why);
  CHECK(attempt(work + voxels, work - 1) == "iso::ct::fdk: volume data and scratch" + why);
  CHECK(attempt(work - 1, work + pixels) == "iso::ct::fdk: scratch and projections" + why);
}

TEST_CASE_TEMPLATE("fdk: a reconstructor gives the bits of fdk, scan after scan", T, float,
                   double) {
  auto const g =
      iso::ct::circular_cone({17, 9, 1.5, 2}, 120, 180, iso::ct::even_angles(20, 2 * pi));
  auto const box = grid::centred({9, 7, 11}, {1.25, 1, 1});
  iso::ct::fdk_options const options{iso::ct::ramp_window::hann, 0.8};
  iso::ct::fdk_reconstructor<Kokkos::DefaultHostExecutionSpace, T> const reconstructor(
      fast(), g, box, options);
  for (unsigned const seed : {1U, 2U}) {
    auto const p = random_stack<T>(g, seed);
    auto const out = iso::make_volume<T, host>("out", box);
    reconstructor.apply(p, out);
    CHECK(host_vector(out.data) == reconstructed(fast(), g, p, box, options));
  }
  auto const other = iso::make_volume<T, host>("out", grid::centred({9, 7, 12}, {1.25, 1, 1}));
  CHECK(refusal([&] { reconstructor.apply(random_stack<T>(g), other); }).find("[9, 7, 11]") !=
        std::string::npos);
  auto flat = box;
  flat.spacing.z = 0;
  CHECK(refusal([&] {
          iso::ct::fdk_reconstructor<Kokkos::Serial, T>(Kokkos::Serial(), g, flat);
        }).find("spacing") != std::string::npos);
}
