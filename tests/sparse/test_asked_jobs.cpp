// SPDX-License-Identifier: BSD-3-Clause
// Checks, conversions and plans ask their job while they work, and give the same bits with one.
#include <iso/core/error.hpp>
#include <iso/core/job.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/sparse/dose_matrix.hpp>
#include <iso/synthetic/detector_readings.hpp>
#include <iso/synthetic/generate.hpp>
#include <iso/synthetic/statistics.hpp>

#include <doctest/doctest.h>

#include "sparse_support.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace sparse_support;

/// Adds what an object holds to a list of views' bits.
struct numbers_of {
  std::vector<double> all;

  template <class View>
  void add(View const& view) {
    for (auto const& x : to_vector(view)) {
      if constexpr (std::is_convertible_v<decltype(x), double>) {
        all.push_back(double(x));
      } else {
        all.push_back(double(x.bits));
      }
    }
  }
  template <class Value, class Column, class Space>
  void operator()(csr_view<Value, Column, Space> const& a) {
    add(a.row_offsets);
    add(a.columns);
    add(a.values);
    add(a.row_bases);
    add(a.row_scales);
  }
  template <class Value, int R, class Space>
  void operator()(iso::sparse::row_block_csr<Value, R, Space> const& a) {
    add(a.chunk_offsets());
    add(a.bases());
    add(a.offsets());
    add(a.values());
  }
  template <class Matrix>
  void operator()(iso::sparse::converted<Matrix> const& a) {
    (*this)(a.matrix);
    all.push_back(double(a.report.lost));
    all.push_back(double(a.report.underflowed));
  }
  void operator()(iso::sparse::csr_report const& r) {
    all.insert(all.end(), {double(r.widest_row), double(r.longest_row), double(r.stored_zeros)});
  }
  void operator()(iso::sparse::format_report const& r) {
    all.insert(all.end(), {double(r.format), double(r.chunks), r.fill, r.columns_per_chunk});
  }
  template <class Space>
  void operator()(iso::sparse::spmv_plan<Space> const& p) {
    add(p.rows.max_abs);
    add(p.rows.entries);
    add(p.exponents);
  }
  void operator()(iso::synthetic::matrix_statistics const& s) {
    all.insert(all.end(), {double(s.rows), double(s.longest), double(s.runs), double(s.shared),
                           double(s.neighbour_entries), double(s.unions[2])});
  }
  template <class T>
  void operator()(std::vector<T> const& numbers) {
    all.assign(numbers.begin(), numbers.end());
  }
  template <class Space>
  void operator()(iso::sparse::dose_matrix<Space> const& a) {
    all.push_back(double(a.bytes()));
  }
};

/// Checks that `call(control)` asks often, tells how far it is, returns what it returns without a
/// job, and ends where it is told to.
template <class Call>
void check_job(char const* name, Call const& call) {
  CAPTURE(name);
  auto const numbers = [](auto const& of) {
    numbers_of n;
    n(of);
    return n.all;
  };
  auto const alone = numbers(call(iso::job{}));
  std::vector<double> told;
  int asked = 0;
  auto const with = numbers(call(
      iso::job{[&](double fraction) { told.push_back(fraction); }, [&] { return ++asked < 0; }}));
  CHECK(with == alone);
  CHECK(asked >= 4);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() <= 1);
  // How often it asks depends on the clock; how far it comes does not.
  for (double const stop_at : {0.0, told.back() / 2, told.back()}) {
    bool reached = false;
    int stops = 0;
    iso::job const stopping{[&](double fraction) { reached = fraction >= stop_at; },
                            [&] {
                              stops += reached ? 1 : 0;
                              return reached;
                            }};
    CHECK_THROWS_AS(call(stopping), iso::cancelled);
    CHECK(stops == 1);
  }
}

}  // namespace

TEST_CASE("synthetic: matrices, statistics and readings ask their job, and change no bit") {
  // Nothing here depends on how many threads there are.
  iso::backend::for_each([](auto tag) {
    typename decltype(tag)::execution_space const exec;
    if constexpr (iso::backend::is_device<std::decay_t<decltype(exec)>>) {
      return;
    } else {
      using iso::job;
      using space = typename std::decay_t<decltype(exec)>::memory_space;
      namespace synthetic = iso::synthetic;
      synthetic::matrix_figures const figures{
          .rows = 3000, .columns = 400, .nonzeros = 50000, .longest = 100};
      synthetic::pencil_beams field;
      field.voxels = iso::grid::centred({20, 20, 20}, {5, 5, 5});
      check_job("figures",
                [&](job const& c) { return synthetic::generate<iso::half>(exec, figures, c); });
      check_job("beams", [&](job const& c) { return synthetic::generate<float>(exec, field, c); });
      auto const a = synthetic::generate<float>(exec, figures);
      check_job("statistics", [&](job const& c) { return synthetic::statistics(exec, a, c); });
      auto const p = iso::make_projections<float, space>("integrals", 10, 40, 50);
      auto const readings = iso::make_projections<float, space>("readings", 10, 40, 50);
      check_job("readings", [&](job const& c) {
        synthetic::detector_readings(exec, {}, 0, p, readings, c);
        exec.fence();
        return to_vector(Kokkos::View<float*, space>(readings.data.data(), readings.data.size()));
      });
      Kokkos::View<double*, space> const means("means", 5000);
      Kokkos::View<double*, space> const counts("counts", 5000);
      Kokkos::deep_copy(means, 20);
      check_job("counts", [&](job const& c) {
        synthetic::poisson_counts(exec, means, counts, {}, c);
        exec.fence();
        return to_vector(counts);
      });
    }
  });
}

TEST_CASE("sparse: checks, conversions and plans ask their job, and change no bit") {
  // Nothing here depends on how many threads there are.
  iso::backend::for_each([](auto tag) {
    typename decltype(tag)::execution_space const exec;
    // On a device a batch is 2^14 rows.
    if constexpr (iso::backend::is_device<std::decay_t<decltype(exec)>>) {
      return;
    } else {
      auto const m = synthetic(3000, 400, 5, 0.3);
      auto const a = csr<double, std::int32_t>(exec, m);
      auto const narrow = csr<iso::half, std::int32_t>(exec, m);
      auto const relative = csr<double, std::uint16_t>(exec, m);
      using iso::job;
      namespace sparse = iso::sparse;
      check_job("validate", [&](job const& c) { return sparse::validate(exec, a, {}, c); });
      check_job("transpose", [&](job const& c) { return sparse::transpose(exec, a, c); });
      check_job("transpose of relative columns",
                [&](job const& c) { return sparse::transpose(exec, relative, c); });
      check_job("to half", [&](job const& c) {
        return sparse::convert_values<iso::half>(exec, a, sparse::row_scaling::none, c);
      });
      check_job("to half by one scale", [&](job const& c) {
        return sparse::convert_values<iso::half>(exec, a, sparse::row_scaling::uniform, c);
      });
      check_job("to relative columns",
                [&](job const& c) { return sparse::to_relative_columns(exec, a, c); });
      check_job("to absolute columns",
                [&](job const& c) { return sparse::to_absolute_columns(exec, relative, c); });
      check_job("row blocks",
                [&](job const& c) { return sparse::make_row_blocks<8>(exec, narrow, c); });
      auto const blocks = sparse::make_row_blocks<8>(exec, narrow);
      check_job("rows", [&](job const& c) { return sparse::to_csr(exec, blocks, c); });
      check_job("format", [&](job const& c) {
        return sparse::choose_format(exec, narrow, sparse::processor::host, c);
      });
      check_job("plan", [&](job const& c) { return sparse::make_plan(exec, a, c); });
      check_job("plan of blocks", [&](job const& c) { return sparse::make_plan(exec, blocks, c); });
      using values = sparse::dose_matrix_options::value_storage;
      for (auto const stored : {values::as_given, values::half}) {
        check_job("dose matrix", [&](job const& c) {
          return sparse::dose_matrix<typename std::decay_t<decltype(exec)>::memory_space>(
              exec, sparse::csr_arrays(a.num_rows, a.num_cols, a.row_offsets, a.columns, a.values),
              {.values = stored}, c);
        });
      }
    }
  });
}
