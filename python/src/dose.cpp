// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"
#include "held.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "treatment.hpp"

#include <iso/dose/calculator.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/ranked_calculator.hpp>
#include <iso/dose/terma.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iso::python {

namespace {

using three = std::array<double, 3>;

/// Returns a beam of Python's numbers: angles in degrees, whole turns of which change no bit.
dose::beam make_beam(double source_distance, three const& isocentre, three const& degrees,
                     std::array<double, 4> const& map, any_object fluence, double weight) {
  auto const radians = units::turned_degrees.to_library;
  lent_array const f = borrow(fluence, {"dose.Beam", "fluence", false, true}, false);
  ISO_VALIDATE(f.rank == 2 && f.type == element::f64 && f.size() > 0,
               "dose.Beam: fluence of {} axes (a map of float64 has 2: x, y); give a map", f.rank);
  dose::beam b;
  b.source_distance = source_distance;
  b.isocentre = {isocentre[0], isocentre[1], isocentre[2]};
  b.gantry = radians(degrees[0]);
  b.couch = radians(degrees[1]);
  b.collimator = radians(degrees[2]);
  b.fluence.x_low = map[0];
  b.fluence.y_low = map[1];
  b.fluence.pixel_x = map[2];
  b.fluence.pixel_y = map[3];
  b.fluence.columns = f.extent[0];
  b.fluence.rows = f.extent[1];
  auto const* const values = reinterpret_cast<double const*>(f.data);
  for (std::int64_t i = 0; i < f.extent[0]; ++i) {
    for (std::int64_t j = 0; j < f.extent[1]; ++j) {
      b.fluence.values.push_back(values[i * f.stride[0] + j * f.stride[1]]);
    }
  }
  b.weight = weight;
  dose::frame_of(b);  // checks it
  return b;
}

dose::spectrum spectrum_of(std::string const& name, std::string const& table) {
  return table.empty() ? dose::named_spectrum(name) : dose::parse_spectrum(table, name);
}

dose::point_kernel kernel_of(std::string const& name, std::string const& table,
                             dose::spectrum const& photons) {
  return table.empty() ? dose::point_kernel(dose::named_kernel(name))
                       : dose::parse_kernel(table, name, photons);
}

/// A calculator on one backend, in one precision.
class any_calculator {
 public:
  any_calculator() = default;
  any_calculator(any_calculator const&) = delete;
  any_calculator& operator=(any_calculator const&) = delete;
  virtual ~any_calculator() = default;
  virtual void clear(void* dose) const = 0;
  virtual void add(dose::beam const& b, void const* density, void* dose, job const& control) = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
  [[nodiscard]] virtual std::int64_t directions() const = 0;
};

template <class Exec, class T>
class typed_calculator final : public any_calculator {
 public:
  using space = typename Exec::memory_space;

  typed_calculator(Exec const& exec, grid const& patient, std::vector<dose::energy_component> parts,
                   dose::calculator_options const& options)
      : exec_(exec), patient_(patient), calculator_(exec, patient, std::move(parts), options) {}

  void clear(void* dose) const override {
    Kokkos::deep_copy(exec_, wrap_volume<space>(static_cast<T*>(dose), patient_).data, T(0));
  }
  void add(dose::beam const& b, void const* density, void* dose, job const& control) override {
    calculator_.add(b, wrap_volume<space>(static_cast<T const*>(density), patient_),
                    wrap_volume<space>(static_cast<T*>(dose), patient_), control);
    wait_on_host(exec_, "isocenter.dose.Calculator: the beam is there");
  }
  [[nodiscard]] std::int64_t bytes() const override { return calculator_.bytes_held(); }
  [[nodiscard]] std::int64_t directions() const override { return calculator_.num_directions(); }

 private:
  Exec exec_;
  grid patient_;
  dose::calculator<Exec, T> calculator_;
};

/// The same on ranks, each of which has its planes of the dose and the whole density.
template <class Exec, class T>
class ranked_calculator final : public any_calculator {
 public:
  using space = typename Exec::memory_space;

  ranked_calculator(Exec const& exec, rank_planes const& share,
                    std::vector<dose::energy_component> const& parts,
                    dose::calculator_options const& options)
      : exec_(exec),
        share_(share),
        calculator_(exec, *share_.ranks, share_.grid, share_.all, parts, options) {}

  void clear(void* dose) const override {
    Kokkos::deep_copy(exec_, share_.volume<space>(static_cast<T*>(dose)).data, T(0));
  }
  void add(dose::beam const& b, void const* density, void* dose, job const& control) override {
    calculator_.add(b, wrap_volume<space>(static_cast<T const*>(density), share_.grid),
                    share_.volume<space>(static_cast<T*>(dose)), control);
    exec_.fence("isocenter.mpi.Calculator: the beam is there");
  }
  [[nodiscard]] std::int64_t bytes() const override { return calculator_.report().bytes_held; }
  [[nodiscard]] std::int64_t directions() const override { return calculator_.num_directions(); }

 private:
  Exec exec_;
  rank_planes share_;
  dose::ranked_calculator<Exec, T> calculator_;
};

/// What Python's class dose.Calculator holds.
class calculator {
 public:
  /// \param share  the planes that ranks own, or None: the whole dose is here
  calculator(grid const& patient, any_object share, bool is_double, std::string const& kernel,
             std::string const& kernel_table, std::string const& spectrum,
             std::string const& spectrum_table, bool by_energy, nb::dict keywords,
             std::string const& axes, bool copy)
      : patient_(patient),
        is_double_(is_double),
        zyx_(is_zyx(axes, "dose.Calculator")),
        copy_(copy) {
    options_ = options_of<dose::calculator_options>(keywords, "dose.Calculator");
    auto const photons = spectrum_of(spectrum, spectrum_table);
    if (by_energy) {
      parts_of_spectrum_ = dose::split_by_energy(dose::water_kernels(), photons);
    } else {
      parts_of_spectrum_.push_back({1, photons, kernel_of(kernel, kernel_table, photons)});
    }
    if (!nb::handle(share).is_none()) {
      share_ = nb::cast<rank_planes>(nb::handle(share));
    }
    parts_.begin([this](auto const& exec) { return make(exec); },
                 share_ ? made_by::all_ranks : made_by::one);
  }

  /// Adds beams to `out`, or to zeros where that is `fresh`.
  nb::object add(nb::list beams, any_object density, any_object out, bool fresh, any_object cancel,
                 any_object progress) {
    bool const ranks = share_.has_value();
    char const* const name = ranks ? "mpi.Calculator" : "dose.Calculator";
    placement const where = volume_placement(zyx_, copy_);
    // Ranks make what they hold together: none of them makes it anew for a stream of its own.
    native_array d(density, {name, "density", false, ranks}, where, extents_of(patient_), false);
    require_type(d, is_double_, name, "density");
    output x(out, {name, "out", false, ranks}, where, is_double_,
             ranks ? share_->extents() : extents_of(patient_));
    std::vector<dose::beam> all;
    for (nb::handle const each : beams) {
      all.push_back(nb::cast<dose::beam>(each));
    }
    parts_.in_turn(
        name, {cancel, progress}, target_of(name, {&d}, x),
        [this](auto const& exec) { return make(exec); },
        [&](any_calculator& held, job const& control) {
          d.prepare(true);
          x.prepare(!fresh);
          if (fresh) {
            held.clear(x.data<void>());
          }
          for (std::size_t n = 0; n < all.size(); ++n) {
            held.add(all[n], d.data<void>(), x.data<void>(),
                     iso::detail::part_of(control, double(n) / double(all.size()),
                                          double(n + 1) / double(all.size())));
          }
          x.finish();
        });
    return x.release();
  }

  void close() { parts_.close(); }
  [[nodiscard]] std::int64_t bytes() const { return parts_.bytes(); }
  [[nodiscard]] std::int64_t directions() const {
    auto const held = parts_.first();
    return held ? held->directions() : 0;
  }

 private:
  /// Makes a calculator.
  template <class Exec>
  [[nodiscard]] std::shared_ptr<any_calculator> make(Exec const& exec) const {
    return by_type(is_double_, [&]<class T>() -> std::shared_ptr<any_calculator> {
      if (share_) {
        return std::make_shared<ranked_calculator<Exec, T>>(exec, *share_, parts_of_spectrum_,
                                                            options_);
      }
      return std::make_shared<typed_calculator<Exec, T>>(exec, patient_, parts_of_spectrum_,
                                                         options_);
    });
  }

  grid patient_;
  bool is_double_;
  bool zyx_;
  bool copy_;
  dose::calculator_options options_;
  std::vector<dose::energy_component> parts_of_spectrum_;
  std::optional<rank_planes> share_;
  held_parts<any_calculator> parts_;
};

nb::object terma(grid const& density_grid, any_object density, dose::beam const& b,
                 std::string const& spectrum, std::string const& spectrum_table,
                 grid const& result_grid, any_object out, nb::dict keywords,
                 std::string const& axes, bool copy, any_object cancel, any_object progress) {
  char const* const name = "dose.terma";
  placement const where = volume_placement(is_zyx(axes, name), copy);
  auto const options = options_of<dose::terma_options>(keywords, name);
  auto const photons = spectrum_of(spectrum, spectrum_table);
  native_array d(density, {name, "density"}, where, extents_of(density_grid), false);
  output t(out, {name, "out"}, where, d.is_double(), extents_of(result_grid));
  target const at = target_of(name, {&d}, t);
  call({cancel, progress}, at, [&](job const& control) {
    d.prepare(true);
    t.prepare();
    by_type(d.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        dose::terma_plan<space> const plan(exec, b, photons, options);
        dose::terma<Exec, T>(exec, plan, wrap_volume<space>(d.data<T const>(), density_grid),
                             wrap_volume<space>(t.data<T>(), result_grid), control);
        wait_for(exec, name);
      });
    });
    t.finish();
  });
  return t.release();
}

/// The keywords of convolve().
struct convolve_keywords {
  dose::cone_options cones;
  dose::convolution_options lines;
};
constexpr void describe(auto&& visit, describes<convolve_keywords> auto& x) {
  describe(visit, x.cones);
  describe(visit, x.lines);
}

nb::object convolve(dose::beam const& b, grid const& region, any_object terma,
                    grid const& density_grid, any_object density, std::string const& kernel,
                    std::string const& kernel_table, std::string const& spectrum,
                    std::string const& spectrum_table, any_object out, bool add, nb::dict keywords,
                    std::string const& axes, bool copy, any_object cancel, any_object progress) {
  char const* const name = "dose.convolve";
  placement const where = volume_placement(is_zyx(axes, name), copy);
  auto const options = options_of<convolve_keywords>(keywords, name);
  auto const cones = dose::make_cones(
      kernel_of(kernel, kernel_table, spectrum_of(spectrum, spectrum_table)), options.cones);
  ISO_VALIDATE(!add || !nb::handle(out).is_none(),
               "{}: add without out (there is nothing to add to); give the dose as out", name);
  native_array t(terma, {name, "terma"}, where, extents_of(region), false);
  native_array d(density, {name, "density"}, where, extents_of(density_grid), false);
  require_type(d, t.is_double(), name, "density");
  output x(out, {name, "out"}, where, t.is_double(), extents_of(density_grid));
  target const at = target_of(name, {&t, &d}, x);
  call({cancel, progress}, at, [&](job const& control) {
    t.prepare(true);
    d.prepare(true);
    x.prepare(add);
    by_type(t.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        dose::convolution_plan<T, space> const plan(exec, region, b, cones, options.lines);
        workspace<space> const scratch(dose::convolve_bytes_needed<T>(exec, plan));
        auto const to = wrap_volume<space>(x.data<T>(), density_grid);
        if (!add) {
          Kokkos::deep_copy(exec, to.data, T(0));  // beyond the region
        }
        dose::convolve<Exec, T>(exec, plan, wrap_volume<space>(t.data<T const>(), region),
                                wrap_volume<space>(d.data<T const>(), density_grid), to, scratch,
                                add ? onto::stored : onto::zero, control);
        wait_for(exec, name);
      });
    });
    x.finish();
  });
  return x.release();
}

nb::object density_from_hounsfield(any_object hounsfield, std::string const& name_of_table,
                                   std::string const& table, any_object out,
                                   std::string const& axes, bool copy, any_object cancel) {
  char const* const name = "dose.density_from_hounsfield";
  bool const zyx = is_zyx(axes, name);
  auto const points = table.empty() ? dose::named_density_table(name_of_table)
                                    : dose::parse_density_table(table, name_of_table);
  lent_array const seen = borrow(hounsfield, {name, "hounsfield"}, false);
  ISO_VALIDATE(seen.rank == 3, "{}: hounsfield of {} axes (a volume has 3); reshape it", name,
               seen.rank);
  // Any grid of these voxels: densities do not depend on where they lie.
  grid g;
  for (std::size_t i = 0; i < 3; ++i) {
    g.extent[i] = seen.extent[zyx ? 2 - i : i];
  }
  placement const where = volume_placement(zyx, copy);
  native_array hu(hounsfield, {name, "hounsfield"}, where, extents_of(g), false);
  output d(out, {name, "out"}, where, hu.is_double(), extents_of(g));
  target const at = target_of(name, {&hu}, d);
  call({cancel, {}}, at, [&](job const&) {
    hu.prepare(true);
    d.prepare();
    by_type(hu.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        dose::staged_density_table<space> const staged(exec, points);
        dose::density_from_hounsfield<Exec, T>(exec, staged,
                                               wrap_volume<space>(hu.data<T const>(), g),
                                               wrap_volume<space>(d.data<T>(), g));
        wait_for(exec, name);
      });
    });
    d.finish();
  });
  return d.release();
}

}  // namespace

void bind_dose(nb::module_& m) {
  nb::class_<dose::beam>(m, "Beam").def_static("make", make_beam);
  nb::class_<calculator>(m, "Calculator")
      .def(nb::init<grid const&, any_object, bool, std::string const&, std::string const&,
                    std::string const&, std::string const&, bool, nb::dict, std::string const&,
                    bool>())
      .def("add", &calculator::add)
      .def("close", &calculator::close)
      .def_prop_ro("bytes", &calculator::bytes)
      .def_prop_ro("directions", &calculator::directions);
  m.def("region_around", [](dose::beam const& b, grid const& patient, double margin) {
    return dose::region_around(b, patient, margin);
  });
  m.def("terma", terma);
  m.def("convolve", convolve);
  m.def("density_from_hounsfield", density_from_hounsfield);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["CalculatorOptions"] = fields_of<dose::calculator_options>();
  fields["ConvolveOptions"] = fields_of<convolve_keywords>();
  fields["TermaOptions"] = fields_of<dose::terma_options>();
}

}  // namespace iso::python
