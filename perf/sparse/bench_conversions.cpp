// SPDX-License-Identifier: BSD-3-Clause
// convert/<matrix>/A/<what>/-/<backend>: what is done to a matrix once. Counters beside the usual:
// `products`, the time in ordered products csr32_half of the same run. Bytes: the matrix once.
// `choose_format` also says what it chose: `chosen_rows` (1: csr_view), `chosen_bits`,
// `chosen_paired`, `fill`.
#include "sparse/bench_rows.hpp"
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>
#include <iso/sparse/validate_grouped.hpp>

namespace iso::perf {
namespace {

/// Times f(state, exec, make(exec, the matrix)) without `make`.
template <class Exec, class Make, class F>
void add_made(matrix_source const& source, std::string const& backend, char const* what,
              Make const& make, F const& f) {
  row_name const name{"convert", source.name, what, "-", backend, way::forward};
  add_row(name, 3, [=](benchmark::State& state, row_name const& row) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, way::forward);
    auto const& a = problem.matrix;
    auto const product = std::make_shared<library_product<Exec, wide_csr<Exec>, double>>(
        exec, a, 1, sparse::spmv_options{.sum = sparse::sum_order::ordered});
    rival const other{"products csr32_half ordered", [product] { (*product)(); }};
    auto const made = make(exec, a);
    auto const times = time_in_turn(state, exec, [&] { f(state, exec, made); }, other);
    model const work{matrix_bytes(a), 0};
    ceiling const at_most{.bytes_per_second = ceilings_of(exec).read};
    state.counters["products"] = times.seconds / times.rival_seconds;
    state.counters["nonzeros"] = double(a.num_entries());
    set_counters(state, times.seconds, work, at_most, 0);
    add_to_summary({.name = row.text(),
                    .milliseconds = 1e3 * times.seconds,
                    .bytes_per_nonzero = work.bytes / double(a.num_entries()),
                    .share = floor_seconds(work, at_most) / times.seconds,
                    .ratio = times.seconds / times.rival_seconds,
                    .rival = other.name});
  });
}

template <class Exec, class F>
void add(matrix_source const& source, std::string const& backend, char const* what, F const& f) {
  add_made<Exec>(source, backend, what, [](Exec const&, auto const& a) { return a; }, f);
}

template <class Exec, int R, class Offset>
void add_validate_grouped(matrix_source const& source, std::string const& backend,
                          char const* what) {
  add_made<Exec>(
      source, backend, what,
      [](Exec const& exec, auto const& a) { return sparse::make_grouped<R, Offset>(exec, a); },
      [](benchmark::State&, Exec const& exec, auto const& a) { sparse::validate(exec, a); });
}

}  // namespace

template <class Exec>
void add_conversion_rows(matrix_source const& source, std::string const& backend) {
  using state_type = benchmark::State;
  add<Exec>(source, backend, "validate",
            [](state_type&, Exec const& exec, auto const& a) { sparse::validate(exec, a); });
  add<Exec>(source, backend, "validate_all", [](state_type&, Exec const& exec, auto const& a) {
    sparse::validate(exec, a,
                     {.values = sparse::csr_demands::of_values::finite,
                      .columns = sparse::csr_demands::of_columns::ascending});
  });
  add_validate_grouped<Exec, 2, std::uint8_t>(source, backend, "validate_grouped2_8");
  add_validate_grouped<Exec, 4, std::uint16_t>(source, backend, "validate_grouped4_16");
  add_validate_grouped<Exec, 8, std::uint16_t>(source, backend, "validate_grouped8_16");
  add_made<Exec>(
      source, backend, "validate_paired8",
      [](Exec const& exec, auto const& a) { return sparse::make_paired(exec, a); },
      [](state_type&, Exec const& exec, auto const& a) { sparse::validate(exec, a); });
  add<Exec>(source, backend, "make_bounds",
            [](state_type&, Exec const& exec, auto const& a) { sparse::make_bounds(exec, a); });
  add<Exec>(source, backend, "make_plan",
            [](state_type&, Exec const& exec, auto const& a) { sparse::make_plan(exec, a); });
  add<Exec>(source, backend, "choose_format",
            [](state_type& state, Exec const& exec, auto const& a) {
              auto const chosen = sparse::choose_format(exec, a);
              state.counters["chosen_rows"] = chosen.rows;
              state.counters["chosen_bits"] = chosen.offset_bits;
              state.counters["chosen_paired"] = chosen.paired ? 1 : 0;
              state.counters["fill"] = chosen.fill;
            });
  add<Exec>(source, backend, "make_grouped4_8", [](state_type&, Exec const& exec, auto const& a) {
    sparse::make_grouped<4, std::uint8_t>(exec, a);
  });
  add<Exec>(source, backend, "make_paired8",
            [](state_type&, Exec const& exec, auto const& a) { sparse::make_paired(exec, a); });
  add<Exec>(source, backend, "transpose",
            [](state_type&, Exec const& exec, auto const& a) { sparse::transpose(exec, a); });
  add<Exec>(
      source, backend, "to_relative_columns",
      [](state_type&, Exec const& exec, auto const& a) { sparse::to_relative_columns(exec, a); });
  if (source.rows == extent::full) {
    add<Exec>(source, backend, "generate",
              [=](state_type&, Exec const& exec, auto const&) { make_matrix(exec, source); });
  }
}

#define ISO_INSTANTIATE_CONVERSIONS(Exec) \
  template void add_conversion_rows<Exec>(matrix_source const&, std::string const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_CONVERSIONS)
#undef ISO_INSTANTIATE_CONVERSIONS

}  // namespace iso::perf
