// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_support.hpp"

#include <doctest/doctest.h>
#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace files = iso::files;
using files::host_matrix;
using namespace iso::test;

namespace {

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
    files::prepare_matrix(folder / "m.h5", m).commit();
    CHECK(same(files::read_matrix(folder / "m.h5"), m));
    CHECK(files_in(folder.path()) == 1);
  }
  auto noted = small_half();
  noted.notes = {{"rows", "voxels"}, {"unit", "Gy"}};
  files::prepare_matrix(folder / "m.hdf5", noted).commit();
  CHECK(files::read_matrix(folder / "m.hdf5").notes == noted.notes);
}

TEST_CASE("what is written keeps the attributes of the file that the matrix came from") {
  scratch_folder const folder;
  auto noted = small_half();
  noted.notes = {{"rows", "voxels"}};
  files::prepare_matrix(folder / "from.h5", noted).commit();
  hid_t const file = H5Fopen((folder / "from.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  auto const add = [](hid_t object, char const* name, hid_t type, int axes, hsize_t length,
                      void const* values) {
    hid_t const space = axes == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, nullptr);
    hid_t const attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, values);
    H5Aclose(attribute);
    H5Sclose(space);
  };
  double const scale = 0x1.8p20;
  std::int64_t const extent[3] = {167, 168, 108};
  char const* const beams[2] = {"left", "right"};
  hid_t const text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  add(file, "value_scale", H5T_NATIVE_DOUBLE, 0, 0, &scale);
  add(file, "grid_extent", H5T_NATIVE_INT64, 1, 3, extent);
  add(file, "beams", text, 1, 2, beams);
  add(file, "none", H5T_NATIVE_INT64, 1, 0, extent);
  hid_t const data = H5Dopen2(file, "data", H5P_DEFAULT);
  add(data, "unit", text, 0, 0, beams);
  H5Dclose(data);
  H5Fclose(file);

  // Twice: from the first, and from what was written.
  auto matrix = files::read_matrix(folder / "from.h5");
  matrix.values = std::vector<float>{1, 2, -0.5F};
  matrix.notes["rows"] = "changed";
  files::prepare_matrix(folder / "between.h5", matrix).commit();
  files::prepare_matrix(folder / "to.h5", files::read_matrix(folder / "between.h5")).commit();
  hid_t const made = H5Fopen((folder / "to.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  auto const get = [](hid_t object, char const* name, hid_t type, void* values) {
    hid_t const attribute = H5Aopen(object, name, H5P_DEFAULT);
    REQUIRE(attribute >= 0);
    hid_t const space = H5Aget_space(attribute);
    auto const count = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    H5Aread(attribute, type, values);
    H5Aclose(attribute);
    return count;
  };
  double found_scale = 0;
  std::int64_t found_extent[3] = {};
  char* found_beams[2] = {};
  CHECK(get(made, "value_scale", H5T_NATIVE_DOUBLE, &found_scale) == 1);
  CHECK(found_scale == scale);
  CHECK(get(made, "grid_extent", H5T_NATIVE_INT64, found_extent) == 3);
  CHECK(found_extent[1] == 168);
  CHECK(get(made, "beams", text, found_beams) == 2);
  CHECK(std::string(found_beams[1]) == "right");
  CHECK(get(made, "none", H5T_NATIVE_INT64, found_extent) == 0);
  hid_t const made_data = H5Dopen2(made, "data", H5P_DEFAULT);
  CHECK(get(made_data, "unit", text, found_beams) == 1);
  CHECK(std::string(found_beams[0]) == "left");
  H5Dclose(made_data);
  H5Fclose(made);
  H5Tclose(text);
  CHECK(files::read_matrix(folder / "to.h5").notes ==
        std::map<std::string, std::string>{{"rows", "changed"}});
}

TEST_CASE("matrices without rows, columns or entries") {
  scratch_folder const folder;
  for (auto const& [rows, columns] : {std::pair{0, 0}, {0, 5}, {4, 0}, {2, 3}}) {
    host_matrix m;
    m.rows = rows;
    m.columns = columns;
    m.offsets.assign(std::size_t(rows) + 1, 0);
    for (auto const* name : {"m.h5", "m.mtx"}) {
      files::prepare_matrix(folder / name, m).commit();
      auto const read = files::read_matrix(folder / name);
      CHECK(read.rows == rows);
      CHECK(read.columns == columns);
      CHECK(read.entries() == 0);
    }
  }
}

TEST_CASE("HDF5: damage is refused by name") {
  scratch_folder const folder;
  auto const path = folder / "m.h5";
  auto const refused = [&](char const* name, std::vector<std::int64_t> const& values,
                           std::vector<std::string> const& parts) {
    files::prepare_matrix(path, small_half()).commit();
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
  CHECK(refused("indices", {0, std::int64_t(1) << 40, 1}, {"column 1099511627776"}));
  CHECK(refused("indices", {0, 2}, {"3 values for 2"}));
  CHECK(refused("shape", {3}, {"/shape"}));
  CHECK(refused("shape", {-3, 3}, {"/shape", "-3"}));
  CHECK(refused("shape", {3, std::int64_t(1) << 31}, {"/shape"}));
  CHECK(refused("shape", {3, 2}, {"column 2"}));

  files::prepare_matrix(path, small_half()).commit();
  replace(path, "indices", {0, 2, 1}, 2);
  CHECK(names(refusal([&] { files::read_matrix(path); }), {"/indices", "2 axes"}));

  for (auto const* name : {"data", "indices", "indptr", "shape"}) {
    files::prepare_matrix(path, small_half()).commit();
    hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, name, H5P_DEFAULT);
    H5Fclose(file);
    CHECK(names(refusal([&] { files::read_matrix(path); }), {name, "missing"}));
  }
  files::prepare_matrix(path, small_half()).commit();
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Adelete(file, "format");
  H5Fclose(file);
  CHECK(names(refusal([&] { files::read_matrix(path); }), {"'format'", "csr"}));
}

TEST_CASE("files that are cut short, of another kind, or not there are refused") {
  scratch_folder const folder;
  files::prepare_matrix(folder / "m.h5", small_matrix(std::vector<double>{1, 2, 3})).commit();
  auto const bytes = get(folder / "m.h5");
  for (std::size_t const length : {bytes.size() - 1, bytes.size() / 2, std::size_t(8)}) {
    put(folder / "cut.h5", bytes.substr(0, length));
    CHECK(names(refusal([&] { files::read_matrix(folder / "cut.h5"); }), {"cut.h5", "truncated"}));
  }
  for (auto const& text : {std::string(), bytes.substr(0, 7), std::string("a text, no matrix")}) {
    put(folder / "other.h5", text);
    auto const sentence = refusal([&] { files::read_matrix(folder / "other.h5"); });
    CHECK(names(sentence, {"other.h5", "not an HDF5 file"}));
    CHECK_FALSE(names(sentence, {"truncated"}));
  }
  CHECK(names(refusal([&] { files::read_matrix(folder / ""); }), {"ending"}));
  std::filesystem::create_directory(folder / "folder.h5");
  CHECK(names(refusal([&] { files::read_matrix(folder / "folder.h5"); }),
              {"folder.h5", "not a regular file"}));
  CHECK(
      names(refusal([&] { files::read_matrix(folder / "no.h5"); }), {"no.h5", "cannot be opened"}));
  CHECK(names(refusal([&] { files::read_matrix(folder / "no.mtx"); }), {"no.mtx", "opened"}));
  CHECK(names(refusal([&] { files::read_matrix(folder / "m.csv"); }), {"'.csv'", ".mtx"}));
}

TEST_CASE("what is no matrix is not written, and the old file stays") {
  scratch_folder const folder;
  files::prepare_matrix(folder / "m.h5", small_half()).commit();
  auto const before = get(folder / "m.h5");
  auto bad = small_half();
  bad.values = host_matrix::half_bits{0x3c00, 0x7c00, 0x3c00};
  CHECK(names(refusal([&] { files::prepare_matrix(folder / "m.h5", bad).commit(); }),
              {"inf", "finite"}));
  bad = small_half();
  bad.indices[2] = 3;
  CHECK(
      names(refusal([&] { files::prepare_matrix(folder / "m.h5", bad).commit(); }), {"column 3"}));
  CHECK(get(folder / "m.h5") == before);
  CHECK(files_in(folder.path()) == 1);
  CHECK(
      names(refusal([&] { files::prepare_matrix(folder / "no" / "m.h5", small_half()).commit(); }),
            {"cannot be written"}));
}

TEST_CASE("a vector comes back bit for bit; another file, or what is not finite, is refused") {
  scratch_folder const folder;
  std::vector<double> const values = {1, -0.0, 0x1.23456789abcdep-300, 1e300};
  files::prepare_vector(folder / "v.h5", values).commit();
  auto const back = files::read_vector(folder / "v.h5");
  REQUIRE(back.size() == values.size());
  CHECK(std::memcmp(back.data(), values.data(), 8 * values.size()) == 0);
  files::prepare_vector(folder / "none.h5", {}).commit();
  CHECK(files::read_vector(folder / "none.h5").empty());
  files::prepare_vector(folder / "nan.h5", {1, 2, std::nan("")}).commit();
  CHECK(names(refusal([&] { files::read_vector(folder / "nan.h5"); }),
              {"nan.h5", "number 2", "/values", "finite"}));
  files::prepare_matrix(folder / "m.h5", small_half()).commit();
  CHECK(names(refusal([&] { files::read_vector(folder / "m.h5"); }), {"m.h5", "/values"}));
  CHECK(names(refusal([&] { files::read_vector(folder / "gone.h5"); }), {"no such file"}));
  CHECK(names(refusal([&] { files::read_vector(folder / "v.txt"); }), {"'.txt'", ".h5"}));
  auto const whole = get(folder / "v.h5");
  put(folder / "cut.h5", whole.substr(0, whole.size() - 16));
  CHECK(names(refusal([&] { files::read_vector(folder / "cut.h5"); }), {"cut.h5"}));
}

// Given by CMake where a Python with h5py is found: Python and this library read each other's
// files, SciPy's matrices among them where it has SciPy too.
TEST_CASE("h5py and SciPy write and read the same arrays") {
  char const* const python = std::getenv("ISO_TEST_PYTHON");
  if (python == nullptr) {
    MESSAGE("skipped: no Python with h5py (scripts/setup.sh makes one)");
    return;
  }
  scratch_folder const folder;
  files::prepare_matrix(folder / "ours.h5", small_half()).commit();
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
try:
    import scipy.sparse
except ImportError:
    sys.exit(0)
with h5py.File(sys.argv[1]) as f:
    arrays = f["data"][:].astype(float), f["indices"][:], f["indptr"][:]
    m = scipy.sparse.csr_matrix(arrays, shape=tuple(f["shape"][:]))
assert m.has_canonical_format
assert (m @ np.array([1.0, 10.0, 100.0])).tolist() == [201.0, 0.0, -5.0]
theirs = scipy.sparse.coo_matrix(([1.0, 2.0, -3.0], ([0, 0, 2], [0, 2, 1])), shape=(3, 3)).tocsr()
with h5py.File(sys.argv[2] + "scipy.h5", "w") as f:
    f.attrs["format"] = theirs.format
    for name in ("data", "indices", "indptr", "shape"):
        f[name] = getattr(theirs, name)
)");
  auto const command = std::string(python) + " " + script.string() + " " +
                       (folder / "ours.h5").string() + " " + (folder / "").string();
  REQUIRE(std::system(command.c_str()) == 0);
  auto const half = small_matrix(host_matrix::half_bits{0x3c00, 0x4000, 0xc200});
  CHECK(same(files::read_matrix(folder / "half.h5"), half));
  CHECK(same(files::read_matrix(folder / "big.h5"), half));
  auto const wide = small_matrix(std::vector<double>{1, 2, -3});
  CHECK(same(files::read_matrix(folder / "int.h5"), wide));
  if (std::filesystem::exists(folder / "scipy.h5")) {
    CHECK(same(files::read_matrix(folder / "scipy.h5"), wide));
  } else {
    MESSAGE("SciPy left out: this Python has none");
  }
}
