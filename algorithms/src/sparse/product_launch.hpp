// SPDX-License-Identifier: BSD-3-Clause
//! Bounds and products, for the sources that instantiate them.
#pragma once

#include "launch.hpp"

#include <iso/backend/for_each_index.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/sparse/detail/product_kernel.hpp>
#include <iso/sparse/detail/product_tuning.hpp>
#include <iso/sparse/spmv.hpp>

#include <algorithm>

namespace iso::sparse::detail {

// In vectors.cpp.
void validate_vectors(matrix_shape const& a, vector_facts const& x, vector_facts const& y);
void validate_memory_apart(std::array<memory_range, 5> const& matrix, memory_range const& x,
                           memory_range const& y, memory_range const& scratch);
void validate_options(spmv_options const& options);

template <class Exec, class Array>
void make_array(Exec const& exec, Array& to, char const* label, std::int64_t length) {
  to = allocate<Array>(label, {length}, exec, Kokkos::WithoutInitializing);
}

/// Words of spmv_plan::empty.
inline std::int64_t empty_words(std::int64_t num_blocks) { return (num_blocks + 31) / 32; }

/// K vectors side by side, from `vectors` that lie `stride` apart; zero beyond them.
template <class T, int K>
struct pack_kernel {
  T const* from;
  std::int64_t stride;
  int vectors;
  backend::pack<T, K>* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    backend::pack<T, K> packed;
    for (int k = 0; k < K; ++k) {
      packed[k] = k < vectors ? from[i * stride + k] : T(0);
    }
    to[i] = packed;
  }
};

/// `vectors` that lie `stride` apart, one behind the other.
template <class T>
struct part_kernel {
  T const* from;
  std::int64_t stride;
  std::int64_t length;
  int vectors;
  T* to;  ///< [vectors, length]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int k = 0; k < vectors; ++k) {
      to[k * length + i] = from[i * stride + k];
    }
  }
};

/// The launches of a product.
template <class Exec, class Rows, class T>
struct product_launcher {
  Exec const& exec;
  product_call<Exec, Rows, T> const& call;
  spmv_plan<typename Exec::memory_space> const& plan;
  product_scratch<T> scratch;
  double const* max_abs_x;

  template <class Sum>
  void run() const {
    for (std::int64_t first = 0; first < call.in.vectors; first += 4) {
      std::int64_t const left = call.in.vectors - first;
      if (left > 1 && one_vector_a_pass<Exec, Rows>(call.shape)) {
        multiply_apart<Sum>(first, int(std::min<std::int64_t>(left, 4)));
      } else if (left > 2) {
        multiply<4, Sum>(first, packed<4>(first));
      } else if (left == 2) {
        multiply<2, Sum>(first, packed<2>(first));
      } else {
        multiply<1, Sum>(first, packed<1>(first));
      }
    }
  }

 private:
  /// Multiplies vectors [first, first + vectors), at most four, one after the other.
  template <class Sum>
  void multiply_apart(std::int64_t first, int vectors) const {
    std::int64_t const length = call.shape.num_cols;
    if (plan.num_segments > 0) {
      backend::for_each_index(
          "iso::sparse::spmv: vectors one behind the other", exec, length,
          part_kernel<T>{call.x + first, call.in.stride, length, vectors, scratch.packed});
    }
    for (int k = 0; k < vectors; ++k) {
      multiply<1, Sum>(first + k,
                       reinterpret_cast<backend::pack<T, 1> const*>(scratch.packed + k * length));
    }
  }

  /// How many of the vectors [first, first + K) exist.
  template <int K>
  [[nodiscard]] int existing(std::int64_t first) const {
    return int(std::min<std::int64_t>(call.in.vectors - first, K));
  }

  /// Multiplies vectors [first, first + K), those of them that exist.
  template <int K, class Sum>
  void multiply(std::int64_t first, backend::pack<T, K> const* x) const {
    using tuning = product_tuning<backend::is_device<Exec>, Rows, Sum, K>;
    int const vectors = existing<K>(first);
    bool const multiplies = call.alpha != 0;
    product<T, Rows, Sum, K, tuning> const working{
        call.rows,
        plan.segments.data(),
        x,
        plan.exponents.data(),
        max_abs_x + (max_abs_x != nullptr ? first : 0),
        plan.num_parts,
        scratch.part_sums,
        scratch.to_fix,
        {T(call.alpha), T(call.beta), call.y + first, call.out.stride, call.rows.num_rows, vectors,
         multiplies ? call.row_scales : nullptr}};
    backend::for_each_lane_group<tuning::threads, tuning::min_blocks(), backend::sharing::on_demand,
                                 backend::launch_dependency::programmatic>(
        "iso::sparse::spmv", exec, plan.num_segments, working, call.options.shape);
    std::int64_t const blocks = call.shape.num_blocks();
    product_fix_up<T, Rows, Sum, K, tuning> const fix_up{
        working,
        plan.first_part.data(),
        plan.num_long,
        plan.num_segments,
        data_or_null(plan.empty),
        blocks,
        multiplies ? std::int64_t(plan.empty.extent(0)) : empty_words(blocks)};
    if (plan.num_segments > 0) {
      launch<backend::launch_dependency::programmatic>(fix_up);
    } else {
      // What came before may still read or write y.
      launch<backend::launch_dependency::full>(fix_up);
    }
  }

  template <backend::launch_dependency Dependency, class FixUp>
  void launch(FixUp const& fix_up) const {
    backend::for_each_lane_group<block_threads, 0, backend::sharing::even, Dependency>(
        "iso::sparse::spmv: fix-up", exec, fix_up.num_launched(), fix_up, call.options.shape);
  }

  /// The vectors [first, first + K) as the kernel reads them.
  template <int K>
  backend::pack<T, K> const* packed(std::int64_t first) const {
    int const vectors = existing<K>(first);
    T const* const x = call.x + first;
    using pack = backend::pack<T, K>;
    if (vectors == K && call.in.stride == K &&
        reinterpret_cast<std::uintptr_t>(x) % alignof(pack) == 0) {
      return reinterpret_cast<pack const*>(x);
    }
    auto* const to = reinterpret_cast<pack*>(scratch.packed);
    if (plan.num_segments > 0) {
      backend::for_each_index("iso::sparse::spmv: vectors side by side", exec, call.shape.num_cols,
                              pack_kernel<T, K>{x, call.in.stride, vectors, to});
    }
    return to;
  }
};

/// Throws unless the plan is one for a matrix of this shape.
template <class Space>
void validate_plan(matrix_shape const& a, spmv_plan<Space> const& plan) {
  matrix_shape const& p = plan.matrix;
  bool const same_rows = p.num_entries == a.num_entries && p.num_rows == a.num_rows &&
                         p.rows_per_block == a.rows_per_block;
  ISO_VALIDATE(!same_rows || p.num_chunks == a.num_chunks,
               "iso::sparse::spmv: a plan of {} column chunks for a matrix of {} (it belongs to "
               "another, or another format); make one by iso::sparse::make_plan",
               p.num_chunks, a.num_chunks);
  std::int64_t const without_entries =
      a.num_blocks() - plan.num_long - (plan.num_segments - plan.num_parts);
  ISO_VALIDATE(
      same_rows && plan.num_parts >= 2 * plan.num_long && plan.num_segments >= plan.num_parts &&
          std::int64_t(plan.segments.extent(0)) == plan.num_segments && without_entries >= 0 &&
          std::int64_t(plan.empty.extent(0)) ==
              (without_entries > 0 ? empty_words(a.num_blocks()) : 0),
      "iso::sparse::spmv: a plan of {} entries in {} rows, {} a block, for a matrix of {} in {}, "
      "{} a block (it belongs to another, or another format); make one by iso::sparse::make_plan",
      p.num_entries, p.num_rows, p.rows_per_block, a.num_entries, a.num_rows, a.rows_per_block);
}

template <execution_space Exec, class Rows, real T>
void launch_product(Exec const& exec, product_call<Exec, Rows, T> const& call) {
  char const* const function = "iso::sparse::spmv";
  constexpr bool doubles = std::is_same_v<T, double>;
  std::int64_t const cols = call.shape.num_cols;
  std::int64_t const vectors = call.in.vectors;
  validate_vectors(call.shape, call.in, call.out);
  validate_plan(call.shape, call.plan);
  validate_options(call.options);
  ISO_VALIDATE(
      doubles || call.options.sum != summation::reproducible,
      "{}: reproducible sums of floats (their 24 bits leave too few); use vectors of double",
      function);
  workspace_parts counted(function);
  product_scratch<T>(counted, call.plan, cols, vectors);
  validate(call.scratch, counted.bytes(), function);
  validate_memory_apart(call.memory, call.in.memory, call.out.memory,
                        {call.scratch.data(), std::uint64_t(counted.bytes()), "the scratch"});
  workspace_parts parts(call.scratch, function);
  // alpha = 0: as if there were no entries.
  spmv_plan<typename Exec::memory_space> const no_entries;
  product_launcher<Exec, Rows, T> launcher{exec, call, call.alpha != 0 ? call.plan : no_entries,
                                           product_scratch<T>(parts, call.plan, cols, vectors),
                                           call.options.max_abs_x};
  if constexpr (doubles) {
    constexpr bool narrow = sizeof(typename Rows::value_type) == 2;
    if (call.options.sum.value_or(narrow ? summation::reproducible : summation::ordered) ==
        summation::reproducible) {
      if (launcher.max_abs_x == nullptr && launcher.plan.num_segments > 0) {
        launch_max_abs<Exec, T>(exec, call.x, call.in, launcher.scratch.max_abs);
        launcher.max_abs_x = launcher.scratch.max_abs;
      }
      return launcher.template run<reproducible_sum>();
    }
  }
  launcher.template run<ordered_sum>();
}

/// Largest finite |value| and number of entries of every row of a block.
template <class Rows>
struct bounds_kernel {
  static constexpr int rows = Rows::rows;

  Rows matrix;
  double* max_abs;
  std::int32_t* entries;
  std::int64_t first_block;  ///< of the launch

  template <class Group>
  KOKKOS_FUNCTION void operator()(Group const& group, std::int64_t of_launch) const {
    std::int64_t const index = first_block + of_launch;
    typename Group::template lane_array<double> most[rows];
    typename Group::template lane_array<std::int32_t> number[rows];
    backend::unrolled<rows>([&](auto r) {
      group.each([&](int lane) {
        most[r][lane] = 0;
        number[r][lane] = 0;
      });
    });
    matrix.each(
        group, matrix.whole(index), [](std::int32_t) { return 0; },
        [&](int lane, auto const& a, auto const&) {
          backend::unrolled<rows>([&](auto r) {
            double const size = Kokkos::fabs(backend::widen<double>(a[r]));
            most[r][lane] = is_finite(size) && size > most[r][lane] ? size : most[r][lane];
            number[r][lane] += Rows::has_padding && is_padding(a[r]) ? 0 : 1;
          });
        });
    backend::unrolled<rows>([&](auto r) {
      std::int64_t const row = index * rows + int(r);
      std::int32_t const total = group.sum(number[r]);
      double const top = group.highest(most[r]);
      group.once([&] {
        if (row < matrix.num_rows) {
          max_abs[row] = top;
          entries[row] = total;
        }
      });
    });
  }
};

template <execution_space Exec, class Rows>
bounds<typename Exec::memory_space> bounds_of(Exec const& exec, Rows const& rows,
                                              matrix_shape const& shape, job const& control) {
  bounds<typename Exec::memory_space> b;
  make_array(exec, b.max_abs, "iso::sparse::bounds: max_abs", shape.num_rows);
  make_array(exec, b.entries, "iso::sparse::bounds: entries", shape.num_rows);
  iso::detail::in_timed_batches(
      exec, shape.num_blocks(), control, [&](std::int64_t first, std::int64_t last) {
        backend::for_each_lane_group(
            "iso::sparse::make_bounds", exec, last - first,
            bounds_kernel<Rows>{rows, b.max_abs.data(), b.entries.data(), first});
      });
  return b;
}

}  // namespace iso::sparse::detail

// For the sources that instantiate, one for each format and type of values.
#define ISO_PRODUCTS_OF(Exec, T, ...) \
  template void launch_product(Exec const&, product_call<Exec, __VA_ARGS__, T> const&);
#define ISO_PRODUCTS(Exec, ...)                                                  \
  ISO_PRODUCTS_OF(Exec, double, __VA_ARGS__)                                     \
  template bounds<Exec::memory_space> bounds_of(Exec const&, __VA_ARGS__ const&, \
                                                matrix_shape const&, job const&);
#define ISO_CSR_PRODUCTS(Exec, Value)               \
  ISO_PRODUCTS(Exec, csr_rows<Value, std::int32_t>) \
  ISO_PRODUCTS(Exec, csr_rows<Value, std::uint16_t>)
#define ISO_ROW_BLOCK_PRODUCTS(Exec, Value)    \
  ISO_PRODUCTS(Exec, row_block_rows<Value, 4>) \
  ISO_PRODUCTS(Exec, row_block_rows<Value, 8>)
