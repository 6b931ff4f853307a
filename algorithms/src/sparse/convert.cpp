// SPDX-License-Identifier: BSD-3-Clause
#include "instantiate.hpp"
#include "launch.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/backend/widen.hpp>
#include <iso/core/numerics.hpp>
#include <iso/sparse/convert.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace iso::sparse::detail {
namespace {

/// Smallest normal number of a type, and where rows are scaled to.
template <class To>
struct format_of {
  static constexpr double smallest_normal = 0x1p-126;
  static constexpr int top = 0;
};
template <>
struct format_of<half> {
  static constexpr double smallest_normal = 0x1p-14;
  static constexpr int top = 14;
};
template <>
struct format_of<double> {
  static constexpr double smallest_normal = 0x1p-1022;
  static constexpr int top = 0;
};

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
  int const held = shift > 1000 ? 1000 : shift < -1000 ? -1000 : shift;
  return Kokkos::bit_cast<double>(std::uint64_t(held + 1023) << 52);
}

/// Converts and counts what a row loses; one row a lane group.
template <class From, class To>
struct convert_kernel {
  std::int64_t const* offsets;
  From const* from;
  double const* from_scales;
  To* to;
  double* to_scales;
  value_report* reports;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    using counts = typename Group::template lane_array<std::int32_t>;
    std::int64_t const first = offsets[row];
    auto const length = std::int32_t(offsets[row + 1] - first);
    From const* KOKKOS_RESTRICT const in = from + first;
    To* KOKKOS_RESTRICT const out = to + first;
    double scale = 1;
    if (to_scales != nullptr) {
      scale = scale_to(largest(group, in, length), format_of<To>::top);
    }
    counts over(0), under(0), lost(0);
    group.strided(std::int32_t(0), length, [&](int lane, std::int32_t j) {
      double const x = backend::widen<double>(in[j]) * scale;
      To const rounded(x);
      double const back = Kokkos::fabs(backend::widen<double>(rounded));
      over[lane] += is_finite(x) && !(back - back == 0) ? 1 : 0;
      under[lane] += back > 0 && back < format_of<To>::smallest_normal ? 1 : 0;
      bool const gone = back == 0 && x != 0;
      lost[lane] += gone ? 1 : 0;
      out[j] = gone ? To(0.0) : rounded;
    });
    std::int32_t const overflowed = group.sum(over);
    std::int32_t const underflowed = group.sum(under);
    std::int32_t const vanished = group.sum(lost);
    group.once([&] {
      reports[row] = {overflowed, underflowed, vanished};
      if (to_scales != nullptr) {
        to_scales[row] = (from_scales != nullptr ? from_scales[row] : 1.0) / scale;
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
  using value_type = value_report;
  value_report const* reports;

  KOKKOS_FUNCTION void init(value_report& r) const { r = {0, 0, 0}; }
  KOKKOS_FUNCTION void join(value_report& into, value_report const& from) const {
    into.overflowed += from.overflowed;
    into.underflowed += from.underflowed;
    into.lost += from.lost;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row, value_report& r) const {
    join(r, reports[row]);
  }
};

struct wide_kernel {
  using value_type = wide_rows;
  row_facts const* facts;

  KOKKOS_FUNCTION void init(wide_rows& w) const { w = {0, 0}; }
  KOKKOS_FUNCTION void join(wide_rows& into, wide_rows const& from) const {
    into.count += from.count;
    into.widest = from.widest > into.widest ? from.widest : into.widest;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t row, wide_rows& w) const {
    std::int64_t const width = std::int64_t(facts[row].most_column) - facts[row].least_column;
    join(w, {width > 65535 ? 1 : 0, width});
  }
};

struct relative_kernel {
  std::int64_t const* offsets;
  std::int32_t const* from;
  row_facts const* facts;
  std::int32_t* bases;
  std::uint16_t* to;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    std::int64_t const first = offsets[row];
    auto const length = std::int32_t(offsets[row + 1] - first);
    std::int32_t const base = length > 0 ? facts[row].least_column : 0;
    group.strided(std::int32_t(0), length, [&](int, std::int32_t j) {
      to[first + j] = std::uint16_t(from[first + j] - base);
    });
    group.once([&] { bases[row] = base; });
  }
};

struct absolute_kernel {
  std::int64_t const* offsets;
  std::int32_t const* bases;
  std::uint16_t const* from;
  std::int32_t* to;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    std::int64_t const first = offsets[row];
    auto const length = std::int32_t(offsets[row + 1] - first);
    std::int32_t const base = bases[row];
    group.strided(std::int32_t(0), length, [&](int, std::int32_t j) {
      to[first + j] = base + std::int32_t(from[first + j]);
    });
  }
};

}  // namespace

template <execution_space Exec, class From, class To>
value_report launch_convert(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                            From const* from, double const* from_scales, To* to,
                            double* to_scales) {
  auto const reports = allocate<Kokkos::View<value_report*, typename Exec::memory_space>>(
      "iso::sparse::convert_values: reports", {rows}, exec, Kokkos::WithoutInitializing);
  backend::for_each_lane_group(
      "iso::sparse::convert_values", exec, rows,
      convert_kernel<From, To>{offsets, from, from_scales, to, to_scales, reports.data()});
  value_report report;
  Kokkos::parallel_reduce("iso::sparse::convert_values: report", range<Exec>(exec, 0, rows),
                          report_kernel{reports.data()}, report);
  exec.fence("iso::sparse::convert_values: the report is here");
  return report;
}

template <execution_space Exec>
void launch_relative(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                     std::int32_t const* from, row_facts const* facts, std::int32_t* bases,
                     std::uint16_t* to) {
  backend::for_each_lane_group("iso::sparse::to_relative_columns", exec, rows,
                               relative_kernel{offsets, from, facts, bases, to});
}

template <execution_space Exec>
void launch_absolute(Exec const& exec, std::int64_t rows, std::int64_t const* offsets,
                     std::int32_t const* bases, std::uint16_t const* from, std::int32_t* to) {
  backend::for_each_lane_group("iso::sparse::to_absolute_columns", exec, rows,
                               absolute_kernel{offsets, bases, from, to});
}

template <execution_space Exec>
wide_rows count_wide_rows(Exec const& exec, std::int64_t rows, row_facts const* facts) {
  wide_rows wide{0, 0};
  Kokkos::parallel_reduce("iso::sparse::to_relative_columns: widths", range<Exec>(exec, 0, rows),
                          wide_kernel{facts}, wide);
  exec.fence("iso::sparse::to_relative_columns: the widths are here");
  return wide;
}

#define ISO_INSTANTIATE_TO(Exec, From, To)              \
  template value_report launch_convert<Exec, From, To>( \
      Exec const&, std::int64_t, std::int64_t const*, From const*, double const*, To*, double*);
#define ISO_INSTANTIATE(Exec)                                                                    \
  ISO_FOR_EACH_VALUE(ISO_INSTANTIATE_TO, Exec, half)                                             \
  ISO_FOR_EACH_VALUE(ISO_INSTANTIATE_TO, Exec, bfloat16)                                         \
  ISO_FOR_EACH_VALUE(ISO_INSTANTIATE_TO, Exec, float)                                            \
  ISO_FOR_EACH_VALUE(ISO_INSTANTIATE_TO, Exec, double)                                           \
  template void launch_relative<Exec>(Exec const&, std::int64_t, std::int64_t const*,            \
                                      std::int32_t const*, row_facts const*, std::int32_t*,      \
                                      std::uint16_t*);                                           \
  template void launch_absolute<Exec>(Exec const&, std::int64_t, std::int64_t const*,            \
                                      std::int32_t const*, std::uint16_t const*, std::int32_t*); \
  template wide_rows count_wide_rows<Exec>(Exec const&, std::int64_t, row_facts const*);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_TO
#undef ISO_INSTANTIATE

}  // namespace iso::sparse::detail
