// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/device_lock.hpp
//! Lets one process use a GPU, also where each process believes that it has one of its own.
#pragma once

#include <filesystem>
#include <string>

namespace iso::jobs {

/// A device that this process has for itself, by a lock on a file that stays behind, so
/// that a killed process leaves nothing locked. Processes in containers with temporary folders of
/// their own do not see each other.
class device_lock {
 public:
  /// \param folder   that all processes of the node share
  /// \param device   bus address
  /// \throws iso::invalid_argument  another process has the device
  device_lock(std::filesystem::path const& folder, std::string const& device);
  device_lock(device_lock const&) = delete;
  device_lock& operator=(device_lock const&) = delete;
  ~device_lock();

 private:
  int file_ = -1;
};

}  // namespace iso::jobs
