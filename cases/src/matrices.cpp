// SPDX-License-Identifier: BSD-3-Clause
//! Matrices made, looked at and converted; products are in products.cpp.
#include "matrix_inputs.hpp"

#include <iso/cases/catalogue.hpp>
#include <iso/cases/formats.hpp>
#include <iso/sparse/dose_matrix.hpp>
#include <iso/sparse/spmv.hpp>
#include <iso/sparse/validate.hpp>
#include <iso/synthetic/statistics.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace iso::cases {
namespace {

/// Everything that an operation returns, as numbers: integers, and values of any type, exactly.
struct numbers {
  std::vector<double> all;

  template <class... T>
  void add(T... values) {
    (all.push_back(double(values)), ...);
  }
  template <class Range>
  void add_each(Range const& values) {
    for (auto const value : values) {
      add(value);
    }
  }
  template <class Exec, class View>
  void add_array(Exec const& exec, View const& view) {
    add_each(fetch(exec, view));
  }
  template <class Exec, class Value, class Column>
  void add_matrix(Exec const& exec,
                  sparse::csr_view<Value, Column, typename Exec::memory_space> const& a) {
    add(a.num_rows, a.num_cols);
    add_array(exec, a.row_offsets);
    add_array(exec, a.columns);
    add_array(exec, a.values);
    add_array(exec, a.row_bases);
    add_array(exec, a.row_scales);
  }
};

/// An operation that makes arrays of its own: Collect{}(exec) runs it and returns the numbers.
template <class Collect>
struct collected {
  template <class T>
  struct type {
    template <class Exec>
    prepared<Exec, T> prepare(Exec const& exec) const {
      auto const size = std::int64_t(Collect{}(exec).all.size());
      return {size, [size](Exec const& on, variant const&, T* out) {
                auto found = Collect{}(on).all;
                // Fewer numbers than the first run's leave the rest as it was, which differs.
                found.resize(std::min(found.size(), std::size_t(size)));
                put_at(on, out, found);
              }};
    }
  };
};

struct making_matrix_figures {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    n.add_matrix(exec, synthetic::generate<half>(exec, small_figures()));
    n.add_matrix(exec, synthetic::generate<bfloat16>(exec, small_figures()));
    auto uncorrelated = synthetic::table_of(synthetic::plan_case::prostate_1, 0.002);
    uncorrelated.similarity = 0;
    n.add_matrix(exec, synthetic::generate<double>(exec, uncorrelated));
    return n;
  }
};

struct making_pencil_beams {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    n.add_matrix(exec, synthetic::generate<double>(exec, small_field()));
    n.add_matrix(exec, synthetic::generate<half>(exec, small_field()));
    return n;
  }
};

struct counting {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    auto const a = load_csr(exec, small_matrix<half>());
    numbers n;
    for (auto const& s : {synthetic::statistics(exec, a),
                          synthetic::statistics(exec, sparse::to_relative_columns(exec, a))}) {
      n.add(s.rows, s.columns, s.nonzeros, s.empty_rows, s.short_rows, s.longest, s.runs, s.gaps,
            s.wide_gaps, s.shared, s.neighbour_rows, s.neighbour_entries);
      n.add_each(s.row_lengths);
      n.add_each(s.run_lengths);
      n.add_each(s.unions);
      n.add_each(s.jaccard_histogram);
    }
    return n;
  }
};

/// A sound matrix, and others with one fault each.
struct validating {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    auto const sound = small_matrix<float>();
    sparse::csr_demands const strict{sparse::csr_demands::of_values::finite,
                                     sparse::csr_demands::of_columns::ascending};
    add(n, exec, sound, strict);
    add(n, exec, reversed(sound), strict);
    auto wide = reversed(sound);
    wide.columns.data()[777] = 9000;
    wide.columns.data()[9000] = -1;
    add(n, exec, wide, {});
    auto infinite = reversed(sound);
    infinite.values.data()[1234] = std::numeric_limits<float>::infinity();
    infinite.values.data()[4321] = 0;
    add(n, exec, infinite, {.values = strict.values});
    auto decreasing = reversed(sound);
    decreasing.row_offsets.data()[1500] = 3;
    add(n, exec, decreasing, {});
    return n;
  }

 private:
  template <class Exec>
  static void add(numbers& n, Exec const& exec, host_csr<float> const& a,
                  sparse::csr_demands const& demands) {
    auto const r = sparse::validate(exec, load_csr(exec, a), demands);
    n.add(int(r.found), r.row, r.entry, r.value, r.limit, r.bad_row_offsets, r.bad_columns,
          r.bad_row_scales, r.not_finite, r.descending, r.doubled, r.stored_zeros, r.negative_zeros,
          r.longest_row, r.widest_row, r.empty_rows);
    n.add_each(sparse::to_string(r));
  }
};

struct converting {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    auto const a = synthetic::generate<double>(exec, small_field());
    add<half>(n, exec, a, sparse::row_scaling::none);
    add<half>(n, exec, a, sparse::row_scaling::by_largest);
    add<bfloat16>(n, exec, a, sparse::row_scaling::by_largest);
    add<float>(n, exec, a, sparse::row_scaling::none);
    return n;
  }

 private:
  template <class To, class Exec, class Matrix>
  static void add(numbers& n, Exec const& exec, Matrix const& a, sparse::row_scaling scaling) {
    auto const to = sparse::convert_values<To>(exec, a, scaling);
    n.add(to.report.overflowed, to.report.underflowed, to.report.lost);
    n.add_matrix(exec, to.matrix);
  }
};

struct renumbering {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    auto const narrow = sparse::to_relative_columns(exec, load_csr(exec, small_matrix<float>()));
    n.add_matrix(exec, narrow);
    n.add_matrix(exec, sparse::to_absolute_columns(exec, narrow));
    return n;
  }
};

struct turning {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    auto const a = load_csr(exec, reversed(small_matrix<half>()));
    n.add_matrix(exec, sparse::transpose(exec, a));
    n.add_matrix(exec, sparse::transpose(exec, sparse::to_relative_columns(exec, a)));
    return n;
  }
};

struct blocking {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    auto const a = load_csr(exec, small_matrix<half>());
    for (auto const format : block_formats) {
      with_format(exec, a, format, [&](auto const& b) {
        if constexpr (requires { b.bases(); }) {
          n.add(b.num_rows(), b.num_cols(), b.num_entries());
          n.add_array(exec, b.chunk_offsets());
          n.add_array(exec, b.bases());
          n.add_array(exec, b.offsets());
          n.add_array(exec, b.values());
          n.add_matrix(exec, sparse::to_csr(exec, b));
        }
      });
    }
    return n;
  }
};

struct weighing {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    auto const a = load_csr(exec, small_matrix<bfloat16>());
    for (auto const format : block_formats) {
      add(n, sparse::measure_format(exec, a, format));
    }
    add(n, sparse::measure_format(exec, a, matrix_format::csr32));
    for (auto const kind : {sparse::processor::host, sparse::processor::device}) {
      add(n, sparse::choose_format(exec, a, kind));
    }
    return n;
  }

 private:
  static void add(numbers& n, sparse::format_report const& r) {
    n.add(int(r.format), r.chunks, r.bytes_per_entry, r.fill, r.reads_per_entry,
          r.columns_per_chunk, sparse::product_cost(r, sparse::processor::host),
          sparse::product_cost(r, sparse::processor::device));
  }
};

/// Bounds and plans; the order in which rows are dealt out may differ.
struct planning {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    numbers n;
    auto const a = load_csr(exec, small_matrix<half>());
    add(n, exec, a);
    add(n, exec, sparse::make_row_blocks<4>(exec, a));
    return n;
  }

 private:
  template <class Exec, class Matrix>
  static void add(numbers& n, Exec const& exec, Matrix const& a) {
    auto const bounds = sparse::make_bounds(exec, a);
    auto const plan = sparse::make_plan(exec, a, bounds);
    n.add_array(exec, bounds.max_abs);
    n.add_array(exec, bounds.entries);
    n.add(plan.num_long, plan.num_parts, plan.matrix.num_blocks());
    n.add_array(exec, plan.first_part);
    n.add_array(exec, plan.exponents);
  }
};

/// Both directions, from rows and from columns, in the format that one kind of processor would
/// have.
struct applying {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    using matrix = sparse::dose_matrix<typename Exec::memory_space>;
    auto const a = small_matrix<half>();
    auto const t = sparse::transpose(Kokkos::Serial(), a);
    sparse::dose_matrix_options const options{.kind = sparse::processor::device};
    numbers n;
    add(n, exec,
        matrix(exec, sparse::csr_arrays(a.num_rows, a.num_cols, a.row_offsets, a.columns, a.values),
               options));
    add(n, exec,
        matrix(exec, sparse::csc_arrays(a.num_rows, a.num_cols, t.row_offsets, t.columns, t.values),
               options));
    n.add(sparse::shape_of(a).bytes, sparse::shape_of(a).num_entries);
    return n;
  }

 private:
  template <class Exec, class Matrix>
  static void add(numbers& n, Exec const& exec, Matrix const& a) {
    using vector = Kokkos::View<double*, typename Exec::memory_space>;
    vector const x("iso::cases::x", std::size_t(a.num_cols()));
    vector const y("iso::cases::y", std::size_t(a.num_rows()));
    Kokkos::deep_copy(exec, x, 0.75);
    a.apply(exec, x, y);
    a.apply_transposed(exec, y, x);
    n.add_array(exec, y);
    n.add_array(exec, x);
    n.add_each(sparse::to_string(a.report()));
  }
};

struct seeking_max_abs {
  template <class Exec>
  numbers operator()(Exec const& exec) const {
    using space = typename Exec::memory_space;
    std::int64_t const length = 20000;
    auto values = small_vector<double>(3 * length, 5);
    values[3000] = std::numeric_limits<double>::infinity();
    values[3001] = std::numeric_limits<double>::quiet_NaN();
    Kokkos::View<double**, Kokkos::LayoutRight, space> const x("iso::cases::x", std::size_t(length),
                                                               std::size_t(3));
    Kokkos::deep_copy(
        exec, x,
        Kokkos::View<double const**, Kokkos::LayoutRight, Kokkos::HostSpace,
                     Kokkos::MemoryUnmanaged>(values.data(), std::size_t(length), std::size_t(3)));
    Kokkos::View<double*, space> const maxima("iso::cases::maxima", std::size_t(3));
    sparse::max_abs(exec, x, maxima);
    numbers n;
    n.add_array(exec, maxima);
    return n;
  }
};

template <class Collect>
void add_collected(catalogue& all, std::string const& name, std::string const& scope,
                   std::vector<std::string> functions) {
  for (auto& function : functions) {
    function.insert(0, "iso::" + scope + "::");
  }
  all.add_double<collected<Collect>::template type>(
      {name, std::move(functions), {{}}, std::nullopt, false});
}

}  // namespace

void add_matrices(catalogue& all) {
  add_collected<making_matrix_figures>(all, "matrix_figures", "synthetic",
                                       {"generate", "table_of", "validate"});
  add_collected<making_pencil_beams>(all, "matrix_pencil_beams", "synthetic", {"generate"});
  add_collected<counting>(all, "matrix_statistics", "synthetic", {"statistics"});
  add_collected<validating>(all, "matrix_validate", "sparse", {"validate", "to_string"});
  add_collected<converting>(all, "matrix_convert_values", "sparse", {"convert_values"});
  add_collected<renumbering>(all, "matrix_columns", "sparse",
                             {"to_relative_columns", "to_absolute_columns", "make_csr"});
  add_collected<turning>(all, "matrix_transpose", "sparse", {"transpose"});
  add_collected<blocking>(all, "matrix_row_blocks", "sparse", {"make_row_blocks", "to_csr"});
  add_collected<weighing>(all, "matrix_format", "sparse",
                          {"measure_format", "choose_format", "product_cost"});
  add_collected<applying>(all, "matrix_apply", "sparse",
                          {"csr_arrays", "csc_arrays", "shape_of", "to_string"});
  add_collected<planning>(all, "matrix_plan", "sparse", {"make_bounds", "make_plan"});
  add_collected<seeking_max_abs>(all, "vector_max_abs", "sparse", {"max_abs"});
}

}  // namespace iso::cases
