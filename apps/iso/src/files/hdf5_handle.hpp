// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "image_header.hpp"

#include <iso/files/atomic_file.hpp>

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <utility>

namespace iso::files::detail {

/// An HDF5 identifier that closes itself; throws iso::file_error where there is none.
class hdf5_handle {
 public:
  hdf5_handle(std::filesystem::path const& path, hid_t id, herr_t (*close)(hid_t),
              std::string_view problem)
      : id_(id), close_(close) {
    if (id < 0) {
      refuse(path, problem);
    }
  }
  hdf5_handle(hdf5_handle const&) = delete;
  hdf5_handle& operator=(hdf5_handle const&) = delete;
  ~hdf5_handle() { static_cast<void>(close()); }
  operator hid_t() const { return id_; }
  /// Closes it before its time; false where HDF5 cannot.
  [[nodiscard]] bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Opens a file for reading, HDF5's own messages off; throws iso::file_error that says whether it
/// is not there, not readable, not HDF5, or damaged.
hdf5_handle open_hdf5(std::filesystem::path const& path);
/// A new file that `fill` writes, at least `bytes` of it, and a commit puts in place; throws
/// iso::file_error.
[[nodiscard]] atomic_file prepare_hdf5(std::filesystem::path const& path, std::uintmax_t bytes,
                                       std::function<void(hid_t)> const& fill);
/// True for .h5 and .hdf5, in capitals too.
bool is_hdf5_path(std::filesystem::path const& path);

}  // namespace iso::files::detail
