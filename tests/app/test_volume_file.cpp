// SPDX-License-Identifier: BSD-3-Clause
#include "image_support.hpp"

#include <iso/files/hounsfield.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace files = iso::files;
using namespace iso::test;

namespace {

/// Every voxel is expected(x, y, z).
template <class F>
void check_voxels(files::host_volume const& volume, F const& expected) {
  auto const& n = volume.extent;
  REQUIRE(std::int64_t(volume.values.size()) == n[0] * n[1] * n[2]);
  for (int x = 0; x < n[0]; ++x) {
    for (int y = 0; y < n[1]; ++y) {
      for (int z = 0; z < n[2]; ++z) {
        CHECK(volume.values[std::size_t((x * n[1] + y) * n[2] + z)] == expected(x, y, z));
      }
    }
  }
}

}  // namespace

TEST_CASE("reorder turns x fastest into z fastest, and back") {
  auto const from_file = file_values<short>();
  auto const library =
      files::reorder<float, short>(from_file, 0, files::last_axis_fastest({2, 3, 4}));
  CHECK(library == small_volume().values);
  auto const back = files::reorder<short, float>(library, 0, files::last_axis_fastest({4, 3, 2}));
  CHECK(back == from_file);
}

TEST_CASE("reorder holds beyond one tile") {
  std::int64_t const nx = 37, ny = 2, nz = 53;
  std::vector<float> source;
  for (std::int64_t i = 0; i < nx * ny * nz; ++i) {
    source.push_back(float(i));
  }
  auto const turned =
      files::reorder<float, float>(source, 0, files::last_axis_fastest({nx, ny, nz}));
  bool same = true;
  for (std::int64_t x = 0; x < nx; ++x) {
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t z = 0; z < nz; ++z) {
        same = same && turned[std::size_t((x * ny + y) * nz + z)] == float(x + nx * (y + ny * z));
      }
    }
  }
  CHECK(same);
}

TEST_CASE("volumes come back as they were written") {
  scratch_folder const folder;
  auto const volume = small_volume();
  for (auto const* name : {"v.mha", "v.nrrd", "v.nii", "v.nii.gz"}) {
    CAPTURE(name);
    files::prepare_volume(folder / name, volume).commit();
    auto const read = files::read_volume(folder / name);
    CHECK(read.extent == volume.extent);
    CHECK(read.spacing == volume.spacing);
    CHECK(read.origin == volume.origin);
    CHECK(read.values == volume.values);
  }
}

TEST_CASE("volumes keep their unit, and show their grid without their voxels") {
  scratch_folder const folder;
  auto volume = small_volume();
  for (auto const* name : {"v.mha", "v.nrrd", "v.nii", "v.nii.gz"}) {
    CAPTURE(name);
    files::prepare_volume(folder / name, volume).commit();
    CHECK(files::read_volume(folder / name).unit.empty());
    for (std::string const unit : {"Gy", "1/mm", "HU"}) {
      volume.unit = unit;
      files::prepare_volume(folder / name, volume).commit();
      auto const read = files::read_volume(folder / name);
      bool const nifti = std::string(name).starts_with("v.nii");  // has no field for it
      CHECK(read.unit == (nifti ? "" : unit));
      CHECK(read.values == volume.values);
      auto const bare = files::read_volume_grid(folder / name);
      CHECK(bare.unit == read.unit);
      CHECK(bare.extent == volume.extent);
      CHECK(bare.spacing == volume.spacing);
      CHECK(bare.origin == volume.origin);
      CHECK(bare.values.empty());
    }
    volume.unit.clear();
  }
  files::prepare_projection_image<float>(folder / "p.nrrd", volume.values, {2, 3, 4}, {1, 1})
      .commit();
  CHECK(files::read_volume_grid(folder / "p.nrrd").unit == "1");
  auto const bytes = iso::test::get(folder / "v.mha");
  put(folder / "cut.mha", bytes.substr(0, bytes.size() / 2));
  CHECK(names(refusal([&] { files::read_volume_grid(folder / "cut.mha"); }), {"cut.mha"}));
}

TEST_CASE("a hand-written MetaImage, attached and detached, plain and compressed") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  put(folder / "a.mha", metaimage("ElementSpacing = 0.5 1.25 3\nOffset = -7 8 9.5\n") + voxels);
  auto const detached = metaimage("ElementSpacing = 0.5 1.25 3\nOffset = -7 8 9.5\n");
  put(folder / "d.mhd", detached.substr(0, detached.find("LOCAL")) + "d.raw\n");
  put(folder / "d.raw", voxels);
  put_gz(folder / "packed", voxels);
  auto const packed = iso::test::get(folder / "packed");
  put(folder / "z.mha",
      metaimage("ElementSpacing = 0.5 1.25 3\nOffset = -7 8 9.5\nCompressedData = "
                "True\nCompressedDataSize = " +
                std::to_string(packed.size()) + "\n") +
          packed);
  for (auto const* name : {"a.mha", "d.mhd", "z.mha"}) {
    CAPTURE(name);
    auto const read = files::read_volume(folder / name);
    CHECK(read.extent == small_volume().extent);
    CHECK(read.spacing == small_volume().spacing);
    CHECK(read.origin == small_volume().origin);
    CHECK(read.values == small_volume().values);
  }
}

TEST_CASE("endings in capitals are the same endings") {
  scratch_folder const folder;
  for (auto const* name : {"V.MHA", "V.Nrrd", "V.NII", "V.NII.GZ"}) {
    CAPTURE(name);
    files::prepare_volume(folder / name, small_volume()).commit();
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    CHECK(files::read_volume(folder / name).values == small_volume().values);
    std::filesystem::remove(folder / name);
  }
}

TEST_CASE("flipped and permuted axes are put along the world's, exactly") {
  scratch_folder const folder;
  auto const turned_by = [&](std::string const& matrix) {
    put(folder / "t.mha", metaimage("ElementSpacing = 0.5 1.25 3\nOffset = 10 20 30\n"
                                    "TransformMatrix = " +
                                    matrix + "\n") +
                              bytes_of(file_values<short>()));
    return files::read_volume(folder / "t.mha");
  };
  // The origin moves to the other end.
  auto const flipped = turned_by("-1 0 0 0 -1 0 0 0 1");
  CHECK(flipped.extent == std::array<std::int64_t, 3>{2, 3, 4});
  CHECK(flipped.origin == std::array<double, 3>{9.5, 17.5, 30});
  check_voxels(flipped, [](int x, int y, int z) { return digits(1 - x, 2 - y, z); });
  // File axis 0 runs along z, 1 along x, 2 along -y (MetaImage lists the directions axis by axis).
  auto const permuted = turned_by("0 0 1 1 0 0 0 -1 0");
  CHECK(permuted.extent == std::array<std::int64_t, 3>{3, 4, 2});
  CHECK(permuted.spacing == std::array<double, 3>{1.25, 3, 0.5});
  CHECK(permuted.origin == std::array<double, 3>{10, 11, 30});
  check_voxels(permuted, [](int x, int y, int z) { return digits(z, x, 3 - y); });
}

namespace {

/// Checks that any planes along z are those of the whole volume. Returns the bytes that all of them
/// took, one at a time.
std::int64_t check_planes(std::filesystem::path const& file) {
  auto const whole = files::read_volume(file);
  auto const& n = whole.extent;
  std::int64_t bytes = 0;
  for (std::int64_t first = 0; first <= n[2]; ++first) {
    for (std::int64_t last = first; last <= n[2]; ++last) {
      std::vector<float> some(std::size_t(n[0] * n[1] * (last - first)), -1.0F);
      auto const read = files::read_planes(file, first, some);
      bytes += last == first + 1 ? read : 0;
      std::vector<float> expected;
      for (std::int64_t column = 0; column < n[0] * n[1]; ++column) {
        auto const from = whole.values.begin() + column * n[2];
        expected.insert(expected.end(), from + first, from + last);
      }
      CHECK(some == expected);
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("planes along z are those of the volume, and no others are read where they lie apart") {
  scratch_folder const folder;
  auto const volume = small_volume();
  auto const& n = volume.extent;
  std::int64_t const all = n[0] * n[1] * n[2] * 4;
  for (auto const* name : {"v.mha", "v.nrrd"}) {
    CAPTURE(name);
    files::prepare_volume(folder / name, volume).commit();
    CHECK(check_planes(folder / name) == all);
  }
  for (auto const* name : {"v.nii", "v.nii.gz"}) {
    CAPTURE(name);
    files::prepare_volume(folder / name, volume).commit();
    CHECK(check_planes(folder / name) == n[2] * all);
  }
  // Compressed; in the other order of bytes; turned; z along another axis of the file.
  auto const shorts = bytes_of(file_values<short>());
  put_gz(folder / "packed", shorts);
  auto const packed = iso::test::get(folder / "packed");
  std::string const fields = "ElementSpacing = 0.5 1.25 3\n";
  put(folder / "z.mha", metaimage(fields + "CompressedData = True\nCompressedDataSize = " +
                                  std::to_string(packed.size()) + "\n") +
                            packed);
  CHECK(check_planes(folder / "z.mha") == n[2] * all / 2);
  put(folder / "s.mha", metaimage(fields + "ElementByteOrderMSB = True\n") + shorts);
  CHECK(check_planes(folder / "s.mha") == all / 2);
  // x, y and z of the world along the file's last axis in turn.
  for (std::string const matrix :
       {"1 0 0 0 1 0 0 0 -1", "0 0 1 1 0 0 0 -1 0", "0 1 0 0 0 -1 1 0 0"}) {
    CAPTURE(matrix);
    put(folder / "t.mha", metaimage(fields + "TransformMatrix = " + matrix + "\n") + shorts);
    check_planes(folder / "t.mha");
  }
  std::vector<float> some(std::size_t(n[0] * n[1]));
  CHECK_THROWS_WITH_AS(files::read_planes(folder / "v.mha", n[2], some),
                       doctest::Contains("give whole planes"), iso::invalid_argument);
  CHECK_THROWS_AS(files::read_planes(folder / "v.mha", 0, std::span(some).first(1)),
                  iso::invalid_argument);
  // A voxel that is not finite is told where it is of these planes, and by its place in the volume.
  auto spoiled = volume;
  spoiled.values[std::size_t(n[2] - 1)] = NAN;
  files::prepare_volume(folder / "nan.mha", spoiled).commit();
  files::read_planes(folder / "nan.mha", 0, some);
  CHECK_THROWS_WITH_AS(files::read_planes(folder / "nan.mha", n[2] - 1, some),
                       doctest::Contains("voxel (0, 0, 3)"), iso::file_error);
}

TEST_CASE("a volume that is written plane by plane is the file that is written at once") {
  scratch_folder const folder;
  auto const volume = small_volume();
  auto const& n = volume.extent;
  auto const planes_of = [&](std::int64_t first, std::int64_t last) {
    std::vector<float> some;
    for (std::int64_t column = 0; column < n[0] * n[1]; ++column) {
      auto const from = volume.values.begin() + column * n[2];
      some.insert(some.end(), from + first, from + last);
    }
    return some;
  };
  for (auto const* name : {"v.mha", "v.nrrd", "v.nii"}) {
    CAPTURE(name);
    files::prepare_volume(folder / name, volume).commit();
    auto const at_once = iso::test::get(folder / name);
    {
      auto frame = files::prepare_frame(folder / name, volume);
      auto const put = [&](std::int64_t first, std::int64_t last) {
        files::write_planes(folder / name, frame.file.temporary(), frame.offset, volume, first,
                            planes_of(first, last));
      };
      put(3, n[2]);
      put(0, 1);
      CHECK(iso::test::get(folder / name) == at_once);  // until the commit
      put(1, 3);
      frame.file.commit();
    }
    CHECK(iso::test::get(folder / name) == at_once);
  }
  CHECK(!files::takes_planes("v.nii.gz"));
  CHECK_THROWS_AS(static_cast<void>(files::prepare_frame(folder / "v.nii.gz", volume)),
                  iso::invalid_argument);
  CHECK_THROWS_WITH_AS(files::write_planes(folder / "v.mha", folder / "none", 0, volume, 0, {}),
                       doctest::Contains("a file system that all processes see"), iso::file_error);
}

TEST_CASE("a hand-written NRRD and NIfTI") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  put(folder / "a.nrrd",
      nrrd("space directions: (0.5,0,0) (0,1.25,0) (0,0,3)\nspace origin: (-7,8,9.5)\n") + voxels);
  auto const read = files::read_volume(folder / "a.nrrd");
  CHECK(read.spacing == small_volume().spacing);
  CHECK(read.origin == small_volume().origin);
  CHECK(read.values == small_volume().values);
  put(folder / "a.nii", nifti() + voxels);
  put_gz(folder / "a.nii.gz", nifti() + voxels);
  for (auto const* name : {"a.nii", "a.nii.gz"}) {
    CAPTURE(name);
    // sform -x, -y of the right-anterior frame is +x, +y of the left-posterior one that we keep.
    auto const same = files::read_volume(folder / name);
    CHECK(same.spacing == std::array<double, 3>{2, 2, 2});
    CHECK(same.origin == std::array<double, 3>{-10, -20, 30});
    CHECK(same.values == small_volume().values);
  }
}

TEST_CASE("projections as an image have u along x and v along y") {
  scratch_folder const folder;
  // [view, u, v] = [2, 3, 4]: digits are view, u, v.
  auto const values = small_volume().values;
  files::prepare_projection_image<float>(folder / "p.mha", values, {2, 3, 4}, {0.5, 0.25}).commit();
  auto const read = files::read_volume(folder / "p.mha");
  CHECK(read.extent == std::array<std::int64_t, 3>{3, 4, 2});
  CHECK(read.spacing == std::array<double, 3>{0.5, 0.25, 1});
  CHECK(read.values[std::size_t((2 * 4 + 3) * 2 + 1)] == digits(1, 2, 3));
  CHECK(read.values[std::size_t((0 * 4 + 1) * 2 + 1)] == digits(1, 0, 1));
}

TEST_CASE_TEMPLATE("an image of projections is written view by view", T, float, double) {
  scratch_folder const folder;
  std::array<std::int64_t, 3> const extent{5, 3, 4};
  std::vector<T> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = T(i) / T(7);
  }
  for (auto const* name : {"p.mha", "p.nrrd"}) {
    CAPTURE(name);
    files::prepare_projection_image<T>(folder / name, values, extent, {0.5, 0.25}).commit();
    auto const at_once = iso::test::get(folder / name);
    auto frame = files::prepare_projection_frame<T>(folder / name, extent, {0.5, 0.25});
    auto const put = [&](std::int64_t first, std::int64_t last) {
      files::write_projection_views<T>(
          folder / name, frame.file.temporary(), frame.offset, extent, first,
          std::span<T const>(values).subspan(std::size_t(first * 12),
                                             std::size_t((last - first) * 12)));
    };
    put(4, 5);
    put(0, 2);
    put(2, 2);
    put(2, 4);
    CHECK(iso::test::get(frame.file.temporary()) == at_once);
    CHECK_THROWS_AS(
        files::write_projection_views<T>(folder / name, frame.file.temporary(), frame.offset,
                                         extent, 5, std::span<T const>(values).first(12)),
        iso::invalid_argument);
  }
}

TEST_CASE("two-file formats are not written") {
  scratch_folder const folder;
  CHECK(names(refusal([&] { files::prepare_volume(folder / "v.mhd", small_volume()).commit(); }),
              {"v.mhd", ".mha"}));
}

TEST_CASE("CT numbers become attenuation by the documented table") {
  auto const of = [](double hu, files::attenuation_table const& table = {}) {
    return files::attenuation_per_mm(float(hu), table);
  };
  CHECK(of(-1000) == 0);
  CHECK(of(-3000) == 0);
  CHECK(of(0) == float(0.01707));
  CHECK(of(-500) == doctest::Approx(0.01707 / 2));
  CHECK(of(1590) == doctest::Approx(2.59 * 0.01707));
  CHECK(of(1000, {0.25, 0}) == doctest::Approx(0.5));
  files::attenuation_table const measured{0.01707, 0.1855 * 1.92 / 10};
  CHECK(of(-500, measured) == of(-500));
  CHECK(of(1590, measured) == float(0.035616));
  CHECK(of(795, measured) == doctest::Approx((0.01707 + 0.035616) / 2));
  CHECK(of(3180, measured) == doctest::Approx(2 * 0.035616 - 0.01707));
  for (int hu = -1100; hu < 4000; ++hu) {
    REQUIRE(of(hu) <= of(hu + 1));
    REQUIRE(of(hu, measured) <= of(hu + 1, measured));
  }
}

TEST_CASE("attenuation comes back as the CT number that it was") {
  // Of water at 100 and 70 keV, and anything; bone at 100 keV, and by definition.
  for (files::attenuation_table const table :
       {files::attenuation_table{}, {0.01707, 0.035616}, {0.01937, 0}, {0.25, 0.6}}) {
    CAPTURE(table.water);
    CAPTURE(table.bone);
    double worst = 0;
    for (int hu = -1000; hu <= 4000; ++hu) {  // air, lung, water, bone, metal
      float const back =
          files::hounsfield_units(files::attenuation_per_mm(float(hu), table), table);
      worst = std::max(worst, std::abs(double(back) - hu));
    }
    CHECK(worst <= 1e-3);  // what rounding attenuation to float makes of it
    CHECK(files::hounsfield_units(-table.water, table) == doctest::Approx(-2000));
  }
  for (files::attenuation_table const wrong :
       {files::attenuation_table{0, 0}, {-1, 0}, {0.02, 0.02}, {0.02, 0.01}}) {
    std::vector<float> values = {0};
    CHECK_THROWS_AS(files::to_attenuation(values, wrong), iso::invalid_argument);
  }
}
