// SPDX-License-Identifier: BSD-3-Clause
// peer/<matrix>/<A or AT>/<library, types, algorithm>/-/<backend>
#include "sparse/peer_cusparse.hpp"
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>

#if ISO_BENCH_HAS_EIGEN
#include "peers/eigen_spmv.hpp"
#endif
#if ISO_BENCH_HAS_KOKKOS_KERNELS
#include <iso/sparse/kokkos_kernels.hpp>

#include <KokkosSparse_spmv.hpp>
#endif

#include <algorithm>

namespace iso::perf {
namespace {

#if ISO_BENCH_HAS_EIGEN
/// Eigen's row-major product at `exec`'s number of threads.
template <class T, class Exec>
peer make_eigen(Exec const& exec, product_problem<Exec> const& problem) {
  return plain_peer<T>("eigen", exec, problem, [&](auto const& a, auto const& x, auto const& y) {
    return [a, x, y, offsets = short_offsets(exec, a), threads = exec.concurrency()] {
      eigen_multiply<T>({a.num_rows, a.num_cols, a.num_entries(), offsets.data(), a.columns.data(),
                         a.values.data()},
                        x.data(), y.data(), threads);
    };
  });
}
#endif

#if ISO_BENCH_HAS_KOKKOS_KERNELS
/// KokkosSparse::spmv by a handle that is used again.
template <class T, class Exec>
peer make_kokkos_kernels(Exec const& exec, product_problem<Exec> const& problem) {
  using array = device_array<Exec, T>;
  using matrix = sparse::crs_matrix<T, std::int32_t, Exec>;
  using handle_type = KokkosSparse::SPMVHandle<Exec, matrix, array, array>;
  return plain_peer<T>("kokkos_kernels", exec, problem,
                       [&](auto const& a, auto const& x, auto const& y) {
                         return [exec, crs = matrix(sparse::to_crs_matrix(exec, a)), x, y,
                                 handle = std::make_shared<handle_type>()] {
                           KokkosSparse::spmv(exec, handle.get(), "N", T(1), crs, x, T(0), y);
                         };
                       });
}
#endif

template <class Exec, class Make>
void add(matrix_source const& source, std::string const& backend, way direction,
         std::string const& label, int vectors, Make const& make) {
  row_name const name{"peer", source.name, label, "-", backend, direction};
  add_row(name, 7, [=](benchmark::State& state) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, direction);
    peer const p = make(exec, problem);
    if (!p.refusal.empty()) {
      return refuse(state, p.refusal);
    }
    measure_product(state, exec, {double(problem.nonzeros()), p.bytes, vectors}, p.multiply,
                    rival{}, p.error);
  });
}

#if ISO_HAS_CUDA && ISO_BENCH_HAS_CUSPARSE
void add_cusparse(matrix_source const& source, way direction, cusparse_types const& types,
                  cusparse_algorithm algorithm, int vectors = 1) {
  auto const label =
      name_of(types, algorithm) + (vectors > 1 ? "_k" + std::to_string(vectors) : "");
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
  for (auto const direction : {way::forward, way::transposed}) {
    auto const add_peer = [&](char const* label, auto const& make) {
      add<Exec>(source, backend, direction, label, 1, make);
    };
    (void)add_peer;
#if ISO_BENCH_HAS_EIGEN
    if constexpr (!backend::is_device<Exec>) {
      add_peer("eigen_float", make_eigen<float, Exec>);
      add_peer("eigen_double", make_eigen<double, Exec>);
    }
#endif
#if ISO_BENCH_HAS_KOKKOS_KERNELS
    add_peer("kokkos_kernels_float", make_kokkos_kernels<float, Exec>);
    add_peer("kokkos_kernels_double", make_kokkos_kernels<double, Exec>);
#endif
  }
}

#define ISO_INSTANTIATE_PEERS(Exec)                                                     \
  template peer make_reference_peer(Exec const&, product_problem<Exec> const&, number); \
  template void add_peer_rows<Exec>(matrix_source const&, std::string const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_PEERS)
#undef ISO_INSTANTIATE_PEERS

}  // namespace iso::perf
