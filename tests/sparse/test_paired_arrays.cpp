// SPDX-License-Identifier: BSD-3-Clause
// What make_paired writes, number by number, beside a plain reading of its definition.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "sparse_support.hpp"

#include <array>
#include <map>

namespace {

using namespace sparse_support;
using iso::sparse::make_paired;

/// What one column has in the eight rows of a group; the bits of fill where a row has no entry.
template <class Value>
struct group_column {
  std::int64_t column = 0;
  std::array<std::uint16_t, 8> bits = filled();

  static std::array<std::uint16_t, 8> filled() {
    std::array<std::uint16_t, 8> all{};
    all.fill(Value(-0.0).bits);
    return all;
  }
  [[nodiscard]] bool in_half(std::ptrdiff_t half) const {
    auto const first = bits.begin() + 4 * half;
    return std::any_of(first, first + 4, [](std::uint16_t b) { return b != Value(-0.0).bits; });
  }
};

/// The arrays of a paired_view, on the host.
struct plain_arrays {
  std::int64_t shared_entries = 0;
  std::vector<std::int64_t> shared_slot_offsets{0};
  std::vector<std::int64_t> shared_bases;
  std::vector<int> shared_offsets;
  std::vector<std::uint16_t> shared_values;
  std::vector<std::int64_t> slot_offsets{0};
  std::vector<std::int64_t> bases;  ///< [slot][half]
  std::vector<int> offsets;         ///< [slot][place][half]
  std::vector<std::uint16_t> values;

  bool operator==(plain_arrays const&) const = default;
};

/// Ascending columns as slots: at most 32 each, none farther than 65535 from the slot's first.
template <class Value>
std::vector<std::vector<group_column<Value>>> in_slots(
    std::vector<group_column<Value>> const& columns) {
  std::vector<std::vector<group_column<Value>>> slots;
  for (auto const& c : columns) {
    if (slots.empty() || slots.back().size() == 32 ||
        c.column - slots.back().front().column > 65535) {
      slots.emplace_back();
    }
    slots.back().push_back(c);
  }
  return slots;
}

/// Columns of the rows from 8 `group` on, ascending.
template <class Value>
std::vector<group_column<Value>> columns_of_group(lists const& m, std::int64_t group) {
  std::map<std::int64_t, group_column<Value>> found;
  for (std::int64_t r = 8 * group; r < std::min(8 * group + 8, m.num_rows()); ++r) {
    for (auto const& e : m.rows[std::size_t(r)]) {
      auto& c = found[e.column];
      c.column = e.column;
      c.bits[std::size_t(r % 8)] = Value(e.value).bits;
    }
  }
  std::vector<group_column<Value>> columns;
  for (auto const& [column, c] : found) {
    columns.push_back(c);
  }
  return columns;
}

template <class Value>
void write_shared(plain_arrays& to, std::vector<group_column<Value>> const& columns) {
  for (auto const& slot : in_slots(columns)) {
    to.shared_bases.push_back(slot.front().column);
    for (std::size_t l = 0; l < 32; ++l) {
      bool const used = l < slot.size();
      to.shared_offsets.push_back(used ? int(slot[l].column - slot.front().column) : 0);
      auto const bits = used ? slot[l].bits : group_column<Value>::filled();
      to.shared_values.insert(to.shared_values.end(), bits.begin(), bits.end());
      to.shared_entries += 8 - std::count(bits.begin(), bits.end(), Value(-0.0).bits);
    }
  }
  to.shared_slot_offsets.push_back(std::int64_t(to.shared_bases.size()));
}

template <class Value>
void write_pairs(plain_arrays& to, std::vector<group_column<Value>> const (&halves)[2]) {
  std::vector<std::vector<group_column<Value>>> const slots[2] = {in_slots(halves[0]),
                                                                  in_slots(halves[1])};
  for (std::size_t s = 0; s < std::max(slots[0].size(), slots[1].size()); ++s) {
    for (auto const& half : slots) {
      to.bases.push_back(s < half.size() ? half[s].front().column : 0);
    }
    for (std::size_t l = 0; l < 32; ++l) {
      for (std::ptrdiff_t h = 0; h < 2; ++h) {
        bool const used = s < slots[h].size() && l < slots[h][s].size();
        to.offsets.push_back(used ? int(slots[h][s][l].column - slots[h][s].front().column) : 0);
        auto const bits = used ? slots[h][s][l].bits : group_column<Value>::filled();
        to.values.insert(to.values.end(), bits.begin() + 4 * h, bits.begin() + 4 * h + 4);
      }
    }
  }
  to.slot_offsets.push_back(std::int64_t(to.bases.size() / 2));
}

template <class Value>
plain_arrays expected_arrays(lists const& m) {
  plain_arrays expected;
  for (std::int64_t g = 0; 8 * g < m.num_rows(); ++g) {
    std::vector<group_column<Value>> shared;
    std::vector<group_column<Value>> halves[2];
    for (auto const& c : columns_of_group<Value>(m, g)) {
      (c.in_half(0) && c.in_half(1) ? shared : halves[c.in_half(0) ? 0 : 1]).push_back(c);
    }
    write_shared(expected, shared);
    write_pairs(expected, halves);
  }
  return expected;
}

template <class Paired>
plain_arrays written_arrays(Paired const& p) {
  plain_arrays found;
  found.shared_entries = p.shared.entries;
  found.shared_slot_offsets = to_vector(p.shared.slot_offsets);
  for (auto const& base : to_vector(p.shared.bases)) {
    found.shared_bases.push_back(base.first);
  }
  for (auto const offset : to_vector(p.shared.offsets)) {
    found.shared_offsets.push_back(offset);
  }
  for (auto const value : to_vector(p.shared.values)) {
    found.shared_values.push_back(value.bits);
  }
  found.slot_offsets = to_vector(p.slot_offsets);
  for (auto const& base : to_vector(p.bases)) {
    found.bases.push_back(base.upper);
    found.bases.push_back(base.lower);
  }
  for (auto const& offset : to_vector(p.offsets)) {
    found.offsets.push_back(offset.upper);
    found.offsets.push_back(offset.lower);
  }
  for (auto const value : to_vector(p.values)) {
    found.values.push_back(value.bits);
  }
  return found;
}

/// The first array that differs; empty: none does.
std::string difference_of(plain_arrays const& a, plain_arrays const& b) {
  std::string found;
  auto const compare = [&](char const* name, auto const& x, auto const& y) {
    if (found.empty() && x != y) {
      found = std::string(name) + ": " + difference(x, y);
    }
  };
  compare("shared slot offsets", a.shared_slot_offsets, b.shared_slot_offsets);
  compare("shared bases", a.shared_bases, b.shared_bases);
  compare("shared offsets", a.shared_offsets, b.shared_offsets);
  compare("shared values", a.shared_values, b.shared_values);
  compare("slot offsets", a.slot_offsets, b.slot_offsets);
  compare("bases", a.bases, b.bases);
  compare("offsets", a.offsets, b.offsets);
  compare("values", a.values, b.values);
  return found.empty() && !(a == b) ? "entries in shared columns" : found;
}

/// Rows that share some columns with the others of their group: empty ones, of one column, about
/// the 32 columns of a slot, and with gaps about the 65535 of an offset.
lists random_rows() {
  lists m;
  m.rows.resize(std::size_t(*rc::gen::inRange(0, 30)));
  std::vector<std::int64_t> common;
  std::int64_t widest = 0;
  for (std::size_t r = 0; r < m.rows.size(); ++r) {
    if (r % 4 == 0 && *rc::gen::arbitrary<bool>()) {
      common.clear();
      auto const length = *rc::gen::elementOf(std::vector<int>{1, 2, 31, 32, 33, 70});
      std::int64_t column = *rc::gen::inRange(0, 3);
      for (int n = 0; n < length; ++n) {
        common.push_back(column);
        column += *rc::gen::weightedElement<std::int64_t>(
            {{40, 1}, {6, 3}, {1, 30000}, {1, 65535}, {1, 65536}, {1, 65537}});
      }
    }
    auto const kept = *rc::gen::elementOf(std::vector<int>{0, 0, 1, 5, 7, 8});  // eighths
    for (auto const column : common) {
      if (*rc::gen::inRange(0, 8) < kept) {
        auto const mantissa = *rc::gen::inRange(-128, 129);
        m.rows[r].push_back({std::int32_t(column), mantissa == 0 ? 0.0 : std::ldexp(mantissa, -5)});
        widest = std::max(widest, column + 1);
      }
    }
    if (*rc::gen::inRange(0, 8) == 0) {
      m.rows[r] = {{*rc::gen::inRange(0, 200000), 1}};
      widest = std::max<std::int64_t>(widest, m.rows[r][0].column + 1);
    }
  }
  m.cols = widest + *rc::gen::inRange(0, 3);
  return m;
}

template <class Value, class Exec>
std::string check_arrays(Exec const& exec, lists const& m) {
  auto const a = csr<Value, std::int32_t>(exec, m);
  auto const p = make_paired(exec, a);
  auto found = difference_of(written_arrays(p), expected_arrays<Value>(m));
  auto const back = iso::sparse::to_csr(exec, p);
  found += difference(to_vector(back.row_offsets), to_vector(a.row_offsets)) +
           difference(to_vector(back.columns), to_vector(a.columns)) +
           difference(to_vector(back.values), to_vector(a.values));
  bool const whole = p.num_rows == m.num_rows() && p.num_cols == m.cols &&
                     p.entries == m.entries() && back.num_rows == p.num_rows &&
                     back.num_cols == p.num_cols;
  return found + (whole ? "" : "sizes");
}

}  // namespace

TEST_CASE("paired: any matrix is written as defined, and comes back") {
  CHECK(rc::check("arrays of make_paired", [] {
    auto const m = random_rows();
    iso::backend::for_each([&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      RC_ASSERT(check_arrays<iso::half>(exec, m) == "");
      RC_ASSERT(check_arrays<bfloat16>(exec, m) == "");
    });
  }));
}

TEST_CASE("paired: a lone last row, rows of one column, spans beyond 16 bits") {
  lists m{200000, std::vector<std::vector<item>>(17)};
  m.rows[0] = {{0, 1}, {65535, 2}, {65536, 3}, {131071, 4}};
  m.rows[4] = {{0, 0.0}, {131072, 5}, {199999, 6}};
  m.rows[8] = {{7, 1}};
  m.rows[16] = {{199999, -1}};
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    CHECK(check_arrays<iso::half>(exec, m) == "");
  });
  // The definition by hand: shared is column 0 alone.
  auto const expected = expected_arrays<iso::half>(m);
  CHECK(expected.shared_slot_offsets == std::vector<std::int64_t>{0, 1, 1, 1});
  CHECK(expected.shared_entries == 2);
  CHECK(expected.slot_offsets == std::vector<std::int64_t>{0, 2, 3, 4});
  CHECK(expected.bases ==
        std::vector<std::int64_t>{65535, 131072, 131071, 199999, 7, 0, 199999, 0});
}
