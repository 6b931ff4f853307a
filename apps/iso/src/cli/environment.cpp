// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace iso::cli {
namespace {

bool is_whole_number(std::string_view text, int least, int most) {
  int number = 0;
  auto const [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() && number >= least &&
         number <= most;
}

// OpenMP takes a list, one number a level; the first is the one that counts here.
bool is_threads(std::string_view text) {
  return is_whole_number(text.substr(0, text.find(',')), 1, jobs::max_threads);
}

bool is_device(std::string_view text) {
  return is_whole_number(text, 0, std::numeric_limits<int>::max());
}

bool is_devices(std::string_view text) {
  auto const comma = text.find(',');
  return is_device(text.substr(0, comma)) &&
         (comma == std::string_view::npos || is_devices(text.substr(comma + 1)));
}

bool is_switch(std::string_view text) {
  constexpr std::array<std::string_view, 6> known = {"yes", "true", "1", "no", "false", "0"};
  return std::find(known.begin(), known.end(), files::lower_case(text)) != known.end();
}

bool is_mapping(std::string_view text) { return text == "mpi_rank" || text == "random"; }

struct variable {
  char const* name;
  bool (*is_right)(std::string_view text);
  char const* expected;
};

constexpr char const* threads = "a whole number from 1 to 512 is expected";
constexpr char const* yes_or_no = "yes, true, 1, no, false or 0 is expected";
constexpr variable variables[] = {
    {"OMP_NUM_THREADS", is_threads, threads},
    {"KOKKOS_NUM_THREADS", is_threads, threads},
    {"KOKKOS_DEVICE_ID", is_device, "a whole number from 0 is expected"},
    {"KOKKOS_VISIBLE_DEVICES", is_devices, "whole numbers from 0, commas between, are expected"},
    {"KOKKOS_MAP_DEVICE_ID_BY", is_mapping, "mpi_rank or random is expected"},
    {"KOKKOS_DISABLE_WARNINGS", is_switch, yes_or_no},
    {"KOKKOS_PRINT_CONFIGURATION", is_switch, yes_or_no},
    {"KOKKOS_TUNE_INTERNALS", is_switch, yes_or_no},
};
static_assert(jobs::max_threads == 512, "the sentence above names it");

}  // namespace

void check_environment() {
  for (auto const& [name, is_right, expected] : variables) {
    char const* const value = std::getenv(name);
    if (value != nullptr && !is_right(value)) {
      throw invalid_argument(fmt::format(
          "environment variable {} is '{}' ({}); set it so, or unset it", name, value, expected));
    }
  }
}

}  // namespace iso::cli
