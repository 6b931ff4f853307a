// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/device_facts.hpp>
#include <iso/ceilings/ceilings.hpp>
#include <iso/ceilings/detail/rounds.hpp>
#include <iso/core/allocate.hpp>
#include <iso/core/check.hpp>
#include <iso/core/detail/host_memory.hpp>

#include "host_rates.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace iso::backend {

namespace {

using detail::host_rates;

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

// What every worker does once, with a value of it kept where nobody can prove it unread, and how
// long that worker took. One line a worker.
template <class Body>
struct worker_kernel {
  Body body;
  double* lines;

  void operator()(std::int64_t worker) const {
    auto const start = clock::now();
    lines[8 * worker + 1] = double(body(worker));
    lines[8 * worker] = seconds_since(start);
  }
};

// What the workers of a measurement share decides whose clock counts: for memory the time from the
// first's start to the last's end; for a core's own caches and units the slowest worker's own,
// which a worker that another process kept from starting does not lengthen.
enum class resource { shared, own };

template <class Exec>
class host_machine {
 public:
  host_machine(Exec const& exec, ceiling_options const& options)
      : exec_(exec),
        workers_(std::max(1, int(exec.concurrency()))),
        repeats_(options.repeats),
        lines_(Kokkos::view_alloc(exec, "iso::backend::ceilings lines"),
               8 * std::size_t(workers_)) {}

  [[nodiscard]] int workers() const { return workers_; }

  /// Seconds of the fastest run of body(worker) on all workers: of `repeats` runs, or of what a
  /// twentieth of a second holds, and three at least.
  template <class Body>
  double seconds(resource uses, Body const& body) const {
    double best = std::numeric_limits<double>::infinity();
    double spent = 0;
    for (int run = 0; repeats_ > 0 ? run < repeats_ : run < 3 || spent < 0.05; ++run) {
      double const all = once(body);
      spent += all;
      best = std::min(best, uses == resource::own ? slowest_worker() : all);
    }
    return best;
  }

  /// Seconds of one run.
  template <class Body>
  double once(Body const& body) const {
    using policy = Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>,
                                       Kokkos::IndexType<std::int64_t>>;
    exec_.fence("iso::backend::measure_ceilings");
    auto const start = clock::now();
    Kokkos::parallel_for("iso::backend::measure_ceilings",
                         policy(exec_, 0, workers_, Kokkos::ChunkSize(1)),
                         worker_kernel<Body>{body, lines_.data()});
    exec_.fence("iso::backend::measure_ceilings");
    return seconds_since(start);
  }

 private:
  [[nodiscard]] double slowest_worker() const {
    double slowest = 0;
    for (std::size_t worker = 0; worker < std::size_t(workers_); ++worker) {
      slowest = std::max(slowest, lines_(8 * worker));
    }
    return slowest;
  }

  Exec exec_;
  int workers_;
  int repeats_;
  Kokkos::View<double*, Kokkos::HostSpace> lines_;
};

float* align_to_line(float* p) {
  return reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(p) + 63U) &
                                  ~std::uintptr_t(63));
}

// Floats a worker, for `bytes` in all: a multiple of 4 x 1024, so that quarters align as well.
std::size_t share(std::int64_t bytes, int workers) {
  std::size_t const block = 4096;
  std::size_t const floats = std::size_t(bytes) / sizeof(float) / std::size_t(workers);
  return std::max(block, floats / block * block);
}

std::int64_t working_set(ceiling_options const& options, std::int64_t last_cache) {
  if (options.bytes > 0) {
    return options.bytes;
  }
  std::int64_t const enough = std::max<std::int64_t>(std::int64_t(256) << 20, 4 * last_cache);
  auto const free = std::int64_t(iso::detail::read_host_memory().available);
  return free > 0 ? std::min(enough, free / 4) : enough;
}

// Each worker touches first what it reads later: pages lie in its own memory domain.
template <class Exec>
class memory_arrays {
 public:
  memory_arrays(host_machine<Exec> const& machine, std::int64_t bytes)
      : machine_(machine),
        own_(share(bytes, machine.workers())),
        // A line more than needed, and a start on a line, for the aligned vectors.
        storage_(iso::allocate<decltype(storage_)>(
            "iso::backend::ceilings memory",
            {std::int64_t(own_ * std::size_t(machine.workers()) + 16)},
            Kokkos::WithoutInitializing)),
        data_(align_to_line(storage_.data())) {
    machine.once([own = own_, data = data_](std::int64_t worker) {
      float* const mine = data + own * std::size_t(worker);
      for (std::size_t i = 0; i < own; ++i) {
        mine[i] = float(i % 1021U) * 0.0009765625F;
      }
      return mine[own / 2];
    });
  }

  void measure(host_rates const& rates, ceilings& result) const {
    std::size_t const own = own_;
    auto const begin = [own, data = data_](std::int64_t worker) {
      return data + own * std::size_t(worker);
    };
    double const moved = double(own) * double(machine_.workers()) * sizeof(float);
    result.read = moved / machine_.seconds(resource::shared, [=](std::int64_t worker) {
      return rates.read(begin(worker), own, 1);
    });
    result.copy = moved / machine_.seconds(resource::shared, [=](std::int64_t worker) {
      float* const mine = begin(worker);
      rates.copy(mine, mine + own / 2, own / 2);
      return mine[own - 1];
    });
    result.triad = 0.75 * moved / machine_.seconds(resource::shared, [=](std::int64_t worker) {
      float* const mine = begin(worker);
      rates.triad(mine, mine + own / 4, 0.5F, mine + own / 2, own / 4);
      return mine[own / 2];
    });
  }

 private:
  host_machine<Exec> const& machine_;
  std::size_t own_;
  Kokkos::View<float*, Kokkos::HostSpace> storage_;
  float* data_;
};

template <class Exec>
double measure_cache(host_machine<Exec> const& machine, host_rates const& rates,
                     std::int64_t cache_bytes) {
  std::size_t const own = share(cache_bytes / 2, 1);
  std::size_t const pitch = own + 4096;
  Kokkos::View<float*, Kokkos::HostSpace> const storage(
      "iso::backend::ceilings cache", pitch * std::size_t(machine.workers()) + 16);
  float const* const data = align_to_line(storage.data());
  std::size_t const rounds = std::max<std::size_t>(1, (std::size_t(1) << 23) / own);
  double const seconds = machine.seconds(resource::own, [=](std::int64_t worker) {
    return rates.read(data + pitch * std::size_t(worker), own, rounds);
  });
  return double(own) * sizeof(float) * double(rounds) * double(machine.workers()) / seconds;
}

template <class Exec>
void measure_arithmetic(host_machine<Exec> const& machine, host_rates const& rates,
                        ceilings& result) {
  std::size_t const steps = 100000;
  double const vectors = 2.0 * detail::fma_chains * double(steps) * double(machine.workers());
  double const bytes = double(rates.vector_bytes);
  result.fp32 = vectors * bytes / sizeof(float) / machine.seconds(resource::own, [=](std::int64_t) {
    return rates.fma_float(steps);
  });
  result.fp64 =
      vectors * bytes / sizeof(double) /
      machine.seconds(resource::own, [=](std::int64_t) { return rates.fma_double(steps); });
}

template <class Exec>
ceilings measure(Exec const& exec, ceiling_options const& options) {
  ISO_VALIDATE(options.bytes >= 0 && options.repeats >= 0,
               "measure_ceilings: bytes {}, repeats {} (negative) use 0 for the default",
               options.bytes, options.repeats);
  host_machine<Exec> const machine(exec, options);
  device_facts const about = facts(exec);
  host_rates const& rates =
      about.vector_bytes >= 64 ? detail::host_rates_wide() : detail::host_rates_base();
  memory_arrays<Exec> const memory(machine, working_set(options, about.l3_bytes));
  auto const round = [&] {
    ceilings result;
    memory.measure(rates, result);
    result.l1 = measure_cache(machine, rates, about.l1_bytes);
    result.l2 = measure_cache(machine, rates, about.l2_bytes);
    measure_arithmetic(machine, rates, result);
    return result;
  };
  return detail::measure_in_rounds(round, options);
}

}  // namespace

template <>
ceilings measure_ceilings(Kokkos::Serial const& exec, ceiling_options const& options) {
  return measure(exec, options);
}

#if ISO_HAS_THREADS
template <>
ceilings measure_ceilings(Kokkos::Threads const& exec, ceiling_options const& options) {
  return measure(exec, options);
}
#endif

#if ISO_HAS_OPENMP
template <>
ceilings measure_ceilings(Kokkos::OpenMP const& exec, ceiling_options const& options) {
  return measure(exec, options);
}
#endif

}  // namespace iso::backend
