// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <iso/sparse/dose_matrix.hpp>

namespace iso::sparse {
namespace detail {
namespace {

template <class Value>
char const* name_of() {
  return std::is_same_v<Value, half>       ? "half"
         : std::is_same_v<Value, bfloat16> ? "bfloat16"
         : std::is_same_v<Value, float>    ? "float"
                                           : "double";
}

template <class Exec, class Value>
matrix_format format_for(Exec const& exec,
                         csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
                         dose_matrix_options const& options) {
  if (options.format) {
    bool const blocks = format_report{.format = *options.format}.rows() > 1;
    ISO_VALIDATE(!blocks || sizeof(Value) == 2,
                 "iso::sparse::dose_matrix: {} of values of {} (row blocks are for values of 16 "
                 "bits) ask for values of half",
                 to_string(*options.format), std::string_view(name_of<Value>()));
    return *options.format;
  }
  if (sizeof(Value) == 2) {
    auto const report = validate(exec, a);
    if (report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0) {
      return choose_format(exec, a, options.kind.value_or(processor_of<Exec>())).format;
    }
  }
  return matrix_format::csr32;
}

template <class Exec, class Value>
auto side_of(Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
             dose_matrix_options const& options, value_report const& rounding) {
  dose_matrix_side<typename Exec::memory_space> to;
  auto const format = format_for(exec, a, options);
  auto const take = [&](auto const& matrix) {
    auto const shape = shape_of(matrix);
    auto const p = make_plan(exec, matrix);
    to = {matrix,
          p,
          {format, name_of<Value>(), shape.num_entries, shape.bytes,
           bytes_of(p.segments, p.empty, p.first_part, p.rows.max_abs, p.rows.entries, p.exponents),
           rounding}};
  };
  if constexpr (sizeof(Value) == 2) {
    if (format == matrix_format::row_block8) {
      take(make_row_blocks<8>(exec, a));
    } else if (format == matrix_format::row_block4) {
      take(make_row_blocks<4>(exec, a));
    }
  }
  if (format == matrix_format::csr16) {
    take(to_relative_columns(exec, a));
  } else if (format == matrix_format::csr32) {
    take(a);
  }
  return to;
}

template <class To, class Exec, class Value>
auto rounded_side(Exec const& exec,
                  csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
                  dose_matrix_options const& options) {
  auto to = convert_values<To>(exec, a);
  if (to.report.overflowed > 0) {
    to = {};
    to = convert_values<To>(exec, a, row_scaling::by_largest);
  }
  return side_of(exec, to.matrix, options, to.report);
}

}  // namespace

template <execution_space Exec, class Value>
dose_matrix_side<typename Exec::memory_space> make_side(
    Exec const& exec, csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
    dose_matrix_options const& options) {
  using storage = dose_matrix_options::value_storage;
  switch (options.values) {
    case storage::half:
      return rounded_side<half>(exec, a, options);
    case storage::bfloat16:
      return rounded_side<bfloat16>(exec, a, options);
    case storage::as_given:
      break;
  }
  return side_of(exec, a, options, {});
}

#define ISO_SPARSE_MAKE_SIDE(Exec, Value)                               \
  template dose_matrix_side<Exec::memory_space> make_side<Exec, Value>( \
      Exec const&, ISO_CSR(Exec, Value, std::int32_t) const&, dose_matrix_options const&);
ISO_FOR_EACH_VALUE(ISO_SPARSE_MAKE_SIDE)

void validate_vectors_at_once(std::int64_t vectors, std::int64_t most) {
  ISO_VALIDATE(most >= 1, "iso::sparse::dose_matrix: {} vectors at once (at least one)", most);
  ISO_VALIDATE(vectors <= most,
               "iso::sparse::dose_matrix: {} vectors (it was made for {}) ask for more in its "
               "options",
               vectors, most);
}

}  // namespace detail

std::string to_string(dose_matrix_report const& r) {
  return message("{} of {}: {} entries in {} bytes, and {} bytes of plan",
                 {to_string(r.format), std::string_view(r.values), r.num_entries, r.matrix_bytes,
                  r.plan_bytes});
}

}  // namespace iso::sparse
