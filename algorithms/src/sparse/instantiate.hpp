// SPDX-License-Identifier: BSD-3-Clause
//! Lists of types, for the sources that instantiate: MACRO(..., type) for each.
#pragma once

#include <iso/backend/registry.hpp>

#define ISO_FOR_EACH_VALUE(MACRO, ...) \
  MACRO(__VA_ARGS__, half)             \
  MACRO(__VA_ARGS__, bfloat16)         \
  MACRO(__VA_ARGS__, float)            \
  MACRO(__VA_ARGS__, double)
#define ISO_FOR_EACH_COLUMN(MACRO, ...) \
  MACRO(__VA_ARGS__, std::int32_t)      \
  MACRO(__VA_ARGS__, std::uint16_t)
