// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sparse/peer.hpp"

#include <iso/backend/backends.hpp>

#if ISO_HAS_CUDA && ISO_BENCH_HAS_CUSPARSE
#include "peers/cusparse_spmv.hpp"

#include <memory>

namespace iso::perf {

/// Calls f(T()) for the type of that name.
template <class F>
auto with_type(number n, F const& f) {
  switch (n) {
    case number::half:
      return f(half());
    case number::bfloat16:
      return f(bfloat16());
    case number::single:
      return f(float());
    case number::twice:
      break;
  }
  return f(double());
}

inline std::string name_of(cusparse_types const& types, cusparse_algorithm algorithm) {
  constexpr char const* names[] = {"half", "bfloat16", "float", "double"};
  return std::string("cusparse_") + names[int(types.matrix)] + "_" + names[int(types.x)] + "_" +
         names[int(types.y)] + (algorithm == cusparse_algorithm::first ? "_1" : "_2");
}

/// Something's memory, kept as long as the pointer.
struct kept_array {
  std::function<void()> keep;
  void* data = nullptr;
  double bytes = 0;
};

template <class View>
kept_array kept(View const& v) {
  using value = typename View::non_const_value_type;
  return {[v] {}, const_cast<value*>(v.data()), double(v.extent(0)) * sizeof(value)};
}

/// Makes cuSPARSE's product in these types; where it does not take them, `refusal` says so.
inline peer make_cusparse(Kokkos::Cuda const& exec, product_problem<Kokkos::Cuda> const& problem,
                          cusparse_types const& types, cusparse_algorithm algorithm,
                          int vectors = 1) {
  auto const& a = problem.matrix;
  auto const offsets = short_offsets(exec, a);
  auto const columns = a.columns;
  auto const values = with_type(
      types.matrix, [&](auto zero) { return kept(with_values<decltype(zero)>(exec, a).values); });
  auto const x = with_type(types.x, [&](auto zero) {
    return kept(make_weights<decltype(zero)>(exec, a.num_cols, vectors));
  });
  peer p;
  auto const y = with_type(types.y, [&](auto zero) {
    auto const result = make_array<decltype(zero)>(exec, a.num_rows * vectors);
    p.error = [result, exec, vectors, &problem] {
      return problem.error(exec, result.data(), vectors);
    };
    return kept(result);
  });
  exec.fence("iso::perf::make_cusparse");
  p.name = name_of(types, algorithm);
  // cases::product_work has one type for both vectors; here each has its own.
  p.bytes = double(offsets.extent(0)) * 4 + double(columns.extent(0)) * 4 + values.bytes + x.bytes +
            y.bytes;
  auto const product = std::make_shared<cusparse_product>(
      exec.cuda_stream(),
      cusparse_arrays{a.num_rows, a.num_cols, a.num_entries(), offsets.data(), columns.data(),
                      values.data, x.data, y.data},
      types, algorithm, vectors);
  p.refusal = product->refusal();
  p.multiply = [=] {
    (void)offsets;  // these keep the arrays
    (void)columns;
    (void)values;
    (void)x;
    (void)y;
    product->multiply();
  };
  return p;
}

}  // namespace iso::perf
#endif
