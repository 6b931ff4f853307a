// SPDX-License-Identifier: BSD-3-Clause
// Files to where kernels compute, and back.
#include "calls.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dose_matrix_file.hpp>
#include <iso/files/volume_view.hpp>

#include <filesystem>
#include <vector>

TEST_CASE("volumes, matrices and structures of files") {
  using namespace calls;
  exec_space const exec;
  auto const file = std::filesystem::temp_directory_path() / "iso_calls.mha";
  iso::files::write_volume_view(exec, volume_of(iso::grid::centred({2, 2, 2}, {1, 1, 1}), 3), file);
  auto const volume = iso::files::read_volume_view<float>(exec, file);
  iso::files::write_volume_view(exec, iso::volume_view<float const, space>(volume), file, "Gy");
  std::filesystem::remove(file);
  auto const host = iso::files::make_host_volume(exec, volume);
  CHECK(iso::files::make_volume_view<double>(exec, host).data.size() == 8);
  CHECK(iso::files::make_grid(iso::files::make_host_volume(volume.grid)) == volume.grid);

  iso::files::host_matrix const matrix{2, 2, {0, 1, 2}, {0, 1}, std::vector<float>{1, 2}};
  CHECK(iso::files::make_dose_matrix(exec, matrix).num_entries() == 2);
  CHECK_THROWS_AS(iso::files::read_dose_matrix(exec, "none.h5"), iso::file_error);
  CHECK(
      iso::files::make_structure({{.name = "PTV", .contours = {{{{0, 0, 0}}}}}}).contours.size() ==
      1);
}
