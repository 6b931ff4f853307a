// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_support.hpp"
#include "not_run.hpp"

#include <iso/files/stack_file.hpp>

#include <doctest/doctest.h>
#include <hdf5.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

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

TEST_CASE("notes are kept; attributes of others are not") {
  scratch_folder const folder;
  auto noted = small_half();
  noted.notes = {{"rows", "voxels"}, {"unit", "Gy"}, {"source", ""}};
  files::prepare_matrix(folder / "from.h5", noted).commit();
  hid_t const file = H5Fopen((folder / "from.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t const space = H5Screate(H5S_SCALAR);
  auto const add = [&](char const* name, hid_t type, void const* value) {
    hid_t const attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Awrite(attribute, type, value) >= 0);
    H5Aclose(attribute);
  };
  // A text of fixed length is a note as well; a number of that name is none.
  hid_t const text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, 6);
  H5Adelete(file, "rows");
  H5Adelete(file, "unit");
  double const scale = 0x1.8p20;
  add("rows", text, "voxels");
  add("unit", H5T_NATIVE_DOUBLE, &scale);
  add("value_scale", H5T_NATIVE_DOUBLE, &scale);
  H5Tclose(text);
  H5Sclose(space);
  H5Fclose(file);
  auto const read = files::read_matrix(folder / "from.h5");
  CHECK(read.notes == std::map<std::string, std::string>{{"rows", "voxels"}, {"source", ""}});
  files::prepare_matrix(folder / "to.h5", read).commit();
  hid_t const made = H5Fopen((folder / "to.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  CHECK(H5Aexists(made, "rows") > 0);
  CHECK(H5Aexists(made, "value_scale") == 0);
  H5Fclose(made);
}

TEST_CASE("equal contents are equal bytes, whenever they are written") {
  scratch_folder const folder;
  auto noted = small_half();
  noted.notes = {{"rows", "voxels"}, {"unit", "Gy"}};
  files::projection_stack<float> stack;
  stack.extent = {1, 2, 3};
  stack.values.assign(6, 1.0F);
  stack.geometry = "{}";
  auto const write = [&](char const* name) {
    files::prepare_matrix(folder / (name + std::string("m.h5")), noted).commit();
    files::prepare_vector(folder / (name + std::string("v.h5")), {1, 2}).commit();
    files::prepare_stack(folder / (name + std::string("s.h5")), stack).commit();
  };
  write("a");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5's clock has seconds
  write("b");
  for (auto const* name : {"m.h5", "v.h5", "s.h5"}) {
    CAPTURE(name);
    CHECK(iso::test::get(folder / ("a" + std::string(name))) ==
          iso::test::get(folder / ("b" + std::string(name))));
  }
}

TEST_CASE("arrays that lie in another file, or behind a link, are refused") {
  scratch_folder const folder;
  auto const path = folder / "m.h5";
  files::prepare_matrix(folder / "other.h5", small_half()).commit();
  std::int64_t const offsets[4] = {0, 2, 2, 3};
  iso::test::put(folder / "offsets.raw", std::string(reinterpret_cast<char const*>(offsets), 32));
  auto const refused = [&](auto const& replace) {
    files::prepare_matrix(path, small_half()).commit();
    hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    REQUIRE(H5Lmove(file, "indptr", file, "moved", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CHECK(replace(file) >= 0);
    H5Fclose(file);
    return refusal([&] { files::read_matrix(path); });
  };
  auto const made = [](hid_t file, auto const& set) {
    hsize_t const length = 4;
    hid_t const space = H5Screate_simple(1, &length, nullptr);
    hid_t const creation = H5Pcreate(H5P_DATASET_CREATE);
    set(creation, space);
    hid_t const dataset =
        H5Dcreate2(file, "indptr", H5T_STD_I64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Pclose(creation);
    H5Sclose(space);
    return H5Dclose(dataset);
  };
  CHECK(names(refused([&](hid_t file) {
                return H5Lcreate_external("other.h5", "/indptr", file, "indptr", H5P_DEFAULT,
                                          H5P_DEFAULT);
              }),
              {"m.h5", "/indptr is a link"}));
  CHECK(names(refused([&](hid_t file) {
                return H5Lcreate_soft("/moved", file, "indptr", H5P_DEFAULT, H5P_DEFAULT);
              }),
              {"m.h5", "/indptr is a link"}));
  CHECK(names(refused([&](hid_t file) {
                return made(file, [&](hid_t creation, hid_t) {
                  H5Pset_external(creation, (folder / "offsets.raw").c_str(), 0, 32);
                });
              }),
              {"m.h5", "dataset /indptr lie in other files"}));
  CHECK(names(refused([&](hid_t file) {
                return made(file, [&](hid_t creation, hid_t space) {
                  H5Pset_virtual(creation, space, (folder / "other.h5").c_str(), "/indptr", space);
                });
              }),
              {"m.h5", "dataset /indptr lie in other files"}));
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
  // Column 1 in the 32 bits that are kept.
  CHECK(refused("indices", {0, 1 - (std::int64_t(1) << 32), 1}, {"column -4294967295"}));
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
    iso::test::not_run("files of h5py and SciPy (.deps/venv is not there); run scripts/setup.sh");
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
    iso::test::not_run("files of SciPy (this Python has none); run scripts/setup.sh");
  }
}
