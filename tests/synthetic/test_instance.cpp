// SPDX-License-Identifier: BSD-3-Clause
// Generators and counts launch on the instance that they were given, and fence that one alone;
// Kokkos' tool callbacks say which it was.
#include "kokkos_events.hpp"

#include <iso/backend/registry.hpp>
#include <iso/synthetic/detector_readings.hpp>
#include <iso/synthetic/generate.hpp>
#include <iso/synthetic/statistics.hpp>

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace iso::synthetic;
using namespace iso::sparse;
namespace tools = Kokkos::Tools::Experimental;

template <class Exec, class F>
void check_call(Exec const& exec, int least, F const& f) {
  f();
  exec.fence("test_instance: the first time");
  int kernels = 0;
  for (auto const& e : iso::test::events_during(f)) {
    CAPTURE(e.name);
    if (!is_tool_fence(e) && !is_of_memory(e)) {
      CHECK(e.device == tools::device_id(exec));
      kernels += e.kind == iso::test::event_kind::launch ? 1 : 0;
    }
  }
  CHECK(kernels >= least);
}

}  // namespace

TEST_CASE("everything runs on the instance that was given") {
  iso::backend::for_each([](auto tag) {
    using Exec = typename decltype(tag)::execution_space;
    INFO(tag.name);
    // To be divided, a host's default instance would need several threads.
    Exec const exec = iso::backend::is_device<Exec>
                          ? Kokkos::Experimental::partition_space(Exec(), 1, 1)[1]
                          : Exec();
    auto const figures = table_of(plan_case::prostate_1, 0.002);
    check_call(exec, 3, [&] { generate<iso::half>(exec, figures); });
    pencil_beams field;
    field.voxels = iso::grid::centred({12, 12, 12}, {8, 8, 8});
    check_call(exec, 3, [&] { generate<float>(exec, field); });
    auto const a = generate<float>(exec, figures);
    check_call(exec, 1, [&] { statistics(exec, a); });
    auto const images =
        iso::make_projections<float, typename Exec::memory_space>("images", 2, 9, 9);
    check_call(exec, 1, [&] { detector_readings<Exec, float>(exec, {}, 0, images, images); });
    Kokkos::View<float*, typename Exec::memory_space> const counts("counts", 99);
    check_call(exec, 1, [&] { poisson_counts<Exec, float>(exec, counts, counts); });
  });
}
