// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/product.hpp
//! One matrix, one vector, and what their product is.
#pragma once

#include <iso/cases/work.hpp>
#include <iso/core/half.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/plan.hpp>
#include <iso/sparse/spmv.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace iso::cases {

/// In half precision unless another is named, columns of 32 bits.
template <class Exec, class Value = half>
using wide_csr = sparse::csr_view<Value, std::int32_t, typename Exec::memory_space>;

template <class Exec, class T = double>
using device_array = Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class T, class Exec>
device_array<Exec, T> make_array(Exec const& exec, std::int64_t length) {
  return device_array<Exec, T>(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::cases::array"),
      std::size_t(length));
}

template <class Exec>
auto flat_range(Exec const& exec, std::int64_t count) {
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count);
}

/// A weight between 1/2 and 3/2 of spot `i` in vector `k`: all 53 bits in use.
KOKKOS_INLINE_FUNCTION double spot_weight(std::int64_t i, std::int64_t k) {
  auto z = (std::uint64_t(i) * 16 + std::uint64_t(k) + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return 0.5 + double((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// `vectors` of them side by side, the vector's number fastest.
template <class T, class Exec>
device_array<Exec, T> make_weights(Exec const& exec, std::int64_t length, int vectors) {
  auto const x = make_array<T>(exec, length * vectors);
  Kokkos::parallel_for(
      "iso::cases::make_weights", flat_range(exec, length * vectors),
      KOKKOS_LAMBDA(std::int64_t i) { x(i) = T(spot_weight(i / vectors, i % vectors)); });
  return x;
}

/// A row's product with twice the digits of double, and the sum of its |a x|.
template <class Space>
struct reference_kernel {
  sparse::csr_view<half const, std::int32_t, Space> a;
  Kokkos::View<double const*, Kokkos::LayoutRight, Space> x;
  Kokkos::View<double*, Kokkos::LayoutRight, Space> y;
  Kokkos::View<double*, Kokkos::LayoutRight, Space> magnitude;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    double high = 0;
    double low = 0;
    double size = 0;
    for (std::int64_t j = a.row_offsets(row); j < a.row_offsets(row + 1); ++j) {
      double const v = double(a.values(j));
      double const w = x(a.columns(j));
      double const p = v * w;
      double const rest = Kokkos::fma(v, w, -p);
      double const s = high + p;
      double const back = s - high;
      low += ((high - (s - back)) + (p - back)) + rest;
      high = s;
      size += p < 0 ? -p : p;
    }
    y(row) = high + low;
    magnitude(row) = size;
  }
};

struct distance {
  double relative = 0;  ///< l2 of the difference over l2 of the reference
  double worst = 0;     ///< largest difference of a row over its sum of |a x|
};

template <class Exec>
struct product_problem {
  wide_csr<Exec> matrix;
  device_array<Exec> x;
  device_array<Exec> reference;
  device_array<Exec> magnitude;

  product_problem() = default;
  product_problem(Exec const& exec, wide_csr<Exec> const& a)
      : matrix(a),
        x(make_weights<double>(exec, a.num_cols, 1)),
        reference(make_array<double>(exec, a.num_rows)),
        magnitude(make_array<double>(exec, a.num_rows)) {
    using space = typename Exec::memory_space;
    Kokkos::parallel_for("iso::cases::reference", flat_range(exec, a.num_rows),
                         reference_kernel<space>{a, x, reference, magnitude});
    exec.fence("iso::cases::reference");
  }

  [[nodiscard]] std::int64_t nonzeros() const { return matrix.num_entries(); }

  /// Of the first of several vectors that lie `stride` apart.
  template <class T>
  distance error(Exec const& exec, T const* result, int stride = 1) const {
    auto const want = reference;
    auto const size = magnitude;
    double off = 0;
    double all = 0;
    double worst = 0;
    Kokkos::parallel_reduce(
        "iso::cases::error", flat_range(exec, matrix.num_rows),
        KOKKOS_LAMBDA(std::int64_t i, double& o, double& a, double& w) {
          double const d = double(result[i * stride]) - want(i);
          o += d * d;
          a += want(i) * want(i);
          double const share = size(i) > 0 ? Kokkos::fabs(d) / size(i) : Kokkos::fabs(d);
          w = share > w || share != share ? share : w;
        },
        off, all, Kokkos::Max<double>(worst));
    exec.fence("iso::cases::error");
    return {std::sqrt(off / all), worst};
  }
};

/// A product of the library with everything it wants, `T` being the type of the vectors.
template <class Exec, class Matrix, class T>
class library_product {
 public:
  library_product(Exec const& exec, Matrix const& a, int vectors,
                  sparse::spmv_options const& options)
      : exec_(exec),
        a_(a),
        vectors_(vectors),
        options_(options),
        shape_(sparse::shape_of(a)),
        x_(make_weights<T>(exec, shape_.num_cols, vectors)),
        y_(make_array<T>(exec, shape_.num_rows * vectors)),
        plan_(sparse::make_plan(exec, a)),
        scratch_(sparse::spmv_bytes_needed<T>(a, plan_, vectors)) {
    exec.fence("iso::cases::library_product");
  }

  void operator()() const {
    if (vectors_ == 1) {
      sparse::spmv(exec_, 1.0, a_, x_, 0.0, y_, plan_, scratch_, options_);
      return;
    }
    using several = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space,
                                 Kokkos::MemoryUnmanaged>;
    auto const k = std::size_t(vectors_);
    sparse::spmv(exec_, 1.0, a_, several(x_.data(), std::size_t(shape_.num_cols), k), 0.0,
                 several(y_.data(), std::size_t(shape_.num_rows), k), plan_, scratch_, options_);
  }

  [[nodiscard]] least_work work() const { return product_work<T>(shape_, vectors_); }
  [[nodiscard]] Matrix const& matrix() const { return a_; }
  [[nodiscard]] T const* result() const { return y_.data(); }
  [[nodiscard]] device_array<Exec, T> const& values() const { return y_; }
  [[nodiscard]] auto const& plan() const { return plan_; }

 private:
  Exec exec_;
  Matrix a_;
  int vectors_;
  sparse::spmv_options options_;
  sparse::matrix_shape shape_;
  device_array<Exec, T> x_;
  device_array<Exec, T> y_;
  sparse::spmv_plan<typename Exec::memory_space> plan_;
  workspace<typename Exec::memory_space> scratch_;
};

}  // namespace iso::cases
