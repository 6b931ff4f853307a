// SPDX-License-Identifier: BSD-3-Clause
//! Carries the vectors of products between the ranks that own them.
#pragma once

#include <iso/backend/carrier.hpp>
#include <iso/backend/for_each_index.hpp>
#include <iso/core/summation.hpp>
#include <iso/core/workspace.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/sparse/rank_plan.hpp>
#include <iso/sparse/spmv.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace iso::sparse::detail {

/// Calls f(), which returns the fingerprint of a call; throws, naming `function`, on every rank
/// where it throws on one, or where ranks have different fingerprints.
void agree_on_call(backend::communicator& ranks, char const* function,
                   std::function<iso::detail::fingerprint()> const& f);

/// What all ranks must have alike when a product is made, beside its plan.
struct ranked_types {
  std::string_view values;    ///< of the matrix, as value_word
  std::int64_t vector_bytes;  ///< of a number of x and y
  std::int64_t vectors;       ///< at once, at most
};

/// Returns a plan; throws on every rank unless all have the same, for as many ranks, and the same
/// types.
rank_plan const& agreed_plan(backend::communicator& ranks, rank_plan const& plan,
                             ranked_types const& types, char const* function);

/// Returns whether all ranks have their rows in blocks of so many; 0: a rank without a matrix.
bool agree_on_blocks(backend::communicator& ranks, std::int64_t rows_per_block);

/// Throws unless a matrix is the part of these rows and columns of a whole; a part of its rows must
/// begin with a row block.
void validate_part(matrix_shape const& part, row_range const& rows, row_range const& columns,
                   char const* function);

/// Throws unless vectors are those of a part.
void validate_part_vectors(vector_facts const& x, row_range const& columns, vector_facts const& y,
                           row_range const& rows, std::int64_t max_vectors, char const* function);

/// Returns the hash of a call.
iso::detail::fingerprint fingerprint_of(double alpha, double beta, std::int64_t vectors,
                                        summation sum);

template <class Space>
std::int64_t bytes_of_plan(spmv_plan<Space> const& p) {
  return bytes_of(p.segments, p.empty, p.first_part, p.rows.max_abs, p.rows.entries, p.exponents);
}

/// Returns numbers as a view of one index, or of two, the vector's number last.
template <class View, class T, class Space>
auto vectors_at(T* numbers, std::int64_t length, std::int64_t vectors) {
  if constexpr (View::rank() == 1) {
    return Kokkos::View<T*, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>(
        numbers, std::size_t(length));
  } else {
    return Kokkos::View<T**, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>(
        numbers, std::size_t(length), std::size_t(vectors));
  }
}

/// Copies vectors that lie `stride` apart to where they lie side by side.
template <class T>
struct copy_vectors_kernel {
  T const* from;
  std::int64_t stride;
  std::int64_t vectors;
  T* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (std::int64_t k = 0; k < vectors; ++k) {
      to[i * vectors + k] = from[i * stride + k];
    }
  }
};

struct zero_kernel {
  double* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = 0; }
};

/// What ranks have of the sums of the rows of one of them, multiples of one unit that add up
/// exactly.
struct part_sums {
  double const* own;     ///< [rows, vectors]; null: all sums are zero
  double const* others;  ///< [other ranks, rows, vectors]
  std::int64_t num_others;
};

/// Adds them, and finishes the product of these rows: y = alpha sum + beta y. Enqueued on `exec`.
/// Defined in src/sparse for every backend.
template <execution_space Exec>
void finish_rows(Exec const& exec, part_sums const& sums, double alpha, double beta, double* y,
                 vector_facts const& out);

/// Returns the numbers of a part of an array, where all parts lie in the order of ranks.
template <class T>
backend::parcel parcel_of(int rank, T* whole, row_range const& part, std::int64_t vectors) {
  return {rank, reinterpret_cast<std::byte*>(whole + part.first * vectors),
          part.count() * vectors * std::int64_t(sizeof(T))};
}

/// The memory into which vectors are gathered whose parts ranks own.
template <class Exec, class T>
class gathered_vectors {
 public:
  /// Allocates for so many numbers.
  void reserve(std::int64_t numbers) { memory_.reserve(numbers * std::int64_t(sizeof(T))); }

  /// Returns the whole vectors side by side, of which this rank has the part `x`.
  /// \param owned  what each rank owns
  T* run(Exec const& exec, backend::carrier<Exec>& by, std::vector<row_range> const& owned,
         T const* x, vector_facts const& facts) {
    T* const whole = reinterpret_cast<T*>(memory_.data());
    int const here = by.ranks().rank();
    row_range const& own = owned[std::size_t(here)];
    backend::for_each_index(
        "iso::sparse::ranked_product: own part", exec, own.count(),
        copy_vectors_kernel<T>{x, facts.stride, facts.vectors, whole + own.first * facts.vectors});
    std::vector<backend::parcel> out;
    std::vector<backend::parcel> in;
    for (int rank = 0; rank < by.ranks().size(); ++rank) {
      if (rank != here) {
        out.push_back(parcel_of(rank, whole, own, facts.vectors));
        in.push_back(parcel_of(rank, whole, owned[std::size_t(rank)], facts.vectors));
        sent_ += out.back().bytes;
      }
    }
    by.exchange(out, in);
    return whole;
  }

  [[nodiscard]] std::int64_t bytes_sent() const { return sent_; }
  [[nodiscard]] std::int64_t bytes_held() const { return memory_.size(); }

 private:
  workspace<typename Exec::memory_space> memory_;
  std::int64_t sent_ = 0;
};

}  // namespace iso::sparse::detail
