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
#include <cstring>
#include <numbers>

namespace iso::jobs {
namespace {

using files::host_matrix;

// The tables come first, in the same order.
static_assert(int(matrix_kind::prostate_2) == int(synthetic::plan_case::prostate_2));

matrix_facts facts_of(synthetic::matrix_statistics const& s, sparse::csr_report const& report) {
  matrix_facts facts;
  facts.rows = s.rows;
  facts.columns = s.columns;
  facts.nonzeros = s.nonzeros;
  facts.empty_rows = s.empty_rows;
  facts.short_rows = s.short_rows;
  facts.longest = s.longest;
  facts.mean_length = s.mean_length();
  facts.mean_run = s.mean_run();
  facts.wide_share = s.wide_share();
  facts.jaccard = s.jaccard();
  std::copy(s.jaccard_histogram.begin(), s.jaccard_histogram.end(),
            facts.jaccard_histogram.begin());
  facts.fill = {s.fill(0), s.fill(1), s.fill(2)};
  auto const trimmed = [](synthetic::matrix_statistics::histogram const& all) {
    std::vector<std::int64_t> counts(all.begin(), all.end());
    while (!counts.empty() && counts.back() == 0) {
      counts.pop_back();
    }
    return counts;
  };
  facts.row_lengths = trimmed(s.row_lengths);
  facts.run_lengths = trimmed(s.run_lengths);
  facts.ascending = report.descending == 0 && report.doubled == 0;
  facts.stored_zeros = report.stored_zeros;
  return facts;
}

template <class Exec, class Matrix>
matrix_facts look_at(Exec const& exec, Matrix const& a, observer const& watch) {
  sparse::csr_demands demands;
  demands.values = sparse::csr_demands::of_values::finite;
  job const asked{{}, watch.cancelled};
  auto const report = sparse::validate(exec, a, demands, asked);
  if (!report.sound()) {
    throw invalid_argument(sparse::to_string(report));
  }
  return facts_of(synthetic::statistics(exec, a, asked), report);
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

template <class Exec, class Law>
matrix_result generate_in(Exec const& exec, number_type values, Law const& law,
                          observer const& watch) {
  return values == number_type::f16   ? generate_on<half>(exec, law, watch)
         : values == number_type::f32 ? generate_on<float>(exec, law, watch)
                                      : generate_on<double>(exec, law, watch);
}

synthetic::pencil_beams field_of(matrix_request const& r) {
  ISO_VALIDATE(r.size >= 1 && r.size <= 1290,
               "size {} (must be from 1 to 1290 voxels a side); choose another by --size", r.size);
  synthetic::pencil_beams field;
  field.voxels = grid::centred({r.size, r.size, r.size}, {r.spacing, r.spacing, r.spacing});
  field.angle = r.angle / 180 * std::numbers::pi;
  field.entrance = r.entrance;
  for (auto const& [thickness, power] : r.slabs) {
    field.slabs.push_back({thickness, power});
  }
  field.radius = r.radius;
  field.spot_spacing = r.spot_spacing;
  field.margin = r.spot_spacing;
  field.layer_spacing = r.layer_spacing;
  field.initial_sigma = r.initial_sigma;
  field.lateral_loss = r.lateral_loss;
  field.distal_cut = r.distal_cut;
  return field;
}

template <class Exec>
matrix_result generate_for(Exec const& exec, matrix_request const& request, observer const& watch) {
  if (request.kind == matrix_kind::pencil_beams) {
    auto const field = field_of(request);
    auto result = generate_in(exec, request.values, field, watch);
    result.cut_radius = std::sqrt(-2 * std::log(field.lateral_loss));
    result.matrix.notes = {
        {"rows", message("voxels (x, y, z) of {} a side, z fastest, {} mm apart",
                         {request.size, request.spacing})},
        {"columns", "spots, layer by layer from the deepest, lines forth and back"},
        {"unit", "Gy for 1e11 protons"}};
    return result;
  }
  auto figures = synthetic::table_of(synthetic::plan_case(request.kind), request.factor);
  figures.similarity = request.similarity;
  figures.seed = request.seed != 0 ? request.seed : figures.seed;
  auto result = generate_in(exec, request.values, figures, watch);
  result.matrix.notes = {
      {"rows", "synthetic, neighbours of one grid line one after another"},
      {"source", message("figures of {} in Liu et al. 2021, table I", {to_word(request.kind)})}};
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

template <class T>
std::vector<double> widened(std::vector<T> const& values, iso::detail::seldom_asked& ask) {
  std::vector<double> wide(values.size());
  std::transform(values.begin(), values.end(), wide.begin(), [&](T x) {
    ask();
    if constexpr (sizeof(T) == 2) {
      return double(files::from_half(x));
    } else {
      return double(x);
    }
  });
  return wide;
}

double narrow(double x, std::uint16_t& to) {
  to = half(x).bits;
  return double(files::from_half(to));
}
template <class T>
double narrow(double x, T& to) {
  to = T(x);
  return double(to);
}

/// Keeps what is not lost; `normal` is the least number with all its digits.
template <class T>
conversion_counts narrow_all(host_matrix& m, std::vector<double> const& wide, double normal,
                             iso::detail::seldom_asked& ask) {
  conversion_counts counts;
  std::vector<T> values;
  std::vector<std::int32_t> columns;
  std::vector<std::int64_t> offsets = {0};
  values.reserve(wide.size());
  columns.reserve(wide.size());
  for (std::int64_t row = 0; row < m.rows; ++row) {
    for (auto i = std::size_t(m.offsets[std::size_t(row)]);
         i < std::size_t(m.offsets[std::size_t(row) + 1]); ++i) {
      ask();
      T kept{};
      double const now = narrow(wide[i], kept);
      ISO_VALIDATE(
          std::isfinite(now),
          "entry ({}, {}) is {} (too large for the type that is asked for); choose float or double",
          row, m.indices[i], wide[i]);
      counts.lost += now == 0 && wide[i] != 0 ? 1 : 0;
      counts.subnormal += now != 0 && std::abs(now) < normal ? 1 : 0;
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
  // The values as doubles, and the result beside what there is.
  auto const result = values == number_type::f16 ? bytes_of<half>(matrix.entries(), matrix.rows)
                      : values == number_type::f32
                          ? bytes_of<float>(matrix.entries(), matrix.rows)
                          : bytes_of<double>(matrix.entries(), matrix.rows);
  check_free(8 * matrix.entries() + result, "iso matrix");
  auto const wide = std::visit([&](auto const& all) { return widened(all, ask); }, matrix.values);
  return values == number_type::f16   ? narrow_all<std::uint16_t>(matrix, wide, 0x1p-14, ask)
         : values == number_type::f32 ? narrow_all<float>(matrix, wide, 0x1p-126, ask)
                                      : narrow_all<double>(matrix, wide, 0x1p-1022, ask);
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
