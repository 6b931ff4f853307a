// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "treatment.hpp"

#include <iso/gamma/gamma_index.hpp>
#include <iso/gamma/ranked_gamma.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace iso::python {

namespace {

/// Puts described fields into a dictionary, in the library's units.
struct field_putter {
  nb::dict to;

  template <class T>
  void operator()(T const& value, field const& f) const {
    if constexpr (std::is_arithmetic_v<T>) {
      to[keyword_of(f).c_str()] = value;
    }
  }
};

/// Keywords of gamma(): those of the comparison and of its summary.
struct gamma_keywords {
  gamma::gamma_options options;
  std::int32_t bins = 100;
  bool strict = false;
};
constexpr void describe(auto&& visit, describes<gamma_keywords> auto& x) {
  describe(visit, x.options);
  visit(x.bins,
        field{.name = "bins", .says = "of the histograms, from 0 to the maximum gamma", .low = 1});
  visit(x.strict, field{.name = "strict", .says = "a gamma of exactly 1 does not pass"});
}

nb::dict dictionary_of(gamma::gamma_summary const& s) {
  nb::dict one;
  field_putter const put{one};
  describe(put, s);
  one["histogram"] = numpy_of(s.histogram, {s.histogram.size()});
  return one;
}

/// The arrays that a comparison writes: on the host new ones, on a GPU those that Python's side has
/// made by the framework of the doses.
class gamma_arrays {
 public:
  /// \param made  the values and the status in the library's order, of doses on a GPU; else None
  gamma_arrays(nb::handle made, bool is_double, std::int64_t criteria,
               std::array<std::int64_t, 3> const& extents)
      : made_(made), is_double_(is_double), criteria_(criteria), n_(extents) {
    if (!made.is_none()) {
      nb::handle const pair = made;
      given_[0] = borrow(nb::object(pair[0]), {"gamma", "values", true}, true);
      given_[1] = borrow(nb::object(pair[1]), {"gamma", "status", true}, true);
      ISO_VALIDATE(given_[0].size() == criteria * size() && given_[1].size() == size() &&
                       given_[1].type == element::u8 &&
                       given_[0].type == (is_double ? element::f64 : element::f32),
                   "gamma: arrays of another size or type on {} (the doses' framework made them); "
                   "copy the doses to the host first",
                   "a GPU");
    }
  }

  void prepare() {
    if (made_.is_none()) {
      values_ = own(criteria_ * size() * (is_double_ ? 8 : 4), "gamma");
      status_ = own(size(), "gamma");
    }
  }
  template <class T, class Space>
  [[nodiscard]] gamma::gamma_values<T, Space> values() const {
    void* const at = made_.is_none() ? values_.get() : given_[0].data;
    return gamma::gamma_values<T, Space>(static_cast<T*>(at), std::size_t(criteria_),
                                         std::size_t(n_[0]), std::size_t(n_[1]),
                                         std::size_t(n_[2]));
  }
  template <class Space>
  [[nodiscard]] gamma::status_values<Space> status() const {
    void* const at = made_.is_none() ? status_.get() : given_[1].data;
    return gamma::status_values<Space>(static_cast<gamma::point_status*>(at), std::size_t(n_[0]),
                                       std::size_t(n_[1]), std::size_t(n_[2]));
  }
  /// Returns both arrays, in Python's order of axes. The GIL is held.
  [[nodiscard]] std::pair<nb::object, nb::object> release(bool zyx) {
    if (!made_.is_none()) {
      return {nb::object(made_[0]), nb::object(made_[1])};
    }
    std::vector<std::size_t> shape{std::size_t(criteria_)};
    for (std::size_t i = 0; i < 3; ++i) {
      shape.push_back(std::size_t(n_[zyx ? 2 - i : i]));
    }
    std::vector<std::int64_t> strides{size(), n_[1] * n_[2], n_[2], 1};
    if (zyx) {
      std::swap(strides[1], strides[3]);
    }
    return {numpy_of(std::move(values_), is_double_ ? element::f64 : element::f32, shape, strides),
            numpy_of(std::move(status_), element::u8, {shape.begin() + 1, shape.end()},
                     {strides.begin() + 1, strides.end()})};
  }

 private:
  [[nodiscard]] std::int64_t size() const { return n_[0] * n_[1] * n_[2]; }

  nb::handle made_;
  bool is_double_;
  std::int64_t criteria_;
  std::array<std::int64_t, 3> n_;
  std::array<lent_array, 2> given_;
  owned_memory values_{nullptr, nullptr};
  owned_memory status_{nullptr, nullptr};
};

std::vector<gamma::criterion> criteria_of(std::vector<std::string> const& named) {
  std::vector<gamma::criterion> criteria;
  for (auto const& text : named) {
    criteria.push_back(gamma::criterion_named(text));
  }
  return criteria;
}

gamma::summary_options summary_of(gamma_keywords const& chosen) {
  return {chosen.strict ? gamma::pass_rule::below_one : gamma::pass_rule::at_most_one, chosen.bins};
}

/// Returns the values, the status and the summaries. The GIL is held.
nb::tuple result_of(gamma_arrays& arrays, std::vector<gamma::gamma_summary> const& summaries,
                    bool zyx) {
  nb::list told;
  for (auto const& summary : summaries) {
    told.append(dictionary_of(summary));
  }
  auto [values, status] = arrays.release(zyx);
  return nb::make_tuple(std::move(values), std::move(status), told);
}

nb::tuple gamma_index(grid const& reference_grid, any_object reference, grid const& evaluated_grid,
                      any_object evaluated, std::vector<std::string> const& named, any_object made,
                      nb::dict keywords, std::string const& axes, bool copy, any_object cancel,
                      any_object progress) {
  bool const zyx = is_zyx(axes, "gamma");
  auto const chosen = options_of<gamma_keywords>(keywords, "gamma");
  auto const criteria = criteria_of(named);
  placement const where = volume_placement(zyx, copy);
  native_array r(reference, {"gamma", "reference"}, where, extents_of(reference_grid), false);
  native_array e(evaluated, {"gamma", "evaluated"}, where, extents_of(evaluated_grid), false);
  require_type(e, r.is_double(), "gamma", "evaluated");
  target const at = target_of("gamma", {&r, &e}, !nb::handle(made).is_none());
  gamma_arrays arrays(made, r.is_double(), std::int64_t(criteria.size()),
                      extents_of(reference_grid));
  std::vector<gamma::gamma_summary> summaries;
  call({cancel, progress}, at, [&](job const& control) {
    r.prepare(true);
    e.prepare(true);
    arrays.prepare();
    by_type(r.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        gamma::gamma_plan<T, space> const plan(
            exec, wrap_volume<space>(r.data<T const>(), reference_grid),
            wrap_volume<space>(e.data<T const>(), evaluated_grid), criteria, chosen.options);
        auto const values = arrays.values<T, space>();
        auto const status = arrays.status<space>();
        gamma::gamma_index<Exec, T>(exec, plan, values, status, control);
        gamma::gamma_values<T const, space> const found = values;
        gamma::const_status_values<space> const outcome = status;
        summaries = gamma::summarise<Exec, T>(exec, plan, found, outcome, summary_of(chosen));
      });
    });
  });
  return result_of(arrays, summaries, zyx);
}

/// Compares the planes that ranks own.
nb::tuple ranked_gamma(rank_planes const& of_reference, any_object reference,
                       rank_planes const& of_evaluated, any_object evaluated,
                       std::vector<std::string> const& named, any_object made, nb::dict keywords,
                       std::string const& axes, bool copy, any_object cancel, any_object progress) {
  char const* const name = "mpi.gamma";
  bool const zyx = is_zyx(axes, name);
  auto const chosen = options_of<gamma_keywords>(keywords, name);
  auto const criteria = criteria_of(named);
  ISO_VALIDATE(of_reference.ranks == of_evaluated.ranks,
               "{}: planes of other ranks than the evaluated ones (one job compares both); make "
               "both of one Ranks",
               name);
  placement const where = volume_placement(zyx, copy);
  native_array r(reference, {name, "reference"}, where, of_reference.extents(), false);
  native_array e(evaluated, {name, "evaluated"}, where, of_evaluated.extents(), false);
  require_type(e, r.is_double(), name, "evaluated");
  target const at = target_of(name, {&r, &e}, !nb::handle(made).is_none());
  gamma_arrays arrays(made, r.is_double(), std::int64_t(criteria.size()), of_reference.extents());
  std::vector<gamma::gamma_summary> summaries;
  call(
      {cancel, progress}, at,
      [&](job const& control) {
        r.prepare(true);
        e.prepare(true);
        arrays.prepare();
        by_type(r.is_double(), [&]<class T>() {
          on_backend(at, [&]<class Exec>(Exec const& exec) {
            using space = typename Exec::memory_space;
            gamma::ranked_gamma<Exec, T> comparison(
                exec, *of_reference.ranks, of_reference.volume<space>(r.data<T const>()),
                of_evaluated.volume<space>(e.data<T const>()), of_reference.all, of_evaluated.all,
                criteria, chosen.options);
            auto const values = arrays.values<T, space>();
            auto const status = arrays.status<space>();
            comparison.apply(values, status, control);
            gamma::gamma_values<T const, space> const found = values;
            gamma::const_status_values<space> const outcome = status;
            summaries = comparison.summarise(found, outcome, summary_of(chosen));
          });
        });
      },
      made_by::all_ranks);
  return result_of(arrays, summaries, zyx);
}

}  // namespace

void bind_gamma(nb::module_& m) {
  m.def("gamma", gamma_index);
  m.def("ranked_gamma", ranked_gamma);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["GammaOptions"] = fields_of<gamma_keywords>();
}

}  // namespace iso::python
