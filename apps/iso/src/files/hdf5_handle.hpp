// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "image_header.hpp"

#include <hdf5.h>

#include <filesystem>

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
  ~hdf5_handle() { close_(id_); }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Opens a file for reading, HDF5's own messages off; throws iso::file_error that says whether it
/// is not there, not readable, not HDF5, or damaged.
hdf5_handle open_hdf5(std::filesystem::path const& path);
/// True for .h5 and .hdf5, in capitals too.
bool is_hdf5_path(std::filesystem::path const& path);

}  // namespace iso::files::detail
