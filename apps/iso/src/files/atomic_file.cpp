// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>

#include <fmt/core.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace iso::files {
namespace {

namespace fs = std::filesystem;

void sync_to_disk(fs::path const& path) {
  int const descriptor = ::open(path.c_str(), O_RDONLY);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace

atomic_file::atomic_file(fs::path target, std::uintmax_t bytes) : target_(std::move(target)) {
  static std::atomic<unsigned> counter{0};
  if (fs::is_directory(target_)) {
    throw file_error(fmt::format("'{}' is a folder (a file is to be written) give a file name",
                                 target_.string()));
  }
  std::error_code unknown;
  auto const folder = target_.parent_path().empty() ? fs::path(".") : target_.parent_path();
  auto const free = fs::space(folder, unknown).available;
  if (!unknown && free < bytes) {
    throw file_error(fmt::format("'{}' needs {} bytes ({} are free in its folder) make room",
                                 target_.string(), bytes, free));
  }
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = target_.parent_path() /
                 fmt::format(".iso-{}-{}-{}", ::getpid(), counter++, target_.filename().string());
    int const descriptor =
        ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      ::close(descriptor);
      return;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  throw file_error(
      fmt::format("'{}' cannot be written ({}) check that its folder exists and is yours",
                  target_.string(), std::strerror(errno)));
}

atomic_file::~atomic_file() {
  if (!committed_) {
    std::error_code ignored;
    fs::remove(temporary_, ignored);
  }
}

void atomic_file::check_written(std::uintmax_t bytes) const {
  std::error_code unknown;
  auto const written = fs::file_size(temporary_, unknown);
  if (unknown || written < bytes) {
    throw file_error(
        fmt::format("'{}' was cut short ({} of {} bytes) is the disk full? The old file "
                    "is as it was",
                    target_.string(), unknown ? 0 : written, bytes));
  }
}

void atomic_file::commit() {
  sync_to_disk(temporary_);
  std::error_code failure;
  fs::rename(temporary_, target_, failure);
  if (failure) {
    throw file_error(fmt::format("'{}' cannot be replaced ({}) the old file is as it was",
                                 target_.string(), failure.message()));
  }
  committed_ = true;
  sync_to_disk(target_.parent_path().empty() ? fs::path(".") : target_.parent_path());
}

void write_text(fs::path const& target, std::string_view text) {
  atomic_file file(target);
  std::ofstream out(file.temporary(), std::ios::binary);
  out.write(text.data(), std::streamsize(text.size()));
  out.close();
  if (!out) {
    throw file_error(fmt::format("'{}' cannot be written (is the disk full?)", target.string()));
  }
  file.commit();
}

std::string read_text(fs::path const& source, std::size_t most) {
  std::ifstream in(source, std::ios::binary);
  if (!in || fs::is_directory(source)) {
    throw file_error(
        fmt::format("'{}' cannot be opened (no such file, or not readable)", source.string()));
  }
  std::string text(most + 1, '\0');
  in.read(text.data(), std::streamsize(text.size()));
  text.resize(std::size_t(in.gcount()));
  if (text.size() > most) {
    throw file_error(
        fmt::format("'{}' is longer than {} bytes (text of that length is not expected)",
                    source.string(), most));
  }
  return text;
}

}  // namespace iso::files
