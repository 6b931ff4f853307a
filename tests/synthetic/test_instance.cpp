// SPDX-License-Identifier: BSD-3-Clause
// Generators and counts launch on the instance that they were given, and fence that one alone;
// Kokkos' tool callbacks say which it was.
#include <iso/backend/registry.hpp>
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

struct event {
  bool fence;
  std::string name;
  std::uint32_t device;
};

std::vector<event>& events() {
  static std::vector<event> list;
  return list;
}

void on_kernel(char const* name, std::uint32_t device, std::uint64_t* id) {
  events().push_back({false, name, device});
  *id = events().size();
}
void on_fence(char const* name, std::uint32_t device, std::uint64_t* id) {
  events().push_back({true, name, device});
  *id = events().size();
}

template <class F>
std::vector<event> seen_in(F const& f) {
  auto const before = tools::get_callbacks();
  events().clear();
  tools::set_begin_parallel_for_callback(on_kernel);
  tools::set_begin_parallel_reduce_callback(on_kernel);
  tools::set_begin_parallel_scan_callback(on_kernel);
  tools::set_begin_fence_callback(on_fence);
  f();
  tools::set_callbacks(before);
  return events();
}

/// What Kokkos does by itself where memory is taken or given back, and around these callbacks.
bool is_kokkos_own(event const& e) {
  for (char const* part : {"Kokkos Profile Tool Fence", "alloc", "before free", "async free"}) {
    if (e.fence && e.name.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

template <class Exec, class F>
void check_call(Exec const& exec, F const& f) {
  f();
  exec.fence("test_instance: the first time");
  int kernels = 0;
  for (auto const& e : seen_in(f)) {
    CAPTURE(e.name);
    if (!is_kokkos_own(e)) {
      CHECK(e.device == tools::device_id(exec));
      kernels += e.fence ? 0 : 1;
    }
  }
  CHECK(kernels >= 2);
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
    check_call(exec, [&] { generate<iso::half>(exec, figures); });
    pencil_beams field;
    field.voxels = iso::grid::centred({12, 12, 12}, {8, 8, 8});
    check_call(exec, [&] { generate<float>(exec, field); });
    auto const a = generate<float>(exec, figures);
    check_call(exec, [&] { statistics(exec, a); });
  });
}
