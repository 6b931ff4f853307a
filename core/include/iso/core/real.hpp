// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/real.hpp
#pragma once

#include <concepts>

namespace iso {

template <class T>
concept real = std::same_as<T, float> || std::same_as<T, double>;

}  // namespace iso
