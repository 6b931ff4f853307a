// SPDX-License-Identifier: BSD-3-Clause
// Products of dose matrices and vectors (matrices.hpp says which). Rows, in this order:
//
//   ceilings/<backend>                                              every figure of
//   ceilings::measure spmv/<matrix>/<A or AT>/<format>_<values>[_k<n>]/<sum>/<backend>
//   spmv_beside_double/...                                          the same beside Eigen in double
//   peer/...                                                        bench_peers.cpp
//   raw/... and configurations/...                                  bench_raw.cpp, CUDA alone
//   choice/...                                                      bench_formats.cpp
//   convert/...                                                     bench_formats.cpp
//   growth/liver_<non-zeros>/A/<format>/<sum>/<backend>              growth.py
//
// AT is the transposed matrix, written out, times a vector. Formats: csr32, csr16 (columns of 32
// bits, or 16 from a base a row), row_block4, row_block8. Vectors are of double,
// but for `csr32_float_single`, all in float. `reproducible` finds max|x| within the time;
// `reproducible_given` is told.
//
// Counters beside the usual: `nonzeros`, `vectors`, `bytes_per_nonzero` (matrix and vectors),
// `gflops` (2 a non-zero and vector); `ratio`, the rival's time over ours, both timed in turn in
// every iteration, and `rival_ms`; on the host `processor_ratio`, the same of processor time (set
// OMP_WAIT_POLICY=passive), which counts where others use the machine too. The rival of a single
// vector's product is the faster of cuSPARSE's CSR algorithms, or on the host Eigen at equal
// threads, all in float (in double for values of double, and in spmv_beside_double); that of k
// vectors is one vector's product, so that 1 / ratio is what k cost. `refused` marks what a format
// or library does not take.
//
// The model: cases::product_work. `error`: l2 distance, relative, from a product with twice the
// digits of double; `worst_row`: largest error of a row over its sum of |a x|.
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/formats.hpp>
#include <iso/sparse/detail/value_word.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace iso::perf {
namespace {

enum class max_abs_x { found, given };

struct sum_variant {
  char const* name;
  summation order;
  max_abs_x x = max_abs_x::found;
};
constexpr sum_variant ordered{"ordered", summation::ordered};
constexpr sum_variant reproducible{"reproducible", summation::reproducible};
constexpr sum_variant reproducible_given{"reproducible_given", summation::reproducible,
                                         max_abs_x::given};

/// Where rows go.
struct place {
  std::string family;
  matrix_source source;
  way direction;
  std::string backend;
  number rival = number::single;  ///< what the numbers of the product beside it are
};

template <class Exec, class Value, class T>
void measure(benchmark::State& state, place const& where, matrix_format format,
             sum_variant const& sum, int vectors) {
  Exec const exec;
  auto const& problem = matrix_store<Exec>::problem(where.source, where.direction);
  sparse::spmv_options options{.sum = sum.order};
  Kokkos::View<double*, typename Exec::memory_space> const top("iso::perf::max_abs", 1);
  if (sum.x == max_abs_x::given) {
    sparse::max_abs(exec, problem.x, top);
    options.max_abs_x = top.data();
  }
  auto const csr = with_values<Value>(exec, problem.matrix);
  with_format(exec, csr, format, [&]<class Matrix>(Matrix const& a) {
    library_product<Exec, Matrix, T> const ours(exec, a, vectors, options);
    rival other;
    if (vectors > 1) {
      other = library_rival<T>("one vector", exec, a, options);
    } else if (where.family != "growth") {
      auto const& peer = matrix_store<Exec>::reference_peer(
          where.direction, std::is_same_v<Value, double> ? number::twice : where.rival);
      if (peer.refusal.empty() && !peer.name.empty()) {
        other = {peer.name, peer.multiply};
      }
    }
    measure_product(state, exec, {double(problem.nonzeros()), ours.work().bytes, vectors}, ours,
                    other, [&] { return problem.error(exec, ours.result(), vectors); });
  });
}

/// Rows of a format with its values of `Value` and vectors of T.
template <class Exec, class Value = half, class T = double>
void add_product(place const& where, matrix_format format, std::initializer_list<sum_variant> sums,
                 int vectors = 1) {
  std::string product = cases::name_of(format) + "_";
  product += sparse::detail::value_word<Value>();
  product += std::is_same_v<T, float> ? "_single" : "";
  product += vectors > 1 ? "_k" + std::to_string(vectors) : "";
  for (auto const& sum : sums) {
    add_row({where.family, where.source.name, product, sum.name, where.backend, where.direction},
            backend::is_device<Exec> ? 7 : 5, [=](benchmark::State& state) {
              measure<Exec, Value, T>(state, where, format, sum, vectors);
            });
  }
}

/// Those that rows of a backend are measured in: on one thread blocks of eight are not.
template <class Exec>
std::vector<matrix_format> measured_blocks() {
  if (std::is_same_v<Exec, Kokkos::Serial>) {
    return {matrix_format::row_block4};
  }
  return {block_formats.begin(), block_formats.end()};
}

template <class Exec>
void add_other_values(place const& where) {
  auto const csr = matrix_format::csr32;
  add_product<Exec, bfloat16>(where, matrix_format::row_block4, {reproducible});
  add_product<Exec, bfloat16>(where, csr, {reproducible});
  add_product<Exec, float>(where, csr, {ordered, reproducible});
  add_product<Exec, float, float>(where, csr, {ordered});
  add_product<Exec, double>(where, csr, {ordered, reproducible});
}

template <class Exec>
void add_several_vectors(place const& where) {
  for (int const vectors : {2, 4, 8}) {
    add_product<Exec>(where, matrix_format::csr32, {ordered, reproducible}, vectors);
    for (auto const format : measured_blocks<Exec>()) {
      add_product<Exec>(where, format, {ordered, reproducible}, vectors);
    }
  }
}

template <class Exec>
void add_products(matrix_source const& source, std::string const& backend) {
  for (auto const direction : {way::forward, way::transposed}) {
    place const where{"spmv", source, direction, backend};
    for (auto const format : csr_formats) {
      add_product<Exec>(where, format, {ordered, reproducible});
    }
    for (auto const format : measured_blocks<Exec>()) {
      add_product<Exec>(where, format, {ordered, reproducible, reproducible_given});
    }
    if constexpr (!std::is_same_v<Exec, Kokkos::Serial>) {
      if (source.rows == extent::full) {
        add_other_values<Exec>(where);
      }
    }
    if (source.rows == extent::full) {
      add_several_vectors<Exec>(where);
    }
  }
}

/// On the host, beside Eigen in double too.
template <class Exec>
void add_beside_double(matrix_source const& source, std::string const& backend) {
  for (auto const direction : {way::forward, way::transposed}) {
    place const where{"spmv_beside_double", source, direction, backend, number::twice};
    add_product<Exec>(where, matrix_format::csr16, {ordered, reproducible});
    add_product<Exec>(where, matrix_format::row_block4, {ordered, reproducible});
  }
}

template <class Exec>
void add_growth(std::string const& backend) {
  double const most = smoke()                                ? 0
                      : backend::is_device<Exec>             ? 1.48e9
                      : std::is_same_v<Exec, Kokkos::Serial> ? 4e7
                                                             : 1e8;
  for (int k = 8; k >= 1 && most > 0; k /= 2) {
    auto source = liver_of(most / k);
    source.name += "_" + std::to_string(std::int64_t(most / k));
    place const where{"growth", source, way::forward, backend};
    add_product<Exec>(
        where, backend::is_device<Exec> ? matrix_format::row_block8 : matrix_format::row_block4,
        {ordered, reproducible});
  }
}

/// The first to ask for them, so that measuring them is in no other row.
template <class Exec>
void report_ceilings(benchmark::State& state) {
  Exec const exec;
  ceilings::rates most;
  for (auto _ : state) {
    state.SetIterationTime(seconds_of(exec, [&] { most = ceilings_of(exec); }));
  }
  for (auto const& [name, rate] : {std::pair{"read", most.read},
                                   {"copy", most.copy},
                                   {"triad", most.triad},
                                   {"l1", most.l1},
                                   {"l2", most.l2},
                                   {"fp16", most.fp16},
                                   {"fp32", most.fp32},
                                   {"fp64", most.fp64},
                                   {"spread", most.spread}}) {
    state.counters[name] = rate;
  }
}

template <class Exec>
void add_rows_of(std::string const& backend) {
  constexpr machine where = backend::is_device<Exec>               ? machine::device
                            : std::is_same_v<Exec, Kokkos::Serial> ? machine::one_thread
                                                                   : machine::threads;
  add_row("ceilings/" + backend, 1, report_ceilings<Exec>);
  for (auto const& source : matrix_sources(where)) {
    add_products<Exec>(source, backend);
    if constexpr (!backend::is_device<Exec>) {
      add_beside_double<Exec>(source, backend);
    }
    add_peer_rows<Exec>(source, backend);
#if ISO_HAS_CUDA
    if constexpr (backend::is_device<Exec>) {
      add_raw_rows(source);
      if (source.name == "liver") {
        add_configuration_rows(source);
      }
    }
#endif
    add_conversion_rows<Exec>(source, backend);
  }
  for (auto const& source : choice_sources(where)) {
    add_choice_rows<Exec>(source, backend);
  }
  add_growth<Exec>(backend);
}

int const registered =
    add_rows_of_backends([]<class Exec>(std::string const& name) { add_rows_of<Exec>(name); });

}  // namespace
}  // namespace iso::perf
