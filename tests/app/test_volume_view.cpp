// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/volume_view.hpp>

#include "file_support.hpp"

#include <iso/backend/registry.hpp>

#include <doctest/doctest.h>

namespace files = iso::files;

namespace {

/// What voxel (i, j, k) of the file below holds.
float value_at(std::int64_t i, std::int64_t j, std::int64_t k) {
  return float(i) + 10 * float(j) + 100 * float(k);
}

/// A MetaImage of 2 x 3 x 4 voxels as another program writes it: x fastest.
void put_volume(std::filesystem::path const& path) {
  std::vector<float> values;
  for (std::int64_t k = 0; k < 4; ++k) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t i = 0; i < 2; ++i) {
        values.push_back(value_at(i, j, k));
      }
    }
  }
  iso::test::put(path,
                 "ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                 "BinaryDataByteOrderMSB = False\nDimSize = 2 3 4\nElementSpacing = 0.5 1 2\n"
                 "Offset = -1 20 300\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n" +
                     iso::test::bytes_of(values));
}

template <class T, class Exec>
void check_there_and_back(Exec const& exec) {
  iso::test::scratch_folder const folder;
  put_volume(folder / "x_fastest.mha");
  auto const volume = files::read_volume_view<T>(exec, folder / "x_fastest.mha");
  CHECK(volume.grid == iso::grid{{2, 3, 4}, {0.5, 1, 2}, {-1, 20, 300}});
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), volume.data);
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 4; ++k) {
        CHECK(host(i, j, k) == T(value_at(i, j, k)));
      }
    }
  }
  iso::volume_view<T const, typename Exec::memory_space> const seen = volume;
  files::write_volume_view(exec, seen, folder / "again.mha", "Gy");
  auto const first = files::read_volume(folder / "x_fastest.mha");
  auto const again = files::read_volume(folder / "again.mha");
  CHECK(again.values == first.values);
  CHECK(again.spacing == first.spacing);
  CHECK(again.origin == first.origin);
  CHECK(again.unit == "Gy");
  CHECK(files::make_grid(again) == volume.grid);
}

}  // namespace

TEST_CASE("a file comes to where kernels compute, and goes back") {
  iso::backend::for_each([](auto each) {
    typename decltype(each)::execution_space const exec;
    check_there_and_back<float>(exec);
    check_there_and_back<double>(exec);
  });
}

TEST_CASE("a volume on the host that is none is refused") {
  Kokkos::DefaultExecutionSpace const exec;
  auto volume = files::make_host_volume(iso::grid::centred({2, 2, 2}, {1, 1, 1}));
  CHECK(volume.values.empty());
  CHECK_THROWS_AS(files::make_volume_view<float>(exec, volume), iso::invalid_argument);
  volume.values.assign(8, 1);
  CHECK(files::make_volume_view<float>(exec, volume).data.size() == 8);
  volume.extent[0] = 0;
  CHECK_THROWS_AS(files::make_volume_view<float>(exec, volume), iso::invalid_argument);
}
