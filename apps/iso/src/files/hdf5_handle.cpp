// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_handle.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace iso::files::detail {

hdf5_handle open_hdf5(std::filesystem::path const& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  std::error_code failure;
  auto const status = std::filesystem::status(path, failure);
  if (!std::filesystem::exists(status)) {
    refuse(path, "cannot be opened (no such file)");
  }
  if (!std::filesystem::is_regular_file(status)) {
    refuse(path, "cannot be opened (not a regular file)");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    refuse(path, fmt::format("cannot be opened ({})", std::strerror(errno)));
  }
  if (H5Fis_hdf5(path.c_str()) == 0) {
    refuse(path, "is not an HDF5 file (it does not begin as one)");
  }
  return {path, H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
          "is not a whole HDF5 file (truncated or damaged) fetch or write it again"};
}

bool is_hdf5_path(std::filesystem::path const& path) {
  auto const end = ending(path);
  return end == ".h5" || end == ".hdf5";
}

}  // namespace iso::files::detail
