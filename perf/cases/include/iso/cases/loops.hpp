// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/loops.hpp
//! The loops that ceilings stand for, written with the lane group as this library's kernels are.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/cases/work.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace iso::cases {

/// Element i of every input: small integers, so that all sums below are exact in any order.
inline constexpr std::int64_t period = 1021;
KOKKOS_INLINE_FUNCTION float element(std::int64_t i) { return float(i % period); }

/// Of elements [0, end).
inline double sum_of_elements(std::int64_t end) {
  std::int64_t const rest = end % period;
  return double(end / period * (period * (period - 1) / 2) + rest * (rest - 1) / 2);
}

/// What a group takes of an array.
inline constexpr std::int64_t stretch = 4096;

struct fill_elements {
  float* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { out[i] = element(i); }
};

struct read_loop {
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

/// x = fma(x, factor, term) over and over; three chains a lane, what the host's registers hold.
template <class T>
struct fma_loop {
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

/// Largest |view(i) - expected(i)| over the largest |expected(i)|.
template <class View, class F>
double distance_from(View const& view, F const& expected) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  double apart = 0;
  double most = 0;
  for (std::size_t i = 0; i < host.size(); ++i) {
    double const exact = expected(std::int64_t(i));
    double const difference = std::fabs(double(host.data()[i]) - exact);
    if (std::isnan(difference)) {
      return difference;
    }
    apart = std::max(apart, difference);
    most = std::max(most, std::fabs(exact));
  }
  return apart / most;
}

/// One of the loops over memory, on arrays of `stretches` stretches.
template <class Exec>
class stream_problem {
  using floats = Kokkos::View<float*, typename Exec::memory_space>;

 public:
  stream_problem(Exec const& exec, stream kind, std::int64_t stretches)
      : exec_(exec),
        kind_(kind),
        stretches_(stretches),
        in_("iso::cases: elements", std::size_t((kind == stream::triad ? 2 : 1) * elements())),
        out_("iso::cases: result",
             std::size_t(kind == stream::read ? stretches : stretches * stretch)) {
    Kokkos::parallel_for("iso::cases::fill_elements",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, std::int64_t(in_.size())),
                         fill_elements{in_.data()});
    exec.fence("iso::cases: elements are there");
  }

  void run(backend::launch_shape shape = {}) const {
    switch (kind_) {
      case stream::read:
        return launch(read_loop{in_.data(), out_.data()}, shape);
      case stream::copy:
        return launch(copy_loop{in_.data(), out_.data()}, shape);
      case stream::triad:
        return launch(triad_loop{in_.data(), in_.data() + elements(), 0.5F, out_.data()}, shape);
    }
  }
  /// From the closed form, which the result is equal to.
  [[nodiscard]] double error() const {
    switch (kind_) {
      case stream::read:
        return distance_from(out_, [](std::int64_t i) {
          return sum_of_elements((i + 1) * stretch) - sum_of_elements(i * stretch);
        });
      case stream::copy:
        return distance_from(out_, [](std::int64_t i) { return double(element(i)); });
      default:
        return distance_from(out_, [n = elements()](std::int64_t i) {
          return double(element(i)) + 0.5 * double(element(n + i));
        });
    }
  }
  [[nodiscard]] least_work work() const { return stream_work(kind_, double(elements())); }
  [[nodiscard]] floats const& result() const { return out_; }

 private:
  [[nodiscard]] std::int64_t elements() const { return stretches_ * stretch; }
  template <class Loop>
  void launch(Loop const& loop, backend::launch_shape shape) const {
    backend::for_each_lane_group("iso::cases::stream", exec_, stretches_, loop, shape);
  }

  Exec exec_;
  stream kind_;
  std::int64_t stretches_;
  floats in_;
  floats out_;
};

/// Chains of fma, x = x * 0.999 + 0.001, in `groups` lane groups.
template <class Exec, class T>
class chain_problem {
  using loop = fma_loop<T>;
  static constexpr std::int64_t a_group = loop::chains * backend::lanes;

 public:
  chain_problem(Exec const& exec, std::int64_t groups)
      : exec_(exec), groups_(groups), out_("iso::cases: chains", std::size_t(groups * a_group)) {}

  void run(backend::launch_shape shape = {}) const {
    backend::for_each_lane_group("iso::cases::chains", exec_, groups_,
                                 loop{T(factor), T(term), out_.data()}, shape);
  }
  /// Against x_n = p + (x_0 - p) factor^n, p = term / (1 - factor), with the factor and the term
  /// as T has them: no more than n roundings apart.
  [[nodiscard]] double error() const {
    double const fixed = double(T(term)) / (1 - double(T(factor)));
    double const left = std::pow(double(T(factor)), loop::steps);
    return distance_from(out_, [=](std::int64_t i) {
      return fixed + (double(loop::start(i % a_group)) - fixed) * left;
    });
  }
  static double largest_error() { return loop::steps * double(std::numeric_limits<T>::epsilon()); }
  [[nodiscard]] least_work work() const { return chain_work<T>(double(out_.size()), loop::steps); }
  [[nodiscard]] Kokkos::View<T*, typename Exec::memory_space> const& result() const { return out_; }

 private:
  static constexpr double factor = 0.999;
  static constexpr double term = 0.001;

  Exec exec_;
  std::int64_t groups_;
  Kokkos::View<T*, typename Exec::memory_space> out_;
};

}  // namespace iso::cases
