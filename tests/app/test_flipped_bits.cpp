// SPDX-License-Identifier: BSD-3-Clause
// Files of which one bit is another than was written: refused, or read as they were written.
#include "matrix_support.hpp"

#include <iso/files/checkpoint_file.hpp>
#include <iso/files/stack_file.hpp>

#include <doctest/doctest.h>
#include <hdf5.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace files = iso::files;
namespace fs = std::filesystem;
using namespace iso::test;

namespace {

/// Returns where HDF5 keeps texts of variable length, the only part without a checksum: what others
/// read as text, a unit and a format's name. HDF5 1.10 crashes where it is damaged.
std::pair<std::size_t, std::size_t> heap_of(std::string const& bytes) {
  auto const first = bytes.find("GCOL");
  return first == std::string::npos ? std::pair(bytes.size(), bytes.size())
                                    : std::pair(first, first + 4096);
}

/// Reads the file with one bit changed, in each byte another; returns how often it was refused.
/// `same` reads it and returns whether it is what was written.
int flip_each_byte(fs::path const& path, std::function<bool()> const& same) {
  REQUIRE(same());
  std::string const whole = get(path);
  auto const heap = heap_of(whole);
  std::mt19937 random(3);
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i >= heap.first && i < heap.second) {
      continue;
    }
    auto bytes = whole;
    bytes[i] = char(bytes[i] ^ char(1 << random() % 8));
    fs::remove(path);
    put(path, bytes);
    try {
      bool const is_same = same();
      CHECK_MESSAGE(is_same, "byte " << i);
    } catch (iso::error const& failure) {
      ++refused;
      CHECK(names(failure.what(), {path.filename().string()}));
    }
  }
  put(path, whole);
  return refused;
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = 0.25F + 0.001F * float(i);
  }
  return values;
}

}  // namespace

TEST_CASE("a checkpoint with one bit changed is refused or resumes with the same numbers") {
  scratch_folder const folder;
  auto const path = folder / "c.h5";
  std::vector<std::pair<std::string, std::string>> const belongs{{"method", "sirt"},
                                                                 {"scan", "0123456789abcdef"}};
  files::checkpoint const state{belongs,
                                {{"volume", numbers(60)},
                                 {"iterations", std::vector<double>{2}},
                                 {"history", std::vector<double>{1, 2, 3, 4, 2, 1, 2, 3}}}};
  files::prepare_checkpoint(path, state).commit();
  int const refused = flip_each_byte(path, [&] {
    auto const read = files::read_checkpoint(path, belongs, {"volume", "iterations", "history"});
    return read.arrays == state.arrays;
  });
  CHECK(refused > 400);
}

TEST_CASE("stacks, matrices and vectors with one bit changed are refused or read as written") {
  scratch_folder const folder;
  files::projection_stack<float> stack;
  stack.extent = {3, 4, 5};
  stack.values = numbers(60);
  stack.unit = "1";
  stack.geometry = R"({"type": "circular_cone", "source_axis_mm": 500})";
  files::prepare_stack(folder / "p.h5", stack).commit();
  CHECK(flip_each_byte(folder / "p.h5", [&] {
          auto const read = files::read_stack<float>(folder / "p.h5");
          return read.extent == stack.extent && read.values == stack.values &&
                 read.geometry == stack.geometry;
        }) > 400);

  auto const matrix = small_half();
  files::prepare_matrix(folder / "m.h5", matrix).commit();
  CHECK(flip_each_byte(folder / "m.h5",
                       [&] { return same(files::read_matrix(folder / "m.h5"), matrix); }) > 400);

  std::vector<double> const vector{1, 2.5, -3, 4};
  files::prepare_vector(folder / "v.h5", vector).commit();
  CHECK(flip_each_byte(folder / "v.h5",
                       [&] { return files::read_vector(folder / "v.h5") == vector; }) > 100);
}

TEST_CASE("arrays of several pieces come back whole, of any shape") {
  scratch_folder const folder;
  for (std::array<std::int64_t, 3> const& extent :
       {std::array<std::int64_t, 3>{1, 700, 900}, {7, 300, 301}, {1000, 3, 401}, {1, 1, 600001}}) {
    files::projection_stack<float> stack;
    stack.extent = extent;
    stack.values = numbers(std::size_t(extent[0] * extent[1] * extent[2]));
    files::prepare_stack(folder / "p.h5", stack).commit();
    CHECK(files::read_stack<float>(folder / "p.h5").values == stack.values);
    auto const bytes = 4 * stack.values.size();
    CHECK(fs::file_size(folder / "p.h5") < bytes + bytes / 64 + 65536);
  }
}

TEST_CASE("a checkpoint of an earlier version is refused by name") {
  scratch_folder const folder;
  files::prepare_stack<float>(folder / "c.h5", {{1, 1, 1}, {0.5F}, "1", "{}"}).commit();
  CHECK(names(refusal([&] { files::read_checkpoint(folder / "c.h5", {{"method", "sirt"}}, {}); }),
              {"c.h5", "no checkpoint of this kind"}));
  files::prepare_checkpoint(folder / "c.h5",
                            {{{"method", "sirt"}}, {{"history", std::vector<double>{}}}})
      .commit();
  hid_t const file = H5Fopen((folder / "c.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(H5Adelete(file, "checkpoint_format") >= 0);
  H5Fclose(file);
  CHECK(names(
      refusal([&] { files::read_checkpoint(folder / "c.h5", {{"method", "sirt"}}, {"history"}); }),
      {"c.h5", "of an earlier version", "begin anew"}));
}
