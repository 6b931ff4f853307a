// SPDX-License-Identifier: BSD-3-Clause
// The measured ceilings of every backend of this build, and what the lane group gets of them:
//
//   ceilings/<backend>/<loop>     read, copy, triad: of memory; fp32, fp64: chains of fma
//
// Counters beside the usual: every figure of ceilings::measure, in bytes or operations per second.
// `error`: largest difference from the result in closed form, over the largest result. Loops over
// memory must give 0 and chains of fma no more than their roundings leave: anything else is an
// error of the benchmark. The model counts each element read and each written; a host that fetches
// a line before it is written moves more.
#include "backends/ceiling_loops.hpp"
#include "support/bench.hpp"

#include <string>

namespace iso::perf {
namespace {

int const registered = add_rows_of_backends([]<class Exec>(std::string const& name) {
  using rows = ceiling_rows<Exec>;
  add_ceiling_row("ceilings/" + name + "/read", rows::read);
  add_ceiling_row("ceilings/" + name + "/copy", rows::copy);
  add_ceiling_row("ceilings/" + name + "/triad", rows::triad);
  add_ceiling_row("ceilings/" + name + "/fp32", rows::template fma<float>);
  add_ceiling_row("ceilings/" + name + "/fp64", rows::template fma<double>);
});

}  // namespace
}  // namespace iso::perf
