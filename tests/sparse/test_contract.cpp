// SPDX-License-Identifier: BSD-3-Clause
// What spmv and its helpers refuse, word for word, and that nothing was written.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

namespace {

using namespace sparse_support;
using iso::test::refusal;
using vector = Kokkos::View<double*, Kokkos::LayoutRight, host>;
using several = Kokkos::View<double**, Kokkos::LayoutRight, host>;

/// A product that is right, to be spoilt.
struct call {
  Kokkos::Serial exec;
  csr_view<iso::half, std::int32_t, host> a =
      csr<iso::half, std::int32_t>(exec, lists{4, {{{0, 1}, {3, 2}}, {}, {{1, 1}}}});
  iso::sparse::spmv_plan<host> plan = iso::sparse::make_plan(exec, a);
  vector x{"x", 4};
  vector y{"y", 3};
  iso::workspace<host> scratch{iso::sparse::spmv_bytes_needed<double>(exec, a, plan, 1)};
  iso::sparse::spmv_options options;

  template <class X, class Y>
  std::string with(X const& in, Y const& out) const {
    Kokkos::deep_copy(exec, out, -7.0);
    try {
      iso::sparse::spmv(exec, 1.0, a, in, 0.0, out, plan, scratch, options);
    } catch (iso::invalid_argument const& e) {
      for (std::size_t i = 0; i < out.span(); ++i) {
        CHECK(out.data()[i] == -7);
      }
      return e.what();
    }
    return "";
  }
  std::string operator()() const { return with(x, y); }
};

}  // namespace

TEST_CASE("spmv refuses vectors that do not fit") {
  CHECK(call()() == "");
  call c;
  c.x = vector("x", 5);
  CHECK(c() ==
        "iso::sparse::spmv: x of 5 and y of 3 for a matrix of 3 x 4 (x has an element for each "
        "column, y for each row); give vectors of these lengths, or transpose the matrix");
  c = {};
  c.y = vector("y", 4);
  CHECK(c() ==
        "iso::sparse::spmv: x of 4 and y of 4 for a matrix of 3 x 4 (x has an element for each "
        "column, y for each row); give vectors of these lengths, or transpose the matrix");
  c = {};
  CHECK(c.with(several("x", 4, 2), several("y", 3, 3)) ==
        "iso::sparse::spmv: 2 vectors in and 3 out (each vector has one product); give y as many "
        "vectors as x");
  c.scratch.reserve(iso::sparse::spmv_bytes_needed<double>(c.exec, c.a, c.plan, 2));
  CHECK(c.with(several("x", 4, 2), several("y", 3, 2)) == "");
  CHECK(c.with(several("x", 4, 1), vector("y", 3)) == "");
  Kokkos::View<double*, Kokkos::LayoutStride, host> const gaps(
      Kokkos::subview(several("x", 4, 2), Kokkos::ALL, 0));
  CHECK(c.with(gaps, c.y) ==
        "iso::sparse::spmv: x has gaps between its numbers (those of a vector, or of several at "
        "one place, must follow each other); use a plain view");
  Kokkos::View<double*, host, Kokkos::MemoryUnmanaged> const nowhere(nullptr, 4);
  CHECK(c.with(nowhere, c.y) ==
        "iso::sparse::spmv: x has elements but no memory (its pointer is null); allocate it first");
  vector const both("both", 7);
  CHECK(c.with(Kokkos::subview(both, std::pair(0, 4)), Kokkos::subview(both, std::pair(4, 7))) ==
        "");
  CHECK(c.with(Kokkos::subview(both, std::pair(0, 4)), Kokkos::subview(both, std::pair(3, 6))) ==
        "iso::sparse::spmv: y and x overlap (one is written while the other is read); copy one of "
        "them");
}

TEST_CASE("spmv refuses vectors among others that overlap") {
  char const* const overlap =
      "iso::sparse::spmv: y and x overlap (one is written while the other is read); copy one of "
      "them";
  call c;
  c.scratch.reserve(iso::sparse::spmv_bytes_needed<double>(c.exec, c.a, c.plan, 2));
  several const both("both", 4, 4);
  Kokkos::deep_copy(both, -7.0);
  auto const rows = std::pair(0, 3);
  auto const part = [&](auto const& which, int first, int last) {
    return Kokkos::subview(both, which, std::pair(first, last));
  };
  // The same columns, some of them, and columns that lie between those of the other.
  CHECK(c.with(part(Kokkos::ALL, 0, 2), part(rows, 0, 2)) == overlap);
  CHECK(c.with(part(Kokkos::ALL, 0, 2), part(rows, 1, 3)) == overlap);
  CHECK(c.with(part(Kokkos::ALL, 0, 2), part(rows, 2, 4)) == overlap);
  // In place, one vector.
  c = {};
  CHECK(c.with(c.x, Kokkos::subview(c.x, rows)) == overlap);
  // One after the other.
  c.scratch.reserve(iso::sparse::spmv_bytes_needed<double>(c.exec, c.a, c.plan, 2));
  several const longer("longer", 7, 2);
  CHECK(c.with(Kokkos::subview(longer, std::pair(0, 4), Kokkos::ALL),
               Kokkos::subview(longer, std::pair(4, 7), Kokkos::ALL)) == "");
}

TEST_CASE(
    "spmv refuses to write into the matrix or the scratch, and scratch that something reads") {
  auto const refused = [](std::string const& written, std::string const& other) {
    return "iso::sparse::spmv: " + written + " and " + other +
           " overlap (one is written while the other is read); copy one of them";
  };
  // The bytes of an array as a vector.
  auto const over = [](auto const& array, std::size_t length) {
    return Kokkos::View<double*, host, Kokkos::MemoryUnmanaged>(
        reinterpret_cast<double*>(const_cast<void*>(static_cast<void const*>(array.data()))),
        length);
  };
  auto const sentence = [](call const& c, auto const& y) {
    return refusal(
        [&] { iso::sparse::spmv(c.exec, 1.0, c.a, c.x, 0.0, y, c.plan, c.scratch, c.options); });
  };
  call c;
  vector const scales("scales", 3);
  Kokkos::deep_copy(scales, 2.0);
  c.a.row_scales = scales;
  CHECK(sentence(c, over(c.a.row_offsets, 3)) == refused("y", "the matrix' row offsets"));
  CHECK(sentence(c, over(c.a.columns, 3)) == refused("y", "the matrix' columns"));
  CHECK(sentence(c, over(c.a.values, 3)) == refused("y", "the matrix' values"));
  CHECK(sentence(c, over(c.a.row_scales, 3)) == refused("y", "the matrix' row scales"));
  CHECK(sentence(c, over(c.scratch, 3)) == refused("y", "the scratch"));
  auto const blocks = iso::sparse::make_row_blocks<4>(c.exec, c.a);
  CHECK(refusal([&] {
          iso::sparse::spmv(c.exec, 1.0, blocks, c.x, 0.0, over(blocks.values(), 3),
                            iso::sparse::make_plan(c.exec, blocks), iso::workspace<host>(1 << 12));
        }) == refused("y", "the matrix' values"));
  auto const scratch_over = [](auto const& array) {
    return iso::workspace<host>(Kokkos::View<std::byte*, host>(
        reinterpret_cast<std::byte*>(const_cast<void*>(static_cast<void const*>(array.data()))),
        1 << 12));
  };
  // With room behind, so that the scratch reaches nothing else.
  c.x = Kokkos::subview(vector("long x", 512), std::pair(0, 4));
  c.scratch = scratch_over(c.x);
  CHECK(sentence(c, c.y) == refused("the scratch", "x"));
  c.a.values = Kokkos::subview(decltype(c.a.values)("long values", 2048), std::pair(0, 3));
  c.scratch = scratch_over(c.a.values);
  CHECK(sentence(c, c.y) == refused("the scratch", "the matrix' values"));
}

TEST_CASE("spmv refuses a plan of another format or another matrix") {
  Kokkos::Serial const exec;
  lists m{200000, {{}, {}, {}, {}, {}}};
  for (std::int32_t c = 0; c < 10; ++c) {
    m.rows[std::size_t(c % 5)].push_back({300 * c, 1});
  }
  auto const a = csr<iso::half, std::int32_t>(exec, m);
  // As many rows and entries, more chunks: one gap is wider than 16 bits reach.
  m.rows[0].back().column = 150000;
  auto const wide = iso::sparse::make_row_blocks<4>(exec, csr<iso::half, std::int32_t>(exec, m));
  auto const four = iso::sparse::make_row_blocks<4>(exec, a);
  auto const eight = iso::sparse::make_row_blocks<8>(exec, a);
  auto const x = on(exec, std::vector<double>(200000, 1.0));
  vector const y("y", 5);
  iso::workspace<host> const scratch(1 << 22);
  auto const with = [&](auto const& matrix, auto const& other) {
    Kokkos::deep_copy(exec, y, -7.0);
    auto const sentence = refusal([&] {
      iso::sparse::spmv(exec, 1, matrix, x, 0, y, iso::sparse::make_plan(exec, other), scratch);
    });
    CHECK((y(0) == -7) == !sentence.empty());
    return sentence;
  };
  std::string const use =
      " (it belongs to another, or another format); make one by iso::sparse::make_plan";
  CHECK(with(four, four) == "");
  CHECK(with(eight, eight) == "");
  CHECK(with(four, wide) == "iso::sparse::spmv: a plan of 3 column chunks for a matrix of 2" + use);
  CHECK(
      with(four, eight) ==
      "iso::sparse::spmv: a plan of 10 entries in 5 rows, 8 a block, for a matrix of 10 in 5, 4 a "
      "block" +
          use);
  CHECK(
      with(a, four) ==
      "iso::sparse::spmv: a plan of 10 entries in 5 rows, 4 a block, for a matrix of 10 in 5, 1 a "
      "block" +
          use);
}

TEST_CASE("spmv refuses plans, scratch and options") {
  call c;
  c.plan = {};
  CHECK(c() ==
        "iso::sparse::spmv: a plan of 0 entries in 0 rows, 1 a block, for a matrix of 3 in 3, 1 a "
        "block (it belongs to another, or another format); make one by iso::sparse::make_plan");
  c = {};
  c.plan = iso::sparse::make_plan(
      c.exec, csr<iso::half, std::int32_t>(c.exec, lists{4, {{{0, 1}}, {}, {{1, 1}}}}));
  CHECK(c() ==
        "iso::sparse::spmv: a plan of 2 entries in 3 rows, 1 a block, for a matrix of 3 in 3, 1 a "
        "block (it belongs to another, or another format); make one by iso::sparse::make_plan");
  c = {};
  c.scratch = {};
  CHECK(c() ==
        "iso::sparse::spmv: scratch of 0 bytes (768 are needed); reserve what "
        "iso::sparse::spmv_bytes_needed returns");
  c = {};
  c.options.sum = summation(3);
  CHECK(c() ==
        "iso::sparse::spmv: sum 3 (is none of the enumeration); choose one of iso::summation");
  c = {};
  c.options.shape.groups_per_launch = -1;
  CHECK(c() ==
        "iso::sparse::spmv: groups_per_launch -1 (must not be negative); leave it at 0 for one "
        "launch");
  CHECK(refusal([] {
          Kokkos::Serial const exec;
          product<float>(exec, csr<float, std::int32_t>(exec, lists{2, {{{0, 1}}}}), {1, 1},
                         {.sum = summation::reproducible});
        }) ==
        "iso::sparse::spmv: reproducible sums of floats (their 24 bits leave too few); use vectors "
        "of double");
}

TEST_CASE("spmv refuses arrays whose lengths disagree") {
  call c;
  c.a.row_offsets = decltype(c.a.row_offsets)("offsets", 3);
  CHECK(c() ==
        "iso::sparse::spmv: 3 row offsets (4 are needed, one more than rows); give one more than "
        "there are rows");
  c = {};
  c.a.columns = decltype(c.a.columns)("columns", 2);
  CHECK(c() ==
        "iso::sparse::spmv: 2 columns and 3 values (each entry has one of each); give as many "
        "columns as values");
  c = {};
  c.a.row_bases = decltype(c.a.row_bases)("bases", 3);
  CHECK(c() ==
        "iso::sparse::spmv: 3 row bases (0 are needed: one a row where columns have 16 bits, else "
        "none); give as many");
  c = {};
  c.a.row_scales = Kokkos::View<double*, Kokkos::LayoutRight, host>("scales", 2);
  CHECK(c() ==
        "iso::sparse::spmv: 2 row scales (3 are needed, or none); give one for each row, or none");
  c = {};
  c.a.columns = decltype(c.a.columns)(nullptr, 3);
  CHECK(c() ==
        "iso::sparse::spmv: an array that has a length and no memory (it is null); allocate it");
  c = {};
  c.a.num_cols = -1;
  CHECK(c() ==
        "iso::sparse::spmv: matrix with an extent of -1 (none may be negative); give 0 or more");
  c = {};
  c.a.num_cols = std::int64_t(1) << 31;
  CHECK(c() ==
        "iso::sparse::spmv: matrix with an extent of 2147483648 (at most 2147483647); split the "
        "matrix");
}

TEST_CASE("make_plan, max_abs and make_csr refuse") {
  Kokkos::Serial const exec;
  call const c;
  CHECK(refusal([&] { iso::sparse::make_plan(exec, c.a, iso::sparse::bounds<host>{}); }) ==
        "iso::sparse::make_plan: bounds of 0 and 0 rows for a matrix of 3 (each row has one "
        "bound); take bounds of this matrix");
  CHECK(refusal(
            [&] { iso::sparse::max_abs(exec, c.x, Kokkos::View<double*, host>("largest", 2)); }) ==
        "iso::sparse::max_abs: 2 numbers for 1 vectors (each vector has one largest magnitude); "
        "give one number for each vector");
  CHECK(
      refusal([&] { iso::sparse::make_csr<iso::half, std::int32_t>(exec, "a", -1, 2, 3); }) ==
      "iso::sparse::make_csr: matrix with an extent of -1 (none may be negative); give 0 or more");
  auto const made = iso::sparse::make_csr<iso::half, std::uint16_t>(exec, "a", 2, 3, 4);
  CHECK(made.row_offsets.extent(0) == 3);
  CHECK(made.row_offsets(2) == 0);
  CHECK(made.columns.extent(0) == 4);
  CHECK(made.row_bases.extent(0) == 2);
  csr_view<iso::half const, std::uint16_t, host> const read_only = made;
  CHECK(read_only.values.data() == made.values.data());
}
