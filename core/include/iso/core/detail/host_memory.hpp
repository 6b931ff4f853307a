// SPDX-License-Identifier: BSD-3-Clause
// What memory this process may use. Plain C++, without Kokkos: code that reads files asks too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <locale>
#include <optional>
#include <string>

namespace iso::detail {

/// Bytes; 0 where the system does not say.
struct host_memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;  ///< without swapping; what caches of files would give back counts
};

/// The number that follows the word `key` in a file, or that it begins with.
inline std::optional<std::uint64_t> number_in(std::filesystem::path const& file,
                                              std::string const& key = {}) {
  std::ifstream in(file);
  in.imbue(std::locale::classic());
  for (std::string word; !key.empty() && in >> word && word != key;) {
  }
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

/// How a version of control groups names what it says about memory.
struct cgroup_names {
  char const* mount;
  char const* limit;
  char const* used;
  char const* inactive_cache;
  char const* active_cache;
};
inline constexpr cgroup_names cgroup_v1 = {"sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                           "memory.usage_in_bytes", "total_inactive_file",
                                           "total_active_file"};
inline constexpr cgroup_names cgroup_v2 = {"sys/fs/cgroup", "memory.max", "memory.current",
                                           "inactive_file", "active_file"};

/// Lowers `memory` to what `group` and those above it allow. In a container the path may be one of
/// the machine outside, and only the mount itself be there.
inline void apply_cgroup(host_memory& memory, std::filesystem::path const& root,
                         cgroup_names const& names, std::filesystem::path group) {
  std::uint64_t const machine = memory.total;
  for (bool more = true; more; group = group.parent_path()) {
    more = group.has_relative_path();
    auto const folder = root / names.mount / group.relative_path();
    auto const limit = number_in(folder / names.limit);  // "max" is no number
    if (limit && *limit < machine) {
      auto const statistics = folder / "memory.stat";
      std::uint64_t const used = number_in(folder / names.used).value_or(0);
      std::uint64_t const cached = number_in(statistics, names.inactive_cache).value_or(0) +
                                   number_in(statistics, names.active_cache).value_or(0);
      std::uint64_t const kept = std::min(*limit, used - std::min(used, cached));
      memory.total = std::min(memory.total, *limit);
      memory.available = std::min(memory.available, *limit - kept);
    }
  }
}

/// Of the machine, or of the control group (version 1 or 2) where that allows less. `root` has the
/// folders proc and sys.
inline host_memory read_host_memory(std::filesystem::path const& root = "/") {
  auto const machine = root / "proc/meminfo";
  std::uint64_t const kib = 1024;
  host_memory memory;
  memory.total = kib * number_in(machine, "MemTotal:").value_or(0);
  memory.available = kib * number_in(machine, "MemAvailable:").value_or(0);
  // A line is "number:controllers:path"; version 2 has no controllers there.
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    auto controllers = line.substr(first, second - first + 1);
    std::replace(controllers.begin(), controllers.end(), ':', ',');
    if (controllers == ",,") {
      apply_cgroup(memory, root, cgroup_v2, line.substr(second + 1));
    } else if (controllers.find(",memory,") != std::string::npos) {
      apply_cgroup(memory, root, cgroup_v1, line.substr(second + 1));
    }
  }
  return memory;
}

}  // namespace iso::detail
