// SPDX-License-Identifier: BSD-3-Clause
//! Two doses compared.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/gamma.hpp>

#include <string>

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

/// What is counted of a comparison: all counts, the largest gamma and the mean as T, the histogram.
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
    std::int32_t const bins = 20;
    return {std::int64_t(what.criteria.size()) * (7 + bins),
            [=](Exec const& on, variant const&, T* out) {
              std::vector<T> numbers;
              for (auto const& s : gamma::summarise(on, *plan, values, status, {.bins = bins})) {
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
              put_at(on, out, numbers);
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
