// SPDX-License-Identifier: BSD-3-Clause
// convert/<matrix>/A/<what>/-/<backend>: what is done to a matrix once. Counters beside the usual:
// `products`, the time in ordered products csr32_half of the same run. Bytes: the matrix once.
// `choose_format` also says what it chose: `chosen` (a number of iso::sparse::matrix_format),
// `fill`.
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>
#include <iso/sparse/validate.hpp>

namespace iso::perf {
namespace {

/// Times f(state, exec, the matrix).
template <class Exec, class F>
void add(matrix_source const& source, std::string const& backend, char const* what, F const& f) {
  row_name const name{"convert", source.name, what, "-", backend, way::forward};
  add_row(name, 3, [=](benchmark::State& state, row_name const& row) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, way::forward);
    auto const& a = problem.matrix;
    rival const other =
        library_rival("products csr32_half ordered", exec, a, {.sum = summation::ordered});
    double const seconds = time_in_turn(state, exec, [&] { f(state, exec, a); }, other);
    state.counters["products"] = 1 / state.counters["ratio"];
    for (char const* const of_rival : {"ratio", "rival_ms", "processor_ratio"}) {
      state.counters.erase(of_rival);
    }
    state.SetLabel("");
    double const bytes = double(sparse::shape_of(a).bytes);
    state.counters["nonzeros"] = double(a.num_entries());
    state.counters["bytes_per_nonzero"] = bytes / double(a.num_entries());
    set_counters(state, seconds, {.bytes = bytes}, {.bytes_per_second = ceilings_of(exec).read}, 0);
    add_to_summary(state, row, other.name);
  });
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
  add<Exec>(source, backend, "make_bounds",
            [](state_type&, Exec const& exec, auto const& a) { sparse::make_bounds(exec, a); });
  add<Exec>(source, backend, "make_plan",
            [](state_type&, Exec const& exec, auto const& a) { sparse::make_plan(exec, a); });
  add<Exec>(source, backend, "choose_format",
            [](state_type& state, Exec const& exec, auto const& a) {
              auto const chosen = sparse::choose_format(exec, a);
              state.counters["chosen"] = int(chosen.format);
              state.counters["fill"] = chosen.fill;
            });
  add<Exec>(source, backend, "make_row_block4", [](state_type&, Exec const& exec, auto const& a) {
    sparse::make_row_blocks<4>(exec, a);
  });
  add<Exec>(source, backend, "make_row_block8", [](state_type&, Exec const& exec, auto const& a) {
    sparse::make_row_blocks<8>(exec, a);
  });
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
