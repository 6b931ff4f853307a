// SPDX-License-Identifier: BSD-3-Clause
// choice/<matrix>/<A or AT>/<format>_half/<sum>/<backend>: every format that `choose_format`
// chooses from, beside plain CSR of the same sum, in turn. Counter `chosen` marks the one it takes
// (1 or 0; none: plain CSR); `fill`, `reads` and `cost` are those of the format's report and its
// product_cost, `csr_cost` that of plain CSR. choice.py reads them.
#include "sparse/bench_rows.hpp"
#include "sparse/store.hpp"

#include <iso/backend/registry.hpp>
#include <iso/sparse/convert.hpp>

namespace iso::perf {
namespace {

/// Rows a group and bits a column.
struct format_asked {
  int rows;
  int bits;
  bool paired = false;
};

/// `make` (exec, matrix) gives the format.
template <class Exec, class Make>
void add(matrix_source const& source, std::string const& backend, way direction,
         sparse::sum_order sum, format_asked const& asked, Make const& make) {
  std::string const format = asked.paired      ? "paired8_half"
                             : asked.rows == 1 ? "csr16_half"
                                               : "grouped" + std::to_string(asked.rows) + "_" +
                                                     std::to_string(asked.bits) + "_half";
  row_name const name{"choice", source.name,
                      format,   sum == sparse::sum_order::ordered ? "ordered" : "order_free",
                      backend,  direction};
  add_row(name, 9, [=](benchmark::State& state, row_name const& row) {
    Exec const exec;
    auto const& problem = matrix_store<Exec>::problem(source, direction);
    auto const& a = problem.matrix;
    auto const kind = sparse::processor_of<Exec>();
    auto const report = asked.paired ? sparse::measure_paired(exec, a)
                                     : sparse::measure_format(exec, a, asked.rows, asked.bits);
    auto const chosen = sparse::choose_format(exec, a);
    sparse::spmv_options const options{.sum = sum};
    auto const made = make(exec, a);
    library_product<Exec, std::remove_const_t<decltype(made)>, double> const ours(exec, made, 1,
                                                                                  options);
    auto const plain =
        std::make_shared<library_product<Exec, wide_csr<Exec>, double>>(exec, a, 1, options);
    rival const other{"csr32_half", [plain] { (*plain)(); }};
    auto const times = time_in_turn(state, exec, ours, other);
    set_product_counters(
        state, exec, row, times, other,
        {double(problem.nonzeros()), ours.bytes(), 1, problem.error(exec, ours.result(), 1)});
    bool const taken = chosen.rows == asked.rows && chosen.offset_bits == asked.bits &&
                       chosen.paired == asked.paired;
    state.counters["chosen"] = taken ? 1 : 0;
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
      add<Exec>(source, backend, direction, sum, {1, 16}, [](Exec const& exec, auto const& a) {
        return sparse::to_relative_columns(exec, a);
      });
      auto const add_groups = [&]<int R, class Offset>(std::integral_constant<int, R>, Offset) {
        add<Exec>(source, backend, direction, sum, {R, 8 * int(sizeof(Offset))},
                  [](Exec const& exec, auto const& a) {
                    return sparse::make_grouped<R, Offset>(exec, a);
                  });
      };
      auto const add_both = [&](auto rows) {
        add_groups(rows, std::uint8_t());
        add_groups(rows, std::uint16_t());
      };
      add_both(std::integral_constant<int, 2>());
      add_both(std::integral_constant<int, 4>());
      add_both(std::integral_constant<int, 8>());
      add<Exec>(source, backend, direction, sum, {8, 16, true},
                [](Exec const& exec, auto const& a) { return sparse::make_paired(exec, a); });
    }
  }
}

#define ISO_INSTANTIATE_CHOICE(Exec) \
  template void add_choice_rows<Exec>(matrix_source const&, std::string const&);
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_CHOICE)
#undef ISO_INSTANTIATE_CHOICE

}  // namespace iso::perf
