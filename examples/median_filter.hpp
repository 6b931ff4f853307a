// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

/// The median of the square of 2 radius + 1 pixels a side about every pixel of an image of `width`
/// x `height`, the first index fastest; beyond the border its nearest pixel counts. By ITK.
std::vector<float> median_filter(std::vector<float> const& image, std::int64_t width,
                                 std::int64_t height, int radius);
