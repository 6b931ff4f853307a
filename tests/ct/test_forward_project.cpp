// SPDX-License-Identifier: BSD-3-Clause
// Projections whose answers are known in closed form.
#include "forward_project_support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using iso::boundary;
using namespace projector_support;

vec3<double> unit_vector(int axis) {
  vec3<double> e;
  e[axis] = 1;
  return e;
}

int lower_other(int axis) { return axis == 0 ? 1 : 0; }
int upper_other(int axis) { return axis == 2 ? 1 : 2; }

/// What a ray along an axis reads of a row of n ones, at the place p of that row, in voxels.
double weight_of_row(projector method, boundary edge, double p, std::int64_t n) {
  double const last = double(n - 1);
  if (!is_joseph(method)) {
    return p >= -0.5 && p < last + 0.5 ? 1 : 0;
  }
  if (p >= 0 && p <= last) {
    return 1;
  }
  double const d = p < 0 ? 1 + p : last + 1 - p;  // towards the outermost centre
  if (edge == boundary::truncate || d <= 0) {
    return 0;
  }
  return method == projector::joseph_linear ? d : d * d * (3 - 2 * d);
}

/// A cone whose rays enter by the lower and leave by the upper face along `axis`, and keep at least
/// a voxel away from the others: each reads one sample of every plane.
struct along_axis {
  grid g;
  geometry scan;
};

along_axis oblique_cone(int axis) {
  grid const g{{40, 36, 44}, {1, 0.75, 1.5}, {-17, -30, 8}};
  int const a = lower_other(axis);
  int const b = upper_other(axis);
  vec3<double> middle = g.origin;
  for (int n = 0; n < 3; ++n) {
    middle[n] += 0.5 * double(g.extent[std::size_t(n)] - 1) * g.spacing[n];
  }
  vec3<double> const source =
      middle - 150.0 * unit_vector(axis) + 9.0 * unit_vector(a) - 7.0 * unit_vector(b);
  vec3<double> const centre = middle + 90.0 * unit_vector(axis) - 2.0 * unit_vector(a);
  vec3<double> const u = 0.8 * unit_vector(a) + 0.1 * unit_vector(b);
  vec3<double> const v = 0.5 * unit_vector(b);
  return {g, geometry(beam::cone, 13, 35, {{source, centre - 6.0 * u - 17.0 * v, u, v}})};
}

/// From face to face along `axis`: the length inside the grid times f halfway.
template <class F>
std::vector<double> chords_times(along_axis const& p, int axis, F const& f) {
  std::vector<double> expected;
  auto const& view = p.scan.views()[0];
  double const low = p.g.origin[axis] - 0.5 * p.g.spacing[axis];
  double const high = low + double(p.g.extent[std::size_t(axis)]) * p.g.spacing[axis];
  for (std::int64_t u = 0; u < p.scan.num_u(); ++u) {
    for (std::int64_t v = 0; v < p.scan.num_v(); ++v) {
      vec3<double> const pixel =
          view.detector_origin + double(u) * view.u_step + double(v) * view.v_step;
      vec3<double> const r = pixel - view.source;
      double const t0 = (low - view.source[axis]) / r[axis];
      double const t1 = (high - view.source[axis]) / r[axis];
      expected.push_back((t1 - t0) * iso::norm(r) * f(view.source + (0.5 * (t0 + t1)) * r));
    }
  }
  return expected;
}

}  // namespace

TEST_CASE_TEMPLATE("forward_project: rays along the axes of a box of ones", T, float, double) {
  auto const g = grid::centred({12, 10, 14}, {0.5, 0.75, 1.25});
  auto const ones = volume_of<T>(g, [](auto, auto, auto) { return 1; });
  for (int axis = 0; axis < 3; ++axis) {
    int const a = lower_other(axis);
    int const b = upper_other(axis);
    std::int64_t const na = g.extent[std::size_t(a)];
    std::int64_t const nb = g.extent[std::size_t(b)];
    vec3<double> corner = 40.0 * unit_vector(axis);
    corner[a] = g.origin[a] - 1.25 * g.spacing[a];  // pixels at -1.25, -0.75, -0.25, ... voxels
    corner[b] = g.origin[b] - 1.25 * g.spacing[b];
    double const length = double(g.extent[std::size_t(axis)]) * g.spacing[axis];
    for (double const sign : {-1.0, 1.0}) {
      geometry const scan(
          beam::parallel, 2 * na + 4, 2 * nb + 4,
          {{(sign * 3) * unit_vector(axis), corner, (0.5 * g.spacing[a]) * unit_vector(a),
            (0.5 * g.spacing[b]) * unit_vector(b)}});
      for (auto const method : all_methods) {
        for (auto const edge : {boundary::zero, boundary::truncate}) {
          std::vector<double> expected;
          for (std::int64_t u = 0; u < scan.num_u(); ++u) {
            for (std::int64_t v = 0; v < scan.num_v(); ++v) {
              expected.push_back(length * weight_of_row(method, edge, -1.25 + 0.5 * double(u), na) *
                                 weight_of_row(method, edge, -1.25 + 0.5 * double(v), nb));
            }
          }
          CAPTURE(axis);
          CAPTURE(int(method));
          CAPTURE(int(edge));
          CHECK(farthest(projected(ones, scan, {.method = method, .edge = edge}), expected) <=
                40 * double(std::numeric_limits<T>::epsilon()) * length);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("forward_project: oblique rays through ones are chords", T, float, double) {
  for (int axis = 0; axis < 3; ++axis) {
    auto const p = oblique_cone(axis);
    auto const ones = volume_of<T>(p.g, [](auto, auto, auto) { return 1; });
    auto const expected = chords_times(p, axis, [](vec3<double>) { return 1.0; });
    CHECK(farthest(box_chords(p.scan, p.g), expected) < 1e-11);
    for (auto const method : all_methods) {
      CAPTURE(axis);
      CAPTURE(int(method));
      CHECK(farthest(projected(ones, p.scan, {.method = method}), expected) <=
            100 * double(std::numeric_limits<T>::epsilon()) * expected[0]);
    }
  }
}

TEST_CASE_TEMPLATE("forward_project: linear Joseph is exact on linear fields", T, float, double) {
  auto const field = [](vec3<double> x) { return 3 + 0.05 * x.x - 0.03 * x.y + 0.02 * x.z; };
  for (int axis = 0; axis < 3; ++axis) {
    auto const p = oblique_cone(axis);
    auto const ramp = volume_of<T>(p.g, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      auto const& s = p.g.spacing;
      return field(p.g.origin + vec3<double>{double(i) * s.x, double(j) * s.y, double(k) * s.z});
    });
    auto const expected = chords_times(p, axis, field);
    for (auto const path : {joseph_path::automatic, joseph_path::general}) {
      for (auto const sum : {summation::ordered, summation::reproducible}) {
        for (auto const edge : {boundary::zero, boundary::truncate}) {
          CAPTURE(axis);
          CAPTURE(int(path));
          CAPTURE(int(sum));
          CHECK(farthest(projected(ramp, p.scan, {.sum = sum, .edge = edge, .path = path}),
                         expected) <=
                100 * double(std::numeric_limits<T>::epsilon()) * expected[0]);
        }
      }
    }
  }
}

TEST_CASE("forward_project: a ray ends at its source and at its pixel") {
  auto const g = grid::centred({10, 9, 9}, {1, 1, 1});
  auto const ones = volume_of<double>(g, [](auto, auto, auto) { return 1; });
  auto const along_x = [&](double source, double pixel, projector method) {
    geometry const scan(beam::cone, 1, 1, {{{source, 0, 0}, {pixel, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
    return projected(ones, scan, {.method = method})[0];
  };
  for (auto const method : all_methods) {
    CAPTURE(int(method));
    CHECK(along_x(50, -50, method) == doctest::Approx(10));  // through
    CHECK(along_x(0, -50, method) == doctest::Approx(5));    // source inside
    CHECK(along_x(50, 1, method) == doctest::Approx(4));     // detector inside
    CHECK(along_x(-3, 2, method) == doctest::Approx(5));     // both
    CHECK(along_x(2, -3, method) == doctest::Approx(5));
    CHECK(along_x(8, 50, method) == 0);  // volume behind the source
    CHECK(along_x(50, 8, method) == 0);  // volume beyond the detector
    CHECK(along_x(8, 8, method) == 0);   // no length
    CHECK(along_x(1.5, 1.5, method) == 0);
  }
}

TEST_CASE_TEMPLATE(
    "forward_project: a pixel at the source counts as zero, and its neighbours stand", T, float,
    double) {
  auto const g = grid::centred({9, 9, 9}, {1, 1, 1});
  auto const ones = volume_of<T>(g, [](auto, auto, auto) { return 1; });
  for (double const x : {0.0, 0.25, 30.0}) {
    geometry const scan(beam::cone, 3, 3, {{{x, 0, 0}, {x, -2, -2}, {0, 2, 0}, {0, 0, 2}}});
    for (auto const method : all_methods) {
      for (auto const sum : {summation::ordered, summation::reproducible}) {
        auto const p = projected(ones, scan, {.method = method, .sum = sum});
        CHECK(p[4] == T(0));
        for (T const value : p) {
          CHECK(std::isfinite(value));
        }
        if (x == 0) {
          CHECK(p[3] > T(1));  // to z = -2, out of voxel 0's middle
        }
      }
    }
  }
}

TEST_CASE("forward_project: oversampling is the mean of a finer detector's pixels") {
  auto const p = oblique_cone(0);
  auto const v = random_volume<double>(p.g);
  auto const& view = p.scan.views()[0];
  for (std::int64_t const n : {2, 3}) {
    double const first = 0.5 / double(n) - 0.5;
    vec3<double> const du = (1.0 / double(n)) * view.u_step;
    vec3<double> const dv = (1.0 / double(n)) * view.v_step;
    geometry const fine(
        beam::cone, n * p.scan.num_u(), n * p.scan.num_v(),
        {{view.source, view.detector_origin + first * view.u_step + first * view.v_step, du, dv}});
    auto const sub = projected(v, fine, {.method = projector::siddon});
    std::vector<double> mean(std::size_t(p.scan.num_u() * p.scan.num_v()));
    for (std::int64_t u = 0; u < fine.num_u(); ++u) {
      for (std::int64_t w = 0; w < fine.num_v(); ++w) {
        mean[std::size_t(u / n * p.scan.num_v() + w / n)] +=
            sub[std::size_t(u * fine.num_v() + w)] / double(n * n);
      }
    }
    for (auto const method : exact_methods) {
      CHECK(farthest(projected(v, p.scan, {.method = method, .oversampling = std::int32_t(n)}),
                     mean) < 1e-11);
    }
  }
}

TEST_CASE_TEMPLATE("forward_project: parallel beams at quarter turns sum rows of voxels", T, float,
                   double) {
  std::int64_t const n = 37;
  std::int64_t const nz = 41;
  auto const g = grid::centred({n, n, nz}, {1, 1, 0.5});
  auto const v = random_volume<T>(g);
  auto const scan = iso::ct::circular_parallel({n, nz, 1, 0.5}, {0.0, pi / 2, pi, 3 * pi / 2});
  std::vector<double> expected;
  for (int turn = 0; turn < 4; ++turn) {
    for (std::int64_t u = 0; u < n; ++u) {
      for (std::int64_t w = 0; w < nz; ++w) {
        double sum = 0;
        std::int64_t const across = turn == 0 || turn == 3 ? u : n - 1 - u;
        for (std::int64_t i = 0; i < n; ++i) {
          sum += double(turn % 2 == 0 ? v.data(i, across, w) : v.data(across, i, w));
        }
        expected.push_back(sum);
      }
    }
  }
  for (auto const method : all_methods) {
    for (auto const edge : {boundary::zero, boundary::truncate}) {
      CAPTURE(int(method));
      CHECK(farthest(projected(v, scan, {.method = method, .edge = edge}), expected) <=
            double(2 * n) * 20 * double(std::numeric_limits<T>::epsilon()));
    }
  }
}

TEST_CASE_TEMPLATE("forward_project: rays within a cylinder sum the voxels of a disk", T, float,
                   double) {
  std::int64_t const nx = 30;
  std::int64_t const ny = 37;
  std::int64_t const nz = 33;
  // The smaller side is 33.3 mm, along y.
  auto const g = grid{{nx, ny, nz}, {1.3, 0.9, 0.7}, {-4, 8, -3}};
  auto const v = random_volume<T>(g);
  auto const counts = [&](std::int64_t i, std::int64_t j) {
    double const x = (double(i) - 0.5 * double(nx - 1)) * 1.3;
    double const y = (double(j) - 0.5 * double(ny - 1)) * 0.9;
    double const r = std::hypot(x, y);
    REQUIRE(std::abs(r - 0.5 * 33.3) > 1e-6);
    return r < 0.5 * 33.3;
  };
  // Along x to the pixels (y, z), along y to (x, z), along z to (x, y).
  for (int axis = 0; axis < 3; ++axis) {
    int const a = axis == 0 ? 1 : 0;
    int const b = axis == 2 ? 1 : 2;
    geometry const scan(beam::parallel, g.extent[std::size_t(a)], g.extent[std::size_t(b)],
                        {{unit_vector(axis), g.origin, g.spacing[a] * unit_vector(a),
                          g.spacing[b] * unit_vector(b)}});
    std::vector<double> expected;
    for (std::int64_t u = 0; u < scan.num_u(); ++u) {
      for (std::int64_t w = 0; w < scan.num_v(); ++w) {
        double sum = 0;
        for (std::int64_t i = 0; i < g.extent[std::size_t(axis)]; ++i) {
          std::int64_t at[3];
          at[axis] = i;
          at[a] = u;
          at[b] = w;
          sum += counts(at[0], at[1]) ? g.spacing[axis] * double(v.data(at[0], at[1], at[2])) : 0;
        }
        expected.push_back(sum);
      }
    }
    for (auto const method : {projector::joseph_linear, projector::joseph_spline}) {
      for (auto const path : {joseph_path::automatic, joseph_path::general}) {
        CAPTURE(axis);
        CHECK(farthest(
                  projected(v, scan, {.method = method, .within = region::cylinder, .path = path}),
                  expected) <= 40 * 20 * double(std::numeric_limits<T>::epsilon()));
      }
    }
  }
}
