// SPDX-License-Identifier: BSD-3-Clause
//! \file  peers/number.hpp
#pragma once

namespace iso::perf {

/// The types that peers store and compute in.
enum class number { half, bfloat16, single, twice };

}  // namespace iso::perf
