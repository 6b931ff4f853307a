// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/cases/loops.hpp>

namespace iso::cases {
namespace {

template <class Exec, class Problem>
ready ready_of(Exec const& exec, point const& p, std::shared_ptr<Problem const> const& problem) {
  backend::launch_shape const shape{p.groups_per_launch};
  return {problem->work(), [=] { problem->run(shape); }, [=] { return problem->error(); },
          [=] { return values_of(exec, problem->result()); }};
}

}  // namespace

template <class Exec>
ready prepare_loop(Exec const& exec, point const& p) {
  if (p.operation == "fma") {
    return p.precision == "double"
               ? ready_of(exec, p,
                          std::make_shared<chain_problem<Exec, double> const>(exec, p.size))
               : ready_of(exec, p,
                          std::make_shared<chain_problem<Exec, float> const>(exec, p.size));
  }
  stream const kind = p.operation == "memory_read"   ? stream::read
                      : p.operation == "memory_copy" ? stream::copy
                                                     : stream::triad;
  std::int64_t const stretches = p.size * 1024 / std::int64_t(sizeof(float)) / stretch;
  return ready_of(exec, p, std::make_shared<stream_problem<Exec> const>(exec, kind, stretches));
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare_loop)

}  // namespace iso::cases
