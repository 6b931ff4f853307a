// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/table.hpp
//! Lists the operations that grow with a size, as `iso sweep` measures them: what each is called,
//! what its size counts, in which precisions it runs, and how one is made ready on a backend.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/cases/operation.hpp>
#include <iso/cases/work.hpp>
#include <iso/core/concepts.hpp>
#include <iso/model/number_type.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace iso::cases {

/// The text that says what sizes of loops over memory count.
inline constexpr std::string_view kibibytes = "KiB of each array, a multiple of 16";

/// The permission to distribute an operation's groups over several launches.
enum class shapes { fixed, any };

/// One operation, as it is measured.
struct point {
  std::string operation;
  number_type precision = number_type::f32;  ///< of the numbers; of products, of the matrix
  std::int64_t size = 0;
  std::int64_t groups_per_launch = 0;  ///< 0: all
};

using result_values = std::variant<std::vector<float>, std::vector<double>>;

/// A point with its inputs in place.
struct ready {
  min_work work;
  std::function<void()> run;              ///< enqueues one call
  std::function<double()> error;          ///< of what the last call left, as the case defines it
  std::function<result_values()> result;  ///< all that one call writes
};

struct sized_text {
  std::string_view name;
  std::string_view about;
  std::string_view size;  ///< what its size counts
  std::int64_t smallest;
  std::int64_t largest;
  std::vector<number_type> precisions;
  double exponent;  ///< of time over size, once the size fills the machine
  shapes shape;
  double (*numbers)(double size);      ///< of the precision, that the case keeps
  double (*extra_bytes)(double size);  ///< of other types, and for the comparison in double
  double (*steps)(double size);        ///< innermost steps of one call
};

class sized_operation : public sized_text {
 public:
  /// prepare(exec, point) gives a `ready`, on every backend.
  template <class F>
  sized_operation(sized_text text, F const& prepare) : sized_text(std::move(text)) {
    std::apply([&](auto&... each) { ((each = prepare), ...); }, prepare_);
  }
  template <class Exec>
  [[nodiscard]] ready prepare(Exec const& exec, point const& p) const {
    return std::get<std::function<ready(Exec const&, point const&)>>(prepare_)(exec, p);
  }

 private:
  template <class... Tag>
  static std::tuple<std::function<ready(typename Tag::execution_space const&, point const&)>...>
      functions(std::tuple<Tag...>);

  decltype(functions(backend::all())) prepare_;
};

std::vector<sized_operation> const& sized_operations();

/// \throws iso::invalid_argument  there is none of that name, with those that there are
sized_operation const& sized_operation_named(std::string_view name);

/// \throws iso::invalid_argument  an operation, precision, size or launch shape that is not in the
///                                table
void validate(point const& p);

/// Returns the bytes that the point's arrays want where it runs, those of the comparison included:
/// an upper bound. The host keeps a copy of the result beside them.
double bytes_needed(point const& p);

/// Returns the innermost steps of one call, for an estimate of its time.
double num_steps(point const& p);

/// Fills the inputs, which are the same on every machine. Waits for `exec`.
/// \throws iso::invalid_argument  as validate
/// \throws iso::out_of_memory     as iso::allocate
template <execution_space Exec>
ready prepare(Exec const& exec, point const& p) {
  validate(p);
  return sized_operation_named(p.operation).prepare(exec, p);
}

/// Returns a prepared operation as a point of the table.
template <class Exec, class T>
ready ready_of(Exec const& exec, prepared<Exec, T> what, point const& p) {
  auto const call = std::make_shared<measurable<Exec, T> const>(exec, std::move(what));
  cases::variant const how{.groups = p.groups_per_launch};
  return {call->work(), [=] { (*call)(how); }, [=] { return call->error(); },
          [=] { return result_values(call->values()); }};
}

/// Returns f(T()) in the point's precision.
template <class F>
ready in_precision(point const& p, F const& f) {
  return p.precision == number_type::f64 ? f(double()) : f(float());
}

}  // namespace iso::cases
