// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/core/allocate.hpp>
#include <iso/core/axpby.hpp>
#include <iso/core/check.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/error.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/half.hpp>
#include <iso/core/interpolation.hpp>
#include <iso/core/job.hpp>
#include <iso/core/math.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/core/stage.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/core/vec3.hpp>
#include <iso/core/version.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/workspace.hpp>
#include <iso/core/wrap.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace calls;

struct one {
  KOKKOS_FUNCTION double operator()(std::int64_t /*i*/) const { return 1; }
};

// Of the preprocessor, and in constants.
#if ISO_VERSION_NUMBER < 10000 * ISO_VERSION_MAJOR
#error "the version is not one number"
#endif
static_assert(iso::version_major() == ISO_VERSION_MAJOR);
static_assert(iso::version_minor() == ISO_VERSION_MINOR);
static_assert(iso::version_patch() == ISO_VERSION_PATCH);

}  // namespace

TEST_CASE("planes of a grid for several") {
  auto const cube = iso::grid::centred({4, 4, 10}, {1, 1, 1});
  auto const equal = iso::divide_planes(cube, 3);
  iso::validate(equal, cube, "calls");
  CHECK(iso::divide_planes(cube, 2, {3, 1})[0].count() == 8);
}

TEST_CASE("the version is one, as numbers and as text") {
  std::string const numbers = std::to_string(iso::version_major()) + "." +
                              std::to_string(iso::version_minor()) + "." +
                              std::to_string(iso::version_patch());
  CHECK(iso::version_string() == numbers);
  CHECK(std::string(ISO_VERSION_STRING) == numbers);
  CHECK(numbers == ISO_TEST_VERSION);  // CMake's
}

TEST_CASE("memory") {
  exec_space const exec;
  using array = Kokkos::View<float**, space>;
  CHECK(iso::allocate<array>("a", {2, 3}).size() == 6);
  CHECK(iso::allocate<array>("a", {2, 3}, exec, Kokkos::WithoutInitializing).size() == 6);
  CHECK(iso::allocate<array>("a", array::array_layout(2, 3)).size() == 6);
  iso::workspace<space> scratch(1024);
  scratch.reserve(2048);
  iso::validate(scratch, 2048, "calls");
  iso::validate(iso::workspace<space>(16), 16, "calls");
  iso::workspace_parts parts(scratch, "calls");
  CHECK(parts.take<double>({4, 8}) != nullptr);

  array const a("a", 2, 3);
  iso::staged const there = iso::stage<iso::access::read_write>(exec, a);
  there.commit();
  iso::stage<iso::access::read>(exec, Kokkos::View<float const**, space>(a));
  CHECK(iso::memory_of(a, "a").bytes == 24);
  iso::validate_memory({iso::memory_of(a, "a")}, "calls");
  iso::validate_apart(iso::memory_of(array("b", 2, 3), "b"), {iso::memory_of(a, "a")}, "calls");
  iso::validate_contiguous(a, "a", "calls");
}

TEST_CASE("volumes and projections") {
  exec_space const exec;
  auto const volume =
      iso::make_volume<float, space>(exec, "volume", iso::grid::centred({2, 3, 4}, {1, 1, 1}));
  iso::make_volume<double, space>("volume", {{2, 3, 4}, {1, 1, 1}, {0, 0, 0}});
  iso::make_volume<float, space>(exec, "volume", {.extent = {2, 3, 4}, .spacing = {2, 2, 2}});
  iso::validate(volume, "calls");
  iso::validate(volume.grid, "calls");
  iso::volume_view<float const, space> const seen = volume;
  iso::validate(seen, "calls");

  auto const views = iso::make_projections<float, space>(exec, "views", 1, 8, 8);
  iso::make_projections<double, space>("views", 1, 8, 8);
  iso::validate(views, {1, 8, 8}, "calls");
  iso::validate(iso::onto::stored, "calls");

  std::vector<float> numbers(24, 1);
  auto const wrapped = iso::wrap_volume<iso::space::host>(numbers.data(), {{2, 3, 4}});
  std::vector<float> const fixed(24, 1);
  iso::wrap_volume<iso::space::host>(fixed.data(), iso::grid::centred({2, 3, 4}, {1, 1, 1}));
  CHECK(iso::wrap_volume(wrapped.data, wrapped.grid).data.data() == numbers.data());
  auto const pixels = iso::wrap_projections<iso::space::host>(numbers.data(), 2, 3, 4);
  CHECK(iso::wrap_projections(pixels.data).data.data() == numbers.data());
  iso::wrap_projections(Kokkos::View<float***, Kokkos::LayoutRight, space>("own", 1, 8, 8));
  alignas(64) std::byte bytes[128];
  CHECK(iso::wrap_workspace<iso::space::host>(bytes, 128).size() == 128);
}

TEST_CASE("numbers") {
  exec_space const exec;
  Kokkos::View<float*, space> const x("x", 8);
  Kokkos::deep_copy(exec, x, 2.0F);
  CHECK(iso::sum_of(exec, 8, one{}) == 8);
  iso::partial_sum part(iso::bounds_of_terms(exec, 8, one{}));
  part.add(exec, 8, one{});
  CHECK(part.value() == 8);
  CHECK(iso::dot(exec, x.data(), x.data(), 8) == 32);
  iso::axpby(exec, 2, x.data(), -1, x.data(), 8);
  CHECK(iso::dot(exec, x.data(), x.data(), 8) == 32);
  iso::vec3<double> const a{1, 2, 2};
  CHECK(iso::dot(a, {0, 1, 0}) == 2);
  CHECK(iso::norm(a) == 3);
  CHECK(iso::cross(iso::vec3<float>{1, 0, 0}, {0, 1, 0}) == iso::vec3<float>{0, 0, 1});
  CHECK(iso::is_finite(a));
  CHECK(!iso::is_finite(INFINITY));
  CHECK(std::isnan(iso::canonical(NAN)));
  CHECK(iso::blend(0.5, 1.0, 2.0) == 1.5);
  CHECK(iso::math::exp(0.0) == 1);
  CHECK(iso::math::expm1(0.0F) == 0);
  CHECK(iso::math::log(1.0) == 0);
  double sine = 0;
  double cosine = 0;
  iso::math::sincos(0.0, sine, cosine);
  CHECK(cosine == 1);
  iso::reproducible_scale<float> const scale(1, 8);
  CHECK(scale.value(scale.without_rounder(scale.round(0.5F), 1)) == 0.5F);
  CHECK(float(iso::half(1.5)) == 1.5F);
  CHECK(float(iso::bfloat16(1.5F)) == 1.5F);
}

TEST_CASE("errors") {
  CHECK(iso::message("{} of {}", {1, "b"}) == "1 of b");
  CHECK_THROWS_AS(iso::fail_argument("{} voxels", 0), iso::invalid_argument);
  iso::job const control{.progress = [](double) {}, .cancelled = [] { return true; }};
  CHECK_THROWS_AS(control.step(0.5), iso::cancelled);
  try {
    throw iso::out_of_memory("much", 2, 1);
  } catch (iso::error const& problem) {
    CHECK(std::string(problem.what()) == "much");
  }
  CHECK_THROWS_AS(throw iso::file_error("no such file"), std::runtime_error);
}
