// SPDX-License-Identifier: BSD-3-Clause
#include "core_waits.hpp"
#include "instances.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "scan.hpp"
#include "sweep_plan.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/cases/table.hpp>
#include <iso/jobs/device_lock.hpp>
#include <iso/jobs/sweep.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace iso::jobs {
namespace {

using files::sweep_key;

/// The GPU that this process computes on, by its place on the bus.
std::string device_address() {
#if ISO_HAS_CUDA
  auto const& all = Kokkos::Cuda().cuda_device_prop();
  return message("{}:{}:{}", {std::int64_t(all.pciDomainID), std::int64_t(all.pciBusID),
                              std::int64_t(all.pciDeviceID)});
#else
  return "";
#endif
}

/// Of the cores that compute.
template <class Exec>
cases::cache_sizes caches_of(Exec const& exec) {
  auto const facts = backend::facts(exec);
  if (backend::is_device<Exec>) {
    return {0, double(facts.l2_bytes)};
  }
  double const cores = double(std::min(facts.threads, facts.cores));
  return {cores * double(facts.l1_bytes), cores * double(facts.l2_bytes)};
}

/// What points are held against.
struct limits {
  ceilings::rates rates;
  cases::cache_sizes caches;
};

class measurement {
 public:
  measurement(sweep_request const& request, observer const& watch)
      : request_(request), watch_(watch) {}

  sweep_summary run() {
    auto const plan = plan_sweep(request_, summary_.notes);
    files::sweep_header header;
    header.isocenter = request_.version;
    header.sweep = request_.what.digest;
    header.rank = request_.rank;
    header.ranks = request_.ranks;
    header.node = request_.node;
    header.threads = int(Kokkos::DefaultHostExecutionSpace().concurrency());
    for (auto const& [on, keys] : plan) {
      header.points += std::int64_t(keys.size());
      header.device = on.backend == "cuda" ? device_address() : header.device;
      for (auto const& key : keys) {
        header.exponents[key.operation] = cases::sized_operation_named(key.operation).exponent;
      }
    }
    auto const built = backend::facts(Kokkos::DefaultExecutionSpace());
    header.revision = built.git_revision;
    header.compiler = built.compiler;
    header.rounds = request_.what.rounds;
    summary_.measurements = header.points * header.rounds;
    std::optional<device_lock> alone;
    if (!header.device.empty()) {
      alone.emplace(std::filesystem::temp_directory_path(), header.device);
    }
    files::sweep_writer writer(request_.output, header);
    if (writer.found().cut_short) {
      summary_.notes.push_back(message(
          "the last line of '{}' was cut short (the sweep was ended while it wrote it); leave "
          "that point to this run, which measures it again",
          {std::string_view(request_.output.native())}));
    }
    remember(writer.found());
    for (int round = 0; round < header.rounds; ++round) {
      for (auto const& [on, keys] : plan) {
        for (auto const& key : keys) {
          to_do_ += held_.contains({key, round}) ? 0 : expected_seconds(key, request_.what);
        }
        to_do_ += expected_ceilings;
      }
    }
    for (int round = 0; round < header.rounds; ++round) {
      for (auto const& [on, keys] : plan) {
        measure_left(on, keys, round, writer);
      }
    }
    watch_.step(1, "done");
    return std::move(summary_);
  }

 private:
  using measured_key = std::pair<sweep_key, int>;  ///< and the round

  /// What the file holds is not measured again. Gaps are tried again: another process may have had
  /// the memory.
  void remember(files::sweep_results const& found) {
    for (auto const& p : found.points) {
      held_.insert({p.key, p.round});
      errors_[p.key] = p.error;
    }
    summary_.kept = std::int64_t(held_.size());
  }

  void measure_left(configuration const& on, std::vector<sweep_key> const& keys, int round,
                    files::sweep_writer& writer) {
    std::vector<sweep_key> left;
    for (auto const& key : keys) {
      if (!held_.contains({key, round}) && !gaps_.contains(key)) {
        left.push_back(key);
      }
    }
    if (left.empty()) {
      return;
    }
    std::vector<int> const threads(1, on.threads);
    backend::with_name(on.backend, [&](auto tag) {
      using exec_space = typename decltype(tag)::execution_space;
      with_instances<exec_space>(
          threads, [&](exec_space const& exec, int) { measure(exec, on, left, round, writer); });
    });
  }

  void step(std::string const& what) {
    watch_.step(to_do_ > 0 ? std::min(0.99, done_ / to_do_) : 0.99, what);
  }

  /// In a round all points of one configuration are held against one measurement of its ceilings,
  /// also where they come from several starts.
  template <class Exec>
  void measure(Exec const& exec, configuration const& on, std::vector<sweep_key> const& keys,
               int round, files::sweep_writer& writer) {
    auto const& known = writer.found().ceilings;
    auto const found =
        std::find_if(known.begin(), known.end(), [&](files::sweep_ceilings const& c) {
          return c.backend == on.backend && c.threads == on.threads && c.round == round;
        });
    auto const processor = backend::facts(exec).processor;
    limits most{{}, caches_of(exec)};
    if (found != known.end()) {
      ISO_VALIDATE(found->processor == processor,
                   "sweep: '{}' holds results of {} (this is {}); choose another --output",
                   request_.output.native(), found->processor, processor);
      most.rates = rates_of(found->rates);
    } else {
      step("ceilings of " + on.backend);
      // Points without a time of their own are made as often as is asked; the ceilings too.
      most.rates = ceilings::measure(
          exec, {.repeats = request_.what.seconds > 0 ? 0 : request_.what.repeats});
      files::sweep_ceilings measured{on.backend, on.threads, round, processor, {}};
      for (auto const& one : list_ceilings(most.rates)) {
        measured.rates[one.name] = std::get<double>(one.value);
      }
      writer.add(measured);
    }
    done_ += expected_ceilings;
    for (auto const& key : keys) {
      step(name_of(key));
      measure_point(exec, key, round, most, writer);
      done_ += expected_seconds(key, request_.what);
    }
  }

  template <class Exec>
  void measure_point(Exec const& exec, sweep_key const& key, int round, limits const& most,
                     files::sweep_writer& writer) {
    auto const p = point_of(key);
    auto const bytes = std::int64_t(cases::bytes_needed(p));
    std::string const name = name_of(key);
    try {
      check_free(exec, bytes, bytes / 2, name.c_str());
      auto measured = time(exec, key, cases::prepare(exec, p), most);
      measured.round = round;
      writer.add(measured);
      summary_.measured.push_back(std::move(measured));
    } catch (out_of_memory const& failure) {
      leave_out(key, failure.what(), writer);
    } catch (invalid_argument const& failure) {
      leave_out(key, failure.what(), writer);
    }
  }

  void leave_out(sweep_key const& key, std::string const& reason, files::sweep_writer& writer) {
    gaps_.insert(key);
    summary_.gaps.push_back({key, reason});
    writer.add(summary_.gaps.back());
  }

  /// Seconds of one call, the mean of `calls` between two fences.
  template <class Exec>
  double time_calls(Exec const& exec, cases::ready const& ready, std::int64_t calls) const {
    return seconds_of(exec,
                      [&] {
                        auto const start = std::chrono::steady_clock::now();
                        for (std::int64_t i = 0; i < calls; ++i) {
                          ready.run();
                        }
                        if (request_.slow_down > 1) {
                          exec.fence("iso::jobs::sweep: slowed down on purpose");
                          std::this_thread::sleep_for((request_.slow_down - 1) *
                                                      (std::chrono::steady_clock::now() - start));
                        }
                      }) /
           double(calls);
  }

  /// After one call that pays for pages and clocks: as many samples as asked for, at most
  /// max_samples, each of several calls where one is not long beside a fence.
  template <class Exec>
  files::sweep_point time(Exec const& exec, sweep_key const& key, cases::ready const& ready,
                          limits const& most) {
    constexpr double shortest = 2e-3;  // seconds of a sample
    constexpr int max_samples = 31;
    ready.run();
    double const once = time_calls(exec, ready, 1);
    double const wanted = std::max(shortest, request_.what.seconds / max_samples);
    files::sweep_point point;
    point.key = key;
    point.calls = std::clamp<std::int64_t>(std::int64_t(std::ceil(wanted / once)), 1, 100000);
    double spent = 0;
    core_waits const before;
    while (int(point.seconds.size()) < request_.what.repeats ||
           (spent < request_.what.seconds && int(point.seconds.size()) < max_samples)) {
      if (watch_.cancelled && watch_.cancelled()) {
        throw cancelled("cancelled (the points before are kept); repeat the command to go on");
      }
      point.seconds.push_back(time_calls(exec, ready, point.calls));
      spent += point.seconds.back() * double(point.calls);
    }
    point.waited = before.longest_since() / spent;
    auto const bound = cases::bound_of(ready.work, most.rates, most.caches);
    point.bytes = ready.work.bytes;
    point.cache_bytes = ready.work.cache_bytes;
    point.flops = ready.work.flops;
    point.bound = bound.name;
    point.min_seconds = bound.seconds;
    for (auto const& one : cases::bounds_of(ready.work, most.rates, most.caches)) {
      point.seconds_at[one.name] = one.seconds;
    }
    auto values = ready.result();
    point.hash = std::visit([&](auto& all) { return hash_of(all); }, values);
    // The comparison may take longer than the operation: once is enough for equal bits.
    if (!errors_.contains(key)) {
      double const error = ready.error();
      errors_[key] = std::isfinite(error) ? std::optional(error) : std::nullopt;
    }
    point.error = errors_.at(key);
    return point;
  }

  template <class T>
  std::string hash_of(std::vector<T>& values) const {
    if (request_.inject == fault::one_bit) {
      auto& victim = values[values.size() / 2];
      victim = std::bit_cast<T>(word_of<T>(raw_bits(victim) ^ 1U));
    }
    return hash_text(hash_bits<T>(std::span<T const>(values)));
  }

  static ceilings::rates rates_of(std::map<std::string, double> const& named) {
    ceilings::rates most;
    auto const take = [&](char const* name, double& to) {
      auto const found = named.find(name);
      to = found == named.end() ? 0 : found->second;
    };
    take("read", most.read);
    take("copy", most.copy);
    take("triad", most.triad);
    take("l1", most.l1);
    take("l2", most.l2);
    take("fp16", most.fp16);
    take("fp32", most.fp32);
    take("fp64", most.fp64);
    take("spread", most.spread);
    return most;
  }

  sweep_request const& request_;
  observer const& watch_;
  sweep_summary summary_;
  std::set<measured_key> held_;
  std::set<sweep_key> gaps_;
  std::map<sweep_key, std::optional<double>> errors_;
  double to_do_ = 0;
  double done_ = 0;
};

}  // namespace

sweep_summary sweep(sweep_request const& request, observer const& watch) {
  return measurement(request, watch).run();
}

}  // namespace iso::jobs
