// SPDX-License-Identifier: BSD-3-Clause
#include <iso/jobs/verify.hpp>

#include "instances.hpp"
#include "record.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/catalogue.hpp>
#include <iso/core/numerics.hpp>
#include <iso/jobs/info.hpp>

#include <algorithm>
#include <bit>

namespace iso::jobs {
namespace {

/// About so many elements of a result are compared with their exact values.
constexpr std::int64_t max_compared = 1000;

std::string name_of(int threads, variant const& v, int repeat) {
  return message("threads {}, groups a launch {}, slab {}, path {}, layout {}, repetition {}",
                 {std::int64_t(threads), v.groups, std::int64_t(v.slab), to_word(v.path),
                  std::int64_t(v.layout), std::int64_t(repeat)});
}

/// One operation in one precision, on one backend after the other: with every number of threads, in
/// every variant, repeated; all bits must be those of the very first run.
template <class T>
class comparison {
 public:
  comparison(verify_request const& request, operation const& what)
      : request_(request), what_(what) {}

  template <class Exec>
  record on(std::string const& backend, prepared<Exec, T> const& ready,
            ceilings::rates const* most) {
    auto result = new_record<T>(what_.name, backend);
    result.functions = what_.functions;
    result.largest_error = what_.largest_error<T>();
    result.has_model = what_.has_model;
    Exec const first;
    Kokkos::View<T*, typename Exec::memory_space> const out(
        Kokkos::view_alloc(first, "iso::jobs::verify"), std::size_t(ready.size));
    first.fence("iso::jobs::verify: the output is there");
    with_instances<Exec>(request_.threads, [&](Exec const& exec, int threads) {
      for (auto const& v : what_.variants) {
        for (int repeat = 0; repeat < request_.repeats; ++repeat) {
          // What a run does not write differs from what the next does not write.
          Kokkos::deep_copy(exec, out, T(result.runs) + T(0.5));
          double const seconds = seconds_of(exec, [&] { ready.run(exec, v, out.data()); });
          add_time(result, seconds, most ? ready.least : std::nullopt,
                   most ? *most : ceilings::rates());
          take(result, fetch(exec, out), ready, name_of(threads, v, repeat));
        }
      }
    });
    return result;
  }

 private:
  /// One run's values: the first of a record against the exact answer, all against the very first.
  template <class Exec>
  void take(record& result, std::vector<T> values, prepared<Exec, T> const& ready,
            std::string const& run) {
    if (result.runs == 0) {
      if (ready.exact) {
        if (exact_.empty()) {
          exact_ = ready.exact(max_compared);
        }
        result.error = oracle::relative_l1(values, exact_);
      }
      check_nans(result, values, run);
    }
    if (request_.inject == fault::one_bit && result.runs == 1) {
      auto& victim = values[values.size() / 2];
      victim = std::bit_cast<T>(word_of<T>(raw_bits(victim) ^ 1U));
    }
    bits_.judge(result, std::move(values), run);
  }

  /// Where all backends agree on a NaN that is not the canonical one, they disagree with the
  /// promise.
  static void check_nans(record& result, std::vector<T> const& values, std::string const& run) {
    T const nan = std::bit_cast<T>(word_of<T>(float_bits<T>::canonical_nan));
    std::vector<T> promised = values;
    for (auto& value : promised) {
      value = value == value ? value : nan;
    }
    if (auto const where = first_difference<T>(promised, values)) {
      result.agrees = false;
      result.disagreements.push_back({run + ": not the canonical NaN", *where});
    }
  }

  verify_request const& request_;
  operation const& what_;
  std::vector<double> exact_;
  bit_judge<T> bits_;
};

template <class T>
void compare(verify_request const& request, operation const& what,
             ceilings_of_backends const& ceilings, std::vector<record>& records) {
  comparison<T> all(request, what);
  for (auto const& name : request.backends) {
    backend::with_name(name, [&](auto tag) {
      using exec = typename decltype(tag)::execution_space;
      if (auto const& make = what.make<exec, T>()) {
        auto const found = ceilings.find(name);
        auto const* const most = found == ceilings.end() ? nullptr : &found->second;
        records.push_back(all.template on<exec>(name, make(exec()), most));
      }
    });
  }
}

/// The operations of those names, in the order of the table.
std::vector<operation const*> chosen(std::vector<std::string> const& names) {
  auto const& all = all_cases().operations;
  for (auto const& name : names) {
    ISO_VALIDATE(std::ranges::find(all, name, &operation::name) != all.end(),
                 "verify: operation '{}' is not known (there are {}); ask iso verify --list for "
                 "their names",
                 name, all.size());
  }
  std::vector<operation const*> some;
  for (auto const& one : all) {
    if (names.empty() || std::ranges::find(names, one.name) != names.end()) {
      some.push_back(&one);
    }
  }
  return some;
}

}  // namespace

report verify(verify_request const& request, observer const& watch) {
  ISO_VALIDATE(!request.backends.empty(),
               "verify: no backend (at least one is needed); choose one by --backend");
  ISO_VALIDATE(
      request.repeats >= 1 && request.repeats <= 1000,
      "verify: {} repetitions (must be from 1 to 1000); choose another number by --repeats",
      request.repeats);
  for (int const count : request.threads) {
    ISO_VALIDATE(count >= 1 && count <= 1024,
                 "verify: {} threads (must be from 1 to 1024); choose another number by --threads",
                 count);
    if (std::ranges::find(request.backends, "openmp") != request.backends.end()) {
      check_threads(count);
    }
  }
  auto const operations = chosen(request.operations);
  report result;
  auto const all = all_cases().operations.size();
  if (operations.size() < all) {
    result.notes.push_back(
        message("{} of {} operations ran", {std::int64_t(operations.size()), std::int64_t(all)}));
  }
  result.machine = info(request.backends, ceilings_wanted::no, {});
  auto const ceilings = request.ceilings == ceilings_wanted::yes
                            ? measure_ceilings(result.machine, watch)
                            : ceilings_of_backends();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    watch.step(double(i) / double(operations.size()), operations[i]->name);
    compare<float>(request, *operations[i], ceilings, result.records);
    compare<double>(request, *operations[i], ceilings, result.records);
  }
  watch.step(1, "done");
  result.bits_agree = judge(result.records, request.backends.size());
  return result;
}

std::vector<verify_operation> verify_operations() {
  std::vector<verify_operation> list;
  for (auto const& one : all_cases().operations) {
    list.push_back({one.name, one.functions});
  }
  return list;
}

}  // namespace iso::jobs
