// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/product.hpp
//! Holds one matrix, one vector, and what their product is.
#pragma once

#include <iso/cases/operation.hpp>
#include <iso/core/half.hpp>
#include <iso/sparse/formats.hpp>
#include <iso/sparse/plan.hpp>
#include <iso/sparse/spmv.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace iso::cases {

/// Is in half precision unless another is named, columns of 32 bits.
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

/// Returns a weight between 1/2 and 3/2 of spot `i` in vector `k`: all 53 bits in use.
KOKKOS_INLINE_FUNCTION double spot_weight(std::int64_t i, std::int64_t k) {
  auto z = (std::uint64_t(i) * 16 + std::uint64_t(k) + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return 0.5 + double((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Makes `vectors` of them side by side, the vector's number fastest.
template <class T, class Exec>
device_array<Exec, T> make_weights(Exec const& exec, std::int64_t length, int vectors) {
  auto const x = make_array<T>(exec, length * vectors);
  Kokkos::parallel_for(
      "iso::cases::make_weights", flat_range(exec, length * vectors),
      KOKKOS_LAMBDA(std::int64_t i) { x(i) = T(spot_weight(i / vectors, i % vectors)); });
  return x;
}

/// Computes a row's product with twice the digits of double, and the sum of its |a x|.
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

  /// Returns the error of the first of several vectors that lie `stride` apart.
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

/// The product alpha A x + beta y of vectors side by side.
struct product_form {
  double alpha = 1;
  double beta = 0;
  std::int64_t vectors = 1;
};

/// A product of the library with everything it wants but y. `T` is the type of the vectors, whose
/// number is the fastest index of x and y.
template <class Exec, class Matrix, class T>
class matrix_product {
 public:
  using space = typename Exec::memory_space;

  matrix_product(Exec const& exec, Matrix const& a, device_array<Exec, T> const& x,
                 product_form const& form, sparse::bounds<space> const* bounds = nullptr)
      : a_(a),
        x_(x),
        form_(form),
        shape_(sparse::shape_of(a)),
        plan_(bounds ? sparse::make_plan(exec, a, *bounds) : sparse::make_plan(exec, a)),
        scratch_(sparse::spmv_bytes_needed<T>(exec, a, plan_, form.vectors)) {
    exec.fence("iso::cases::matrix_product");
  }

  void operator()(Exec const& exec, T* y, sparse::spmv_options const& options) const {
    auto const rows = std::size_t(shape_.num_rows);
    auto const columns = std::size_t(shape_.num_cols);
    if (form_.vectors == 1) {
      using one = Kokkos::View<T*, space, Kokkos::MemoryUnmanaged>;
      sparse::spmv(exec, form_.alpha, a_, one(x_.data(), columns), form_.beta, one(y, rows), plan_,
                   scratch_, options);
      return;
    }
    using several = Kokkos::View<T**, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>;
    auto const k = std::size_t(form_.vectors);
    sparse::spmv(exec, form_.alpha, a_, several(x_.data(), columns, k), form_.beta,
                 several(y, rows, k), plan_, scratch_, options);
  }

  [[nodiscard]] std::int64_t size() const { return shape_.num_rows * form_.vectors; }  ///< of y
  [[nodiscard]] min_work work() const { return product_work<T>(shape_, form_.vectors, form_.beta); }
  [[nodiscard]] Matrix const& matrix() const { return a_; }
  [[nodiscard]] auto const& plan() const { return plan_; }

 private:
  Matrix a_;
  device_array<Exec, T> x_;
  product_form form_;
  sparse::matrix_shape shape_;
  sparse::spmv_plan<space> plan_;
  workspace<space> scratch_;
};

/// Returns A x of so many copies of x side by side; no exact answer.
template <class T, class Exec, class Matrix>
prepared<Exec, T> product_of(Exec const& exec, Matrix const& a, std::vector<double> const& x,
                             std::optional<summation> sum = {}, std::int64_t vectors = 1) {
  std::vector<T> copies;
  for (double const one : x) {
    copies.insert(copies.end(), std::size_t(vectors), T(one));
  }
  auto const there = make_array<T>(exec, std::int64_t(copies.size()));
  put(exec, there, copies);
  matrix_product<Exec, Matrix, T> const product(exec, a, there, {.vectors = vectors});
  return {product.size(),
          [=](Exec const& on, variant const& how, T* y) {
            product(on, y, {.sum = sum, .shape = {how.groups}});
          },
          product.work()};
}

/// Runs the same with weights for x, and y.
template <class Exec, class Matrix, class T>
class library_product : public matrix_product<Exec, Matrix, T> {
 public:
  library_product(Exec const& exec, Matrix const& a, int vectors,
                  sparse::spmv_options const& options)
      : matrix_product<Exec, Matrix, T>(
            exec, a, make_weights<T>(exec, sparse::shape_of(a).num_cols, vectors),
            {.vectors = vectors}),
        exec_(exec),
        options_(options),
        y_(make_array<T>(exec, this->size())) {
    exec.fence("iso::cases::library_product");
  }

  void operator()() const {
    matrix_product<Exec, Matrix, T>::operator()(exec_, y_.data(), options_);
  }
  [[nodiscard]] T const* result() const { return y_.data(); }
  [[nodiscard]] device_array<Exec, T> const& values() const { return y_; }

 private:
  Exec exec_;
  sparse::spmv_options options_;
  device_array<Exec, T> y_;
};

}  // namespace iso::cases
