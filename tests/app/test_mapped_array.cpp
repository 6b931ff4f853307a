// SPDX-License-Identifier: BSD-3-Clause
// Arrays in files: their place, their end, and places that take none.
#include "file_support.hpp"

#include <iso/files/mapped_array.hpp>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <numeric>
#include <utility>

namespace files = iso::files;
using namespace iso::test;

TEST_CASE("a mapped array is zeros, takes numbers, and leaves nothing") {
  scratch_folder const folder;
  {
    files::mapped_array<float> array(folder.path(), 100000);
    CHECK(array.size() == 100000);
    CHECK(std::ranges::all_of(array.values(), [](float x) { return x == 0; }));
    std::iota(array.data(), array.data() + array.size(), 1.0F);
    auto const moved = std::move(array);
    CHECK(moved.data()[99999] == 100000);
    CHECK(moved.values().size() == 100000);
    CHECK(files_in(folder.path()) == 0);  // it has no name
  }
  files::mapped_array<double> const none(folder.path(), 0);
  CHECK(none.size() == 0);
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a mapped array that is kept is a file of its numbers") {
  scratch_folder const folder;
  std::vector<std::int32_t> const numbers = {7, -1, 1 << 30};
  {
    files::mapped_array<std::int32_t> array(folder / "n.raw", 3, files::mapped_file::kept);
    std::ranges::copy(numbers, array.data());
  }
  CHECK(get(folder / "n.raw") == bytes_of(numbers));
  CHECK(names(refusal([&] {
                files::mapped_array<float> const again(folder / "n.raw", 3,
                                                       files::mapped_file::kept);
              }),
              {"n.raw", "File exists", "another place"}));
  CHECK(get(folder / "n.raw") == bytes_of(numbers));
}

TEST_CASE("places that hold no mapped array are refused, and nothing is left") {
  scratch_folder const folder;
  put(folder / "file", "old");
  using array = files::mapped_array<double>;
  CHECK(names(refusal([&] { array const a(folder / "none", 1); }), {"none", "No such file"}));
  CHECK(names(refusal([&] { array const a(folder / "file", 1); }), {"file", "Not a directory"}));
  for (auto const count : {std::int64_t(1) << 55, std::int64_t(1) << 62, std::int64_t(-1)}) {
    CAPTURE(count);
    CHECK(names(refusal([&] { array const a(folder.path(), count); }), {"bytes", "make room"}));
    CHECK(names(refusal([&] { array const a(folder / "kept", count, files::mapped_file::kept); }),
                {"kept", "make room"}));
  }
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit const small{1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  auto const said = refusal([&] { array const a(folder.path(), 126); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(names(said, {"takes no array of 1008 bytes", "File too large", "make room"}));
  CHECK(files_in(folder.path()) == 1);
}
