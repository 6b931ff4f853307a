// SPDX-License-Identifier: BSD-3-Clause
// What a matrix costs in each format, and the format that is chosen.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <cmath>

namespace {

using namespace sparse_support;
using iso::sparse::format_report;
using iso::sparse::matrix_format;
using iso::sparse::processor;

/// 64 rows of 128 entries, entry c of row r in column column(r, c).
template <class Column>
lists even_rows(std::int64_t cols, Column const& column) {
  lists m{cols, std::vector<std::vector<item>>(64)};
  for (std::int32_t r = 0; r < 64; ++r) {
    for (std::int32_t c = 0; c < 128; ++c) {
      m.rows[std::size_t(r)].push_back({column(r, c), 1});
    }
  }
  return m;
}

}  // namespace

TEST_CASE("formats: what a matrix costs") {
  Kokkos::Serial const exec;
  auto const dense = even_rows(128, [](std::int32_t, std::int32_t c) { return c; });
  auto const a = csr<iso::half, std::int32_t>(exec, dense);
  auto const blocks = iso::sparse::measure_format(exec, a, matrix_format::row_block4);
  CHECK(blocks.rows() == 4);
  CHECK(blocks.chunks == 64 / 4 * 4);
  CHECK(blocks.fill == 1);
  CHECK(blocks.reads_per_entry == 0.25);
  CHECK(blocks.columns_per_chunk == 32);
  CHECK(blocks.bytes_per_entry ==
        doctest::Approx((32 * (4 * 2 + 2) + 4) / 128.0 + 8.0 * 17 / (64 * 128)));
  auto const narrow = iso::sparse::measure_format(exec, a, matrix_format::csr16);
  CHECK(narrow.rows() == 1);
  CHECK(narrow.bytes_per_entry == doctest::Approx(4 + (65 * 8 + 64 * 4) / (64 * 128.0)));
  CHECK(narrow.reads_per_entry == 1);
  CHECK_THROWS_WITH_AS(iso::sparse::measure_format(exec, csr<float, std::int32_t>(exec, dense),
                                                   matrix_format::row_block8),
                       "iso::sparse::measure_format: row_block8 of values of 4 bytes (row blocks "
                       "are for values of 16 bits); convert the values to half",
                       iso::invalid_argument);
}

TEST_CASE("formats: rows that share their columns become row blocks") {
  Kokkos::Serial const exec;
  auto const dense = even_rows(128, [](std::int32_t, std::int32_t c) { return c; });
  // Columns far apart, though all rows have them: a host without AVX-512 waits for x.
  auto const apart = even_rows(128 * 300, [](std::int32_t, std::int32_t c) { return 300 * c; });
  for (auto const kind : {processor::host, processor::avx512_host, processor::device}) {
    auto const chosen = [&](lists const& m) {
      return iso::sparse::choose_format(exec, csr<iso::half, std::int32_t>(exec, m), kind).format;
    };
    CHECK(chosen(dense) == matrix_format::row_block8);
    CHECK(chosen(apart) ==
          (kind == processor::host ? matrix_format::csr32 : matrix_format::row_block8));
    CHECK(iso::sparse::choose_format(exec, csr<float, std::int32_t>(exec, dense), kind).format ==
          matrix_format::csr32);
  }
}

TEST_CASE("formats: rows that share nothing keep CSR, of 16-bit columns where these reach") {
  Kokkos::Serial const exec;
  for (auto const kind : {processor::host, processor::avx512_host, processor::device}) {
    auto m = even_rows(60000, [](std::int32_t r, std::int32_t c) { return 450 * c + r; });
    auto const check = [&](matrix_format expected) {
      CHECK(iso::sparse::choose_format(exec, csr<iso::half, std::int32_t>(exec, m), kind).format ==
            expected);
    };
    auto const narrow = kind == processor::host ? matrix_format::csr32 : matrix_format::csr16;
    check(narrow);
    CHECK(iso::sparse::choose_format(exec, csr<iso::half, std::uint16_t>(exec, m), kind).format ==
          narrow);
    m.cols = 1 << 20;  // more columns than 16 bits reach, rows that they do
    check(narrow);
    m.rows[40].push_back({65535 + 40, 1});
    check(narrow);
    m.rows[40].back().column += 1;
    check(matrix_format::csr32);
    CHECK(iso::sparse::choose_format(exec, csr<iso::half, std::int32_t>(exec, lists{4, {{}, {}}}),
                                     kind)
              .format == matrix_format::csr32);
  }
}

TEST_CASE("formats: row blocks that beat csr32 by a tenth are taken before csr16") {
  Kokkos::Serial const exec;
  // 192 columns of all rows, and 320 that two neighbours share.
  lists m{192 + 4 * 320, std::vector<std::vector<item>>(64)};
  for (std::int32_t r = 0; r < 64; ++r) {
    for (std::int32_t c = 0; c < 512; ++c) {
      m.rows[std::size_t(r)].push_back({c < 192 ? c : c + r / 2 % 4 * 320, 1});
    }
  }
  auto const a = csr<iso::half, std::int32_t>(exec, m);
  auto const blocks = iso::sparse::measure_format(exec, a, matrix_format::row_block4);
  double const cost = iso::sparse::product_cost(blocks, processor::avx512_host);
  CHECK(cost > 0.95 * 0.9 * 1.6);
  CHECK(cost < 0.9 * 1.6);
  CHECK(iso::sparse::choose_format(exec, a, processor::avx512_host).format ==
        matrix_format::row_block4);
}

TEST_CASE("formats: what a product costs on each kind of processor") {
  using iso::sparse::product_cost;
  auto const both = [](double bytes, double reads) {
    return std::pow(std::pow(bytes, 4) + std::pow(6.3 * reads, 4), 0.25);
  };
  format_report const plain{.bytes_per_entry = 6};
  CHECK(product_cost(plain, processor::device) == doctest::Approx(both(6, 1)));
  CHECK(product_cost(plain, processor::host) == doctest::Approx(2.95));
  CHECK(product_cost(plain, processor::avx512_host) == doctest::Approx(1.6));
  format_report const narrow{.format = matrix_format::csr16, .bytes_per_entry = 4};
  CHECK(product_cost(narrow, processor::device) == doctest::Approx(both(4, 1)));
  CHECK(product_cost(narrow, processor::host) == doctest::Approx(1.3 * 2.95));
  CHECK(product_cost(narrow, processor::avx512_host) == doctest::Approx(1.6));
  // Two thirds of the stored values of four rows are entries.
  format_report const blocks{.format = matrix_format::row_block4,
                             .bytes_per_entry = 4,
                             .fill = 2 / 3.0,
                             .reads_per_entry = 3 / 8.0};
  CHECK(product_cost(blocks, processor::device) == doctest::Approx(both(4, 0.375)));
  CHECK(product_cost(blocks, processor::host) == doctest::Approx((1.95 + 0.25) * 1.5));
  CHECK(product_cost(blocks, processor::avx512_host) == doctest::Approx((0.6 + 0.25) * 1.5));
}

TEST_CASE("formats: formats and processors outside their enumeration are refused") {
  using iso::sparse::product_cost;
  using iso::test::refusal;
  Kokkos::Serial const exec;
  auto const a = csr<iso::half, std::int32_t>(exec, lists{4, {{{0, 1}, {3, 2}}, {{1, 1}}}});
  auto const said = [](char const* function, char const* what, char const* enumeration) {
    return std::string("iso::sparse::") + function + ": " + what +
           " (is none of the enumeration); choose one of iso::sparse::" + enumeration;
  };
  for (int const wrong : {-1, 4, 7}) {
    auto const format = matrix_format(wrong);
    auto const what = "format " + std::to_string(wrong);
    CHECK(refusal([&] { iso::sparse::measure_format(exec, a, format); }) ==
          said("measure_format", what.c_str(), "matrix_format"));
    CHECK(refusal([&] { product_cost({.format = format}, processor::host); }) ==
          said("product_cost", what.c_str(), "matrix_format"));
    CHECK(refusal([&] { static_cast<void>(iso::sparse::to_string(format)); }) ==
          said("to_string", what.c_str(), "matrix_format"));
  }
  for (int const wrong : {-1, 3, 9}) {
    auto const kind = processor(wrong);
    auto const what = "kind " + std::to_string(wrong);
    CHECK(refusal([&] { iso::sparse::choose_format(exec, a, kind); }) ==
          said("choose_format", what.c_str(), "processor"));
    CHECK(refusal([&] { product_cost({}, kind); }) ==
          said("product_cost", what.c_str(), "processor"));
  }
}
