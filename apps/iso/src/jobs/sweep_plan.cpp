// SPDX-License-Identifier: BSD-3-Clause
#include "sweep_plan.hpp"

#include "instances.hpp"

#include <iso/backend/registry.hpp>

#include <algorithm>
#include <set>

namespace iso::jobs {

using files::sweep_key;

cases::point point_of(sweep_key const& key) {
  return {key.operation, key.precision, key.size, key.groups_per_launch};
}

std::string name_of(sweep_key const& key) {
  return message(
      "{} {} {} {}{}",
      {std::string_view(key.operation), key.size, to_word(key.precision),
       std::string_view(key.backend),
       std::string_view(key.threads > 1 ? " x" + std::to_string(key.threads) : std::string())});
}

double expected_seconds(sweep_key const& key, files::sweep_description const& what) {
  double const a_step = key.backend == "cuda" ? 2e-12 : 1e-9 / key.threads;
  double const calls = what.repeats + 4;
  return 0.05 + what.seconds + calls * a_step * cases::num_steps(point_of(key));
}

namespace {

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

class sweep_planner {
 public:
  explicit sweep_planner(sweep_request const& request) : request_(request) {}

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
                 "build, or that --backend leaves out); choose other backends");
    return std::move(plan_);
  }

 private:
  std::vector<std::string> backends_of(files::sweep_set const& set,
                                       std::vector<std::string>& notes) const {
    auto const all = backend_names();
    std::vector<std::string> chosen;
    std::vector<std::string> asked;
    for (auto const one : set.backends) {
      asked.emplace_back(to_word(one));
    }
    for (auto const& name : asked.empty() ? request_.backends : asked) {
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
      auto const& operation = cases::sized_operation_named(name);
      auto precisions = set.precisions;
      if (precisions.empty()) {
        precisions.push_back(operation.precisions.front());
      }
      for (auto const precision : precisions) {
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
    auto found = std::find_if(plan_.begin(), plan_.end(), [&](auto const& one) {
      return one.first.backend == on.backend && one.first.threads == on.threads;
    });
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

}  // namespace

sweep_plan plan_sweep(sweep_request const& request, std::vector<std::string>& notes) {
  return sweep_planner(request).plan(notes);
}

std::vector<sweep_key> sweep_points(sweep_request const& request) {
  std::vector<std::string> notes;
  std::vector<sweep_key> points;
  for (auto const& [on, keys] : plan_sweep(request, notes)) {
    points.insert(points.end(), keys.begin(), keys.end());
  }
  return points;
}

std::vector<sweep_operation> sweep_operations() {
  std::vector<sweep_operation> all;
  for (auto const& o : cases::sized_operations()) {
    sweep_operation one{
        std::string(o.name), std::string(o.about), std::string(o.size), o.smallest, o.largest, {}};
    for (auto const precision : o.precisions) {
      one.precisions.append(one.precisions.empty() ? "" : ", ").append(to_word(precision));
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace iso::jobs
