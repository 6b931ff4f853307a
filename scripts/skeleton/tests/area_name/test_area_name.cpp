// SPDX-License-Identifier: BSD-3-Clause
#include "instances.hpp"

#include <iso/area_name/area_name.hpp>
#include <iso/core/error.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace area = iso::area_name;

static_assert(iso::all_described<area::area_name_options>);

namespace {

using exec_space = Kokkos::DefaultExecutionSpace;

auto volume_of(iso::grid const& g, float value) {
  auto const v = iso::make_volume<float, exec_space::memory_space>(exec_space(), "v", g);
  Kokkos::deep_copy(exec_space(), v.data, value);
  return v;
}

iso::grid const few = iso::grid::centred({3, 4, 5}, {1, 1, 1});

}  // namespace

TEST_CASE("area_name: every voxel has the factor") {
  exec_space const exec;
  auto const in = volume_of(few, 3);
  auto const out = volume_of(few, 0);
  area::scale(exec, in, out, {.factor = 0.5});
  auto const host = Kokkos::create_mirror_view(out.data);
  Kokkos::deep_copy(exec, host, out.data);
  exec.fence();
  CHECK(host(0, 0, 0) == 1.5F);
  CHECK(host(2, 3, 4) == 1.5F);
}

TEST_CASE("area_name: what is refused") {
  using iso::test::refusal;
  exec_space const exec;
  auto const in = volume_of(few, 3);
  CHECK(refusal([&] { area::scale(exec, in, in, {.factor = NAN}); }) ==
        "iso::area_name::scale: factor is nan (must be from -1000000 to 1000000); choose another");
  auto const other = volume_of(iso::grid::centred({3, 4, 6}, {1, 1, 1}), 0);
  CHECK(refusal([&] { area::scale(exec, in, other); }).find("give both the same extents") !=
        std::string::npos);
}
