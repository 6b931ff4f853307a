// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/widen.hpp>
#include <iso/core/numerics.hpp>
#include <iso/detail/survey.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/sparse/detail/csr_rows.hpp>

#include <Kokkos_MathematicalFunctions.hpp>
#include <Kokkos_NumericTraits.hpp>

#include <algorithm>
#include <string>

namespace iso::sparse::detail {
namespace {

template <class To>
inline constexpr double smallest_normal = std::is_same_v<To, half>     ? 0x1p-14
                                          : std::is_same_v<To, double> ? 0x1p-1022
                                                                       : 0x1p-126;

/// The power of two that takes a number from [2^k, 2^(k + 1)) to [2^top, 2^(top + 1)), as far as
/// both it and its inverse are normal numbers.
KOKKOS_FUNCTION double scale_to(double largest, int top) {
  if (largest == 0) {
    return 1;
  }
  bool const subnormal = largest < 0x1p-1022;
  auto const bits = Kokkos::bit_cast<std::uint64_t>(subnormal ? largest * 0x1p54 : largest);
  int const exponent = int(bits >> 52) - 1023 - (subnormal ? 54 : 0);
  int const shift = top - exponent;
  int const held = shift > 1022 ? 1022 : shift < -1022 ? -1022 : shift;
  return Kokkos::bit_cast<double>(std::uint64_t(held + 1023) << 52);
}

/// The exponent of the largest value of a scaled row.
template <class To>
inline constexpr int top_exponent = std::is_same_v<To, half> ? 14 : 0;

/// Converts and counts what a row loses; one row a lane group.
template <class From, class To>
struct convert_kernel {
  std::int64_t const* offsets;
  From const* from;
  double const* from_scales;
  To* to;
  double* to_scales;
  double common_scale;  ///< 0: each row has its own
  value_report* reports;
  std::int64_t first_row;  ///< of the launch

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const row = first_row + of_launch;
    using counts = typename Group::template lane_array<std::int32_t>;
    std::int64_t const first = offsets[row];
    auto const length = std::int32_t(offsets[row + 1] - first);
    From const* KOKKOS_RESTRICT const in = from + first;
    To* KOKKOS_RESTRICT const out = to + first;
    double const scale =
        common_scale != 0 ? common_scale : scale_to(largest(group, in, length), top_exponent<To>);
    double const inverse = 1 / scale;
    counts over(0), under(0), lost(0);
    group.strided(std::int32_t(0), length, [&](int lane, std::int32_t j) {
      double const given = backend::widen<double>(in[j]);
      double const x = given * scale;
      To const rounded(x);
      double const back = Kokkos::fabs(backend::widen<double>(rounded));
      // As a product uses it: what is rounded up may leave double only when it is scaled back.
      over[lane] += is_finite(x) && !is_finite(back * inverse) ? 1 : 0;
      under[lane] += back > 0 && back < smallest_normal<To> ? 1 : 0;
      bool const gone = back == 0 && given != 0;
      lost[lane] += gone ? 1 : 0;
      out[j] = gone ? To(0.0) : rounded;
    });
    std::int32_t const overflowed = group.sum(over);
    std::int32_t const underflowed = group.sum(under);
    std::int32_t const vanished = group.sum(lost);
    group.once([&] {
      reports[row] = {overflowed, underflowed, vanished};
      if (to_scales != nullptr) {
        to_scales[row] = (from_scales != nullptr ? from_scales[row] : 1.0) * inverse;
      }
    });
  }

 private:
  template <class Group>
  KOKKOS_FUNCTION static double largest(Group const& group, From const* in, std::int32_t length) {
    typename Group::template lane_array<double> most(0.0);
    group.strided(std::int32_t(0), length, [&](int lane, std::int32_t j) {
      double const size = Kokkos::fabs(backend::widen<double>(in[j]));
      most[lane] = is_finite(size) && size > most[lane] ? size : most[lane];
    });
    return group.highest(most);
  }
};

struct report_kernel {
  value_report const* reports;
  KOKKOS_FUNCTION void operator()(std::int64_t row, std::int64_t& overflowed,
                                  std::int64_t& underflowed, std::int64_t& lost) const {
    overflowed += reports[row].overflowed;
    underflowed += reports[row].underflowed;
    lost += reports[row].lost;
  }
};

/// Columns of another width. Those of 16 bits lie above a base, the lowest column of the row.
template <class From, class To>
struct column_kernel {
  std::int64_t const* offsets;
  std::int32_t const* from_bases;
  From const* from;
  std::int32_t* to_bases;
  To* to;
  std::int64_t first_row;  ///< of the launch

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const row = first_row + of_launch;
    std::int64_t const first = offsets[row];
    auto const length = std::int32_t(offsets[row + 1] - first);
    std::int32_t shift = 0;
    if constexpr (std::is_same_v<To, std::uint16_t>) {
      typename Group::template lane_array<std::int32_t> least(
          Kokkos::Experimental::finite_max_v<std::int32_t>);
      group.strided(std::int32_t(0), length, [&](int lane, std::int32_t j) {
        least[lane] = from[first + j] < least[lane] ? from[first + j] : least[lane];
      });
      shift = length > 0 ? -group.lowest(least) : 0;
      group.once([&] { to_bases[row] = -shift; });
    } else {
      shift = from_bases[row];
    }
    group.strided(std::int32_t(0), length, [&](int, std::int32_t j) {
      to[first + j] = To(std::int32_t(from[first + j]) + shift);
    });
  }
};

/// A matrix with a's row offsets and scales, and columns and values yet to be written.
template <class To, class Column, class Exec, class Matrix>
auto rows_like(Exec const& exec, Matrix const& a, char const* function) {
  validate_shape(a, function);
  auto to = make_csr<To, Column>(exec, function, a.num_rows, a.num_cols, a.num_entries());
  Kokkos::deep_copy(exec, to.row_offsets, a.row_offsets);
  to.row_scales = a.row_scales;
  return to;
}

template <class Column, class Exec, class Matrix>
auto with_columns(Exec const& exec, Matrix const& a, char const* function, job const& control) {
  auto const to = rows_like<typename Matrix::value_type, Column>(exec, a, function);
  iso::detail::copy_in_parts(exec, to.values, a.values, iso::detail::part_of(control, 0, 0.5));
  iso::detail::in_timed_batches(
      exec, a.num_rows, iso::detail::part_of(control, 0.5, 1),
      [&](std::int64_t first, std::int64_t last) {
        backend::for_each_lane_group(function, exec, last - first,
                                     column_kernel<typename Matrix::column_type, Column>{
                                         a.row_offsets.data(), a.row_bases.data(), a.columns.data(),
                                         to.row_bases.data(), to.columns.data(), first});
      });
  exec.fence(std::string(function) + ": done");
  return to;
}

template <class To, class Exec, class Matrix>
auto values_converted(Exec const& exec, Matrix const& a, row_scaling scaling, job const& control) {
  using space = typename Exec::memory_space;
  char const* const function = "iso::sparse::convert_values";
  auto to = rows_like<To, typename Matrix::column_type>(exec, a, function);
  iso::detail::copy_in_parts(exec, to.columns, a.columns, iso::detail::part_of(control, 0, 0.2));
  Kokkos::deep_copy(exec, to.row_bases, a.row_bases);
  double* scales = nullptr;
  if (scaling != row_scaling::none) {
    auto const fresh = allocate<Kokkos::View<double*, Kokkos::LayoutRight, space>>(
        "iso::sparse::convert_values: scales", {a.num_rows}, exec, Kokkos::WithoutInitializing);
    scales = fresh.data();
    to.row_scales = fresh;
  }
  double common_scale = scaling == row_scaling::by_largest ? 0 : 1;
  if (scaling == row_scaling::uniform) {
    double largest = 0;
    iso::detail::in_timed_batches(exec, a.num_entries(), iso::detail::part_of(control, 0.2, 0.5),
                                  [&](std::int64_t first, std::int64_t last) {
                                    auto const found = iso::detail::survey_of(
                                        "iso::sparse::convert_values: largest", exec,
                                        a.values.data() + first, last - first);
                                    largest = std::max(largest, found.largest_size);
                                  });
    common_scale = scale_to(largest, top_exponent<To>);
  }
  auto const reports = allocate<Kokkos::View<value_report*, space>>(
      "iso::sparse::convert_values: reports", {a.num_rows}, exec, Kokkos::WithoutInitializing);
  iso::detail::in_timed_batches(
      exec, a.num_rows, iso::detail::part_of(control, 0.5, 1),
      [&](std::int64_t first, std::int64_t last) {
        backend::for_each_lane_group(
            function, exec, last - first,
            convert_kernel<typename Matrix::value_type, To>{
                a.row_offsets.data(), a.values.data(), row_scales_of(a), to.values.data(), scales,
                common_scale, reports.data(), first});
      });
  value_report report;
  Kokkos::parallel_reduce("iso::sparse::convert_values: report", range<Exec>(exec, 0, a.num_rows),
                          report_kernel{reports.data()}, report.overflowed, report.underflowed,
                          report.lost);
  exec.fence("iso::sparse::convert_values: the report is here");
  return converted<decltype(to)>{to, report};
}

}  // namespace
}  // namespace iso::sparse::detail

namespace iso::sparse {

template <stored_real To, execution_space Exec, class Value, column_index Column>
converted<csr_view<To, Column, typename Exec::memory_space>> convert_values(
    Exec const& exec, csr_view<Value, Column, typename Exec::memory_space> const& a,
    row_scaling scaling, job const& control) {
  return detail::values_converted<To>(exec, a.as_const(), scaling, control);
}

template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::uint16_t, typename Exec::memory_space>
to_relative_columns(Exec const& exec,
                    csr_view<Value, std::int32_t, typename Exec::memory_space> const& a,
                    job const& control) {
  char const* const function = "iso::sparse::to_relative_columns";
  detail::validate_shape(a, function);
  csr_report const report = validate(exec, a.as_const(), {}, iso::detail::part_of(control, 0, 0.5));
  ISO_VALIDATE(report.wide_rows == 0,
               "{}: {} rows with columns further apart than 65535, the widest by {} (16 bits do "
               "not reach); keep 32-bit columns",
               function, report.wide_rows, report.widest_row);
  return detail::with_columns<std::uint16_t>(exec, a.as_const(), function,
                                             iso::detail::part_of(control, 0.5, 1));
}

template <execution_space Exec, class Value>
csr_view<std::remove_const_t<Value>, std::int32_t, typename Exec::memory_space> to_absolute_columns(
    Exec const& exec, csr_view<Value, std::uint16_t, typename Exec::memory_space> const& a,
    job const& control) {
  return detail::with_columns<std::int32_t>(exec, a.as_const(), "iso::sparse::to_absolute_columns",
                                            control);
}

#define ISO_SPARSE_CONVERT_TO(To, Exec, Value, Column)                                   \
  template converted<ISO_CSR(Exec, To, Column)> convert_values<To, Exec, Value, Column>( \
      Exec const&, ISO_CSR(Exec, Value, Column) const&, row_scaling, job const&);
#define ISO_SPARSE_CONVERT(Exec, Value, Column)        \
  ISO_SPARSE_CONVERT_TO(half, Exec, Value, Column)     \
  ISO_SPARSE_CONVERT_TO(bfloat16, Exec, Value, Column) \
  ISO_SPARSE_CONVERT_TO(float, Exec, Value, Column)    \
  ISO_SPARSE_CONVERT_TO(double, Exec, Value, Column)
ISO_FOR_EACH_CSR(ISO_SPARSE_CONVERT)

#define ISO_SPARSE_COLUMNS_OF(Exec, Plain, Value)                                \
  template ISO_CSR(Exec, Plain, std::uint16_t) to_relative_columns<Exec, Value>( \
      Exec const&, ISO_CSR(Exec, Value, std::int32_t) const&, job const&);       \
  template ISO_CSR(Exec, Plain, std::int32_t) to_absolute_columns<Exec, Value>(  \
      Exec const&, ISO_CSR(Exec, Value, std::uint16_t) const&, job const&);
#define ISO_SPARSE_COLUMNS(Exec, Value)     \
  ISO_SPARSE_COLUMNS_OF(Exec, Value, Value) \
  ISO_SPARSE_COLUMNS_OF(Exec, Value, Value const)
ISO_FOR_EACH_VALUE(ISO_SPARSE_COLUMNS)

}  // namespace iso::sparse
