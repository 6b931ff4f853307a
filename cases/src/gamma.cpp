// SPDX-License-Identifier: BSD-3-Clause
//! Two doses compared.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/gamma.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/gamma/ranked_gamma.hpp>

#include <string>
#include <vector>

namespace iso::cases {
namespace {

using gamma::interpolation;
using gamma::normalisation;

/// Rough doses on grids that differ in everything, points outside among them.
two_doses unequal_doses(interpolation between, normalisation normalise) {
  two_doses one{{{9, 8, 10}, {2.5, 2, 3}, {-11, -6, -13}},
                {{12, 9, 11}, {1.75, 2.25, 2.5}, {-9, -8, -14}}};
  one.rough = 0.03;
  one.criteria = {{0.03, 3}, {0.02, 2}, {0.01, 1}};
  one.options.between = between;
  one.options.normalise = normalise;
  one.options.given_dose = normalise == normalisation::given ? 0.75 : 0;
  one.options.cut_off = 0.2;
  return one;
}

/// All counts of a comparison, the largest gamma and the mean as T, the histogram.
template <class T>
std::vector<T> numbers_of(std::vector<gamma::gamma_summary> const& summaries) {
  std::vector<T> numbers;
  for (auto const& s : summaries) {
    // Named: GCC does not read what nvcc makes of a list in the loop's head.
    std::int64_t const counts[] = {s.below_cut_off, s.compared, s.passed, s.outside,
                                   s.outside_passed};
    for (std::int64_t const number : counts) {
      numbers.push_back(T(number));
    }
    numbers.push_back(T(s.largest));
    numbers.push_back(T(s.mean));
    numbers.insert(numbers.end(), s.histogram.begin(), s.histogram.end());
  }
  return numbers;
}

constexpr std::int32_t summary_bins = 20;

/// Compares two doses by three slabs of the reference, one of a single plane.
/// \param f  called with the plan, gamma and status of each
template <class T, class Exec, class F>
void compare_by_slabs(Exec const& exec, two_doses const& what,
                      volume_view<T, typename Exec::memory_space> const& reference,
                      volume_view<T, typename Exec::memory_space> const& evaluated, F const& f) {
  using space = typename Exec::memory_space;
  gamma::dose_bounds of_reference;
  gamma::dose_bounds of_evaluated;
  for (slab const& own : three_slabs(what.reference)) {
    of_reference = of_reference.joined(gamma::bounds_of(exec, planes_of(exec, reference, own)));
  }
  for (slab const& own : three_slabs(what.evaluated)) {
    of_evaluated = of_evaluated.joined(gamma::bounds_of(exec, planes_of(exec, evaluated, own)));
  }
  auto const& n = what.reference.extent;
  for (slab const& own : three_slabs(what.reference)) {
    auto const needed =
        gamma::planes_needed(what.reference, what.evaluated, own, what.criteria, what.options);
    gamma::gamma_plan<T, space> const plan(exec, planes_of(exec, reference, own),
                                           planes_of(exec, evaluated, needed), what.criteria,
                                           what.options, of_reference, of_evaluated);
    gamma::gamma_values<T, space> const values("iso::cases::gamma", what.criteria.size(), n[0],
                                               n[1], own.count());
    gamma::status_values<space> const status("iso::cases::status", n[0], n[1], own.count());
    gamma::gamma_index(exec, plan, values, status);
    f(plan, values, status);
    exec.fence("iso::cases: the slab may go");
  }
}

/// Gamma by slabs.
template <class T>
struct slab_gamma_case {
  gamma_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto result = whole.prepare(exec);
    auto const reference = whole.what.template reference_on<T>(exec);
    auto const evaluated = whole.what.template evaluated_on<T>(exec);
    result.run = [=, what = whole.what](Exec const& on, variant const&, T* out) {
      auto const& n = what.reference.extent;
      gamma::gamma_values<T, space> const all(out, what.criteria.size(), n[0], n[1], n[2]);
      compare_by_slabs<T>(on, what, reference, evaluated,
                          [&](auto const& plan, auto const& values, auto const&) {
                            Kokkos::deep_copy(on, part_of(all, plan.reference().planes()), values);
                          });
    };
    return result;
  }
};

/// The counts of slabs.
template <class T>
struct slab_summary_case {
  two_doses what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    auto const reference = what.reference_on<T>(exec);
    auto const evaluated = what.evaluated_on<T>(exec);
    return {std::int64_t(what.criteria.size()) * (7 + summary_bins),
            [=, with = what](Exec const& on, variant const&, T* out) {
              gamma::gamma_sums sums(with.reference, with.criteria, with.options,
                                     {.bins = summary_bins});
              compare_by_slabs<T>(on, with, reference, evaluated,
                                  [&](auto const& plan, auto const& values, auto const& status) {
                                    sums.add<Exec, T>(on, plan, values, status);
                                  });
              put_at(on, out, numbers_of<T>(sums.finish()));
            }};
  }
};

/// Gamma by ranks.
template <class T>
struct ranked_gamma_case {
  gamma_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    auto result = whole.prepare(exec);
    auto const reference = whole.what.template reference_on<T>(exec);
    auto const evaluated = whole.what.template evaluated_on<T>(exec);
    result.least = {};
    result.run = [=, what = whole.what](Exec const& on, variant const&, T* out) {
      backend::one_rank ranks;
      gamma::ranked_gamma<Exec, T> comparison(
          on, ranks, reference, evaluated, divide_planes(what.reference, ranks.size()),
          divide_planes(what.evaluated, ranks.size()), what.criteria, what.options);
      auto const& n = what.reference.extent;
      auto const status = comparison.make_status("iso::cases::status");
      gamma::gamma_values<T, typename Exec::memory_space> const values(out, what.criteria.size(),
                                                                       n[0], n[1], n[2]);
      comparison.apply(values, status);
    };
    return result;
  }
};

/// What is counted of a comparison.
template <class T>
struct summary_case {
  two_doses what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const plan = std::make_shared<gamma::gamma_plan<T, space> const>(
        exec, what.reference_on<T>(exec), what.evaluated_on<T>(exec), what.criteria, what.options);
    auto const& n = what.reference.extent;
    gamma::gamma_values<T, space> const values("iso::cases::gamma", what.criteria.size(), n[0],
                                               n[1], n[2]);
    gamma::status_values<space> const status("iso::cases::status", n[0], n[1], n[2]);
    gamma::gamma_index(exec, *plan, values, status);
    exec.fence("iso::cases: gamma is there");
    return {std::int64_t(what.criteria.size()) * (7 + summary_bins),
            [=](Exec const& on, variant const&, T* out) {
              put_at(on, out,
                     numbers_of<T>(
                         gamma::summarise(on, *plan, values, status, {.bins = summary_bins})));
            },
            min_work{double(sizeof(T) + 1) * double(values.size()), 0, arithmetic_of<T>}, nullptr};
  }
};

}  // namespace

void add_gamma(catalogue& all) {
  auto const add = [&](std::string const& name, interpolation between, normalisation to) {
    // The least value over trilinear doses is proved to 1e-7.
    double const error = between == interpolation::trilinear ? 2e-7 : 0;
    all.add<gamma_case>({name, {"iso::gamma::gamma_index"}, {{}}, error},
                        unequal_doses(between, to));
  };
  add("gamma_trilinear", interpolation::trilinear, normalisation::global);
  add("gamma_tetrahedra", interpolation::tetrahedra, normalisation::global);
  add("gamma_grid_points", interpolation::grid_points, normalisation::global);
  add("gamma_local", interpolation::trilinear, normalisation::local);
  add("gamma_given", interpolation::trilinear, normalisation::given);
  all.add<summary_case>({"gamma_summary", {"iso::gamma::summarise"}, {{}}, std::nullopt},
                        unequal_doses(interpolation::trilinear, normalisation::global));

  // Their hashes are those of the whole.
  std::vector<std::string> const by_slabs = {"iso::gamma::gamma_index", "iso::gamma::bounds_of",
                                             "iso::gamma::planes_needed", "iso::make_slab"};
  auto const slab_doses = unequal_doses(interpolation::trilinear, normalisation::global);
  all.add<slab_gamma_case>({"gamma_slabs_trilinear", by_slabs, {{}}, 2e-7}, slab_doses);
  all.add<slab_summary_case>(
      {"gamma_slabs_summary", {"iso::gamma::gamma_sums"}, {{}}, std::nullopt, false}, slab_doses);
  all.add<ranked_gamma_case>({"gamma_ranked", {"iso::gamma::ranked_gamma"}, {{}}, 2e-7, false},
                             slab_doses);

  all.add_sized({"gamma_index",
                 "gamma 3 %/3 mm of a hill and the same shifted by 1 mm, times 1.01, 2 mm voxels",
                 "voxels along each side",
                 8,
                 1024,
                 {number_type::f32, number_type::f64},
                 3,
                 shapes::fixed,
                 [](double n) { return 5 * n * n * n; },
                 [](double n) { return 25 * n * n * n; },
                 [](double n) { return 8 * n * n * n; }},
                [](auto const& exec, point const& p) {
                  return in_precision(p, [&]<class T>(T) {
                    gamma_case<T> const what{documented_doses(p.size)};
                    return ready_of(exec, what.prepare(exec), p);
                  });
                });
}

}  // namespace iso::cases
