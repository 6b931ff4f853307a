// SPDX-License-Identifier: BSD-3-Clause
//! The part of verify's table that runs core/ and backends/.
#include "verify_inputs.hpp"
#include "verify_plan.hpp"

#include <iso/backend/lane_group.hpp>
#include <iso/core/math.hpp>
#include <iso/core/order_free.hpp>
#include <iso/core/sampler.hpp>

namespace iso::jobs {
namespace {

enum class function { exp, expm1, log, sincos };

/// Every second argument has any bits whatever, the others lie in [-100, 100).
template <class T>
struct math_kernel {
  T* out;
  function which;

  KOKKOS_FUNCTION static T argument(std::int64_t i) {
    if (i % 2 == 0) {
      return Kokkos::bit_cast<T>(bits_of<T>(scrambled(std::uint64_t(i))));
    }
    return T(100) * T(in_unit(std::uint64_t(i)));
  }
  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    group.each([&](int lane) {
      std::int64_t const i = index * backend::lanes + lane;
      T const x = argument(i);
      T sine = T(0);
      T cosine = T(0);
      switch (which) {
        case function::exp:
          sine = math::exp(x);
          break;
        case function::expm1:
          sine = math::expm1(x);
          break;
        case function::log:
          sine = math::log(x);
          break;
        case function::sincos:
          math::sincos(x, sine, cosine);
          break;
      }
      out[2 * i] = sine;
      out[2 * i + 1] = cosine;
    });
  }
};

template <class T>
struct math_case {
  function which;
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const groups = 2048;
    auto const chosen = which;
    return {2 * groups * backend::lanes, [=](Exec const& exec, variant const& v, T* out) {
              backend::for_each_lane_group("iso::jobs::verify::math", exec, groups,
                                           math_kernel<T>{out, chosen}, {v.groups});
            }};
  }
};

/// Sums of rows of 0 to 199 products in the lane group's order.
template <class T>
struct row_kernel {
  T* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    typename Group::template per_lane<T> sum(T(0));
    std::int64_t const begin = row * 200;
    group.strided(begin, begin + row * 7919 % 200, [&](int lane, std::int64_t i) {
      T const a = T(in_unit(std::uint64_t(i)));
      T const b = T(in_unit(std::uint64_t(i) + 0x100000000ULL));
      sum[lane] = Kokkos::fma(a, b, sum[lane]);
    });
    T const total = group.sum(sum);
    group.each([&](int lane) {
      if (lane == 0) {
        out[row] = total;
      }
    });
  }
};

template <class T>
struct row_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const rows = 8192;
    return {rows, [=](Exec const& exec, variant const& v, T* out) {
              backend::for_each_lane_group("iso::jobs::verify::rows", exec, rows,
                                           row_kernel<T>{out}, {v.groups});
            }};
  }
};

/// Order-free sums of 199 terms, taken in steps of `step` through the row: 199 is prime.
template <class T>
struct order_free_kernel {
  T* out;
  std::int64_t step;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    order_free_scale<T> const scale(1.0, 199.0);
    bits_of<T> sum = 0;
    for (std::int64_t n = 0; n < 199; ++n) {
      sum += scale.round(T(in_unit(std::uint64_t(row * 199 + n * step % 199))));
    }
    out[row] = scale.value(scale.without_rounder(sum, 199));
  }
};

template <class T>
struct order_free_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const rows = 4096;
    return {rows, [=](Exec const& exec, variant const& v, T* out) {
              Kokkos::parallel_for(
                  "iso::jobs::verify::order_free",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows),
                  order_free_kernel<T>{out, 1 + v.groups % 198});
            }};
  }
};

template <class T, class Sampler>
struct sampler_kernel {
  Sampler sample;
  T* out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const number = [&](int k) { return T(in_unit(std::uint64_t(4 * i + k))); };
    out[i] =
        sample(T(40) + T(45) * number(0), T(40) + T(45) * number(1), T(12) + T(15) * number(2));
  }
};

enum class weighting { linear, spline };

template <class T>
struct sampler_case {
  weighting weight;
  boundary edge;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    return weight == weighting::linear ? with<linear_weight>(exec) : with<spline_weight>(exec);
  }

 private:
  template <class Weight, class Exec>
  prepared<Exec, T> with(Exec const& exec) const {
    using sampler = interpolating_sampler<T, typename Exec::memory_space, Weight>;
    sampler const sample(load<T>(exec, verify_small_volume()), edge);
    std::int64_t const points = 8192;
    return {points, [=](Exec const& on, variant const&, T* out) {
              Kokkos::parallel_for(
                  "iso::jobs::verify::sampler",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(on, 0, points),
                  sampler_kernel<T, sampler>{sample, out});
            }};
  }
};

}  // namespace

void add_core(plan& all) {
  all.add<math_case>({"math_exp", {"iso::math::exp"}}, function::exp);
  all.add<math_case>({"math_expm1", {"iso::math::expm1"}}, function::expm1);
  all.add<math_case>({"math_log", {"iso::math::log"}}, function::log);
  all.add<math_case>({"math_sincos", {"iso::math::sincos"}}, function::sincos);
  all.add<row_case>({"lane_group_row_sum", {"iso::backend::for_each_lane_group"}});
  all.add<order_free_case>({"order_free_sum", {}});
  all.add<sampler_case>({"sampler_linear", {}, {{}}}, weighting::linear, boundary::zero);
  all.add<sampler_case>({"sampler_linear_cut", {}, {{}}}, weighting::linear, boundary::cut);
  all.add<sampler_case>({"sampler_spline", {}, {{}}}, weighting::spline, boundary::zero);
  all.add<sampler_case>({"sampler_spline_cut", {}, {{}}}, weighting::spline, boundary::cut);
}

}  // namespace iso::jobs
