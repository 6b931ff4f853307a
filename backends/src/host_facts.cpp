// SPDX-License-Identifier: BSD-3-Clause
#include "host_facts.hpp"

#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

#include <pthread.h>
#include <unistd.h>

namespace iso::backend::detail {

namespace {

// The text behind the first line that starts with `key`, without colon and blanks.
std::string value_of(char const* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, key.size(), key) == 0) {
      auto const from = line.find_first_not_of(" \t:", key.size());
      return from == std::string::npos ? std::string() : line.substr(from);
    }
  }
  return {};
}

double number_of(char const* file, std::string_view key) {
  std::istringstream text(value_of(file, key));
  text.imbue(std::locale::classic());
  double value = 0;
  text >> value;
  return text ? value : 0;
}

// The first core's cache of that level for data, as the kernel lists them. Not from sysconf: where
// several caches share a level, that gives some processors' sum.
std::int64_t cache_bytes(int level, std::int64_t otherwise) {
  for (int index = 0; index < 8; ++index) {
    std::string const folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    if (value_of((folder + "type").c_str(), "Instruction").empty() &&
        value_of((folder + "level").c_str(), "") == std::to_string(level)) {
      // "1024K"
      return std::int64_t(1024 * number_of((folder + "size").c_str(), ""));
    }
  }
  return otherwise;
}

}  // namespace

std::string host_processor() { return value_of("/proc/cpuinfo", "model name"); }

double host_clock_hz() { return 1e6 * number_of("/proc/cpuinfo", "cpu MHz"); }

int host_cores() { return int(::sysconf(_SC_NPROCESSORS_ONLN)); }

std::int64_t stack_bytes() {
  pthread_attr_t facts;
  std::size_t bytes = 0;
  if (::pthread_getattr_np(::pthread_self(), &facts) == 0) {
    ::pthread_attr_getstacksize(&facts, &bytes);
    ::pthread_attr_destroy(&facts);
  }
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return bytes == 0 || bytes > std::size_t(most) ? most : std::int64_t(bytes);
}

std::int64_t host_l1_bytes() { return cache_bytes(1, 32 << 10); }
std::int64_t host_l2_bytes() { return cache_bytes(2, 512 << 10); }
std::int64_t host_l3_bytes() { return cache_bytes(3, 0); }

}  // namespace iso::backend::detail
