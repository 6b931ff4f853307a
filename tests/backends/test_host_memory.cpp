// SPDX-License-Identifier: BSD-3-Clause
// What memory a process may use, from folders like those of the system.
#include <iso/backend/device_facts.hpp>
#include <iso/core/allocate.hpp>
#include <iso/core/detail/host_memory.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace fs = std::filesystem;
using iso::detail::read_host_memory;

namespace {

constexpr std::uint64_t gib = std::uint64_t(1) << 30;

/// A folder in the place of "/", removed with it: a machine of 16 GiB, 12 of them available, 2
/// free.
class fake_system {
 public:
  fake_system() {
    std::string name = (fs::temp_directory_path() / "iso-test-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    put("proc/meminfo",
        "MemTotal:       16777216 kB\nMemFree:         2097152 kB\nMemAvailable:   12582912 kB\n");
  }
  fake_system(fake_system const&) = delete;
  fake_system& operator=(fake_system const&) = delete;
  ~fake_system() { fs::remove_all(root_); }

  void put(std::string const& file, std::string const& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void check(std::uint64_t total, std::uint64_t available) const {
    auto const memory = read_host_memory(root_);
    CHECK(memory.total == total);
    CHECK(memory.available == available);
  }
  void check(std::uint64_t total, std::uint64_t available, std::string const& bound) const {
    check(total, available);
    CHECK(read_host_memory(root_).bound == bound);
  }
  /// Checks what there is for this process and others.
  void check_shared(std::uint64_t available, std::string const& bound) const {
    auto const memory = read_host_memory(root_);
    CHECK(memory.shared == available);
    CHECK(memory.shared_bound == bound);
  }

 private:
  fs::path root_;
};

std::string text(std::uint64_t number) { return std::to_string(number) + "\n"; }

}  // namespace

TEST_CASE("host memory: what caches would give back is available") {
  fake_system const system;
  system.check(16 * gib, 12 * gib);
  system.put("proc/self/cgroup", "0::/\n");
  system.check(16 * gib, 12 * gib);
}

TEST_CASE("host memory: version 2 of control groups, the group's own limit or one above") {
  fake_system const system;
  system.put("proc/self/cgroup", "0::/outer/inner\n");
  system.put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  system.check(16 * gib, 12 * gib);
  system.put("sys/fs/cgroup/outer/inner/memory.max", text(8 * gib));
  system.put("sys/fs/cgroup/outer/inner/memory.current", text(5 * gib));
  system.check(8 * gib, 3 * gib);
  // Of the 5 GiB 2 are caches of files.
  system.put("sys/fs/cgroup/outer/inner/memory.stat",
             "anon 1\ninactive_file " + text(gib) + "active_file " + text(gib));
  system.check(8 * gib, 5 * gib);
  // The group above allows more, but has less left.
  system.put("sys/fs/cgroup/outer/memory.max", text(10 * gib));
  system.put("sys/fs/cgroup/outer/memory.current", text(9 * gib));
  system.check(8 * gib, gib);
  // More in use than allowed: nothing is left.
  system.put("sys/fs/cgroup/outer/memory.current", text(11 * gib));
  system.check(8 * gib, 0);
}

TEST_CASE("host memory: a container, whose path is one outside, has its limit at the mount") {
  fake_system const system;
  system.put("proc/self/cgroup", "0::/../../user.slice/pod\n");
  system.put("sys/fs/cgroup/memory.max", text(4 * gib));
  system.put("sys/fs/cgroup/memory.current", text(gib));
  system.check(4 * gib, 3 * gib);
}

TEST_CASE("host memory: version 1 of control groups") {
  fake_system const system;
  system.put("proc/self/cgroup",
             "9:name=systemd:/a\n5:cpu,memory:/jobs/17\n3:memory_other:/a\n0::/\n");
  // No limit, as version 1 writes it.
  system.put("sys/fs/cgroup/memory/jobs/17/memory.limit_in_bytes", "9223372036854771712\n");
  system.check(16 * gib, 12 * gib);
  system.put("sys/fs/cgroup/memory/jobs/17/memory.limit_in_bytes", text(6 * gib));
  system.put("sys/fs/cgroup/memory/jobs/17/memory.usage_in_bytes", text(4 * gib));
  system.put("sys/fs/cgroup/memory/jobs/17/memory.stat",
             "inactive_file 7\ntotal_inactive_file " + text(gib) + "total_active_file 0\n");
  system.check(6 * gib, 3 * gib);
}

TEST_CASE("host memory: a group that allows more than the machine has changes nothing") {
  fake_system const system;
  system.put("proc/self/cgroup", "0::/\n");
  system.put("sys/fs/cgroup/memory.max", text(64 * gib));
  system.put("sys/fs/cgroup/memory.current", text(63 * gib));
  system.check(16 * gib, 12 * gib);
}

TEST_CASE("host memory: limits of the process, and which one it is") {
  fake_system const system;
  auto const limits = [&](std::string const& space, std::string const& data) {
    system.put("proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units     \n"
               "Max file size             1                    1                    bytes     \n"
               "Max data size             " +
                   data +
                   "   unlimited   bytes     \n"
                   "Max address space         " +
                   space + "   unlimited   bytes     \n");
  };
  system.put("proc/self/status",
             "Name:\tiso\nVmPeak:\t 9 kB\nVmSize:\t 2097152 kB\nVmData:\t 1048576 kB\n");
  limits("unlimited", "unlimited");
  system.check(16 * gib, 12 * gib, "");
  limits(std::to_string(8 * gib), "unlimited");
  system.check(8 * gib, 6 * gib, " under ulimit -v");
  limits(std::to_string(8 * gib), std::to_string(4 * gib));
  system.check(4 * gib, 3 * gib, " under ulimit -d");
  limits(std::to_string(gib), std::to_string(4 * gib));
  system.check(gib, 0, " under ulimit -v");
  system.check_shared(12 * gib, "");
  // Whatever leaves least.
  limits(std::to_string(8 * gib), "unlimited");
  system.put("proc/self/cgroup", "0::/\n");
  system.put("sys/fs/cgroup/memory.max", text(4 * gib));
  system.put("sys/fs/cgroup/memory.current", text(3 * gib));
  system.check(4 * gib, gib, " in the control group");
  system.check_shared(gib, " in the control group");
}

TEST_CASE("host memory: a system that does not say") {
  fake_system const system;
  system.put("proc/meminfo", "");
  system.put("proc/self/cgroup", "nonsense\n:\n1:memory\n");
  system.check(0, 0);
}

TEST_CASE("host memory: more than is free is refused before it is touched") {
  using bytes = Kokkos::View<char*, Kokkos::HostSpace>;
  auto const free = std::int64_t(read_host_memory().available);
  REQUIRE(free > 0);
  // Less than all of it that systems promise without having it.
  std::int64_t const asked = free + free / 2;
  try {
    iso::allocate<bytes>("too much", {asked}, Kokkos::WithoutInitializing);
    FAIL("was allocated");
  } catch (iso::out_of_memory const& failure) {
    CHECK(failure.requested() == std::uint64_t(asked));
    CHECK(double(failure.available()) == doctest::Approx(double(free)).epsilon(0.05));
  }
}

TEST_CASE("host memory: every sentence about it has the same figure") {
  auto const memory = read_host_memory();
  REQUIRE(memory.available > 0);
  CHECK(memory.available <= memory.total);
  auto const facts = iso::backend::facts(Kokkos::Serial());
  CHECK(std::uint64_t(facts.memory_bytes) == memory.total);
  // Other processes take and give back meanwhile.
  double const available = double(memory.available);
  CHECK(double(iso::detail::free_host_bytes()) == doctest::Approx(available).epsilon(0.05));
  CHECK(double(facts.memory_free_bytes) == doctest::Approx(available).epsilon(0.05));
}
