// SPDX-License-Identifier: BSD-3-Clause
//! Has ranks agree on scans and on what they hold of them.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/rank_plan.hpp>
#include <iso/detail/agreement.hpp>

namespace iso::ct::detail {

using iso::detail::check_together;
using iso::detail::largest_of_ranks;
using iso::detail::step_together;

/// A hash of what all ranks must have alike.
class fingerprint : public iso::detail::fingerprint {
 public:
  using iso::detail::fingerprint::add;
  void add(geometry const& g);
  void add(rank_plan const& plan);
};

/// Throws, naming `function` and on every rank, unless the plan is for as many ranks as there are,
/// and all have the same fingerprint.
void validate_agreement(backend::communicator& ranks, rank_plan const& plan, fingerprint const& of,
                        char const* function);

}  // namespace iso::ct::detail
