// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <iso/sparse/dose_matrix.hpp>

#include <iso/sparse/detail/value_word.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace iso::sparse {
namespace detail {
namespace {

template <class Exec, class Value>
matrix_format format_for(Exec const& exec,
                         csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
                         dose_matrix_options const& options, job const& control) {
  if (options.format) {
    bool const blocks = format_report{.format = *options.format}.rows() > 1;
    ISO_VALIDATE(!blocks || sizeof(Value) == 2,
                 "iso::sparse::dose_matrix: {} of values of {} (row blocks are for values of 16 "
                 "bits); ask for values of half",
                 to_string(*options.format), value_word<Value>());
    return *options.format;
  }
  if (sizeof(Value) == 2) {
    auto const report = validate(exec, a, {}, iso::detail::part_of(control, 0, 0.3));
    if (report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0) {
      return choose_format(exec, a, options.kind.value_or(processor_of<Exec>()),
                           iso::detail::part_of(control, 0.3, 1))
          .format;
    }
  }
  return matrix_format::csr32;
}

struct rounded_values {
  value_report report = {};
  double scale = 1;
};

template <class Exec, class Value>
auto side_of(Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
             dose_matrix_options const& options, rounded_values const& how, job const& control) {
  dose_matrix_side<typename Exec::memory_space> to;
  auto const format = format_for(exec, a, options, iso::detail::part_of(control, 0, 0.4));
  job const formed = iso::detail::part_of(control, 0.4, 0.8);
  auto const take = [&](auto const& matrix) {
    auto const shape = shape_of(matrix);
    auto const p = make_plan(exec, matrix, iso::detail::part_of(control, 0.8, 1));
    to = {matrix,
          p,
          {format, std::string(value_word<Value>()), shape.num_entries, shape.bytes,
           bytes_of(p.segments, p.empty, p.first_part, p.rows.max_abs, p.rows.entries, p.exponents),
           how.report, how.scale}};
  };
  if constexpr (sizeof(Value) == 2) {
    if (format == matrix_format::row_block8) {
      take(make_row_blocks<8>(exec, a, formed));
    } else if (format == matrix_format::row_block4) {
      take(make_row_blocks<4>(exec, a, formed));
    }
  }
  if (format == matrix_format::csr16) {
    take(to_relative_columns(exec, a, formed));
  } else if (format == matrix_format::csr32) {
    take(a);
  }
  return to;
}

template <class Exec, class Value>
auto sides_of(Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
              entry_order stored, dose_matrix_options const& options, job const& control,
              rounded_values const& how = {}) {
  using direction = dose_matrix_options::directions;
  dose_matrix_sides<typename Exec::memory_space> to;
  // Each takes half of the time, or all of it where the other is not wanted.
  auto const make = [&](auto& side, direction other, entry_order order, double from, double end) {
    if (options.products != other) {
      job const part = iso::detail::part_of(control, from, end);
      auto const turned =
          stored == order ? a : transpose(exec, a, iso::detail::part_of(part, 0, 0.4));
      side = side_of(exec, turned, options, how, iso::detail::part_of(part, 0.4, 1));
    }
  };
  bool const both = options.products == direction::both;
  make(to.forward, direction::transposed, entry_order::by_rows, 0, both ? 0.5 : 1);
  make(to.transposed, direction::forward, entry_order::by_columns, both ? 0.5 : 0, 1);
  return to;
}

/// Rounds once, and by one power of two: row scales would differ between A and A^T, and so would
/// what each of them can hold.
template <class To, class Exec, class Value>
auto rounded_sides(Exec const& exec,
                   csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
                   entry_order stored, dose_matrix_options const& options, job const& control) {
  auto to = convert_values<To>(exec, a, row_scaling::none, iso::detail::part_of(control, 0, 0.1));
  rounded_values how{to.report};
  if (to.report.overflowed + to.report.underflowed + to.report.lost > 0) {
    to = {};
    to = convert_values<To>(exec, a, row_scaling::uniform, iso::detail::part_of(control, 0.1, 0.2));
    how.report = to.report;
    Kokkos::deep_copy(exec, how.scale, Kokkos::subview(to.matrix.row_scales, 0));
    exec.fence("iso::sparse::dose_matrix: the scale is here");
    to.matrix.row_scales = {};
  }
  return sides_of(exec, to.matrix, stored, options, iso::detail::part_of(control, 0.2, 1), how);
}

}  // namespace

template <execution_space Exec, class Value>
dose_matrix_sides<typename Exec::memory_space> make_sides(
    Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
    entry_order stored, dose_matrix_options const& options, job const& control) {
  using storage = dose_matrix_options::value_storage;
  if constexpr (!std::is_same_v<Value, half>) {
    if (options.values == storage::half) {
      return rounded_sides<half>(exec, a, stored, options, control);
    }
  }
  if constexpr (!std::is_same_v<Value, bfloat16>) {
    if (options.values == storage::bfloat16) {
      return rounded_sides<bfloat16>(exec, a, stored, options, control);
    }
  }
  return sides_of(exec, a, stored, options, control);
}

#define ISO_SPARSE_MAKE_SIDES(Exec, Value)                                 \
  template dose_matrix_sides<Exec::memory_space> make_sides<Exec, Value>(  \
      Exec const&, ISO_CSR(Exec, Value, std::int32_t) const&, entry_order, \
      dose_matrix_options const&, job const&);
ISO_FOR_EACH_VALUE(ISO_SPARSE_MAKE_SIDES)

void validate_options(dose_matrix_options const& options) {
  check_fields(options, "iso::sparse::dose_matrix");
}

std::int64_t bytes_of_dose_matrix(std::int64_t value, entry_order stored, std::int64_t num_rows,
                                  std::int64_t num_cols, std::int64_t num_entries,
                                  dose_matrix_options const& options) {
  using choice = dose_matrix_options;
  validate_options(options);
  bool const rounds = options.values != choice::value_storage::as_given;
  double const entries = double(num_entries);
  double const width = rounds ? 2 : double(value);
  auto const by_rows = [&](double of_value, double column, double rows) {
    return entries * (of_value + column) + 8 * (rows + 1);
  };
  bool const are_rows = stored == entry_order::by_rows;
  // What is copied, and its values as they are rounded, last while directions are made.
  double held = by_rows(double(value), 4, double(are_rows ? num_rows : num_cols)) +
                (rounds ? entries * width : 0);
  double most = held;
  auto const make = [&](choice::directions other, std::int64_t count, bool turned) {
    if (options.products == other) {
      return;
    }
    auto const rows = double(count);
    // Of a row a plan knows the largest magnitude, entries, exponent, and segments.
    double made = 26 * rows;
    bool stays = false;  // what is turned, or copied, is the matrix itself
    if (options.format == matrix_format::csr16) {
      made += by_rows(width, 2, rows) + 4 * rows;  // a row's first column
    } else if (options.format ? *options.format != matrix_format::csr32 : width == 2) {
      made += 1.5 * by_rows(width, 2, rows);
    } else {
      stays = true;
    }
    double const other_way = turned ? by_rows(width, 4, rows) : 0;
    most = std::max(most, held + other_way + made);
    held += made + (stays ? other_way : 0);
  };
  make(choice::directions::transposed, num_rows, !are_rows);
  make(choice::directions::forward, num_cols, are_rows);
  // A product packs what it reads, four vectors at most.
  double const packed =
      8 * double(std::min<std::int64_t>(options.vectors, 4)) * double(std::max(num_rows, num_cols));
  return std::int64_t(std::min(std::max(most, held + packed), 0x1p60));
}

void validate_vectors_at_once(std::int64_t vectors, std::int64_t most) {
  ISO_VALIDATE(
      vectors <= most,
      "iso::sparse::dose_matrix: {} vectors (it was made for {}); ask for more in its options",
      vectors, most);
}

double scaled_alpha(double alpha, double scale) {
  double const scaled = alpha * scale;
  bool const exact = scaled / scale == alpha || std::isnan(alpha);
  ISO_VALIDATE(exact,
               "iso::sparse::dose_matrix: alpha {} for values divided by 2^{} (their product is no "
               "normal double); take a part of alpha into x",
               alpha, std::ilogb(scale));
  return scaled;
}

}  // namespace detail

std::string to_string(dose_matrix_report const& r) {
  auto const text = message("{} of {}: {} entries in {} bytes, and {} bytes of plan",
                            {to_string(r.format), std::string_view(r.values), r.num_entries,
                             r.matrix_bytes, r.plan_bytes});
  auto const& [overflowed, underflowed, lost] = r.rounding;
  if (r.scale == 1 && overflowed + underflowed + lost == 0) {
    return text;
  }
  return text + message("; values divided by 2^{}: {} overflowed, {} lost digits, {} became zero",
                        {std::ilogb(r.scale), overflowed, underflowed, lost});
}

}  // namespace iso::sparse
