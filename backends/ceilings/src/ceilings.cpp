// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/device_facts.hpp>
#include <iso/ceilings/ceilings.hpp>
#include <iso/ceilings/detail/rounds.hpp>
#include <iso/core/allocate.hpp>
#include <iso/core/detail/host_memory.hpp>

#include "host_rates.hpp"

#include <algorithm>
#include <limits>

namespace iso::ceilings {
namespace {

using detail::host_rates;

// What the workers of a measurement share decides whose clock counts: for memory the time from the
// first's start to the last's end; for a core's own caches and units the slowest worker's own,
// which a worker that another process kept from starting does not lengthen.
enum class resource { shared, own };

template <class Exec>
class host_machine {
 public:
  host_machine(Exec const& exec, measure_options const& options)
      : exec_(exec),
        workers_(std::max(1, int(exec.concurrency()))),
        repeats_(options.repeats),
        lines_(Kokkos::view_alloc(exec, "iso::ceilings: lines"), 8 * std::size_t(workers_)) {}

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
    exec_.fence("iso::ceilings::measure");
    auto const start = detail::clock::now();
    Kokkos::parallel_for("iso::ceilings::measure", policy(exec_, 0, workers_, Kokkos::ChunkSize(1)),
                         worker_kernel<Body>{body, lines_.data()});
    exec_.fence("iso::ceilings::measure");
    return detail::seconds_since(start);
  }

 private:
  // What every worker does once, with a value of it kept where nobody can prove it unread, and how
  // long that worker took. One line a worker.
  template <class Body>
  struct worker_kernel {
    Body body;
    double* lines;

    void operator()(std::int64_t worker) const {
      auto const start = detail::clock::now();
      lines[8 * worker + 1] = double(body(worker));
      lines[8 * worker] = detail::seconds_since(start);
    }
  };

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

// Floats a worker, for `bytes` in all: a multiple of 4 x 1024, so that quarters align as well.
std::size_t share(std::int64_t bytes, int workers) {
  std::size_t const block = 4096;
  std::size_t const floats = std::size_t(bytes) / sizeof(float) / std::size_t(workers);
  return std::max(block, floats / block * block);
}

std::int64_t working_set(measure_options const& options, std::int64_t last_cache) {
  if (options.bytes > 0) {
    return options.bytes;
  }
  std::int64_t const enough = std::max<std::int64_t>(std::int64_t(256) << 20, 4 * last_cache);
  auto const free = std::int64_t(iso::detail::read_host_memory().available);
  return free > 0 ? std::min(enough, free / 4) : enough;
}

// `own` floats a worker, aligned for vectors, blocks apart. Each worker touches first what it reads
// later: pages lie in its own memory domain.
template <class Exec>
class worker_arrays {
 public:
  worker_arrays(host_machine<Exec> const& machine, std::size_t own)
      : machine_(machine),
        own_(own),
        storage_(iso::allocate<decltype(storage_)>(
            "iso::ceilings: arrays",
            {std::int64_t((own + gap) * std::size_t(machine.workers()) + line)},
            Kokkos::WithoutInitializing)) {
    machine.once([*this](std::int64_t worker) {
      float* const mine = begin(worker);
      for (std::size_t i = 0; i < own_; ++i) {
        mine[i] = float(i % 1021U) * 0.0009765625F;
      }
      return mine[own_ / 2];
    });
  }

  /// Bytes of all workers over the seconds of loop(begin, own).
  template <class Loop>
  double rate(resource uses, Loop const& loop) const {
    double const bytes = double(own_) * double(machine_.workers()) * sizeof(float);
    return bytes / machine_.seconds(uses, [loop, *this](std::int64_t worker) {
      return loop(begin(worker), own_);
    });
  }

 private:
  static constexpr std::size_t gap = 4096;
  static constexpr std::size_t line = 64 / sizeof(float);

  [[nodiscard]] float* begin(std::int64_t worker) const {
    auto const first = reinterpret_cast<std::uintptr_t>(storage_.data() + line - 1);
    return reinterpret_cast<float*>(first & ~std::uintptr_t(63)) +
           (own_ + gap) * std::size_t(worker);
  }

  host_machine<Exec> const& machine_;
  std::size_t own_;
  Kokkos::View<float*, Kokkos::HostSpace> storage_;
};

template <class Exec>
void measure_memory(worker_arrays<Exec> const& arrays, host_rates const& loops, rates& result) {
  result.read = arrays.rate(resource::shared, [&loops](float* mine, std::size_t own) {
    return loops.read(mine, own, 1);
  });
  result.copy = arrays.rate(resource::shared, [&loops](float* mine, std::size_t own) {
    loops.copy(mine, mine + own / 2, own / 2);
    return mine[own - 1];
  });
  result.triad = 0.75 * arrays.rate(resource::shared, [&loops](float* mine, std::size_t own) {
    loops.triad(mine, mine + own / 4, 0.5F, mine + own / 2, own / 4);
    return mine[own / 2];
  });
}

template <class Exec>
double measure_cache(host_machine<Exec> const& machine, host_rates const& loops,
                     std::int64_t cache_bytes) {
  std::size_t const own = share(cache_bytes / 2, 1);
  std::size_t const rounds = std::max<std::size_t>(1, (std::size_t(1) << 23) / own);
  worker_arrays<Exec> const arrays(machine, own);
  return double(rounds) * arrays.rate(resource::own, [&loops, rounds](float* mine, std::size_t n) {
    return loops.read(mine, n, rounds);
  });
}

template <class Exec>
void measure_arithmetic(host_machine<Exec> const& machine, host_rates const& loops, rates& result) {
  std::size_t const steps = 100000;
  double const bytes = 2.0 * detail::fma_chains * double(steps) * double(machine.workers()) *
                       double(loops.vector_bytes);
  auto const seconds = [&](auto const& loop) {
    return machine.seconds(resource::own, [loop](std::int64_t) { return loop(steps); });
  };
  result.fp32 = bytes / sizeof(float) / seconds(loops.fma_float);
  result.fp64 = bytes / sizeof(double) / seconds(loops.fma_double);
}

}  // namespace

template <execution_space Exec>
rates measure(Exec const& exec, measure_options const& options) {
  detail::validate(options);
  host_machine<Exec> const machine(exec, options);
  backend::device_facts const about = backend::facts(exec);
  host_rates const& loops =
      about.vector_bytes >= 64 ? detail::host_rates_wide : detail::host_rates_base;
  worker_arrays<Exec> const arrays(machine,
                                   share(working_set(options, about.l3_bytes), machine.workers()));
  auto const round = [&] {
    rates result;
    measure_memory(arrays, loops, result);
    result.l1 = measure_cache(machine, loops, about.l1_bytes);
    result.l2 = measure_cache(machine, loops, about.l2_bytes);
    measure_arithmetic(machine, loops, result);
    return result;
  };
  return detail::measure_in_rounds(round, options);
}

template rates measure(Kokkos::Serial const&, measure_options const&);
ISO_IF_OPENMP(template rates measure(Kokkos::OpenMP const&, measure_options const&);)
ISO_IF_THREADS(template rates measure(Kokkos::Threads const&, measure_options const&);)

}  // namespace iso::ceilings
