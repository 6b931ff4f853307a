// SPDX-License-Identifier: BSD-3-Clause
#include "temporary_files.hpp"

#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::folder_of;

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
  throw file_error(fmt::format(
      "'{}' is a symbolic link that leads to none but links (it has no end); remove the link",
      target.string()));
}

/// The temporary files of this process that are there.
struct live_temporaries {
  std::mutex mutex;
  std::set<fs::path> paths;
};

// Never destroyed: a thread that abandons them may still hold the mutex then.
live_temporaries& live() {
  static auto& all = *new live_temporaries;
  return all;
}

[[noreturn]] void refuse_to_write(fs::path const& target, char const* advice, int reason = errno) {
  throw file_error(fmt::format("'{}' cannot be written ({}); {}", target.string(),
                               std::strerror(reason), advice));
}

fs::path temporary_folder(fs::path const& target) {
  std::error_code failure;
  auto folder = fs::temp_directory_path(failure);
  if (failure) {
    throw file_error(
        fmt::format("'{}' cannot be written (the folder for temporary files: {}); set TMPDIR to a "
                    "folder that is there",
                    target.string(), failure.message()));
  }
  return folder;
}

void write_all(fs::path const& target, int descriptor, char const* from, std::size_t bytes) {
  while (bytes > 0) {
    auto const done = ::write(descriptor, from, bytes);
    if (done < 0 && errno != EINTR) {
      int const reason = errno;
      ::close(descriptor);
      refuse_to_write(target, "make room there, or choose another name", reason);
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
    refuse_to_write(target, "check its permissions");
  }
  std::ifstream in(from, std::ios::binary);
  std::vector<char> piece(std::size_t(1) << 16);
  do {
    in.read(piece.data(), std::streamsize(piece.size()));
    write_all(target, descriptor, piece.data(), std::size_t(in.gcount()));
  } while (in);
  if (::close(descriptor) < 0) {
    refuse_to_write(target, "make room there, or choose another name");
  }
  if (!in.eof()) {
    throw file_error(fmt::format(
        "'{}' was cut short ('{}' cannot be read back); check its disk, and write it again",
        target.string(), from.string()));
  }
}

}  // namespace

atomic_file::atomic_file(fs::path target, std::uintmax_t bytes)
    : target_(std::move(target)), place_(followed(target_)) {
  struct stat old{};
  bool const exists = ::stat(place_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) {
    refuse_to_write(target_, "choose another name");
  }
  if (exists && S_ISDIR(old.st_mode)) {
    throw file_error(fmt::format("'{}' is a folder (a file is to be written); give a file name",
                                 target_.string()));
  }
  replaces_ = !is_descriptor(place_) && (!exists || S_ISREG(old.st_mode));
  if (!replaces_ && ::access(place_.c_str(), W_OK) != 0) {
    refuse_to_write(target_, "check its permissions");
  }
  if (replaces_ && exists) {
    mode_ = old.st_mode & 0777U;
  }
  auto const folder = replaces_ ? folder_of(place_) : temporary_folder(target_);
  check_space(folder, bytes);
  if (int const reason = make_temporary(folder)) {
    refuse_to_write(target_, "check that its folder exists and is yours", reason);
  }
}

atomic_file atomic_file::folder(fs::path target, std::uintmax_t bytes) {
  atomic_file file;
  file.target_ = target.has_filename() ? std::move(target) : target.parent_path();
  file.place_ = followed(file.target_);
  file.replaces_ = true;
  file.is_folder_ = true;
  struct stat old{};
  bool const exists = ::stat(file.place_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) {
    refuse_to_write(file.target_, "choose another name");
  }
  if (exists) {
    if (!S_ISDIR(old.st_mode)) {
      throw file_error(
          fmt::format("'{}' cannot be made (something of that name is there); name a new folder",
                      file.target_.string()));
    }
    file.check_empty();
    std::error_code unknown;
    auto const whole = fs::canonical(file.place_, unknown);
    file.place_ = unknown ? file.place_ : whole;
    file.mode_ = old.st_mode & 07777U;
  }
  auto const above = folder_of(file.place_);
  file.check_space(above, bytes);
  int reason = file.make_temporary(above);
  if (exists && (reason != 0 || !file.reaches_place())) {
    reason = file.make_temporary(file.place_);
  }
  if (reason != 0) {
    refuse_to_write(file.target_, "check that the folder around it exists and is yours", reason);
  }
  return file;
}

// Whether what lies in the temporary folder can be moved into the one that is there: from beside a
// mount it cannot. Removes the former where it cannot.
bool atomic_file::reaches_place() {
  auto const within = place_ / temporary_.filename();
  std::error_code failure;
  fs::rename(temporary_, within, failure);
  if (!failure) {
    fs::rename(within, temporary_, failure);
    return !failure;
  }
  fs::remove(temporary_, failure);
  forget_temporary();
  return false;
}

void atomic_file::check_empty() const {
  std::error_code failure;
  for (fs::directory_iterator at(place_, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().filename() != temporary_.filename()) {
      throw file_error(fmt::format(
          "'{}' is not empty (what is written would lie among other files); name a new folder",
          target_.string()));
    }
  }
  if (failure) {
    refuse_to_write(target_, "check its permissions", failure.value());
  }
}

void atomic_file::check_space(fs::path const& folder, std::uintmax_t bytes) const {
  std::error_code unknown;
  auto const free = fs::space(folder, unknown).available;
  if (!unknown && free < bytes) {
    throw file_error(
        fmt::format("'{}' needs {} bytes ({} are free in its folder); make room on its disk",
                    target_.string(), bytes, free));
  }
}

// Returns 0, or why there is none.
int atomic_file::make_temporary(fs::path const& folder) {
  static std::atomic<unsigned> counter{0};
  detail::remove_leftovers_once(folder);
  unlock();
  // Nobody else reads what replaces something that they may not read.
  unsigned const own = is_folder_ ? 0700 : 0600;
  unsigned const mode = mode_ ? own : is_folder_ ? 0777 : 0666;
  std::scoped_lock const held(live().mutex);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = folder / fmt::format("{}{}-{}-{}", detail::prefix_of_host(), ::getpid(), counter++,
                                      detail::end_of_name(target_.filename().string()));
    if (is_folder_) {
      lock_ = ::mkdir(temporary_.c_str(), mode) == 0
                  ? ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC)
                  : -1;
    } else {
      lock_ = ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    }
    if (lock_ >= 0) {
      // Where a file system has no locks, nobody can take it for one that was left.
      static_cast<void>(::flock(lock_, LOCK_EX | LOCK_NB));
      if (detail::is_same_file(lock_, temporary_)) {
        live().paths.insert(temporary_);
        return 0;
      }
      unlock();  // another run came between and took it for one that was left
      continue;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  int const reason = errno;
  temporary_.clear();
  return reason;
}

atomic_file::atomic_file(atomic_file&& from) noexcept
    : target_(std::move(from.target_)),
      place_(std::move(from.place_)),
      temporary_(std::move(from.temporary_)),
      replaces_(from.replaces_),
      is_folder_(from.is_folder_),
      mode_(from.mode_),
      renamed_(std::exchange(from.renamed_, true)),
      lock_(std::exchange(from.lock_, -1)) {}

atomic_file::~atomic_file() {
  if (!renamed_ && !temporary_.empty()) {
    // Not while abandon_temporaries removes it too: each would end at what the other had removed.
    std::scoped_lock const held(live().mutex);
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
    live().paths.erase(temporary_);
  }
  unlock();
}

void atomic_file::forget_temporary() const {
  std::scoped_lock const held(live().mutex);
  live().paths.erase(temporary_);
}

void abandon_temporaries() {
  live().mutex.lock();  // for good
  for (auto const& path : live().paths) {
    std::error_code failure;
    // A writer may still put files into a folder.
    for (int attempt = 0; attempt < 100; ++attempt) {
      fs::remove_all(path, failure);
      if (!fs::exists(path, failure)) {
        break;
      }
    }
  }
}

void atomic_file::unlock() {
  if (lock_ >= 0) {
    ::close(std::exchange(lock_, -1));
  }
}

void atomic_file::check_written(std::uintmax_t bytes) const {
  std::error_code unknown;
  auto const written = fs::file_size(temporary_, unknown);
  if (unknown || written < bytes) {
    throw file_error(
        fmt::format("'{}' was cut short ({} of {} bytes were written, and the old file is as it "
                    "was); make room on its disk",
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

void atomic_file::flush() const {
  std::error_code failure;
  if (is_folder_) {
    for (fs::directory_iterator at(temporary_, failure), end; !failure && at != end;
         at.increment(failure)) {
      flush(at->path(), std::nullopt);
    }
  }
  flush(temporary_, mode_);
}

// To the disk, which may find only now that it is full.
void atomic_file::flush(fs::path const& path, std::optional<unsigned> mode) const {
  int const descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool whole = descriptor >= 0;
  struct stat now{};
  if (whole && mode) {
    whole = ::fstat(descriptor, &now) == 0 &&
            ((now.st_mode & 07777U) == *mode || ::fchmod(descriptor, *mode) == 0);
  }
  // EINVAL: a file system that cannot be told to.
  whole = whole && (::fsync(descriptor) == 0 || errno == EINVAL);
  int reason = errno;
  if (descriptor >= 0 && ::close(descriptor) != 0 && whole) {
    reason = errno;
    whole = false;
  }
  if (!whole) {
    refuse_to_write(target_, "make room on its disk; the old file is as it was", reason);
  }
}

// Puts the files of a folder into one that cannot be replaced.
void atomic_file::move_files() {
  check_empty();
  std::vector<fs::path> moved;
  std::error_code failure;
  for (fs::directory_iterator at(temporary_, failure), end; !failure && at != end;
       at.increment(failure)) {
    auto const to = place_ / at->path().filename();
    fs::rename(at->path(), to, failure);
    if (failure) {
      break;
    }
    moved.push_back(to);
  }
  if (failure) {
    std::error_code ignored;
    for (auto const& file : moved) {
      fs::remove(file, ignored);
    }
    refuse_to_write(target_, "check its permissions; the folder is as it was", failure.value());
  }
  fs::remove(temporary_, failure);
}

void atomic_file::rename() {
  std::error_code failure;
  std::error_code unknown;
  bool const is_own = is_folder_ && mode_ && fs::equivalent(place_, ".", unknown);
  if (!is_own) {
    fs::rename(temporary_, place_, failure);
  }
  if (is_folder_ && mode_ && (is_own || failure)) {
    move_files();
  } else if (failure) {
    throw file_error(
        fmt::format("'{}' cannot be replaced ({}, and the old file is as it was); check the "
                    "permissions of its folder",
                    target_.string(), failure.message()));
  }
  renamed_ = true;
  forget_temporary();
  unlock();  // readers lock what they read, too
  // The file is in place; where its folder cannot be flushed, a crash of the machine may undo that.
  int const descriptor = ::open(folder_of(place_).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    static_cast<void>(::fsync(descriptor));
    ::close(descriptor);
  }
}

}  // namespace iso::files
