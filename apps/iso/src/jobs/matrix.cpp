// SPDX-License-Identifier: BSD-3-Clause
#include "csr_memory.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/core/detail/fnv1a.hpp>
#include <iso/core/detail/seldom_asked.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/jobs/matrix.hpp>
#include <iso/sparse/validate.hpp>
#include <iso/synthetic/generate.hpp>
#include <iso/synthetic/statistics.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace iso::jobs {
namespace {

using files::host_matrix;

template <class Exec, class Matrix>
matrix_facts look_at(Exec const& exec, Matrix const& a, observer const& watch) {
  sparse::csr_demands demands;
  demands.values = sparse::csr_demands::of_values::finite;
  job const asked{{}, watch.cancelled};
  auto const report = sparse::validate(exec, a, demands, asked);
  if (!report.sound()) {
    throw invalid_argument(sparse::to_string(report));
  }
  return {synthetic::statistics(exec, a, asked), report.descending == 0 && report.doubled == 0,
          report.stored_zeros};
}

template <class Value, class Exec, class Law>
matrix_result generate_on(Exec const& exec, Law const& law, observer const& watch) {
  job const asked{{}, watch.cancelled};
  watch.step(0, "making the matrix");
  auto const start = std::chrono::steady_clock::now();
  auto const a = synthetic::generate<Value>(exec, law, asked);
  matrix_result result;
  result.time_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  watch.step(0.5, "counting");
  result.facts = look_at(exec, a, watch);
  watch.step(0.8, "fetching it");
  auto& m = result.matrix;
  m.rows = a.num_rows;
  m.columns = a.num_cols;
  check_free(Kokkos::DefaultHostExecutionSpace(), bytes_of<Value>(a.num_entries(), a.num_rows),
             "iso matrix: a copy to be written");
  copy_out(exec, m.offsets, a.row_offsets, asked);
  copy_out(exec, m.indices, a.columns, asked);
  m.values = stored<Value>();
  copy_out(exec, std::get<stored<Value>>(m.values), a.values, asked);
  exec.fence("iso::jobs::generate_matrix: copied");
  result.hash = hash_matrix(m, asked);
  watch.step(1, "done");
  return result;
}

template <class Exec>
matrix_result generate_for(Exec const& exec, matrix_request const& request, observer const& watch) {
  auto const generated = [&](auto const& law) {
    return with_number(request.values,
                       [&](auto value) { return generate_on<decltype(value)>(exec, law, watch); });
  };
  if (!request.table) {
    auto const& voxels = request.field.voxels;
    auto result = generated(request.field);
    result.matrix.notes = {
        {"rows", message("voxels (x, y, z) of {} a side, z fastest, {} mm apart",
                         {voxels.extent[0], voxels.spacing.x})},
        {"columns", "spots, layer by layer from the deepest, lines forth and back"},
        {"unit", "Gy for 1e11 protons"}};
    return result;
  }
  auto figures = synthetic::table_of(*request.table, request.factor);
  figures.similarity = request.similarity;
  figures.seed = request.seed != 0 ? request.seed : figures.seed;
  auto result = generated(figures);
  result.matrix.notes = {
      {"rows", "synthetic, neighbours of one grid line one after another"},
      {"source", message("figures of {} in Liu et al. 2021, table I", {to_word(*request.table)})}};
  return result;
}

std::uint64_t hash_bytes(std::uint64_t hash, void const* from, std::size_t count,
                         iso::detail::seldom_asked& ask) {
  auto const* const bytes = static_cast<unsigned char const*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 256 == 0) {
      ask();
    }
    hash = iso::detail::fnv1a(hash, bytes[i]);
  }
  return hash;
}

/// Returns a number that is stored.
template <class T>
double widened(T x) {
  if constexpr (sizeof(T) == 2) {
    return double(files::from_half(x));
  } else {
    return double(x);
  }
}

/// Returns `x` as it is stored.
template <class Value>
auto narrow(double x) {
  if constexpr (std::is_same_v<Value, half>) {
    return half(x).bits;
  } else {
    return Value(x);
  }
}

/// Returns the least number of which a type has all digits.
template <class Value>
constexpr double min_normal() {
  return std::is_same_v<Value, half> ? 0x1p-14 : double(std::numeric_limits<Value>::min());
}

/// Keeps what is not lost.
template <class Value>
conversion_counts narrow_all(host_matrix& m, std::vector<double> const& wide,
                             iso::detail::seldom_asked& ask) {
  conversion_counts counts;
  stored<Value> values;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets = {0};
  values.reserve(wide.size());
  columns.reserve(wide.size());
  for (std::int64_t row = 0; row < m.rows; ++row) {
    for (auto i = std::size_t(m.offsets[std::size_t(row)]);
         i < std::size_t(m.offsets[std::size_t(row) + 1]); ++i) {
      ask();
      auto const kept = narrow<Value>(wide[i]);
      double const now = widened(kept);
      ISO_VALIDATE(
          std::isfinite(now),
          "entry ({}, {}) is {} (too large for the type that is asked for); choose float or double",
          row, m.indices[i], wide[i]);
      counts.lost += now == 0 && wide[i] != 0 ? 1 : 0;
      counts.subnormal += now != 0 && std::abs(now) < min_normal<Value>() ? 1 : 0;
      if (now != 0 || wide[i] == 0) {
        values.push_back(kept);
        columns.push_back(m.indices[i]);
      }
    }
    offsets.push_back(std::int64_t(columns.size()));
  }
  m.values = std::move(values);
  m.indices = std::move(columns);
  m.offsets = std::move(offsets);
  return counts;
}

}  // namespace

matrix_result generate_matrix(matrix_request const& request, observer const& watch) {
  matrix_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    result = generate_for(exec, request, watch);
  });
  return result;
}

matrix_facts inspect_matrix(std::string const& name, host_matrix const& matrix,
                            observer const& watch) {
  watch.step(0, "counting");
  matrix_facts facts;
  backend::with_name(name, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    with_values_of(matrix, [&](auto value) {
      check_free(exec, matrix.entries() * std::int64_t(sizeof(value) + 4) + 40 * matrix.rows,
                 "iso matrix");
      job const asked{{}, watch.cancelled};
      facts = look_at(exec, load_matrix<decltype(value)>(exec, matrix, asked), watch);
    });
  });
  watch.step(1, "done");
  return facts;
}

conversion_counts convert_values(host_matrix& matrix, number_type values, job const& asked) {
  iso::detail::seldom_asked ask(asked);
  return with_number(values, [&](auto value) {
    using type = decltype(value);
    // The values as doubles, and the result beside what there is.
    check_free(8 * matrix.entries() + bytes_of<type>(matrix.entries(), matrix.rows), "iso matrix");
    std::vector<double> wide(std::size_t(matrix.entries()));
    std::visit(
        [&](auto const& all) {
          std::transform(all.begin(), all.end(), wide.begin(), [&](auto x) {
            ask();
            return widened(x);
          });
        },
        matrix.values);
    return narrow_all<type>(matrix, wide, ask);
  });
}

std::string hash_matrix(host_matrix const& m, job const& asked) {
  iso::detail::seldom_asked ask(asked);
  std::int64_t const shape[2] = {m.rows, m.columns};
  std::uint64_t hash = hash_bytes(iso::detail::fnv1a_of_nothing, shape, sizeof shape, ask);
  hash = hash_bytes(hash, m.offsets.data(), m.offsets.size() * sizeof(std::int64_t), ask);
  hash = hash_bytes(hash, m.indices.data(), m.indices.size() * sizeof(std::int32_t), ask);
  hash = std::visit(
      [&](auto const& all) {
        return hash_bytes(hash, all.data(), all.size() * sizeof(all[0]), ask);
      },
      m.values);
  return cases::hash_text(hash);
}

}  // namespace iso::jobs
