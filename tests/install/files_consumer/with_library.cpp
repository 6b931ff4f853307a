// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/version.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dose_matrix_file.hpp>
#include <iso/files/volume_view.hpp>

static_assert(iso::version_major() == ISO_VERSION_MAJOR);

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  iso::files::write_volume_view(exec, iso::files::read_volume_view<float>(exec, "volume.nii.gz"),
                                "again.mha");
  iso::files::read_dose_matrix(exec, "matrix.h5");
  iso::files::make_structure({});
}
