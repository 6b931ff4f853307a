// SPDX-License-Identifier: BSD-3-Clause
//! What iso_precompile (iso_targets.cmake) parses once: of the library nothing that is compiled for
//! several instruction sets.
#pragma once

#include <Kokkos_Core.hpp>

#include <iso/core/allocate.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/error.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/half.hpp>
#include <iso/core/job.hpp>
#include <iso/core/numerics.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/vec3.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
