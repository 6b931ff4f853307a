// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/operation.hpp
//! Defines an operation of the library once for everything that runs it: `iso verify`,
//! `iso demo`, `iso sweep`, the benchmarks and iso_parity.
//!
//! A case says what an operation computes on:
//!
//!     template <class T>
//!     struct some_case {
//!       ... inputs ...
//!       template <class Exec>
//!       prepared<Exec, T> prepare(Exec const& exec) const;
//!     };
//!
//! prepare() puts the inputs where `Exec` reads them. What it returns runs the operation, knows the
//! least that it must move and compute, and gets the answer without the library. A case stands in
//! the header of its area (iso/cases/projection.hpp) where a program other than the catalogue
//! prepares it, else in src/.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/cases/memory.hpp>
#include <iso/cases/work.hpp>
#include <iso/core/concepts.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/oracle/products.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace iso::cases {

/// The ways to run an operation that must not change a bit.
struct variant {
  std::int64_t groups = 0;  ///< lane groups a launch; 0: all
  std::int32_t slab = 0;    ///< driving planes a launch; 0: chosen
  ct::joseph_path path = ct::joseph_path::automatic;
  std::int32_t layout = 0;  ///< which of the ways that the operation has to store its input
};

/// The launch shapes that every operation with lane groups is run in.
inline std::vector<variant> const launch_shapes = {{}, {4096}, {257}};

/// An operation with its inputs where `Exec` reads them.
template <execution_space Exec, real T>
struct prepared {
  std::int64_t size = 0;  ///< numbers that a run writes
  /// Enqueues the operation. Integers of magnitude up to 2^24 may be written as T.
  std::function<void(Exec const&, variant const&, T* out)> run;
  std::optional<min_work> least = {};  ///< empty: has no model
  /// Gives the exact value of about as many elements as asked for; NaN for the others, and where
  /// rounding may decide. Empty: arrays or counts come out, right or wrong.
  std::function<std::vector<double>(std::int64_t count)> exact = nullptr;
};

/// Returns the stride that takes about `count` of `size` elements: odd, so that every residue of
/// the rows' lengths has its turn.
inline std::int64_t stride_for(std::int64_t size, std::int64_t count) {
  return size <= count ? 1 : (size / count) | 1;
}

/// A prepared operation with memory for what it writes.
template <execution_space Exec, real T>
class measurable {
 public:
  using array = Kokkos::View<T*, typename Exec::memory_space>;

  measurable(Exec const& exec, prepared<Exec, T> what)
      : exec_(exec),
        what_(std::move(what)),
        out_(Kokkos::view_alloc(exec, "iso::cases::result"), std::size_t(what_.size)) {
    exec.fence("iso::cases: memory for the result");
  }

  /// Enqueues one call.
  void operator()(variant const& how = {}) const { what_.run(exec_, how, out_.data()); }

  [[nodiscard]] min_work work() const { return what_.least.value_or(min_work{}); }
  [[nodiscard]] array const& result() const { return out_; }
  /// Returns what the last call left; waits.
  [[nodiscard]] std::vector<T> values() const { return fetch(exec_, out_); }
  /// Returns the sum of |difference| over the sum of |exact| for about `count` of those.
  [[nodiscard]] double error(std::int64_t count = 2000) const {
    return oracle::relative_l1(values(), what_.exact(count));
  }

 private:
  Exec exec_;
  prepared<Exec, T> what_;
  array out_;
};

template <class Exec, class T>
using maker = std::function<prepared<Exec, T>(Exec const&)>;

/// The catalogue's text of an operation besides its case.
struct operation_text {
  std::string name;
  std::vector<std::string> functions;  ///< those of docs/determinism.md that it runs
  std::vector<variant> variants = launch_shapes;
  /// The error of the method beside rounding's; empty where the case has no exact answer: arrays,
  /// orders, random numbers or reports come out, right or wrong.
  std::optional<double> method_error = 0.0;
  /// Whether the case says its least bytes and operations. One that makes its own arrays does not:
  /// its time includes the host's reading of them.
  bool has_model = true;

  /// Returns the largest error that a result of T may have: rounding's is a hundredfold of what is
  /// measured. Empty where it has none.
  template <real T>
  [[nodiscard]] std::optional<double> largest_error() const {
    double const rounding = sizeof(T) == 4 ? 1e-4 : 1e-10;
    return method_error ? std::optional(std::max(*method_error, rounding)) : std::nullopt;
  }
};

/// An operation of the catalogue, on any backend and in any precision.
class operation : public operation_text {
 public:
  explicit operation(operation_text text) : operation_text(std::move(text)) {}

  /// Prepares it; empty in a precision that it has not.
  template <class Exec, class T>
  [[nodiscard]] maker<Exec, T> const& make() const {
    return std::get<maker<Exec, T>>(makers_);
  }
  /// Adds a precision.
  template <class T, template <class> class Case>
  void take(Case<T> const& inputs) {
    std::apply(
        [&](auto... tag) {
          ((std::get<maker<typename decltype(tag)::execution_space, T>>(makers_) =
                [inputs](typename decltype(tag)::execution_space const& exec) {
                  return inputs.prepare(exec);
                }),
           ...);
        },
        backend::all());
  }

 private:
  template <class T, class... Tag>
  static std::tuple<maker<typename Tag::execution_space, T>...> makers(std::tuple<Tag...>);

  decltype(std::tuple_cat(makers<float>(backend::all()), makers<double>(backend::all()))) makers_;
};

}  // namespace iso::cases
