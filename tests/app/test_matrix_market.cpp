// SPDX-License-Identifier: BSD-3-Clause
#include "matrix_support.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace files = iso::files;
using files::host_matrix;
using namespace iso::test;

namespace {

std::string read_refusal(scratch_folder const& folder, std::string const& text) {
  put(folder / "m.mtx", text);
  return refusal([&] { files::read_matrix(folder / "m.mtx"); });
}

}  // namespace

TEST_CASE("Matrix Market: what is written reads back to the same numbers") {
  scratch_folder const folder;
  files::prepare_matrix(folder / "m.mtx", small_matrix(std::vector<double>{0.1, 1e-310, -3e300}))
      .commit();
  CHECK(same(files::read_matrix(folder / "m.mtx"),
             small_matrix(std::vector<double>{0.1, 1e-310, -3e300})));
  files::prepare_matrix(folder / "m.mtx", small_half()).commit();
  CHECK(get(folder / "m.mtx") ==
        "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n1 3 2\n3 2 -0.5\n");
}

TEST_CASE("Matrix Market: values are the same numbers as doubles") {
  scratch_folder const folder;
  auto const values_of = [&](host_matrix const& m) {
    files::prepare_matrix(folder / "m.mtx", m).commit();
    return std::get<std::vector<double>>(files::read_matrix(folder / "m.mtx").values);
  };
  std::vector<float> const single = {0.1F, -0x1p-149F, 0x1.fffffep127F};
  CHECK(values_of(small_matrix(single)) == std::vector<double>(single.begin(), single.end()));
  CHECK(values_of(small_matrix(host_matrix::half_bits{0x2e66, 0x0001, 0x7bff})) ==
        std::vector<double>{0x1.998p-4, 0x1p-24, 65504});
  std::vector<double> const wide = {0x1p-1074, -0x1.fffffffffffffp1023, 0x1.23456789abcdep-1030};
  CHECK(values_of(small_matrix(wide)) == wide);
  CHECK(std::signbit(values_of(small_matrix(std::vector<double>{-0.0, 1, 2}))[0]));
}

TEST_CASE("Matrix Market: what could not be read back is not written") {
  scratch_folder const folder;
  auto m = small_half();
  m.offsets = {0, 2, 2, 3};
  m.indices = {1, 1, 1};
  CHECK(names(refusal([&] { files::prepare_matrix(folder / "m.mtx", m).commit(); }),
              {"m.mtx", "(0, 1)", "twice", "HDF5"}));
  m.rows = (std::int64_t(1) << 24) + 1;
  m.indices = {0, 2, 1};
  m.offsets.assign(std::size_t(m.rows) + 1, 3);
  m.offsets[0] = 0;
  CHECK(names(refusal([&] { files::prepare_matrix(folder / "m.mtx", m).commit(); }),
              {"m.mtx", "16777217 rows"}));
  CHECK(files_in(folder.path()) == 0);
  // Columns in any order are: they come back ascending.
  m = small_half();
  m.indices = {2, 0, 1};
  files::prepare_matrix(folder / "m.mtx", m).commit();
  CHECK(files::read_matrix(folder / "m.mtx").indices == std::vector<std::int32_t>{0, 2, 1});
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
  CHECK(refused(real + "3 3 2\n1 1 1\n\n\n", {"line 2", "cannot hold"}));
  // 17 GB of row offsets for one entry.
  CHECK(refused(real + "2147483647 1 1\n1 1 1\n", {"line 2", "2147483647 rows", "HDF5"}));
  CHECK(refused("%%MatrixMarket matrix coordinate pattern general\n2147483647 1 1\n1 1\n",
                {"line 2", "2147483647 rows"}));
  CHECK(refused(real + "3 3 3\n1 1 1\n2 2 2.000000\n", {"truncated", "2 of 3"}));
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
  CHECK(refused(real + "3 3 1\n1 1 +-1\n", {"line 3", "+-1"}));
  CHECK(refused(real + "3 3 1\n1 1 1.5 2\n", {"line 3", "'2'"}));
  CHECK(refused(real + "3 3 2\n1 1 1\n1 1 2\n", {"(1, 1)", "twice"}));
  CHECK(refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
                {"line 3", "whole number"}));
  CHECK(refused("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1.5\n",
                {"line 3", "above the diagonal"}));
  CHECK(refused("%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1.5\n",
                {"line 2", "square"}));
}

TEST_CASE("Matrix Market: lines are bounded, and so is what a message quotes of them") {
  scratch_folder const folder;
  std::string const real = "%%MatrixMarket matrix coordinate real general\n";
  std::string const longest = "%" + std::string(4095, 'c');
  put(folder / "m.mtx", real + longest + "\n1 1 1\n" + longest + "\n1 1 2\n" + longest);
  CHECK(std::get<std::vector<double>>(files::read_matrix(folder / "m.mtx").values) ==
        std::vector<double>{2});
  for (auto const* after : {"", "\n1 1 1\n1 1 2\n"}) {
    CHECK(names(read_refusal(folder, real + longest + "c" + after), {"line 2", "4096 characters"}));
  }
  std::string const word(3000, 'x');
  std::string const wide = "\u00e9";
  for (auto const& text :
       {word, "%%MatrixMarket matrix " + word + " real general",
        "%%MatrixMarket matrix coordinate " + word + " general",
        "%%MatrixMarket matrix coordinate real " + word, real + word, real + "3 3 1\n" + word,
        real + "3 3 1\n1 " + word, real + "3 3 1\n1 1 " + word, real + "3 3 1\n1 1 1 " + word,
        real + "3 3 1\n1 1 " + std::string(3000, '9'),
        real + "3 3 1\n1 1 0." + std::string(3000, '0') + "1"}) {
    auto const sentence = read_refusal(folder, text);
    CHECK(names(sentence, {"line "}));
    CHECK(sentence.size() < 250 + folder.path().string().size());
  }
  // No half of a character is quoted.
  auto accents = std::string("x");
  for (int i = 0; i < 100; ++i) {
    accents += wide;
  }
  CHECK(names(read_refusal(folder, real + "3 3 1\n" + accents), {wide + "...'"}));
}
