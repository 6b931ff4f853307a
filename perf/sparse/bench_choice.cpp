// SPDX-License-Identifier: BSD-3-Clause
// choice/<matrix>/<A or AT>/<format>_half/<sum>/<backend>: every format that `choose_format`
// chooses from, beside plain CSR of the same sum, in turn. Counter `chosen` marks the one it takes
// (1 or 0), `chosen_csr` a matrix that it leaves as it is; `fill`, `reads` and `cost` are those of
// the format's report and its product_cost, `csr_cost` that of plain CSR. choice.py reads them.
#include "sparse/bench_rows.hpp"
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>

namespace iso::perf {
namespace {

template <class Exec, int R, class Offset>
void add(matrix_source const& source, std::string const& backend, way direction,
         sparse::sum_order sum) {
  constexpr int bits = 8 * int(sizeof(Offset));
  std::string const format = "grouped" + std::to_string(R) + "_" + std::to_string(bits) + "_half";
  row_name const name{"choice", source.name,
                      format,   sum == sparse::sum_order::ordered ? "ordered" : "order_free",
                      backend,  direction};
  add_row(name, 9, [=](benchmark::State& state, row_name const& row) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, direction);
    auto const& a = problem.matrix;
    constexpr auto kind = sparse::processor_of<Exec>;
    auto const report = sparse::measure_format(exec, a, R, bits);
    auto const chosen = sparse::choose_format(exec, a);
    using grouped = sparse::grouped_view<half, Offset, R, typename Exec::memory_space>;
    sparse::spmv_options const options{.sum = sum};
    library_product<Exec, grouped, double> const ours(
        exec, sparse::make_grouped<R, Offset>(exec, a), 1, options);
    auto const plain =
        std::make_shared<library_product<Exec, wide_csr<Exec>, double>>(exec, a, 1, options);
    rival const other{"csr32_half", [plain] { (*plain)(); }};
    auto const times = time_in_turn(state, exec, ours, other);
    set_product_counters(
        state, exec, row, times, other,
        {double(problem.nonzeros()), ours.bytes(), 1, problem.error(exec, ours.result(), 1)});
    state.counters["chosen"] = chosen.rows == R && chosen.offset_bits == bits ? 1 : 0;
    state.counters["chosen_csr"] = chosen.rows == 1 ? 1 : 0;
    state.counters["fill"] = report.fill;
    state.counters["reads"] = report.reads_per_entry;
    state.counters["cost"] = sparse::product_cost(report, kind);
    state.counters["csr_cost"] = sparse::product_cost(sparse::measure_format(exec, a, 1, 32), kind);
  });
}

}  // namespace

template <class Exec>
void add_choice_rows(matrix_source const& source, std::string const& backend) {
  for (auto const direction : {way::forward, way::transposed}) {
    for (auto const sum : {sparse::sum_order::ordered, sparse::sum_order::order_free}) {
      add<Exec, 2, std::uint8_t>(source, backend, direction, sum);
      add<Exec, 2, std::uint16_t>(source, backend, direction, sum);
      add<Exec, 4, std::uint8_t>(source, backend, direction, sum);
      add<Exec, 4, std::uint16_t>(source, backend, direction, sum);
      add<Exec, 8, std::uint8_t>(source, backend, direction, sum);
      add<Exec, 8, std::uint16_t>(source, backend, direction, sum);
    }
  }
}

#define ISO_INSTANTIATE_CHOICE(Exec) \
  template void add_choice_rows<Exec>(matrix_source const&, std::string const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_CHOICE)
#undef ISO_INSTANTIATE_CHOICE

}  // namespace iso::perf
