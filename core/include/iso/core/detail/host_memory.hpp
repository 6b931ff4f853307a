// SPDX-License-Identifier: BSD-3-Clause
// What memory this process may use. Plain C++, without Kokkos: code that reads files asks too.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <locale>
#include <optional>
#include <sstream>
#include <string>

namespace iso::detail {

/// Bytes; 0 where the system does not say.
struct host_memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;  ///< without swapping; what caches of files would give back counts
  char const* bound = "";       ///< what leaves no more, for a sentence; empty: the machine itself
  std::uint64_t shared = 0;  ///< available to this process and others: no limit of its own counts
  char const* shared_bound = "";
};

/// Lowers `memory` to `left` of `limit`.
inline void apply_limit(host_memory& memory, std::uint64_t limit, std::uint64_t left,
                        char const* bound) {
  memory.total = std::min(memory.total, limit);
  if (left < memory.available) {
    memory.available = left;
    memory.bound = bound;
  }
}

/// Returns the number that follows the word `key` in a file, or that it begins with.
inline std::optional<std::uint64_t> number_in(std::filesystem::path const& file,
                                              std::string const& key = {}) {
  std::ifstream in(file);
  in.imbue(std::locale::classic());
  for (std::string word; !key.empty() && in >> word && word != key;) {
  }
  std::uint64_t number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

/// The names that a version of control groups has for its figures of memory.
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
      apply_limit(memory, *limit, *limit - kept, " in the control group");
    }
  }
}

/// Returns this process' soft limit from the line of proc/self/limits that begins with `name`;
/// none: unlimited.
inline std::optional<std::uint64_t> process_limit(std::filesystem::path const& root,
                                                  std::string const& name) {
  std::ifstream in(root / "proc/self/limits");
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) == 0) {
      std::istringstream numbers(line.substr(name.size()));
      numbers.imbue(std::locale::classic());
      std::uint64_t limit = 0;
      return numbers >> limit ? std::optional(limit) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Lowers `memory` to what the process may still map: ulimit -v (all of it) and -d (its data).
inline void apply_process_limits(host_memory& memory, std::filesystem::path const& root) {
  struct {
    char const* name;
    char const* used;
    char const* bound;
  } const limits[] = {{"Max address space", "VmSize:", " under ulimit -v"},
                      {"Max data size", "VmData:", " under ulimit -d"}};
  for (auto const& [name, used, bound] : limits) {
    if (auto const limit = process_limit(root, name)) {
      std::uint64_t const mapped = 1024 * number_in(root / "proc/self/status", used).value_or(0);
      apply_limit(memory, *limit, *limit - std::min(*limit, mapped), bound);
    }
  }
}

/// Returns the memory of the machine, or of the control group (version 1 or 2) or the limits of
/// this process where they allow less. `root` has the folders proc and sys.
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
  memory.shared = memory.available;
  memory.shared_bound = memory.bound;
  apply_process_limits(memory, root);
  return memory;
}

/// The function that says what memory there is for large arrays, where a program puts these
/// elsewhere, as the tool does by --scratch; null: they lie in the machine's.
inline std::atomic<host_memory (*)()> memory_of_arrays = nullptr;

/// Returns the memory that large arrays may take.
inline host_memory read_array_memory() {
  auto* const elsewhere = memory_of_arrays.load();
  return elsewhere != nullptr ? elsewhere() : read_host_memory();
}

/// Returns the bytes of host memory that are free now; 0 where the system does not say.
std::uint64_t free_host_bytes();

}  // namespace iso::detail
