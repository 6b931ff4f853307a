// SPDX-License-Identifier: BSD-3-Clause
// Every adversarial grouped array is a typed error with its sentence, before any product.
#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <iso/sparse/validate_grouped.hpp>

namespace {

using namespace sparse_support;
using iso::sparse::csr_demands;
using iso::sparse::fault;
using iso::sparse::grouped_report;
using iso::sparse::grouped_view;
using iso::sparse::slot_base;

/// Three rows in groups of two, written down by hand, to be spoilt: columns 1, 4 and 300 of group
/// 0 (two slots), columns 0 and 7 of group 1 (one slot), of whose rows the second does not exist.
template <class Offset>
struct grouped_arrays {
  std::int64_t rows = 3;
  std::int64_t cols = 400;
  std::int64_t entries = 6;
  std::vector<std::int64_t> slot_offsets{0, 2, 3};
  std::vector<slot_base<Offset>> bases{base(1), base(300), base(0)};
  std::vector<Offset> offsets = std::vector<Offset>(96, Offset(0));
  std::vector<iso::half> values = std::vector<iso::half>(192, fill);
  std::vector<double> scales = {};
  csr_demands::of_values demanded = csr_demands::of_values::any;

  grouped_arrays() {
    offset(0, 1) = 3;
    offset(2, 1) = 7;
    value(0, 0, 0) = iso::half(1.0);
    value(0, 0, 1) = iso::half(2.0);
    value(0, 1, 1) = iso::half(0.0);
    value(1, 0, 0) = iso::half(3.0);
    value(2, 0, 0) = iso::half(4.0);
    value(2, 1, 0) = iso::half(5.0);
  }

  static slot_base<Offset> base(std::int32_t first, std::uint32_t jump = 0) {
    slot_base<Offset> b{};
    b.first = first;
    if constexpr (sizeof(Offset) == 1) {
      b.jump = jump;
    }
    return b;
  }
  Offset& offset(int slot, int place) { return offsets[std::size_t(32 * slot + place)]; }
  iso::half& value(int slot, int place, int row) {
    return values[std::size_t(2 * (32 * slot + place) + row)];
  }
};

template <class Offset, class Exec>
grouped_report report_on(Exec const& exec, grouped_arrays<Offset> const& m) {
  grouped_view<iso::half, Offset, 2, typename Exec::memory_space> a;
  a.num_rows = m.rows;
  a.num_cols = m.cols;
  a.entries = m.entries;
  a.slot_offsets = on(exec, m.slot_offsets);
  a.bases = on(exec, m.bases);
  a.offsets = on(exec, m.offsets);
  a.values = on(exec, m.values);
  if (!m.scales.empty()) {
    a.row_scales = on(exec, m.scales);
  }
  return iso::sparse::validate(exec, a, m.demanded);
}

/// On every backend; `Offset` may be either.
template <class Offset, class F>
void check(fault expected, std::string const& words, F const& spoil) {
  grouped_arrays<Offset> m;
  spoil(m);
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    auto const report = report_on(typename decltype(tag)::execution_space(), m);
    CHECK(report.found == expected);
    CHECK(iso::sparse::sentence(report) == words);
  });
}

}  // namespace

TEST_CASE_TEMPLATE("validate, grouped: sound ones, and what is counted", Offset, std::uint8_t,
                   std::uint16_t) {
  check<Offset>(fault::none, "", [](auto&) {});
  check<Offset>(fault::none, "", [](auto& m) {
    m.rows = 0;
    m.entries = 0;
    m.slot_offsets = {0};
    m.bases.clear();
    m.offsets.clear();
    m.values.clear();
  });
  // Not finite, where it may be; scales.
  check<Offset>(fault::none, "", [](auto& m) {
    m.value(0, 0, 0) = iso::half(infinity);
    m.value(2, 0, 0) = iso::half(nan_value);
    m.scales = {1, 0.5, 0x1p300};
  });
  grouped_arrays<Offset> m;
  m.value(0, 0, 0) = iso::half(infinity);
  m.value(2, 0, 0) = iso::half(nan_value);
  auto const report = report_on(Kokkos::Serial(), m);
  CHECK(report.entries == 6);
  CHECK(report.not_finite == 2);
}

TEST_CASE("validate, grouped: whatever make_grouped makes is sound, and its entries are counted") {
  iso::backend::for_each([&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    for (unsigned seed = 0; seed < 4; ++seed) {
      auto const m = dose_like(45, 3000, seed, 0.4, 0.6);
      auto const a = csr<iso::half, std::int32_t>(exec, m);
      auto const sound = [&](auto const& g) {
        auto const report = iso::sparse::validate(exec, g, csr_demands::of_values::finite);
        CHECK(iso::sparse::sentence(report) == "");
        CHECK(report.entries == m.entries());
      };
      sound(iso::sparse::make_grouped<2, std::uint8_t>(exec, a));
      sound(iso::sparse::make_grouped<4, std::uint8_t>(exec, a));
      sound(iso::sparse::make_grouped<8, std::uint8_t>(exec, a));
      sound(iso::sparse::make_grouped<2, std::uint16_t>(exec, a));
      sound(iso::sparse::make_grouped<4, std::uint16_t>(exec, a));
      sound(iso::sparse::make_grouped<8, std::uint16_t>(exec, a));
      sound(iso::sparse::make_grouped<8, std::uint8_t>(exec, a).as_const());
    }
  });
}

TEST_CASE_TEMPLATE("validate, grouped: extents and lengths", Offset, std::uint8_t, std::uint16_t) {
  check<Offset>(fault::negative_extent, "matrix with an extent of -1 (none may be negative)",
                [](auto& m) { m.cols = -1; });
  check<Offset>(fault::negative_extent, "matrix with an extent of -2 (none may be negative)",
                [](auto& m) { m.entries = -2; });
  check<Offset>(fault::extent_too_large,
                "matrix with an extent of 2147483648 (at most 2147483647) split it",
                [](auto& m) { m.rows = std::int64_t(1) << 31; });
  check<Offset>(fault::row_offsets_length, "2 slot offsets (3 are needed, one more than groups)",
                [](auto& m) { m.slot_offsets.pop_back(); });
  check<Offset>(fault::lengths_disagree, "95 offsets or values (96 are needed by the slots)",
                [](auto& m) { m.offsets.pop_back(); });
  check<Offset>(fault::lengths_disagree, "191 offsets or values (192 are needed by the slots)",
                [](auto& m) { m.values.pop_back(); });
  check<Offset>(fault::row_scales_length, "2 row scales (3 are needed, or none)",
                [](auto& m) { m.scales = {1, 1}; });
}

TEST_CASE_TEMPLATE("validate, grouped: slot offsets", Offset, std::uint8_t, std::uint16_t) {
  check<Offset>(fault::first_row_offset, "slot offsets start at 1 (must start at 0)",
                [](auto& m) { m.slot_offsets[0] = 1; });
  check<Offset>(fault::negative_row_offset,
                "slot offset 1 is -2 (must not be negative); 1 are wrong",
                [](auto& m) { m.slot_offsets[1] = -2; });
  check<Offset>(fault::falling_row_offset,
                "slot offset 2 is 1 (the one before it is 2, they must not fall); 1 are wrong",
                [](auto& m) { m.slot_offsets[2] = 1; });
  check<Offset>(fault::row_offset_beyond,
                "slot offset 1 is 9223372036854775807 (there are 3 slots); 2 are wrong",
                [](auto& m) { m.slot_offsets[1] = std::numeric_limits<std::int64_t>::max(); });
  check<Offset>(fault::last_row_offset, "slot offsets end at 2 (there are 3 slots)",
                [](auto& m) { m.slot_offsets[2] = 2; });
}

TEST_CASE_TEMPLATE("validate, grouped: columns", Offset, std::uint8_t, std::uint16_t) {
  char const* const one = "; 1 groups have such";
  check<Offset>(fault::column_beyond,
                std::string("place 1 of slot 0 of group 1 lies in column 7 (there are 7)") + one,
                [](auto& m) {
                  m.cols = 7;
                  m.bases[1] = m.base(6);
                });
  // Places without entries are read too.
  check<Offset>(
      fault::column_beyond,
      std::string("place 20 of slot 1 of group 0 lies in column 400 (there are 400)") + one,
      [](auto& m) { m.offset(1, 20) = 100; });
  check<Offset>(
      fault::column_negative,
      std::string("place 0 of slot 0 of group 1 lies in column -1 (must not be negative)") + one,
      [](auto& m) { m.bases[2] = m.base(-1); });
  // Base and offset together exceed 32 bits.
  check<Offset>(
      fault::column_beyond,
      std::string("place 0 of slot 0 of group 1 lies in column 2147483654 (there are 400)") + one,
      [](auto& m) {
        m.bases[2] = m.base(std::numeric_limits<std::int32_t>::max());
        m.offset(2, 0) = 7;
      });
  check<Offset>(
      fault::columns_descend,
      std::string("place 1 of slot 0 of group 1 lies in column 0, left of the one before it") + one,
      [](auto& m) {
        m.offset(2, 0) = 2;
        m.offset(2, 1) = 0;
      });
  check<Offset>(
      fault::column_doubled,
      std::string("place 1 of slot 0 of group 1 lies in column 0 as the one before it does") + one,
      [](auto& m) { m.offset(2, 1) = 0; });
  // From slot to slot of one group, not from group to group.
  check<Offset>(
      fault::column_doubled,
      std::string("place 0 of slot 1 of group 0 lies in column 4 as the one before it does") + one,
      [](auto& m) { m.bases[1] = m.base(4); });
  check<Offset>(
      fault::columns_descend,
      std::string("place 0 of slot 1 of group 0 lies in column 3, left of the one before it") + one,
      [](auto& m) { m.bases[1] = m.base(3); });
}

TEST_CASE("validate, grouped: jumps within a slot of 8-bit offsets") {
  // Column 300 as the third of one slot.
  auto const with_jump = [](auto& m, std::uint32_t jump) {
    m.slot_offsets = {0, 1, 2};
    m.bases = {m.base(1, jump), m.base(0)};
    m.offsets.erase(m.offsets.begin() + 32, m.offsets.begin() + 64);
    m.values.erase(m.values.begin() + 64, m.values.begin() + 128);
    m.value(0, 2, 0) = iso::half(3.0);
  };
  check<std::uint8_t>(fault::none, "", [&](auto& m) { with_jump(m, 299 * 32 + 2); });
  check<std::uint8_t>(
      fault::column_beyond,
      "place 2 of slot 0 of group 0 lies in column 400 (there are 400); 1 groups have such",
      [&](auto& m) { with_jump(m, 399 * 32 + 2); });
  check<std::uint8_t>(fault::column_beyond,
                      "place 2 of slot 0 of group 0 lies in column 134217728 (there are 400); 1 "
                      "groups have such",
                      [&](auto& m) { with_jump(m, ((1U << 27) - 1) * 32 + 2); });
  check<std::uint8_t>(
      fault::columns_descend,
      "place 2 of slot 0 of group 0 lies in column 1, left of the one before it; 1 groups have "
      "such",
      [&](auto& m) { with_jump(m, 0); });
}

TEST_CASE_TEMPLATE("validate, grouped: the fill, entries, values and scales", Offset, std::uint8_t,
                   std::uint16_t) {
  char const* const turn =
      " is out of turn (a slot's columns lie in its first places, and it has at least one); 1 "
      "groups have such";
  check<Offset>(fault::place_skipped, std::string("place 2 of slot 0 of group 1") + turn,
                [](auto& m) {
                  m.value(2, 1, 0) = fill;
                  m.value(2, 2, 0) = iso::half(5.0);
                  m.offset(2, 2) = 9;
                });
  check<Offset>(fault::place_skipped, std::string("place 0 of slot 1 of group 0") + turn,
                [](auto& m) { m.value(1, 0, 0) = fill; });
  check<Offset>(
      fault::row_beyond,
      "place 1 of slot 0 of group 1 has an entry in a row beyond the last; 1 groups have such",
      [](auto& m) { m.value(2, 1, 1) = iso::half(1.0); });
  // Negative zero is the fill: an entry that is one is not there.
  check<Offset>(fault::entries_disagree, "the matrix says 6 entries (its values hold 5)",
                [](auto& m) { m.value(0, 0, 1) = iso::half(-0.0); });
  check<Offset>(fault::value_not_finite,
                "place 1 of slot 0 of group 0 has a value that is not finite; 2 groups have such",
                [](auto& m) {
                  m.value(2, 1, 0) = iso::half(nan_value);
                  m.value(0, 1, 1) = iso::half(-infinity);
                  m.demanded = csr_demands::of_values::finite;
                });
  check<Offset>(fault::row_scale, "the scale of row 1 is no power of two above zero; 2 are not",
                [](auto& m) { m.scales = {0.5, 3, -2}; });
}

TEST_CASE("validate, grouped: null with a length, and values that are not aligned") {
  Kokkos::Serial const exec;
  auto const good = iso::sparse::make_grouped<4, std::uint16_t>(
      exec, csr<iso::half, std::int32_t>(exec, lists{9, {{{0, 1}, {3, 2}}, {}, {{1, 1}}}}));
  auto a = good;
  a.bases = decltype(a.bases)(static_cast<slot_base<std::uint16_t>*>(nullptr), 1);
  CHECK(iso::sparse::validate(exec, a).found == fault::null_array);
  CHECK(iso::sparse::sentence(iso::sparse::validate(exec, a)) ==
        "an array that has a length and no memory (it is null) allocate it");
  Kokkos::View<iso::half*, Kokkos::LayoutRight, host> const memory("values", 129);
  a = good;
  a.values = decltype(a.values)(memory.data() + 1, 128);
  CHECK(iso::sparse::sentence(iso::sparse::validate(exec, a)) ==
        "values that are not aligned (the 4 of a column are read at once) use a view of its own");
}
