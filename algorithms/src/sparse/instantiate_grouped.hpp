// SPDX-License-Identifier: BSD-3-Clause
//! The products of grouped_view, for every backend; a source for each type of values and offsets.
#pragma once

#include "instantiate_csr.hpp"

#define ISO_INSTANTIATE_GROUPED_ON(Exec) \
  ISO_INSTANTIATE_ROWS(Exec, by_two)     \
  ISO_INSTANTIATE_ROWS(Exec, by_four)    \
  ISO_INSTANTIATE_ROWS(Exec, by_eight)

#define ISO_INSTANTIATE_GROUPED(Value, Offset)     \
  using by_two = grouped_rows<Value, Offset, 2>;   \
  using by_four = grouped_rows<Value, Offset, 4>;  \
  using by_eight = grouped_rows<Value, Offset, 8>; \
  ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_GROUPED_ON)
