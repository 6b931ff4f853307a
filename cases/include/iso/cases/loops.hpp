// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/loops.hpp
//! Runs the loops that ceilings stand for, written with the lane group like our kernels are.
#ifndef ISO_SET
#ifndef ISO_CASES_LOOPS_HPP
#define ISO_CASES_LOOPS_HPP

#include <iso/backend/lane_group.hpp>
#include <iso/cases/operation.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace iso::cases {

/// The period of every input: small integers, so that all sums below are exact in any order.
inline constexpr std::int64_t period = 1021;
KOKKOS_INLINE_FUNCTION float element(std::int64_t i) { return float(i % period); }

/// Returns the sum of elements [0, end).
inline double sum_of_elements(std::int64_t end) {
  std::int64_t const rest = end % period;
  return double(end / period * (period * (period - 1) / 2) + rest * (rest - 1) / 2);
}

/// The numbers that a group takes of an array.
inline constexpr std::int64_t stretch = 4096;

struct fill_elements {
  float* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out[i] = element(i); }
};

}  // namespace iso::cases

#define ISO_SET_HEADER <iso/cases/loops.hpp>
#include <iso/backend/for_each_set.hpp>

namespace iso::cases {

/// Returns expected(i) of about `count` of `size` elements.
template <class F>
std::vector<double> some_of(std::int64_t size, std::int64_t count, F const& expected) {
  std::vector<double> all(std::size_t(size), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < size; i += stride_for(size, count)) {
    all[std::size_t(i)] = expected(i);
  }
  return all;
}

/// One of the loops over memory, on arrays of `stretches` stretches. The result is equal to
/// the closed form.
struct stream_case {
  stream kind;
  std::int64_t stretches;

  template <class Exec>
  prepared<Exec, float> prepare(Exec const& exec) const {
    std::int64_t const n = stretches * stretch;
    Kokkos::View<float*, typename Exec::memory_space> const in(
        "iso::cases::elements", std::size_t((kind == stream::triad ? 2 : 1) * n));
    Kokkos::parallel_for("iso::cases::fill_elements", flat_range(exec, std::int64_t(in.size())),
                         fill_elements{in.data()});
    exec.fence("iso::cases: elements are there");
    auto const with = *this;
    std::int64_t const size = kind == stream::read ? stretches : n;
    return {size,
            [=](Exec const& on, variant const& how, float* out) {
              auto const launch = [&](auto const& loop) {
                backend::for_each_lane_group("iso::cases::stream", on, with.stretches, loop,
                                             {how.groups});
              };
              with.kind == stream::read   ? launch(read_loop{in.data(), out})
              : with.kind == stream::copy ? launch(copy_loop{in.data(), out})
                                          : launch(triad_loop{in.data(), in.data() + n, 0.5F, out});
            },
            stream_work(kind, double(n)),
            [=](std::int64_t count) {
              return some_of(size, count, [&](std::int64_t i) {
                return with.kind == stream::read
                           ? sum_of_elements((i + 1) * stretch) - sum_of_elements(i * stretch)
                       : with.kind == stream::copy
                           ? double(element(i))
                           : double(element(i)) + 0.5 * double(element(n + i));
              });
            }};
  }
};

/// Chains of fma, x = x * 0.999 + 0.001, in `groups` lane groups.
template <class T>
struct chain_case {
  using loop = fma_loop<T>;
  static constexpr double factor = 0.999;
  static constexpr double term = 0.001;

  std::int64_t groups;

  /// Compares against x_n = p + (x_0 - p) factor^n, p = term / (1 - factor), with the factor and
  /// the term as T has them.
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const a_group = loop::chains * backend::lanes;
    std::int64_t const size = groups * a_group;
    return {size,
            [groups = groups](Exec const& on, variant const& how, T* out) {
              backend::for_each_lane_group("iso::cases::chains", on, groups,
                                           loop{T(factor), T(term), out}, {how.groups});
            },
            chain_work<T>(double(size), loop::steps),
            [=](std::int64_t count) {
              double const fixed = double(T(term)) / (1 - double(T(factor)));
              double const left = std::pow(double(T(factor)), loop::steps);
              return some_of(size, count, [&](std::int64_t i) {
                return fixed + (double(loop::start(i % a_group)) - fixed) * left;
              });
            }};
  }
};

}  // namespace iso::cases

#endif
#else

namespace iso::cases::ISO_SET {

namespace backend = ISO_SET_OF(iso::backend);

struct read_loop {
  ISO_KERNEL(read_loop);

  float const* in;
  float* sums;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    typename Group::template lane_array<float> sum(0.0F);
    float const* KOKKOS_RESTRICT const from = in;
    group.strided(index * stretch, (index + 1) * stretch,
                  [&](int lane, std::int64_t i) { sum[lane] += from[i]; });
    float const total = group.sum(sum);
    group.once([&] { sums[index] = total; });
  }
};

struct copy_loop {
  ISO_KERNEL(copy_loop);

  float const* in;
  float* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    float const* KOKKOS_RESTRICT const from = in;
    float* KOKKOS_RESTRICT const to = out;
    group.strided(index * stretch, (index + 1) * stretch,
                  [&](int, std::int64_t i) { to[i] = from[i]; });
  }
};

struct triad_loop {
  ISO_KERNEL(triad_loop);

  float const* b;
  float const* c;
  float s;
  float* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    float const* KOKKOS_RESTRICT const left = b;
    float const* KOKKOS_RESTRICT const right = c;
    float* KOKKOS_RESTRICT const to = out;
    group.strided(index * stretch, (index + 1) * stretch,
                  [&](int, std::int64_t i) { to[i] = Kokkos::fma(s, right[i], left[i]); });
  }
};

/// Repeats x = fma(x, factor, term); three chains a lane, what the host's registers hold.
template <class T>
struct fma_loop {
  ISO_KERNEL(fma_loop<T>);

  static constexpr int chains = 3;
  static constexpr int steps = 512;

  T factor;
  T term;
  T* out;  ///< chains x lanes for each group

  KOKKOS_FUNCTION static T start(std::int64_t place) { return T(place) * T(0.0078125); }

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t index) const {
    using lane_values = typename Group::template lane_array<T>;
    lane_values a(T(0));
    lane_values b(T(0));
    lane_values c(T(0));
    group.each([&](int lane) {
      a[lane] = start(lane);
      b[lane] = start(backend::lanes + lane);
      c[lane] = start(2 * backend::lanes + lane);
    });
    for (int step = 0; step < steps; ++step) {
      group.each([&](int lane) {
        a[lane] = Kokkos::fma(a[lane], factor, term);
        b[lane] = Kokkos::fma(b[lane], factor, term);
        c[lane] = Kokkos::fma(c[lane], factor, term);
      });
    }
    T* const mine = out + index * chains * backend::lanes;
    group.each([&](int lane) {
      mine[lane] = a[lane];
      mine[backend::lanes + lane] = b[lane];
      mine[2 * backend::lanes + lane] = c[lane];
    });
  }
};

}  // namespace iso::cases::ISO_SET

#endif
