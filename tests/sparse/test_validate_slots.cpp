// SPDX-License-Identifier: BSD-3-Clause
// Grouped matrices of many slots: a fault is found wherever it stands, and what is called sound is
// what a plain reading of the definition calls sound.
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

/// A grouped matrix on the host, to be spoilt.
template <int R, class Offset>
struct slot_arrays {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;
  std::vector<std::int64_t> slot_offsets;
  std::vector<slot_base<Offset>> bases;
  std::vector<Offset> offsets;
  std::vector<iso::half> values;
  std::vector<double> scales;

  explicit slot_arrays(lists const& m) {
    Kokkos::Serial const exec;
    auto const g =
        iso::sparse::make_grouped<R, Offset>(exec, csr<iso::half, std::int32_t>(exec, m));
    rows = g.num_rows;
    cols = g.num_cols;
    entries = g.entries;
    slot_offsets = to_vector(g.slot_offsets);
    bases = to_vector(g.bases);
    offsets = to_vector(g.offsets);
    values = to_vector(g.values);
  }
  [[nodiscard]] std::int64_t slots() const { return std::int64_t(bases.size()); }
  [[nodiscard]] std::int64_t groups() const { return std::int64_t(slot_offsets.size()) - 1; }
  Offset& offset(std::int64_t slot, int place) { return offsets[std::size_t(32 * slot + place)]; }
  iso::half& value(std::int64_t slot, int place, int row) {
    return values[std::size_t((32 * slot + place) * R + row)];
  }
  /// A row that has an entry at a place.
  int row_at(std::int64_t slot, int place) {
    int row = 0;
    while (value(slot, place, row).bits == fill.bits) {
      ++row;
    }
    return row;
  }
};

template <class Exec, int R, class Offset>
auto view_of(Exec const& exec, slot_arrays<R, Offset> const& m) {
  grouped_view<iso::half, Offset, R, typename Exec::memory_space> a;
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
  return a;
}

template <int R, class Offset>
std::int64_t column(slot_arrays<R, Offset> const& m, std::int64_t slot, int place) {
  auto const& base = m.bases[std::size_t(slot)];
  std::int64_t at = std::int64_t(base.first) + m.offsets[std::size_t(32 * slot + place)];
  if constexpr (sizeof(Offset) == 1) {
    at += place >= int(base.jump % 32) ? base.jump / 32 : 0;
  }
  return at;
}

/// The definition of grouped_view, read place by place; values may be anything.
template <int R, class Offset>
bool is_sound(slot_arrays<R, Offset> const& m) {
  auto const& starts = m.slot_offsets;
  if (starts.front() != 0 || starts.back() != m.slots() ||
      !std::is_sorted(starts.begin(), starts.end())) {
    return false;
  }
  std::int64_t entries = 0;
  for (std::int64_t g = 0; g < m.groups(); ++g) {
    std::int64_t last = -1;
    for (std::int64_t s = starts[std::size_t(g)]; s < starts[std::size_t(g) + 1]; ++s) {
      int used = 0;
      for (int place = 0; place < 32; ++place) {
        int here = 0;
        for (int r = 0; r < R; ++r) {
          bool const is = m.values[std::size_t((32 * s + place) * R + r)].bits != fill.bits;
          here += is ? 1 : 0;
          if (is && R * g + r >= m.rows) {
            return false;
          }
        }
        std::int64_t const at = column(m, s, place);
        if (at < 0 || at >= m.cols || (here > 0 && (used < place || at <= last))) {
          return false;
        }
        last = here > 0 ? at : last;
        used += here > 0 ? 1 : 0;
        entries += here;
      }
      if (used == 0) {
        return false;
      }
    }
  }
  return entries == m.entries && std::all_of(m.scales.begin(), m.scales.end(), [](double s) {
           int exponent;
           return std::isnormal(s) && std::frexp(s, &exponent) == 0.5;
         });
}

/// 43 rows, so that the last group of any size lacks some; 500 columns, of which every other row
/// has two in three: 16 slots a group, the last of 20 columns.
lists many_slots() {
  lists m{500, std::vector<std::vector<item>>(43)};
  for (std::int32_t r = 0; r < 43; ++r) {
    for (std::int32_t c = 0; c < 500; ++c) {
      if (r % 2 == 0 || (c + r) % 3 != 0) {
        m.rows[std::size_t(r)].push_back({c, 0.25 + c % 5});
      }
    }
  }
  return m;
}

template <class Format>
void check_everywhere() {
  constexpr int rows = Format::rows;
  using matrix = slot_arrays<rows, typename Format::offset_type>;
  matrix const good(many_slots());
  REQUIRE(good.slots() == 16 * good.groups());
  REQUIRE(is_sound(good));
  auto const check = [](fault expected, std::int64_t slot, int place, matrix const& m) {
    CAPTURE(int(expected));
    CAPTURE(slot);
    CAPTURE(place);
    iso::backend::for_each([&](auto tag) {
      INFO(std::string(tag.name));
      typename decltype(tag)::execution_space const exec;
      auto const report =
          iso::sparse::validate(exec, view_of(exec, m), csr_demands::of_values::finite);
      CHECK(report.found == expected);
      CHECK(report.group == (slot < 0 ? -1 : slot / 16));
      CHECK(report.slot == (slot < 0 ? -1 : slot % 16));
      CHECK(report.place == place);
    });
  };
  check(fault::none, -1, -1, good);
  for (std::int64_t const s :
       {std::int64_t(0), std::int64_t(1), std::int64_t(14), std::int64_t(15), std::int64_t(16),
        std::int64_t(30), std::int64_t(31), std::int64_t(32), std::int64_t(33), std::int64_t(63),
        std::int64_t(64), good.slots() - 2, good.slots() - 1}) {
    auto const spoilt = [&](auto const& spoil) {
      matrix m = good;
      spoil(m);
      return m;
    };
    auto const moved = [&](std::int32_t by) {
      return spoilt([&](matrix& m) { m.bases[std::size_t(s)].first += by; });
    };
    check(fault::value_not_finite, s, 17,
          spoilt([&](matrix& m) { m.value(s, 17, m.row_at(s, 17)) = iso::half(-infinity); }));
    check(fault::value_not_finite, s, 0,
          spoilt([&](matrix& m) { m.value(s, 0, m.row_at(s, 0)) = iso::half(nan_value); }));
    check(fault::place_skipped, s, 6, spoilt([&](matrix& m) {
            for (int r = 0; r < rows; ++r) {
              m.value(s, 5, r) = fill;
            }
          }));
    // A slot without columns; nothing else is wrong.
    check(fault::place_skipped, s, 0, spoilt([&](matrix& m) {
            for (auto i = std::size_t(32 * s * rows); i < std::size_t(32 * (s + 1) * rows); ++i) {
              m.entries -= m.values[i].bits != fill.bits ? 1 : 0;
              m.values[i] = fill;
            }
          }));
    check(fault::column_doubled, s, 9, spoilt([&](matrix& m) { m.offset(s, 9) = m.offset(s, 8); }));
    check(fault::columns_descend, s, 19, spoilt([&](matrix& m) { m.offset(s, 19) = 0; }));
    check(fault::entries_disagree, -1, -1, spoilt([&](matrix& m) {
            int place = 0;
            while (place < 3 && m.value(s, place, 1).bits == fill.bits) {
              ++place;
            }
            if (place < 3) {
              m.value(s, place, 1) = fill;
            } else {  // a last group of one row
              m.entries += 1;
            }
          }));
    if (s % 16 > 0) {
      // Beside the last column of the slot before it.
      check(fault::column_doubled, s, 0, moved(-1));
      check(fault::columns_descend, s, 0, moved(-2));
    }
    // Places without columns are read too.
    check(fault::column_beyond, s, 31,
          s % 16 < 15 ? moved(32 * std::int32_t(15 - s % 16) - 11)
                      : spoilt([&](matrix& m) { m.offset(s, 31) = 20; }));
    if (s / 16 == good.groups() - 1) {
      check(fault::row_beyond, s, 11, spoilt([&](matrix& m) {
              m.value(s, 11, rows - 1) = iso::half(1.0);
              m.entries += 1;
            }));
    }
  }
}

/// Every slot of more than 16 places as two.
template <int R, class Offset>
slot_arrays<R, Offset> in_halves(slot_arrays<R, Offset> const& m) {
  auto out = m;
  out.slot_offsets = {0};
  out.bases.clear();
  out.offsets.clear();
  out.values.clear();
  for (std::int64_t g = 0; g < m.groups(); ++g) {
    for (auto s = m.slot_offsets[std::size_t(g)]; s < m.slot_offsets[std::size_t(g) + 1]; ++s) {
      for (int const from : {0, 16}) {
        auto const first = m.values.begin() + (32 * s + from) * R;
        std::vector<iso::half> const half_slot(first, first + 16 * R);
        if (std::all_of(half_slot.begin(), half_slot.end(),
                        [](iso::half v) { return v.bits == fill.bits; })) {
          continue;
        }
        auto base = m.bases[std::size_t(s)];
        if constexpr (sizeof(Offset) == 1) {
          std::uint32_t const place =
              base.jump % 32 > unsigned(from) ? base.jump % 32 - unsigned(from) : 0;
          base.jump = base.jump / 32 * 32 + place;
        }
        out.bases.push_back(base);
        for (int place = 0; place < 32; ++place) {
          out.offsets.push_back(m.offsets[std::size_t(32 * s + from + place % 16)]);
        }
        out.values.insert(out.values.end(), half_slot.begin(), half_slot.end());
        out.values.insert(out.values.end(), std::size_t(16 * R), fill);
      }
    }
    out.slot_offsets.push_back(std::int64_t(out.bases.size()));
  }
  return out;
}

/// One thing changed, at random; most changes are faults, some are none.
template <int R, class Offset, class Random>
void change_something(slot_arrays<R, Offset>& m, Random& random) {
  auto const below = [&](std::size_t n) { return std::size_t(random() % n); };
  auto const step = [&] { return std::int32_t(below(5)) - 2; };
  switch (below(8)) {
    case 0:
      m.slot_offsets[below(m.slot_offsets.size())] += step();
      break;
    case 1:
      m.bases[below(m.bases.size())].first += below(4) == 0 ? 40 * step() : step();
      break;
    case 2:
      if constexpr (sizeof(Offset) == 1) {
        m.bases[below(m.bases.size())].jump = std::uint32_t(below(100) * 32 + below(32));
      }
      break;
    case 3:
      m.offsets[below(m.offsets.size())] += Offset(step());
      break;
    case 4: {
      std::uint16_t const some[] = {0x8000, 0, 0x7c00, 0x7e01, 0x3c00, 0x8001, 0xfc00};
      m.values[below(m.values.size())].bits = some[below(7)];
      break;
    }
    case 5:
      m.entries += step();
      break;
    case 6:
      m.cols -= std::int64_t(below(3));
      break;
    default:
      m.scales.assign(std::size_t(m.rows), 0.5);
      m.scales[below(m.scales.size())] = below(2) == 0 ? 3 : 0x1p-9;
  }
}

}  // namespace

TEST_CASE_TEMPLATE("validate, grouped: a fault is found in every slot", Format,
                   grouped_view<iso::half, std::uint8_t, 2, host>,
                   grouped_view<iso::half, std::uint16_t, 2, host>,
                   grouped_view<iso::half, std::uint8_t, 4, host>,
                   grouped_view<iso::half, std::uint16_t, 4, host>,
                   grouped_view<iso::half, std::uint8_t, 8, host>,
                   grouped_view<iso::half, std::uint16_t, 8, host>) {
  check_everywhere<Format>();
}

TEST_CASE_TEMPLATE("validate, grouped: what is changed at random is sound or not as defined",
                   Format, grouped_view<iso::half, std::uint8_t, 2, host>,
                   grouped_view<iso::half, std::uint16_t, 4, host>,
                   grouped_view<iso::half, std::uint8_t, 8, host>) {
  std::mt19937_64 random(11);
  // Few columns to a row, so that slots end early, and groups begin left or right of the last.
  slot_arrays<Format::rows, typename Format::offset_type> const good(
      dose_like(61, 900, 2, 0.3, 0.5));
  Kokkos::Serial const exec;
  int sound = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    auto m = good;
    for (std::uint64_t changes = 1 + random() % 2; changes > 0; --changes) {
      change_something(m, random);
    }
    CAPTURE(turn);
    auto const report = iso::sparse::validate(exec, view_of(exec, m));
    REQUIRE(report.sound() == is_sound(m));
    REQUIRE(iso::sparse::sentence(report).empty() == report.sound());
    sound += report.sound() ? 1 : 0;
  }
  CHECK(sound > 100);
  CHECK(sound < 2000);
}

TEST_CASE_TEMPLATE("validate, grouped: slots may be short wherever they stand", Format,
                   grouped_view<iso::half, std::uint8_t, 4, host>,
                   grouped_view<iso::half, std::uint16_t, 8, host>) {
  auto const m = dose_like(61, 3000, 4, 0.3, 0.5);
  slot_arrays<Format::rows, typename Format::offset_type> const whole(m);
  auto const halves = in_halves(whole);
  REQUIRE(halves.slots() > whole.slots());
  iso::backend::for_each([&](auto tag) {
    INFO(std::string(tag.name));
    typename decltype(tag)::execution_space const exec;
    auto const a = csr<iso::half, std::int32_t>(exec, m);
    auto const g = view_of(exec, halves);
    auto const report = iso::sparse::validate(exec, g, csr_demands::of_values::finite);
    CHECK(iso::sparse::sentence(report) == "");
    CHECK(report.entries == m.entries());
    auto const back = iso::sparse::to_csr(exec, g);
    CHECK(difference(to_vector(back.row_offsets), to_vector(a.row_offsets)) == "");
    CHECK(difference(to_vector(back.columns), to_vector(a.columns)) == "");
    CHECK(difference(to_vector(back.values), to_vector(a.values)) == "");
    auto const x = some_vector(m.cols);
    CHECK(difference(product(exec, a, x), product(exec, g, x)) == "");
  });
}
