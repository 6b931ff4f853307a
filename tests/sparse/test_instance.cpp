// SPDX-License-Identifier: BSD-3-Clause
// Products launch on the instance that they are given, one after the other, and neither fence nor
// allocate.
#include <doctest/doctest.h>

#include "kokkos_events.hpp"
#include "sparse_support.hpp"

namespace {

using namespace sparse_support;
namespace tools = Kokkos::Tools::Experimental;

template <class Exec>
Exec new_instance() {
#if ISO_HAS_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
    return Kokkos::OpenMP(2);
  }
#endif
  return Kokkos::Experimental::partition_space(Exec(), 1, 1)[1];
}

template <class Exec, class Matrix>
void check_product(Exec const& exec, Matrix const& a, std::int64_t k, summation sum) {
  using space = typename Exec::memory_space;
  auto const plan = iso::sparse::make_plan(exec, a);
  auto const shape = iso::sparse::shape_of(a);
  Kokkos::View<double**, Kokkos::LayoutRight, space> const x("x", std::size_t(shape.num_cols),
                                                             std::size_t(k));
  Kokkos::View<double**, Kokkos::LayoutRight, space> const y("y", std::size_t(shape.num_rows),
                                                             std::size_t(k));
  iso::workspace<space> const scratch(iso::sparse::spmv_bytes_needed<double>(exec, a, plan, k));
  exec.fence();
  auto const multiply = [&] {
    iso::sparse::spmv(exec, 1.0, a, x, 0.0, y, plan, scratch, {.sum = sum});
  };
  CHECK(iso::test::launches_of(exec, multiply) > 0);
}

}  // namespace

TEST_CASE("spmv launches on its instance, does not fence and does not allocate") {
  iso::backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    for (auto const& exec : {exec_space(), new_instance<exec_space>()}) {
      auto const a = csr<iso::half, std::int32_t>(exec, synthetic(50, 200, 1));
      auto const g = iso::sparse::make_row_blocks<4>(exec, a);
      auto const p = iso::sparse::make_row_blocks<8>(exec, a);
      for (std::int64_t const k : {1, 3}) {
        for (auto const sum : {summation::ordered, summation::reproducible}) {
          check_product(exec, a, k, sum);
          check_product(exec, g, k, sum);
          check_product(exec, p, k, sum);
        }
      }
    }
  });
}

TEST_CASE("builders fence no more than their instance") {
  iso::backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    INFO(std::string(tag.name));
    exec_space const exec;
    auto const a = csr<iso::half, std::int32_t>(exec, synthetic(50, 200, 1));
    auto const found = iso::test::events_during([&] {
      CHECK(iso::sparse::validate(exec, a).sound());
      iso::sparse::make_plan(exec, iso::sparse::make_row_blocks<4>(exec, a));
      iso::sparse::make_plan(exec, iso::sparse::make_row_blocks<8>(exec, a));
    });
    int launches = 0;
    for (auto const& e : found) {
      CAPTURE(e.name);
      bool const mine =
          e.kind != iso::test::event_kind::allocation && e.device == tools::device_id(exec);
      CHECK((mine || is_tool_fence(e) || is_of_memory(e)));
      launches += e.kind == iso::test::event_kind::launch ? 1 : 0;
    }
    CHECK(launches > 4);
  });
}

// Each reads as x what the one before it has just added to, neighbours in memory by other groups.
TEST_CASE("instance: a chain of products that add to each other's vectors") {
  constexpr int steps = 60;
  lists m{1000, std::vector<std::vector<item>>(1000)};
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    for (std::int32_t c = 0; c < 60 && r % 3 != 0; ++c) {
      m.rows[r].push_back({(std::int32_t(r / 2) + c * 7) % 1000, double((r + std::size_t(c)) % 8)});
    }
    std::sort(m.rows[r].begin(), m.rows[r].end(),
              [](item const& a, item const& b) { return a.column < b.column; });
  }
  auto const chain = [&](auto const& exec, std::int64_t vectors, summation sum) {
    using space = typename std::decay_t<decltype(exec)>::memory_space;
    auto const half = csr<iso::half, std::int32_t>(exec, m);
    auto const a = iso::sparse::make_row_blocks<8>(exec, half);
    auto const b = iso::sparse::make_row_blocks<4>(exec, half);
    auto const plan_a = iso::sparse::make_plan(exec, a);
    auto const plan_b = iso::sparse::make_plan(exec, b);
    iso::workspace<space> const scratch(
        std::max(iso::sparse::spmv_bytes_needed<double>(exec, a, plan_a, vectors),
                 iso::sparse::spmv_bytes_needed<double>(exec, b, plan_b, vectors)));
    auto const flat_x = on(exec, some_vector(1000, vectors));
    auto const flat_y = on(exec, some_vector(1000, vectors, 3));
    using several =
        Kokkos::View<double**, Kokkos::LayoutRight, space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    several const x(flat_x.data(), 1000, std::size_t(vectors));
    several const y(flat_y.data(), 1000, std::size_t(vectors));
    exec.fence();
    for (int step = 0; step < steps; ++step) {
      // Of 60 entries up to 7: what is added is less than half of the largest.
      iso::sparse::spmv(exec, 0x1p-10, a, x, 0.5, y, plan_a, scratch, {.sum = sum});
      iso::sparse::spmv(exec, 0x1p-10, b, y, 0.5, x, plan_b, scratch, {.sum = sum});
    }
    exec.fence();
    auto result = to_vector(flat_x);
    auto const last = to_vector(flat_y);
    result.insert(result.end(), last.begin(), last.end());
    return result;
  };
  for (std::int64_t const vectors : {1, 4}) {
    for (auto const sum : {summation::ordered, summation::reproducible}) {
      auto const expected = chain(Kokkos::Serial(), vectors, sum);
      for_each_instance([&](auto const& exec) {
        for (int repeat = 0;
             repeat < (iso::backend::is_device<std::decay_t<decltype(exec)>> ? 20 : 1); ++repeat) {
          REQUIRE(difference(expected, chain(exec, vectors, sum)) == "");
        }
      });
    }
  }
}
