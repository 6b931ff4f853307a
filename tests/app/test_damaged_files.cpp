// SPDX-License-Identifier: BSD-3-Clause
// Files with a few bytes changed, lost or added are read or refused, and nothing else.
#include <iso/files/image_stack.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/files/xtekct_file.hpp>

#include <doctest/doctest.h>
#include <hdf5.h>

#include <algorithm>
#include <random>

#include "matrix_support.hpp"

namespace files = iso::files;

namespace {

std::string damaged(std::string bytes, std::mt19937& random) {
  for (auto changes = 1 + random() % 4; changes > 0 && !bytes.empty(); --changes) {
    // Mostly in the header, where the harm is done.
    std::size_t const reach =
        random() % 4 != 0 ? std::min<std::size_t>(bytes.size(), 600) : bytes.size();
    std::size_t const at = random() % reach;
    switch (random() % 4) {
      case 0:
        bytes[at] = char(random());
        break;
      case 1:
        bytes[at] = char(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, 1 + random() % 8);
        break;
      default:
        bytes.insert(at, std::string(1 + random() % 8, "0123456789- \n="[random() % 14]));
    }
  }
  return bytes;
}

template <class Read>
void read_damaged(std::filesystem::path const& path, Read const& read) {
  std::string const whole = iso::test::get(path);
  std::mt19937 random(20);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    iso::test::put(path, damaged(whole, random));
    try {
      read(path);
    } catch (iso::error const& failure) {
      ++refused;
      CHECK(iso::test::names(failure.what(), {path.filename().string()}));
    }
  }
  CHECK(refused > 50);
}

/// HDF5 1.10 crashes on texts of variable length whose heap is damaged.
void fix_length_of_format(std::filesystem::path const& path) {
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Adelete(file, "format");
  hid_t const text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 3);
  hid_t const space = H5Screate(H5S_SCALAR);
  hid_t const format = H5Acreate2(file, "format", text, space, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Awrite(format, text, "csr") >= 0);
  H5Aclose(format);
  H5Sclose(space);
  H5Tclose(text);
  H5Fclose(file);
}

}  // namespace

TEST_CASE("damaged volumes are read or refused") {
  iso::test::scratch_folder const folder;
  files::host_volume const volume{{4, 5, 6}, {1, 2, 3}, {0, 0, 0}, std::vector<float>(120, 1.5F)};
  for (auto const* name : {"v.mha", "v.nrrd", "v.nii", "v.nii.gz"}) {
    CAPTURE(name);
    files::prepare_volume(folder / name, volume).commit();
    read_damaged(folder / name, [](auto const& path) { files::read_volume(path); });
  }
}

TEST_CASE("damaged stacks are read or refused") {
  iso::test::scratch_folder const folder;
  files::projection_stack<float> stack;
  stack.extent = {4, 5, 6};
  stack.values.assign(120, 1.0F);
  files::prepare_stack(folder / "p.h5", stack).commit();
  read_damaged(folder / "p.h5", [](auto const& path) { files::read_stack<float>(path); });
}

TEST_CASE("damaged images and scan settings are read or refused") {
  iso::test::scratch_folder const folder;
  std::vector<float> const view(120, 7);
  for (auto const type : {files::pixel_type::uint16, files::pixel_type::float32}) {
    files::prepare_tiff(folder / "p.tif", view, 12, 10, type).commit();
    read_damaged(folder / "p.tif", [](auto const& path) { files::read_images(path, {}); });
    // The directory stands at the end.
    files::prepare_tiff(folder / "p.tif", view, 12, 10, type).commit();
    std::string const whole = iso::test::get(folder / "p.tif");
    for (std::size_t i = 0; i < whole.size(); ++i) {
      auto bytes = whole;
      bytes[i] = char(~bytes[i]);
      iso::test::put(folder / "p.tif", bytes);
      try {
        files::read_images(folder / "p.tif", {1, {12, 10}});
      } catch (iso::error const& failure) {
        CHECK(iso::test::names(failure.what(), {"p.tif"}));
      }
    }
  }
  iso::test::put(folder / "s.xtekct",
                 "[XTekCT]\nSrcToObject=50\nSrcToDetector=80\nDetectorPixelsX=48\n"
                 "DetectorPixelsY=40\nDetectorPixelSizeX=3\nDetectorPixelSizeY=3\n"
                 "Projections=40\nInitialAngle=0\nAngularStep=9\nUnits=mm\n");
  read_damaged(folder / "s.xtekct", [](auto const& path) { files::read_xtekct(path); });
}

TEST_CASE("a matrix with any byte changed is read or refused") {
  iso::test::scratch_folder const folder;
  auto const path = folder / "m.h5";
  files::prepare_matrix(path, iso::test::small_half()).commit();
  fix_length_of_format(path);
  std::string const whole = iso::test::get(path);
  std::mt19937 random(20);
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    // Long stretches of zeros are room that nothing uses.
    auto const first = whole.begin() + std::ptrdiff_t(i - std::min<std::size_t>(i, 8));
    auto const last = whole.begin() + std::ptrdiff_t(std::min(i + 8, whole.size()));
    if (std::count(first, last, '\0') == last - first) {
      continue;
    }
    for (char const value : {char(whole[i] ^ char(1 + random() % 255)), '\0'}) {
      auto bytes = whole;
      bytes[i] = value;
      std::filesystem::remove(path);  // some file systems flush what is written over an old file
      iso::test::put(path, bytes);
      try {
        files::read_matrix(path);
      } catch (iso::error const& failure) {
        ++refused;
        CHECK(iso::test::names(failure.what(), {"m.h5"}));
      }
    }
  }
  CHECK(refused > 300);
}
