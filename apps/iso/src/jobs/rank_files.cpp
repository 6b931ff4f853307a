// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/communicator.hpp>
#include <iso/core/check.hpp>
#include <iso/core/error.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/jobs/rank_files.hpp>
#include <iso/jobs/ranks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>

namespace iso::jobs {
namespace {

/// A temporary file of rank 0, as it tells the others of it.
struct told_file {
  std::int64_t offset = 0;
  std::uint64_t word = 0;  ///< that it holds
  std::array<char, 4096> name{};

  told_file() = default;
  explicit told_file(std::filesystem::path const& path) {
    auto const text = path.string();
    std::copy_n(text.begin(), std::min(text.size(), name.size() - 1), name.begin());
  }
};

constexpr char const* of_all = "iso: files of several processes";

}  // namespace

void check_folder_of_ranks(std::string const& path) {
  auto& ranks = sharing_ranks();
  std::optional<files::atomic_file> probe;
  told_file told;
  iso::detail::check_together(ranks, of_all, [&] {
    if (is_first_rank()) {
      probe.emplace(path);
      told = told_file(probe->temporary());
      told.word = number_of_text(probe->temporary().string());
      std::ofstream(probe->temporary()) << told.word;
    }
  });
  ranks.broadcast(std::as_writable_bytes(std::span(&told, 1)), 0);
  std::uint64_t found = 0;
  std::ifstream(told.name.data()) >> found;
  std::uint64_t unseen = found == told.word ? 0 : 1;
  ranks.sum(std::span<std::uint64_t>(&unseen, 1));
  if (unseen > 0) {
    throw file_error(
        message("'{}': {} of {} processes do not see its folder (each writes its planes of the "
                "volume there); name a file on a file system that all see",
                {std::string_view(path), std::int64_t(unseen), num_ranks()}));
  }
}

written_planes write_planes_of_ranks(std::string const& path, files::host_volume const& volume,
                                     slab const& planes, job const& asked) {
  auto& ranks = sharing_ranks();
  std::optional<files::volume_frame> frame;
  told_file told;
  iso::detail::check_together(ranks, of_all, [&] {
    if (is_first_rank()) {
      frame.emplace(files::prepare_frame(path, volume));
      told = told_file(frame->file.temporary());
      told.offset = frame->offset;
    }
  });
  ranks.broadcast(std::as_writable_bytes(std::span(&told, 1)), 0);
  iso::detail::check_together(ranks, of_all, [&] {
    if (planes.count() > 0) {
      files::write_planes(path, told.name.data(), told.offset, volume, planes.first, volume.values,
                          asked);
    }
  });
  written_planes written;
  written.bytes = numbers_of_ranks(volume.values.size() * sizeof(float));
  if (frame) {
    written.file.emplace(std::move(frame->file));
  }
  return written;
}

}  // namespace iso::jobs
