// SPDX-License-Identifier: BSD-3-Clause
//! Chooses a backend by name, and a precision.
#pragma once

#include "memory.hpp"

#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/jobs/ranks.hpp>
#include <iso/model/number_type.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace iso::jobs {

/// Returns f(exec, T()) on the named backend, T being of that precision.
/// Throws iso::invalid_argument naming the choices.
template <class F>
auto in_precision(std::string const& backend, precision precision, F const& f) {
  ISO_VALIDATE(!to_word(precision).empty(),
               "precision {} (is none of its values); choose one of {}", int(precision),
               all_words<iso::precision>());
  decltype(f(Kokkos::Serial(), float())) result;
  backend::with_name(backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    result = precision == precision::f32 ? f(exec, float()) : f(exec, double());
  });
  return result;
}

/// Throws where ranks share a job with a limit of memory.
inline void check_unstreamed(std::optional<std::int64_t> const& memory, char const* command) {
  ISO_VALIDATE(num_ranks() == 1 || !memory,
               "{}: --memory on {} processes (each holds its part whole); leave it out, or start "
               "more processes",
               command, num_ranks());
}

/// Returns f(exec, T(), through) likewise. With a limit of bytes the arrays lie in host memory,
/// where `exec` works, and `through` streams them through the named backend; else it is empty.
template <class F>
auto in_precision(std::string const& backend, precision precision,
                  std::optional<std::int64_t> const& memory, F const& f) {
  return in_precision(backend, precision, [&](auto const& exec, auto zero) {
    check_limit(exec, memory);
    return memory ? f(Kokkos::DefaultHostExecutionSpace(), zero, ct::streamed(exec, {*memory}))
                  : f(exec, zero, ct::streamed());
  });
}

}  // namespace iso::jobs
