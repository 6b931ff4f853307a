// SPDX-License-Identifier: BSD-3-Clause
// Matrices in HDF5 whose numbers are of unusual types, or more than any memory holds.
#include "matrix_support.hpp"
#include "not_run.hpp"

#include <doctest/doctest.h>
#include <hdf5.h>

#include <cstdint>

namespace files = iso::files;
using namespace iso::test;

namespace {

/// Replaces dataset `name` by `count` of `type`: `values`, or a hole where they are absent.
bool replace(std::filesystem::path const& path, char const* name, hid_t type, hsize_t count,
             void const* values) {
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, name, H5P_DEFAULT);
  hid_t const space = H5Screate_simple(1, &count, nullptr);
  hid_t const creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  hid_t const set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (values != nullptr) {
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  }
  H5Dclose(set);
  H5Pclose(creation);
  H5Sclose(space);
  return H5Fclose(file) >= 0;
}

/// An IEEE 754 type of so many bits.
hid_t float_type(std::size_t exponent, std::size_t fraction) {
  hid_t const type = H5Tcopy(H5T_IEEE_F64LE);
  std::size_t const bits = 1 + exponent + fraction;
  if (bits > 64) {  // room first
    H5Tset_size(type, bits / 8);
    H5Tset_precision(type, bits);
  }
  H5Tset_fields(type, bits - 1, fraction, exponent, 0, fraction);
  H5Tset_size(type, bits / 8);
  H5Tset_ebias(type, (std::size_t(1) << (exponent - 1)) - 1);
  return type;
}

}  // namespace

TEST_CASE("HDF5: numbers of more bits than are read are refused, not made the nearest") {
  scratch_folder const folder;
  auto const path = folder / "m.h5";
  hid_t const wide = H5Tcopy(H5T_STD_I64LE);
  H5Tset_size(wide, 16);
  H5Tset_precision(wide, 128);
  // 1, 1 and 2^64: as 64 bits, 1, 1 and 2^63 - 1.
  std::uint64_t const numbers[6] = {1, 0, 1, 0, 0, 1};
  for (auto const* name : {"data", "indices", "indptr", "shape"}) {
    files::prepare_matrix(path, small_half()).commit();
    REQUIRE(replace(path, name, wide, 3, numbers));
    CHECK(names(refusal([&] { files::read_matrix(path); }),
                {"m.h5", name, "whole numbers of 128 bits"}));
  }
  H5Tclose(wide);
  // Half as many bits of exponent again as a double; more of fraction than a long double on x86.
  for (auto const& [exponent, fraction] : {std::pair{17, 46}, {17, 110}}) {
    CAPTURE(fraction);
    hid_t const type = float_type(std::size_t(exponent), std::size_t(fraction));
    REQUIRE(type >= 0);
    std::vector<char> const zeros(48);
    files::prepare_matrix(path, small_half()).commit();
    REQUIRE(replace(path, "data", type, 3, zeros.data()));
    CHECK(names(refusal([&] { files::read_matrix(path); }),
                {"m.h5", "/data", "17 bits of exponent", "store them as double"}));
    files::prepare_vector(path, {1, 2, 3}).commit();
    REQUIRE(replace(path, "values", type, 3, zeros.data()));
    CHECK(names(refusal([&] { files::read_vector(path); }), {"m.h5", "/values"}));
    H5Tclose(type);
  }
}

TEST_CASE("HDF5: 32 and 64 bits of another shape than float and double are read exactly") {
  scratch_folder const folder;
  auto const path = folder / "m.h5";
  // Sign, 10 bits of exponent, 21 of fraction: 2^400, which no float is, and 1.
  std::uint32_t const shorts[3] = {(511U + 400U) << 21, 511U << 21, 511U << 21};
  files::prepare_matrix(path, small_half()).commit();
  hid_t const short_type = float_type(10, 21);
  REQUIRE(replace(path, "data", short_type, 3, shorts));
  H5Tclose(short_type);
  CHECK(same(files::read_matrix(path), small_matrix(std::vector<double>{0x1p400, 1, 1})));
  // 8 bits of exponent, 55 of fraction: 1 + 2^-52, and 1 + 2^-55, which no double is.
  for (auto const& [last, exact] : {std::pair{3, true}, {0, false}}) {
    std::uint64_t const one = std::uint64_t(127) << 55;
    std::uint64_t const longs[3] = {one + (std::uint64_t(1) << last), one, one};
    files::prepare_matrix(path, small_half()).commit();
    hid_t const long_type = float_type(8, 55);
    REQUIRE(replace(path, "data", long_type, 3, longs));
    H5Tclose(long_type);
    if (exact) {
      CHECK(same(files::read_matrix(path), small_matrix(std::vector<double>{1 + 0x1p-52, 1, 1})));
    } else {
      CHECK(names(refusal([&] { files::read_matrix(path); }), {"number 0 of", "no double"}));
    }
  }
}

TEST_CASE("HDF5: a dataset that no memory holds is refused before it is read, with both figures") {
  scratch_folder const folder;
  hsize_t const bytes = hsize_t(1) << 41;
  auto const path = folder / "m.h5";
  auto const refused = [&](char const* name, hid_t type, auto const& read) {
    CAPTURE(name);
    if (!replace(path, name, type, bytes / H5Tget_size(type), nullptr)) {
      iso::test::not_run(
          "a file of " + std::to_string(bytes) +
          " bytes (this file system makes no holes in files); set TMPDIR to another one");
      return;
    }
    CHECK(names(shortage(bytes, read), {"m.h5", name, "2199023255552 bytes", "are free"}));
  };
  for (auto const* name : {"data", "indptr"}) {
    files::prepare_matrix(path, small_matrix(std::vector<double>{1, 2, 3})).commit();
    refused(name, H5T_STD_I64LE, [&] { files::read_matrix(path); });
  }
  files::prepare_matrix(path, small_half()).commit();
  refused("indices", H5T_STD_I32LE, [&] { files::read_matrix(path); });
  files::prepare_vector(path, {1, 2, 3}).commit();
  refused("values", H5T_IEEE_F64LE, [&] { files::read_vector(path); });
}
