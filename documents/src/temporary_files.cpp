// SPDX-License-Identifier: BSD-3-Clause
#include "temporary_files.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/text.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <system_error>
#include <vector>

namespace iso::files {
namespace detail {
namespace {

namespace fs = std::filesystem;

std::string const common_prefix = ".iso-";

// Whether a run of this machine gave a file its name: a number of the process and one of the file
// follow the host's.
bool is_of_host(std::string const& name) {
  std::size_t at = prefix_of_host().size();
  if (name.rfind(prefix_of_host(), 0) != 0) {
    return false;
  }
  for (int numbers = 0; numbers < 2; ++numbers) {
    std::size_t const begin = at;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') {
      ++at;
    }
    if (at == begin || at == name.size() || name[at++] != '-') {
      return false;
    }
  }
  return true;
}

// Removes what killed runs of this machine left: a run that lives holds a lock.
void remove_leftovers(fs::path const& folder) {
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    auto const& path = at->path();
    if (!is_of_host(path.filename().string())) {
      continue;
    }
    int const descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
      continue;
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_same_file(descriptor, path)) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
    ::close(descriptor);
  }
}

}  // namespace

fs::path folder_of(fs::path const& place) {
  auto folder = place.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

std::string end_of_name(std::string const& name) {
  constexpr std::size_t most = 100;
  std::size_t from = name.size() > most ? name.size() - most : 0;
  while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xc0U) == 0x80U) {
    ++from;  // not within a character
  }
  return lower_case(name.substr(from));
}

std::string const& prefix_of_host() {
  static std::string const prefix = [] {
    char name[65] = {};
    static_cast<void>(::gethostname(name, sizeof(name) - 1));
    std::string host(name);
    std::replace(host.begin(), host.end(), '/', '_');
    // Else the host "a" would take a name of "a-1" for its own. No host's name has a '='.
    std::replace(host.begin(), host.end(), '-', '=');
    return common_prefix + (host.empty() ? "host" : host) + "-";
  }();
  return prefix;
}

bool is_same_file(int descriptor, fs::path const& path) {
  struct stat held{};
  struct stat there{};
  return ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

void remove_leftovers_once(fs::path const& folder) {
  static std::mutex guard;
  static std::set<std::string> seen;
  std::error_code unknown;
  auto const whole = fs::weakly_canonical(folder, unknown).string();
  std::lock_guard const lock(guard);
  if (!unknown && seen.insert(whole).second) {
    remove_leftovers(folder);
  }
}

}  // namespace detail

std::vector<std::filesystem::path> temporaries_of_others(std::filesystem::path const& target) {
  std::vector<std::filesystem::path> found;
  std::error_code failure;
  auto const now = std::filesystem::file_time_type::clock::now();
  for (std::filesystem::directory_iterator at(detail::folder_of(target), failure), end;
       !failure && at != end; at.increment(failure)) {
    auto const name = at->path().filename().string();
    std::error_code unknown;
    if (name.rfind(detail::common_prefix, 0) == 0 && name.rfind(detail::prefix_of_host(), 0) != 0 &&
        now - std::filesystem::last_write_time(at->path(), unknown) > std::chrono::hours(1) &&
        !unknown) {
      found.push_back(at->path());
    }
  }
  return found;
}

}  // namespace iso::files
