// SPDX-License-Identifier: BSD-3-Clause
#include "instances.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "scan.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/table.hpp>
#include <iso/jobs/bits.hpp>
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

/// What shares one set of ceilings.
struct configuration {
  std::string backend;
  int threads = 1;

  friend auto operator<=>(configuration const&, configuration const&) = default;
};

/// The points of each configuration, in the order of the sweep file.
using sweep_plan = std::vector<std::pair<configuration, std::vector<sweep_key>>>;

cases::point point_of(sweep_key const& key) {
  return {key.operation, key.precision, key.size, key.groups_per_launch};
}

std::string name_of(sweep_key const& key) {
  return message(
      "{} {} {} {}{}",
      {std::string_view(key.operation), key.size, std::string_view(key.precision),
       std::string_view(key.backend),
       std::string_view(key.threads > 1 ? " x" + std::to_string(key.threads) : std::string())});
}

/// Numbers of threads that a backend runs with here; 0 becomes as many as the process has.
std::vector<int> threads_of(std::string const& backend, std::vector<int> const& asked) {
  std::vector<int> threads;
  backend::with_name(backend, [&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    int const all = backend::is_device<exec_space> ? 1 : int(exec_space().concurrency());
    for (int const count : asked) {
      threads.push_back(backend == "openmp" && count > 0 ? count : all);
    }
  });
  return threads;
}

class planner {
 public:
  explicit planner(sweep_request const& request) : request_(request) {}

  sweep_plan plan(std::vector<std::string>& notes) {
    for (auto const& set : request_.what.sets) {
      for (auto const& backend : backends_of(set, notes)) {
        for (int const threads : threads_of(backend, set.threads)) {
          check_threads(threads);
          add(set, {backend, threads});
        }
      }
    }
    ISO_VALIDATE(!plan_.empty(),
                 "sweep: no point is left to measure (its sets name backends that are not in this "
                 "build, or that --backend leaves out) choose others");
    return std::move(plan_);
  }

 private:
  std::vector<std::string> backends_of(files::sweep_set const& set,
                                       std::vector<std::string>& notes) const {
    auto const all = backend_names();
    std::vector<std::string> chosen;
    for (auto const& name : set.backends.empty() ? request_.backends : set.backends) {
      if (std::find(all.begin(), all.end(), name) == all.end()) {
        std::string const note =
            message("backend {} is not in this build: its points are left out", {name});
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
          notes.push_back(note);
        }
      } else if (std::find(request_.backends.begin(), request_.backends.end(), name) !=
                 request_.backends.end()) {
        chosen.push_back(name);
      }
    }
    return chosen;
  }

  void add(files::sweep_set const& set, configuration const& on) {
    for (auto const& name : set.operations) {
      auto const& operation = cases::operation_named(name);
      auto precisions = set.precisions;
      if (precisions.empty()) {
        precisions.emplace_back(operation.precisions.front());
      }
      for (auto const& precision : precisions) {
        for (auto const size : set.sizes) {
          for (auto const groups : set.groups_per_launch) {
            bool const fixed = operation.shape == cases::shapes::fixed;
            add({name, precision, size, on.backend, on.threads, fixed ? 0 : groups});
          }
        }
      }
    }
  }
  void add(sweep_key const& key) {
    cases::validate(point_of(key));
    if (!seen_.insert(key).second) {
      return;
    }
    configuration const on{key.backend, key.threads};
    auto found =
        std::find_if(plan_.begin(), plan_.end(), [&](auto const& one) { return one.first == on; });
    if (found == plan_.end()) {
      plan_.push_back({on, {}});
      found = plan_.end() - 1;
    }
    found->second.push_back(key);
  }

  sweep_request const& request_;
  sweep_plan plan_;
  std::set<sweep_key> seen_;
};

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

/// Seconds that a point may take, for the time left: nothing depends on it.
double expected_seconds(sweep_key const& key, files::sweep_description const& what) {
  double const a_step = key.backend == "cuda" ? 2e-12 : 1e-9 / key.threads;
  double const calls = what.repeats + 4;
  return 0.05 + what.seconds + calls * a_step * cases::num_steps(point_of(key));
}

class measurement {
 public:
  measurement(sweep_request const& request, observer const& watch)
      : request_(request), watch_(watch) {}

  sweep_summary run() {
    auto const plan = planner(request_).plan(summary_.notes);
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
        header.exponents[key.operation] = cases::operation_named(key.operation).exponent;
      }
    }
    header.revision = backend::facts(Kokkos::DefaultHostExecutionSpace()).git_revision;
    header.rounds = request_.what.rounds;
    summary_.measurements = header.points * header.rounds;
    files::sweep_writer writer(request_.output, header);
    if (writer.found().cut_short) {
      summary_.notes.push_back(
          message("the last line of '{}' was cut short: that point is measured again",
                  {std::string_view(request_.output.native())}));
    }
    remember(writer.found());
    for (int round = 0; round < header.rounds; ++round) {
      for (auto const& [on, keys] : plan) {
        for (auto const& key : keys) {
          to_do_ += held_.contains({key, round}) ? 0 : expected_seconds(key, request_.what);
        }
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
    ceilings::rates most;
    if (found != known.end()) {
      ISO_VALIDATE(found->processor == processor,
                   "sweep: '{}' holds results of {} (this is {}) choose another --output",
                   request_.output.native(), found->processor, processor);
      most = rates_of(found->rates);
    } else {
      step("ceilings of " + on.backend);
      most = ceilings::measure(exec);
      files::sweep_ceilings measured{on.backend, on.threads, round, processor, {}};
      for (auto const& one : list_ceilings(most)) {
        measured.rates[one.name] = std::get<double>(one.value);
      }
      writer.add(measured);
    }
    for (auto const& key : keys) {
      step(name_of(key));
      measure_point(exec, key, round, most, writer);
      done_ += expected_seconds(key, request_.what);
    }
  }

  template <class Exec>
  void measure_point(Exec const& exec, sweep_key const& key, int round, ceilings::rates const& most,
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
  /// most_samples, each of several calls where one is not long beside a fence.
  template <class Exec>
  files::sweep_point time(Exec const& exec, sweep_key const& key, cases::ready const& ready,
                          ceilings::rates const& most) {
    constexpr double shortest = 2e-3;  // seconds of a sample
    constexpr int most_samples = 31;
    ready.run();
    double const once = time_calls(exec, ready, 1);
    double const wanted = std::max(shortest, request_.what.seconds / most_samples);
    files::sweep_point point;
    point.key = key;
    point.calls = std::clamp<std::int64_t>(std::int64_t(std::ceil(wanted / once)), 1, 100000);
    double spent = 0;
    while (int(point.seconds.size()) < request_.what.repeats ||
           (spent < request_.what.seconds && int(point.seconds.size()) < most_samples)) {
      if (watch_.cancelled && watch_.cancelled()) {
        throw cancelled("cancelled (the points before are kept; the same command goes on)");
      }
      point.seconds.push_back(time_calls(exec, ready, point.calls));
      spent += point.seconds.back() * double(point.calls);
    }
    auto const bound = cases::bound_of(ready.work, most);
    point.bytes = ready.work.bytes;
    point.cache_bytes = ready.work.cache_bytes;
    point.flops = ready.work.flops;
    point.bound = bound.name;
    point.least_seconds = bound.seconds;
    for (auto const& one : cases::bounds_of(ready.work, most)) {
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

std::vector<sweep_key> sweep_points(sweep_request const& request) {
  std::vector<std::string> notes;
  std::vector<sweep_key> points;
  for (auto const& [on, keys] : planner(request).plan(notes)) {
    points.insert(points.end(), keys.begin(), keys.end());
  }
  return points;
}

std::vector<sweep_operation> sweep_operations() {
  std::vector<sweep_operation> all;
  for (auto const& o : cases::operations()) {
    sweep_operation one{
        std::string(o.name), std::string(o.about), std::string(o.size), o.smallest, o.largest, {}};
    for (auto const& precision : o.precisions) {
      one.precisions.append(one.precisions.empty() ? "" : ", ").append(precision);
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace iso::jobs
