// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/detail/refuse.hpp>
#include <iso/files/mapped_array.hpp>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace iso::files::detail {
namespace {

/// Opens a new file in a folder, which has no name there; below 0 where there is none.
int open_unnamed(char const* folder) noexcept {
  int const file = ::open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
    return file;
  }
  // A file system that has no such files.
  std::array<char, PATH_MAX> name{};
  std::snprintf(name.data(), name.size(), "%s/.iso-array-XXXXXX", folder);
  int const named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) {
    ::unlink(name.data());
  }
  return named;
}

}  // namespace

void* mapped_bytes::map(char const* place, std::uint64_t bytes, mapped_file file,
                        int& reason) noexcept {
  bytes = std::max<std::uint64_t>(bytes, 1);
  bool const kept = file == mapped_file::kept;
  int const opened =
      kept ? ::open(place, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666) : open_unnamed(place);
  if (opened < 0) {
    reason = errno;
    return nullptr;
  }
  // Takes the room on the disk: where it ran out later, the process would end in the midst of it.
  bool const possible = bytes <= std::uint64_t(1) << 62;
  reason = possible ? ::posix_fallocate(opened, 0, off_t(bytes)) : EFBIG;
  void* begin = MAP_FAILED;
  if (reason == 0) {
    begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    reason = begin == MAP_FAILED ? errno : 0;
  }
  ::close(opened);
  if (reason != 0 && kept) {
    ::unlink(place);
  }
  return reason == 0 ? begin : nullptr;
}

void mapped_bytes::unmap(void* begin, std::uint64_t bytes) noexcept {
  if (begin != nullptr) {
    ::munmap(begin, std::max<std::uint64_t>(bytes, 1));
  }
}

mapped_bytes::mapped_bytes(std::filesystem::path const& place, std::uint64_t bytes,
                           mapped_file file)
    : begin_(nullptr), bytes_(bytes) {
  int reason = 0;
  begin_ = map(place.c_str(), bytes, file, reason);
  if (begin_ == nullptr) {
    bool const full = reason == ENOSPC || reason == EFBIG || reason == EDQUOT;
    refuse(place,
           fmt::format("takes no array of {} bytes ({}); {}", bytes, std::strerror(reason),
                       full ? "make room on its disk, or choose another" : "choose another place"));
  }
}

}  // namespace iso::files::detail
