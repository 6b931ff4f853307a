// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"

#include <iso/files/matrix_file.hpp>

#include <doctest/doctest.h>
#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace files = iso::files;
using files::host_matrix;
using iso::test::get;
using iso::test::names;
using iso::test::put;
using iso::test::refusal;
using iso::test::scratch_folder;

namespace {

// 1 0 2 / 0 0 0 / 0 -0.5 0
template <class T>
host_matrix small_matrix(std::vector<T> values) {
  host_matrix m;
  m.rows = 3;
  m.columns = 3;
  m.offsets = {0, 2, 2, 3};
  m.indices = {0, 2, 1};
  m.values = std::move(values);
  return m;
}

host_matrix small_half() { return small_matrix(host_matrix::half_bits{0x3c00, 0x4000, 0xb800}); }

bool same(host_matrix const& a, host_matrix const& b) {
  return a.rows == b.rows && a.columns == b.columns && a.offsets == b.offsets &&
         a.indices == b.indices && a.values == b.values;
}

std::string read_refusal(scratch_folder const& folder, std::string const& text) {
  put(folder / "m.mtx", text);
  return refusal([&] { files::read_matrix(folder / "m.mtx"); });
}

std::size_t files_in(std::filesystem::path const& folder) {
  return std::size_t(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// Replaces dataset `name` by whole numbers.
void replace(std::filesystem::path const& path, char const* name,
             std::vector<std::int64_t> const& values, int axes = 1) {
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, name, H5P_DEFAULT);
  hsize_t const extent[2] = {values.size(), 1};
  hid_t const space = H5Screate_simple(axes, extent, nullptr);
  hid_t const set =
      H5Dcreate2(file, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
}

}  // namespace

TEST_CASE("half precision: every bit pattern") {
  for (unsigned bits = 0; bits < 0x10000U; ++bits) {
    int const exponent = int(bits >> 10 & 31U);
    double const fraction = double(bits & 0x3ffU);
    float const found = files::from_half(std::uint16_t(bits));
    if (exponent == 31) {
      CHECK((fraction == 0 ? std::isinf(found) : std::isnan(found)));
    } else {
      double const size =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      CHECK(double(found) == ((bits & 0x8000U) != 0 ? -size : size));
      CHECK(std::signbit(found) == ((bits & 0x8000U) != 0));
    }
  }
}

TEST_CASE("a matrix comes back bit for bit from HDF5") {
  scratch_folder const folder;
  for (auto const& m : {small_half(), small_matrix(std::vector<float>{1, 0.1F, -2e-40F}),
                        small_matrix(std::vector<double>{1, 0.1, 1e-310})}) {
    files::write_matrix(folder / "m.h5", m);
    CHECK(same(files::read_matrix(folder / "m.h5"), m));
    CHECK(files_in(folder.path()) == 1);
  }
  auto noted = small_half();
  noted.notes = {{"rows", "voxels"}, {"unit", "Gy"}};
  files::write_matrix(folder / "m.hdf5", noted);
  CHECK(files::read_matrix(folder / "m.hdf5").notes == noted.notes);
}

TEST_CASE("matrices without rows, columns or entries") {
  scratch_folder const folder;
  for (auto const& [rows, columns] : {std::pair{0, 0}, {0, 5}, {4, 0}, {2, 3}}) {
    host_matrix m;
    m.rows = rows;
    m.columns = columns;
    m.offsets.assign(std::size_t(rows) + 1, 0);
    for (auto const* name : {"m.h5", "m.mtx"}) {
      files::write_matrix(folder / name, m);
      auto const read = files::read_matrix(folder / name);
      CHECK(read.rows == rows);
      CHECK(read.columns == columns);
      CHECK(read.entries() == 0);
    }
  }
}

TEST_CASE("Matrix Market: what is written reads back to the same numbers") {
  scratch_folder const folder;
  files::write_matrix(folder / "m.mtx", small_matrix(std::vector<double>{0.1, 1e-310, -3e300}));
  CHECK(same(files::read_matrix(folder / "m.mtx"),
             small_matrix(std::vector<double>{0.1, 1e-310, -3e300})));
  files::write_matrix(folder / "m.mtx", small_half());
  CHECK(get(folder / "m.mtx") ==
        "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n1 3 2\n3 2 -0.5\n");
}

TEST_CASE("Matrix Market: kinds, comments, blanks and order") {
  scratch_folder const folder;
  put(folder / "m.mtx",
      "%%MatrixMarket MATRIX Coordinate Integer Symmetric\r\n% by hand\n\n 3\t3 3 \r\n"
      "3 1 +7\n\n% within\n2 2 -4\n1 1 5");
  auto const m = files::read_matrix(folder / "m.mtx");
  CHECK(m.offsets == std::vector<std::int64_t>{0, 2, 3, 4});
  CHECK(m.indices == std::vector<std::int32_t>{0, 2, 1, 0});
  CHECK(std::get<std::vector<double>>(m.values) == std::vector<double>{5, 7, -4, 7});
  put(folder / "m.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 2\n1 1\n");
  auto const p = files::read_matrix(folder / "m.mtx");
  CHECK(p.indices == std::vector<std::int32_t>{0, 1});
  CHECK(std::get<std::vector<double>>(p.values) == std::vector<double>{1, 1});
}

TEST_CASE("Matrix Market: damage is refused with the line") {
  scratch_folder const folder;
  std::string const real = "%%MatrixMarket matrix coordinate real general\n";
  auto const refused = [&](std::string const& text, std::vector<std::string> const& parts) {
    return names(read_refusal(folder, text), parts);
  };
  CHECK(refused("", {"m.mtx", "empty"}));
  CHECK(refused("3 3 1\n1 1 1\n", {"line 1", "MatrixMarket"}));
  CHECK(refused("%%MatrixMarket matrix array real general\n", {"line 1", "array"}));
  CHECK(refused("%%MatrixMarket matrix coordinate complex general\n", {"line 1", "complex"}));
  CHECK(refused("%%MatrixMarket matrix coordinate real hermitian\n", {"line 1", "hermitian"}));
  CHECK(refused("%%MatrixMarket matrix coordinate real general extra\n", {"line 1"}));
  CHECK(refused(real + "% only\n", {"truncated"}));
  CHECK(refused(real + "3 3\n", {"line 2", "rows columns entries"}));
  CHECK(refused(real + "3 -3 1\n1 1 1\n", {"line 2", "3 x -3"}));
  CHECK(refused(real + "3 3 1.5\n1 1 1\n", {"line 2"}));
  CHECK(refused(real + "4294967296 3 1\n1 1 1\n", {"line 2", "4294967296"}));
  CHECK(refused(real + "3 3 9000000000000000000\n1 1 1\n", {"line 2", "cannot hold"}));
  CHECK(refused(real + "3 3 3\n1 1 1\n2 2 2\n", {"truncated", "2 of 3"}));
  CHECK(refused(real + "3 3 1\n1 1 1\n2 2 2\n", {"line 4", "more than"}));
  CHECK(refused(real + "3 3 1\n0 1 1.5\n", {"line 3", "row 0", "counted from 1"}));
  CHECK(refused(real + "3 3 1\n4 1 1.5\n", {"line 3", "row 4"}));
  CHECK(refused(real + "3 3 1\n1 4 1.5\n", {"line 3", "column 4"}));
  CHECK(refused(real + "3 3 1\n1 -1 1.5\n", {"line 3", "column -1"}));
  CHECK(refused(real + "3 3 1\nx 1 1.5\n", {"line 3", "'x'"}));
  CHECK(refused(real + "3 3 1\n1 1\n        \n", {"line 3", "finite number"}));
  CHECK(refused(real + "3 3 1\n1 1 nan\n", {"line 3", "'nan'"}));
  CHECK(refused(real + "3 3 1\n1 1 inf\n", {"line 3", "'inf'"}));
  CHECK(refused(real + "3 3 1\n1 1 1e999\n", {"line 3", "1e999"}));
  CHECK(refused(real + "3 3 1\n1 1 1.5 2\n", {"line 3", "'2'"}));
  CHECK(refused(real + "3 3 2\n1 1 1\n1 1 2\n", {"(1, 1)", "twice"}));
  CHECK(refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
                {"line 3", "whole number"}));
  CHECK(refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1.5\n",
                {"line 3", "above the diagonal"}));
  CHECK(refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1.5\n",
                {"line 2", "square"}));
}

TEST_CASE("HDF5: damage is refused by name") {
  scratch_folder const folder;
  auto const path = folder / "m.h5";
  auto const refused = [&](char const* name, std::vector<std::int64_t> const& values,
                           std::vector<std::string> const& parts) {
    files::write_matrix(path, small_half());
    replace(path, name, values);
    auto const sentence = refusal([&] { files::read_matrix(path); });
    INFO(sentence);
    CHECK(names(sentence, parts));
    return names(sentence, parts);
  };
  CHECK(refused("indptr", {1, 2, 2, 3}, {"m.h5", "first row offset is 1"}));
  CHECK(refused("indptr", {0, 2, 1, 3}, {"row 1", "fall"}));
  CHECK(refused("indptr", {0, -2, 1, 3}, {"row 0", "fall"}));
  CHECK(refused("indptr", {0, 2, 2, 4}, {"ends at entry 4"}));
  CHECK(refused("indptr", {0, 2, 2, 2}, {"ends at entry 2"}));
  CHECK(refused("indptr", {0, 2, 3}, {"3 row offsets"}));
  CHECK(refused("indptr", {}, {"0 row offsets"}));
  CHECK(refused("indices", {0, 3, 1}, {"column 3"}));
  CHECK(refused("indices", {0, -1, 1}, {"column -1"}));
  CHECK(refused("indices", {0, std::int64_t(1) << 40, 1}, {"column 2147483647"}));
  CHECK(refused("indices", {0, 2}, {"3 values for 2"}));
  CHECK(refused("shape", {3}, {"/shape"}));
  CHECK(refused("shape", {-3, 3}, {"/shape", "-3"}));
  CHECK(refused("shape", {3, std::int64_t(1) << 31}, {"/shape"}));
  CHECK(refused("shape", {3, 2}, {"column 2"}));

  files::write_matrix(path, small_half());
  replace(path, "indices", {0, 2, 1}, 2);
  CHECK(names(refusal([&] { files::read_matrix(path); }), {"/indices", "2 axes"}));

  for (auto const* name : {"data", "indices", "indptr", "shape"}) {
    files::write_matrix(path, small_half());
    hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Fclose(file);
    CHECK(names(refusal([&] { files::read_matrix(path); }), {name, "missing"}));
  }
  files::write_matrix(path, small_half());
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Adelete(file, "format");
  H5Fclose(file);
  CHECK(names(refusal([&] { files::read_matrix(path); }), {"'format'", "csr"}));
}

TEST_CASE("files that are cut short, of another kind, or not there are refused") {
  scratch_folder const folder;
  files::write_matrix(folder / "m.h5", small_matrix(std::vector<double>{1, 2, 3}));
  auto const bytes = get(folder / "m.h5");
  for (std::size_t const length : {bytes.size() - 1, bytes.size() / 2, std::size_t(7)}) {
    put(folder / "cut.h5", bytes.substr(0, length));
    CHECK(names(refusal([&] { files::read_matrix(folder / "cut.h5"); }), {"cut.h5", "truncated"}));
  }
  CHECK(
      names(refusal([&] { files::read_matrix(folder / "no.h5"); }), {"no.h5", "cannot be opened"}));
  CHECK(names(refusal([&] { files::read_matrix(folder / "no.mtx"); }), {"no.mtx", "opened"}));
  CHECK(names(refusal([&] { files::read_matrix(folder / "m.csv"); }), {"'.csv'", ".mtx"}));
}

TEST_CASE("what is no matrix is not written, and the old file stays") {
  scratch_folder const folder;
  files::write_matrix(folder / "m.h5", small_half());
  auto const before = get(folder / "m.h5");
  auto bad = small_half();
  bad.values = host_matrix::half_bits{0x3c00, 0x7c00, 0x3c00};
  CHECK(names(refusal([&] { files::write_matrix(folder / "m.h5", bad); }), {"inf", "finite"}));
  bad = small_half();
  bad.indices[2] = 3;
  CHECK(names(refusal([&] { files::write_matrix(folder / "m.h5", bad); }), {"column 3"}));
  CHECK(get(folder / "m.h5") == before);
  CHECK(files_in(folder.path()) == 1);
  CHECK(names(refusal([&] { files::write_matrix(folder / "no" / "m.h5", small_half()); }),
              {"cannot be written"}));
}

TEST_CASE("a vector comes back bit for bit; another file, or what is not finite, is refused") {
  scratch_folder const folder;
  std::vector<double> const values = {1, -0.0, 0x1.23456789abcdep-300, 1e300};
  files::write_vector(folder / "v.h5", values);
  auto const back = files::read_vector(folder / "v.h5");
  REQUIRE(back.size() == values.size());
  CHECK(std::memcmp(back.data(), values.data(), 8 * values.size()) == 0);
  files::write_vector(folder / "none.h5", {});
  CHECK(files::read_vector(folder / "none.h5").empty());
  files::write_vector(folder / "nan.h5", {1, 2, std::nan("")});
  CHECK(names(refusal([&] { files::read_vector(folder / "nan.h5"); }),
              {"nan.h5", "number 2", "/values", "finite"}));
  files::write_matrix(folder / "m.h5", small_half());
  CHECK(names(refusal([&] { files::read_vector(folder / "m.h5"); }), {"m.h5", "/values"}));
  CHECK(names(refusal([&] { files::read_vector(folder / "gone.h5"); }), {"no such file"}));
  CHECK(names(refusal([&] { files::read_vector(folder / "v.txt"); }), {"'.txt'", ".h5"}));
  auto const whole = get(folder / "v.h5");
  put(folder / "cut.h5", whole.substr(0, whole.size() - 16));
  CHECK(names(refusal([&] { files::read_vector(folder / "cut.h5"); }), {"cut.h5"}));
}

// Given by CMake where a Python with h5py is found: Python and this library read each other's
// files.
TEST_CASE("h5py writes and reads the same arrays") {
  char const* const python = std::getenv("ISO_TEST_PYTHON");
  if (python == nullptr) {
    MESSAGE("skipped: no Python with h5py (scripts/setup.sh makes one)");
    return;
  }
  scratch_folder const folder;
  files::write_matrix(folder / "ours.h5", small_half());
  auto const script = folder / "check.py";
  put(script, R"(import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    assert f.attrs["format"] == "csr"
    assert f["data"].dtype == np.float16, f["data"].dtype
    assert f["data"][:].tolist() == [1.0, 2.0, -0.5]
    assert f["indices"][:].tolist() == [0, 2, 1] and f["indptr"][:].tolist() == [0, 2, 2, 3]
    assert tuple(f["shape"][:]) == (3, 3)
for name, kind, index in (("half", "<f2", "<i4"), ("big", ">f2", ">i8"), ("int", "<i2", "<u4")):
    with h5py.File(sys.argv[2] + name + ".h5", "w") as f:
        f.attrs["format"] = "csr"
        f.create_dataset("data", data=np.array([1, 2, -3], kind), chunks=True, compression="gzip")
        f["indices"] = np.array([0, 2, 1], index)
        f["indptr"] = np.array([0, 2, 2, 3], "<i4")
        f["shape"] = np.array([3, 3], "<i8")
)");
  auto const command = std::string(python) + " " + script.string() + " " +
                       (folder / "ours.h5").string() + " " + (folder / "").string();
  REQUIRE(std::system(command.c_str()) == 0);
  auto const half = small_matrix(host_matrix::half_bits{0x3c00, 0x4000, 0xc200});
  CHECK(same(files::read_matrix(folder / "half.h5"), half));
  CHECK(same(files::read_matrix(folder / "big.h5"), half));
  CHECK(same(files::read_matrix(folder / "int.h5"), small_matrix(std::vector<double>{1, 2, -3})));
}
