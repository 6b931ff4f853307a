// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/sparse/slot_sums.hpp
//! Ordered sums of grouped and paired matrices as their definition has them, place by place.
#pragma once

#include "sparse_support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sparse_support {

/// Of a row and one slot of its group.
struct place {
  std::int64_t lane;
  double value;
  std::int32_t column;
};
struct slot_entries {
  bool of_pairs;
  std::vector<place> places;
};

/// The shared slots of a row's group and then those of pairs, without fill.
template <class Matrix>
std::vector<slot_entries> slots_of(Matrix const& a, std::int64_t row) {
  std::vector<slot_entries> slots;
  auto const add_slots = [&](bool of_pairs, auto const& part, int rows, auto const& column) {
    std::int64_t const group = row / rows;
    for (auto s = part.slot_offsets(group); s < part.slot_offsets(group + 1); ++s) {
      slots.push_back({of_pairs, {}});
      for (std::int64_t l = 0; l < 32; ++l) {
        auto const value = part.values((32 * s + l) * rows + row % rows);
        if (value.bits != 0x8000) {
          slots.back().places.push_back({l, double(value), column(s, l)});
        }
      }
    }
  };
  auto const add_shared = [&](auto const& part) {
    add_slots(false, part, part.rows, [&](std::int64_t s, std::int64_t l) {
      return part.bases(s).column(int(l), part.offsets(32 * s + l));
    });
  };
  if constexpr (requires { a.shared; }) {
    add_shared(a.shared);
    add_slots(true, a, 8, [&](std::int64_t s, std::int64_t l) {
      return row % 8 < 4 ? a.bases(s).upper + a.offsets(32 * s + l).upper
                         : a.bases(s).lower + a.offsets(32 * s + l).lower;
    });
  } else {
    add_shared(a);
  }
  return slots;
}

/// The sum that the formats promise of 64 slots at a time; sum_of(first, last) of some.
template <class Sum>
double sum_of_parts(std::vector<slot_entries> const& slots, Sum const& sum_of) {
  double total = 0;
  for (std::size_t first = 0; first < slots.size(); first += 64) {
    double const part = sum_of(first, std::min(first + 64, slots.size()));
    total = first == 0 ? part : total + part;
  }
  return total;
}

/// Of vector k: lanes by place, shared slots first, then the tree.
inline double tree_sum(std::vector<slot_entries> const& slots, std::vector<double> const& x,
                       std::int64_t k = 0, std::int64_t vectors = 1) {
  return sum_of_parts(slots, [&](std::size_t first, std::size_t last) {
    double lane[32] = {};
    for (std::size_t s = first; s < last; ++s) {
      for (auto const& e : slots[s].places) {
        lane[e.lane] = std::fma(e.value, x[std::size_t(e.column * vectors + k)], lane[e.lane]);
      }
    }
    for (int step = 16; step > 0; step /= 2) {
      for (int l = 0; l < step; ++l) {
        lane[l] += lane[l + step];
      }
    }
    return lane[0];
  });
}

/// Of eight rows a group and three vectors and more: chains.
inline double chained_sum(std::vector<slot_entries> const& slots, std::vector<double> const& x,
                          std::int64_t k, std::int64_t vectors) {
  return sum_of_parts(slots, [&](std::size_t first, std::size_t last) {
    double chain[3] = {};
    for (std::size_t s = first; s < last; ++s) {
      for (auto const& e : slots[s].places) {
        double& sum = chain[slots[s].of_pairs ? 2 : e.lane % 8 / 4];
        sum = std::fma(e.value, x[std::size_t(e.column * vectors + k)], sum);
      }
    }
    return (chain[0] + chain[1]) + chain[2];
  });
}

/// That products of several vectors have the order that is written down; of eight rows a group the
/// one of matrix instructions from three vectors on.
template <class Exec, class Matrix>
void require_orders_of_several_vectors(Exec const& exec, Matrix const& a) {
  std::size_t others = 0;
  for (std::int64_t const vectors : {2, 3, 4, 6, 9}) {
    CAPTURE(vectors);
    bool const in_chains = Matrix::rows == 8 && vectors > 2;
    auto const x = some_vector(a.num_cols, vectors);
    auto const y = product(exec, a, x, {.sum = sum_order::ordered, .vectors = vectors});
    for (std::int64_t r = 0; r < a.num_rows; ++r) {
      auto const slots = slots_of(a, r);
      for (std::int64_t k = 0; k < vectors; ++k) {
        double const tree = tree_sum(slots, x, k, vectors);
        double const chains = chained_sum(slots, x, k, vectors);
        REQUIRE(y[std::size_t(r * vectors + k)] == (in_chains ? chains : tree));
        others += chains != tree ? 1 : 0;
      }
    }
  }
  // The two orders differ here: this can fail.
  CHECK(others > 0);
}

}  // namespace sparse_support
