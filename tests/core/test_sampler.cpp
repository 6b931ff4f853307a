// SPDX-License-Identifier: BSD-3-Clause
//! Interpolating samplers against closed forms, on every backend.
#include <iso/backend/registry.hpp>
#include <iso/core/sampler.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

template <class T>
using limits = std::numeric_limits<T>;
template <class T>
using point = iso::vec3<T>;

template <class Sampler, class Points, class Values>
struct read_at {
  Sampler sample;
  Points points;
  Values values;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    values(i) = sample(points(i).x, points(i).y, points(i).z);
  }
};

/// What a sampler on `Exec` reads of the volume of `n` whose voxels are f(i, j, k).
template <class Weight, class Exec, class T, class F>
std::vector<T> read(decltype(iso::grid::extent) n, F const& f, iso::boundary edge,
                    std::vector<point<T>> const& points) {
  using space = typename Exec::memory_space;
  auto const volume = iso::make_volume<T, space>("volume", iso::grid::centred(n, {1, 1, 1}));
  auto const mirror = Kokkos::create_mirror_view(volume.data);
  for (std::int64_t i = 0; i < n[0]; ++i) {
    for (std::int64_t j = 0; j < n[1]; ++j) {
      for (std::int64_t k = 0; k < n[2]; ++k) {
        mirror(i, j, k) = T(f(i, j, k));
      }
    }
  }
  Kokkos::deep_copy(volume.data, mirror);
  Kokkos::View<point<T>*, space> const where("points", points.size());
  Kokkos::View<T*, space> const values("values", points.size());
  Kokkos::deep_copy(where,
                    Kokkos::View<point<T> const*, Kokkos::HostSpace>(points.data(), points.size()));
  using sampler = iso::interpolating_sampler<T, space, Weight>;
  Kokkos::parallel_for(
      "sampler", Kokkos::RangePolicy<Exec>(0, std::int64_t(points.size())),
      read_at<sampler, decltype(where), decltype(values)>{sampler(volume, edge), where, values});
  auto const back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  return {back.data(), back.data() + points.size()};
}

template <class Exec, class T>
struct kind {};

/// Calls check(kind<Exec, T>()) for every backend and both types.
template <class Check>
void everywhere(Check const& check) {
  iso::backend::for_each([&](auto tag) {
    using exec = typename decltype(tag)::execution_space;
    INFO("backend " << std::string(tag.name));
    check(kind<exec, float>());
    check(kind<exec, double>());
  });
}

constexpr decltype(iso::grid::extent) shape{4, 3, 5};

double plane(std::int64_t i, std::int64_t j, std::int64_t k) {
  return 1.0 + 2.0 * double(i) - 3.0 * double(j) + 0.5 * double(k);
}

}  // namespace

TEST_CASE("sampler: voxel values at the centres, with either weight and edge") {
  everywhere([]<class Exec, class T>(kind<Exec, T>) {
    std::vector<point<T>> at;
    std::vector<T> expected;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        for (std::int64_t k = 0; k < shape[2]; ++k) {
          at.push_back({T(i), T(j), T(k)});
          expected.push_back(T(plane(i, j, k)));
        }
      }
    }
    for (auto const edge : {iso::boundary::zero, iso::boundary::cut}) {
      CHECK(read<iso::linear_weight, Exec, T>(shape, plane, edge, at) == expected);
      CHECK(read<iso::spline_weight, Exec, T>(shape, plane, edge, at) == expected);
    }
  });
}

TEST_CASE("sampler: a linear field is read exactly between the centres") {
  everywhere([]<class Exec, class T>(kind<Exec, T>) {
    std::vector<point<T>> at;
    std::vector<T> expected;
    for (int i = 0; i <= 12; ++i) {
      for (int j = 0; j <= 8; ++j) {
        at.push_back({T(i) / 4, T(j) / 4, T(i + j) / 8});
        expected.push_back(T(1.0 + i / 2.0 - 0.75 * j + (i + j) / 16.0));
      }
    }
    CHECK(read<iso::linear_weight, Exec, T>(shape, plane, iso::boundary::cut, at) == expected);
    CHECK(read<iso::linear_weight, Exec, T>(shape, plane, iso::boundary::zero, at) == expected);
  });
}

TEST_CASE("sampler: the spline weight is 3 d^2 - 2 d^3 of the step") {
  everywhere([]<class Exec, class T>(kind<Exec, T>) {
    auto const step = [](std::int64_t i, std::int64_t, std::int64_t) { return i >= 2 ? 1.0 : 0.0; };
    std::vector<point<T>> const at{{T(1), 1, 1}, {T(1.25), 1, 1}, {T(1.5), 1, 1}, {T(1.75), 1, 1}};
    CHECK(read<iso::spline_weight, Exec, T>(shape, step, iso::boundary::cut, at) ==
          std::vector<T>{0, T(0.15625), T(0.5), T(0.84375)});
    CHECK(read<iso::linear_weight, Exec, T>(shape, step, iso::boundary::cut, at) ==
          std::vector<T>{0, T(0.25), T(0.5), T(0.75)});
  });
}

TEST_CASE("sampler: beyond the outermost centres") {
  everywhere([]<class Exec, class T>(kind<Exec, T>) {
    auto const eight = [](std::int64_t, std::int64_t, std::int64_t) { return 8.0; };
    std::vector<point<T>> at;
    for (double const x : {-1.0, -0.75, -0.5, 0.0, 3.0, 3.25, 3.75, 4.0, 5.0, -1e30, 1e30}) {
      at.push_back({T(x), 1, 1});
    }
    at.push_back({T(3.5), T(2.5), T(4.5)});  // a corner: an eighth
    at.push_back({T(-0.5), T(-0.5), T(1)});  // an edge: a quarter
    CHECK(read<iso::linear_weight, Exec, T>(shape, eight, iso::boundary::zero, at) ==
          std::vector<T>{0, 2, 4, 8, 8, 6, 2, 0, 0, 0, 0, 1, 2});
    CHECK(read<iso::linear_weight, Exec, T>(shape, eight, iso::boundary::cut, at) ==
          std::vector<T>{0, 0, 0, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0});
    T const nan = limits<T>::quiet_NaN();
    T const infinity = limits<T>::infinity();
    std::vector<point<T>> const nowhere{{nan, 1, 1}, {1, infinity, 1}, {1, 1, -infinity}};
    CHECK(read<iso::linear_weight, Exec, T>(shape, eight, iso::boundary::zero, nowhere) ==
          std::vector<T>{0, 0, 0});
  });
}

TEST_CASE("sampler: a single voxel") {
  everywhere([]<class Exec, class T>(kind<Exec, T>) {
    auto const two = [](std::int64_t, std::int64_t, std::int64_t) { return 2.0; };
    std::vector<point<T>> const at{{0, 0, 0}, {T(0.5), 0, 0}, {0, T(-0.5), T(0.5)}};
    CHECK(read<iso::linear_weight, Exec, T>({1, 1, 1}, two, iso::boundary::zero, at) ==
          std::vector<T>{2, 1, T(0.5)});
    CHECK(read<iso::linear_weight, Exec, T>({1, 1, 1}, two, iso::boundary::cut, at) ==
          std::vector<T>{2, 0, 0});
  });
}

TEST_CASE("sampler: a NaN voxel reaches its neighbours and no further") {
  everywhere([]<class Exec, class T>(kind<Exec, T>) {
    auto const hole = [](std::int64_t i, std::int64_t j, std::int64_t k) {
      return i == 1 && j == 1 && k == 2 ? limits<double>::quiet_NaN() : 4.0;
    };
    std::vector<point<T>> near;
    std::vector<point<T>> far;
    for (int i = -4; i <= 16; ++i) {
      for (int j = -4; j <= 12; ++j) {
        for (int k = -4; k <= 20; ++k) {
          point<T> const p{T(i) / 4, T(j) / 4, T(k) / 4};
          auto const reach = [](T x, double centre) { return std::abs(double(x) - centre); };
          double const most = std::max({reach(p.x, 1), reach(p.y, 1), reach(p.z, 2)});
          if (most < 1) {
            near.push_back(p);
          } else if (most > 1) {
            far.push_back(p);
          }
        }
      }
    }
    for (T const v : read<iso::linear_weight, Exec, T>(shape, hole, iso::boundary::zero, near)) {
      CHECK(std::isnan(v));
    }
    bool all = true;
    for (T const v : read<iso::linear_weight, Exec, T>(shape, hole, iso::boundary::zero, far)) {
      all = all && v >= 0 && v <= 4;
    }
    CHECK(all);
  });
}
