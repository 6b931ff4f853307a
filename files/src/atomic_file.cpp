// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace iso::files {
namespace {

namespace fs = std::filesystem;

// A name such as /dev/stdout or /dev/fd/3: a descriptor of this process, whatever it leads to.
bool is_descriptor(fs::path const& path) {
  std::error_code unknown;
  auto const folder = fs::canonical(path.parent_path(), unknown);
  return !unknown && folder == fs::canonical("/proc/self/fd", unknown);
}

// Where links lead, though nothing be there yet; a descriptor's link is not followed.
fs::path followed(fs::path const& target) {
  fs::path at = target;
  for (int links = 0; links < 40; ++links) {
    std::error_code unknown;
    if (is_descriptor(at) || !fs::is_symlink(fs::symlink_status(at, unknown))) {
      return at;
    }
    at = at.parent_path() / fs::read_symlink(at);
  }
  throw file_error(
      fmt::format("'{}' is a symbolic link that leads to none but links (it has no "
                  "end) remove it",
                  target.string()));
}

[[noreturn]] void refuse_to_write(fs::path const& target, char const* suggestion,
                                  int reason = errno) {
  throw file_error(fmt::format("'{}' cannot be written ({}){}", target.string(),
                               std::strerror(reason), suggestion));
}

fs::path temporary_folder(fs::path const& target) {
  std::error_code failure;
  auto folder = fs::temp_directory_path(failure);
  if (failure) {
    throw file_error(
        fmt::format("'{}' cannot be written (the folder for temporary files: {}) set "
                    "TMPDIR to one that is there",
                    target.string(), failure.message()));
  }
  return folder;
}

// What a temporary name, which is longer, has room for: the end, by which writers go.
std::string end_of_name(std::string const& name) {
  constexpr std::size_t most = 100;
  std::size_t from = name.size() > most ? name.size() - most : 0;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0U) == 0x80U) {
    ++from;  // not within a character
  }
  return lower_case(name.substr(from));
}

void write_all(fs::path const& target, int descriptor, char const* from, std::size_t bytes) {
  while (bytes > 0) {
    auto const done = ::write(descriptor, from, bytes);
    if (done < 0 && errno != EINTR) {
      int const reason = errno;
      ::close(descriptor);
      refuse_to_write(target, "", reason);
    }
    from += done > 0 ? done : 0;
    bytes -= done > 0 ? std::size_t(done) : 0;
  }
}

// What was written to `from`, into a device, a pipe, or a descriptor after what it got before.
void copy_into(fs::path const& target, fs::path const& place, fs::path const& from) {
  std::fflush(stdout);
  int const descriptor = is_descriptor(place) ? ::dup(std::atoi(place.filename().c_str()))
                                              : ::open(place.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    refuse_to_write(target, "");
  }
  std::ifstream in(from, std::ios::binary);
  std::vector<char> piece(std::size_t(1) << 16);
  do {
    in.read(piece.data(), std::streamsize(piece.size()));
    write_all(target, descriptor, piece.data(), std::size_t(in.gcount()));
  } while (in);
  if (::close(descriptor) < 0) {
    refuse_to_write(target, "");
  }
  if (!in.eof()) {
    throw file_error(fmt::format("'{}' was cut short ('{}' cannot be read back) is its disk sound?",
                                 target.string(), from.string()));
  }
}

}  // namespace

atomic_file::atomic_file(fs::path target, std::uintmax_t bytes)
    : target_(std::move(target)), place_(followed(target_)) {
  struct stat old{};
  bool const exists = ::stat(place_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) {
    refuse_to_write(target_, " choose another name");
  }
  if (exists && S_ISDIR(old.st_mode)) {
    throw file_error(fmt::format("'{}' is a folder (a file is to be written) give a file name",
                                 target_.string()));
  }
  replaces_ = !is_descriptor(place_) && (!exists || S_ISREG(old.st_mode));
  if (!replaces_ && ::access(place_.c_str(), W_OK) != 0) {
    refuse_to_write(target_, "");
  }
  if (replaces_ && exists) {
    mode_ = old.st_mode & 0777U;
  }
  auto folder = replaces_ ? place_.parent_path() : temporary_folder(target_);
  folder = folder.empty() ? fs::path(".") : folder;
  std::error_code unknown;
  auto const free = fs::space(folder, unknown).available;
  if (!unknown && free < bytes) {
    throw file_error(fmt::format("'{}' needs {} bytes ({} are free in its folder) make room",
                                 target_.string(), bytes, free));
  }
  make_temporary(folder);
}

void atomic_file::make_temporary(fs::path const& folder) {
  static std::atomic<unsigned> counter{0};
  // Nobody else reads what replaces a file that they may not read.
  unsigned const mode = mode_ ? 0600 : 0666;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = folder / fmt::format(".iso-{}-{}-{}", ::getpid(), counter++,
                                      end_of_name(target_.filename().string()));
    int const descriptor =
        ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    if (descriptor >= 0) {
      ::close(descriptor);
      return;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  refuse_to_write(target_, " check that its folder exists and is yours");
}

atomic_file::atomic_file(atomic_file&& from) noexcept
    : target_(std::move(from.target_)),
      place_(std::move(from.place_)),
      temporary_(std::move(from.temporary_)),
      replaces_(from.replaces_),
      mode_(from.mode_),
      renamed_(std::exchange(from.renamed_, true)) {}

atomic_file::~atomic_file() {
  if (!renamed_) {
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

void atomic_file::commit_all(std::span<atomic_file> files, std::function<void()> const& print) {
  for (auto const& file : files) {
    if (file.replaces_) {
      file.flush();
    }
  }
  for (auto const& file : files) {
    if (!file.replaces_) {
      copy_into(file.target_, file.place_, file.temporary_);
    }
  }
  if (print) {
    print();
  }
  for (auto& file : files) {
    if (file.replaces_) {
      file.rename();
    }
  }
}

// To the disk, which may find only now that it is full.
void atomic_file::flush() const {
  int const descriptor = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  bool whole = descriptor >= 0;
  struct stat now{};
  if (whole && mode_) {
    whole = ::fstat(descriptor, &now) == 0 &&
            ((now.st_mode & 0777U) == *mode_ || ::fchmod(descriptor, *mode_) == 0);
  }
  // EINVAL: a file system that cannot be told to.
  whole = whole && (::fsync(descriptor) == 0 || errno == EINVAL);
  int reason = errno;
  if (descriptor >= 0 && ::close(descriptor) != 0 && whole) {
    reason = errno;
    whole = false;
  }
  if (!whole) {
    refuse_to_write(target_, " is the disk full? The old file is as it was", reason);
  }
}

void atomic_file::rename() {
  std::error_code failure;
  fs::rename(temporary_, place_, failure);
  if (failure) {
    throw file_error(fmt::format("'{}' cannot be replaced ({}) the old file is as it was",
                                 target_.string(), failure.message()));
  }
  renamed_ = true;
  // The file is in place; where its folder cannot be flushed, a crash of the machine may undo that.
  auto const folder = place_.parent_path().empty() ? fs::path(".") : place_.parent_path();
  int const descriptor = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    static_cast<void>(::fsync(descriptor));
    ::close(descriptor);
  }
}

atomic_file prepare_text(fs::path const& target, std::string_view text) {
  atomic_file file(target);
  std::ofstream out(file.temporary(), std::ios::binary);
  out.write(text.data(), std::streamsize(text.size()));
  out.close();
  if (!out) {
    throw file_error(fmt::format("'{}' cannot be written (is the disk full?)", target.string()));
  }
  return file;
}

std::string read_text(fs::path const& source, std::size_t most) {
  std::ifstream in(source, std::ios::binary);
  if (!in || fs::is_directory(source)) {
    throw file_error(
        fmt::format("'{}' cannot be opened (no such file, or not readable)", source.string()));
  }
  // By pieces: `most` may be far more than there is.
  std::string text;
  std::string piece(std::size_t(1) << 16, '\0');
  while (in && text.size() <= most) {
    in.read(piece.data(), std::streamsize(piece.size()));
    text.append(piece, 0, std::size_t(in.gcount()));
  }
  if (text.size() > most) {
    throw file_error(
        fmt::format("'{}' is longer than {} bytes (text of that length is not expected)",
                    source.string(), most));
  }
  return text;
}

}  // namespace iso::files
