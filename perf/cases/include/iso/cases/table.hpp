// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/table.hpp
//! The operations that are measured: what each is called, what its size counts, in which
//! precisions it runs, and how one is made ready on a backend.
#pragma once

#include <iso/cases/work.hpp>
#include <iso/core/concepts.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace iso::cases {

/// Whether an operation's groups may be laid onto the machine in several launches.
enum class shapes { fixed, any };

struct operation {
  std::string_view name;
  std::string_view about;
  std::string_view size;  ///< what its size counts
  std::int64_t smallest;
  std::int64_t largest;
  std::vector<std::string_view> precisions;
  double exponent;  ///< of time over size, once the size fills the machine
  shapes shape;
};

std::vector<operation> const& operations();

/// \throws iso::invalid_argument  there is none of that name, with those that there are
operation const& operation_named(std::string_view name);

/// One operation, as it is measured.
struct point {
  std::string operation;
  std::string precision;  ///< of the numbers; of products, of the matrix
  std::int64_t size = 0;
  std::int64_t groups_per_launch = 0;  ///< 0: all
};

/// \throws iso::invalid_argument  an operation, precision, size or launch shape that is not in the
///                                table
void validate(point const& p);

/// Bytes that the point's arrays want where it runs, those of the comparison included: an upper
/// bound. The host keeps a copy of the result beside them.
double bytes_needed(point const& p);

/// Innermost steps of one call, for an estimate of its time.
double num_steps(point const& p);

using result_values = std::variant<std::vector<float>, std::vector<double>>;

/// A point with its inputs in place.
struct ready {
  least_work work;
  std::function<void()> run;              ///< enqueues one call
  std::function<double()> error;          ///< of what the last call left, as the case defines it
  std::function<result_values()> result;  ///< all that one call writes
};

/// Fills the inputs, which are the same on every machine. Waits for `exec`.
/// \throws iso::invalid_argument  as validate
/// \throws iso::out_of_memory     as iso::allocate
template <execution_space Exec>
ready prepare(Exec const& exec, point const& p);

}  // namespace iso::cases
