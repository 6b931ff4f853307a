// SPDX-License-Identifier: BSD-3-Clause
#include "voxel_file.hpp"

#include <iso/files/detail/refuse.hpp>

#include <fmt/core.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

constexpr char const* damaged =
    "is truncated or damaged (its voxels do not inflate); fetch or write it again";

}  // namespace

voxel_reader::voxel_reader(fs::path const& path, voxel_layout const& layout)
    : path_(path),
      in_(layout.file, std::ios::binary),
      compressed_(layout.compressed),
      left_(layout.packed > 0 ? layout.packed : std::numeric_limits<std::uint64_t>::max()) {
  in_.seekg(std::streamoff(layout.offset));
  if (compressed_) {
    packed_.resize(std::size_t(1) << 18);
    constexpr int zlib_or_gzip = 15 + 32;
    state_ = inflateInit2(&stream_, zlib_or_gzip);
  }
}

voxel_reader::~voxel_reader() {
  if (compressed_) {
    inflateEnd(&stream_);
  }
}

std::size_t voxel_reader::inflate_some(std::span<std::byte> to) {
  constexpr std::size_t most = std::size_t(1) << 30;
  stream_.next_out = reinterpret_cast<unsigned char*>(to.data());
  stream_.avail_out = unsigned(std::min(to.size(), most));
  auto const wanted = stream_.avail_out;
  while (state_ == Z_OK && stream_.avail_out > 0) {
    if (stream_.avail_in == 0) {
      in_.read(reinterpret_cast<char*>(packed_.data()),
               std::streamsize(std::min<std::uint64_t>(packed_.size(), left_)));
      stream_.next_in = packed_.data();
      stream_.avail_in = unsigned(in_.gcount());
      left_ -= std::uint64_t(in_.gcount());
    }
    state_ = inflate(&stream_, Z_NO_FLUSH);
  }
  return wanted - stream_.avail_out;
}

void voxel_reader::read(std::span<std::byte> to) {
  if (!compressed_) {
    in_.read(reinterpret_cast<char*>(to.data()), std::streamsize(to.size()));
    if (in_.gcount() != std::streamsize(to.size())) {
      refuse(path_, "is truncated or damaged (its voxels end early); fetch or write it again");
    }
    return;
  }
  while (!to.empty()) {
    auto const got = inflate_some(to);
    to = to.subspan(got);
    if (state_ == Z_STREAM_END && !to.empty()) {
      // gzip joins streams by writing one behind the other.
      state_ = stream_.avail_in > 0 || in_.peek() != EOF ? inflateReset(&stream_) : Z_DATA_ERROR;
    }
    if (state_ != Z_OK && !to.empty()) {
      refuse(path_, damaged);
    }
  }
}

void voxel_reader::skip(std::int64_t bytes) { in_.seekg(std::streamoff(bytes), std::ios::cur); }

void voxel_reader::finish() {
  std::vector<std::byte> rest(compressed_ ? std::size_t(1) << 16 : 0);
  while (compressed_ && state_ == Z_OK) {
    static_cast<void>(inflate_some(rest));
  }
  if (compressed_ && state_ != Z_STREAM_END) {
    refuse(path_, damaged);
  }
}

// zlib writes files that are not compressed by the same calls.
voxel_writer::voxel_writer(fs::path const& path, fs::path const& to, form how)
    : path_(path),
      out_(gzopen(to.c_str(), how == form::gzip ? "wb" : "wbT"), &gzclose),
      piece_(how == form::gzip ? std::size_t(1) << 20 : std::size_t(1) << 30) {
  if (!out_) {
    refuse_full(errno);
  }
}

void voxel_writer::refuse_full(int reason) const {
  refuse(path_, fmt::format("cannot be written ({}); make room on its disk",
                            reason != 0 ? std::strerror(reason) : "its disk may be full"));
}

void voxel_writer::write(std::span<std::byte const> bytes, job const& asked) {
  while (!bytes.empty()) {
    auto const some = bytes.first(std::min(bytes.size(), piece_));
    errno = 0;
    if (gzwrite(out_.get(), some.data(), unsigned(some.size())) != int(some.size())) {
      refuse_full(errno);
    }
    asked.step(0);
    bytes = bytes.subspan(some.size());
  }
}

void voxel_writer::close() {
  errno = 0;
  if (gzclose(out_.release()) != Z_OK) {
    refuse_full(errno);
  }
}

placed_writer::placed_writer(fs::path const& path, fs::path const& to, std::int64_t offset)
    : path_(path), offset_(offset), descriptor_(::open(to.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) {
    refuse(path_, fmt::format("cannot be written (its temporary file: {}); name a file on a file "
                              "system that all processes see",
                              std::strerror(errno)));
  }
}

placed_writer::~placed_writer() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

void placed_writer::write(std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    auto const done = ::pwrite(descriptor_, bytes.data(), bytes.size(), off_t(offset_));
    if (done < 0 && errno != EINTR) {
      refuse(path_,
             fmt::format("cannot be written ({}); make room on its disk", std::strerror(errno)));
    }
    offset_ += done > 0 ? done : 0;
    bytes = bytes.subspan(done > 0 ? std::size_t(done) : 0);
  }
}

void placed_writer::close() {
  // EINVAL: a file system that cannot be told to.
  bool const flushed = ::fsync(descriptor_) == 0 || errno == EINVAL;
  int const reason = errno;
  bool const closed = ::close(std::exchange(descriptor_, -1)) == 0;
  if (!flushed || !closed) {
    refuse(path_, fmt::format("cannot be written ({}); make room on its disk",
                              std::strerror(flushed ? errno : reason)));
  }
}

}  // namespace iso::files::detail
