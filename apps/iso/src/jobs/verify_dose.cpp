// SPDX-License-Identifier: BSD-3-Clause
//! The part of verify's table that calculates densities and dose.
#include "verify_inputs.hpp"
#include "verify_plan.hpp"

#include <iso/core/wrap.hpp>
#include <iso/dose/calculator.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/terma.hpp>
#include <iso/oracle/dose.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace iso::jobs {
namespace {

/// An oblique field onto a body of densities from 0 to 2 g/cm3.
struct irradiation {
  static constexpr double margin = 12;  ///< mm

  grid patient;
  dose::beam field;
  grid region;
  dose::spectrum photons = dose::named_spectrum("mohan_6mv");

  explicit irradiation(double gantry, double couch,
                       grid const& body = grid::centred({33, 29, 41}, {3, 4, 2.5}))
      : patient(body) {
    field.gantry = gantry;
    field.couch = couch;
    field.collimator = 0.25;
    field.fluence = dose::fluence_map::rectangle(-19, 22, -26, 17);
    region = dose::region_around(field, patient, margin);
  }
  template <class T>
  [[nodiscard]] std::vector<T> densities() const {
    std::vector<T> out(std::size_t(patient.size()));
    for (std::size_t n = 0; n < out.size(); ++n) {
      out[n] = T(1 + in_unit(n));
    }
    return out;
  }
  template <class T, class Exec>
  [[nodiscard]] auto density_on(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const values = densities<T>();
    auto const v = make_volume<T, space>(exec, "iso::jobs::verify::density", patient);
    Kokkos::deep_copy(
        exec, v.data,
        Kokkos::View<T const***, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
            values.data(), std::size_t(patient.extent[0]), std::size_t(patient.extent[1]),
            std::size_t(patient.extent[2])));
    exec.fence("iso::jobs::verify: densities in place");
    return v;
  }
  /// The same in double on the host, on a grid that is the patient's or lies within it.
  [[nodiscard]] std::vector<double> densities_on(grid const& g) const {
    auto const all = densities<double>();
    std::vector<double> out;
    vec3<double> const first = patient.to_index(g.origin);
    auto const from = [&](int axis) { return std::int64_t(first[axis] + 0.5); };
    for (std::int64_t i = 0; i < g.extent[0]; ++i) {
      for (std::int64_t j = 0; j < g.extent[1]; ++j) {
        for (std::int64_t k = 0; k < g.extent[2]; ++k) {
          out.push_back(all[std::size_t(((from(0) + i) * patient.extent[1] + from(1) + j) *
                                            patient.extent[2] +
                                        from(2) + k)]);
        }
      }
    }
    return out;
  }
};

volume_view<double const, Kokkos::HostSpace> seen(grid const& g, std::vector<double> const& v) {
  return {g, Kokkos::View<double const***, Kokkos::LayoutRight, Kokkos::HostSpace>(
                 v.data(), std::size_t(g.extent[0]), std::size_t(g.extent[1]),
                 std::size_t(g.extent[2]))};
}

template <class T>
struct terma_case {
  irradiation what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const density = what.density_on<T>(exec);
    dose::terma_plan<space> const plan(exec, what.field, what.photons);
    auto const with = *this;
    return {what.region.size(),
            [=](Exec const& on, variant const&, T* out) {
              dose::terma<Exec, T>(on, plan, density, wrap_volume<space>(out, with.what.region));
            },
            terma_work<T>(double(what.patient.size()), double(what.region.size())),
            [=] {
              auto const rho = with.what.densities_on(with.what.patient);
              return exact_terma(with.what.field, with.what.photons, {},
                                 seen(with.what.patient, rho), with.what.region, 7);
            }};
  }
};

template <class T>
struct dose_case {
  irradiation what;
  std::string kernel;
  dose::cone_options cones;
  dose::convolution_options options;

  [[nodiscard]] dose::point_kernel kernel_of() const {
    if (kernel == "table") {
      return dose::mix_kernels(dose::water_kernels(), what.photons);
    }
    if (kernel == "own table") {
      // Two cones of three shells.
      return dose::parse_kernel(
          "90,0.5,0.4\n90,2,0.2\n90,30,0.1\n180,0.5,0.05\n180,2,0.1\n180,30,0.1", kernel,
          what.photons);
    }
    return dose::named_kernel(kernel);
  }

  /// Of all photons, or of some bins.
  [[nodiscard]] std::vector<dose::energy_component> components() const {
    if (kernel != "by energy") {
      return {{1, what.photons, kernel_of()}};
    }
    auto const& bins = what.photons.bins;
    return dose::split_by_energy(dose::water_kernels(), {{bins[1], bins[7], bins[15]}});
  }
  [[nodiscard]] dose::beam field_of(dose::energy_component const& c) const {
    auto field = what.field;
    field.weight *= c.share;
    return field;
  }

  [[nodiscard]] std::vector<double> expected() const {
    auto const rho = what.densities_on(what.region);
    auto const all = what.densities_on(what.patient);
    std::vector<double> sum(std::size_t(what.region.size()), 0);
    for (auto const& c : components()) {
      auto const t = exact_terma(field_of(c), c.photons, {}, seen(what.patient, all), what.region);
      auto const one = exact_dose(
          what.field, dose::make_cones(c.kernel, cones), options.tilt, seen(what.region, t),
          seen(what.region, rho), 97,
          options.engine == dose::dose_engine::lattice ? transport::lattice : transport::lines);
      std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::plus<>());
    }
    return sum;
  }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const density = what.density_on<T>(exec);
    auto const with = *this;
    auto const parts = components();
    double const directions = double(parts.size()) * double(cones.cones * cones.azimuths);
    return {what.region.size(),
            [=](Exec const& on, variant const& v, T* out) {
              auto const volume = wrap_volume<space>(out, with.what.region);
              Kokkos::deep_copy(on, volume.data, T(0));
              auto chosen = with.options;
              chosen.shape.groups_per_launch = v.groups;
              dose::calculator<Exec, T> calculator(on, with.what.patient, parts,
                                                   {with.cones, {}, chosen, irradiation::margin});
              calculator.add(with.what.field, density, volume);
            },
            convolution_work<T>(double(what.region.size()), directions),
            with.options.engine != dose::dose_engine::lattice &&
                    with.options.engine != dose::dose_engine::voxel_lines
                ? std::function<std::vector<double>()>()
                : [=] { return with.expected(); }};
  }
};

/// CT numbers from below the table's first point to above its last.
struct scanned {
  grid voxels = grid::centred({17, 29, 23}, {1, 1, 1});
  dose::density_table table = dose::named_density_table("schneider_2000");

  template <class T>
  [[nodiscard]] static T hounsfield_at(std::size_t n) {
    return T(1000 + 2500 * in_unit(n));
  }
  template <class T, class Exec>
  [[nodiscard]] auto hounsfield_on(Exec const& exec) const {
    auto const v = make_volume<T, typename Exec::memory_space>(exec, "iso::jobs::verify", voxels);
    auto const host = Kokkos::create_mirror_view(v.data);
    for (std::size_t n = 0; n < v.data.size(); ++n) {
      host.data()[n] = hounsfield_at<T>(n);
    }
    Kokkos::deep_copy(exec, v.data, host);
    exec.fence("iso::jobs::verify: CT numbers in place");
    return v;
  }
  [[nodiscard]] double density_of(double hounsfield) const {
    auto const& p = table.points;
    std::size_t s = 0;
    while (s + 2 < p.size() && hounsfield >= p[s + 1].hounsfield) {
      ++s;
    }
    double const width = p[s + 1].hounsfield - p[s].hounsfield;
    double const part = std::clamp((hounsfield - p[s].hounsfield) / width, 0.0, 1.0);
    return p[s].density * (1 - part) + p[s + 1].density * part;
  }
  /// Count and first voxel of those below 0, and of those above the largest density.
  template <class T>
  [[nodiscard]] std::vector<double> faults() const {
    std::vector<double> out(8, 0);
    for (std::int64_t n = voxels.size(); n-- > 0;) {
      auto const x = double(hounsfield_at<T>(std::size_t(n)));
      if (x >= 0 && x <= dose::most_density) {
        continue;
      }
      auto* const fault = out.data() + (x < 0 ? 0 : 4);
      std::int64_t const row = n / voxels.extent[2];
      fault[0] += 1;
      fault[1] = double(row / voxels.extent[1]);
      fault[2] = double(row % voxels.extent[1]);
      fault[3] = double(n % voxels.extent[2]);
    }
    return out;
  }
};

template <class T>
struct density_case {
  scanned what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const hu = what.hounsfield_on<T>(exec);
    dose::staged_density_table<space> const table(exec, what.table);
    auto const with = *this;
    std::int64_t const size = what.voxels.size();
    return {
        size,
        [=](Exec const& on, variant const&, T* out) {
          dose::density_from_hounsfield<Exec, T>(on, table, hu,
                                                 wrap_volume<space>(out, with.what.voxels));
        },
        least_work{2 * double(sizeof(T)) * double(size), 2 * double(size), arithmetic_of<double>},
        [=] {
          std::vector<double> all;
          for (std::size_t n = 0; n < std::size_t(size); ++n) {
            all.push_back(with.what.density_of(double(scanned::hounsfield_at<T>(n))));
          }
          return all;
        }};
  }
};

/// CT numbers looked at as if they were densities: count and first voxel of each fault.
template <class T>
struct density_report_case {
  scanned what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const hu = what.hounsfield_on<T>(exec);
    std::int64_t const size = what.voxels.size();
    return {8,
            [=](Exec const& on, variant const&, T* out) {
              auto const report = dose::validate(on, hu);
              std::vector<T> numbers;
              auto const tell = [&](auto const& fault) {
                numbers.push_back(T(fault.count));
                for (std::int64_t const index : fault.first) {
                  numbers.push_back(T(index));
                }
              };
              tell(report.negative);
              tell(report.absurd);
              Kokkos::deep_copy(
                  on, Kokkos::View<T*, space, Kokkos::MemoryUnmanaged>(out, numbers.size()),
                  Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                      numbers.data(), numbers.size()));
              on.fence("iso::jobs::verify: the numbers may go");
            },
            least_work{double(sizeof(T)) * double(size), 0, arithmetic_of<T>},
            [what = what] { return what.template faults<T>(); }};
  }
};

}  // namespace

void add_dose(plan& all) {
  std::vector<std::string> const release = {
      "iso::dose::terma",    "iso::dose::frame_of",       "iso::dose::region_around",
      "iso::dose::terma_at", "iso::dose::named_spectrum", "iso::dose::parse_spectrum"};
  auto convolve = release;
  convolve.insert(convolve.end(),
                  {"iso::dose::calculator", "iso::dose::convolve", "iso::dose::make_cones",
                   "iso::dose::named_kernel", "iso::dose::parse_exponential_kernel"});
  irradiation const oblique(0.6, 0.3);
  irradiation const along_x(1.5707963267948966, 0);
  // As thick as a patient, so that the field is a small part of the region.
  irradiation const patient(0.6, 0.5, grid::centred({34, 30, 36}, {10, 10, 10}));
  std::vector<std::string> const tables = {"iso::dose::named_density_table",
                                           "iso::dose::parse_density_table"};
  auto from_hounsfield = tables;
  from_hounsfield.emplace_back("iso::dose::density_from_hounsfield");
  auto validate = tables;
  validate.emplace_back("iso::dose::validate");
  scanned const ct;
  all.add<density_case>({"density_from_hounsfield", from_hounsfield, {{}}}, ct);
  all.add<density_report_case>({"density_report", validate, {{}}}, ct);
  all.add<terma_case>({"terma", release, {{}}}, oblique);
  all.add<dose_case>({"dose_lattice", convolve}, oblique, std::string("6mv"), dose::cone_options{},
                     dose::convolution_options{});
  all.add<dose_case>({"dose_lattice_patient", convolve}, patient, std::string("6mv"),
                     dose::cone_options{4, 8}, dose::convolution_options{});
  all.add<dose_case>({"dose_lattice_four_terms", convolve}, along_x, std::string("6mv_quad"),
                     dose::cone_options{5, 9, dose::cone_placing::gauss},
                     dose::convolution_options{});
  auto tabulated = convolve;
  tabulated.insert(tabulated.end(), {"iso::dose::mix_kernels", "iso::dose::water_kernels",
                                     "iso::dose::parse_mono_kernels"});
  all.add<dose_case>({"dose_lattice_table", tabulated}, oblique, std::string("table"),
                     dose::cone_options{4, 8}, dose::convolution_options{});
  auto by_energy = tabulated;
  by_energy.emplace_back("iso::dose::split_by_energy");
  all.add<dose_case>({"dose_lattice_by_energy", by_energy, {{}}}, oblique, std::string("by energy"),
                     dose::cone_options{4, 4}, dose::convolution_options{});
  auto own = convolve;
  own.insert(own.end(), {"iso::dose::parse_kernel", "iso::dose::parse_tabulated_kernel",
                         "iso::dose::absorbed_within"});
  all.add<dose_case>({"dose_lattice_own_table", own, {{}}}, along_x, std::string("own table"),
                     dose::cone_options{4, 4, dose::cone_placing::equal_solid_angle},
                     dose::convolution_options{.tilt = false});
  all.add<dose_case>(
      {"dose_voxel_samples", convolve}, along_x, std::string("6mv"), dose::cone_options{4, 4},
      dose::convolution_options{.engine = dose::dose_engine::voxel_samples, .radial_step = 2});
  all.add<dose_case>(
      {"dose_non_voxel", tabulated, {{}}}, oblique, std::string("table"), dose::cone_options{4, 4},
      dose::convolution_options{
          .engine = dose::dose_engine::non_voxel, .radial_step = 2, .ray_spacing = 3});
  all.add<dose_case>({"dose_voxel_lines", convolve}, oblique, std::string("6mv"),
                     dose::cone_options{4, 4},
                     dose::convolution_options{.engine = dose::dose_engine::voxel_lines});
}

}  // namespace iso::jobs
