// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/stack_file.hpp>

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <limits>

namespace files = iso::files;
using iso::test::get;
using iso::test::names;
using iso::test::put;
using iso::test::refusal;
using iso::test::scratch_folder;

namespace {

template <class T>
files::projection_stack<T> small_stack() {
  files::projection_stack<T> stack;
  stack.extent = {2, 3, 4};
  for (int i = 0; i < 24; ++i) {
    stack.values.push_back(T(i) / T(3));
  }
  stack.geometry = R"({"type":"circular_parallel"})";
  return stack;
}

std::size_t files_in(std::filesystem::path const& folder) {
  return std::size_t(std::distance(std::filesystem::directory_iterator(folder), {}));
}

// The big-endian number at `at` of a PNG.
unsigned number_at(std::string const& png, std::size_t at) {
  unsigned value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(png[at + i]);
  }
  return value;
}

}  // namespace

TEST_CASE_TEMPLATE("a stack comes back bit for bit", T, float, double) {
  scratch_folder const folder;
  auto stack = small_stack<T>();
  stack.geometry +=
      std::string(200000, ' ');  // a list of vectors is longer than an attribute may be
  files::write_stack(folder / "p.h5", stack);
  auto const read = files::read_stack<T>(folder / "p.h5");
  CHECK(read.extent == stack.extent);
  CHECK(read.values == stack.values);
  CHECK(read.unit == stack.unit);
  CHECK(read.geometry == stack.geometry);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a stack in the other precision is converted") {
  scratch_folder const folder;
  files::write_stack(folder / "p.h5", small_stack<double>());
  CHECK(files::read_stack<float>(folder / "p.h5").values[1] == float(1.0 / 3.0));
}

TEST_CASE("stacks that are cut, damaged or something else are refused") {
  scratch_folder const folder;
  files::write_stack(folder / "p.h5", small_stack<float>());
  auto const bytes = get(folder / "p.h5");
  for (std::size_t const length :
       {bytes.size() - 1, bytes.size() / 2, std::size_t(7), std::size_t(0)}) {
    CAPTURE(length);
    put(folder / "cut.h5", bytes.substr(0, length));
    CHECK(names(refusal([&] { files::read_stack<float>(folder / "cut.h5"); }),
                {"cut.h5", "truncated"}));
  }
  CHECK(names(refusal([&] { files::read_stack<float>(folder / "none.h5"); }),
              {"none.h5", "no such file"}));
  auto stack = small_stack<float>();
  stack.values[(1 * 3 + 2) * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
  files::write_stack(folder / "nan.h5", stack);
  CHECK(names(refusal([&] { files::read_stack<float>(folder / "nan.h5"); }),
              {"view 1, u 2, v 1", "finite"}));
}

TEST_CASE("a killed writer leaves the old file whole") {
  scratch_folder const folder;
  auto const target = folder / "text.json";
  files::write_text(target, "old");
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    files::atomic_file file(target);
    put(file.temporary(), "half of the ne");
    ::raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(get(target) == "old");
  CHECK(files_in(folder.path()) == 2);  // the half file stays under its own name
  files::write_text(target, "new");
  CHECK(get(target) == "new");
}

TEST_CASE("a writer that fails leaves the old file and no other") {
  scratch_folder const folder;
  auto const target = folder / "text.json";
  files::write_text(target, "old");
  {
    files::atomic_file file(target);
    put(file.temporary(), "new");
  }
  CHECK(get(target) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a folder that is not there, and one in the file's place") {
  scratch_folder const folder;
  CHECK(names(refusal([&] { files::write_text(folder / "no/such.json", ""); }),
              {"such.json", "folder"}));
  CHECK(names(refusal([&] { files::write_text(folder.path(), ""); }), {"is a folder"}));
}

TEST_CASE("pictures have the size and depth asked for") {
  scratch_folder const folder;
  files::gray_image const image{3, 2, {0, 1, 2, 3, 4, 5}};
  auto const window = files::full_window(image);
  CHECK(window.black == 0);
  CHECK(window.white == 5);
  for (auto const depth : {files::png_depth::bits8, files::png_depth::bits16}) {
    files::write_png(folder / "p.png", image, window, depth);
    auto const png = get(folder / "p.png");
    CHECK(png.substr(1, 3) == "PNG");
    CHECK(number_at(png, 16) == 3);
    CHECK(number_at(png, 20) == 2);
    CHECK(int(png[24]) == (depth == files::png_depth::bits8 ? 8 : 16));
    CHECK(int(png[25]) == 0);  // gray
  }
  CHECK(names(refusal([&] { files::write_png(folder / "p.jpg", image, window); }),
              {"p.jpg", ".png"}));
  CHECK(names(refusal([&] { files::write_png(folder / "e.png", {2, 2, {1}}, window); }),
              {"e.png", "2 x 2"}));
}

TEST_CASE("a file that does not fit, or was cut short, never replaces an old one") {
  scratch_folder const folder;
  auto const target = folder / "old.txt";
  files::write_text(target, "old");
  CHECK(names(refusal([&] { files::atomic_file const file(target, std::uintmax_t(1) << 62); }),
              {"old.txt", "free in its folder", "make room"}));
  CHECK(names(refusal([&] {
                files::atomic_file const file(target, 10);
                file.check_written(10);
              }),
              {"old.txt", "cut short", "0 of 10"}));
  CHECK(get(target) == "old");
}
