// SPDX-License-Identifier: BSD-3-Clause
//! The degenerate rays and their neighbours by an ulp, walked inside a kernel of every backend: the
//! voxels and lengths that the visitor saw there are those of a walk on the host, which
//! test_degenerate_rays.cpp compares with exact arithmetic for these very rays, and have the same
//! bits for every number of threads crossed with every launch shape. The sums of radiological_path
//! likewise.
#include "degenerate_rays.hpp"
#include "instances.hpp"
#include "traverse_support.hpp"

#include <iso/core/numerics.hpp>
#include <iso/core/stage.hpp>
#include <iso/ray/radiological_path.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace iso::test;
using iso::grid;
using iso::vec3;
using iso::ray::traversal;
using host = Kokkos::HostSpace;
template <class T>
using host_rays = Kokkos::View<iso::ray::ray<T>*, host>;

/// One grid with all its rays.
template <class T>
struct scene {
  std::string name;
  grid box;
  std::vector<std::string> names;  ///< of every fifth ray, the one that was not moved
  host_rays<T> rays;
};

template <class T>
scene<T> make_scene(std::string const& name, grid const& g, vec3<double> tilt) {
  auto named = degenerate_rays<T>(g, tilt);
  for (auto const& special : special_rays<T>(g)) {
    named.push_back(special);
  }
  scene<T> s{name, g, {}, host_rays<T>("rays", 5 * named.size())};
  for (std::size_t n = 0; n < named.size(); ++n) {
    s.names.push_back(named[n].name);
    auto const five = neighbours(named[n].ray);
    for (std::size_t k = 0; k < 5; ++k) {
      s.rays(5 * n + k) = five[k];
    }
  }
  return s;
}

/// Seven grids, rays along voxel diagonals and oblique, and all lengths times 1e-3 and 1e3.
template <class T>
std::vector<scene<T>> scenes() {
  std::vector<scene<T>> all;
  for (auto const& [name, g] : degenerate_grids()) {
    all.push_back(make_scene<T>(name + " along voxel diagonals", g, g.spacing));
    all.push_back(make_scene<T>(name + " oblique", g, {1, 0.7, 0.4}));
    for (double const scale : {1e-3, 1e3}) {
      auto scaled = g;
      scaled.spacing = scale * g.spacing;
      scaled.origin = scale * g.origin;
      all.push_back(
          make_scene<T>(name + (scale < 1 ? " times 1e-3" : " times 1e3"), scaled, scaled.spacing));
    }
  }
  return all;
}

/// What the visitor of each ray saw, in `room` places of its own; what is beyond is only counted.
template <class T, class Space>
struct record {
  std::int64_t room;
  Kokkos::View<std::int32_t*, Space> returned;  ///< by traverse
  Kokkos::View<std::int32_t*, Space> visited;   ///< calls of the visitor
  Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Space> voxels;
  Kokkos::View<T**, Kokkos::LayoutRight, Space> lengths;

  record(std::size_t rays, std::size_t places)
      : room(std::int64_t(places)),
        returned("returned", rays),
        visited("visited", rays),
        voxels("voxels", rays, places),
        lengths("lengths", rays, places) {}
};

template <class Method, class T, class Space>
struct recorder {
  iso::ray::traversal_grid box;
  Kokkos::View<iso::ray::ray<T> const*, Space> rays;
  record<T, Space> out;

  KOKKOS_FUNCTION void operator()(std::int64_t r) const {
    std::int32_t seen = 0;
    out.returned(r) = iso::ray::traverse<Method>(rays(r), box, [&](std::int64_t voxel, T length) {
      if (seen < out.room) {
        out.voxels(r, std::int64_t(seen)) = voxel;
        out.lengths(r, std::int64_t(seen)) = length;
      }
      ++seen;
    });
    out.visited(r) = seen;
  }
};

/// The same by teams, 32 rays each.
template <class Recorder>
struct team_recorder {
  Recorder inner;
  std::int64_t count;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, 32), [&](int k) {
      std::int64_t const r = std::int64_t(member.league_rank()) * 32 + k;
      if (r < count) {
        inner(r);
      }
    });
  }
};

enum class launch { range, small_chunks, teams };
constexpr launch launches[] = {launch::range, launch::small_chunks, launch::teams};

template <class Method, class T, class Exec>
record<T, host> walk_on(Exec const& exec, scene<T> const& s, launch shape) {
  using space = typename Exec::memory_space;
  auto const& n = s.box.extent;
  auto const count = std::int64_t(s.rays.extent(0));
  auto const places = std::size_t(n[0] + n[1] + n[2] + 3);
  auto const rays = iso::stage<iso::access::read>(exec, s.rays);
  record<T, space> const out(std::size_t(count), places);
  recorder<Method, T, space> const kernel{iso::ray::traversal_grid(s.box), rays.view(), out};
  using range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (shape == launch::teams) {
    Kokkos::parallel_for("degenerate rays",
                         Kokkos::TeamPolicy<Exec>(exec, int((count + 31) / 32), Kokkos::AUTO),
                         team_recorder<recorder<Method, T, space>>{kernel, count});
  } else if (shape == launch::small_chunks) {
    Kokkos::parallel_for("degenerate rays", range(exec, 0, count, Kokkos::ChunkSize(7)), kernel);
  } else {
    Kokkos::parallel_for("degenerate rays", range(exec, 0, count), kernel);
  }
  record<T, host> result(std::size_t(count), places);
  Kokkos::deep_copy(exec, result.returned, out.returned);
  Kokkos::deep_copy(exec, result.visited, out.visited);
  Kokkos::deep_copy(exec, result.voxels, out.voxels);
  Kokkos::deep_copy(exec, result.lengths, out.lengths);
  exec.fence("test: what the visitors saw");
  return result;
}

template <class T>
bool same(record<T, host> const& a, record<T, host> const& b) {
  return same_bits(a.returned, b.returned) && same_bits(a.visited, b.visited) &&
         same_bits(a.voxels, b.voxels) && same_bits(a.lengths, b.lengths);
}

template <class T>
visits<T> visits_of(record<T, host> const& seen, std::int64_t r) {
  visits<T> list;
  for (std::int64_t k = 0; k < seen.visited(r) && k < seen.room; ++k) {
    list.emplace_back(seen.voxels(r, k), seen.lengths(r, k));
  }
  if (seen.visited(r) > seen.room || seen.returned(r) != seen.visited(r)) {
    list.emplace_back(-1, T(seen.visited(r)));  // no grid has this index: it will be complained of
  }
  return list;
}

/// Rays whose voxels or lengths are not those of a walk on the host; names the first few.
template <class T>
int failures(scene<T> const& s, record<T, host> const& seen) {
  int failed = 0;
  for (std::size_t n = 0; n < s.rays.extent(0); ++n) {
    auto const& r = s.rays(n);
    auto const expected = walk<iso::ray::amanatides_woo>(r, s.box);
    if (visits_of(seen, std::int64_t(n)) != expected && ++failed <= 5) {
      MESSAGE(s.name << ", " << s.names[n / 5] << ", " << describe(r));
    }
  }
  return failed;
}

template <class T>
void check_scene(scene<T> const& s) {
  CAPTURE(s.name);
  auto const reference = walk_on<iso::ray::amanatides_woo>(Kokkos::Serial(), s, launch::range);
  CHECK(failures(s, reference) == 0);
  for_each_method([&]<class Method>(Method, char const* method) {
    CAPTURE(std::string(method));
    for_each_instance([&](auto const& exec) {
      for (auto const shape : launches) {
        CAPTURE(int(shape));
        auto const seen = walk_on<Method>(exec, s, shape);
        bool const as_reference = same(seen, reference);
        CHECK(as_reference);
        CHECK((as_reference || failures(s, seen) == 0));
      }
    });
  });
}

/// value * length summed along each ray, from what a visitor saw.
template <class T>
std::vector<T> sums(record<T, host> const& seen, iso::volume_view<T, host> const& volume) {
  std::vector<T> paths(seen.visited.extent(0));
  for (std::size_t r = 0; r < paths.size(); ++r) {
    for (auto const& [voxel, length] : visits_of(seen, std::int64_t(r))) {
      paths[r] = Kokkos::fma(length, volume.data.data()[voxel], paths[r]);
    }
  }
  return paths;
}

template <class T, class Exec>
std::vector<T> paths_on(Exec const& exec, scene<T> const& s,
                        iso::volume_view<T, host> const& volume,
                        iso::ray::radiological_path_options const& options) {
  using space = typename Exec::memory_space;
  auto const rays = iso::stage<iso::access::read>(exec, s.rays);
  auto const data = iso::stage<iso::access::read>(exec, volume.data);
  Kokkos::View<T*, space> const paths("paths", s.rays.extent(0));
  iso::ray::radiological_path(exec, rays.view(),
                              iso::volume_view<T const, space>{s.box, data.view()}, paths, options);
  std::vector<T> result(paths.extent(0));
  Kokkos::deep_copy(
      exec, Kokkos::View<T*, host, Kokkos::MemoryUnmanaged>(result.data(), result.size()), paths);
  exec.fence("test: paths");
  return result;
}

template <class T>
void check_paths(scene<T> const& s) {
  CAPTURE(s.name);
  auto const volume = iso::make_volume<T, host>("volume", s.box);
  for (std::int64_t n = 0; n < s.box.size(); ++n) {
    volume.data.data()[n] = T(1 + n * 37 % 101) / T(7);
  }
  auto const expected =
      sums(walk_on<iso::ray::amanatides_woo>(Kokkos::Serial(), s, launch::range), volume);
  for_each_instance([&](auto const& exec) {
    for (auto const method : {traversal::fastest, traversal::amanatides_woo, traversal::branchless,
                              traversal::siddon}) {
      CAPTURE(int(method));
      for (std::int64_t const groups : {0, 7}) {
        CAPTURE(groups);
        CHECK(same_bits(paths_on(exec, s, volume, {method, {groups}}), expected));
      }
    }
  });
}

}  // namespace

TEST_CASE_TEMPLATE("in a kernel of every backend: exact voxels and lengths, one answer", T, float,
                   double) {
  for (auto const& s : scenes<T>()) {
    check_scene(s);
  }
}

TEST_CASE_TEMPLATE("the sums of every backend, method, number of threads and launch shape", T,
                   float, double) {
  for (auto const& s : scenes<T>()) {
    check_paths(s);
  }
}
