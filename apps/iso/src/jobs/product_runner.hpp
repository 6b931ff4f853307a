// SPDX-License-Identifier: BSD-3-Clause
//! A matrix made ready for products in one format, and its bytes.
#pragma once

#include "csr_memory.hpp"
#include "scan.hpp"

#include <iso/cases/work.hpp>
#include <iso/jobs/matrix_product.hpp>
#include <iso/sparse/spmv.hpp>
#include <iso/sparse/validate.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace iso::jobs {

using namespace cases;

/// Row blocks want ascending columns, and no stored negative zero, which is their padding.
enum class column_order { ascending, any };

/// Throws unless `a` may be multiplied with; tells whether it may become row blocks.
template <class Exec, class Matrix>
column_order checked_order(Exec const& exec, Matrix const& a) {
  sparse::csr_demands demands;
  demands.values = sparse::csr_demands::of_values::finite;
  auto const report = sparse::validate(exec, a, demands);
  if (!report.sound()) {
    throw invalid_argument(sparse::to_string(report));
  }
  bool const blocks = report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0;
  return blocks ? column_order::ascending : column_order::any;
}

/// Throws iso::out_of_memory before anything is made: the matrix, of `bytes_per_entry` in all its
/// forms together, and `vectors` of x and y with their copies, those that a product packs, and a
/// result with what it is compared with.
template <class Exec>
void check_products(Exec const& exec, files::host_matrix const& m, matrix_side side,
                    std::int64_t bytes_per_entry, std::int64_t vectors) {
  bool const turned = side == matrix_side::transposed;
  std::int64_t const rows = turned ? m.columns : m.rows;
  std::int64_t const columns = turned ? m.rows : m.columns;
  std::int64_t const offsets = 8 * (turned ? rows + columns : rows) + 16;
  std::int64_t const there =
      bytes_per_entry * m.entries() + offsets + 8 * vectors * (rows + 2 * columns);
  std::int64_t const host = 8 * (columns + rows) + 8 * (vectors + 3) * rows;
  check_free(exec, there, host, "iso matrix: its products");
}

/// `vectors` copies of x and y side by side where `exec` computes, and what a product needs.
template <class T, class Exec, class Matrix>
class product_runner {
 public:
  using space = typename Exec::memory_space;
  using array = Kokkos::View<T**, Kokkos::LayoutRight, space>;

  product_runner(Exec const& exec, Matrix const& a, std::vector<double> const& x,
                 std::vector<double> const& y, std::int64_t vectors = 1)
      : exec_(exec),
        a_(a),
        plan_(sparse::make_plan(exec, a)),
        scratch_(sparse::spmv_bytes_needed<T>(a, plan_, vectors)),
        x_(load_copies(exec, x, vectors)),
        y_(load_copies(exec, y, vectors)) {
    exec.fence("iso::jobs::product: its inputs");
  }

  void enqueue(double alpha, double beta, std::optional<summation> sum) const {
    sparse::spmv(exec_, alpha, a_, x_, beta, y_, plan_, scratch_, {.sum = sum});
  }
  double seconds(double alpha, double beta, std::optional<summation> sum) const {
    return seconds_of(exec_, [&] { enqueue(alpha, beta, sum); });
  }
  /// The first vector's result.
  [[nodiscard]] std::vector<T> result() const {
    auto const all = fetch(exec_, y_);
    auto const vectors = std::size_t(y_.extent(1));
    std::vector<T> first(std::size_t(y_.extent(0)));
    for (std::size_t i = 0; i < first.size(); ++i) {
      first[i] = all[i * vectors];
    }
    return first;
  }

 private:
  static array load_copies(Exec const& exec, std::vector<double> const& from,
                           std::int64_t vectors) {
    array const to(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::vectors"),
                   from.size(), std::size_t(vectors));
    auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, to);
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::fill_n(host.data() + i * std::size_t(vectors), vectors, T(from[i]));
    }
    Kokkos::deep_copy(exec, to, host);
    exec.fence("iso::jobs::product: a vector");
    return to;
  }

  Exec exec_;
  Matrix a_;
  sparse::spmv_plan<space> plan_;
  workspace<space> scratch_;
  array x_;
  array y_;
};

}  // namespace iso::jobs
