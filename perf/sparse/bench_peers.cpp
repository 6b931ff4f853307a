// SPDX-License-Identifier: BSD-3-Clause
// peer/<matrix>/<A or AT>/<library, types, algorithm>/-/<backend>
#include "sparse/bench_rows.hpp"
#include "sparse/peer_cusparse.hpp"
#include "sparse/peer_eigen.hpp"
#include "sparse/peer_kokkos_kernels.hpp"
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>

#include <algorithm>

namespace iso::perf {
namespace {

template <class Exec, class Make>
void add(matrix_source const& source, std::string const& backend, way direction,
         std::string const& label, int vectors, Make const& make) {
  row_name const name{"peer", source.name, label, "-", backend, direction};
  add_row(name, 7, [=](benchmark::State& state, row_name const& row) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, direction);
    peer const p = make(exec, problem);
    if (!p.refusal.empty()) {
      return refuse(state, row, p.refusal);
    }
    measure_product(state, exec, row, {double(problem.nonzeros()), p.bytes, vectors}, p.multiply,
                    rival{}, p.error);
  });
}

#if ISO_HAS_CUDA && ISO_BENCH_HAS_CUSPARSE
void add_cusparse(matrix_source const& source, way direction, cusparse_types const& types,
                  cusparse_algorithm algorithm, int vectors = 1) {
  std::string const label = "cusparse_" + name_of(types.matrix) + "_" + name_of(types.x) + "_" +
                            name_of(types.y) +
                            (algorithm == cusparse_algorithm::first ? "_1" : "_2") +
                            (vectors > 1 ? "_k" + std::to_string(vectors) : "");
  add<Kokkos::Cuda>(source, "cuda", direction, label, vectors,
                    [=](Kokkos::Cuda const& exec, product_problem<Kokkos::Cuda> const& problem) {
                      return make_cusparse(exec, problem, types, algorithm, vectors);
                    });
}

void add_all_cusparse(matrix_source const& source) {
  using enum number;
  using enum cusparse_algorithm;
  cusparse_types const all_single{single, single, single, single};
  cusparse_types const all_twice{twice, twice, twice, twice};
  for (auto const direction : {way::forward, way::transposed}) {
    for (auto const& types : {all_single, all_twice}) {
      add_cusparse(source, direction, types, first);
      add_cusparse(source, direction, types, second);
    }
  }
  if (source.rows == extent::brief) {
    return;
  }
  cusparse_types const others[] = {
      {half, twice, twice, twice},     {half, single, single, single},
      {half, half, half, single},      {half, half, single, single},
      {bfloat16, twice, twice, twice}, {bfloat16, bfloat16, single, single},
      {single, twice, twice, twice},
  };
  for (auto const& types : others) {
    add_cusparse(source, way::forward, types, first);
    add_cusparse(source, way::forward, types, second);
  }
  for (int const vectors : {2, 4, 8}) {
    add_cusparse(source, way::forward, all_single, first, vectors);
    add_cusparse(source, way::forward, all_single, second, vectors);
  }
}

/// The faster of two: the best of five runs each.
template <class Exec>
peer faster(Exec const& exec, peer const& one, peer const& other) {
  auto const best = [&](peer const& p) {
    p.multiply();
    int const calls = calls_for(seconds_of(exec, p.multiply));
    double least = seconds_of(exec, p.multiply, calls);
    for (int run = 1; run < 5; ++run) {
      least = std::min(least, seconds_of(exec, p.multiply, calls));
    }
    return least;
  };
  if (!one.refusal.empty() || !other.refusal.empty()) {
    return one.refusal.empty() ? one : other;
  }
  return best(other) < best(one) ? other : one;
}
#endif

}  // namespace

template <class Exec>
peer make_reference_peer(Exec const& exec, product_problem<Exec> const& problem, number values) {
  if constexpr (backend::is_device<Exec>) {
#if ISO_HAS_CUDA && ISO_BENCH_HAS_CUSPARSE
    cusparse_types const types{values, values, values, values};
    return faster(exec, make_cusparse(exec, problem, types, cusparse_algorithm::first),
                  make_cusparse(exec, problem, types, cusparse_algorithm::second));
#endif
  } else {
#if ISO_BENCH_HAS_EIGEN
    return values == number::twice ? make_eigen<double>(exec, problem)
                                   : make_eigen<float>(exec, problem);
#endif
  }
  (void)exec;
  (void)problem;
  (void)values;
  return {};
}

template <class Exec>
void add_peer_rows(matrix_source const& source, std::string const& backend) {
#if ISO_HAS_CUDA && ISO_BENCH_HAS_CUSPARSE
  if constexpr (backend::is_device<Exec>) {
    add_all_cusparse(source);
  }
#endif
#if ISO_BENCH_HAS_EIGEN
  if constexpr (!backend::is_device<Exec>) {
    for (auto const direction : {way::forward, way::transposed}) {
      add<Exec>(source, backend, direction, "eigen_float", 1,
                [](Exec const& exec, auto const& p) { return make_eigen<float>(exec, p); });
      add<Exec>(source, backend, direction, "eigen_double", 1,
                [](Exec const& exec, auto const& p) { return make_eigen<double>(exec, p); });
    }
  }
#endif
#if ISO_BENCH_HAS_KOKKOS_KERNELS
  for (auto const direction : {way::forward, way::transposed}) {
    add<Exec>(source, backend, direction, "kokkos_kernels_float", 1,
              [](Exec const& exec, auto const& p) { return make_kokkos_kernels<float>(exec, p); });
    add<Exec>(source, backend, direction, "kokkos_kernels_double", 1,
              [](Exec const& exec, auto const& p) { return make_kokkos_kernels<double>(exec, p); });
  }
#endif
  (void)source;
  (void)backend;
}

#define ISO_INSTANTIATE_PEERS(Exec)                                                     \
  template peer make_reference_peer(Exec const&, product_problem<Exec> const&, number); \
  template void add_peer_rows<Exec>(matrix_source const&, std::string const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_PEERS)
#undef ISO_INSTANTIATE_PEERS

}  // namespace iso::perf
