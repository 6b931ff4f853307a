// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/rank_files.hpp
//! Writes one file by all ranks that share a job.
#pragma once

#include <iso/core/grid.hpp>
#include <iso/core/job.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/volume_file.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iso::jobs {

/// The bytes of files that each rank has read or written.
using bytes_of_ranks = std::vector<std::uint64_t>;

/// Throws, on every rank, unless all see the folder of a file that each of them writes a part of.
/// \throws iso::file_error
void check_folder_of_ranks(std::string const& path);

/// A volume's file that ranks have written.
struct written_planes {
  std::optional<files::atomic_file> file;  ///< on rank 0, which puts it in place
  bytes_of_ranks bytes;
};

/// Writes the file of a volume, each rank its own planes, whose values `volume` has.
/// \throws iso::file_error  on every rank; nothing is left
written_planes write_planes_of_ranks(std::string const& path, files::host_volume const& volume,
                                     slab const& planes, job const& asked);

/// The file of projections (.h5, .mha, .nrrd) into which ranks write whole views, one rank after
/// the other.
class shared_views {
 public:
  /// \param geometry  the text of a geometry file, which an HDF5 file bears
  /// \param pitch     of the detector, mm, which an image bears
  shared_views(std::string path, std::string geometry, std::array<double, 2> const& pitch)
      : path_(std::move(path)), geometry_(std::move(geometry)), pitch_(pitch) {}

  /// Has rank 0 make the file under its temporary name. All ranks call it.
  /// \param extent  views, u, v
  /// \throws iso::file_error  on every rank; nothing is left
  template <class T>
  void begin(std::array<std::int64_t, 3> const& extent);
  /// Writes views into it, on the rank whose turn it is.
  /// \param values  [views, u, v]
  /// \throws iso::file_error
  template <class T>
  void write(std::int64_t first_view, std::span<T const> values, job const& asked);
  /// Returns the bytes that this rank has written.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Returns the file on rank 0, which puts it in place, and nothing elsewhere.
  [[nodiscard]] std::optional<files::atomic_file> take() { return std::move(file_); }

 private:
  std::string path_;
  std::string geometry_;
  std::array<double, 2> pitch_;
  std::array<std::int64_t, 3> extent_{};
  std::filesystem::path temporary_;
  std::int64_t offset_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<files::atomic_file> file_;
};

}  // namespace iso::jobs
