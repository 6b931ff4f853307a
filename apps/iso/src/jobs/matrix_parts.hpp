// SPDX-License-Identifier: BSD-3-Clause
//! Divides a matrix and its vectors among the ranks that share a job.
#pragma once

#include "csr_memory.hpp"

#include <iso/backend/carrier.hpp>
#include <iso/core/detail/fnv1a.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/jobs/matrix_product.hpp>
#include <iso/jobs/ranks.hpp>
#include <iso/sparse/detail/ranked_vectors.hpp>
#include <iso/sparse/rank_plan.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace iso::jobs {

/// Returns the offsets of a matrix' columns, as its transpose has them.
inline std::vector<std::int64_t> column_offsets(files::host_matrix const& m) {
  std::vector<std::int64_t> offsets(std::size_t(m.columns) + 1, 0);
  for (std::int32_t const column : m.indices) {
    ++offsets[std::size_t(column) + 1];
  }
  for (std::size_t column = 1; column < offsets.size(); ++column) {
    offsets[column] += offsets[column - 1];
  }
  return offsets;
}

/// Returns some rows and columns of a matrix, entries in their order; its columns count from the
/// first that is taken.
inline files::host_matrix part_of(files::host_matrix const& m, sparse::row_range const& rows,
                                  sparse::row_range const& columns) {
  files::host_matrix part;
  part.rows = rows.count();
  part.columns = columns.count();
  part.offsets.push_back(0);
  std::visit(
      [&]<class Values>(Values const& all) {
        Values taken;
        for (std::int64_t row = rows.first; row < rows.last; ++row) {
          for (auto i = std::size_t(m.offsets[std::size_t(row)]);
               i < std::size_t(m.offsets[std::size_t(row) + 1]); ++i) {
            if (m.indices[i] >= columns.first && m.indices[i] < columns.last) {
              part.indices.push_back(std::int32_t(m.indices[i] - columns.first));
              taken.push_back(all[i]);
            }
          }
          part.offsets.push_back(std::int64_t(part.indices.size()));
        }
        part.values = std::move(taken);
      },
      m.values);
  return part;
}

/// The rows of a matrix, or its columns where it is transposed, that this rank owns: equal shares
/// of the entries. All ranks have read the whole, which lies in host memory, and make their parts
/// together.
template <class Exec>
class matrix_parts {
 public:
  using space = typename Exec::memory_space;
  using vector = Kokkos::View<double*, space>;

  /// \throws iso::invalid_argument  on every rank: they have read other numbers
  matrix_parts(Exec const& exec, files::host_matrix const& m, matrix_side side,
               std::vector<double> const& x, std::vector<double> const& y)
      : ranks_(sharing_ranks()), plan_(plan_of(m, side)), carrier_(exec, ranks_) {
    check_alike(hash_of(m, x, y),
                message("processes with different matrices or vectors (each reads the files "
                        "itself); name files on a file system that all see",
                        {}));
    together([&] {
      auto const& own = plan_.rows(ranks_.rank());
      bool const turned = side == matrix_side::transposed;
      sparse::row_range const all{0, turned ? m.rows : m.columns};
      part_ = turned ? part_of(m, all, own) : part_of(m, own, all);
      for (int rank = 0; rank < plan_.size(); ++rank) {
        owned_.push_back(plan_.columns(rank));
      }
      gathered_.reserve(plan_.num_cols());
    });
  }

  [[nodiscard]] files::host_matrix const& matrix() const { return part_; }
  /// Returns what is here of whole vectors.
  [[nodiscard]] std::vector<double> x(std::vector<double> const& whole) const {
    return cut(whole, plan_.columns(ranks_.rank()));
  }
  [[nodiscard]] std::vector<double> y(std::vector<double> const& whole) const {
    return cut(whole, plan_.rows(ranks_.rank()));
  }

  /// Calls f(), and throws on every rank where it throws on one.
  template <class F>
  void together(F const& f) const {
    iso::detail::check_together(ranks_, "iso matrix apply", f);
  }
  /// Returns all of x.
  vector operator()(Exec const& exec, vector const& x) const {
    auto const* const whole = gathered_.run(exec, carrier_, owned_, x.data(),
                                            sparse::detail::facts_of(x, "x", "iso matrix apply"));
    return vector(const_cast<double*>(whole), std::size_t(plan_.num_cols()));
  }
  /// Returns the whole result on rank 0, and nothing elsewhere.
  [[nodiscard]] std::vector<double> whole(std::vector<double>& here) const {
    sparse::row_range const& own = plan_.rows(ranks_.rank());
    if (!is_first_rank()) {
      auto const out = sparse::detail::parcel_of(0, here.data(), {0, own.count()}, 1);
      ranks_.exchange({&out, 1}, {});
      return {};
    }
    std::vector<double> all(std::size_t(plan_.num_rows()));
    std::copy(here.begin(), here.end(), all.begin() + own.first);
    std::vector<backend::parcel> in;
    for (int rank = 1; rank < plan_.size(); ++rank) {
      in.push_back(sparse::detail::parcel_of(rank, all.data(), plan_.rows(rank), 1));
    }
    ranks_.exchange({}, in);
    return all;
  }

 private:
  static sparse::rank_plan plan_of(files::host_matrix const& m, matrix_side side) {
    int const ranks = num_ranks();
    return side == matrix_side::transposed
               ? sparse::rank_plan(sparse::divide_rows(column_offsets(m), ranks),
                                   sparse::divide_rows(m.rows, ranks))
               : sparse::rank_plan(sparse::divide_rows(m.offsets, ranks),
                                   sparse::divide_rows(m.columns, ranks));
  }
  static std::uint64_t hash_of(files::host_matrix const& m, std::vector<double> const& x,
                               std::vector<double> const& y) {
    iso::detail::fingerprint of;
    auto const add = [&]<class T>(std::vector<T> const& numbers) {
      std::uint64_t hash = iso::detail::fnv1a_of_nothing;
      for (std::byte const b : std::as_bytes(std::span<T const>(numbers))) {
        hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(b));
      }
      of.add(std::int64_t(numbers.size()));
      of.add(std::int64_t(hash));
    };
    of.add(m.columns);
    add(m.offsets);
    add(m.indices);
    std::visit(add, m.values);
    add(x);
    add(y);
    return of.value();
  }
  static std::vector<double> cut(std::vector<double> const& whole, sparse::row_range const& own) {
    return {whole.begin() + own.first, whole.begin() + own.last};
  }

  backend::communicator& ranks_;
  sparse::rank_plan plan_;  ///< of the product: rows are columns of the file where it is transposed
  mutable backend::carrier<Exec> carrier_;
  files::host_matrix part_;
  std::vector<sparse::row_range> owned_;
  mutable sparse::detail::gathered_vectors<Exec, double> gathered_;
};

}  // namespace iso::jobs
