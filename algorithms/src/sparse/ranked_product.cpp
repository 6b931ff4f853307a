// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>
#include <iso/sparse/detail/product_kernel.hpp>
#include <iso/sparse/ranked_product.hpp>

#include <array>
#include <span>

namespace iso::sparse::detail {
namespace {

/// Adds and finishes; index row * vectors + k.
struct finish_kernel {
  part_sums sums;
  std::int64_t length;  ///< rows * vectors
  std::int64_t vectors;
  product_epilogue<double, 1, 1> finish;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = 0;
    if (sums.own != nullptr) {
      sum = sums.own[i];
      for (std::int64_t n = 0; n < sums.num_others; ++n) {
        sum += sums.others[n * length + i];
      }
    }
    std::int64_t const row = i / vectors;
    auto of_vector = finish;
    of_vector.y += i - row * vectors;
    of_vector(row, 0, sum);
  }
};

}  // namespace

template <execution_space Exec>
void finish_rows(Exec const& exec, part_sums const& sums, double alpha, double beta, double* y,
                 vector_facts const& out) {
  std::int64_t const length = out.length * out.vectors;
  backend::for_each_index(
      "iso::sparse::ranked_column_product: add", exec, length,
      finish_kernel{
          sums, length, out.vectors, {alpha, beta, y, out.stride, out.length, 1, nullptr}});
}

#define ISO_SPARSE_FINISH_ROWS(Exec)                                                \
  template void finish_rows(Exec const&, part_sums const&, double, double, double*, \
                            vector_facts const&);
ISO_FOR_EACH_BACKEND(ISO_SPARSE_FINISH_ROWS)

rank_plan const& agreed_plan(backend::communicator& ranks, rank_plan const& plan,
                             ranked_types const& types, char const* function) {
  iso::detail::fingerprint of;
  for (int rank = 0; rank < plan.size(); ++rank) {
    of.add(plan.rows(rank).last);
    of.add(plan.columns(rank).last);
  }
  for (char const c : types.values) {
    of.add(std::int64_t(c));
  }
  of.add(types.vector_bytes);
  of.add(types.vectors);
  iso::detail::check_together(ranks, function, [&] {
    ISO_VALIDATE(plan.size() == ranks.size(),
                 "{}: a plan for {} ranks (there are {}); divide rows and columns among as many",
                 function, plan.size(), ranks.size());
  });
  iso::detail::validate_agreement(ranks, plan.size(), of, function,
                                  "plans, types or numbers of vectors");
  ISO_VALIDATE(types.vectors >= 1,
               "{}: {} vectors at once (there must be one at least); give their number", function,
               types.vectors);
  return plan;
}

void agree_on_call(backend::communicator& ranks, char const* function,
                   std::function<iso::detail::fingerprint()> const& f) {
  iso::detail::fingerprint of;
  iso::detail::check_together(ranks, function, [&] { of = f(); });
  iso::detail::validate_agreement(ranks, ranks.size(), of, function,
                                  "factors, numbers of vectors or sums");
}

bool agree_on_blocks(backend::communicator& ranks, std::int64_t rows_per_block) {
  // The largest, and of what all bits turned make the largest: the smallest.
  std::array<std::uint64_t, 2> ends{};
  if (rows_per_block > 0) {
    ends = {std::uint64_t(rows_per_block), ~std::uint64_t(rows_per_block)};
  }
  ranks.maximum(std::span<std::uint64_t>(ends));
  return ends[0] == 0 || ends[0] == ~ends[1];
}

void validate_part(matrix_shape const& part, row_range const& rows, row_range const& columns,
                   char const* function) {
  ISO_VALIDATE(part.num_rows == rows.count() && part.num_cols == columns.count(),
               "{}: a matrix of {} x {} (this rank's part of the plan's has {} x {}); take rows {} "
               "to {} and columns {} to {} of the whole",
               function, part.num_rows, part.num_cols, rows.count(), columns.count(), rows.first,
               rows.last - 1, columns.first, columns.last - 1);
  ISO_VALIDATE(rows.first % part.rows_per_block == 0,
               "{}: rows from {} on in blocks of {} (blocks would not be those of the whole); take "
               "the ranges from iso::sparse::divide_rows",
               function, rows.first, part.rows_per_block);
}

void validate_part_vectors(vector_facts const& x, row_range const& columns, vector_facts const& y,
                           row_range const& rows, std::int64_t max_vectors, char const* function) {
  ISO_VALIDATE(x.length == columns.count() && y.length == rows.count(),
               "{}: x of {} and y of {} (this rank owns {} columns and {} rows, and each has an "
               "element); give the parts that the plan says",
               function, x.length, y.length, columns.count(), rows.count());
  ISO_VALIDATE(x.vectors == y.vectors,
               "{}: {} vectors in and {} out (each vector has one product); give y as many vectors "
               "as x",
               function, x.vectors, y.vectors);
  ISO_VALIDATE(x.vectors >= 1 && x.vectors <= max_vectors,
               "{}: {} vectors (the product was made for 1 to {}); make it for as many", function,
               x.vectors, max_vectors);
}

iso::detail::fingerprint fingerprint_of(double alpha, double beta, std::int64_t vectors,
                                        summation sum) {
  iso::detail::fingerprint of;
  of.add(alpha);
  of.add(beta);
  of.add(vectors);
  of.add(std::int64_t(sum));
  return of;
}

}  // namespace iso::sparse::detail
