// SPDX-License-Identifier: BSD-3-Clause
//! What core/ and backends/ compute: functions, sums, vectors, memory, and the loops of the
//! ceilings.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/inputs.hpp>
#include <iso/cases/loops.hpp>

#include <iso/backend/lane_group.hpp>
#include <iso/core/math.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/reproducible.hpp>
#include <iso/core/stage.hpp>
#include <iso/core/sum_of.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace iso::cases {
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

/// The C library's, in long double; the arguments of any bits are for the bits alone.
template <class T>
std::vector<double> exact_function(function which, std::int64_t count) {
  using real = long double;
  std::vector<double> exact;
  for (std::int64_t i = 0; i < count; ++i) {
    real const x = math_kernel<T>::argument(i);
    real const y = which == function::exp     ? std::exp(x)
                   : which == function::expm1 ? std::expm1(x)
                   : which == function::log   ? std::log(x)
                                              : std::sin(x);
    real const z = which == function::sincos ? std::cos(x) : real(0);
    bool const known = i % 2 == 1 && std::abs(y) <= real(std::numeric_limits<T>::max());
    exact.push_back(known ? double(y) : std::nan(""));
    exact.push_back(known ? double(z) : std::nan(""));
  }
  return exact;
}

template <class T>
struct math_case {
  function which;
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const groups = 2048;
    std::int64_t const count = groups * backend::lanes;
    auto const chosen = which;
    // About twenty fma a function, which is what the shortest takes.
    return {2 * count,
            [=](Exec const& exec, variant const& v, T* out) {
              backend::for_each_lane_group("iso::cases::math", exec, groups,
                                           math_kernel<T>{out, chosen}, {v.groups});
            },
            min_work{2.0 * double(count) * sizeof(T), 40.0 * double(count), arithmetic_of<T>},
            [=](std::int64_t) { return exact_function<T>(chosen, count); }};
  }
};

/// Of each row the sum of term(row, n), n from 0 to length(row).
template <class Length, class Term>
std::vector<double> exact_sums(std::int64_t rows, Length const& length, Term const& term) {
  std::vector<double> exact;
  for (std::int64_t row = 0; row < rows; ++row) {
    long double sum = 0;
    for (std::int64_t n = 0; n < length(row); ++n) {
      sum += term(row, n);
    }
    exact.push_back(double(sum));
  }
  return exact;
}

/// Sums of rows of 0 to 199 products in the lane group's order.
template <class T>
struct row_kernel {
  T* out;

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t row) const {
    typename Group::template lane_array<T> sum(T(0));
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
    auto const length = [](std::int64_t row) { return row * 7919 % 200; };
    double products = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      products += double(length(row));
    }
    return {rows,
            [=](Exec const& exec, variant const& v, T* out) {
              backend::for_each_lane_group("iso::cases::rows", exec, rows, row_kernel<T>{out},
                                           {v.groups});
            },
            min_work{double(rows) * sizeof(T), 2 * products, arithmetic_of<T>},
            [=](std::int64_t) {
              return exact_sums(rows, length, [](std::int64_t row, std::int64_t n) {
                auto const i = std::uint64_t(row * 200 + n);
                return static_cast<long double>(in_unit(i)) * in_unit(i + 0x100000000ULL);
              });
            }};
  }
};

/// Reproducible sums of 199 terms, taken in steps of `step` through the row: 199 is prime.
template <class T>
struct reproducible_kernel {
  T* out;
  std::int64_t step;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    reproducible_scale<T> const scale(1.0, 199.0);
    bits_of<T> sum = 0;
    for (std::int64_t n = 0; n < 199; ++n) {
      sum += scale.round(T(in_unit(std::uint64_t(row * 199 + n * step % 199))));
    }
    out[row] = scale.value(scale.without_rounder(sum, 199));
  }
};

template <class T>
struct reproducible_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const rows = 4096;
    return {rows,
            [=](Exec const& exec, variant const& v, T* out) {
              Kokkos::parallel_for(
                  "iso::cases::reproducible",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, rows),
                  reproducible_kernel<T>{out, 1 + v.groups % 198});
            },
            min_work{double(rows) * sizeof(T), 2 * 199.0 * double(rows), arithmetic_of<T>},
            [=](std::int64_t) {
              return exact_sums(
                  rows, [](std::int64_t) { return 199; },
                  [](std::int64_t row, std::int64_t n) {
                    return static_cast<long double>(in_unit(std::uint64_t(row * 199 + n)));
                  });
            }};
  }
};

/// dot and norm of vectors, every second of any bits whatever, and which of them are finite.
template <class T>
struct vector_kernel {
  T* out;

  KOKKOS_FUNCTION static vec3<T> vector(std::int64_t i) {
    return {math_kernel<T>::argument(i), math_kernel<T>::argument(i + 2),
            math_kernel<T>::argument(i + 4)};
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const a = vector(i);
    out[4 * i] = canonical(dot(a, vector(i + 6)));
    out[4 * i + 1] = canonical(norm(a));
    out[4 * i + 2] = is_finite(a) ? T(1) : T(0);
    out[4 * i + 3] = is_finite(canonical(a.x)) ? T(1) : T(0);
  }
};

template <class T>
std::vector<double> exact_vectors(std::int64_t count) {
  using real = long double;
  std::vector<double> exact(std::size_t(4 * count), std::nan(""));
  for (std::int64_t i = 1; i < count; i += 2) {
    auto const a = vector_kernel<T>::vector(i);
    auto const b = vector_kernel<T>::vector(i + 6);
    double* const to = &exact[std::size_t(4 * i)];
    to[0] = double(real(a.x) * b.x + real(a.y) * b.y + real(a.z) * b.z);
    to[1] = double(std::hypot(real(a.x), real(a.y), real(a.z)));
    to[2] = to[3] = 1;
  }
  return exact;
}

template <class T>
struct vector_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    std::int64_t const count = 16384;
    return {4 * count,
            [=](Exec const& on, variant const&, T* out) {
              Kokkos::parallel_for(
                  "iso::cases::vectors",
                  Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(on, 0, count),
                  vector_kernel<T>{out});
            },
            min_work{4.0 * double(count) * sizeof(T), 11.0 * double(count), arithmetic_of<T>},
            [=](std::int64_t) { return exact_vectors<T>(count); }};
  }
};

/// A volume and projections as they are made, and numbers of the host.
template <class T>
struct memory_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const&) const {
    using space = typename Exec::memory_space;
    using target = Kokkos::View<T*, space, Kokkos::MemoryUnmanaged>;
    std::int64_t const each = 7 * 5 * 3;
    return {3 * each,
            [=](Exec const& on, variant const&, T* out) {
              auto const volume =
                  make_volume<T, space>(on, "iso::cases", grid{{7, 5, 3}, {1, 1, 1}, {}});
              auto const projections = make_projections<T, space>(on, "iso::cases", 7, 5, 3);
              auto const numbers = allocate<Kokkos::View<T*, Kokkos::HostSpace>>(
                  "iso::cases", {each}, Kokkos::DefaultHostExecutionSpace());
              Kokkos::DefaultHostExecutionSpace().fence("iso::cases: zeros are there");
              for (std::int64_t i = 0; i < each; ++i) {
                numbers.data()[i] = T(in_unit(std::uint64_t(i)));
              }
              auto const staged = stage<access::read>(on, numbers);
              auto const size = std::size_t(each);
              using flat = Kokkos::View<T const*, space, Kokkos::MemoryUnmanaged>;
              Kokkos::deep_copy(on, target(out, size), flat(volume.data.data(), size));
              Kokkos::deep_copy(on, target(out + each, size), flat(projections.data.data(), size));
              Kokkos::deep_copy(on, target(out + 2 * each, size), staged.view());
              on.fence("iso::cases: what was copied may go");
            },
            min_work{2 * 3.0 * double(each) * sizeof(T), 0},
            [=](std::int64_t) {
              std::vector<double> exact(std::size_t(3 * each), 0);
              for (std::int64_t i = 0; i < each; ++i) {
                exact[std::size_t(2 * each + i)] = in_unit(std::uint64_t(i));
              }
              return exact;
            }};
  }
};

/// Terms of very different sizes.
template <class T>
struct random_term {
  T const* x;
  std::int64_t first;
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const size = (first + i) % 97 == 0 ? 1e6 : 1;
    return size * double(x[first + i]);
  }
};

/// Sums of terms at once and in pieces, the last piece first: two numbers that are one.
template <class T>
struct term_sum_case {
  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    constexpr std::int64_t count = 10007;
    Kokkos::View<T*, typename Exec::memory_space> const x("iso::cases::terms", count);
    Kokkos::parallel_for("iso::cases::terms", flat_range(exec, count), fill_random<T>{x.data()});
    exec.fence("iso::cases: the terms are there");
    return {2,
            [=](Exec const& on, variant const&, T* out) {
              std::vector<std::int64_t> const ends{0, 1, 4000, count};
              term_bounds all;
              for (std::size_t n = 0; n + 1 < ends.size(); ++n) {
                all = all.joined(
                    bounds_of_terms(on, ends[n + 1] - ends[n], random_term<T>{x.data(), ends[n]}));
              }
              partial_sum pieces(all);
              for (std::size_t n = ends.size() - 1; n-- > 0;) {
                pieces.add(on, ends[n + 1] - ends[n], random_term<T>{x.data(), ends[n]});
              }
              put_at(on, out,
                     {T(sum_of(on, count, random_term<T>{x.data(), 0})), T(pieces.value())});
            },
            {},
            [=](std::int64_t) {
              auto const values = fetch(exec, x);
              long double sum = 0;
              for (std::int64_t i = 0; i < count; ++i) {
                sum += random_term<T>{values.data(), 0}(i);
              }
              return std::vector<double>(2, double(sum));
            }};
  }
};

}  // namespace

void add_core(catalogue& all) {
  all.add<math_case>({"math_exp", {"iso::math::exp"}}, function::exp);
  all.add<math_case>({"math_expm1", {"iso::math::expm1"}}, function::expm1);
  all.add<math_case>({"math_log", {"iso::math::log"}}, function::log);
  all.add<math_case>({"math_sincos", {"iso::math::sincos"}}, function::sincos);
  all.add<row_case>({"lane_group_row_sum", {"iso::backend::for_each_lane_group"}});
  all.add<reproducible_case>({"reproducible_sum", {"iso::reproducible_scale"}});
  all.add<term_sum_case>({.name = "sum_of_terms",
                          .functions = {"iso::sum_of", "iso::partial_sum", "iso::bounds_of_terms"},
                          .variants = {{}},
                          .has_model = false});
  all.add<vector_case>({"vectors",
                        {"iso::dot", "iso::norm", "iso::math::fma", "iso::math::sqrt",
                         "iso::is_finite", "iso::canonical"},
                        {{}}});
  all.add<memory_case>(
      {"memory",
       {"iso::allocate", "iso::make_volume", "iso::make_projections", "iso::stage"},
       {{}}});
}

}  // namespace iso::cases
