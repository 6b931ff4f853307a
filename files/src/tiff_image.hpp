// SPDX-License-Identifier: BSD-3-Clause
//! Reads images as files store them, and TIFF files' images: image_stack.cpp puts them in a series.
#pragma once

#include "finite.hpp"

#include <iso/files/image_stack.hpp>

#include <tiffio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace iso::files::detail {

struct image_facts {
  std::array<std::int64_t, 2> pixels{};
  pixel_type stored = pixel_type::uint16;
};

std::string to_text(pixel_type type);
std::int64_t bytes_of(pixel_type type);
/// Converts numbers to float from the bytes that store them, and adds doubles to `range`.
void put_row(std::byte const* row, pixel_type type, std::int64_t width, float* to,
             float_range& range);

bool is_tiff(std::filesystem::path const& path);

/// A keeper of libtiff's messages, which are not printed while it lives.
class quiet_tiff {
 public:
  quiet_tiff();
  quiet_tiff(quiet_tiff const&) = delete;
  quiet_tiff& operator=(quiet_tiff const&) = delete;
  ~quiet_tiff();

 private:
  TIFFErrorHandler errors_;
  TIFFErrorHandler warnings_;
};

using tiff_handle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

/// A TIFF file that is read image by image. It refuses by iso::file_error.
class tiff_file {
 public:
  /// Stands at the first image.
  explicit tiff_file(std::filesystem::path const& path);

  /// Returns the facts of the image it stands at.
  [[nodiscard]] image_facts facts() const;
  /// Reads row by row from the top. `facts` are those of this image.
  void read(image_facts const& facts, std::vector<float>& image, float_range& range) const;
  /// Goes on to the next image; false where there is none.
  [[nodiscard]] bool next();

 private:
  std::filesystem::path path_;
  tiff_handle file_;
};

}  // namespace iso::files::detail
