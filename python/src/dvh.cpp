// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "treatment.hpp"

#include <iso/core/allocate.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/quantity.hpp>
#include <iso/dvh/ranked_dose.hpp>
#include <iso/dvh/structure.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iso::python {

namespace {

/// Keywords of Structure.
struct structure_keywords {
  dvh::structure_options options;
};
constexpr void describe(auto&& visit, describes<structure_keywords> auto& x) {
  describe(visit, x.options);
  visit(x.options.beyond,
        field{.name = "beyond", .says = "cut: what lies outside of a grid is left out"});
}

/// Contours, sorted once for all that is asked.
struct contoured {
  dvh::structure contours;
  std::shared_ptr<dvh::structure_plan const> plan;
};

contoured make_structure(std::string const& name, nb::list contours, nb::dict keywords,
                         any_object cancel) {
  auto const options = options_of<structure_keywords>(keywords, "Structure").options;
  contoured made;
  made.contours.name = name;
  for (nb::handle const each : contours) {
    std::vector<double> const n = doubles_of(each, {"Structure", "contours"}, 3);
    dvh::contour c;
    for (std::size_t i = 0; i < n.size(); i += 3) {
      c.points.push_back({n[i], n[i + 1], n[i + 2]});
    }
    made.contours.contours.push_back(std::move(c));
  }
  call({cancel, {}}, [&](job const& control) {
    made.plan = std::make_shared<dvh::structure_plan const>(made.contours, options, control);
  });
  return made;
}

/// Puts the report's numbers, and lists of pairs, into a dictionary; volumes are mm3.
struct report_putter {
  nb::dict to;

  template <class T>
  void operator()(T const& value, field const& f) const {
    auto const key = keyword_of(f);
    if constexpr (std::is_arithmetic_v<T>) {
      to[key.c_str()] = value;
    } else {
      nb::list pairs;
      for (auto const& [low, high] : value) {
        pairs.append(nb::make_tuple(low, high));
      }
      to[key.c_str()] = pairs;
    }
  }
};

// The library spreads the rows of contours over OpenMP's threads on every backend: calls that do so
// say that they need them.

nb::tuple fractions(contoured const& s, grid const& g, any_object out, bool is_double,
                    std::string const& axes, bool copy, any_object cancel, any_object progress) {
  char const* const name = "Structure.fractions";
  output x(out, {name, "out"}, volume_placement(is_zyx(axes, name), copy), is_double,
           extents_of(g));
  target const at = x.given() != nullptr ? x.given()->at() : target{};
  dvh::structure_report report;
  call({cancel, progress}, place::openmp, [&](job const& control) {
    x.prepare();
    by_type(is_double, [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        report = dvh::rasterise<Exec, T>(
            exec, *s.plan, wrap_volume<typename Exec::memory_space>(x.data<T>(), g), control);
      });
    });
    x.finish();
  });
  nb::dict told;
  report_putter const put{told};
  describe(put, report);
  return nb::make_tuple(x.release(), told);
}

/// A structure in a dose on one backend, in one precision.
class any_histogrammer {
 public:
  any_histogrammer() = default;
  any_histogrammer(any_histogrammer const&) = delete;
  any_histogrammer& operator=(any_histogrammer const&) = delete;
  virtual ~any_histogrammer() = default;
  [[nodiscard]] virtual dvh::dose_statistics statistics(dvh::extremes of,
                                                        job const& control) const = 0;
  [[nodiscard]] virtual std::vector<double> volumes_at(std::vector<double> const& levels,
                                                       job const& control) const = 0;
  [[nodiscard]] virtual std::vector<double> doses_at(std::vector<double> const& volumes,
                                                     job const& control) const = 0;
  [[nodiscard]] virtual std::vector<double> evaluate(std::vector<dvh::quantity> const& quantities,
                                                     dvh::extremes of,
                                                     job const& control) const = 0;
  [[nodiscard]] virtual dvh::histogram histogram(dvh::histogram_options const& options,
                                                 job const& control) const = 0;
};

template <class Exec, class T>
class typed_histogrammer final : public any_histogrammer {
 public:
  using space = typename Exec::memory_space;

  /// `dose` is kept by the caller; the shares are made here.
  typed_histogrammer(Exec const& exec, contoured const& s, T const* dose, grid const& dose_grid,
                     std::int64_t subdivision, job const& control)
      : held_(make(exec, s, dose, dose_grid, subdivision, control)) {}
  /// The same of planes that ranks own. The shares are whole on each rank.
  typed_histogrammer(Exec const& exec, contoured const& s, T const* dose, rank_planes const& share,
                     std::int64_t subdivision, job const& control)
      : held_(make_on_ranks(exec, s, dose, share, subdivision, control)) {}

  [[nodiscard]] dvh::dose_statistics statistics(dvh::extremes of,
                                                job const& control) const override {
    return held_.statistics(of, control);
  }
  [[nodiscard]] std::vector<double> volumes_at(std::vector<double> const& levels,
                                               job const& control) const override {
    return held_.volumes_at(levels, control);
  }
  [[nodiscard]] std::vector<double> doses_at(std::vector<double> const& volumes,
                                             job const& control) const override {
    return held_.doses_at(volumes, control);
  }
  [[nodiscard]] std::vector<double> evaluate(std::vector<dvh::quantity> const& quantities,
                                             dvh::extremes of, job const& control) const override {
    return held_.evaluate(quantities, of, control);
  }
  [[nodiscard]] dvh::histogram histogram(dvh::histogram_options const& options,
                                         job const& control) const override {
    return held_.make_histogram(options, control);
  }

 private:
  /// Returns the shares of the voxels about a structure, and points of its surface.
  static dvh::region<T, space> region_of(Exec const& exec, contoured const& s,
                                         grid const& dose_grid, std::int64_t subdivision,
                                         job const& control) {
    grid const g = dvh::structure_grid(*s.plan, dose_grid, subdivision);
    auto const shares = make_volume<T, space>(exec, "isocenter.Dvh: shares", g);
    dvh::rasterise<Exec, T>(exec, *s.plan, shares, control);
    auto const points =
        dvh::surface_points(*s.plan, std::min({g.spacing.x, g.spacing.y, g.spacing.z}));
    Kokkos::View<vec3<double>*, space> const surface = allocate<Kokkos::View<vec3<double>*, space>>(
        "isocenter.Dvh: surface", {std::int64_t(points.size())}, exec, Kokkos::WithoutInitializing);
    Kokkos::deep_copy(
        exec, surface,
        Kokkos::View<vec3<double> const*, Kokkos::HostSpace>(points.data(), points.size()));
    exec.fence("isocenter.Dvh: the points may go");
    return {shares, surface};
  }
  static dvh::histogrammer<Exec, T> make(Exec const& exec, contoured const& s, T const* dose,
                                         grid const& dose_grid, std::int64_t subdivision,
                                         job const& control) {
    return {exec, wrap_volume<space>(dose, dose_grid),
            region_of(exec, s, dose_grid, subdivision, control), control};
  }
  static dvh::histogrammer<Exec, T> make_on_ranks(Exec const& exec, contoured const& s,
                                                  T const* dose, rank_planes const& share,
                                                  std::int64_t subdivision, job const& control) {
    // A rank that is cancelled stops with the others, where they ask each other.
    auto const where = region_of(exec, s, share.grid, subdivision, {});
    grid const& shares = where.fractions.grid;
    dvh::ranked_dose<Exec, T> const here(exec, *share.ranks, share.volume<space>(dose), share.all,
                                         {shares});
    return {exec, *share.ranks,
            here.source(
                shares, [held = where.fractions](slab const&) { return held; }, where.surface),
            control};
  }

  dvh::histogrammer<Exec, T> held_;
};

dvh::extremes extremes_of(std::string const& word) {
  auto const found = from_word<dvh::extremes>(word);
  ISO_VALIDATE(found.has_value(), "Dvh: extremes is '{}' (there are: {}); choose one of those",
               word, all_words<dvh::extremes>());
  return *found;
}

/// What Python's class Dvh holds: a structure in a dose, whose memory it keeps.
class histograms {
 public:
  /// \param share  the planes that ranks own, or None: the whole dose is here
  histograms(contoured const& s, grid const& g, any_object share, any_object dose,
             std::int64_t subdivision, std::string const& axes, bool copy, any_object cancel,
             any_object progress)
      : share_(nb::handle(share).is_none()
                   ? std::optional<rank_planes>()
                   : std::optional(nb::cast<rank_planes>(nb::handle(share)))),
        dose_(dose, {"Dvh", "dose"}, volume_placement(is_zyx(axes, "Dvh"), copy),
              share_ ? share_->extents() : extents_of(g), false),
        at_(dose_.at()) {
    call(
        {cancel, progress}, place::openmp,
        [&](job const& control) {
          dose_.prepare(true);
          dose_.keep();
          by_type(dose_.is_double(), [&]<class T>() {
            on_backend(at_, [&]<class Exec>(Exec const& exec) {
              using typed = typed_histogrammer<Exec, T>;
              T const* const values = dose_.data<T const>();
              held_ = share_
                          ? std::make_unique<typed>(exec, s, values, *share_, subdivision, control)
                          : std::make_unique<typed>(exec, s, values, g, subdivision, control);
            });
          });
        },
        who());
  }

  nb::dict statistics(std::string const& of, any_object cancel) const {
    auto const points = extremes_of(of);
    dvh::dose_statistics s;
    read(cancel, [&](job const& control) { s = held_->statistics(points, control); });
    nb::dict told;
    told["volume"] = s.volume;
    told["outside"] = s.outside;
    told["mean"] = s.mean;
    told["minimum"] = s.minimum;
    told["maximum"] = s.maximum;
    return told;
  }
  nb::object volumes_at(any_object levels, any_object cancel) const {
    return numbers(cancel, [&, x = doubles_of(levels, {"Dvh.volumes_at", "levels"})](
                               job const& control) { return held_->volumes_at(x, control); });
  }
  nb::object doses_at(any_object volumes, any_object cancel) const {
    return numbers(cancel, [&, x = doubles_of(volumes, {"Dvh.doses_at", "volumes"})](
                               job const& control) { return held_->doses_at(x, control); });
  }
  nb::object evaluate(std::vector<std::string> const& names, double prescription,
                      std::string const& of, any_object cancel) const {
    auto const points = extremes_of(of);
    std::vector<dvh::quantity> quantities;
    for (auto const& name : names) {
      quantities.push_back(dvh::quantity_named(name, prescription));
    }
    return numbers(
        cancel, [&](job const& control) { return held_->evaluate(quantities, points, control); });
  }
  nb::dict histogram(std::int64_t bins, double end, any_object cancel) const {
    dvh::histogram h;
    read(cancel, [&](job const& control) { h = held_->histogram({bins, end}, control); });
    nb::dict told;
    told["bin_width"] = h.bin_width;
    told["volume"] = h.volume;
    told["outside"] = h.outside;
    std::size_t const n = h.differential.size();
    told["cumulative"] = numpy_of(std::move(h.cumulative), {n + 1});
    told["differential"] = numpy_of(std::move(h.differential), {n});
    return told;
  }

 private:
  [[nodiscard]] made_by who() const { return share_ ? made_by::all_ranks : made_by::one; }
  /// Calls `f(control)`, which reads what is held.
  template <class F>
  void read(nb::handle cancel, F const& f) const {
    call(
        {cancel, {}}, place::openmp,
        [&](job const& control) { in_turn_at(at_, [&] { f(control); }); }, who());
  }
  template <class F>
  nb::object numbers(nb::handle cancel, F const& f) const {
    std::vector<double> found;
    read(cancel, [&](job const& control) { found = f(control); });
    std::size_t const n = found.size();
    return numpy_of(std::move(found), {n});
  }

  std::optional<rank_planes> share_;
  native_array dose_;
  target at_;  ///< where it lies, in the stream in which this was made
  std::unique_ptr<any_histogrammer> held_;
};

}  // namespace

void bind_dvh(nb::module_& m) {
  nb::class_<contoured>(m, "Structure")
      .def_static("make", make_structure)
      .def("fractions", fractions)
      .def("grid",
           [](contoured const& s, grid const& dose, std::int64_t subdivision) {
             return dvh::structure_grid(*s.plan, dose, subdivision);
           })
      .def("surface_points", [](contoured const& s, double distance) {
        std::vector<double> n;
        for (auto const& p : dvh::surface_points(*s.plan, distance)) {
          n.insert(n.end(), {p.x, p.y, p.z});
        }
        std::size_t const count = n.size() / 3;
        return numpy_of(std::move(n), {count, 3});
      });
  nb::class_<histograms>(m, "Dvh")
      .def(nb::init<contoured const&, grid const&, any_object, any_object, std::int64_t,
                    std::string const&, bool, any_object, any_object>())
      .def("statistics", &histograms::statistics)
      .def("volumes_at", &histograms::volumes_at)
      .def("doses_at", &histograms::doses_at)
      .def("evaluate", &histograms::evaluate)
      .def("histogram", &histograms::histogram);
  m.def("unit_of_quantity", [](std::string const& name, double prescription) {
    return std::string(dvh::unit_of(dvh::quantity_named(name, prescription)));
  });
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["StructureOptions"] = fields_of<structure_keywords>();
}

}  // namespace iso::python
