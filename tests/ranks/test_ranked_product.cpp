// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices whose rows, or columns, lie on ranks with different backends: the bits of
// the whole matrix' product, for any division.
#include "kokkos_events.hpp"
#include "ranks_support.hpp"
#include "sparse_support.hpp"

#include <iso/sparse/ranked_product.hpp>

#include <algorithm>
#include <set>

namespace {

using namespace sparse_support;
using iso::backend::communicator;
using iso::sparse::divide_rows;
using iso::sparse::rank_plan;
using iso::sparse::ranked_column_product;
using iso::sparse::ranked_product;
using iso::sparse::row_range;
using iso::test::refusal;
using ranks_support::all_ranks;
using ranks_support::with_backend_of_rank;

std::vector<std::int64_t> offsets_of(lists const& m) {
  std::vector<std::int64_t> offsets{0};
  for (auto const& row : m.rows) {
    offsets.push_back(offsets.back() + std::int64_t(row.size()));
  }
  return offsets;
}

lists transposed(lists const& m) {
  lists t{m.num_rows(), std::vector<std::vector<item>>(std::size_t(m.cols))};
  for (std::int64_t r = 0; r < m.num_rows(); ++r) {
    for (item const& e : m.rows[std::size_t(r)]) {
      t.rows[std::size_t(e.column)].push_back({std::int32_t(r), e.value});
    }
  }
  return t;
}

lists rows_of(lists const& m, row_range const& r) {
  return {m.cols, {m.rows.begin() + r.first, m.rows.begin() + r.last}};
}

template <class T>
std::vector<T> part_of(std::vector<T> const& whole, row_range const& r, std::int64_t vectors) {
  return {whole.begin() + r.first * vectors, whole.begin() + r.last * vectors};
}

/// A plan by entries, with speeds where they are given.
rank_plan plan_of(lists const& m, std::vector<double> const& speeds = {}) {
  int const ranks = all_ranks().size();
  return {divide_rows(offsets_of(m), ranks, speeds),
          divide_rows(offsets_of(transposed(m)), ranks, speeds)};
}

/// All work on one rank.
std::vector<double> speed_of_one(int rank) {
  std::vector<double> speeds(std::size_t(all_ranks().size()), 0.0);
  speeds[std::size_t(rank)] = 1;
  return speeds;
}
std::vector<double> unequal_speeds() {
  std::vector<double> speeds;
  for (int rank = 0; rank < all_ranks().size(); ++rank) {
    speeds.push_back(rank * rank + 0.5);
  }
  return speeds;
}

/// f(a matrix in memory of `exec`) by CSR.
template <class Value, class Column>
struct in_csr {
  template <class Exec>
  auto operator()(Exec const& exec, lists const& m) const {
    return csr<Value, Column>(exec, m);
  }
};
template <class Value, int R>
struct in_blocks {
  template <class Exec>
  auto operator()(Exec const& exec, lists const& m) const {
    return iso::sparse::make_row_blocks<R>(exec, csr<Value, std::int32_t>(exec, m));
  }
};

/// Calls f(x, y) with both as one vector, or as several.
template <class T, class Space, class F>
void with_views(Kokkos::View<T*, Kokkos::LayoutRight, Space> const& x,
                Kokkos::View<T*, Kokkos::LayoutRight, Space> const& y, std::int64_t vectors,
                F const& f) {
  using several = Kokkos::View<T**, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;
  auto const k = std::size_t(vectors);
  if (vectors == 1) {
    f(x, y);
  } else {
    f(several(x.data(), x.size() / k, k), several(y.data(), y.size() / k, k));
  }
}

/// This rank's part of the product is that of the whole's, which one core computes.
template <class T, class Format>
void check_rows(Format const& format, lists const& m, rank_plan const& plan, how const& h,
                int turn) {
  auto const x = some_vector<T>(m.cols, h.vectors);
  auto const y = some_vector<T>(m.num_rows(), h.vectors, 8);
  Kokkos::Serial const serial;
  auto const expected = product(serial, format(serial, m), x, y, h);
  int const rank = all_ranks().rank();
  with_backend_of_rank(turn, [&](auto const& exec) {
    auto const part = format(exec, rows_of(m, plan.rows(rank)));
    ranked_product<std::decay_t<decltype(exec)>, std::decay_t<decltype(part)>, T> multiply(
        exec, all_ranks(), plan, part, h.vectors);
    auto const in = on(exec, part_of(x, plan.columns(rank), h.vectors));
    auto const out = on(exec, part_of(y, plan.rows(rank), h.vectors));
    with_views(in, out, h.vectors, [&](auto const& a, auto const& b) {
      multiply.apply(h.alpha, a, h.beta, b, {.sum = h.sum});
      CHECK(multiply.report().bytes_sent ==
            (all_ranks().size() - 1) * std::int64_t(in.size() * sizeof(T)));
    });
    exec.fence();
    CHECK(difference(part_of(expected, plan.rows(rank), h.vectors), to_vector(out)) == "");
  });
}

template <class Format>
void check_columns(Format const& format, lists const& m, rank_plan const& plan, how const& h,
                   int turn, std::vector<double> const& x) {
  auto const y = some_vector(m.num_rows(), h.vectors, 8);
  Kokkos::Serial const serial;
  auto form = h;
  form.sum = summation::reproducible;
  auto const expected = product(serial, format(serial, m), x, y, form);
  int const rank = all_ranks().rank();
  row_range const& own = plan.columns(rank);
  with_backend_of_rank(turn, [&](auto const& exec) {
    auto const part = format(exec, columns_of(m, std::int32_t(own.first), std::int32_t(own.last)));
    ranked_column_product multiply(exec, all_ranks(), plan, part, h.vectors);
    auto const in = on(exec, part_of(x, own, h.vectors));
    auto const out = on(exec, part_of(y, plan.rows(rank), h.vectors));
    with_views(in, out, h.vectors,
               [&](auto const& a, auto const& b) { multiply.apply(h.alpha, a, h.beta, b); });
    exec.fence();
    CHECK(difference(part_of(expected, plan.rows(rank), h.vectors), to_vector(out)) == "");
  });
}

/// Calls f(T, format) with each format, type of values and type of vectors.
template <class F>
void with_formats(F const& f) {
  f(double(), in_csr<iso::half, std::int32_t>());
  f(double(), in_csr<iso::half, std::uint16_t>());
  f(double(), in_blocks<iso::half, 4>());
  f(double(), in_blocks<iso::half, 8>());
  f(double(), in_blocks<bfloat16, 4>());
  f(double(), in_csr<float, std::int32_t>());
  f(double(), in_csr<double, std::uint16_t>());
  f(float(), in_csr<float, std::int32_t>());
  f(float(), in_csr<float, std::uint16_t>());
}

/// Counts the ranks whose sentence begins so.
std::int64_t ranks_that_say(std::string const& begin, std::string const& said) {
  auto word = std::uint64_t(said.rfind(begin, 0) == 0 ? 1 : 0);
  all_ranks().sum(std::span<std::uint64_t>(&word, 1));
  return std::int64_t(word);
}

}  // namespace

TEST_CASE("ranked products: rows are divided by entries, at multiples of eight") {
  std::vector<std::int64_t> offsets{0};
  for (int row = 0; row < 100; ++row) {
    offsets.push_back(offsets.back() + (row < 40 ? 99 : 0));
  }
  // 4060 in all, and a third is 13.5 rows of the first 40.
  CHECK(divide_rows(offsets, 3) == std::vector<row_range>{{0, 16}, {16, 24}, {24, 100}});
  CHECK(divide_rows(offsets, 2, {3, 1}) == std::vector<row_range>{{0, 32}, {32, 100}});
  CHECK(divide_rows(offsets, 2, {0, 1}) == std::vector<row_range>{{0, 0}, {0, 100}});
  CHECK(divide_rows(20, 5) == std::vector<row_range>{{0, 8}, {8, 8}, {8, 16}, {16, 16}, {16, 20}});
  CHECK(divide_rows(0, 2) == std::vector<row_range>{{0, 0}, {0, 0}});
  rank_plan const plan({{0, 8}, {8, 8}}, {{0, 3}, {3, 3}});
  CHECK(plan.idle() == 1);
  CHECK(plan.num_rows() == 8);
  CHECK(plan.transposed().columns(0) == row_range{0, 8});
  CHECK(refusal([] { divide_rows(std::vector<std::int64_t>{}, 2); }) ==
        "iso::sparse::divide_rows: no row offsets (there is one more than rows); give those of the "
        "whole matrix");
  CHECK(refusal([] { divide_rows(std::vector<std::int64_t>{0, 2, 1}, 2); }) ==
        "iso::sparse::divide_rows: row offset 2 below the one before (rows have no negative "
        "lengths); check the matrix by iso::sparse::validate");
  CHECK(refusal([] { divide_rows(-1, 2); }) != "");
  CHECK(refusal([] { divide_rows(9, 0); }) != "");
  CHECK(refusal([] { divide_rows(9, 2, {1}); }) != "");
  CHECK(refusal([] { divide_rows(9, 1, {-1}); }) != "");
  CHECK(refusal([] { divide_rows(9, 1, {0}); }) != "");
  CHECK(refusal([] { rank_plan({{0, 8}, {9, 10}}, {{0, 3}, {3, 3}}); }) ==
        "iso::sparse::rank_plan: rows 9 to 10 of rank 1 (they must begin at 8, where those of the "
        "rank before end); take the ranges from iso::sparse::divide_rows");
  CHECK(refusal([] { rank_plan({{0, 8}}, {{0, 3}, {3, 3}}); }) != "");
  CHECK(refusal([&] { static_cast<void>(plan.rows(2)); }) != "");
}

TEST_CASE("ranked products: by rows and by rows of the transpose, every format, either sum") {
  auto const m = synthetic(150, 400, 11, 0.3);
  auto const t = transposed(m);
  auto const plan = plan_of(m);
  int turn = 0;
  with_formats([&]<class T>(T, auto const& format) {
    INFO(turn);
    for (std::int64_t const vectors : {1, 3, 4, 6}) {
      how const h{.alpha = -0.75, .beta = 1.25, .vectors = vectors};
      check_rows<T>(format, m, plan, h, turn);
      check_rows<T>(format, t, plan.transposed(), h, turn);
    }
    if constexpr (std::is_same_v<T, double>) {
      check_rows<T>(format, m, plan, {.sum = summation::ordered}, turn);
      check_rows<T>(format, m, plan, {.sum = summation::reproducible, .vectors = 2}, turn);
    }
    ++turn;
  });
}

TEST_CASE("ranked products: uneven plans, idle ranks, rows without entries, long rows") {
  in_csr<float, std::int32_t> const format;
  auto m = synthetic(77, 500, 12, 0.6);
  m.rows[60].clear();
  for (std::int32_t c = 0; c < 5000; ++c) {
    m.rows[60].push_back({c, 1.0 / (c + 3)});
  }
  m.cols = 5000;
  int const ranks = all_ranks().size();
  auto const check = [&](lists const& a, rank_plan const& plan) {
    check_rows<double>(format, a, plan, {}, 0);
    check_rows<float>(format, transposed(a), plan.transposed(), {.vectors = 2}, 1);
    check_columns(format, a, plan, {.beta = 0.5}, 0, some_vector(a.cols));
  };
  check(m, plan_of(m, unequal_speeds()));
  check(m, plan_of(m, speed_of_one(ranks - 1)));
  check(m, rank_plan(divide_rows(m.num_rows(), ranks, speed_of_one(0)),
                     divide_rows(m.cols, ranks, speed_of_one(ranks - 1))));
  lists const few{9, {{{8, 2.0}}, {}, {{0, -1.0}}}};
  check(few, plan_of(few));
  lists const empty{16, std::vector<std::vector<item>>(20)};
  check(empty, plan_of(empty));
  lists const nothing{0, {}};
  check(nothing, plan_of(nothing));
}

TEST_CASE("ranked products: by columns, each rank in a format of its own") {
  auto m = synthetic(90, 400, 13, 0.3);
  m.rows[5] = {{3, 1.0}, {390, infinity}};
  m.rows[6] = {{3, infinity}, {390, -infinity}};
  auto const plan = plan_of(m);
  auto x = some_vector(m.cols, 3);
  int turn = 0;
  auto const check = [&](auto const& format) {
    check_columns(format, m, plan, {}, turn, some_vector(m.cols));
    check_columns(format, m, plan, {.alpha = -0.75, .beta = 1.25, .vectors = 3}, turn, x);
    check_columns(format, m, plan, {.alpha = 0, .beta = -2, .vectors = 3}, turn, x);
    ++turn;
  };
  check(in_csr<iso::half, std::int32_t>());
  check(in_blocks<iso::half, 8>());
  check(in_csr<double, std::uint16_t>());
  // What is not finite reaches the rows that have an entry there, and no other.
  x[3 * 17] = nan_value;
  x[3 * 399 + 1] = infinity;
  check(in_csr<float, std::int32_t>());
  check(in_blocks<bfloat16, 4>());
}

TEST_CASE("ranked products: what is not finite, by rows") {
  auto m = synthetic(90, 400, 14, 0.3);
  m.rows[5] = {{3, 1.0}, {390, infinity}};
  auto const format = in_csr<iso::half, std::int32_t>();
  auto const plan = plan_of(m);
  auto x = some_vector(m.cols);
  x[0] = nan_value;
  x[399] = -infinity;
  Kokkos::Serial const serial;
  int const rank = all_ranks().rank();
  for (auto const sum : {summation::ordered, summation::reproducible}) {
    auto const expected = product(serial, format(serial, m), x, {.sum = sum});
    with_backend_of_rank(0, [&](auto const& exec) {
      auto const part = format(exec, rows_of(m, plan.rows(rank)));
      ranked_product multiply(exec, all_ranks(), plan, part);
      auto const in = on(exec, part_of(x, plan.columns(rank), 1));
      auto const out = on(exec, std::vector<double>(std::size_t(plan.rows(rank).count()), 7.0));
      multiply.apply(in, out, {.sum = sum});
      exec.fence();
      CHECK(difference(part_of(expected, plan.rows(rank), 1), to_vector(out)) == "");
    });
  }
}

TEST_CASE("ranked products: what a rank holds is its share") {
  auto const m = synthetic(400, 300, 15, 0.1);
  auto const plan = plan_of(m);
  int const rank = all_ranks().rank();
  Kokkos::Serial const exec;
  auto const part = csr<float, std::int32_t>(exec, rows_of(m, plan.rows(rank)));
  ranked_product multiply(exec, all_ranks(), plan, part, 2);
  auto const a_plan = iso::sparse::make_plan(exec, part);
  std::int64_t const scratch = iso::sparse::spmv_bytes_needed<double>(exec, part, a_plan, 2);
  CHECK(multiply.report().bytes_held ==
        8 * 2 * m.cols + scratch + iso::sparse::detail::bytes_of_plan(a_plan));
  CHECK(multiply.report().bytes_sent == 0);
  std::int64_t said = 0;
  auto const taken = iso::test::peak_bytes_of([&] {
    ranked_product one(exec, all_ranks(), plan, part, 2);
    said = one.report().bytes_held;
  });
  ranks_support::check_share(taken, said);
  ranked_column_product by_columns(
      exec, all_ranks(), plan.transposed(),
      csr<float, std::int32_t>(exec, transposed(rows_of(m, plan.rows(rank)))), 2);
  std::int64_t const own = plan.columns(rank).count();
  std::int64_t const words = 8 * 2 * (m.cols + (all_ranks().size() - 1) * own);
  CHECK(by_columns.report().bytes_held > words);
  auto const x = on(exec, some_vector(plan.rows(rank).count()));
  auto const y = on(exec, some_vector(own));
  by_columns.apply(x, y);
  CHECK(by_columns.report().bytes_sent == (all_ranks().size() > 1 ? 8 * (m.cols - own) : 0));
}

TEST_CASE("ranked products: what is refused, on every rank") {
  auto const m = synthetic(90, 100, 16, 0.1);
  auto const plan = plan_of(m);
  auto& ranks = all_ranks();
  int const rank = ranks.rank();
  std::int64_t const all = ranks.size();
  bool const last = rank + 1 == ranks.size();
  Kokkos::Serial const exec;
  auto const part = csr<iso::half, std::int32_t>(exec, rows_of(m, plan.rows(rank)));
  auto const by_columns = csr<iso::half, std::int32_t>(
      exec,
      columns_of(m, std::int32_t(plan.columns(rank).first), std::int32_t(plan.columns(rank).last)));
  std::string const made = "iso::sparse::ranked_product: ";
  auto const make = [&](rank_plan const& by, auto const& of, std::int64_t vectors = 1) {
    return refusal([&] { ranked_product const multiply(exec, ranks, by, of, vectors); });
  };

  rank_plan const of_more(divide_rows(m.num_rows(), int(all) + 1),
                          divide_rows(m.cols, int(all) + 1));
  CHECK(make(of_more, part) == made + "a plan for " + std::to_string(all + 1) +
                                   " ranks (there are " + std::to_string(all) +
                                   "); divide rows and columns among as many");
  CHECK(make(plan, part, 0) ==
        made + "0 vectors at once (there must be one at least); give their number");
  CHECK(ranks_that_say(made + "a matrix of ",
                       make(plan, csr<iso::half, std::int32_t>(exec, lists{7, m.rows}))) == all);
  // Wrong on one rank alone.
  auto const wrong = csr<iso::half, std::int32_t>(exec, lists{7, m.rows});
  auto const said = make(plan, last ? wrong : part);
  CHECK(ranks_that_say(made + "a matrix of 90 x 7", said) == 1);
  CHECK(ranks_that_say(made + "another rank stopped here", said) == all - 1);

  std::string const called = "iso::sparse::ranked_product::apply: ";
  ranked_product multiply(exec, ranks, plan, part, 2);
  auto const x = on(exec, some_vector(plan.columns(rank).count()));
  auto const y = on(exec, some_vector(plan.rows(rank).count()));
  auto const longer = on(exec, some_vector(plan.rows(rank).count() + 1));
  auto const too_long = refusal([&] { multiply.apply(x, last ? longer : y); });
  CHECK(ranks_that_say(called + "x of ", too_long) == 1);
  CHECK(ranks_that_say(called + "another rank stopped here", too_long) == all - 1);
  Kokkos::View<double**, Kokkos::LayoutRight, host> const x3("x", x.size(), 3);
  Kokkos::View<double**, Kokkos::LayoutRight, host> const y3("y", y.size(), 3);
  CHECK(refusal([&] { multiply.apply(x3, y3); }) ==
        called + "3 vectors (the product was made for 1 to 2); make it for as many");
  // What only spmv knows, on one rank alone: the last one's y lies in its matrix.
  Kokkos::View<double*, Kokkos::LayoutRight, host, Kokkos::MemoryUnmanaged> const within(
      last && part.num_entries() > 0 ? reinterpret_cast<double*>(part.row_offsets.data())
                                     : y.data(),
      y.size());
  CHECK(ranks_that_say("iso::sparse::", refusal([&] { multiply.apply(x, within); })) == all);
  // The same may go on.
  CHECK(refusal([&] { multiply.apply(x, y); }) == "");

  std::string const by_column = "iso::sparse::ranked_column_product: ";
  auto scaled = by_columns;
  scaled.row_scales = on(exec, std::vector<double>(m.rows.size(), 2.0));
  CHECK(ranks_that_say(by_column + "row scales", refusal([&] {
                         ranked_column_product const p(exec, ranks, plan, scaled);
                       })) == all);
  CHECK(ranks_that_say(by_column + "a matrix of ", refusal([&] {
                         ranked_column_product const p(exec, ranks, plan, wrong);
                       })) == all);

  if (all == 1) {
    return;
  }
  // Ranks that differ.
  CHECK(make(last ? plan_of(m, speed_of_one(0)) : plan, part) ==
        made +
            "ranks with different plans, types or numbers of vectors (a result of all needs "
            "one); give all ranks the same arguments");
  CHECK(make(plan, part, last ? 2 : 1) != "");
  auto const differ = called +
                      "ranks with different factors, numbers of vectors or sums (a result "
                      "of all needs one); give all ranks the same arguments";
  CHECK(refusal([&] { multiply.apply(last ? 2 : 1, x, 0, y); }) == differ);
  CHECK(refusal([&] { multiply.apply(1, x, last ? 2 : 1, y); }) == differ);
  CHECK(refusal([&] {
          multiply.apply(x, y, {.sum = last ? summation::ordered : summation::reproducible});
        }) == differ);
}

TEST_CASE("ranked products: row blocks beside rows, and rows cut within a block") {
  auto const m = synthetic(90, 100, 17, 0.1);
  auto& ranks = all_ranks();
  auto const plan = plan_of(m);
  int const rank = ranks.rank();
  Kokkos::Serial const exec;
  auto const x = some_vector(m.cols);
  auto const rows = csr<iso::half, std::int32_t>(exec, rows_of(m, plan.rows(rank)));
  auto const in = on(exec, part_of(x, plan.columns(rank), 1));
  auto const out = on(exec, std::vector<double>(std::size_t(plan.rows(rank).count())));
  auto const multiply = [&](auto const& part, summation sum) {
    ranked_product product(exec, ranks, plan, part);
    return refusal([&] { product.apply(in, out, {.sum = sum}); });
  };
  auto const with = [&](summation sum) {
    return rank == 0 ? multiply(iso::sparse::make_row_blocks<4>(exec, rows), sum)
                     : multiply(rows, sum);
  };
  CHECK(with(summation::reproducible) == "");
  CHECK(difference(
            part_of(product(exec, csr<iso::half, std::int32_t>(exec, m), x), plan.rows(rank), 1),
            to_vector(out)) == "");
  auto const said = with(summation::ordered);
  CHECK((said == "") == (ranks.size() == 1));
  if (ranks.size() > 1) {
    CHECK(said.find("ordered sums of ranks with row blocks of other sizes") != std::string::npos);
    std::vector<row_range> cut(std::size_t(ranks.size()), row_range{10, 10});
    cut.front() = {0, 10};
    cut.back() = {10, m.num_rows()};
    rank_plan const within(cut, divide_rows(m.cols, ranks.size()));
    auto const blocks = iso::sparse::make_row_blocks<4>(
        exec, csr<iso::half, std::int32_t>(exec, rows_of(m, within.rows(rank))));
    auto const refused =
        refusal([&] { ranked_product const product(exec, ranks, within, blocks); });
    CHECK(ranks_that_say("iso::sparse::ranked_product: rows from 10 on in blocks of 4", refused) ==
          1);
    CHECK(refused != "");
  }
}
