// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_handle.hpp"

namespace iso::files::detail {

namespace {

// Messages are ours. Nothing is left for HDF5 to do at the end of the program, where it would write
// once more, and crash, what a full disk did not take.
void start_hdf5() {
  static bool const started = H5dont_atexit() >= 0;
  static_cast<void>(started);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

}  // namespace

hdf5_handle open_hdf5(std::filesystem::path const& path) {
  start_hdf5();
  check_regular(path);
  if (H5Fis_hdf5(path.c_str()) == 0) {
    refuse(path, "is not an HDF5 file (it does not begin as one)");
  }
  return {path, H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
          "is not a whole HDF5 file (truncated or damaged) fetch or write it again"};
}

atomic_file prepare_hdf5(std::filesystem::path const& path, std::uintmax_t bytes,
                         std::function<void(hid_t)> const& fill) {
  start_hdf5();
  constexpr std::uintmax_t most_overhead = 65536;
  atomic_file whole(path, bytes + most_overhead);
  hdf5_handle file(path,
                   H5Fcreate(whole.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                   H5Fclose, "cannot be written (HDF5 refused to make the file)");
  fill(file);
  bool const flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  if (!file.close() || !flushed) {
    refuse(path, "cannot be written (is the disk full?)");
  }
  whole.check_written(bytes);
  return whole;
}

bool is_hdf5_path(std::filesystem::path const& path) {
  auto const end = ending(path);
  return end == ".h5" || end == ".hdf5";
}

}  // namespace iso::files::detail
