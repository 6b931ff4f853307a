// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>
#include <iso/core/detail/fnv1a.hpp>
#include <iso/core/detail/host_memory.hpp>
#include <iso/core/error.hpp>
#include <iso/jobs/ranks.hpp>
#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>

#include <pthread.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace iso::jobs {

namespace {

/// Throws where Kokkos, which takes the GPU that the environment names, would abort.
void check_devices() {
  if (!backend::is_device<Kokkos::DefaultExecutionSpace>) {
    return;
  }
  if (backend::count_devices() == 0) {
    throw error(
        "no GPU is found (this build is for GPUs and cannot start without); check the driver and "
        "CUDA_VISIBLE_DEVICES, or use a build for processors alone");
  }
  int const devices = Kokkos::num_devices();
  char const* const asked = std::getenv("KOKKOS_DEVICE_ID");
  ISO_VALIDATE(asked == nullptr || std::atoi(asked) < devices,
               "environment variable KOKKOS_DEVICE_ID is '{}' (there are {} GPUs, counted from 0); "
               "set it so, or unset it",
               asked, devices);
}

/// 0 where Kokkos may take as many as it does by itself.
int threads_to_start(int asked) {
  bool const free = asked == 0 && std::getenv("KOKKOS_NUM_THREADS") == nullptr;
  return free && backend::count_threads() > max_threads ? max_threads : asked;
}

/// Of an OpenMP thread that starts: OMP_STACKSIZE, or what the system gives.
std::uint64_t bytes_of_stack() {
  char const* const asked = std::getenv("OMP_STACKSIZE");
  if (asked != nullptr) {
    char* unit = nullptr;
    std::uint64_t const number = std::strtoull(asked, &unit, 10);
    while (*unit == ' ') {
      ++unit;
    }
    int const shift = *unit == 'B' || *unit == 'b'   ? 0
                      : *unit == 'M' || *unit == 'm' ? 20
                      : *unit == 'G' || *unit == 'g' ? 30
                                                     : 10;
    return number << shift;
  }
  std::size_t bytes = 0;
  pthread_attr_t given;
  if (pthread_getattr_default_np(&given) == 0) {
    pthread_attr_getstacksize(&given, &bytes);
    pthread_attr_destroy(&given);
  }
  return bytes;
}

/// Throws where the stacks of so many threads are more than the process may map: OpenMP would end
/// the program.
void check_stacks(int threads) {
  auto const memory = iso::detail::read_host_memory();
  std::uint64_t const stack = bytes_of_stack();
  std::uint64_t const all = std::uint64_t(std::max(threads - 1, 0)) * stack;
  if (std::string_view(memory.bound).find("ulimit") != std::string_view::npos &&
      all > memory.available) {
    throw out_of_memory(
        message("{} threads with stacks of {} bytes do not fit the memory ({} bytes are free{}); "
                "set OMP_NUM_THREADS or OMP_STACKSIZE lower, or raise the limit",
                {threads, std::int64_t(stack), std::int64_t(memory.available),
                 std::string_view(memory.bound)}),
        all, memory.available);
  }
}

}  // namespace

void check_threads(int wanted) {
  int const granted = backend::count_granted_threads(wanted);
  ISO_VALIDATE(
      granted >= wanted,
      "OpenMP grants {} of {} threads for certain (with fewer than it asks for Kokkos stands "
      "still); unset OMP_THREAD_LIMIT and OMP_DYNAMIC, or ask for fewer by --threads",
      granted, wanted);
}

devices_seen see_devices() {
  char const* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  constexpr bool computed_on = backend::is_device<Kokkos::DefaultExecutionSpace>;
  return {computed_on ? backend::count_devices() : 0,
          visible == nullptr ? std::nullopt : std::optional<std::string>(visible), computed_on};
}

std::optional<int> choose_device(std::optional<int> local_rank, int ranks, bool shares) {
  return choose_device(local_rank, ranks, see_devices(), shares);
}

std::optional<int> choose_device(std::optional<int> local_rank, int ranks, devices_seen const& seen,
                                 bool shares) {
  ISO_VALIDATE(!seen.computed_on || seen.count > 0 || !seen.visible || !seen.visible->empty(),
               "CUDA_VISIBLE_DEVICES is empty (it hides all GPUs, and this build computes on "
               "them); unset it, or name a GPU for each of {} processes",
               ranks);
  // What a launcher that binds each process to its own GPU leaves.
  bool const bound = seen.count == 1 && seen.visible && !seen.visible->empty();
  if (ranks == 1 || bound || seen.count == 0) {
    return std::nullopt;
  }
  ISO_VALIDATE(local_rank,
               "{} processes share {} GPUs (the launcher does not tell this one its number on the "
               "node); set CUDA_VISIBLE_DEVICES for each, or leave cuda out by --backend",
               ranks, seen.count);
  ISO_VALIDATE(*local_rank < seen.count || shares,
               "process {} of this node has no GPU (there are {}, counted from 0 like the "
               "processes); start at most {} a node, give --share-gpus, or leave cuda out by "
               "--backend",
               *local_rank, seen.count, seen.count);
  return *local_rank % seen.count;
}

void check_one_rank_a_device(std::optional<int> device) {
  auto const [one, other] = find_same(
      numbers_of_ranks(see_devices().count > 0 ? number_of_device(device.value_or(0)) : 0));
  ISO_VALIDATE(one < 0,
               "ranks {} and {} compute on one GPU (each would wait for the other); start one "
               "process a GPU, or give --share-gpus",
               one, other);
}

session::session(int threads, std::optional<int> device) {
  check_devices();
  int const number = threads_to_start(threads);
  // Kokkos starts all that OpenMP would take, however few are asked for.
  char const* const named = std::getenv("KOKKOS_NUM_THREADS");
  check_stacks(
      std::max({number, named == nullptr ? 0 : std::atoi(named), backend::count_threads()}));
  // Threads that nothing binds are what this tool wants: several numbers of them share the cores.
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  if (number > 0) {
    settings.set_num_threads(number);
  }
  if (device) {
    settings.set_device_id(*device);
  }
  Kokkos::initialize(settings);
  try {
    check_threads(Kokkos::DefaultHostExecutionSpace().concurrency());
  } catch (...) {
    Kokkos::finalize();
    throw;
  }
  auto const stack = backend::min_stack();
  bool const enough = stack >= backend::enough_stack;
  if (!enough) {
    Kokkos::finalize();
  }
  ISO_VALIDATE(enough,
               "a thread has a stack of {} bytes (kernels want {}, and crash without); raise "
               "OMP_STACKSIZE or unset it, and check ulimit -s",
               stack, backend::enough_stack);
}

session::~session() { Kokkos::finalize(); }

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  backend::for_each([&](auto tag) { names.emplace_back(tag.name); });
  return names;
}

std::vector<std::string> choose_backends(std::string_view choice) {
  auto all = backend_names();
  if (choice == "all") {
    return all;
  }
  if (choice == "default") {
    return {all.back()};
  }
  std::vector<std::string> chosen;
  for (std::size_t begin = 0; begin <= choice.size();) {
    auto const end = std::min(choice.find(',', begin), choice.size());
    std::string const name(choice.substr(begin, end - begin));
    backend::with_name(name, [](auto) {});
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) {
      chosen.push_back(name);
    }
    begin = end + 1;
  }
  return chosen;
}

void observer::step(double fraction, std::string const& what) const {
  if (progress) {
    progress(fraction, what);
  }
  if (cancelled && cancelled()) {
    throw iso::cancelled(
        "cancelled (it was interrupted, and no file is left half-written); start it again");
  }
}

std::optional<bool> judge(std::vector<record> const& records, std::size_t backends) {
  if (!std::all_of(records.begin(), records.end(), [](record const& r) {
        return r.agrees && std::isfinite(r.error.value_or(0));
      })) {
    return false;
  }
  return backends > 1 ? std::optional<bool>(true) : std::nullopt;
}

}  // namespace iso::jobs
