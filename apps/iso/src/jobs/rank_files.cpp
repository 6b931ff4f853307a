// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/communicator.hpp>
#include <iso/core/check.hpp>
#include <iso/core/error.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/files/stack_file.hpp>
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
        message("'{}': {} of {} processes do not see its folder (each writes its part of the file "
                "there); name a file on a file system that all see",
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

template <class T>
void shared_views::begin(std::array<std::int64_t, 3> const& extent) {
  auto& ranks = sharing_ranks();
  extent_ = extent;
  iso::detail::check_together(ranks, of_all, [&] {
    if (is_first_rank() && files::is_stack_path(path_)) {
      file_.emplace(files::prepare_stack_frame<T>(path_, {extent, {}, "1", geometry_}));
    } else if (is_first_rank()) {
      auto frame = files::prepare_projection_frame<T>(path_, extent, pitch_);
      offset_ = frame.offset;
      file_.emplace(std::move(frame.file));
    }
  });
  told_file told;
  if (file_) {
    told = told_file(file_->temporary());
    told.offset = offset_;
  }
  ranks.broadcast(std::as_writable_bytes(std::span(&told, 1)), 0);
  temporary_ = told.name.data();
  offset_ = told.offset;
}

template <class T>
void shared_views::write(std::int64_t first_view, std::span<T const> values, job const& asked) {
  if (files::is_stack_path(path_)) {
    files::write_stack_views<T>(path_, temporary_, extent_, first_view, values, asked);
  } else {
    files::write_projection_views<T>(path_, temporary_, offset_, extent_, first_view, values,
                                     asked);
  }
  bytes_ += values.size_bytes();
}

template void shared_views::begin<float>(std::array<std::int64_t, 3> const&);
template void shared_views::begin<double>(std::array<std::int64_t, 3> const&);
template void shared_views::write(std::int64_t, std::span<float const>, job const&);
template void shared_views::write(std::int64_t, std::span<double const>, job const&);

}  // namespace iso::jobs
