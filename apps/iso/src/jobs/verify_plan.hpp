// SPDX-License-Identifier: BSD-3-Clause
//! The table of operations that `iso verify` runs, and how one of them is compared.
//!
//! A line of the table is `all.add<some_case>({name, functions, variants}, arguments...)`, where
//!
//!     template <class T>
//!     struct some_case {
//!       ... arguments ...
//!       template <class Exec>
//!       prepared<Exec, T> prepare(Exec const& exec) const;
//!     };
//!
//! puts the inputs where `Exec` reads them and returns how many numbers of T a run writes, the run
//! itself, the least that it must move and compute, and how to get the answer without the library.
//! It is taken in float and in double, on every backend, with every number of threads, in every
//! variant, repeated; all bits must be those of the very first run. Integers of magnitude up to
//! 2^24 may be written as T.
#pragma once

#include "instances.hpp"
#include "record.hpp"
#include "scan.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/work.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/jobs/verify.hpp>
#include <iso/oracle/products.hpp>
#include <iso/oracle/projections.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::jobs {

using namespace oracle;

/// What must not change a bit.
struct variant {
  std::int64_t groups = 0;  ///< lane groups a launch; 0: all
  std::int32_t slab = 0;    ///< driving planes a launch; 0: chosen
  ct::joseph_path path = ct::joseph_path::automatic;
  std::int32_t layout = 0;  ///< which of the ways that the operation has to store its input
};

/// The launch shapes that every operation with lane groups is run in.
inline std::vector<variant> const launch_shapes = {{}, {4096}, {257}};

/// An operation with its inputs where `Exec` reads them: run(exec, variant, out) enqueues it.
template <class Exec, class T>
struct prepared {
  std::int64_t size = 0;
  std::function<void(Exec const&, variant const&, T* out)> run;
  std::optional<least_work> least = {};                  ///< empty: has no model
  std::function<std::vector<double>()> exact = nullptr;  ///< NaN where rounding may decide
};

/// What the table says of an operation besides its case.
struct operation {
  std::string name;
  std::vector<std::string> functions;  ///< those of docs/determinism.md that it runs
  std::vector<variant> variants = launch_shapes;
};

std::string name_of(int threads, variant const& v, int repeat);

/// One operation in one precision, on one backend after the other.
template <class T>
class comparison {
 public:
  comparison(verify_request const& request, operation what)
      : request_(request), what_(std::move(what)) {}

  template <class Exec>
  record on(std::string const& backend, prepared<Exec, T> const& ready,
            ceilings::rates const& most) {
    auto result = new_record<T>(what_.name, backend);
    result.functions = what_.functions;
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
          add_time(result, seconds, ready.least, most);
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
          exact_ = ready.exact();
        }
        result.error = relative_l1(values, exact_);
      }
      check_nans(result, values, run);
    }
    inject(result, values);
    bits_.judge(result, std::move(values), run);
  }
  /// Where all backends agree on a NaN that is not the canonical one, they disagree with the
  /// promise.
  static void check_nans(record& result, std::vector<T> const& values, std::string const& run);
  void inject(record const& result, std::vector<T>& values) const;

  verify_request const& request_;
  operation what_;
  std::vector<double> exact_;
  bit_judge<T> bits_;
};

/// The table, as steps to be run one after another.
class plan {
 public:
  plan(verify_request const& request, ceilings_of_backends ceilings)
      : request_(request), ceilings_(std::move(ceilings)) {}

  /// A line, in float and in double.
  template <template <class> class Case, class... Arguments>
  void add(operation const& what, Arguments const&... arguments) {
    add_one(what, Case<float>{arguments...});
    add_one(what, Case<double>{arguments...});
  }
  /// A line of what only double computes.
  template <template <class> class Case, class... Arguments>
  void add_double(operation const& what, Arguments const&... arguments) {
    add_one(what, Case<double>{arguments...});
  }

  [[nodiscard]] std::vector<record> run(observer const& watch) const;

 private:
  template <class T, template <class> class Case>
  void add_one(operation const& what, Case<T> const& inputs) {
    steps_.push_back({what.name, [this, what, inputs](std::vector<record>& records) {
                        comparison<T> compare(request_, what);
                        for (auto const& name : request_.backends) {
                          backend::with_name(name, [&](auto tag) {
                            using exec = typename decltype(tag)::execution_space;
                            records.push_back(compare.template on<exec>(
                                name, inputs.prepare(exec()), ceilings_.at(name)));
                          });
                        }
                      }});
  }

  struct step {
    std::string name;
    std::function<void(std::vector<record>&)> run;
  };
  verify_request const& request_;
  ceilings_of_backends ceilings_;
  std::vector<step> steps_;
};

/// The table's parts, one an area of the library, each in its verify_AREA.cpp.
void add_core(plan& all);
void add_rays(plan& all);
void add_readings(plan& all);
void add_projections(plan& all);
void add_back_projections(plan& all);
void add_reconstruction(plan& all);
void add_dose(plan& all);
void add_sparse(plan& all);

}  // namespace iso::jobs
