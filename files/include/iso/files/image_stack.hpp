// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/image_stack.hpp
//! Reads and writes detector images as a series of TIFF or raw files: docs/formats.md.
#pragma once

#include <iso/files/atomic_file.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/model/word.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace iso::files {

/// The type in which a file stores a pixel.
enum class pixel_type { uint8, uint16, float32, float64 };

constexpr auto words(pixel_type) {
  return std::array{word{pixel_type::uint8, "uint8"}, word{pixel_type::uint16, "uint16"},
                    word{pixel_type::float32, "float32"}, word{pixel_type::float64, "float64"}};
}

/// The images of one detector.
struct image_stack {
  std::array<std::int64_t, 3> extent{};  ///< images, u, v
  pixel_type stored = pixel_type::uint16;
  std::vector<float> values;  ///< [images, u, v], v fastest; numbers of 64 bits are rounded once
};

/// Turns images as files have them, row by row from the top, into [images, u, v]: column 0 is u =
/// 0, and the bottom row is v = 0.
template <class To, class From>
std::vector<To> views_from_images(std::span<From const> images, std::int64_t count,
                                  std::int64_t width, std::int64_t height) {
  return reorder<To, From>(
      images, (height - 1) * width,
      {axis_walk{count, width * height}, axis_walk{width, 1}, axis_walk{height, -width}});
}

/// Does the same for any contiguous range, such as a std::vector.
template <class To, std::ranges::contiguous_range Images>
std::vector<To> views_from_images(Images const& images, std::int64_t count, std::int64_t width,
                                  std::int64_t height) {
  using value = std::ranges::range_value_t<Images>;
  return views_from_images<To, value>(std::span<value const>(images), count, width, height);
}

/// Does the reverse, exactly.
template <class To, class From>
std::vector<To> images_from_views(std::span<From const> views, std::int64_t count,
                                  std::int64_t width, std::int64_t height) {
  return reorder<To, From>(
      views, height - 1,
      {axis_walk{count, width * height}, axis_walk{height, -1}, axis_walk{width, height}});
}

template <class To, std::ranges::contiguous_range Views>
std::vector<To> images_from_views(Views const& views, std::int64_t count, std::int64_t width,
                                  std::int64_t height) {
  using value = std::ranges::range_value_t<Views>;
  return images_from_views<To, value>(std::span<value const>(views), count, width, height);
}

/// Returns the files that `name` stands for, in the order of their numbers: one file; a name with
/// one `*` that stands for a number; or a folder, of which all TIFF files are taken, or all raw
/// files where there is no TIFF file. A file's number is the last one in its name. Several files
/// must differ in nothing but the number, and no number may be left out.
/// \throws iso::file_error  nothing there, an empty folder, a number that is missing or stands
///                          twice, names of two series
std::vector<std::filesystem::path> image_series(std::filesystem::path const& name);

/// The facts that a reader must know or check beforehand.
struct image_request {
  std::int64_t count = 0;                ///< images; 0: as many as there are
  std::array<std::int64_t, 2> pixels{};  ///< along u and v; 0 (TIFF only): as the first image has
  pixel_type raw = pixel_type::uint16;   ///< what raw files store
  /// [images, u, v], v fastest: where it is 0, values are not looked at and become 0. One of
  /// another size than the images' masks none.
  std::span<float const> mask{};
};

/// Reads the series that `name` stands for. TIFF (.tif, .tiff): one channel of 8 or 16 bits
/// unsigned, 32 or 64 bits floating point, any compression that libtiff knows, in strips; a file
/// may hold several images. Any other ending: raw, little-endian, row by row from the top, without
/// header. All images must have the same size and store the same type. Sizes are compared before
/// memory is taken.
/// \throws iso::file_error     as image_series; a file of another size, type or number of images, a
///                             file cut short, a value that is not finite
/// \throws iso::out_of_memory  more than this machine has
image_stack read_images(std::filesystem::path const& name, image_request const& request);

/// Reads the same where images store integers of 8 or 16 bits, as these; nothing where they do not.
/// \throws as read_images
std::optional<stored_stack> read_stored_images(std::filesystem::path const& name,
                                               image_request const& request);

/// Prepares one image as a TIFF of 16 bits (values are rounded and must lie from 0 to 65535) or of
/// 32-bit floats, which a commit puts in place. `view` is [u, v], v fastest.
/// \throws iso::file_error
[[nodiscard]] atomic_file prepare_tiff(std::filesystem::path const& path,
                                       std::span<float const> view, std::int64_t width,
                                       std::int64_t height, pixel_type stored);

}  // namespace iso::files
