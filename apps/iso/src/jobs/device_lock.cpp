// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/jobs/device_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace iso::jobs {
namespace {

/// Another user's file in a folder of all users is opened only by who does not offer to create it.
int open_shared(std::filesystem::path const& path) {
  int const flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
  int const found = ::open(path.c_str(), flags);
  return found >= 0 ? found : ::open(path.c_str(), flags | O_CREAT, 0644);
}

}  // namespace

device_lock::device_lock(std::filesystem::path const& folder, std::string const& device) {
  auto name = "isocenter-gpu-" + device + ".lock";
  std::replace(name.begin(), name.end(), ':', '-');
  // Where there is no such file to be had, the report still names processes that shared a GPU.
  file_ = open_shared(folder / name);
  if (file_ < 0 || ::flock(file_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    return;
  }
  ::close(file_);
  fail_argument(
      "GPU {} is being measured by another process (each would have a part of it); start one "
      "process a GPU, give each its own by CUDA_VISIBLE_DEVICES, or leave cuda out by --backend",
      device);
}

device_lock::~device_lock() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

}  // namespace iso::jobs
