// SPDX-License-Identifier: BSD-3-Clause
// back_project against its definition, against forward_project, and with the same bits everywhere.
#include "back_project_support.hpp"
#include "instances.hpp"

#include <iso/backend/host_vectors.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/ct/detail/back_project_impl.hpp>
#include <iso/oracle/projections.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace projector_support;
using iso::boundary;
using iso::ct::detail::care;

/// A circle about the volume: pixels of `fineness` to the voxel at the axis.
problem circle(std::mt19937_64& random, double fineness, bool ties, std::int64_t views = 3) {
  auto const uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  auto const whole = [&](int low, int high) {
    return std::int64_t(std::uniform_int_distribution<int>(low, high)(random));
  };
  grid const g = grid::centred({whole(2, 21), whole(2, 21), whole(2, 40)},
                               {uniform(0.5, 2), 1, uniform(0.5, 2)});
  double const radius = 0.5 * std::hypot(g.spacing.x * double(g.extent[0]), double(g.extent[1]));
  double const magnification = uniform(0.5, 3);
  double const source = radius * uniform(1.3, 5);
  std::vector<double> angles;
  for (std::int64_t n = 0; n < views; ++n) {
    angles.push_back(ties ? pi / 4 * double(whole(0, 7)) : uniform(0, 2 * pi));
  }
  // u and v from the left or the right, from below or above.
  iso::ct::flat_detector const d{whole(1, 30),
                                 whole(1, 60),
                                 magnification / fineness,
                                 magnification / fineness * g.spacing.z,
                                 uniform(-3, 3),
                                 uniform(-3, 3)};
  auto const scan = whole(0, 3) == 0
                        ? iso::ct::circular_parallel(d, angles)
                        : iso::ct::circular_cone(d, source, magnification * source, angles);
  auto turned = scan.views();
  for (auto& w : turned) {
    if (whole(0, 2) == 0) {
      w.detector_origin = w.detector_origin + double(d.num_v - 1) * w.v_step;
      w.v_step = -1.0 * w.v_step;
    }
  }
  return {g, geometry(scan.kind(), d.num_u, d.num_v, turned)};
}

/// Of all kinds.
problem any_problem(std::mt19937_64& random, int number) {
  switch (number % 4) {
    case 0:
      return random_problem(random, tilt::any);
    case 1:
      return random_problem(random, tilt::none);
    default:
      return circle(random, std::exp(std::uniform_real_distribution<double>(-1.1, 1.1)(random)),
                    number % 8 == 2);
  }
}

template <class A, class B>
double inner(std::vector<A> const& a, std::vector<B> const& b) {
  long double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    sum += static_cast<long double>(a[n]) * b[n];
  }
  return double(sum);
}

template <class T>
std::vector<T> values_of(volume<T> const& v) {
  return {v.data.data(), v.data.data() + v.data.size()};
}

/// |<A x, y> - <x, A' y>| over <|A x|, |y|>; x is not negative.
template <class T>
double mismatch(problem const& p, forward_project_options const& forward,
                back_project_options const& back, unsigned seed) {
  auto const x = random_volume<T>(p.volume, seed);
  auto const y = random_pixels<T>(p.scan, seed);
  auto const ax = projected(x, p.scan, forward);
  auto const aty = backprojected(y, p, back);
  auto sizes = y;
  for (T& s : sizes) {
    s = std::abs(s);
  }
  double const size = inner(ax, sizes);
  double const apart = std::abs(inner(ax, y) - inner(values_of(x), aty));
  return size == 0 ? apart : apart / size;
}

template <class T>
constexpr double adjoint_tolerance = sizeof(T) == 4 ? 1e-6 : 1e-13;

/// Of the kernel that a GPU takes.
template <class T>
constexpr int gpu_heights = sizeof(T) == 4 ? 2 : 1;

/// By the kernel of another form, on tables of its own; where `by` has weights, from `start` on.
template <class Kernel, class T>
std::vector<T> by_kernel(std::vector<T> const& pixels, problem const& p, boundary edge,
                         iso::ct::detail::gather_plan<T> const& plan,
                         iso::ct::detail::voxel_step<T> const& by = {},
                         std::vector<T> const& start = {}) {
  using namespace iso::ct::detail;
  Kokkos::Serial const exec;
  iso::workspace<host> scratch;
  iso::workspace_parts count("test");
  gather_scratch<T>(count, p.scan, p.volume, plan);
  scratch.reserve(count.bytes());
  fill_with_nan(exec, scratch);
  iso::workspace_parts parts(scratch, "test");
  gather_scratch<T> s(parts, p.scan, p.volume, plan);
  auto const out = iso::make_volume<T, host>("out", p.volume);
  std::copy(start.begin(), start.end(), out.data.data());
  back_project_volume<T> to{
      out.data.data(), p.volume, all_planes(p.volume), {p.volume, edge}, edge, true, by};
  auto const scan = iso::ct::stage(exec, p.scan);
  for (std::int64_t first = 0; first < p.scan.num_views(); first += plan.views) {
    s.tables.num_views = std::int32_t(std::min(plan.views, p.scan.num_views() - first));
    make_tables(exec, scan, p.volume, pixels.data() + first * p.scan.num_u() * p.scan.num_v(),
                first, s.tables, plan);
    to.begins = first == 0;
    Kernel const kernel{s.tables, to};
    iso::backend::for_each_lane_group("test", exec, kernel.num_groups(), kernel);
  }
  return values_of(out);
}

template <class T>
bool by_gather(problem const& p) {
  return iso::ct::detail::gathers(p.scan, p.volume, sizeof(T), {});
}

}  // namespace

namespace {

template <class T>
void check_adjoint(unsigned seed, int count) {
  std::mt19937_64 random(seed);
  int gathered = 0;
  for (int n = 0; n < count; ++n) {
    CAPTURE(n);
    auto const p = any_problem(random, n);
    gathered += by_gather<T>(p) ? 1 : 0;
    for (auto const method : all_methods) {
      CAPTURE(int(method));
      for (auto const edge : {boundary::zero, boundary::truncate}) {
        // A cylinder in every other scan.
        auto const within = n % 2 == 0 ? iso::ct::region::box : iso::ct::region::cylinder;
        CHECK(mismatch<T>(p, {.method = method, .edge = edge, .within = within},
                          {.method = method, .edge = edge, .within = within, .words = 3},
                          unsigned(n)) <= adjoint_tolerance<T>);
        if (!is_joseph(method)) {
          break;
        }
      }
    }
    CHECK(mismatch<T>(p, {}, {.path = joseph_path::general, .words = 3}, unsigned(n)) <=
          adjoint_tolerance<T>);
    if (n % 4 != 0) {
      continue;
    }
    CHECK(mismatch<T>(p, {.method = projector::siddon, .oversampling = 3},
                      {.method = projector::siddon, .oversampling = 3, .words = 3},
                      unsigned(n)) <= adjoint_tolerance<T>);
  }
  CHECK(gathered > count / 3);
  CHECK(gathered < 5 * count / 6);
}

}  // namespace

TEST_CASE_TEMPLATE("back_project: is the adjoint of forward_project by every method", T, float,
                   double) {
  check_adjoint<T>(3, 96);
}

TEST_CASE_TEMPLATE("back_project: is the adjoint, many a scan", T, float, double) {
  check_adjoint<T>(103, 240);
}

TEST_CASE_TEMPLATE("back_project: the gather's bits are those of its definition, in every form", T,
                   float, double) {
  using namespace iso::ct::detail;
  std::mt19937_64 random(4);
  int const most = iso::backend::host_vector_bytes();
  int compared = 0;
  for (int n = 0; n < 90; ++n) {
    CAPTURE(n);
    auto const p =
        n % 3 == 0
            ? random_problem(random, tilt::none)
            : circle(random, std::exp(std::uniform_real_distribution<double>(-1.1, 1.1)(random)),
                     n % 6 == 1, n % 10 == 4 ? 35 : 3);
    if (!by_gather<T>(p) || p.volume.size() * p.scan.num_views() > 300000) {
      continue;
    }
    ++compared;
    auto const y = random_pixels<T>(p.scan, unsigned(n));
    for (auto const edge : {boundary::zero, boundary::truncate}) {
      auto const expected = defined_gather(y, p, edge);
      for (int const bytes : {0, 32, most}) {
        CAPTURE(bytes);
        iso::backend::set_host_vector_bytes(bytes);
        CHECK(difference(backprojected(y, p, {.edge = edge}), expected) == "");
        CHECK(difference(by_kernel<back_project_register_kernel<T, gpu_heights<T>>>(
                             y, p, edge, {32, 4, true, 3}),
                         expected) == "");
      }
    }
  }
  iso::backend::set_host_vector_bytes(most);
  CHECK(compared > 40);
}

TEST_CASE_TEMPLATE("back_project: a step at once has the bits of the sum and then the step", T,
                   float, double) {
  using namespace iso::ct::detail;
  using iso::ct::projector;
  std::mt19937_64 random(12);
  Kokkos::Serial const exec;
  int gathered = 0;
  int scattered = 0;
  for (int n = 0; n < 48; ++n) {
    CAPTURE(n);
    auto const p = any_problem(random, n);
    if (p.volume.size() * p.scan.num_views() > 100000) {
      continue;
    }
    auto const y = random_pixels<T>(p.scan, unsigned(n));
    auto const start = values_of(random_volume<T>(p.volume, unsigned(n)));
    auto weights = values_of(random_volume<T>(p.volume, unsigned(n) + 100));
    for (std::size_t i = 0; i < weights.size(); i += 3) {
      weights[i] = T(0);
    }
    back_project_options const options{.method = n % 3 == 2 ? projector::siddon
                                                            : projector::joseph_linear};
    voxel_step<T> const by{T(0.3), weights.data(), T(0.2), T(0.6), n % 5 == 4};
    auto expected = backprojected(y, p, options);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = by.of(start[i], weights[i], expected[i]);
    }
    auto const x = iso::make_volume<T, host>("x", p.volume);
    std::copy(start.begin(), start.end(), x.data.data());
    iso::workspace<host> const scratch(
        iso::ct::back_project_bytes_needed<T>(exec, p.scan, p.volume, options));
    back_project_step<Kokkos::Serial, T>(exec, iso::ct::stage(exec, p.scan),
                                         staged_pixels(exec, p.scan, y, 0, p.scan.num_views()), x,
                                         scratch, options, by, {});
    CHECK(difference(values_of(x), expected) == "");
    bool const gathers = options.method == projector::joseph_linear && by_gather<T>(p);
    (gathers ? gathered : scattered) += 1;
    if (gathers) {
      CHECK(difference(by_kernel<back_project_register_kernel<T, gpu_heights<T>, true>>(
                           y, p, boundary::zero, {16, 4, true, 3}, by, start),
                       expected) == "");
    }
  }
  CHECK(gathered > 5);
  CHECK(scattered > 5);
}

TEST_CASE("back_project: a step takes one block of views") {
  Kokkos::Serial const exec;
  std::mt19937_64 random(2);
  auto const p = circle(random, 1, false, 17);
  auto const x = iso::make_volume<float, host>("x", p.volume);
  iso::workspace<host> const scratch(
      iso::ct::back_project_bytes_needed<float>(exec, p.scan, p.volume));
  CHECK_THROWS_AS((iso::ct::detail::back_project_step<Kokkos::Serial, float>(
                      exec, iso::ct::stage(exec, p.scan),
                      staged_pixels(exec, p.scan, random_pixels<float>(p.scan, 1), 0, 17), x,
                      scratch, {}, {}, {})),
                  iso::invalid_argument);
}

TEST_CASE_TEMPLATE("back_project: both weights are forward_project's to the bit", T, float,
                   double) {
  // Rays along x through a single plane of voxels: a step of 1 mm, so that a projection of a column
  // is its weight across, and of a layer the weight along z.
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-0.4, 0.4);
  for (int n = 0; n < 30; ++n) {
    grid const g{{1, 6, 7}, {1, 1, 1}, {0, 0, 0}};
    geometry const scan(beam::parallel, 9, 11,
                        {{{1, 0, 0},
                          {3, -0.9 + uniform(random), -0.9 + uniform(random)},
                          {0, 0.7 + uniform(random), 0},
                          {0, 0, 0.7 + uniform(random)}}});
    problem const p{g, scan};
    REQUIRE(by_gather<T>(p));
    auto const weights = [&](int axis, std::int64_t place) {
      return projected(
          volume_of<T>(g,
                       [&](auto, auto j, auto k) { return (axis == 1 ? j : k) == place ? 1 : 0; }),
          scan);
    };
    std::vector<std::vector<T>> across;
    std::vector<std::vector<T>> along;
    for (std::int64_t j = 0; j < 6; ++j) {
      across.push_back(weights(1, j));
    }
    for (std::int64_t k = 0; k < 7; ++k) {
      along.push_back(weights(2, k));
    }
    // Which rays lie between voxels, where the other weights add up to one to the bit.
    auto const inside = [&](std::size_t pixel) {
      double const y =
          scan.views()[0].detector_origin.y + double(pixel / 11) * scan.views()[0].u_step.y;
      double const z =
          scan.views()[0].detector_origin.z + double(pixel % 11) * scan.views()[0].v_step.z;
      return y >= 0 && y <= 5 && z >= 0 && z <= 6;
    };
    for (std::size_t pixel = 0; pixel < 99; ++pixel) {
      if (!inside(pixel)) {
        continue;
      }
      std::vector<T> one(99);
      one[pixel] = 1;
      auto const entry = backprojected(one, p);
      for (std::size_t j = 0; j < 6; ++j) {
        for (std::size_t k = 0; k < 7; ++k) {
          CHECK(entry[j * 7 + k] == across[j][pixel] * along[k][pixel]);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("back_project: entries of both matrices, voxel by voxel and pixel by pixel", T,
                   float, double) {
  std::mt19937_64 random(6);
  for (int n = 0; n < 6; ++n) {
    CAPTURE(n);
    double const out = 2.5 + n;
    grid const g = grid::centred({4, 5, 6}, {1, 1.2, 0.8});
    auto const scan = iso::ct::circular_cone({5, 6, 1.3, 1.1, 0.2, 0.1}, 4 + out, 8 + out,
                                             {n % 3 == 0 ? pi / 4 : 0.3 * n});
    problem const p{g, scan};
    for (auto const method : all_methods) {
      CAPTURE(int(method));
      std::vector<std::vector<T>> rows;  // a voxel each
      for (std::int64_t place = 0; place < g.size(); ++place) {
        rows.push_back(projected(
            volume_of<T>(
                g, [&](auto i, auto j, auto k) { return (i * 5 + j) * 6 + k == place ? 1 : 0; }),
            scan, {.method = method}));
      }
      for (std::size_t pixel = 0; pixel < 30; ++pixel) {
        std::vector<T> one(30);
        one[pixel] = 1;
        auto const column = backprojected(one, p, {.method = method, .words = 3});
        for (std::size_t place = 0; place < rows.size(); ++place) {
          // Three roundings on either side, and a chord is a difference.
          double const rounding = (is_joseph(method) ? 4 : 64) *
                                  double(std::numeric_limits<T>::epsilon()) *
                                  std::abs(double(rows[place][pixel]));
          CHECK(std::abs(double(column[place]) - double(rows[place][pixel])) <= rounding + 1e-14);
          // By gather, the same voxels: fixed point may round a weight of 1e-15 to nothing.
          if (method == projector::joseph_linear) {
            CHECK((column[place] == 0) == (rows[place][pixel] == 0));
          }
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("back_project: agrees with plain loops in long double", T, float, double) {
  std::mt19937_64 random(7);
  auto const angles = iso::ct::even_angles(5, 2 * pi, 0.3);
  for (auto const& scan : {iso::ct::circular_cone({23, 31, 1.4, 1.2, 1, -2}, 60, 90, angles),
                           iso::ct::circular_parallel({23, 31, 1.1, 0.9, 1, -2}, angles)}) {
    auto views = scan.views();
    for (auto& w : views) {
      w.v_step = w.v_step + 0.1 * w.u_step;
    }
    geometry const tilted(scan.kind(), scan.num_u(), scan.num_v(), views);
    for (auto const& each : {scan, tilted}) {
      problem const p{grid::centred({17, 14, 19}, {1.1, 1.3, 0.9}), each};
      auto const y = random_pixels<T>(each);
      std::vector<double> by_chords;  // one answer of three methods, at either edge
      for (auto const method : all_methods) {
        for (auto const edge : {boundary::zero, boundary::truncate}) {
          CAPTURE(int(method));
          auto exact = is_joseph(method) || by_chords.empty()
                           ? iso::oracle::exact_back_projection(y, each, p.volume,
                                                                {.method = method, .edge = edge})
                           : by_chords;
          by_chords = is_joseph(method) ? by_chords : exact;
          double most = 0;
          for (double const x : exact) {
            most = std::max(most, std::abs(x));
          }
          double const rounding = 300 * double(std::numeric_limits<T>::epsilon());
          CHECK(farthest(backprojected(y, p, {.method = method, .edge = edge}), exact) <
                rounding * most);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("back_project: the same bits on every backend and in batches of views", T, float,
                   double) {
  std::mt19937_64 random(8);
  auto const angles = iso::ct::even_angles(37, 2 * pi, 0.1);
  std::vector<problem> const problems = {
      {grid::centred({9, 11, 45}, {1, 1.25, 0.75}),
       iso::ct::circular_cone({13, 41, 1.6, 1.2, 1, 2}, 60, 100, angles)},
      {grid::centred({6, 13, 30}, {1, 1, 1}), iso::ct::circular_parallel({16, 17, 1, 2.1}, angles)},
      {grid::centred({12, 5, 140}, {1, 1, 0.5}),
       iso::ct::circular_cone({15, 150, 0.7, 0.6}, 50, 100, angles)},
      // So many rays to a voxel along v that sets of 32 share neighbours.
      {grid::centred({12, 5, 60}, {1, 1, 1.5}),
       iso::ct::circular_cone({9, 290, 2, 0.6}, 50, 100, angles)},
  };
  int const most = iso::backend::host_vector_bytes();
  for (auto const& p : problems) {
    auto const y = random_pixels<T>(p.scan, 9);
    for (auto const method : all_methods) {
      for (auto const path : {joseph_path::automatic, joseph_path::general}) {
        CAPTURE(int(method));
        CAPTURE(int(path));
        back_project_options options{.method = method, .path = path};
        auto const expected = backprojected(y, p, options);
        for (std::int64_t const batch : {16, 32}) {
          CHECK(difference(backprojected(Kokkos::Serial(), y, p, options, batch), expected) == "");
        }
        for (int const bytes : {0, 32}) {
          iso::backend::set_host_vector_bytes(bytes);
          CHECK(difference(backprojected(y, p, options), expected) == "");
        }
        iso::backend::set_host_vector_bytes(most);
        iso::test::for_each_instance([&](auto const& exec) {
          options.shape.groups_per_launch = 37;
          CHECK(difference(backprojected(exec, y, p, options, 32), expected) == "");
          options.shape = {};
        });
        if (method != projector::joseph_linear) {
          break;
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE(
    "back_project: a pixel that is not finite reaches the voxels that its ray touches", T, float,
    double) {
  T const infinity = std::numeric_limits<T>::infinity();
  std::mt19937_64 random(10);
  for (int n = 0; n < 8; ++n) {
    auto const p = circle(random, n % 2 == 0 ? 1.0 : 2.2, n % 3 == 0);
    auto y = random_pixels<T>(p.scan, unsigned(n));
    std::size_t const spoilt = y.size() / 2;
    y[spoilt] = 0;
    std::vector<T> one(y.size());
    one[spoilt] = 1;
    for (auto const method : all_methods) {
      CAPTURE(int(method));
      auto const without = backprojected(y, p, {.method = method});
      auto const touched = backprojected(one, p, {.method = method});
      for (T const bad : {std::numeric_limits<T>::quiet_NaN(), infinity, -infinity}) {
        auto with = y;
        with[spoilt] = bad;
        auto const found = backprojected(with, p, {.method = method});
        for (std::size_t place = 0; place < found.size(); ++place) {
          if (touched[place] == 0) {
            CHECK(found[place] == without[place]);
          } else {
            CHECK(!std::isfinite(found[place]));
          }
        }
        iso::backend::for_each([&](auto tag) {
          typename decltype(tag)::execution_space const exec;
          CHECK(difference(backprojected(exec, with, p, {.method = method}), found) == "");
        });
      }
    }
    // Sums over v that overflow although no product does.
    std::vector<T> large(y.size(), std::numeric_limits<T>::max() / 4);
    if (by_gather<T>(p)) {
      CHECK(difference(backprojected(large, p), defined_gather(large, p)) == "");
    }
  }
}

TEST_CASE_TEMPLATE("back_project: edge geometry", T, float, double) {
  grid const g = grid::centred({9, 8, 7}, {1, 1, 1});
  auto const all_zero = [](std::vector<T> const& x) {
    return std::all_of(x.begin(), x.end(), [](T v) { return v == 0 && !std::signbit(v); });
  };
  // A detector between the source and the volume, and one beside it: views that see nothing.
  problem const before{g, iso::ct::circular_cone({5, 6}, 50, 10, {0.0, 1.0})};
  problem const beside{g, iso::ct::circular_cone({5, 6, 1, 1, 500, 0}, 50, 80, {0.0, 1.0})};
  for (auto const method : all_methods) {
    for (auto const& p : {before, beside}) {
      CHECK(all_zero(backprojected(random_pixels<T>(p.scan), p, {.method = method})));
      CHECK(all_zero(backprojected(std::vector<T>(60), p, {.method = method})));
    }
    // A steep ray, one without length, one voxel, one pixel.
    problem const steep{g, geometry(beam::cone, 2, 2,
                                    {{{0.1, 0.2, 40}, {0.3, 0.1, -30}, {0.5, 0, 0}, {0, 0.7, 0}},
                                     {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}}})};
    auto const found = backprojected(std::vector<T>(8, T(1)), steep, {.method = method});
    CHECK(std::all_of(found.begin(), found.end(), [](T v) { return std::isfinite(v); }));
    CHECK(!all_zero(found));
    problem const tiny{grid::centred({1, 1, 1}, {2, 2, 2}),
                       iso::ct::circular_cone({1, 1}, 50, 80, {0.0})};
    double const found_in_one =
        double(backprojected(std::vector<T>{3}, tiny, {.method = method})[0]);
    // A chord's ends are rounded as places on a ray of 80 mm; the pixel is 3.
    CHECK(std::abs(found_in_one - 6) <= 3 * 80 * double(std::numeric_limits<T>::epsilon()));
  }
}

TEST_CASE("back_project: adds to what the volume holds") {
  problem const p{grid::centred({9, 8, 7}, {1, 1, 1}),
                  iso::ct::circular_cone({9, 10, 1.3, 1.3}, 50, 80, {0.0, 1.0})};
  auto const y = random_pixels<float>(p.scan);
  for (auto const method : all_methods) {
    auto const alone = backprojected(y, p, {.method = method});
    auto const volume = random_volume<float>(p.volume);
    auto expected = values_of(volume);
    for (std::size_t n = 0; n < expected.size(); ++n) {
      expected[n] += alone[n];
    }
    auto const close = [](float a, float b) { return std::abs(a - b) <= 1e-6F; };
    Kokkos::Serial const exec;
    back_project_options const options{.method = method};
    iso::workspace<host> const scratch(
        iso::ct::back_project_bytes_needed<float>(Kokkos::Serial(), p.scan, p.volume, options));
    iso::ct::back_project<Kokkos::Serial, float>(exec, iso::ct::stage(exec, p.scan),
                                                 staged_pixels(exec, p.scan, y, 0, 2), volume,
                                                 scratch, options, iso::onto::stored);
    // The sum may be rounded with what is stored, or before.
    auto const found = values_of(volume);
    CHECK(std::equal(found.begin(), found.end(), expected.begin(), close));
    if (method == projector::joseph_linear) {  // by gather: before
      CHECK(difference(found, expected) == "");
    }
  }
}

TEST_CASE_TEMPLATE("back_project: the scatter's bits are those of its definition", T, float,
                   double) {
  std::mt19937_64 random(12);
  int seen[4] = {};
  for (int n = 0; n < 60; ++n) {
    CAPTURE(n);
    auto const p = any_problem(random, n);
    auto const y = random_pixels<T>(p.scan, unsigned(n));
    for (auto const method : all_methods) {
      for (auto const edge : {boundary::zero, boundary::truncate}) {
        CAPTURE(int(method));
        back_project_options const options{
            .method = method,
            .edge = edge,
            .within = n % 3 == 0 ? iso::ct::region::cylinder : iso::ct::region::box,
            .path = joseph_path::general,
            .oversampling = is_joseph(method) ? 1 : 1 + n % 2};
        auto const bound = iso::ct::detail::bound_rays(p.scan, p.volume, method);
        ++seen[iso::ct::detail::choose_words<T>(bound, 0).count];
        CHECK(difference(backprojected(y, p, options), defined_scatter(y, p, options)) == "");
      }
    }
    CHECK(difference(backprojected(y, p, {.method = projector::exact}),
                     backprojected(y, p, {.method = projector::siddon})) == "");
  }
  CHECK((sizeof(T) == 4 ? seen[1] > 100 : seen[2] > 100));
}

TEST_CASE_TEMPLATE("exact lengths by the fastest walk of a backend have the bits of siddon", T,
                   float, double) {
  std::mt19937_64 random(17);
  for (int n = 0; n < 12; ++n) {
    CAPTURE(n);
    auto const p = any_problem(random, n);
    auto const x = random_volume<T>(p.volume, unsigned(n));
    auto const y = random_pixels<T>(p.scan, unsigned(n));
    back_project_options const walk{.method = projector::siddon, .oversampling = 1 + n % 2};
    auto const adjoint = backprojected(y, p, walk);
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      auto const lines = projected(
          x, p.scan, {.method = projector::siddon, .sum = sum, .oversampling = 1 + n % 2});
      iso::test::for_each_instance([&](auto const& exec) {
        CHECK(difference(
                  projected(exec, x, p.scan,
                            {.method = projector::exact, .sum = sum, .oversampling = 1 + n % 2}),
                  lines) == "");
        CHECK(difference(backprojected(exec, y, p,
                                       {.method = projector::exact, .oversampling = 1 + n % 2}),
                         adjoint) == "");
      });
    }
  }
}

TEST_CASE("back_project: no voxel gets more rays or weight of a view than its words are made for") {
  using namespace iso::ct::detail;
  std::mt19937_64 random(31);
  int near = 0;
  int views = 0;
  for (int n = 0; n < 120; ++n) {
    CAPTURE(n);
    auto const p = any_problem(random, n);
    auto const& extent = p.volume.extent;
    std::int64_t const strides[3] = {extent[1] * extent[2], extent[2], 1};
    for (auto const method : {projector::joseph_linear, projector::joseph_spline}) {
      for (auto const& view : p.scan.views()) {
        geometry const one(p.scan.kind(), p.scan.num_u(), p.scan.num_v(), {view});
        auto const bound = bound_rays(one, p.volume, method);
        // Every ray, every plane, every voxel, by the definition.
        std::vector<double> rays(std::size_t(p.volume.size()));
        std::vector<double> weights(rays.size());
        auto const w = to_index(view, p.volume, one.kind());
        for (std::int64_t u = 0; u < one.num_u(); ++u) {
          for (std::int64_t v = 0; v < one.num_v(); ++v) {
            auto const line = make_line<float>(w, one.kind(), p.volume, double(u), double(v));
            int const axes[2] = {other_axis(line.axis, 0), other_axis(line.axis, 1)};
            for (std::int32_t i = line.planes.first; i < line.planes.last; ++i) {
              double const at[2] = {double(line.across[0](i)), double(line.across[1](i))};
              for (int corner = 0; corner < 4; ++corner) {
                double weight = 1;
                std::int64_t index = i * strides[line.axis];
                for (int c = 0; c < 2; ++c) {
                  double const low = std::floor(at[c]);
                  double const d = at[c] - low;
                  double const up = method == projector::joseph_spline ? d * d * (3 - 2 * d) : d;
                  bool const upper = (corner >> c & 1) != 0;
                  auto const k = std::int64_t(low) + (upper ? 1 : 0);
                  bool const inside = k >= 0 && k < extent[std::size_t(axes[c])];
                  weight *= !inside ? 0 : upper ? up : 1 - up;
                  index += inside ? k * strides[axes[c]] : 0;
                }
                if (weight > 0) {
                  rays[std::size_t(index)] += 1;
                  weights[std::size_t(index)] += weight;
                }
              }
            }
          }
        }
        double const max_rays = *std::max_element(rays.begin(), rays.end());
        double const max_weight = *std::max_element(weights.begin(), weights.end());
        CHECK(max_rays <= bound.rays);
        CHECK(max_weight <= bound.weights * (1 + 1e-6));
        ++views;
        near += bound.rays <= 4 * max_rays ? 1 : 0;
      }
    }
  }
  // A bound that is far off would waste bits of every sum.
  CHECK(near > views / 4);
}

TEST_CASE_TEMPLATE("back_project: volumes of many bricks, tilted, of any shape", T, float, double) {
  auto const angles = iso::ct::even_angles(5, 2 * pi, 0.2);
  struct {
    grid g;
    geometry scan;
  } const cases[] = {
      {grid::centred({53, 49, 75}, {1, 0.9, 1.2}),
       iso::ct::circular_cone({40, 50, 3, 3}, 150, 240, angles)},
      {grid::centred({31, 62, 29}, {1, 1, 1}), iso::ct::circular_parallel({80, 40, 1, 1}, angles)},
      {grid::centred({1, 2, 130}, {1, 1, 1}),
       iso::ct::circular_cone({5, 150, 1, 1}, 300, 400, angles)},
      // The source, and the detector, in the volume.
      {grid::centred({40, 40, 40}, {1, 1, 1}),
       iso::ct::circular_cone({20, 21, 1, 1}, 10, 90, angles)},
      {grid::centred({40, 40, 40}, {1, 1, 1}),
       iso::ct::circular_cone({20, 21, 1, 1}, 90, 95, angles)},
      // More planes than clipping by division takes.
      {grid::centred({2, 3, 40000}, {1, 1, 1}),
       iso::ct::circular_cone({4, 61, 1, 900}, 60000, 80000, angles)},
  };
  for (auto const& [g, scan] : cases) {
    for (bool const lying : {false, true}) {
      auto views = scan.views();
      for (auto& w : views) {
        w.v_step = w.v_step + 0.05 * w.u_step;
        w.u_step = w.u_step + vec3<double>{0.01, 0.02, 0.03};
        for (auto* a : {&w.source, &w.detector_origin, &w.u_step, &w.v_step}) {
          *a = lying ? vec3<double>{a->x, a->z, a->y} : *a;
        }
      }
      problem const p{g, geometry(scan.kind(), scan.num_u(), scan.num_v(), views)};
      CAPTURE(g.extent[0]);
      CAPTURE(g.extent[2]);
      CAPTURE(lying);
      auto const y = random_pixels<T>(p.scan, 3);
      for (auto const method :
           {projector::joseph_linear, projector::joseph_spline, projector::siddon}) {
        CAPTURE(int(method));
        for (int const words : {0, 3}) {
          if (words == 3 && method != projector::joseph_linear) {
            continue;  // words are alike for all methods
          }
          back_project_options const options{.method = method, .words = words};
          auto const expected = defined_scatter(y, p, options);
          iso::test::for_each_instance([&](auto const& exec) {
            CHECK(difference(backprojected(exec, y, p, options), expected) == "");
          });
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("back_project: fewer words are as exact as promised", T, float, double) {
  std::mt19937_64 random(13);
  double worst = 0;
  for (int n = 0; n < 60; ++n) {
    CAPTURE(n);
    auto const p = any_problem(random, n);
    auto const y = random_pixels<T>(p.scan, unsigned(n));
    double most = 0;
    for (T const x : y) {
      most = std::max(most, std::abs(double(x)));
    }
    for (auto const method : all_methods) {
      back_project_options options{.method = method, .path = joseph_path::general};
      auto const few = backprojected(y, p, options);
      double const promised = promised_error<T>(p, options, most);
      double const blocks = std::ceil(double(p.scan.num_views()) / 16);
      options.words = 3;
      auto const exact = backprojected(y, p, options);
      for (std::size_t place = 0; place < few.size(); ++place) {
        double const apart = std::abs(double(few[place]) - double(exact[place]));
        double const rounding = 4 * blocks * double(std::numeric_limits<T>::epsilon()) * most *
                                double(p.scan.num_views());
        CHECK(apart <= promised + rounding);
        worst = std::max(worst, apart / promised);
      }
    }
  }
  CHECK(worst > 1e-3);  // the bound is not empty
}

TEST_CASE_TEMPLATE("back_project: sums that nearly fill their words", T, float, double) {
  using namespace iso::ct::detail;
  // Sixteen rays along the diagonal: chords of 64^3 voxels exceed it by rounding.
  iso::ct::view_vectors const along{{1, 1, 1}, {0, 0, 0}, {0, 0.5, -0.5}, {0.5, -0.25, -0.25}};
  std::vector<problem> problems = {
      {grid::centred({64, 64, 64}, {1, 1, 1}),
       geometry(beam::parallel, 1, 1, std::vector<iso::ct::view_vectors>(16, along))},
      {grid::centred({9, 8, 7}, {1, 1, 1}),
       geometry(beam::parallel, 30, 30, std::vector<iso::ct::view_vectors>(16, along))}};
  std::mt19937_64 random(14);
  for (int n = 0; n < 6; ++n) {
    problems.push_back(circle(random, 1.0 + 0.3 * n, false, 16));
  }
  for (auto const& p : problems) {
    for (auto const method : all_methods) {
      CAPTURE(int(method));
      for (int least = 1; least <= 3; ++least) {
        back_project_options const options{
            .method = method, .path = joseph_path::general, .words = least};
        auto const words = choose_words<T>(bound_rays(p.scan, p.volume, method), least);
        // The largest reading whose grid is the finest.
        double const top = words.capacity / (longest_step<T>(p.volume) *
                                             std::exp2(std::floor(std::log2(words.capacity))));
        for (double const sign : {1.0, -1.0}) {
          std::vector<T> const y(std::size_t(p.scan.num_views() * p.scan.num_u() * p.scan.num_v()),
                                 T(sign * top * (1 - 1e-6)));
          CHECK(difference(backprojected(y, p, options), defined_scatter(y, p, options)) == "");
        }
      }
    }
  }
}

TEST_CASE("back_project: small shares of oversampled readings count") {
  problem const p{grid::centred({9, 8, 7}, {1, 1, 1}),
                  iso::ct::circular_cone({9, 10, 1.3, 1.3}, 50, 80, {0.3, 1.0})};
  auto y = random_pixels<float>(p.scan, 2);
  for (float& x : y) {
    x *= 1e-4F;
  }
  y[3] = 1;
  back_project_options options{.method = projector::siddon, .oversampling = 16};
  auto const few = backprojected(y, p, options);
  options.words = 3;
  CHECK(farthest(few, backprojected(y, p, options)) <=
        promised_error<float>(p, {.method = projector::siddon}, 1));
}

TEST_CASE_TEMPLATE("back_project: one largest reading for all batches, and readings beyond it", T,
                   float, double) {
  auto const angles = iso::ct::even_angles(40, 2 * pi, 0.1);
  auto scan = iso::ct::circular_cone({13, 21, 1.6, 1.2, 1, 2}, 60, 100, angles);
  problem const p{grid::centred({9, 11, 15}, {1, 1.25, 0.75}), scan};
  auto y = random_pixels<T>(p.scan, 9);
  std::size_t const block = y.size() / 40 * 16;
  for (std::size_t n = 0; n < block; ++n) {
    y[n] *= T(1e-3);
  }
  y[block + 7] = T(50);
  for (auto const method : all_methods) {
    back_project_options options{.method = method, .path = joseph_path::general};
    auto const whole = backprojected(y, p, options);
    CHECK(difference(backprojected(Kokkos::Serial(), y, p, options, 16), whole) != "");
    options.max_abs = 50;
    CHECK(difference(backprojected(Kokkos::Serial(), y, p, options, 16), whole) == "");
    CHECK(difference(backprojected(y, p, options), whole) == "");
    options.max_abs = 49;
    auto const beyond = backprojected(y, p, options);
    auto without = y;
    without[block + 7] = 0;
    auto const rest = backprojected(without, p, options);
    std::int64_t marked = 0;
    for (std::size_t place = 0; place < rest.size(); ++place) {
      bool const bad = std::isnan(beyond[place]);
      marked += bad ? 1 : 0;
      CHECK((bad || beyond[place] == rest[place]));
    }
    CHECK(marked > 0);
    CHECK(marked < 60);
  }
}

TEST_CASE("back_project: lengths scaled by a power of two change no bit but the scale") {
  std::mt19937_64 random(11);
  for (int n = 0; n < 8; ++n) {
    auto const p = random_problem(random, n % 2 == 0 ? tilt::none : tilt::any);
    auto const y = random_pixels<float>(p.scan);
    for (auto const method : all_methods) {
      auto expected = backprojected(y, p, {.method = method});
      for (float& x : expected) {
        x *= 0x1p-10F;
      }
      CHECK(difference(backprojected(y, scaled(p, 0x1p-10), {.method = method}), expected) == "");
    }
  }
}
