// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/version.hpp>
#include <iso/detail/agreement.hpp>

#include <array>
#include <bit>
#include <cstddef>

namespace iso::detail {
namespace {

/// Throws on a rank that goes on, because another one was cancelled.
[[noreturn]] void throw_cancelled() {
  throw cancelled(
      "iso::job: cancelled by the caller of a rank (outputs of all ranks are incomplete); "
      "discard them, or call again");
}

}  // namespace

void fingerprint::add(vec3<double> const& x) {
  add(x.x);
  add(x.y);
  add(x.z);
}

void fingerprint::add(iso::grid const& g) {
  for (int axis = 0; axis < 3; ++axis) {
    add(g.extent[std::size_t(axis)]);
    add(g.spacing[axis]);
    add(g.origin[axis]);
  }
}

void fingerprint::add(std::vector<slab> const& planes) {
  for (slab const& s : planes) {
    add(s.first);
    add(s.last);
  }
}

void fingerprint::add(std::vector<double> const& numbers) {
  add(std::int64_t(numbers.size()));
  for (double const x : numbers) {
    add(x);
  }
}

void validate_agreement(backend::communicator& ranks, int planned, fingerprint const& of,
                        char const* function, char const* what) {
  // The largest, and of what all bits turned make the largest: the smallest.
  std::array<std::uint64_t, 6> words{of.value(),
                                     ~of.value(),
                                     ISO_VERSION_NUMBER,
                                     ~std::uint64_t(ISO_VERSION_NUMBER),
                                     std::uint64_t(planned),
                                     ~std::uint64_t(planned)};
  ranks.maximum(std::span<std::uint64_t>(words));
  ISO_VALIDATE(
      words[2] == ~words[3],
      "{}: ranks with different versions of Isocenter (up to {}, from {} on; 100 times the "
      "minor number and the patch); run one program on all",
      function, words[2], ~words[3]);
  ISO_VALIDATE(words[4] == ~words[5] && words[4] == std::uint64_t(ranks.size()),
               "{}: a plan for {} to {} ranks (there are {}); divide the planes among as many",
               function, ~words[5], words[4], ranks.size());
  ISO_VALIDATE(words[0] == ~words[1],
               "{}: ranks with different {} (a result of all needs one); give all ranks the same "
               "arguments",
               function, what);
}

void validate_end(backend::communicator& ranks, part_end here, std::exception_ptr const& failure,
                  char const* function) {
  auto end = std::uint32_t(here);
  ranks.maximum(std::span<std::uint32_t>(&end, 1));
  if (failure) {
    std::rethrow_exception(failure);
  }
  if (part_end(end) == part_end::cancelled) {
    throw_cancelled();
  }
  ISO_VALIDATE(part_end(end) == part_end::done,
               "{}: another rank stopped here (its own sentence says why); read what all ranks say",
               function);
}

void step_together(backend::communicator& ranks, job const& control, double fraction) {
  if (control.progress) {
    control.progress(fraction);
  }
  std::uint32_t stops = control.cancelled && control.cancelled() ? 1 : 0;
  ranks.maximum(std::span<std::uint32_t>(&stops, 1));
  if (stops != 0) {
    throw_cancelled();
  }
}

double largest_of_ranks(backend::communicator& ranks, double x) {
  // The bits of numbers that are not negative have their order.
  auto word = std::bit_cast<std::uint64_t>(x);
  ranks.maximum(std::span<std::uint64_t>(&word, 1));
  return std::bit_cast<double>(word);
}

double largest_signed_of_ranks(backend::communicator& ranks, double x) {
  // Bits of numbers below zero have the reverse order, before all others.
  constexpr std::uint64_t top = std::uint64_t(1) << 63;
  auto const turned = [](std::uint64_t bits) { return (bits & top) != 0 ? ~bits : bits | top; };
  auto word = turned(std::bit_cast<std::uint64_t>(x));
  ranks.maximum(std::span<std::uint64_t>(&word, 1));
  return std::bit_cast<double>((word & top) != 0 ? word & ~top : ~word);
}

}  // namespace iso::detail
