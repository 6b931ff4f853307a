// SPDX-License-Identifier: BSD-3-Clause
// A matrix split over MPI ranks by columns or by rows: the bits of the whole, whatever their number
// and whichever format each rank has its part in.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <mpi.h>

namespace {

using namespace sparse_support;

int rank_of_this() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int num_ranks() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Where the part of this rank begins and ends, of `length`: uneven parts.
std::pair<std::int64_t, std::int64_t> part_of(std::int64_t length) {
  auto const begin = [&](std::int64_t rank) { return length * rank * (rank + 3) / 2; };
  std::int64_t const all = num_ranks() * (num_ranks() + std::int64_t(3)) / 2;
  return {begin(rank_of_this()) / all, begin(rank_of_this() + 1) / all};
}

template <class T>
std::vector<T> over_ranks(std::vector<T> values, MPI_Datatype type, MPI_Op operation) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), int(values.size()), type, operation, MPI_COMM_WORLD);
  return values;
}

/// f(the matrix), in a format that depends on the rank.
template <class Exec, class F>
void with_some_format(Exec const& exec, lists const& m, F const& f) {
  auto const a = csr<iso::half, std::int32_t>(exec, m);
  switch (rank_of_this() % 4) {
    case 0:
      return f(a);
    case 1:
      return f(iso::sparse::make_row_blocks<8>(exec, a));
    case 2:
      return f(csr<iso::half, std::uint16_t>(exec, m));
    default:
      return f(iso::sparse::make_row_blocks<4>(exec, a));
  }
}

std::vector<double> whole_product(lists const& m, std::vector<double> const& x, summation sum) {
  Kokkos::Serial const serial;
  return product(serial, csr<iso::half, std::int32_t>(serial, m), x, {.sum = sum});
}

}  // namespace

TEST_CASE("ranks: split by columns, partial products added by MPI in any order") {
  auto const m = synthetic(90, 3000, 11, 0.3);
  auto const x = some_vector(m.cols);
  auto const expected = whole_product(m, x, summation::reproducible);
  auto const part_here = part_of(m.cols);
  auto const mine = columns_of(m, std::int32_t(part_here.first), std::int32_t(part_here.second));
  std::vector<double> const my_x(x.begin() + part_here.first, x.begin() + part_here.second);
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    using exec_space = typename decltype(tag)::execution_space;
    using space = typename exec_space::memory_space;
    exec_space const exec;
    with_some_format(exec, mine, [&](auto const& part) {
      // Bounds of the whole, and its largest |x|: from those of the parts.
      auto const of_part = iso::sparse::make_bounds(exec, part);
      exec.fence();
      iso::sparse::bounds<space> const whole{
          on(exec, over_ranks(to_vector(of_part.max_abs), MPI_DOUBLE, MPI_MAX)),
          on(exec, over_ranks(to_vector(of_part.entries), MPI_INT32_T, MPI_SUM))};
      auto const x_part = on(exec, my_x);
      Kokkos::View<double*, space> const top("largest", 1);
      iso::sparse::max_abs(exec, x_part, top);
      exec.fence();
      auto const largest = on(exec, over_ranks(to_vector(top), MPI_DOUBLE, MPI_MAX));
      auto const plan = iso::sparse::make_plan(exec, part, whole);
      iso::workspace<space> const scratch(
          iso::sparse::spmv_bytes_needed<double>(exec, part, plan, 1));
      auto const y = on(exec, std::vector<double>(m.rows.size(), nan_value));
      iso::sparse::spmv(exec, 1.0, part, x_part, 0.0, y, plan, scratch,
                        {.sum = summation::reproducible, .max_abs_x = largest.data()});
      exec.fence();
      CHECK(difference(expected, over_ranks(to_vector(y), MPI_DOUBLE, MPI_SUM)) == "");
    });
  });
}

TEST_CASE("ranks: split by rows, in either sum") {
  auto const m = synthetic(90, 3000, 12, 0.3);
  auto const x = some_vector(m.cols);
  auto const part_here = part_of(m.num_rows());
  std::int64_t const first = part_here.first;
  lists const mine{m.cols, {m.rows.begin() + first, m.rows.begin() + part_here.second}};
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    auto const check = [&](auto const& part, summation sum) {
      auto const y = product(exec, part, x, {.sum = sum});
      // Rows of other ranks are zero here.
      std::vector<double> all(m.rows.size(), 0.0);
      std::copy(y.begin(), y.end(), all.begin() + first);
      CHECK(difference(whole_product(m, x, sum), over_ranks(all, MPI_DOUBLE, MPI_SUM)) == "");
    };
    with_some_format(exec, mine, [&](auto const& part) { check(part, summation::reproducible); });
    check(csr<iso::half, std::int32_t>(exec, mine), summation::ordered);
  });
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 0;
  {
    doctest::Context context(argc, argv);
    Kokkos::ScopeGuard const kokkos(argc, argv);
    result = context.run();
  }
  MPI_Finalize();
  return result;
}
