// SPDX-License-Identifier: BSD-3-Clause
//! Reads and writes the bytes of voxels in order, so that no more than a block of them is held.
#pragma once

#include <iso/core/job.hpp>

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <vector>

namespace iso::files::detail {

/// Returns how many planes of so many bytes are on their way to or from a file at a time: 32 MiB of
/// them, and at least one. Of large planes 16, where these are a sixteenth of the array at most:
/// neighbours on the array's last axis then fill a line of the cache.
inline std::int64_t planes_of_block(std::int64_t plane_bytes, std::int64_t planes) {
  constexpr std::int64_t usual = std::int64_t(1) << 25;
  return std::clamp<std::int64_t>(std::max(usual / std::max<std::int64_t>(plane_bytes, 1),
                                           std::min<std::int64_t>(16, planes / 16)),
                                  1, std::max<std::int64_t>(planes, 1));
}

/// The place of a volume's voxels in a file, and how they are stored.
struct voxel_layout {
  std::filesystem::path file;  ///< which may be another than the header's
  std::uint64_t offset = 0;    ///< bytes before them
  bool compressed = false;     ///< by zlib or gzip, in one stream
  std::uint64_t packed = 0;    ///< bytes of what is compressed; 0: as many as there are
  bool swapped = false;        ///< the bytes of a number are in the other order than here
};

/// The voxels of a file, from the first to the last.
class voxel_reader {
 public:
  /// \param path  named in messages
  voxel_reader(std::filesystem::path const& path, voxel_layout const& layout);
  voxel_reader(voxel_reader const&) = delete;
  voxel_reader& operator=(voxel_reader const&) = delete;
  ~voxel_reader();

  /// Reads the next bytes; throws iso::file_error where they end early or do not inflate.
  void read(std::span<std::byte> to);
  /// Passes by the next bytes of what is not compressed.
  void skip(std::int64_t bytes);
  /// Reads what is compressed to its end; throws iso::file_error where its checksum is wrong.
  void finish();

 private:
  [[nodiscard]] std::size_t inflate_some(std::span<std::byte> to);

  std::filesystem::path path_;
  std::ifstream in_;
  bool compressed_;
  std::uint64_t left_;  ///< bytes of what is compressed
  std::vector<unsigned char> packed_;
  z_stream stream_{};
  int state_ = Z_OK;
};

/// A file to which bytes are written in order, as they are or compressed by gzip.
class voxel_writer {
 public:
  enum class form { plain, gzip };
  /// \param path  named in messages
  /// \param to    is emptied
  voxel_writer(std::filesystem::path const& path, std::filesystem::path const& to, form how);

  /// Writes the next bytes; throws iso::file_error where the disk does not take them. Asks `asked`
  /// after each megabyte of what is compressed.
  void write(std::span<std::byte const> bytes, job const& asked);
  /// Throws iso::file_error unless all has been written.
  void close();

 private:
  [[noreturn]] void refuse_full(int reason) const;

  std::filesystem::path path_;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> out_;
  std::size_t piece_;
};

/// A file that is there, into which bytes are written in order from some byte on.
class placed_writer {
 public:
  /// \param path  named in messages
  placed_writer(std::filesystem::path const& path, std::filesystem::path const& to,
                std::int64_t offset);
  placed_writer(placed_writer const&) = delete;
  placed_writer& operator=(placed_writer const&) = delete;
  ~placed_writer();

  /// Writes the next bytes; throws iso::file_error where the disk does not take them.
  void write(std::span<std::byte const> bytes);
  /// Throws iso::file_error unless all has reached the disk.
  void close();

 private:
  std::filesystem::path path_;
  std::int64_t offset_;
  int descriptor_;
};

}  // namespace iso::files::detail
