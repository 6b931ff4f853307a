// SPDX-License-Identifier: BSD-3-Clause
//! Has ranks agree: on what they were asked for, and on whether to stop.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/check.hpp>
#include <iso/core/detail/fnv1a.hpp>
#include <iso/core/error.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/job.hpp>
#include <iso/core/vec3.hpp>
#include <iso/model/describe.hpp>

#include <bit>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace iso::detail {

/// A hash of what all ranks must have alike.
class fingerprint {
 public:
  /// Takes in a number, by its bits.
  void add(double x) { add_word(std::bit_cast<std::uint64_t>(x)); }
  void add(std::int64_t x) { add_word(std::uint64_t(x)); }
  void add(vec3<double> const& x);
  void add(iso::grid const& g);
  void add(std::vector<slab> const& planes);
  void add(std::vector<double> const& numbers);

  /// Takes in a described field, and the fields of a described member.
  template <class X>
  void operator()(X const& x, field const&) {
    using type = std::remove_const_t<X>;
    if constexpr (described<type>) {
      describe(*this, x);
    } else if constexpr (std::is_enum_v<type> || std::is_integral_v<type>) {
      add(std::int64_t(x));
    } else if constexpr (std::is_floating_point_v<type>) {
      add(double(x));
    } else if constexpr (std::is_same_v<type, std::optional<double>>) {
      add(std::int64_t(x.has_value()));
      add(x.value_or(0));
    } else if constexpr (std::is_same_v<type, vec3<double>>) {
      add(x);
    }
    // What is hidden changes no bit.
  }

  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void add_word(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = fnv1a(hash_, static_cast<unsigned char>(word >> 8 * byte));
    }
  }

  std::uint64_t hash_ = fnv1a_of_nothing;
};

/// Throws, naming `function` and on every rank, unless the planes of a plan are those of as many
/// ranks as there are, and all have the same fingerprint.
/// \param planned  the number of ranks of a plan
/// \param what     that the fingerprint is of, for the message
void validate_agreement(backend::communicator& ranks, int planned, fingerprint const& of,
                        char const* function, char const* what);

/// The ways in which a rank ends its part of a call; the largest of all ranks counts.
enum class part_end : std::uint32_t { done, failed, cancelled };

/// Throws, naming `function`, where another rank did not come to its end as this one.
void validate_end(backend::communicator& ranks, part_end here, std::exception_ptr const& failure,
                  char const* function);

/// Calls f(), and throws on every rank where it throws on one.
template <class F>
void check_together(backend::communicator& ranks, char const* function, F const& f) {
  std::exception_ptr failure;
  auto end = part_end::done;
  try {
    f();
  } catch (cancelled const&) {
    failure = std::current_exception();
    end = part_end::cancelled;
  } catch (...) {
    failure = std::current_exception();
    end = part_end::failed;
  }
  validate_end(ranks, end, failure, function);
}

/// Does the same, and asks the job afterwards: a rank that has nothing to do may be cancelled too.
template <class F>
void check_together(backend::communicator& ranks, char const* function, job const& control,
                    F const& f) {
  check_together(ranks, function, [&] {
    f();
    job{{}, control.cancelled}.step(1);
  });
}

/// Reports a fraction of a job, and asks whether to stop: all ranks do where one is asked to.
/// \throws iso::cancelled
void step_together(backend::communicator& ranks, job const& control, double fraction);

/// Returns the largest number of all ranks, of numbers that are not negative.
double largest_of_ranks(backend::communicator& ranks, double x);
/// Returns the largest number of all ranks, of any numbers but NaN.
double largest_signed_of_ranks(backend::communicator& ranks, double x);

}  // namespace iso::detail
