// SPDX-License-Identifier: BSD-3-Clause
// Rotations and mirrors of patient, beam and grid by the grid's axes.
#include "dose_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

using namespace dose_support;

/// Axes and signs of a rotation or mirror of the grid.
struct symmetry {
  std::array<int, 3> axis;
  std::array<double, 3> sign;

  [[nodiscard]] vec3<double> of(vec3<double> const& v) const {
    vec3<double> out;
    for (int i = 0; i < 3; ++i) {
      out[axis[std::size_t(i)]] = sign[std::size_t(i)] * v[i];
    }
    return out;
  }
  [[nodiscard]] std::array<std::int64_t, 3> of(std::array<std::int64_t, 3> const& at,
                                               grid const& g) const {
    std::array<std::int64_t, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
      out[std::size_t(axis[i])] = sign[i] > 0 ? at[i] : g.extent[i] - 1 - at[i];
    }
    return out;
  }
};

template <class F>
void for_each_symmetry(F const& f) {
  std::array<int, 3> axis{0, 1, 2};
  do {
    for (int signs = 0; signs < 8; ++signs) {
      f(symmetry{axis,
                 {(signs & 1) != 0 ? -1.0 : 1.0, (signs & 2) != 0 ? -1.0 : 1.0,
                  (signs & 4) != 0 ? -1.0 : 1.0}});
    }
  } while (std::next_permutation(axis.begin(), axis.end()));
}

template <class T>
host_volume<T> moved(host_volume<T> const& v, symmetry const& s) {
  grid g = v.grid;
  for (std::size_t i = 0; i < 3; ++i) {
    g.extent[std::size_t(s.axis[i])] = v.grid.extent[i];
    g.spacing[s.axis[i]] = v.grid.spacing[int(i)];
  }
  g = grid::centred(g.extent, g.spacing);
  auto out = iso::make_volume<T, Kokkos::HostSpace>("moved", g);
  for (std::int64_t i = 0; i < v.grid.extent[0]; ++i) {
    for (std::int64_t j = 0; j < v.grid.extent[1]; ++j) {
      for (std::int64_t k = 0; k < v.grid.extent[2]; ++k) {
        auto const to = s.of({i, j, k}, v.grid);
        out.data(to[0], to[1], to[2]) = v.data(i, j, k);
      }
    }
  }
  return out;
}

template <class T>
struct moved_dose {
  convolution_options options;
  point_kernel kernel;
  cone_options cones;
  beam_frame frame;
  fluence_map field;
  host_volume<T> terma;
  host_volume<T> density;

  [[nodiscard]] host_volume<T> operator()(symmetry const& s) const {
    using exec_space = Kokkos::Serial;
    exec_space const exec;
    auto const t = moved(terma, s);
    auto const rho = moved(density, s);
    beam_frame const f{s.of(frame.source), s.of(frame.x), s.of(frame.y), s.of(frame.along),
                       frame.source_distance};
    convolution_plan<T, Kokkos::HostSpace> const plan(exec, t.grid, f, field,
                                                      make_cones(kernel, cones), options);
    iso::workspace<Kokkos::HostSpace> const scratch(convolve_bytes_needed<T>(exec, plan));
    auto const dose = iso::make_volume<T, Kokkos::HostSpace>("dose", t.grid);
    convolve<exec_space, T>(exec, plan, t, rho, dose, scratch);
    exec.fence();
    return dose;
  }
};

struct turned_beam {
  double gantry = 0;
  double couch = 0;
  double collimator = 0;
  vec3<double> isocentre = {};
};
constexpr turned_beam oblique{0.3, 0.2, 0.5};
constexpr turned_beam aside{0.3, 0.2, 0.5, {7.3, -11.2, 5.9}};

/// The largest difference of a rotated or mirrored dose from the dose, over its largest.
template <class T>
double max_change(dose_engine engine, grid const& g, turned_beam const& turned = {},
                  point_kernel const& kernel = named_kernel("6mv"),
                  cone_options const& cones = {}) {
  beam b;
  b.fluence = fluence_map::rectangle(-30, 34, -28, 31);
  b.gantry = turned.gantry;
  b.couch = turned.couch;
  b.collimator = turned.collimator;
  b.isocentre = turned.isocentre;
  moved_dose<T> calculate{{.engine = engine, .radial_step = 4, .ray_spacing = 6},
                          kernel,
                          cones,
                          frame_of(b),
                          b.fluence,
                          iso::make_volume<T, Kokkos::HostSpace>("terma", g),
                          volume_of<T>(g, mixed)};
  Kokkos::DefaultHostExecutionSpace const exec;
  terma_plan<Kokkos::HostSpace> const plan(exec, b, named_spectrum("mohan_6mv"));
  terma<Kokkos::DefaultHostExecutionSpace, T>(exec, plan, calculate.density, calculate.terma);
  exec.fence();
  symmetry const none{{0, 1, 2}, {1, 1, 1}};
  auto const reference = calculate(none);
  double most = 0;
  double worst = 0;
  for (T const x : numbers(reference)) {
    most = std::max(most, double(x));
  }
  REQUIRE(most > 1e-12);
  int count = 0;
  for_each_symmetry([&](symmetry const& s) {
    auto const expected = numbers(moved(reference, s));
    auto const found = numbers(calculate(s));
    for (std::size_t n = 0; n < found.size(); ++n) {
      worst = std::max(worst, std::fabs(double(found[n]) - double(expected[n])) / most);
    }
    ++count;
  });
  REQUIRE(count == 48);
  return worst;
}

}  // namespace

// Voxels of another length along each axis.
TEST_CASE_TEMPLATE("dose: rotations and mirrors permute the lattice's bits", T, float, double) {
  grid const small = grid::centred({14, 11, 13}, {8, 9, 10});
  CHECK(max_change<T>(dose_engine::lattice, small, aside) == 0);
}

TEST_CASE_TEMPLATE("dose: rotations and mirrors permute the lattice's bits, every beam and kernel",
                   T, float, double) {
  grid const g = grid::centred({28, 33, 25}, {4, 3, 5});
  CHECK(max_change<T>(dose_engine::lattice, g) == 0);
  CHECK(max_change<T>(dose_engine::lattice, g, oblique) == 0);
  CHECK(max_change<T>(dose_engine::lattice, g, aside) == 0);
  CHECK(max_change<T>(dose_engine::lattice, g, {0.7, 0, 0}) == 0);
  grid const small = grid::centred({14, 11, 13}, {8, 9, 10});
  auto const table = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
  CHECK(max_change<T>(dose_engine::lattice, small, oblique, table) == 0);
  CHECK(max_change<T>(dose_engine::lattice, small, oblique, named_kernel("6mv_quad"), {5, 7}) == 0);
}

namespace {

template <class T>
void check_rounding(turned_beam const& turned, point_kernel const& kernel) {
  grid const g = grid::centred({9, 8, 7}, {8, 9, 10});
  double const rounding = sizeof(T) == 4 ? 1e-6 : 1e-13;
  for (auto const engine :
       {dose_engine::voxel_lines, dose_engine::voxel_samples, dose_engine::non_voxel}) {
    CAPTURE(int(engine));
    CHECK(max_change<T>(engine, g, turned, kernel, {4, 4}) <= rounding);
  }
}

}  // namespace

TEST_CASE("dose: rotations and mirrors of the other engines change roundings") {
  check_rounding<double>(oblique, named_kernel("6mv"));
}

TEST_CASE_TEMPLATE("dose: rotations and mirrors of the other engines, every beam and kernel", T,
                   float, double) {
  auto const table = mix_kernels(water_kernels(), named_spectrum("mohan_6mv"));
  for (auto const& turned : {turned_beam{}, oblique}) {
    check_rounding<T>(turned, named_kernel("6mv"));
    check_rounding<T>(turned, table);
  }
}
