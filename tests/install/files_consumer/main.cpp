// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/matrix_file.hpp>
#include <iso/files/volume_file.hpp>

#include <cstdio>

int main() {
  iso::files::host_volume const volume{{1, 1, 2}, {1, 2, 3}, {0, 0, 0}, {0.5F, 2}};
  iso::files::prepare_volume("volume.nii.gz", volume).commit();
  iso::files::prepare_vector("vector.h5", {1, 2}).commit();
  bool const same = iso::files::read_volume("volume.nii.gz").values == volume.values &&
                    iso::files::read_vector("vector.h5") == std::vector<double>{1, 2};
  std::puts(same ? "files come back" : "files differ");
  return same ? 0 : 1;
}
