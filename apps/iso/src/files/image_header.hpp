// SPDX-License-Identifier: BSD-3-Clause
//! What a volume file's header claims, read by ourselves before any library allocates for it.
#pragma once

#include <iso/files/text.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files::detail {

enum class storage { plain, deflate };
enum class streams { one, several };

struct image_header {
  std::array<std::int64_t, 3> extent{};  ///< in the file's order, first fastest
  std::int64_t bytes_per_voxel = 0;
  std::filesystem::path data_file;
  std::int64_t data_offset = 0;  ///< bytes before the voxels; -1: they are the last of the file
  storage kind = storage::plain;
  streams most = streams::several;   ///< compressed streams that the image library reads
  bool whole_file_deflated = false;  ///< the header too lies inside the compressed stream
  bool has_spacing = true;           ///< the header says the distance of voxels
};

using files::ending;

image_header read_metaimage_header(std::filesystem::path const& path);
image_header read_nrrd_header(std::filesystem::path const& path);
image_header read_nifti_header(std::filesystem::path const& path);

/// Throws iso::file_error unless the data file holds what the header claims.
void check_length(std::filesystem::path const& path, image_header const& header);

/// Throws iso::file_error naming file and field.
[[noreturn]] void refuse(std::filesystem::path const& path, std::string_view sentence);

/// Throws iso::file_error, before anything is opened, unless the file is there, a regular one (a
/// pipe may never end, or never begin) and readable.
void check_regular(std::filesystem::path const& path);

/// Numbers separated by blanks; throws naming `field` unless there are exactly `count`, all finite.
std::vector<double> parse_numbers(std::filesystem::path const& path, std::string_view field,
                                  std::string_view text, std::size_t count);
/// Exactly three whole numbers of at least 1.
std::array<std::int64_t, 3> parse_extent(std::filesystem::path const& path, std::string_view field,
                                         std::string_view text);
/// Throws naming `field` unless every number lies between 1e-6 and 1e9, a geometry's limits.
void check_spacing(std::filesystem::path const& path, std::string_view field,
                   std::span<double const> spacing);
/// Throws naming `field` unless every number lies between -1e9 and 1e9, a geometry's limits.
void check_coordinates(std::filesystem::path const& path, std::string_view field,
                       std::span<double const> coordinates);
/// The header lines of a text header, at most 64 KiB, up to and including the line that `last`
/// accepts.
struct text_header {
  std::vector<std::string> lines;
  std::int64_t bytes = 0;  ///< length of the header
};
text_header read_text_header(std::filesystem::path const& path,
                             bool (*last)(std::string_view line));
/// Without leading and trailing blanks.
std::string_view trimmed(std::string_view text);
/// First `count` bytes after inflation of the file (gzip or zlib).
std::string inflate_start(std::filesystem::path const& path, std::size_t count);
/// Number of bytes that the stream at `offset` inflates to, reading at most one buffer beyond
/// `most`; throws naming the file where the stream ends early, its check sum is wrong, or more
/// streams follow than are allowed.
std::int64_t inflated_length(std::filesystem::path const& path, std::int64_t offset,
                             std::int64_t most, streams allowed);

}  // namespace iso::files::detail
