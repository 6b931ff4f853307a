// SPDX-License-Identifier: BSD-3-Clause
//! Tells whether an object was moved from.
#pragma once

#include <iso/core/check.hpp>

#include <utility>

namespace iso::detail {

/// A member that knows whether its object was moved from. A Kokkos::View that is moved from keeps
/// its address, not its memory, so that the object must not be used.
class presence {
 public:
  presence() = default;
  presence(presence const&) = default;
  presence& operator=(presence const&) = default;
  presence(presence&& from) noexcept : gone_(std::exchange(from.gone_, true)) {}
  presence& operator=(presence&& from) noexcept {
    gone_ = std::exchange(from.gone_, true);
    return *this;
  }
  ~presence() = default;

  /// \throws iso::invalid_argument  naming `object`: it was moved from
  void check(char const* object) const {
    ISO_VALIDATE(!gone_,
                 "{}: the object was moved from (what it held is in another one); use that one, or "
                 "assign to this one",
                 object);
  }

 private:
  bool gone_ = false;
};

}  // namespace iso::detail
