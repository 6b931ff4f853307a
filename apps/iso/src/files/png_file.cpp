// SPDX-License-Identifier: BSD-3-Clause
#include "image_header.hpp"

#include <iso/files/png_file.hpp>

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace iso::files {
namespace {

template <class Level>
std::vector<Level> levels(gray_image const& image, gray_window window) {
  double const most = std::numeric_limits<Level>::max();
  double const width = window.white - window.black;
  std::vector<Level> result(image.values.size());
  std::transform(image.values.begin(), image.values.end(), result.begin(), [&](float value) {
    double const part = width > 0 ? (double(value) - window.black) / width : 0;
    return Level(part > 0 ? std::lround(std::min(part, 1.0) * most) : 0);
  });
  return result;
}

// With the highest byte first, as PNG has all numbers.
template <class T>
void append(std::string& to, T number) {
  for (int shift = 8 * int(sizeof(T)) - 8; shift >= 0; shift -= 8) {
    to.push_back(char(number >> shift & 0xffU));
  }
}

std::string chunk(std::string const& kind, std::string_view data) {
  std::string result;
  append(result, std::uint32_t(data.size()));
  auto const named = kind + std::string(data);
  result += named;
  append(result,
         std::uint32_t(crc32_z(0, reinterpret_cast<Bytef const*>(named.data()), named.size())));
  return result;
}

// Row by row, each after a byte that says that it is not filtered.
template <class Level>
std::string rows_of(gray_image const& image, std::vector<Level> const& pixels) {
  std::string rows;
  rows.reserve(std::size_t(image.height) * (1 + sizeof(Level) * std::size_t(image.width)));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (i % std::size_t(image.width) == 0) {
      rows.push_back(0);
    }
    append(rows, pixels[i]);
  }
  return rows;
}

std::string deflated(std::filesystem::path const& path, std::string const& bytes) {
  uLongf length = compressBound(uLong(bytes.size()));
  std::string result(length, '\0');
  if (compress(reinterpret_cast<Bytef*>(result.data()), &length,
               reinterpret_cast<Bytef const*>(bytes.data()), uLong(bytes.size())) != Z_OK) {
    detail::refuse(path, "cannot be compressed (zlib has no memory)");
  }
  result.resize(length);
  return result;
}

// All of it in memory: the image library's writer does not survive a disk that is full.
template <class Level>
std::string png_of(std::filesystem::path const& path, gray_image const& image,
                   std::vector<Level> const& pixels) {
  std::string header;
  append(header, std::uint32_t(image.width));
  append(header, std::uint32_t(image.height));
  header += {char(8 * sizeof(Level)), 0, 0, 0, 0};  // bits, gray, deflate, filters, no interlace
  constexpr std::size_t most_of_chunk = std::size_t(1) << 30;
  auto const data = deflated(path, rows_of(image, pixels));
  std::string png = "\x89PNG\r\n\x1a\n" + chunk("IHDR", header);
  for (std::size_t from = 0; from < data.size(); from += most_of_chunk) {
    png += chunk("IDAT", std::string_view(data).substr(from, most_of_chunk));
  }
  return png + chunk("IEND", "");
}

}  // namespace

gray_window full_window(gray_image const& image) {
  gray_window window{std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()};
  for (float const value : image.values) {
    if (std::isfinite(value)) {
      window.black = std::min(window.black, double(value));
      window.white = std::max(window.white, double(value));
    }
  }
  return window.black <= window.white ? window : gray_window{};
}

atomic_file prepare_png(std::filesystem::path const& path, gray_image const& image,
                        gray_window window, png_depth depth) {
  if (detail::ending(path) != ".png") {
    detail::refuse(path, "does not end in .png (pictures are PNG) name it so");
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (image.width < 1 || image.height < 1 || image.width > most || image.height > most ||
      std::int64_t(image.values.size()) != image.width * image.height) {
    detail::refuse(path, fmt::format("a picture of {} x {} pixels from {} values cannot be written",
                                     image.width, image.height, image.values.size()));
  }
  return prepare_text(path, depth == png_depth::bits8
                                ? png_of(path, image, levels<std::uint8_t>(image, window))
                                : png_of(path, image, levels<std::uint16_t>(image, window)));
}

}  // namespace iso::files
