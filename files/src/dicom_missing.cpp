// SPDX-License-Identifier: BSD-3-Clause
// Stands for dicom_header.cpp, readers and writers in a build without DCMTK.
#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>

namespace iso::files {

bool const has_dicom = false;

namespace {

[[noreturn]] void refuse_all(std::filesystem::path const& path) {
  detail::refuse(path,
                 "is for DICOM (this build has no DCMTK); install libdcmtk-dev and build anew");
}

}  // namespace

dicom_series read_dicom_series(std::filesystem::path const& folder, subfolders /*search*/) {
  refuse_all(folder);
}

dicom_series read_dicom_series_grid(std::filesystem::path const& folder, subfolders /*search*/) {
  refuse_all(folder);
}

dicom_identity read_dicom_identity(std::filesystem::path const& path, subfolders /*search*/) {
  refuse_all(path);
}

atomic_file prepare_dicom_series(std::filesystem::path const& folder, host_volume const& /*volume*/,
                                 std::filesystem::path const& /*like*/, job const& /*control*/) {
  refuse_all(folder);
}

rt_dose read_rt_dose(std::filesystem::path const& path, dose_units /*units*/,
                     double /*slice_thickness*/) {
  refuse_all(path);
}

rt_dose read_rt_dose_grid(std::filesystem::path const& path, dose_units /*units*/,
                          double /*slice_thickness*/) {
  refuse_all(path);
}

atomic_file prepare_rt_dose(std::filesystem::path const& path, host_volume const& /*dose*/,
                            rt_dose_options const& /*options*/) {
  refuse_all(path);
}

rt_structure_set read_rt_structure_set(std::filesystem::path const& path) { refuse_all(path); }

}  // namespace iso::files
