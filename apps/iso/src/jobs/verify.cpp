// SPDX-License-Identifier: BSD-3-Clause
#include "verify_cases.hpp"

#include <iso/backend/registry.hpp>
#include <iso/jobs/info.hpp>
#include <iso/jobs/verify.hpp>

#include <algorithm>
#include <bit>
#include <functional>

namespace iso::jobs {
namespace {

constexpr std::size_t most_disagreements = 4;  // of one record; the first is what one looks at

std::string name_of(int threads, variant const& v, int repeat) {
  return message("threads {}, groups a launch {}, slab {}, path {}, repetition {}",
                 {std::int64_t(threads), v.groups, std::int64_t(v.slab),
                  std::string_view(v.path == ct::joseph_path::general ? "general" : "automatic"),
                  std::int64_t(repeat)});
}

// Calls f(instance, threads) for every number of threads; other backends have one instance.
template <class Exec, class F>
void with_instances(std::vector<int> const& threads, F&& f) {
#if ISO_HAS_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) {
    for (int const count : threads) {
      f(Kokkos::OpenMP(count), count);
    }
    return;
  }
#endif
  static_cast<void>(threads);
  f(Exec(), 1);
}

// One operation in one precision, on all backends.
template <class T, class Case>
class comparison {
 public:
  comparison(verify_request const& request, std::string operation, Case const& what,
             std::vector<variant> variants)
      : request_(request),
        operation_(std::move(operation)),
        case_(what),
        variants_(std::move(variants)) {}

  template <class Exec>
  record on(std::string const& backend) {
    record result;
    result.operation = operation_;
    result.backend = backend;
    result.precision = sizeof(T) == 4 ? "float" : "double";
    Exec const first;
    auto const ready = case_.prepare(first);
    Kokkos::View<T*, typename Exec::memory_space> const out("iso::jobs::verify",
                                                            std::size_t(ready.size));
    with_instances<Exec>(request_.threads, [&](Exec const& exec, int threads) {
      for (auto const& v : variants_) {
        for (int repeat = 0; repeat < request_.repeats; ++repeat) {
          // What a run does not write differs from what the next does not write.
          Kokkos::deep_copy(exec, out, T(result.runs) + T(0.5));
          double const seconds = seconds_of(exec, [&] { ready.run(exec, v, out.data()); });
          double const ms = 1e3 * seconds;
          result.time_ms = std::min(result.time_ms.value_or(ms), ms);
          judge_run(result, fetch(exec, out), name_of(threads, v, repeat));
        }
      }
    });
    return result;
  }

 private:
  void judge_run(record& result, std::vector<T> values, std::string const& name) {
    if (request_.inject == fault::one_bit && result.runs == 1) {
      auto& victim = values[values.size() / 2];
      victim = std::bit_cast<T>(word_of<T>(std::bit_cast<word_of<T>>(victim) ^ 1U));
    }
    std::uint64_t const hash = hash_bits<T>(values);
    if (result.runs++ == 0) {
      result.hash = hash_text(hash);
    }
    if (reference_.empty()) {
      reference_ = std::move(values);
      reference_hash_ = hash;
      return;
    }
    if (hash != reference_hash_) {
      result.agrees = false;
      auto const where = first_difference<T>(reference_, values);
      if (where && result.disagreements.size() < most_disagreements) {
        result.disagreements.push_back({name, *where});
      }
    }
  }

  verify_request const& request_;
  std::string operation_;
  Case case_;
  std::vector<variant> variants_;
  std::vector<T> reference_;
  std::uint64_t reference_hash_ = 0;
};

// All operations, as steps to be run one after another.
class plan {
 public:
  explicit plan(verify_request const& request) : request_(request) {}

  template <class T, class Case>
  void add(std::string const& operation, Case const& what, std::vector<variant> const& variants) {
    steps_.push_back({operation, [this, operation, what, variants](std::vector<record>& records) {
                        comparison<T, Case> compare(request_, operation, what, variants);
                        for (auto const& name : request_.backends) {
                          backend::with_name(name, [&](auto tag) {
                            using exec = typename decltype(tag)::execution_space;
                            records.push_back(compare.template on<exec>(name));
                          });
                        }
                      }});
  }

  std::vector<record> run(observer const& watch) const {
    std::vector<record> records;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      watch.step(double(i) / double(steps_.size()), steps_[i].name);
      steps_[i].run(records);
    }
    watch.step(1, "done");
    return records;
  }

 private:
  struct step {
    std::string name;
    std::function<void(std::vector<record>&)> run;
  };
  verify_request const& request_;
  std::vector<step> steps_;
};

template <class T>
void add_small(plan& all) {
  std::vector<variant> const shapes = {{}, {4096}, {257}};
  all.add<T>("math_exp", math_case<T>{function::exp}, shapes);
  all.add<T>("math_expm1", math_case<T>{function::expm1}, shapes);
  all.add<T>("math_log", math_case<T>{function::log}, shapes);
  all.add<T>("math_sincos", math_case<T>{function::sincos}, shapes);
  all.add<T>("lane_group_row_sum", row_case<T>{}, shapes);
  // The branching and the branchless walk promise the same bits, whichever the backend prefers.
  all.add<T>("radiological_path_amanatides_woo", path_case<T>{ray::traversal::amanatides_woo},
             shapes);
  all.add<T>("radiological_path_branchless", path_case<T>{ray::traversal::branchless}, shapes);
  all.add<T>("radiological_path_fastest", path_case<T>{ray::traversal::fastest}, shapes);
  all.add<T>("radiological_path_siddon", path_case<T>{ray::traversal::siddon}, shapes);
  all.add<T>("phantom_projection", analytic_case<T>{}, {{}});
  all.add<T>("phantom_raster", raster_case<T>{}, {{}});
}

template <class T>
void add_projections(plan& all) {
  using ct::projector;
  using ct::summation;
  auto const general = ct::joseph_path::general;
  std::vector<variant> const shapes = {{}, {4096}, {257}};
  std::vector<variant> const joseph = {{}, {4096}, {257, 64}, {0, 128}, {0, 0, general}};
  auto const cone = verify_cone();
  all.add<T>("project_joseph_ordered",
             projection_case<T>{cone, projector::joseph_linear, summation::ordered}, joseph);
  all.add<T>("project_joseph_order_free",
             projection_case<T>{cone, projector::joseph_linear, summation::order_free}, joseph);
  all.add<T>("project_joseph_ordered_parallel",
             projection_case<T>{verify_parallel(), projector::joseph_linear, summation::ordered},
             joseph);
  all.add<T>("project_joseph_ordered_tilted",
             projection_case<T>{verify_tilted(), projector::joseph_linear, summation::ordered},
             shapes);
  all.add<T>("project_joseph_spline",
             projection_case<T>{cone, projector::joseph_spline, summation::ordered}, shapes);
  all.add<T>("project_amanatides_woo",
             projection_case<T>{cone, projector::amanatides_woo, summation::ordered}, shapes);
  all.add<T>("project_branchless",
             projection_case<T>{cone, projector::branchless, summation::ordered}, shapes);
  all.add<T>("project_siddon", projection_case<T>{cone, projector::siddon, summation::ordered},
             shapes);
}

}  // namespace

report verify(verify_request const& request, observer const& watch) {
  ISO_VALIDATE(!request.backends.empty(), "verify: no backend (choose at least one)");
  ISO_VALIDATE(request.repeats >= 1 && request.repeats <= 1000,
               "verify: {} repetitions (from 1 to 1000)", request.repeats);
  for (int const count : request.threads) {
    ISO_VALIDATE(count >= 1 && count <= 1024, "verify: {} threads (from 1 to 1024)", count);
  }
  report result;
  result.machine = info(request.backends, ceilings_wanted::no, {});
  plan all(request);
  add_small<float>(all);
  add_small<double>(all);
  add_projections<float>(all);
  add_projections<double>(all);
  result.records = all.run(watch);
  result.bits_agree = judge(result.records, request.backends.size());
  return result;
}

}  // namespace iso::jobs
