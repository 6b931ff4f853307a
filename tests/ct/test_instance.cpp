// SPDX-License-Identifier: BSD-3-Clause
// Every kernel runs on the execution-space instance that the caller gave, and no call fences the
// whole machine. Kokkos' tool callbacks say which instance a launch or a fence belongs to; on the
// host, where all instances of a space share one id, which space. Instances of OpenMP are told
// apart by keeping all but the caller's busy: what is launched on a busy one waits.
#include "forward_project_support.hpp"
#include "kokkos_events.hpp"

#include <iso/backend/registry.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/line_integrals.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace projector_support;
namespace tools = Kokkos::Tools::Experimental;

/// What a call may do besides launching kernels on the instance that it was given.
enum class extras {
  none,
  allocate,  ///< for which, and before it frees, Kokkos has fences of its own
};

bool is_kokkos_own(iso::test::kokkos_event const& e, extras allowed) {
  return is_tool_fence(e) || (is_of_memory(e) && allowed == extras::allocate);
}

#if ISO_HAS_OPENMP
/// What keeps an instance busy as long as it lives, but not beyond its time.
class busy {
 public:
  busy(Kokkos::OpenMP const& exec, std::chrono::milliseconds most) : most_(most) {
    thread_ = std::thread([this, exec] {
      Kokkos::parallel_for("busy", Kokkos::RangePolicy<Kokkos::OpenMP>(exec, 0, 1),
                           [this](int) { wait(); });
    });
    while (!started_) {
      std::this_thread::yield();
    }
  }
  ~busy() {
    released_ = true;
    thread_.join();
  }
  busy(busy const&) = delete;
  busy& operator=(busy const&) = delete;

  [[nodiscard]] bool expired() const { return expired_; }

 private:
  void wait() {
    auto const start = std::chrono::steady_clock::now();
    started_ = true;
    while (!released_ && !expired_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      expired_ = std::chrono::steady_clock::now() - start > most_;
    }
  }

  std::chrono::milliseconds most_;
  std::atomic<bool> started_ = false;
  std::atomic<bool> released_ = false;
  std::atomic<bool> expired_ = false;
  std::thread thread_;
};

/// Another instance, where the default one is kept busy: `f` waits for nothing of that.
template <class F>
void check_own(Kokkos::OpenMP const& exec, F const& f) {
  if (exec != Kokkos::OpenMP()) {
    busy const other(Kokkos::OpenMP(), std::chrono::seconds(20));
    f();
    exec.fence("test_instance: beside a busy instance");
    CHECK(!other.expired());
  }
}
#endif

/// Runs `f` and looks at what it enqueued on `exec`.
template <class Exec, class F>
void check_call(std::string const& name, Exec const& exec, extras allowed, F const& f) {
  CAPTURE(name);
  f();  // what Kokkos allocates at a kernel's first launch is not the call's business
  exec.fence("test_instance: the first time");
  auto const seen = iso::test::events_during(f);
  exec.fence("test_instance: what the call enqueued");
  int kernels = 0;
  for (auto const& e : seen) {
    CAPTURE(e.name);
    if (is_kokkos_own(e, allowed)) {
      continue;
    }
    CHECK(e.device == tools::device_id(exec));
    CHECK(e.kind == iso::test::event_kind::launch);
    ++kernels;
  }
  // Zeros of a host's memory need no launch.
  CHECK((kernels > 0 || (allowed == extras::allocate && !iso::backend::is_device<Exec>)));
#if ISO_HAS_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
    if (allowed == extras::none) {
      check_own(exec, f);
    }
  }
#endif
}

/// The default instance, and others: of OpenMP a pool of its own and, where there are threads
/// enough, a part of the default one's; of others a part.
template <class Exec>
std::vector<Exec> instances() {
  std::vector<Exec> all = {Exec()};
#if ISO_HAS_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
    all.emplace_back(2);
    if (Exec().concurrency() < 2) {
      return all;
    }
  }
#endif
  all.push_back(Kokkos::Experimental::partition_space(Exec(), 1, 1)[1]);
  return all;
}

struct filler {
  Kokkos::View<int*, host> data;

  void operator()(int i) const { data(i) = i; }
};

template <class T, class Exec>
void check_projection(Exec const& exec) {
  using space = typename Exec::memory_space;
  auto const g = grid::centred({70, 33, 34}, {1, 1, 1});
  auto const data = iso::make_volume<T, space>("volume", g);
  auto const scan = iso::ct::stage(
      exec, iso::ct::circular_cone({19, 40, 2, 2}, 200, 300, iso::ct::even_angles(3, 2 * pi)));
  auto const out = iso::make_projections<T, space>("out", 3, 19, 40);
  iso::volume_view<T const, space> const volume = data;
  for (auto const method : all_methods) {
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      for (auto const path : {joseph_path::automatic, joseph_path::general}) {
        forward_project_options const options{
            .method = method, .sum = sum, .path = path, .slab_planes = 64};
        iso::workspace<space> const scratch(
            iso::ct::forward_project_bytes_needed<T>(exec, scan.host(), g, options));
        exec.fence("test_instance: allocations");
        check_call("forward_project " + std::to_string(int(method)) + " " +
                       std::to_string(int(sum)) + " " + std::to_string(int(path)),
                   exec, extras::none, [&] {
                     iso::ct::forward_project<Exec, T>(exec, scan, volume, out, scratch, options);
                   });
      }
    }
  }
}

template <class T, class Exec>
void check_ellipsoids(Exec const& exec) {
  using space = typename Exec::memory_space;
  auto const head = iso::ct::shepp_logan(10);
  for (auto const& scan : {iso::ct::circular_cone({9, 40, 2, 2}, 200, 300, {0.0, 1.0}),
                           iso::ct::circular_parallel({9, 40, 2, 2}, {0.0, 1.0})}) {
    auto const staged = iso::ct::stage(exec, scan);
    auto const out = iso::make_projections<T, space>("out", 2, 9, 40);
    check_call("project_ellipsoids", exec, extras::none,
               [&] { iso::ct::project_ellipsoids(exec, head, staged, out, {2}); });
  }
  auto const volume = iso::make_volume<T, space>("volume", grid::centred({9, 9, 40}, {2, 2, 1}));
  check_call("rasterise_ellipsoids", exec, extras::none,
             [&] { iso::ct::rasterise_ellipsoids(exec, head, volume, {2}); });
}

template <class T, class Exec>
void check_rays(Exec const& exec) {
  using space = typename Exec::memory_space;
  auto const g = grid::centred({9, 9, 9}, {1, 1, 1});
  auto const data = iso::make_volume<T, space>("volume", g);
  Kokkos::View<iso::ray::ray<T>*, host> const made("rays", 100);
  for (std::size_t n = 0; n < 100; ++n) {
    made(n) = {{T(-20), T(n) / 50, 0}, {1, T(n) / 900, T(0.125)}};
  }
  auto const rays = iso::stage<iso::access::read>(exec, made);
  Kokkos::View<T*, space> const paths("paths", 100);
  Kokkos::View<std::int64_t*, space> const permutation("permutation", 100);
  iso::workspace<space> const scratch(iso::ray::sort_rays_bytes_needed(exec, 100));
  exec.fence("test_instance: rays");
  for (auto const method : {iso::ray::traversal::fastest, iso::ray::traversal::amanatides_woo,
                            iso::ray::traversal::branchless, iso::ray::traversal::siddon}) {
    check_call("radiological_path " + std::to_string(int(method)), exec, extras::none,
               [&] { iso::ray::radiological_path(exec, rays.view(), data, paths, {method}); });
  }
  for (auto const order :
       {iso::ray::ray_order::entry_and_exit, iso::ray::ray_order::octant_then_entry}) {
    check_call("sort_rays", exec, extras::none,
               [&] { iso::ray::sort_rays(exec, rays.view(), g, permutation, scratch, order); });
  }
}

template <class T, class Exec>
void check_readings(Exec const& exec) {
  using space = typename Exec::memory_space;
  auto const readings = iso::make_projections<T, space>("readings", 3, 19, 40);
  auto const dark = iso::make_projections<T, space>("dark", 1, 19, 40);
  auto const flat = iso::make_projections<T, space>("flat", 1, 19, 40);
  iso::ct::pixel_mask<space> const dead("dead", 19, 40);
  check_call("mean_of_views", exec, extras::none,
             [&] { iso::ct::mean_of_views<Exec, T>(exec, readings, {}, flat); });
  check_call("line_integrals", exec, extras::none,
             [&] { iso::ct::line_integrals<Exec, T>(exec, readings, dark, flat); });
  check_call("find_dead_pixels", exec, extras::none,
             [&] { iso::ct::find_dead_pixels<Exec, T>(exec, dark, flat, dead); });
  check_call("replace_dead_pixels", exec, extras::none,
             [&] { iso::ct::replace_dead_pixels<Exec, T>(exec, readings, dead); });
}

template <class T, class Exec>
void check_new_views(Exec const& exec) {
  using space = typename Exec::memory_space;
  auto const g = grid::centred({9, 9, 40}, {2, 2, 1});
  check_call("make_volume", exec, extras::allocate,
             [&] { iso::make_volume<T, space>(exec, "volume", g); });
  check_call("make_projections", exec, extras::allocate,
             [&] { iso::make_projections<T, space>(exec, "projections", 3, 19, 40); });
}

}  // namespace

TEST_CASE_TEMPLATE("every kernel runs on the instance it was given, and nothing fences globally", T,
                   float, double) {
  iso::backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    for (auto const& exec : instances<exec_space>()) {
      check_projection<T>(exec);
      check_ellipsoids<T>(exec);
      check_rays<T>(exec);
      check_readings<T>(exec);
      check_new_views<T>(exec);
    }
  });
}

TEST_CASE("the callbacks do notice another instance and a global fence") {
  Kokkos::Serial const exec;
  auto const noticed = [&](auto const& f) {
    for (auto const& e : iso::test::events_during(f)) {
      if (!is_kokkos_own(e, extras::none) && e.device != tools::device_id(exec)) {
        return true;
      }
    }
    return false;
  };
  CHECK(noticed([] { Kokkos::fence("test_instance: of everything"); }));
  CHECK(!noticed([&] { exec.fence("test_instance: of one"); }));
  Kokkos::View<int*, host> const data("data", 8);
  CHECK(!noticed([&] {
    Kokkos::parallel_for("serial", Kokkos::RangePolicy<Kokkos::Serial>(exec, 0, 8), filler{data});
  }));
  if constexpr (!std::is_same_v<Kokkos::DefaultHostExecutionSpace, Kokkos::Serial>) {
    CHECK(noticed([&] {
      Kokkos::parallel_for("other", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 8),
                           filler{data});
    }));
  }
}

#if ISO_HAS_OPENMP
TEST_CASE("a call on a busy instance of OpenMP is noticed, one on another is not") {
  Kokkos::View<int*, host> const data("data", 8);
  auto const noticed = [&](Kokkos::OpenMP const& exec) {
    busy const other(Kokkos::OpenMP(), std::chrono::milliseconds(100));
    Kokkos::parallel_for("beside", Kokkos::RangePolicy<Kokkos::OpenMP>(exec, 0, 8), filler{data});
    return other.expired();
  };
  CHECK(noticed(Kokkos::OpenMP()));
  CHECK(!noticed(Kokkos::OpenMP(2)));
}
#endif
