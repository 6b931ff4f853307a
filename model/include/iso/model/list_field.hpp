// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/model/list_field.hpp
//! Describes what files have and a command line has not: lists, and fields that must be there.
#pragma once

#include <iso/model/describe.hpp>

namespace iso {

/// A list of `min_size` to `max_size` values, of each of which low, high and unit are said.
struct list_field : field {
  int min_size = 1;
  int max_size = 1;
  std::string_view each = {};  ///< what one of them is
};

/// A field that a file must have.
template <class F>
struct required : F {};
template <class F>
required(F) -> required<F>;

}  // namespace iso
