// SPDX-License-Identifier: BSD-3-Clause
// Stands for dicom_rt.cpp in a build without DCMTK.
#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>

namespace iso::files {

bool const has_dicom_rt = false;

namespace {

[[noreturn]] void refuse_all(std::filesystem::path const& path) {
  detail::refuse(path,
                 "is for DICOM RT (this build has no DCMTK) install libdcmtk-dev and build "
                 "anew");
}

}  // namespace

rt_dose read_rt_dose(std::filesystem::path const& path, dose_units /*units*/) { refuse_all(path); }

rt_dose read_rt_dose_grid(std::filesystem::path const& path, dose_units /*units*/) {
  refuse_all(path);
}

atomic_file prepare_rt_dose(std::filesystem::path const& path, host_volume const& /*dose*/,
                            rt_dose_options const& /*options*/) {
  refuse_all(path);
}

rt_structure_set read_rt_structure_set(std::filesystem::path const& path) { refuse_all(path); }

}  // namespace iso::files
