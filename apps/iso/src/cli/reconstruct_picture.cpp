// SPDX-License-Identifier: BSD-3-Clause
#include "reconstruct_picture.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace iso::cli {
namespace {

/// Returns small slices with each pixel as a square, so that the picture is 768 wide or more.
files::gray_image enlarged(files::gray_image const& image) {
  constexpr std::int64_t min_width = 768;
  std::int64_t const scale = (min_width + image.width - 1) / image.width;
  files::gray_image large{scale * image.width, scale * image.height, {}};
  large.values.reserve(std::size_t(large.width * large.height));
  for (std::int64_t row = 0; row < large.height; ++row) {
    for (std::int64_t column = 0; column < large.width; ++column) {
      large.values.push_back(image.values[std::size_t(row / scale * image.width + column / scale)]);
    }
  }
  return large;
}

}  // namespace

files::gray_image middle_slices(files::host_volume const& v) {
  auto const [nx, ny, nz] = v.extent;
  auto const at = [&v](std::int64_t i, std::int64_t j, std::int64_t k) {
    return v.values[std::size_t((i * v.extent[1] + j) * v.extent[2] + k)];
  };
  float const least = *std::min_element(v.values.begin(), v.values.end());
  files::gray_image image{nx + nx + ny, std::max(ny, nz), {}};
  for (std::int64_t row = 0; row < image.height; ++row) {
    for (std::int64_t x = 0; x < nx; ++x) {
      image.values.push_back(row < ny ? at(x, row, nz / 2) : least);
    }
    for (std::int64_t x = 0; x < nx; ++x) {
      image.values.push_back(row < nz ? at(x, ny / 2, nz - 1 - row) : least);
    }
    for (std::int64_t y = 0; y < ny; ++y) {
      image.values.push_back(row < nz ? at(nx / 2, y, nz - 1 - row) : least);
    }
  }
  return enlarged(image);
}

files::gray_window window_of_slices(files::host_volume const& v) {
  auto const& n = v.extent;
  auto const part = [&](std::size_t axis, std::int64_t i) {
    double const p = double(2 * i + 1 - n[axis]) / double(n[axis]);
    return p * p;
  };
  std::vector<float> inside;
  for (std::int64_t i = 0; i < n[0]; ++i) {
    for (std::int64_t j = 0; j < n[1]; ++j) {
      bool const whole = i == n[0] / 2 || j == n[1] / 2;
      for (std::int64_t k = whole ? 0 : n[2] / 2; k < (whole ? n[2] : n[2] / 2 + 1); ++k) {
        if (part(0, i) + part(1, j) <= 1) {
          inside.push_back(v.values[std::size_t((i * n[1] + j) * n[2] + k)]);
        }
      }
    }
  }
  auto const window = files::percentile_window(inside, 0.005, 0.995);
  return window.black < window.white ? window : files::percentile_window(v.values, 0, 1);
}

}  // namespace iso::cli
