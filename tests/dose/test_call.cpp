// SPDX-License-Identifier: BSD-3-Clause
// What a call of TERMA and convolution does besides its numbers: allocations, fences, scratch,
// progress, cancellation.
#include "dose_support.hpp"
#include "instances.hpp"
#include "kokkos_events.hpp"

#include <iso/core/error.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace dose_support;
using iso::test::refusal;

using extent = iso::array<std::int64_t, 3>;

setup small_field(dose_engine engine, point_kernel const& kernel,
                  extent const& voxels = {22, 24, 20}) {
  auto s = setup::square(grid::centred(voxels, {3, 3, 3}), 20, 900);
  s.margin = 9;
  s.kernel = kernel;
  s.cones = {4, 4};
  s.options.engine = engine;
  s.options.radial_step = 3;
  s.options.ray_spacing = 3;
  return s;
}

template <class F>
void for_each_engine(F const& f, extent const& voxels = {22, 24, 20}) {
  point_kernel const kernels[] = {named_kernel("6mv"), named_kernel("6mv_quad"),
                                  mix_kernels(water_kernels(), named_spectrum("mohan_6mv"))};
  for (auto const engine : {dose_engine::lattice, dose_engine::voxel_lines,
                            dose_engine::voxel_samples, dose_engine::non_voxel}) {
    for (std::size_t kernel = 0; kernel < 3; ++kernel) {
      CAPTURE(int(engine));
      CAPTURE(kernel);
      f(small_field(engine, kernels[kernel], voxels));
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("dose: calls run on the instance given, without fence or allocation", T, float,
                   double) {
  iso::test::for_each_instance([](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    for_each_engine(
        [&](setup const& s) {
          prepared<T, exec_space> const p(exec, s, volume_of<T>(s.phantom, mixed));
          iso::workspace<typename exec_space::memory_space> const scratch(p.bytes());
          auto const call = [&] {
            p.release();
            p.run(scratch);
          };
          CHECK(iso::test::launches_of(exec, call) >= 2);
        },
        {11, 12, 10});
  });
}

TEST_CASE("dose: a byte less scratch than needed is refused, and no dose is added") {
  Kokkos::DefaultHostExecutionSpace const exec;
  for_each_engine([&](setup const& s) {
    prepared<float, Kokkos::DefaultHostExecutionSpace> const p(exec, s,
                                                               volume_of<float>(s.phantom, mixed));
    p.release();
    std::int64_t const bytes = p.bytes();
    REQUIRE(bytes > 0);
    iso::workspace<Kokkos::HostSpace> const less(bytes - 1);
    CHECK(refusal([&] { p.run(less); }).find(std::to_string(bytes)) != std::string::npos);
    exec.fence();
    for (float const x : numbers(p.dose)) {
      CHECK(x == 0);
    }
  });
}

TEST_CASE("dose: a call reports how far it is, and stops when it is told to") {
  Kokkos::DefaultHostExecutionSpace const exec;
  for_each_engine([&](setup const& s) {
    prepared<float, Kokkos::DefaultHostExecutionSpace> const p(exec, s,
                                                               volume_of<float>(s.phantom, mixed));
    iso::workspace<Kokkos::HostSpace> const scratch(p.bytes());
    p.release();
    std::vector<double> fractions;
    p.run(scratch, {[&](double f) { fractions.push_back(f); }, {}});
    exec.fence();
    CHECK(fractions.size() >= 4);
    CHECK(std::is_sorted(fractions.begin(), fractions.end()));
    CHECK(fractions.back() == 1);
    std::size_t steps = 0;
    CHECK_THROWS_AS(p.run(scratch, {[&](double) { ++steps; }, [&] { return steps == 2; }}),
                    iso::cancelled);
    exec.fence();
    CHECK(steps == 2);
  });
}

TEST_CASE("terma: a job is asked between batches of voxels, and changes no bit") {
  Kokkos::DefaultHostExecutionSpace const exec;
  auto const s = small_field(dose_engine::lattice, named_kernel("6mv"));
  auto const density = volume_of<float>(s.phantom, mixed);
  terma_plan<Kokkos::HostSpace> const plan(exec, s.field, named_spectrum(s.photons));
  auto const released = iso::make_volume<float, Kokkos::HostSpace>("terma", s.phantom);
  auto const run = [&](iso::job const& control) {
    Kokkos::deep_copy(released.data, -1.0F);
    terma<Kokkos::DefaultHostExecutionSpace, float>(exec, plan, density, released, control);
    exec.fence();
    return numbers(released);
  };
  auto const alone = run({});
  int asked = 0;
  std::vector<double> fractions;
  CHECK(run({[&](double f) { fractions.push_back(f); }, [&] { return ++asked < 0; }}) == alone);
  CHECK(asked > 3);
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  CHECK(fractions.back() == 1);
  int again = 0;
  CHECK_THROWS_AS(run({{}, [&] { return ++again == 2; }}), iso::cancelled);
  CHECK(again == 2);
}

TEST_CASE_TEMPLATE("dose: onto zero overwrites the region alone, onto stored adds", T, float,
                   double) {
  iso::test::for_each_instance([](auto const& exec) {
    using exec_space = std::decay_t<decltype(exec)>;
    auto const s = small_field(dose_engine::lattice, named_kernel("6mv"));
    prepared<T, exec_space> const p(exec, s, volume_of<T>(s.phantom, mixed));
    iso::workspace<typename exec_space::memory_space> const scratch(p.bytes());
    p.release();
    auto const dose_onto = [&](iso::onto to, T before) {
      Kokkos::deep_copy(exec, p.dose.data, before);
      convolve<exec_space, T>(exec, p.plan, p.released, p.density, p.dose, scratch, to);
      exec.fence();
      auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.dose.data);
      return std::vector<T>(found.data(), found.data() + found.size());
    };
    auto const fresh = dose_onto(iso::onto::stored, T(0));
    auto const over = dose_onto(iso::onto::zero, T(3));
    auto const added = dose_onto(iso::onto::stored, T(3));
    std::int64_t within = 0;
    bool same = true;
    bool more = true;
    bool kept = true;
    for (std::size_t n = 0; n < fresh.size(); ++n) {
      if (added[n] == T(3) && over[n] == T(3)) {
        kept = kept && fresh[n] == T(0);
        continue;
      }
      ++within;
      same = same && over[n] == fresh[n];
      more = more && added[n] == T(3) + fresh[n];
    }
    CHECK(same);
    CHECK(more);
    CHECK(kept);
    CHECK(within > 0);
    CHECK(within <= p.region.size());
    CHECK(refusal([&] { dose_onto(iso::onto(2), T(0)); }).find("onto 2") != std::string::npos);
  });
}
