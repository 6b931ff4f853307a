// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/dose_matrix_file.hpp>
#include <iso/files/dvh_structure.hpp>
#include <iso/files/volume_view.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  Kokkos::DefaultExecutionSpace const exec;
  iso::files::write_volume_view(exec, iso::files::read_volume_view<float>(exec, "volume.nii.gz"),
                                "again.mha");
  iso::files::read_dose_matrix(exec, "matrix.h5");
  iso::files::make_structure({});
}
