// SPDX-License-Identifier: BSD-3-Clause
#include "csr_memory.hpp"
#include "matrix_parts.hpp"
#include "repeats.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/cases/formats.hpp>
#include <iso/cases/memory.hpp>
#include <iso/files/dose_matrix_file.hpp>
#include <iso/jobs/matrix_product.hpp>

#include <optional>

namespace iso::jobs {

using namespace cases;

namespace {

std::vector<double> filled(std::optional<std::vector<double>> const& given, std::int64_t length,
                           double preset, char const* name) {
  if (!given) {
    return std::vector<double>(std::size_t(length), preset);
  }
  ISO_VALIDATE(std::int64_t(given->size()) == length,
               "{} has {} numbers (the matrix wants {}); add --transpose, or leave it out", name,
               std::int64_t(given->size()), length);
  return *given;
}

template <class Exec>
Kokkos::View<double*, typename Exec::memory_space> loaded(Exec const& exec,
                                                          std::vector<double> const& from) {
  auto const to = allocate<Kokkos::View<double*, typename Exec::memory_space>>(
      "iso::jobs::vector", {std::int64_t(from.size())}, exec, Kokkos::WithoutInitializing);
  copy_in(exec, to, from);
  exec.fence("iso::jobs: a vector");
  return to;
}

sparse::dose_matrix_options options_of(apply_request const& request) {
  using direction = sparse::dose_matrix_options::directions;
  bool const turned = request.side == matrix_side::transposed;
  return {.products = turned ? direction::transposed : direction::forward,
          .format = request.format};
}

/// Throws where a format is for other values, or decides what ranks compute.
void validate_format(files::host_matrix const& m, apply_request const& request) {
  bool const halves = std::holds_alternative<files::host_matrix::half_bits>(m.values);
  ISO_VALIDATE(!is_row_block(request.format) || halves,
               "format '{}' (it is for values of 16 bits); convert the matrix by iso matrix "
               "convert --values half",
               to_word(request.format.value_or(matrix_format::csr32)));
  ISO_VALIDATE(
      num_ranks() == 1 || !halves || request.format || request.sum != summation::ordered,
      "{} processes with --sum ordered and --format auto (ordered sums of half values hang on the "
      "format, which is chosen for the rows of each process); name a --format, or leave out --sum",
      num_ranks());
}

/// Multiplies by what is here of a matrix and of the vectors; `gather` returns the whole of x.
template <class Exec, class Gather>
apply_result apply_part(Exec const& exec, files::host_matrix const& matrix,
                        apply_request const& request, std::vector<double> const& x,
                        std::vector<double> const& y, Gather const& gather, observer const& watch) {
  bool const turned = request.side == matrix_side::transposed;
  auto const options = options_of(request);
  auto const in = loaded(exec, x);
  auto const out = loaded(exec, y);
  sparse::dose_matrix<typename Exec::memory_space> a;
  gather.together(
      [&] { a = files::make_dose_matrix(exec, matrix, options, job{{}, watch.cancelled}); });
  auto const multiply = [&] {
    auto const all = gather(exec, in);
    gather.together([&] {
      sparse::spmv_options const by{.sum = request.sum};
      turned ? a.apply_transposed(exec, request.alpha, all, request.beta, out, by)
             : a.apply(exec, request.alpha, all, request.beta, out, by);
    });
  };
  apply_result result;
  result.time_ms = 1e3 * cases::seconds_of(exec, multiply);
  copy_out(exec, result.y, out);
  exec.fence("iso::jobs::apply_matrix: the result");
  auto const& report = a.report(options.products);
  result.format = report.format;
  if (report.num_entries > 0) {
    result.bytes_per_entry = double(report.matrix_bytes) / double(report.num_entries);
  }
  result.repeats = repeat(
      exec, request.repeats, watch, [&](job const&) { multiply(); },
      [&](job const&) { copy_in(exec, out, y); });
  return result;
}

/// The matrix is whole here.
struct gather_nothing {
  template <class F>
  void together(F const& f) const {
    f();
  }
  template <class Exec, class View>
  View operator()(Exec const&, View const& x) const {
    return x;
  }
};

template <class Exec>
apply_result apply_to(Exec const& exec, files::host_matrix const& m, apply_request const& request,
                      observer const& watch) {
  bool const turned = request.side == matrix_side::transposed;
  auto const x = filled(request.x, turned ? m.rows : m.columns, 1, "x");
  auto const y = filled(request.y, turned ? m.columns : m.rows, 0, "y");
  validate_format(m, request);
  apply_result result;
  if (num_ranks() == 1) {
    result = apply_part(exec, m, request, x, y, gather_nothing(), watch);
  } else {
    matrix_parts<Exec> parts(exec, m, request.side, x, y);
    result = apply_part(exec, parts.matrix(), request, parts.x(x), parts.y(y), parts, watch);
    result.y = parts.whole(result.y);
  }
  bool const halves = std::holds_alternative<files::host_matrix::half_bits>(m.values);
  result.sum = request.sum.value_or(halves ? summation::reproducible : summation::ordered);
  result.hash = hash_text(hash_bits(std::span<double const>(result.y.data(), result.y.size())));
  return result;
}

}  // namespace

apply_result apply_matrix(files::host_matrix const& matrix, apply_request const& request,
                          observer const& watch) {
  apply_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    // x and y there; on the host these, the result and what they were read from. A rank holds its
    // part of the matrix in either, beside what it was read from.
    std::int64_t const vectors = 8 * (matrix.rows + matrix.columns);
    bool const turned = request.side == matrix_side::transposed;
    auto const share = [](std::int64_t all) { return (all + num_ranks() - 1) / num_ranks(); };
    with_values_of(matrix, [&](auto value) {
      using type = sparse::dose_matrix<typename decltype(exec)::memory_space>;
      std::int64_t const rows = turned ? matrix.rows : share(matrix.rows);
      std::int64_t const entries = share(matrix.entries());
      auto const there = type::template bytes_needed<decltype(value)>(
          sparse::entry_order::by_rows, rows, turned ? share(matrix.columns) : matrix.columns,
          entries, options_of(request));
      std::int64_t const part = num_ranks() > 1 ? bytes_of<decltype(value)>(entries, rows) : 0;
      char const* const what = "iso matrix: its products";
      if (num_ranks() > 1) {
        check_memory_of_ranks(exec, there + vectors, 2 * vectors + part, what);
      } else {
        check_free(exec, there + vectors, 2 * vectors + part, what);
      }
    });
    watch.step(0, "the product");
    result = apply_to(exec, matrix, request, watch);
  });
  watch.step(1, "done");
  return result;
}

}  // namespace iso::jobs
