// SPDX-License-Identifier: BSD-3-Clause
// Attributes of every type are kept (but references); those that claim more than their bytes are
// refused before HDF5 reads on.
#include <iso/files/stack_file.hpp>

#include <doctest/doctest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <random>

#include "damage_support.hpp"
#include "matrix_support.hpp"

namespace files = iso::files;

namespace {

/// Adds attributes whose bytes are zero, which of a value of variable length is none.
void add(hid_t object, std::string const& name, hid_t type, hid_t space) {
  hid_t const at = H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(at >= 0);
  std::array<char, 1024> const zeros{};
  REQUIRE(H5Awrite(at, type, zeros.data()) >= 0);
  H5Aclose(at);
  H5Tclose(type);
  H5Sclose(space);
}

hid_t sized(hid_t base, std::size_t bytes) {
  hid_t const type = H5Tcopy(base);
  H5Tset_size(type, bytes);
  return type;
}

hid_t members() {
  hid_t const type = H5Tcreate(H5T_COMPOUND, 40);
  hsize_t const axes[2] = {2, 3};
  hid_t const array = H5Tarray_create2(H5T_STD_I16LE, 2, axes);
  H5Tinsert(type, "number", 0, H5T_STD_I32BE);
  H5Tinsert(type, "a name of more than eight bytes", 8, H5T_IEEE_F64LE);
  H5Tinsert(type, "array", 16, array);
  H5Tinsert(type, "bits", 32, H5T_STD_B8LE);
  H5Tclose(array);
  return type;
}

hid_t names() {
  hid_t const type = H5Tenum_create(H5T_STD_I8LE);
  signed char const values[2] = {0, 1};
  H5Tenum_insert(type, "FALSE", &values[0]);
  H5Tenum_insert(type, "a name of more than eight bytes", &values[1]);
  return type;
}

hid_t bytes_named() {
  hid_t const type = H5Tcreate(H5T_OPAQUE, 13);
  H5Tset_tag(type, "thirteen bytes");
  return type;
}

void add_every_type(hid_t object, char const* type_name) {
  auto const one = [&](char const* name, hid_t type) {
    add(object, name, type, H5Screate(H5S_SCALAR));
  };
  one("float", H5Tcopy(H5T_IEEE_F32LE));
  one("text", sized(H5T_C_S1, 5));
  one("texts", sized(H5T_C_S1, H5T_VARIABLE));
  one("lists", H5Tvlen_create(H5T_STD_U16BE));
  one("bits", H5Tcopy(H5T_STD_B16LE));
  one("reference", H5Tcopy(H5T_STD_REF_OBJ));
  one("time", H5Tcopy(H5T_UNIX_D32LE));
  one("names", names());
  one("bytes", bytes_named());
  hid_t const named = H5Tcopy(H5T_IEEE_F64BE);
  REQUIRE(H5Tcommit2(object, type_name, named, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  one("named type", named);
  hsize_t const lengths[3] = {2, 0, 3};
  hsize_t const three = 3;
  hsize_t const endless = H5S_UNLIMITED;
  auto const several = [&](char const* name, hid_t space) {
    add(object, name, H5Tcopy(H5T_NATIVE_INT), space);
  };
  several("no value", H5Screate(H5S_NULL));
  several("none of 2 x 0 x 3", H5Screate_simple(3, lengths, nullptr));
  several("three, or more", H5Screate_simple(1, &three, &endless));
  add(object, "members", members(), H5Screate_simple(1, &three, nullptr));
}

constexpr hsize_t kept = 13;  // all but the reference

/// Adds them to the file, as HDF5 1.6 has them.
void add_to_file(std::filesystem::path const& path) {
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  add_every_type(file, "/old type");
  H5Fclose(file);
}

hid_t open_latest(std::filesystem::path const& path) {
  hid_t const access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  H5Pclose(access);
  return file;
}

/// Makes dataset /shape as HDF5 1.10 has it, its attributes in the header.
void make_latest_shape(std::filesystem::path const& path) {
  hid_t const file = open_latest(path);
  H5Ldelete(file, "shape", H5P_DEFAULT);
  hsize_t const two = 2;
  hid_t const space = H5Screate_simple(1, &two, nullptr);
  hid_t const creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_attr_phase_change(creation, 64, 32);
  hid_t const shape =
      H5Dcreate2(file, "shape", H5T_STD_I64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  std::int64_t const extent[2] = {3, 3};
  H5Dwrite(shape, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, extent);
  H5Pclose(creation);
  H5Sclose(space);
  H5Dclose(shape);
  H5Fclose(file);
}

void add_to_shape(std::filesystem::path const& path) {
  hid_t const file = open_latest(path);
  hid_t const shape = H5Dopen2(file, "shape", H5P_DEFAULT);
  add_every_type(shape, "/type");
  H5Dclose(shape);
  H5Fclose(file);
}

hsize_t attributes_of(std::filesystem::path const& path, char const* object) {
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5O_info_t facts;
  H5Oget_info_by_name2(file, object, &facts, H5O_INFO_NUM_ATTRS, H5P_DEFAULT);
  H5Fclose(file);
  return facts.num_attrs;
}

/// Where the message of an attribute begins; its name stands eight bytes further.
std::size_t message_of(std::string const& bytes, std::string const& name) {
  auto const at = bytes.find(name + '\0');
  REQUIRE(at != std::string::npos);
  return at - 8;
}

}  // namespace

TEST_CASE("attributes of every type are read and written again") {
  iso::test::scratch_folder const folder;
  files::prepare_matrix(folder / "m.h5", iso::test::small_half()).commit();
  make_latest_shape(folder / "m.h5");
  add_to_file(folder / "m.h5");
  add_to_shape(folder / "m.h5");
  REQUIRE(iso::test::get(folder / "m.h5").find("OCHK") != std::string::npos);
  files::prepare_matrix(folder / "to.h5", files::read_matrix(folder / "m.h5")).commit();
  CHECK(attributes_of(folder / "to.h5", "/") == 1 + kept);
  CHECK(attributes_of(folder / "to.h5", "/shape") == kept);
  CHECK(iso::test::same(files::read_matrix(folder / "to.h5"), iso::test::small_half()));
}

TEST_CASE("an attribute that claims more than its bytes is refused by name") {
  iso::test::scratch_folder const folder;
  auto const path = folder / "m.h5";
  auto matrix = iso::test::small_half();
  matrix.notes = {{"unit", "Gy"}};
  files::prepare_matrix(path, matrix).commit();
  auto const whole = iso::test::get(path);
  auto const at = message_of(whole, "unit");
  // Name, type of 20 bytes, shape of 8: each part is filled up to eight bytes.
  auto const type = at + 16;
  auto const shape = type + 24;
  struct change {
    std::size_t at;
    char to;
  };
  for (auto const& [where, to] : {change{at, 4},
                                  {at + 2, 6},
                                  {at + 3, 1},
                                  {at + 4, 19},
                                  {at + 5, 1},
                                  {at + 6, 7},
                                  {at + 6, -9},
                                  {type, 0x1b},
                                  {type, 0x59},
                                  {type + 4, 17},
                                  {type + 8, 0x1a},
                                  {shape, 3},
                                  {shape + 1, 1},
                                  {shape + 1, 33}}) {
    CAPTURE(where - at);
    auto bytes = whole;
    bytes[where] = to;
    std::filesystem::remove(path);
    iso::test::put(path, bytes);
    auto const sentence = iso::test::refusal([&] { files::read_matrix(path); });
    CHECK(iso::test::names(sentence, {"m.h5", "name, type, shape and values of attribute '",
                                      "' do not fit into the 64 bytes that it has in the file "
                                      "(damaged) fetch or write it again"}));
  }
}

TEST_CASE("an attribute of projections that claims more than its bytes is refused") {
  iso::test::scratch_folder const folder;
  files::projection_stack<float> stack;
  stack.extent = {1, 2, 3};
  stack.values.assign(6, 1.0F);
  files::prepare_stack(folder / "p.h5", stack).commit();
  auto bytes = iso::test::get(folder / "p.h5");
  bytes[message_of(bytes, "axes") + 6] = 100;
  iso::test::put(folder / "p.h5", bytes);
  auto const sentence = iso::test::refusal([&] { files::read_stack<float>(folder / "p.h5"); });
  CHECK(iso::test::names(sentence, {"p.h5", "attribute 'axes' do not fit into the "}));
}

TEST_CASE("any byte of the description of an attribute of any type may be damaged") {
  iso::test::scratch_folder const folder;
  auto const path = folder / "m.h5";
  files::prepare_matrix(path, iso::test::small_half()).commit();
  auto const begin = std::filesystem::file_size(path) / 2;
  add_to_file(path);
  std::mt19937 random(20);
  int const refused = iso::test::damage_bytes(
      path, begin, [&](std::string const& whole, std::size_t i) -> std::string {
        if (whole[i] == '\0' && random() % 4 != 0) {
          return {};  // most are room that nothing uses
        }
        return {char(whole[i] ^ char(1 + random() % 255))};
      });
  CHECK(refused > 200);
}
