// SPDX-License-Identifier: BSD-3-Clause
#include "product_runner.hpp"
#include "sparse_formats.hpp"

#include <iso/backend/registry.hpp>
#include <iso/jobs/bits.hpp>
#include <iso/jobs/matrix_product.hpp>
#include <iso/sparse/dose_matrix.hpp>

#include <algorithm>
#include <iterator>
#include <optional>

namespace iso::jobs {
namespace {

std::optional<summation> sum_named(std::string const& name) {
  ISO_VALIDATE(name == "automatic" || name == "ordered" || name == "reproducible",
               "sum '{}' is not known (automatic, ordered, reproducible)", name);
  return name == "automatic" ? std::optional<summation>()
         : name == "ordered" ? summation::ordered
                             : summation::reproducible;
}

/// Absent: to be chosen.
std::optional<matrix_format> format_named(std::string const& name) {
  for (auto const format : all_formats) {
    if (name == name_of(format)) {
      return format;
    }
  }
  ISO_VALIDATE(name == "auto", "format '{}' is not known (apply_formats lists them)", name);
  return {};
}

std::vector<double> filled(std::optional<std::vector<double>> const& given, std::int64_t length,
                           double preset, char const* name) {
  if (!given) {
    return std::vector<double>(std::size_t(length), preset);
  }
  ISO_VALIDATE(std::int64_t(given->size()) == length,
               "{} has {} numbers (the matrix wants {}) is --transpose missing, or too much?", name,
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

template <class Value, class Exec>
apply_result apply_to(Exec const& exec, files::host_matrix const& m, apply_request const& request) {
  auto const sum = sum_named(request.sum);
  bool const turned = request.side == matrix_side::transposed;
  auto const x = filled(request.x, turned ? m.rows : m.columns, 1, "x");
  auto const y = filled(request.y, turned ? m.columns : m.rows, 0, "y");
  auto const format = format_named(request.format);
  ISO_VALIDATE(!is_row_block(format) || sizeof(Value) == 2,
               "format '{}' (it is for values of 16 bits) convert the matrix: iso matrix convert "
               "--values half",
               request.format);
  using direction = sparse::dose_matrix_options::directions;
  auto const to = turned ? direction::transposed : direction::forward;
  auto const& stored_values = std::get<stored<Value>>(m.values);
  Kokkos::View<Value const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const values(
      reinterpret_cast<Value const*>(stored_values.data()), stored_values.size());
  sparse::dose_matrix<typename Exec::memory_space> const a(
      exec, sparse::csr_arrays(m.rows, m.columns, m.offsets, m.indices, values),
      {.products = to, .format = format});
  auto const in = loaded(exec, x);
  auto const out = loaded(exec, y);
  apply_result result;
  result.time_ms =
      1e3 * seconds_of(exec, [&] {
        turned ? a.apply_transposed(exec, request.alpha, in, request.beta, out, {.sum = sum})
               : a.apply(exec, request.alpha, in, request.beta, out, {.sum = sum});
      });
  copy_out(exec, result.y, out);
  exec.fence("iso::jobs::apply_matrix: the result");
  auto const& report = a.report(to);
  result.format = name_of(report.format);
  result.sum = sum.value_or(sizeof(Value) == 2 ? summation::reproducible : summation::ordered) ==
                       summation::ordered
                   ? "ordered"
                   : "reproducible";
  result.bytes_per_entry =
      double(report.matrix_bytes) / double(std::max<std::int64_t>(1, report.num_entries));
  result.hash = hash_text(hash_bits(std::span<double const>(result.y.data(), result.y.size())));
  return result;
}

}  // namespace

std::vector<std::string> const& apply_formats() {
  static std::vector<std::string> const names = [] {
    std::vector<std::string> all = {"auto"};
    std::transform(all_formats.begin(), all_formats.end(), std::back_inserter(all), name_of);
    return all;
  }();
  return names;
}

apply_result apply_matrix(files::host_matrix const& matrix, apply_request const& request,
                          observer const& watch) {
  apply_result result;
  backend::with_name(request.backend, [&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    exec_space const exec;
    with_values_of(matrix, [&](auto value) {
      bool const turned = request.side == matrix_side::transposed;
      // As it is stored, transposed, and values of 16 bits in row blocks.
      std::int64_t const forms = 1 + (turned ? 1 : 0) + (sizeof(value) == 2 ? 1 : 0);
      check_products(exec, matrix, request.side, forms * std::int64_t(sizeof(value) + 4), 1);
      watch.step(0, "the product");
      result = apply_to<decltype(value)>(exec, matrix, request);
    });
  });
  watch.step(1, "done");
  return result;
}

}  // namespace iso::jobs
