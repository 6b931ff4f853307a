// SPDX-License-Identifier: BSD-3-Clause
// Every adversarial paired array is a typed error with its sentence, before any product.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <iso/sparse/validate_grouped.hpp>

#include <algorithm>

namespace {

using namespace sparse_support;
using iso::sparse::csr_demands;
using iso::sparse::fault;
using iso::sparse::half_pair;
using iso::sparse::slot_base;

/// Ten rows, to be spoilt. Group 0: columns 2 and 40 shared; 1 and 5 of the upper half, 9 of the
/// lower one. Group 1: column 3 of its two rows, of the upper half.
struct paired_arrays {
  std::int64_t rows = 10;
  std::int64_t cols = 50;
  std::int64_t entries = 9;
  std::int64_t shared_rows = 10;
  std::int64_t shared_entries = 4;
  std::vector<std::int64_t> shared_offsets{0, 1, 1};
  std::vector<slot_base<std::uint16_t>> shared_bases{{2}};
  std::vector<std::uint16_t> shared_columns = std::vector<std::uint16_t>(32, 0);
  std::vector<iso::half> shared_values = std::vector<iso::half>(256, fill);
  std::vector<double> shared_scales = {};
  std::vector<std::int64_t> offsets{0, 1, 2};
  std::vector<half_pair<std::int32_t>> bases{{1, 9}, {3, 0}};
  std::vector<half_pair<std::uint16_t>> columns =
      std::vector<half_pair<std::uint16_t>>(64, half_pair<std::uint16_t>{0, 0});
  std::vector<iso::half> values = std::vector<iso::half>(512, fill);
  std::vector<double> scales = {};
  csr_demands::of_values demanded = csr_demands::of_values::any;

  paired_arrays() {
    shared_columns[1] = 38;
    shared_values[0] = shared_values[4] = iso::half(1.0);
    shared_values[8 + 1] = shared_values[8 + 7] = iso::half(2.0);
    columns[1].upper = 4;
    value(0, 0, 0) = iso::half(3.0);
    value(0, 1, 2) = iso::half(0.0);
    value(0, 0, 5) = iso::half(4.0);
    value(1, 0, 0) = value(1, 0, 1) = iso::half(5.0);
  }
  iso::half& value(int slot, int place, int row) {
    return values[std::size_t(8 * (32 * slot + place) + row)];
  }
};

template <class Exec>
auto matrix_on(Exec const& exec, paired_arrays const& m) {
  iso::sparse::paired_view<iso::half, typename Exec::memory_space> a;
  a.num_rows = m.rows;
  a.num_cols = m.cols;
  a.entries = m.entries;
  a.shared.num_rows = m.shared_rows;
  a.shared.num_cols = m.cols;
  a.shared.entries = m.shared_entries;
  a.shared.slot_offsets = on(exec, m.shared_offsets);
  a.shared.bases = on(exec, m.shared_bases);
  a.shared.offsets = on(exec, m.shared_columns);
  a.shared.values = on(exec, m.shared_values);
  if (!m.shared_scales.empty()) {
    a.shared.row_scales = on(exec, m.shared_scales);
  }
  a.slot_offsets = on(exec, m.offsets);
  a.bases = on(exec, m.bases);
  a.offsets = on(exec, m.columns);
  a.values = on(exec, m.values);
  if (!m.scales.empty()) {
    a.row_scales = on(exec, m.scales);
  }
  return a;
}

/// On every backend.
template <class F>
void check(fault expected, std::string const& words, F const& spoil) {
  paired_arrays m;
  spoil(m);
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    auto const report = iso::sparse::validate(exec, matrix_on(exec, m), m.demanded);
    CHECK(report.found == expected);
    CHECK(iso::sparse::sentence(report) == words);
  });
}

}  // namespace

TEST_CASE("validate, paired: sound ones, and what is counted") {
  check(fault::none, "", [](auto&) {});
  check(fault::none, "", [](auto& m) {
    m.value(0, 0, 0) = iso::half(infinity);
    m.scales = std::vector<double>(10, 0.5);
  });
  paired_arrays m;
  m.shared_values[0] = iso::half(nan_value);
  Kokkos::Serial const exec;
  CHECK(iso::sparse::validate(exec, matrix_on(exec, m)).not_finite == 1);
  m.value(0, 0, 0) = iso::half(infinity);
  auto const report = iso::sparse::validate(exec, matrix_on(exec, m));
  CHECK(report.entries == 9);
  CHECK(report.not_finite == 2);
  CHECK_FALSE(report.in_pairs);
}

TEST_CASE("validate, paired: lengths and what the parts say of each other") {
  check(fault::shared_disagrees,
        "9 rows, columns, entries or row scales of the shared part (the whole asks for 10)",
        [](auto& m) { m.shared_rows = 9; });
  check(fault::shared_disagrees,
        "10 rows, columns, entries or row scales of the shared part (the whole asks for 9)",
        [](auto& m) { m.shared_entries = 10; });
  check(fault::shared_disagrees,
        "10 rows, columns, entries or row scales of the shared part (the whole asks for 0)",
        [](auto& m) { m.shared_scales = std::vector<double>(10, 1.0); });
  check(fault::row_offsets_length, "pairs: 2 slot offsets (3 are needed, one more than groups)",
        [](auto& m) { m.offsets.pop_back(); });
  check(fault::lengths_disagree, "pairs: 511 offsets or values (512 are needed by the slots)",
        [](auto& m) { m.values.pop_back(); });
  check(fault::row_scales_length, "3 row scales (10 are needed, or none)",
        [](auto& m) { m.scales = {1, 1, 1}; });
  check(fault::row_scale, "the scale of row 4 is no power of two above zero; 1 are not",
        [](auto& m) {
          m.scales = std::vector<double>(10, 1.0);
          m.scales[4] = 3;
        });
  check(fault::entries_disagree, "the matrix says 8 entries (its values hold 9)",
        [](auto& m) { m.entries = 8; });
}

TEST_CASE("validate, paired: the shared part is looked at too") {
  check(fault::last_row_offset, "shared part: slot offsets end at 0 (there are 1 slots)",
        [](auto& m) { m.shared_offsets = {0, 0, 0}; });
  check(fault::entries_disagree, "shared part: the matrix says 3 entries (its values hold 4)",
        [](auto& m) { m.shared_entries = 3; });
  check(fault::column_beyond,
        "shared part: place 1 of slot 0 of group 0 lies in column 50 (there are 50); 1 "
        "groups have such",
        [](auto& m) { m.shared_columns[1] = 48; });
}

TEST_CASE("validate, paired: columns and places of pairs") {
  check(fault::falling_row_offset,
        "pairs: slot offset 2 is 0 (the one before it is 1, they must not fall); 1 are wrong",
        [](auto& m) { m.offsets[2] = 0; });
  check(fault::last_row_offset, "pairs: slot offsets end at 1 (there are 2 slots)",
        [](auto& m) { m.offsets[2] = 1; });
  check(fault::first_row_offset, "pairs: slot offsets start at 1 (must start at 0)",
        [](auto& m) { m.offsets[0] = 1; });
  check(fault::negative_row_offset,
        "pairs: slot offset 1 is -4000000000 (must not be negative); 1 are wrong",
        [](auto& m) { m.offsets[1] = -4000000000; });
  check(fault::row_offset_beyond,
        "pairs: slot offset 1 is 4000000000 (there are 2 slots); 2 are wrong",
        [](auto& m) { m.offsets[1] = 4000000000; });
  // Without rows there are no groups to look at, but an offset.
  auto const no_rows = [](auto& m) {
    m.rows = m.shared_rows = m.entries = m.shared_entries = 0;
    m.shared_offsets = {0};
    m.shared_bases.clear();
    m.shared_columns.clear();
    m.shared_values.clear();
    m.offsets = {0};
    m.bases.clear();
    m.columns.clear();
    m.values.clear();
  };
  check(fault::none, "", no_rows);
  check(fault::first_row_offset, "pairs: slot offsets start at 7 (must start at 0)", [&](auto& m) {
    no_rows(m);
    m.offsets = {7};
  });
  check(fault::column_beyond,
        "place 1 of the upper half of slot 0 of pairs of group 0 lies in column 101 (there are "
        "50); 1 groups have such",
        [](auto& m) { m.columns[1].upper = 100; });
  // Be it that of a place without entries.
  check(fault::column_beyond,
        "place 7 of the lower half of slot 0 of pairs of group 1 lies in column 70 (there are "
        "50); 1 groups have such",
        [](auto& m) { m.columns[32 + 7].lower = 70; });
  check(fault::column_negative,
        "place 0 of the lower half of slot 0 of pairs of group 0 lies in column -1 (must not be "
        "negative); 1 groups have such",
        [](auto& m) { m.bases[0].lower = -1; });
  check(fault::place_skipped,
        "place 2 of the lower half of slot 0 of pairs of group 0 is out of turn (a slot's columns "
        "lie in its first places, and it has at least one); 1 groups have such",
        [](auto& m) {
          m.columns[2].lower = 4;
          m.value(0, 2, 6) = iso::half(1.0);
          m.entries = 10;
        });
  check(fault::row_beyond,
        "place 0 of the upper half of slot 0 of pairs of group 1 has an entry in a row beyond the "
        "last; 1 groups have such",
        [](auto& m) {
          m.value(1, 0, 2) = iso::half(1.0);
          m.entries = 10;
        });
  check(fault::row_beyond,
        "place 0 of the lower half of slot 0 of pairs of group 1 has an entry in a row beyond the "
        "last; 1 groups have such",
        [](auto& m) {
          m.value(1, 0, 4) = iso::half(1.0);
          m.entries = 10;
        });
  check(fault::columns_descend,
        "place 1 of the upper half of slot 0 of pairs of group 0 lies in column 5, left of the one "
        "before it; 1 groups have such",
        [](auto& m) { m.bases[0].upper = 5, m.columns[0].upper = 1, m.columns[1].upper = 0; });
  check(fault::column_doubled,
        "place 1 of the upper half of slot 0 of pairs of group 0 lies in column 1 as the one "
        "before it does; 1 groups have such",
        [](auto& m) { m.columns[1].upper = 0; });
  check(fault::value_not_finite,
        "place 0 of the lower half of slot 0 of pairs of group 0 has a value that is not finite; 1 "
        "groups have such",
        [](auto& m) {
          m.value(0, 0, 5) = iso::half(nan_value);
          m.demanded = csr_demands::of_values::finite;
        });
}

TEST_CASE("validate, paired: a column both shared and in a half") {
  check(fault::column_in_both,
        "group 0 has column 40 among the shared ones and in its upper half; 1 halves have such",
        [](auto& m) { m.columns[1].upper = 39; });
  check(fault::column_in_both,
        "group 0 has column 2 among the shared ones and in its lower half; 1 halves have such",
        [](auto& m) { m.bases[0].lower = 2; });
  // Bases of slots need not ascend as columns do.
  check(fault::column_in_both,
        "group 0 has column 2 among the shared ones and in its lower half; 1 halves have such",
        [](auto& m) {
          m.shared_offsets = {0, 2, 2};
          m.shared_bases = {{2}, {0}};
          m.shared_columns.assign(64, 0);
          m.shared_columns[32] = 40;
          m.shared_values.resize(512, fill);
          std::swap_ranges(m.shared_values.begin() + 8, m.shared_values.begin() + 16,
                           m.shared_values.begin() + 256);
          m.bases[0].lower = 2;
        });
  // In long lists, each one in turn, and some of them on every backend; groups end anywhere.
  lists both{4000, std::vector<std::vector<item>>(40)};
  for (std::int32_t g = 0; g < 5; ++g) {
    for (std::int32_t c = 0; c < 4000 >> g; c += 2) {
      both.rows[std::size_t(8 * g)].push_back({c, 1});
      both.rows[std::size_t(8 * g + 7)].push_back({c, 1});
    }
    for (std::int32_t c = 1; c < 4000 >> g; c += 6) {
      both.rows[std::size_t(8 * g + 5)].push_back({c, 1});
    }
  }
  auto const check_each = [&](auto const& exec, std::int64_t step) {
    auto const sound = iso::sparse::make_paired(exec, csr<iso::half, std::int32_t>(exec, both));
    CHECK(iso::sparse::validate(exec, sound).sound());
    auto const slots = to_vector(sound.slot_offsets);
    auto const offsets = to_vector(sound.offsets);
    auto const bases = to_vector(sound.bases);
    for (std::int64_t g = 0; g < 5; ++g) {
      std::int64_t const number = ((4000 >> g) + 4) / 6;
      for (std::int64_t n = 0; n < number; n += step) {
        std::int64_t const place = 32 * slots[std::size_t(g)] + n;
        auto spoilt = sound;
        auto columns = offsets;
        auto& lower = columns[std::size_t(place)].lower;
        lower = std::uint16_t(lower + 1);  // an even column: a shared one
        spoilt.offsets = on(exec, columns);
        std::int64_t const column = bases[std::size_t(place / 32)].lower + lower;
        auto const report = iso::sparse::validate(exec, spoilt);
        REQUIRE((report.found == fault::column_in_both) == (column < 4000 >> g));
        REQUIRE((column >= 4000 >> g || (report.value == column && report.group == g)));
      }
    }
  };
  check_each(Kokkos::Serial(), 1);
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    check_each(typename decltype(tag)::execution_space(), 37);
  });
}

TEST_CASE("validate, paired: slots without columns of a half") {
  /// Three slots of group 0, the upper half's columns in the first and the last.
  auto const with_gap = [](auto& m) {
    m.offsets = {0, 3, 3};
    m.bases = {{1, 9}, {0, 12}, {8, 17}};
    m.columns.assign(96, half_pair<std::uint16_t>{0, 0});
    m.values.assign(768, fill);
    m.value(0, 0, 1) = m.value(2, 0, 2) = iso::half(1.0);
    for (int slot = 0; slot < 3; ++slot) {
      m.value(slot, 0, 6) = iso::half(2.0);
    }
  };
  check(fault::none, "", with_gap);
  check(fault::columns_descend,
        "place 0 of the upper half of slot 2 of pairs of group 0 lies in column 0, left of the one "
        "before it; 1 groups have such",
        [&](auto& m) { with_gap(m), m.bases[2].upper = 0; });
  check(fault::column_doubled,
        "place 0 of the upper half of slot 2 of pairs of group 0 lies in column 1 as the one "
        "before it does; 1 groups have such",
        [&](auto& m) { with_gap(m), m.bases[2].upper = 1; });
  check(fault::columns_descend,
        "place 0 of the lower half of slot 1 of pairs of group 0 lies in column 7, left of the one "
        "before it; 1 groups have such",
        [&](auto& m) { with_gap(m), m.bases[1].lower = 7; });
  check(fault::column_in_both,
        "group 0 has column 40 among the shared ones and in its upper half; 1 halves have such",
        [&](auto& m) { with_gap(m), m.bases[2].upper = 40; });
}

TEST_CASE("validate, paired: where slots of a list meet") {
  Kokkos::Serial const exec;
  lists wide{9000, std::vector<std::vector<item>>(24)};
  for (std::int32_t g = 0; g < 3; ++g) {
    for (std::int32_t c = g; c < 9000 - 1000 * g; c += 3) {
      wide.rows[std::size_t(8 * g + 2 + 3 * (c % 2))].push_back({c, 1});
    }
  }
  auto const sound = iso::sparse::make_paired(exec, csr<iso::half, std::int32_t>(exec, wide));
  CHECK(iso::sparse::validate(exec, sound).sound());
  auto const slots = to_vector(sound.slot_offsets);
  auto const bases = to_vector(sound.bases);
  REQUIRE(slots[3] > 96);
  for (std::int64_t g = 0; g < 3; ++g) {
    for (std::int64_t slot = slots[std::size_t(g)] + 1; slot < slots[std::size_t(g) + 1]; ++slot) {
      for (std::int64_t const half : {0, 1}) {
        auto moved = bases;
        auto& first = half == 0 ? moved[std::size_t(slot)].upper : moved[std::size_t(slot)].lower;
        first -= 9;  // by less than the six columns to the one before it, all is well
        auto spoilt = sound;
        spoilt.bases = on(exec, moved);
        auto const report = iso::sparse::validate(exec, spoilt);
        REQUIRE(report.found == fault::columns_descend);
        REQUIRE(report.group == g);
        REQUIRE(report.half == half);
        REQUIRE(report.slot == slot - slots[std::size_t(g)]);
        first += 4;
        spoilt.bases = on(exec, moved);
        REQUIRE(iso::sparse::validate(exec, spoilt).sound());
      }
    }
  }
}
