// SPDX-License-Identifier: BSD-3-Clause
#include "csr_memory.hpp"
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

template <class Exec>
apply_result apply_to(Exec const& exec, files::host_matrix const& m, apply_request const& request,
                      observer const& watch) {
  auto const sum = request.sum;
  bool const turned = request.side == matrix_side::transposed;
  auto const x = filled(request.x, turned ? m.rows : m.columns, 1, "x");
  auto const y = filled(request.y, turned ? m.columns : m.rows, 0, "y");
  auto const format = request.format;
  bool const halves = std::holds_alternative<files::host_matrix::half_bits>(m.values);
  ISO_VALIDATE(!is_row_block(format) || halves,
               "format '{}' (it is for values of 16 bits); convert the matrix by iso matrix "
               "convert --values half",
               to_word(format.value_or(matrix_format::csr32)));
  auto const options = options_of(request);
  auto const a = files::make_dose_matrix(exec, m, options, job{{}, watch.cancelled});
  auto const in = loaded(exec, x);
  auto const out = loaded(exec, y);
  apply_result result;
  auto const multiply = [&] {
    turned ? a.apply_transposed(exec, request.alpha, in, request.beta, out, {.sum = sum})
           : a.apply(exec, request.alpha, in, request.beta, out, {.sum = sum});
  };
  result.time_ms = 1e3 * cases::seconds_of(exec, multiply);
  copy_out(exec, result.y, out);
  exec.fence("iso::jobs::apply_matrix: the result");
  auto const& report = a.report(options.products);
  result.format = report.format;
  result.sum = sum.value_or(halves ? summation::reproducible : summation::ordered);
  if (report.num_entries > 0) {
    result.bytes_per_entry = double(report.matrix_bytes) / double(report.num_entries);
  }
  result.hash = hash_text(hash_bits(std::span<double const>(result.y.data(), result.y.size())));
  result.repeats = repeat(
      exec, request.repeats, watch, [&](job const&) { multiply(); },
      [&](job const&) { copy_in(exec, out, y); });
  return result;
}

}  // namespace

apply_result apply_matrix(files::host_matrix const& matrix, apply_request const& request,
                          observer const& watch) {
  apply_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    // x and y there; on the host these, the result and what they were read from.
    std::int64_t const vectors = 8 * (matrix.rows + matrix.columns);
    with_values_of(matrix, [&](auto value) {
      using type = sparse::dose_matrix<typename decltype(exec)::memory_space>;
      auto const there = type::template bytes_needed<decltype(value)>(
          sparse::entry_order::by_rows, matrix.rows, matrix.columns, matrix.entries(),
          options_of(request));
      check_free(exec, there + vectors, 2 * vectors, "iso matrix: its products");
    });
    watch.step(0, "the product");
    result = apply_to(exec, matrix, request, watch);
  });
  watch.step(1, "done");
  return result;
}

}  // namespace iso::jobs
