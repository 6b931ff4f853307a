// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/host_vectors.hpp>
#include <iso/backend/registry.hpp>
#include <iso/sparse/csr.hpp>

#include <array>

namespace iso::sparse::detail {

/// The number of threads of a GPU's block where nothing else was faster. No bit depends on it.
inline constexpr unsigned block_threads = 128;

/// The distribution of products over the machine. No bit depends on it. Figures: fastest on an
/// H200. It is that of a kind of machine, not of an execution space: all processors share a kernel.
template <bool OnDevice, class Rows, class Sum, int K>
struct product_tuning {
  /// The number of sums a lane.
  static constexpr int count = Rows::rows * K;

  /// The number of steps of 32 lanes that are under way at once: a processor looks ahead by itself.
  static constexpr int steps_in_flight = OnDevice ? 4 : 1;

  /// The number of steps that the sums in a processor's registers take before others have their
  /// turn, where they are more than it holds: as many as the level-1 cache keeps.
  static constexpr int stretch = 8;

  /// Sizes blocks: small ones make room sooner where a segment ends, large ones start sooner. By
  /// 2 to 10 per cent at 32 sums, by half a per cent at 4 (prostate's A alone loses one or two).
  static constexpr unsigned threads = count >= 32                          ? 32
                                      : count == 4 && Sum::is_reproducible ? 64
                                                                           : 128;

  /// Counts blocks that must fit a multiprocessor, limiting registers; 0: the compiler's choice.
  static constexpr unsigned min_blocks() {
    constexpr unsigned per_128 = 128 / threads;
    switch (count) {
      case 1:
        return 12 * per_128;
      case 2:
        return Sum::is_reproducible ? 10 * per_128 : 0;
      case 4:
        return 8 * per_128;
      case 8:
        return (Sum::is_reproducible ? 6 : 7) * per_128;
      case 16:
        return 5 * per_128;
      default:
        return (Sum::is_reproducible ? 3 : 4) * per_128;
    }
  }
};

/// Returns whether several vectors are multiplied one after the other, not up to four in one pass
/// over the matrix. Eight rows and one vector are eight AVX-512 registers of sums; with two or four
/// vectors the sums leave the registers at every stretch, which takes longer than to read the
/// matrix again (docs/product_benchmarks.md has the command). Vectors of few entries a number take
/// longer than the matrix, and are better read and written together. AVX2 has too few registers for
/// either.
template <class Exec, class Rows>
bool one_vector_a_pass(matrix_shape const& shape) {
  if constexpr (backend::is_device<Exec> || Rows::rows < 8) {
    return false;
  } else {
    return backend::host_vector_bytes() == 64 &&
           shape.num_entries / 32 >= shape.num_rows + shape.num_cols;
  }
}

/// The least steps of the rows of each bin, in the order of their launch. On a GPU, long rows
/// first: what starts last ends soon. A processor's threads take rows on demand, and neighbours in
/// step share what they read of x.
template <class Exec>
inline constexpr auto min_steps = [] {
  if constexpr (backend::is_device<Exec>) {
    return std::array{16, 4, 1};
  } else {
    return std::array{1};
  }
}();

}  // namespace iso::sparse::detail
