// SPDX-License-Identifier: BSD-3-Clause
// Files with a few bytes changed, lost or added are read or refused, and nothing else.
#include <iso/files/matrix_file.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>
#include <hdf5.h>

#include <algorithm>
#include <random>

#include "damage_support.hpp"
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

/// Attributes of variable length, as Python's writers have them: texts, and lists of numbers.
void add_attributes(std::filesystem::path const& path) {
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t const data = H5Dopen2(file, "data", H5P_DEFAULT);
  hid_t const text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  hid_t const list = H5Tvlen_create(H5T_STD_I32LE);
  hsize_t const length = 2;
  hid_t const space = H5Screate_simple(1, &length, nullptr);
  auto const add = [&](char const* name, hid_t type, void const* values) {
    hid_t const attribute = H5Acreate2(data, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, values);
    H5Aclose(attribute);
  };
  char const* const beams[2] = {"left", ""};
  std::int32_t numbers[3] = {1, 2, 3};
  hvl_t const lists[2] = {{1, numbers}, {2, numbers + 1}};
  add("beams", text, beams);
  add("lists", list, lists);
  H5Sclose(space);
  H5Tclose(list);
  H5Tclose(text);
  H5Dclose(data);
  H5Fclose(file);
}

/// The shape, as other programs may write it: HDF5 1.10 divides by the sizes of chunks as it opens
/// a dataset.
void keep_in_chunks(std::filesystem::path const& path) {
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  hsize_t const length = 2;
  std::int64_t numbers[2];
  hid_t const old = H5Dopen2(file, "shape", H5P_DEFAULT);
  H5Dread(old, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers);
  H5Dclose(old);
  H5Ldelete(file, "shape", H5P_DEFAULT);
  hid_t const space = H5Screate_simple(1, &length, nullptr);
  hid_t const creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &length);
  hid_t const shape =
      H5Dcreate2(file, "shape", H5T_STD_I64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  REQUIRE(H5Dwrite(shape, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
  H5Dclose(shape);
  H5Pclose(creation);
  H5Sclose(space);
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

// HDF5 1.10 crashes on values of variable length where their heap is damaged, or never ends.
TEST_CASE("a matrix with any byte changed is read, and written again, or refused") {
  iso::test::scratch_folder const folder;
  auto matrix = iso::test::small_half();
  matrix.notes = {{"rows", "voxels"}, {"unit", "Gy"}};
  for (int i = 0; i < 12; ++i) {
    matrix.notes.emplace(std::to_string(i), "x");
  }
  auto const path = folder / "m.h5";
  files::prepare_matrix(path, matrix).commit();
  add_attributes(path);
  keep_in_chunks(path);
  files::prepare_matrix(folder / "to.h5", files::read_matrix(path)).commit();
  std::mt19937 random(20);
  int const refused =
      iso::test::damage_bytes(path, 0, [&](std::string const& whole, std::size_t i) -> std::string {
        // Long stretches of zeros are room that nothing uses.
        auto const first = whole.begin() + std::ptrdiff_t(i - std::min<std::size_t>(i, 8));
        auto const last = whole.begin() + std::ptrdiff_t(std::min(i + 8, whole.size()));
        if (std::count(first, last, '\0') == last - first) {
          return {};
        }
        return {char(whole[i] ^ char(1 + random() % 255)), '\0'};
      });
  CHECK(refused > 300);
}
