// SPDX-License-Identifier: BSD-3-Clause
// --scratch: large arrays come and go wherever the heap puts what the tool notes of them, also at
// the beginning of a page. A deadlock ends this by ctest's limit.
#include "scratch.hpp"

#include <doctest/doctest.h>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <random>
#include <vector>

TEST_CASE("scratch: large arrays are freed while notes of them lie anywhere on a page") {
  std::filesystem::create_directory("arrays");
  CLI::App app;
  iso::cli::add_scratch(app);
  app.parse("--scratch arrays");
  std::mt19937 random(1);
  std::vector<std::unique_ptr<std::byte[]>> small;
  for (int i = 0; i < 2000; ++i) {
    auto large = std::make_unique_for_overwrite<std::byte[]>(std::size_t(1) << 20);
    large[(std::size_t(1) << 20) - 1] = std::byte(i);
    CHECK(large[(std::size_t(1) << 20) - 1] == std::byte(i));
    large.reset();
    // The first takes the place of the note of it, the second moves the next one on.
    small.push_back(std::make_unique_for_overwrite<std::byte[]>(48));
    small.push_back(std::make_unique_for_overwrite<std::byte[]>(16 + 16 * (random() % 16)));
  }
}
