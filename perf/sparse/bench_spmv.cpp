// SPDX-License-Identifier: BSD-3-Clause
// Products of dose matrices and vectors (matrices.hpp says which). Rows, in this order:
//
//   ceilings/<backend>                                              backends/ceiling_loops.hpp
//   spmv/<matrix>/<A or AT>/<format>_<values>[_k<n>]/<sum>/<backend>
//   spmv_beside_double/...                                          the same beside Eigen in double
//   peer/...                                                        bench_peers.cpp
//   raw/... and configurations/...                                  bench_raw.cpp, CUDA alone
//   choice/...                                                      bench_choice.cpp
//   convert/...                                                     bench_conversions.cpp
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
// or library does not take. At the end a table of all rows goes to stderr.
//
// The model: cases::product_work. `share_of_ceiling` is of the pure-read ceiling. `error`: l2
// distance, relative, from a product with twice the digits of double; `worst_row`: largest error of
// a row over its sum of |a x|.
#include "backends/ceiling_loops.hpp"
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>

#include <type_traits>

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

template <class Exec, class T, class Make>
void measure(benchmark::State& state, row_name const& name, place const& where, Make const& make,
             sum_variant const& sum, int vectors) {
  Exec const exec;
  auto const& problem = matrix_store<Exec>::problem(where.source, where.direction);
  auto const a = make(exec, problem.matrix);
  using matrix = std::decay_t<decltype(a)>;
  sparse::spmv_options options{.sum = sum.order};
  Kokkos::View<double*, typename Exec::memory_space> const top("iso::perf::max_abs", 1);
  if (sum.x == max_abs_x::given) {
    sparse::max_abs(exec, problem.x, top);
    options.max_abs_x = top.data();
  }
  library_product<Exec, matrix, T> const ours(exec, a, vectors, options);
  rival other;
  if (vectors > 1) {
    other = library_rival<T>("one vector", exec, a, options);
  } else if (where.family != "growth") {
    auto const& peer = matrix_store<Exec>::reference_peer(
        where.direction,
        std::is_same_v<typename matrix::value_type, double> ? number::twice : where.rival);
    if (peer.refusal.empty() && !peer.name.empty()) {
      other = {peer.name, peer.multiply};
    }
  }
  measure_product(state, exec, name, {double(problem.nonzeros()), ours.work().bytes, vectors}, ours,
                  other, [&] { return problem.error(exec, ours.result(), vectors); });
}

template <class Exec, class T, class Make>
void add_product(place const& where, std::string const& format, Make const& make,
                 std::initializer_list<sum_variant> sums, int vectors = 1) {
  for (auto const& sum : sums) {
    row_name const name{where.family,
                        where.source.name,
                        vectors > 1 ? format + "_k" + std::to_string(vectors) : format,
                        sum.name,
                        where.backend,
                        where.direction};
    add_row(name, backend::is_device<Exec> ? 7 : 5,
            [=](benchmark::State& state, row_name const& row) {
              measure<Exec, T>(state, row, where, make, sum, vectors);
            });
  }
}

template <int R>
constexpr auto row_blocks =
    [](auto const& exec, auto const& a) { return sparse::make_row_blocks<R>(exec, a); };
template <class Value>
constexpr auto values_of =
    [](auto const& exec, auto const& a) { return sparse::convert_values<Value>(exec, a).matrix; };
constexpr auto as_it_is = [](auto const&, auto const& a) { return a; };
constexpr auto narrow_columns = [](auto const& exec, auto const& a) {
  return sparse::to_relative_columns(exec, a);
};
constexpr auto blocks_of_bfloat16 = [](auto const& exec, auto const& a) {
  return sparse::make_row_blocks<4>(exec, sparse::convert_values<bfloat16>(exec, a).matrix);
};

/// Formats that every matrix is measured in.
template <class Exec>
void add_main_formats(place const& where) {
  add_product<Exec, double>(where, "csr32_half", as_it_is, {ordered, reproducible});
  add_product<Exec, double>(where, "csr16_half", narrow_columns, {ordered, reproducible});
  add_product<Exec, double>(where, "row_block4_half", row_blocks<4>,
                            {ordered, reproducible, reproducible_given});
  if constexpr (!std::is_same_v<Exec, Kokkos::Serial>) {
    add_product<Exec, double>(where, "row_block8_half", row_blocks<8>,
                              {ordered, reproducible, reproducible_given});
  }
}

template <class Exec>
void add_other_formats(place const& where) {
  add_product<Exec, double>(where, "row_block4_bfloat16", blocks_of_bfloat16, {reproducible});
  add_product<Exec, double>(where, "csr32_bfloat16", values_of<bfloat16>, {reproducible});
  add_product<Exec, double>(where, "csr32_float", values_of<float>, {ordered, reproducible});
  add_product<Exec, float>(where, "csr32_float_single", values_of<float>, {ordered});
  add_product<Exec, double>(where, "csr32_double", values_of<double>, {ordered, reproducible});
}

template <class Exec>
void add_several_vectors(place const& where) {
  for (int const vectors : {2, 4, 8}) {
    add_product<Exec, double>(where, "csr32_half", as_it_is, {ordered, reproducible}, vectors);
    add_product<Exec, double>(where, "row_block4_half", row_blocks<4>, {ordered, reproducible},
                              vectors);
    if constexpr (!std::is_same_v<Exec, Kokkos::Serial>) {
      add_product<Exec, double>(where, "row_block8_half", row_blocks<8>, {ordered, reproducible},
                                vectors);
    }
  }
}

template <class Exec>
void add_products(matrix_source const& source, std::string const& backend) {
  for (auto const direction : {way::forward, way::transposed}) {
    place const where{"spmv", source, direction, backend};
    add_main_formats<Exec>(where);
    if constexpr (!std::is_same_v<Exec, Kokkos::Serial>) {
      if (source.rows == extent::full) {
        add_other_formats<Exec>(where);
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
    add_product<Exec, double>(where, "csr16_half", narrow_columns, {ordered, reproducible});
    add_product<Exec, double>(where, "row_block4_half", row_blocks<4>, {ordered, reproducible});
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
    if constexpr (backend::is_device<Exec>) {
      add_product<Exec, double>(where, "row_block8_half", row_blocks<8>, {ordered, reproducible});
    } else {
      add_product<Exec, double>(where, "row_block4_half", row_blocks<4>, {ordered, reproducible});
    }
  }
}

template <class Exec>
void add_rows_of(std::string const& backend) {
  constexpr machine where = backend::is_device<Exec>               ? machine::device
                            : std::is_same_v<Exec, Kokkos::Serial> ? machine::one_thread
                                                                   : machine::threads;
  add_ceiling_row("ceilings/" + backend, ceiling_rows<Exec>::read);
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
