// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ray/path_options.hpp
//! Holds what radiological paths may choose.
#pragma once

#include <iso/core/launch_shape.hpp>
#include <iso/model/word.hpp>

#include <array>
#include <cstdint>

namespace iso::ray {

/// The method by which rays are walked, of iso/ray/traverse.hpp. All give the same bits.
enum class traversal {
  fastest,  ///< branchless on the host, siddon on a GPU
  amanatides_woo,
  branchless,
  siddon,
};
constexpr auto words(traversal) {
  return std::array{word{traversal::fastest, "fastest"},
                    word{traversal::amanatides_woo, "amanatides_woo"},
                    word{traversal::branchless, "branchless"}, word{traversal::siddon, "siddon"}};
}

struct radiological_path_options {
  traversal method = traversal::fastest;
  launch_shape shape = {};  ///< how it is laid onto the machine; changes no bit
};

}  // namespace iso::ray
