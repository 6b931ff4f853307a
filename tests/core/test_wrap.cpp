// SPDX-License-Identifier: BSD-3-Clause
//! A caller's own arrays: the same memory, and sentences for what cannot be one.
#include "compare.hpp"

#include <iso/core/space.hpp>
#include <iso/core/wrap.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using host = iso::space::host;
using iso::test::refusal;

iso::grid const box{{2, 3, 4}, {1, 1, 1}, {}};

}  // namespace

TEST_CASE("wrap: a pointer is the volume's and the projections' memory") {
  std::vector<float> values(24);
  auto const v = iso::wrap_volume<host>(values.data(), box);
  CHECK(std::is_same_v<decltype(v), iso::volume_view<float, host> const>);
  v.data(1, 2, 3) = 5;
  CHECK(values[23] == 5);
  CHECK(v.grid == box);
  std::vector<double> const read_only(24, 2);
  auto const p = iso::wrap_projections<host>(read_only.data(), 4, 3, 2);
  CHECK(std::is_same_v<decltype(p), iso::projection_view<double const, host> const>);
  CHECK(p.data.data() == read_only.data());
  CHECK(p.data.extent(0) == 4);
  CHECK(p.data.extent(2) == 2);
}

TEST_CASE("wrap: a view of any dense layout, z fastest, shares its memory") {
  Kokkos::View<float***, Kokkos::LayoutRight, host> const plain("plain", 2, 3, 4);
  auto const v = iso::wrap_volume(plain, box);
  CHECK(v.data.data() == plain.data());
  CHECK(v.data.use_count() == 2);
  Kokkos::LayoutStride const dense(2, 12, 3, 4, 4, 1);
  Kokkos::View<float const***, Kokkos::LayoutStride, host> const strided(plain.data(), dense);
  CHECK(iso::wrap_volume(strided, box).data.data() == plain.data());
  CHECK(iso::wrap_projections(strided).data.data() == plain.data());
  // One element along an axis: its stride is never taken.
  Kokkos::View<float***, Kokkos::LayoutLeft, host> const column("column", 1, 1, 4);
  CHECK(iso::wrap_volume(column, {{1, 1, 4}, {1, 1, 1}, {}}).data(0, 0, 3) == 0);

  CHECK(refusal([] {
          iso::wrap_volume(Kokkos::View<float***, Kokkos::LayoutLeft, host>("left", 2, 3, 4), box);
        }) ==
        "iso::wrap_volume: array of [2, 3, 4] with strides [1, 2, 6] (elements must follow each "
        "other, the last index fastest); copy it into a plain view");
  Kokkos::View<float***, Kokkos::LayoutStride, host> const gaps(
      plain.data(), Kokkos::LayoutStride(2, 12, 3, 4, 2, 1));
  CHECK(refusal([&] { iso::wrap_projections(gaps); }).find("strides [12, 4, 1]") !=
        std::string::npos);
}

TEST_CASE("wrap: what cannot be a volume or projections") {
  std::vector<float> values(24);
  float* const null = nullptr;
  CHECK(refusal([&] { iso::wrap_volume<host>(null, box); }) ==
        "iso::wrap_volume: volume data has elements but no memory (its pointer is null); allocate "
        "it first");
  CHECK(refusal([&] { iso::wrap_projections<host>(null, 2, 3, 4); }) ==
        "iso::wrap_projections: projections has elements but no memory (its pointer is null); "
        "allocate it first");
  CHECK(refusal([&] {
          iso::wrap_volume<host>(values.data(), {{2, -3, 4}, {1, 1, 1}, {}});
        }).starts_with("iso::wrap_volume: grid of [2, -3, 4] voxels"));
  CHECK(refusal([&] { iso::wrap_projections<host>(values.data(), 2, 0, 4); }) ==
        "iso::wrap_projections: projections of [2, 0, 4] (every extent must be at least 1); give "
        "the numbers of views and of pixels along u and v");
  std::int64_t const huge = std::int64_t(1) << 40;
  CHECK(refusal([&] { iso::wrap_projections<host>(values.data(), huge, huge, 5); }) ==
        "iso::wrap_projections: projections of [1099511627776, 1099511627776, 5] (2^59 pixels at "
        "most); take fewer views");
  auto* const odd = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(values.data()) + 1);
  CHECK(refusal([&] { iso::wrap_volume<host>(odd, {{1, 1, 4}, {1, 1, 1}, {}}); }) ==
        "iso::wrap_volume: pointer that is not a multiple of 4 bytes (its type needs that); align "
        "the array");
  Kokkos::View<float***, Kokkos::LayoutRight, host> const plain("plain", 4, 3, 2);
  CHECK(refusal([&] { iso::wrap_volume(plain, box); }) ==
        "iso::wrap_volume: volume data of [4, 3, 2] (its grid has [2, 3, 4] voxels); give both the "
        "same extents");
}

TEST_CASE("wrap: scratch memory") {
  alignas(64) std::byte memory[256];
  auto scratch = iso::wrap_workspace<host>(memory, 256);
  CHECK(scratch.size() == 256);
  CHECK(scratch.data() == memory);
  scratch.reserve(200);
  CHECK(scratch.data() == memory);
  scratch.reserve(300);
  CHECK(scratch.data() != memory);
  CHECK(iso::wrap_workspace<host>(nullptr, 0).size() == 0);
  CHECK(refusal([&] { iso::wrap_workspace<host>(memory + 16, 128); }) ==
        "iso::wrap_workspace: pointer that is not a multiple of 64 bytes (its type needs that); "
        "align the array");
  CHECK(refusal([] { iso::wrap_workspace<host>(nullptr, 64); }) ==
        "iso::wrap_workspace: scratch has elements but no memory (its pointer is null); allocate "
        "it first");
  CHECK(refusal([&] { iso::wrap_workspace<host>(memory, -1); }) ==
        "iso::wrap_workspace: -1 bytes (must not be negative); pass the size of the memory");
}
