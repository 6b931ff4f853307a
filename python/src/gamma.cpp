// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"
#include "options.hpp"
#include "treatment.hpp"

#include <iso/gamma/gamma_index.hpp>

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

nb::tuple gamma_index(grid const& reference_grid, any_object reference, grid const& evaluated_grid,
                      any_object evaluated, std::vector<std::string> const& named,
                      nb::dict keywords, std::string const& axes, bool copy, any_object cancel,
                      any_object progress) {
  bool const zyx = is_zyx(axes, "gamma");
  auto const chosen = options_of<gamma_keywords>(keywords, "gamma");
  std::vector<gamma::criterion> criteria;
  for (auto const& text : named) {
    criteria.push_back(gamma::criterion_named(text));
  }
  placement const where = volume_placement(zyx, copy);
  native_array r(reference, {"gamma", "reference"}, where, extents_of(reference_grid), false);
  native_array e(evaluated, {"gamma", "evaluated"}, where, extents_of(evaluated_grid), false);
  require_type(e, r.is_double(), "gamma", "evaluated");
  auto const n = extents_of(reference_grid);
  owned_memory values{nullptr, nullptr};
  owned_memory status{nullptr, nullptr};
  std::vector<gamma::gamma_summary> summaries;
  call({cancel, progress}, [&](job const& control) {
    r.prepare(true);
    e.prepare(true);
    auto const count = std::int64_t(criteria.size());
    values = own(count * reference_grid.size() * (r.is_double() ? 8 : 4), "gamma");
    status = own(reference_grid.size(), "gamma");
    by_type(r.is_double(), [&]<class T>() {
      on_backend([&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        gamma::gamma_plan<T, space> const plan(
            exec, wrap_volume<space>(r.data<T const>(), reference_grid),
            wrap_volume<space>(e.data<T const>(), evaluated_grid), criteria, chosen.options);
        gamma::gamma_values<T, space> const to(static_cast<T*>(values.get()), std::size_t(count),
                                               std::size_t(n[0]), std::size_t(n[1]),
                                               std::size_t(n[2]));
        gamma::status_values<space> const at(static_cast<gamma::point_status*>(status.get()),
                                             std::size_t(n[0]), std::size_t(n[1]),
                                             std::size_t(n[2]));
        gamma::gamma_index<Exec, T>(exec, plan, to, at, control);
        gamma::gamma_values<T const, space> const found = to;
        gamma::const_status_values<space> const outcome = at;
        summaries = gamma::summarise<Exec, T>(
            exec, plan, found, outcome,
            {chosen.strict ? gamma::pass_rule::below_one : gamma::pass_rule::at_most_one,
             chosen.bins});
      });
    });
  });
  nb::list told;
  for (auto const& summary : summaries) {
    told.append(dictionary_of(summary));
  }
  std::int64_t const size = reference_grid.size();
  auto const shape = [&](bool several) {
    std::vector<std::size_t> all;
    if (several) {
      all.push_back(criteria.size());
    }
    for (std::size_t i = 0; i < 3; ++i) {
      all.push_back(std::size_t(n[zyx ? 2 - i : i]));
    }
    return all;
  };
  std::vector<std::int64_t> strides{1, n[2], n[1] * n[2]};
  if (!zyx) {
    strides = {n[1] * n[2], n[2], 1};
  }
  std::vector<std::int64_t> with_criteria{size};
  with_criteria.insert(with_criteria.end(), strides.begin(), strides.end());
  return nb::make_tuple(numpy_of(std::move(values), r.is_double() ? element::f64 : element::f32,
                                 shape(true), with_criteria),
                        numpy_of(std::move(status), element::u8, shape(false), strides), told);
}

}  // namespace

void bind_gamma(nb::module_& m) {
  m.def("gamma", gamma_index);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["GammaOptions"] = fields_of<gamma_keywords>();
}

}  // namespace iso::python
