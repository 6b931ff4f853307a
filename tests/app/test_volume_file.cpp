// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"

#include <iso/files/hounsfield.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>
#include <zlib.h>

#include <limits>

namespace files = iso::files;
using iso::test::bytes_of;
using iso::test::names;
using iso::test::put;
using iso::test::refusal;
using iso::test::scratch_folder;

namespace {

// Value 100 x + 10 y + z: every digit tells where it came from.
float digits(std::int64_t x, std::int64_t y, std::int64_t z) { return float(100 * x + 10 * y + z); }

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

files::host_volume small_volume() {
  files::host_volume volume{{2, 3, 4}, {0.5, 1.25, 3}, {-7, 8, 9.5}, {}};
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 3; ++y) {
      for (int z = 0; z < 4; ++z) {
        volume.values.push_back(digits(x, y, z));
      }
    }
  }
  return volume;
}

// The same voxels as a file holds them, x fastest.
template <class T>
std::vector<T> file_values() {
  std::vector<T> values;
  for (int z = 0; z < 4; ++z) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 2; ++x) {
        values.push_back(T(digits(x, y, z)));
      }
    }
  }
  return values;
}

std::string metaimage(std::string const& fields, std::string const& type = "MET_SHORT",
                      std::string const& size = "2 3 4") {
  return "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n" +
         fields + "DimSize = " + size + "\nElementType = " + type + "\nElementDataFile = LOCAL\n";
}

std::string nrrd(std::string const& fields, std::string const& sizes = "2 3 4") {
  return "NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: " + sizes +
         "\nendian: little\nencoding: raw\n" + fields + "\n";
}

// A NIfTI-1 header for 2 x 3 x 4 shorts.
std::string nifti(std::array<std::int16_t, 8> dim = {3, 2, 3, 4, 1, 1, 1, 1}, float spacing = 2) {
  std::string header(352, '\0');
  auto const set = [&](std::size_t at, auto value) {
    std::memcpy(header.data() + at, &value, sizeof value);
  };
  set(0, std::int32_t(348));
  for (std::size_t i = 0; i < 8; ++i) {
    set(40 + 2 * i, dim[i]);
    set(76 + 4 * i, i == 0 ? 1.0F : spacing);
  }
  set(70, std::int16_t(4));
  set(72, std::int16_t(16));
  set(108, 352.0F);
  set(112, 1.0F);
  set(254, std::int16_t(1));  // sform: x to the left and y to the back are negative there
  float const rows[12] = {-spacing, 0, 0, 10, 0, -spacing, 0, 20, 0, 0, spacing, 30};
  for (std::size_t i = 0; i < 12; ++i) {
    set(280 + 4 * i, rows[i]);
  }
  std::memcpy(header.data() + 344, "n+1", 4);
  return header;
}

void put_gz(std::filesystem::path const& path, std::string const& bytes) {
  gzFile const file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), unsigned(bytes.size()));
  gzclose(file);
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
    files::write_volume(folder / name, volume);
    auto const read = files::read_volume(folder / name);
    CHECK(read.extent == volume.extent);
    CHECK(read.spacing == volume.spacing);
    CHECK(read.origin == volume.origin);
    CHECK(read.values == volume.values);
  }
}

TEST_CASE("a hand-written MetaImage, attached and detached, plain and compressed") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  put(folder / "a.mha", metaimage("ElementSpacing = 0.5 1.25 3\nOffset = -7 8 9.5\n") + voxels);
  auto const detached = metaimage("ElementSpacing = 0.5 1.25 3\nOffset = -7 8 9.5\n");
  put(folder / "d.mhd", detached.substr(0, detached.find("LOCAL")) + "d.raw\n");
  put(folder / "d.raw", voxels);
  std::string packed(1000, '\0');
  uLongf length = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &length,
           reinterpret_cast<Bytef const*>(voxels.data()), voxels.size());
  packed.resize(length);
  put(folder / "z.mha",
      metaimage("ElementSpacing = 0.5 1.25 3\nOffset = -7 8 9.5\nCompressedData = "
                "True\nCompressedDataSize = " +
                std::to_string(length) + "\n") +
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

TEST_CASE("a flipped axis is turned back exactly, and the origin moves to the other end") {
  scratch_folder const folder;
  put(folder / "f.mha",
      metaimage("ElementSpacing = 0.5 1.25 3\nOffset = 10 20 30\nTransformMatrix = -1 0 "
                "0 0 -1 0 0 0 1\n") +
          bytes_of(file_values<short>()));
  auto const read = files::read_volume(folder / "f.mha");
  CHECK(read.extent == std::array<std::int64_t, 3>{2, 3, 4});
  CHECK(read.origin == std::array<double, 3>{9.5, 17.5, 30});
  check_voxels(read, [](int x, int y, int z) { return digits(1 - x, 2 - y, z); });
}

TEST_CASE("permuted axes are put along the world's") {
  scratch_folder const folder;
  // File axis 0 runs along z, 1 along x, 2 along -y (MetaImage lists the directions axis by axis).
  put(folder / "p.mha",
      metaimage("ElementSpacing = 0.5 1.25 3\nOffset = 10 20 30\nTransformMatrix = 0 0 1 "
                "1 0 0 0 -1 0\n") +
          bytes_of(file_values<short>()));
  auto const read = files::read_volume(folder / "p.mha");
  CHECK(read.extent == std::array<std::int64_t, 3>{3, 4, 2});
  CHECK(read.spacing == std::array<double, 3>{1.25, 3, 0.5});
  CHECK(read.origin == std::array<double, 3>{10, 11, 30});
  check_voxels(read, [](int x, int y, int z) { return digits(z, x, 3 - y); });
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

TEST_CASE("a tilted direction matrix is refused") {
  scratch_folder const folder;
  put(folder / "t.mha",
      metaimage("TransformMatrix = 0.8 0.6 0 -0.6 0.8 0 0 0 1\n") + bytes_of(file_values<short>()));
  auto const text = refusal([&] { files::read_volume(folder / "t.mha"); });
  CHECK(names(text, {"t.mha", "direction matrix", "resample"}));
}

TEST_CASE("files that lie about their size are refused before memory is asked for") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  CHECK(names(read("short.mha", metaimage("") + voxels.substr(1)),
              {"short.mha", "truncated", "2 x 3 x 4"}));
  CHECK(names(read("long.mha", metaimage("") + voxels + "x"), {"long.mha", "longer"}));
  CHECK(names(read("huge.mha", metaimage("", "MET_DOUBLE", "1048576 1048576 1048576") + voxels),
              {"huge.mha", "1048576 x 1048576 x 1048576", "truncated"}));
  CHECK(names(read("short.nrrd", nrrd("") + voxels.substr(2)), {"short.nrrd", "truncated"}));
  CHECK(names(read("huge.nrrd", nrrd("", "65536 65536 256") + voxels), {"huge.nrrd", "65536"}));
  CHECK(names(read("short.nii", nifti() + voxels.substr(1)), {"short.nii", "truncated"}));
  CHECK(names(read("huge.nii", nifti({3, 32767, 32767, 32767, 1, 1, 1, 1}) + voxels),
              {"huge.nii", "32767"}));
  put_gz(folder / "short.nii.gz", nifti() + voxels.substr(1));
  CHECK(names(refusal([&] { files::read_volume(folder / "short.nii.gz"); }),
              {"short.nii.gz", "truncated"}));
  put_gz(folder / "huge.nii.gz", nifti({3, 32767, 32767, 32767, 1, 1, 1, 1}) + voxels);
  CHECK(names(refusal([&] { files::read_volume(folder / "huge.nii.gz"); }),
              {"huge.nii.gz", "cannot hold"}));
}

TEST_CASE("the 93-byte header that claims 2^40 voxels") {
  scratch_folder const folder;
  std::string const header =
      "NDims = 3\nDimSize = 16384 16384 4096\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n";
  put(folder / "h.mha", header.substr(0, 93));
  CHECK(names(refusal([&] { files::read_volume(folder / "h.mha"); }), {"h.mha", "truncated"}));
}

TEST_CASE("a damaged or truncated compressed file is refused") {
  scratch_folder const folder;
  put_gz(folder / "w.nii.gz", nifti() + bytes_of(file_values<short>()));
  auto bytes = iso::test::get(folder / "w.nii.gz");
  put(folder / "cut.nii.gz", bytes.substr(0, bytes.size() - 9));
  CHECK(names(refusal([&] { files::read_volume(folder / "cut.nii.gz"); }),
              {"cut.nii.gz", "truncated"}));
  bytes[bytes.size() - 6] = char(bytes[bytes.size() - 6] ^ 1);  // a bit of the check sum
  put(folder / "bad.nii.gz", bytes);
  CHECK(names(refusal([&] { files::read_volume(folder / "bad.nii.gz"); }),
              {"bad.nii.gz", "check sum"}));
}

TEST_CASE("headers that make no sense are refused by field") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  CHECK(names(read("a.mha", metaimage("ElementSpacing = 1 nan 1\n") + voxels),
              {"a.mha", "ElementSpacing", "nan"}));
  CHECK(names(read("b.mha", metaimage("ElementSpacing = 1 0 1\n") + voxels),
              {"ElementSpacing", "greater"}));
  CHECK(names(read("c.mha", metaimage("ElementSpacing = 1 1\n") + voxels),
              {"ElementSpacing", "2 numbers"}));
  CHECK(names(read("d.mha", metaimage("", "MET_SHORT", "2 -3 4") + voxels), {"DimSize", "2 -3 4"}));
  CHECK(names(read("e.mha", metaimage("", "MET_SHORT_ARRAY") + voxels),
              {"ElementType", "MET_SHORT_ARRAY"}));
  CHECK(names(read("f.mha", metaimage("ElementNumberOfChannels = 3\n") + voxels),
              {"ElementNumberOfChannels"}));
  CHECK(names(read("g.mha", "what is this\n"), {"g.mha", "ElementDataFile"}));
  CHECK(names(read("h.mha", metaimage("Offset = 0 0 inf\n") + voxels), {"Offset", "inf"}));
  CHECK(names(read("i.mha", "NDims = 4\n" + metaimage("") + voxels), {"NDims", "twice"}));
  CHECK(names(read("a.nrrd", nrrd("spacings: 1 1 -2\n") + voxels), {"spacings", "-2"}));
  CHECK(names(read("b.nrrd", nrrd("byte skip: 4\n") + voxels), {"byte skip"}));
  CHECK(names(read("c.nrrd", "NOPE\n"), {"c.nrrd", "NRRD000"}));
  CHECK(names(read("a.nii", nifti({3, 2, 0, 4, 1, 1, 1, 1}) + voxels), {"dim[2]"}));
  CHECK(names(read("b.nii", nifti({4, 2, 3, 4, 9, 1, 1, 1}) + voxels), {"dim[4]", "series"}));
  CHECK(names(read("c.nii", nifti({3, 2, 3, 4, 1, 1, 1, 1}, -1) + voxels), {"pixdim[1]"}));
  CHECK(names(read("d.nii", std::string(400, 'x')), {"magic"}));
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t const at :
       {std::size_t(256), std::size_t(276), std::size_t(280), std::size_t(324)}) {
    auto header = nifti();
    std::memcpy(header.data() + at, &nan, sizeof nan);
    CHECK(names(read("f.nii", header + voxels), {"f.nii", "not finite"}));
  }
  CHECK(names(read("e.nii", "x"), {"e.nii", "truncated"}));
  CHECK(names(read("x.jpg", "x"), {".jpg", ".nii.gz"}));
  CHECK(names(refusal([&] { files::read_volume(folder / "none.mha"); }),
              {"none.mha", "cannot be opened"}));
  CHECK(names(refusal([&] { files::read_volume(folder / "none.nii.gz"); }),
              {"none.nii.gz", "cannot be opened"}));
}

TEST_CASE("a voxel that is not finite is refused by place, or kept where that is asked for") {
  scratch_folder const folder;
  auto volume = small_volume();
  volume.values[std::size_t((1 * 3 + 2) * 4 + 3)] = std::numeric_limits<float>::quiet_NaN();
  files::write_volume(folder / "n.mha", volume);
  CHECK(names(refusal([&] { files::read_volume(folder / "n.mha"); }),
              {"n.mha", "(1, 2, 3)", "finite"}));
  CHECK_NOTHROW(files::read_volume(folder / "n.mha", files::finite_values::not_required));
  volume.values.back() = 0;
  volume.values.front() = std::numeric_limits<float>::infinity();
  files::write_volume(folder / "i.nrrd", volume);
  CHECK(names(refusal([&] { files::read_volume(folder / "i.nrrd"); }), {"(0, 0, 0)", "inf"}));
}

TEST_CASE("projections as an image have u along x and v along y") {
  scratch_folder const folder;
  // [view, u, v] = [2, 3, 4]: digits are view, u, v.
  auto const values = small_volume().values;
  files::write_projection_image<float>(folder / "p.mha", values, {2, 3, 4}, {0.5, 0.25});
  auto const read = files::read_volume(folder / "p.mha");
  CHECK(read.extent == std::array<std::int64_t, 3>{3, 4, 2});
  CHECK(read.spacing == std::array<double, 3>{0.5, 0.25, 1});
  CHECK(read.values[std::size_t((2 * 4 + 3) * 2 + 1)] == digits(1, 2, 3));
  CHECK(read.values[std::size_t((0 * 4 + 1) * 2 + 1)] == digits(1, 0, 1));
}

TEST_CASE("two-file formats are not written") {
  scratch_folder const folder;
  CHECK(names(refusal([&] { files::write_volume(folder / "v.mhd", small_volume()); }),
              {"v.mhd", ".mha"}));
}

TEST_CASE("CT numbers become attenuation by the documented table") {
  CHECK(files::attenuation_per_mm(-1000) == 0);
  CHECK(files::attenuation_per_mm(-3000) == 0);
  CHECK(files::attenuation_per_mm(0) == float(0.01707));
  CHECK(files::attenuation_per_mm(-500) == doctest::Approx(0.01707 / 2));
  CHECK(files::attenuation_per_mm(1590) == float(0.1855 * 1.92 / 10));
  CHECK(files::attenuation_per_mm(795) == doctest::Approx((0.01707 + 0.035616) / 2));
  for (int hu = -1100; hu < 4000; ++hu) {
    REQUIRE(files::attenuation_per_mm(float(hu)) <= files::attenuation_per_mm(float(hu + 1)));
  }
}
