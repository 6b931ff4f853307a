// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "precision.hpp"
#include "rank_columns.hpp"
#include "repeats.hpp"
#include "scan.hpp"

#include <iso/cases/bits.hpp>
#include <iso/dose/calculator.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/ranked_calculator.hpp>
#include <iso/dose/slab_phantom.hpp>
#include <iso/jobs/dose.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace iso::jobs {
namespace {

/// A table of the library's, where `f(name)` knows it.
template <class F>
auto known_energy(std::string const& name, F&& f) {
  try {
    return f(name);
  } catch (invalid_argument const& unknown) {
    throw invalid_argument(message(
        "an energy of the plan is a name, or a file that ends in .csv: {}", {unknown.what()}));
  }
}

dose::spectrum spectrum_of(files::table_source const& table) {
  return table.csv
             ? dose::parse_spectrum(*table.csv, table.name)
             : known_energy(table.name, [](auto const& n) { return dose::named_spectrum(n); });
}

dose::point_kernel point_kernel_of(files::table_source const& table,
                                   dose::spectrum const& photons) {
  if (table.csv) {
    return dose::parse_kernel(*table.csv, table.name, photons);
  }
  if (table.name == "monte_carlo") {
    return dose::mix_kernels(dose::water_kernels(), photons);
  }
  return known_energy(table.name, [](auto const& n) { return dose::named_kernel(n); });
}

/// Kernels of several energies.
std::vector<dose::mono_kernel> mono_kernels_of(files::table_source const& table) {
  ISO_VALIDATE(table.csv || table.name == "monte_carlo",
               "kernel_per_bin with kernel '{}' (that is one kernel for a whole spectrum); choose "
               "monte_carlo, or a file that ends in .csv with kernels of several energies",
               table.name);
  return table.csv ? dose::parse_mono_kernels(*table.csv, table.name) : dose::water_kernels();
}

/// A kernel for the whole spectrum, or for each of its bins.
std::vector<dose::energy_component> components_of(files::plan const& plan) {
  auto const photons = spectrum_of(plan.spectrum);
  if (plan.kernel_per_bin) {
    return dose::split_by_energy(mono_kernels_of(plan.kernel), photons);
  }
  return {{1, photons, point_kernel_of(plan.kernel, photons)}};
}

dose::density_table density_table_of(files::table_source const& table) {
  return table.csv ? dose::parse_density_table(*table.csv, table.name)
                   : dose::named_density_table(table.name);
}

std::array<double, 3> numbers_of(vec3<double> const& v) { return {v.x, v.y, v.z}; }

/// A beam and the voxels that get its dose.
struct placed_beam {
  dose::beam beam;
  grid region;
};

placed_beam place(dose::beam const& b, std::size_t number, double margin, grid const& g) {
  try {
    auto const region = dose::region_around(b, g, margin);
    // What copies of it have beside the voxels is the library's to judge.
    ISO_VALIDATE(region.size() < std::numeric_limits<std::int32_t>::max(),
                 "a region of [{}, {}, {}] voxels (it must have fewer than 2^31); crop the volume, "
                 "or take larger voxels",
                 region.extent[0], region.extent[1], region.extent[2]);
    return {b, region};
  } catch (invalid_argument const& wrong) {
    throw invalid_argument(message("beam {}: {}", {std::int64_t(number + 1), wrong.what()}));
  }
}

beam_result described(placed_beam const& b, grid const& g) {
  auto const frame = dose::frame_of(b.beam);
  beam_result out{numbers_of(frame.source),
                  numbers_of(frame.along),
                  numbers_of(frame.x),
                  numbers_of(frame.y),
                  {},
                  {},
                  0};
  for (int axis = 0; axis < 3; ++axis) {
    auto const a = std::size_t(axis);
    out.region_first[a] = std::llround((b.region.origin[axis] - g.origin[axis]) / g.spacing[axis]);
    out.region_extent[a] = b.region.extent[a];
  }
  return out;
}

grid grid_of(dose_request const& request) {
  grid const g = request.phantom_voxel > 0 ? dose::slab_phantom_grid(request.phantom_voxel)
                                           : make_grid(request.volume);
  validate(g, "iso dose");
  return g;
}

template <class T>
files::host_volume volume_on_host(grid const& g, std::vector<T> const& values) {
  auto v = files::make_host_volume(g);
  v.values.assign(values.begin(), values.end());
  return v;
}

/// The slab phantom's density, as a file would have it.
files::host_volume phantom_on(grid const& g) {
  auto v = files::make_host_volume(g);
  auto const slabs = dose::slab_phantom();
  std::vector<float> column;
  for (std::int64_t j = 0; j < g.extent[1]; ++j) {
    double const near = g.origin.y + (double(j) - 0.5) * g.spacing.y;
    column.insert(column.end(), std::size_t(g.extent[2]),
                  float(dose::mean_density(slabs, near, near + g.spacing.y)));
  }
  v.values.reserve(std::size_t(g.size()));
  for (std::int64_t i = 0; i < g.extent[0]; ++i) {
    v.values.insert(v.values.end(), column.begin(), column.end());
  }
  return v;
}

template <class T, class Exec>
volume_view<T, typename Exec::memory_space> density_of(Exec const& exec,
                                                       dose_request const& request, grid const& g) {
  using space = typename Exec::memory_space;
  if (request.phantom_voxel > 0) {
    return files::make_volume_view<T>(exec, phantom_on(g));
  }
  auto const loaded = files::make_volume_view<T>(exec, request.volume);
  if (!request.hounsfield) {
    return loaded;
  }
  auto const density = make_volume<T, space>(exec, "iso::jobs::density", g);
  dose::staged_density_table<space> const table(exec, density_table_of(request.density_table));
  dose::density_from_hounsfield<Exec, T>(exec, table, loaded, density);
  exec.fence("iso::jobs::dose: densities are in place");
  return density;
}

/// Tells the largest dose, and where it is.
/// \throws iso::invalid_argument  one that says that the dose is of no use
void tell_maximum(files::plan const& plan, largest_value const& found, dose_result& result) {
  auto const& v = result.dose;
  if (found.not_finite > 0) {
    throw invalid_argument(
        "iso dose: the dose is not finite everywhere (the numbers of the plan, its kernel or its "
        "spectrum are beyond what the precision holds); try --precision double");
  }
  std::int64_t const column = found.at / v.extent[2];
  result.maximum = found.value;
  // Of weights that are so small the dose rounds to 0.
  bool const is_light = std::any_of(plan.beams.begin(), plan.beams.end(), [](auto const& beam) {
    return beam.beam.weight > 0 && beam.beam.weight < 1e-20;
  });
  ISO_VALIDATE(
      result.maximum == 0 ? !is_light : result.maximum >= std::numeric_limits<float>::min(),
      "iso dose: the dose is at most {} Gy (results are floats, which lose digits below 1.2e-38); "
      "raise the beams' weights",
      result.maximum);
  result.maximum_at = {column / v.extent[1], column % v.extent[1], found.at % v.extent[2]};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.maximum_position[axis] =
        v.origin[axis] + double(result.maximum_at[axis]) * v.spacing[axis];
  }
}

/// The beams of a plan on a grid.
struct placed_beams {
  std::vector<placed_beam> all;
  double voxels = 0;         ///< of all regions
  std::int64_t largest = 0;  ///< region
};

placed_beams place_all(files::plan const& plan, grid const& g) {
  placed_beams beams;
  for (std::size_t i = 0; i < plan.beams.size(); ++i) {
    beams.all.push_back(place(plan.beams[i].beam, i, plan.options.margin, g));
    std::int64_t const voxels = beams.all.back().region.size();
    beams.voxels += double(voxels);
    beams.largest = std::max(beams.largest, voxels);
  }
  return beams;
}

/// Returns the density where `exec` computes.
/// \throws iso::invalid_argument  it has numbers that are no densities
template <class T, class Exec>
volume_view<T, typename Exec::memory_space> sound_density(Exec const& exec,
                                                          dose_request const& request,
                                                          grid const& g) {
  auto const density = density_of<T>(exec, request, g);
  auto const report = dose::validate(exec, density);
  if (!report.sound()) {
    throw invalid_argument(dose::to_string(report));
  }
  return density;
}

/// Adds the dose of every beam by add(beam, job), and times it. before(beam) is called before.
template <class Exec, class Before, class Add>
void add_beams(Exec const& exec, placed_beams const& beams, grid const& g, observer const& watch,
               dose_result& result, Before const& before, Add const& add) {
  double done = 0;
  for (placed_beam const& b : beams.all) {
    auto facts = described(b, g);
    watch.step(done / beams.voxels, "convolving");
    job const control{[&](double fraction) {
                        watch.step((done + fraction * double(b.region.size())) / beams.voxels,
                                   "convolving");
                      },
                      watch.cancelled};
    before(b);
    facts.seconds = seconds_of(exec, [&] { add(b, control); });
    done += double(b.region.size());
    result.seconds += facts.seconds;
    result.beams.push_back(facts);
  }
}

/// Puts doses into a result: the whole, or this rank's planes.
template <class T>
void keep(grid const& g, std::vector<T> const& values, dose_result& result) {
  result.dose = files::make_host_volume(g);
  result.dose.values.assign(values.begin(), values.end());
  result.dose.unit = "Gy";
}

/// Adds up beams by a calculator, which has its options, and finds what is told of the dose.
/// \param total   what is here of the dose
/// \param take    take(numbers) puts what is here into the result, and tells of it
/// \param before  before(beam) is called before each
template <class T, class Exec, class Calculator, class Volume, class Take, class Before>
void calculate(Exec const& exec, dose_request const& request, placed_beams const& beams,
               grid const& g, observer const& watch, Calculator& calculator, Volume const& density,
               Volume const& total, Take const& take, Before const& before, dose_result& result) {
  add_beams(exec, beams, g, watch, result, before, [&](placed_beam const& b, job const& control) {
    calculator.add(b.beam, density, total, control);
    exec.fence("iso::jobs::dose: the beam is there");
  });
  if (request.keep_density && is_first_rank()) {
    result.density = volume_on_host(g, fetch(exec, density.data));
  }
  take(fetch(exec, total.data));
  result.repeats = repeat(
      exec, request.repeats, watch,
      [&](job const& asked) {
        for (placed_beam const& b : beams.all) {
          calculator.add(b.beam, density, total, asked);
          exec.fence("iso::jobs::dose: the beam is there");
        }
      },
      [&](job const&) { Kokkos::deep_copy(exec, total.data, T(0)); });
}

/// Calculates on the ranks that share the job: each has its planes of the dose, and its share of
/// the directions.
template <class T, class Exec>
void run_on_ranks(Exec const& exec, dose_request const& request, placed_beams const& beams,
                  grid const& g, observer const& watch, dose_result& result) {
  auto& ranks = sharing_ranks();
  auto const planes = share_planes(g);
  std::int64_t const own = planes[std::size_t(ranks.rank())].count();
  // Density whole, Hounsfield units too, planes of the dose, and of a beam its TERMA.
  double const column = double(g.extent[0]) * double(g.extent[1]);
  double const numbers = (request.hounsfield ? 2.0 : 1.0) * double(g.size()) +
                         column * double(own) + (own > 0 ? double(beams.largest) : 0.0);
  check_memory_of_ranks(exec, whole_bytes(numbers * double(sizeof(T))), "iso dose", false);
  dose::ranked_calculator<Exec, T> calculator(exec, ranks, g, planes, components_of(request.plan),
                                              request.plan.options);
  result.kernels = calculator.num_kernels();
  result.directions = calculator.num_directions();
  watch.step(0, "preparing");
  if (request.phantom_voxel == 0) {
    check_alike(request.volume.values, "volumes");
  }
  auto const density = sound_density<T>(exec, request, g);
  auto const total = calculator.make_dose("iso::jobs::dose");
  calculate<T>(
      exec, request, beams, g, watch, calculator, density, total,
      [&](std::vector<T> const& here) {
        slab const mine = planes[std::size_t(ranks.rank())];
        std::int64_t const columns = g.extent[0] * g.extent[1];
        std::vector<float> const told(here.begin(), here.end());
        auto const most = largest_value::of(told, mine, g.extent[2]).joined(ranks);
        result.hash = hash_text(hash_of_planes(ranks, here, columns, planes));
        if (request.keeps_planes) {
          keep(g, told, result);
          result.planes = mine;
        } else {
          keep(g, gather_planes(ranks, told, columns, planes), result);
        }
        tell_maximum(request.plan, most, result);
      },
      [](placed_beam const&) {}, result);
}

template <class T, class Exec>
dose_result run(Exec const& exec, dose_request const& request, observer const& watch) {
  using space = typename Exec::memory_space;
  auto const& plan = request.plan;
  auto const components = components_of(plan);
  if (request.hounsfield) {
    density_table_of(request.density_table);
  }
  grid const g = grid_of(request);
  auto const beams = place_all(plan, g);
  dose_result result;
  if (num_ranks() > 1) {
    run_on_ranks<T>(exec, request, beams, g, watch, result);
  } else {
    dose::calculator<Exec, T> calculator(exec, g, components, plan.options);
    result.kernels = calculator.num_kernels();
    result.directions = calculator.num_directions();
    double const wanted = (2.0 * double(g.size()) + double(beams.largest)) * double(sizeof(T));
    watch.step(0, "preparing");
    guard_memory(
        exec, wanted < 0x1p62 ? std::int64_t(wanted) : std::int64_t(1) << 62, "iso dose", [&] {
          auto const density = sound_density<T>(exec, request, g);
          auto const total = make_volume<T, space>(exec, "iso::jobs::dose", g);
          calculate<T>(
              exec, request, beams, g, watch, calculator, density, total,
              [&](std::vector<T> const& all) {
                result.hash = hash_text(hash_bits<T>(all));
                keep(g, all, result);
                tell_maximum(plan,
                             largest_value::of(result.dose.values, {0, g.extent[2]}, g.extent[2]),
                             result);
              },
              [&](placed_beam const& b) {
                check_free(exec, calculator.bytes_needed(b.beam) - calculator.bytes_held(),
                           "iso dose");
              },
              result);
          return 0;
        });
  }
  watch.step(1, "done");
  return result;
}

}  // namespace

files::host_volume dose_grid(dose_request const& request) {
  return files::make_host_volume(grid_of(request));
}

dose_result calculate_dose(dose_request const& request, observer const& watch) {
  return in_precision(request.backend, request.precision, [&](auto const& exec, auto zero) {
    return run<decltype(zero)>(exec, request, watch);
  });
}

}  // namespace iso::jobs
