// SPDX-License-Identifier: BSD-3-Clause
// Which spots reach a voxel, and with what dose.
#include "generate_impl.hpp"

#include <iso/core/check.hpp>
#include <iso/core/math.hpp>
#include <iso/core/stage.hpp>
#include <iso/ct/detail/on_circle.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/synthetic/bragg_curve.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace iso::synthetic {
namespace detail {
namespace {

constexpr char const* function = "iso::synthetic::generate";
constexpr std::int64_t max_layers = 1000;
constexpr int max_slabs = 16;

/// Water-equivalent depth along the beam, linear between the planes of the slabs, and its inverse.
struct depth_scale {
  int count = 0;                     ///< slabs, then water
  double begin[max_slabs + 1] = {};  ///< mm behind the entrance
  double water[max_slabs + 1] = {};  ///< mm of water there
  double power[max_slabs + 1] = {};  ///< from there on

  [[nodiscard]] KOKKOS_FUNCTION double operator()(double depth) const {
    int const s = slab_at(begin, depth);
    return Kokkos::fma(depth - begin[s], power[s], water[s]);
  }
  [[nodiscard]] double depth_of(double w) const {
    int const s = slab_at(water, w);
    return begin[s] + (w - water[s]) / power[s];
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION int slab_at(double const* planes, double at) const {
    int s = 0;
    while (s < count && at >= planes[s + 1]) {
      ++s;
    }
    return s;
  }
};

/// A line of spots along u: lattice numbers -reach to reach, scanned forwards (1) or backwards
/// (-1), and the column of number 0.
struct spot_line {
  std::int32_t reach = -1;
  std::int32_t way = 1;
  std::int32_t middle = 0;
};

struct beam_layer {
  double step = 1;         ///< mm of water between samples of the tables
  double end = 0;          ///< no dose behind this depth
  std::int64_t table = 0;  ///< number of the first sample
  std::int32_t samples = 0;
  std::int32_t line = 0;  ///< number of the first line
  std::int32_t lines = 0;
  std::int32_t first_v = 0;  ///< lattice number of that line
};

/// Spots of one line that reach a voxel: lattice numbers [low, high].
struct spot_run {
  spot_line line;
  std::int64_t low = 0;
  std::int64_t high = -1;
  double u = 0;         ///< mm: the voxel's place along u
  double across = 0;    ///< mm2: squared distance of the line from it along v
  double on_axis = 0;   ///< dose of a spot that the voxel lies behind
  double exponent = 0;  ///< -1 / (2 variance), 1/mm2

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return high - low + 1; }
  /// Lattice number and column of entry i of the run; columns rise with i.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t place(std::int64_t i) const {
    return line.way < 0 ? high - i : low + i;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t column(std::int64_t i) const {
    return std::int32_t(line.middle + line.way * place(i));
  }
};

template <class Space>
struct pencil_beam_law {
  iso::grid voxels;
  vec3<double> along;  ///< unit vectors
  vec3<double> across;
  vec3<double> target;  ///< mm
  double entrance = 0;  ///< mm before the isocentre
  double spacing = 1;   ///< of the lattice, mm
  double reach = 1;     ///< radius of a spot in standard deviations
  double gray = 1;      ///< dose for a depth dose of 1 and a variance of 1 / (2 pi)
  depth_scale water;
  Kokkos::View<beam_layer const*, Space> layers;
  Kokkos::View<spot_line const*, Space> lines;
  Kokkos::View<double const*, Space> dose;
  Kokkos::View<double const*, Space> variance;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t length(std::int64_t row) const {
    std::int64_t count = 0;
    visit(row, [&](spot_run const& run) { count += run.count(); });
    return count;
  }
  template <class Group, class Value>
  KOKKOS_FUNCTION void fill(Group const& group, std::int64_t row, std::int32_t* columns,
                            Value* values) const {
    std::int64_t done = 0;
    visit(row, [&](spot_run const& run) {
      group.strided(std::int64_t(0), run.count(), [&](int, std::int64_t i) {
        double const off = Kokkos::fma(-spacing, double(run.place(i)), run.u);
        double const square = Kokkos::fma(off, off, run.across);
        columns[done + i] = run.column(i);
        values[done + i] = Value(run.on_axis * iso::math::exp(run.exponent * square));
      });
      done += run.count();
    });
  }

 private:
  /// Calls f(spot_run) for every run of spots that reaches voxel `row`, columns rising.
  template <class F>
  KOKKOS_FUNCTION void visit(std::int64_t row, F const& f) const {
    std::int64_t const nz = voxels.extent[2];
    std::int64_t const ny = voxels.extent[1];
    vec3<double> const p{Kokkos::fma(voxels.spacing.x, double(row / nz / ny), voxels.origin.x),
                         Kokkos::fma(voxels.spacing.y, double(row / nz % ny), voxels.origin.y),
                         Kokkos::fma(voxels.spacing.z, double(row % nz), voxels.origin.z)};
    double const depth = dot(p, along) + entrance;
    if (!(depth >= 0)) {
      return;
    }
    double const w = water(depth);
    double const u = dot(p - target, across);
    double const v = p.z - target.z;
    auto const count = std::int64_t(layers.extent(0));
    for (std::int64_t l = 0; l < count; ++l) {
      beam_layer const layer = layers(l);
      if (w <= layer.end) {
        visit_layer(layer, w, u, v, f);
      }
    }
  }
  template <class F>
  KOKKOS_FUNCTION void visit_layer(beam_layer const& layer, double w, double u, double v,
                                   F const& f) const {
    double const at = w / layer.step;
    auto const sample = std::int64_t(at);
    std::int64_t const i =
        layer.table + (sample < layer.samples - 2 ? sample : std::int64_t(layer.samples - 2));
    double const t = at - double(i - layer.table);
    double const spread = Kokkos::fma(t, variance(i + 1) - variance(i), variance(i));
    double const height = Kokkos::fma(t, dose(i + 1) - dose(i), dose(i));
    double const radius = reach * Kokkos::sqrt(spread);
    spot_run run;
    run.u = u;
    run.on_axis = gray * height / spread;
    run.exponent = -0.5 / spread;

    auto const lowest = std::int64_t(Kokkos::ceil((v - radius) / spacing)) - layer.first_v;
    auto const highest = std::int64_t(Kokkos::floor((v + radius) / spacing)) - layer.first_v;
    std::int64_t const last = highest < layer.lines - 1 ? highest : std::int64_t(layer.lines - 1);
    for (std::int64_t n = lowest > 0 ? lowest : 0; n <= last; ++n) {
      run.line = lines(layer.line + n);
      double const off = Kokkos::fma(-spacing, double(layer.first_v + n), v);
      run.across = off * off;
      double const square = Kokkos::fma(radius, radius, -run.across);
      double const half_chord = Kokkos::sqrt(square > 0 ? square : 0.0);
      auto const low = std::int64_t(Kokkos::ceil((u - half_chord) / spacing));
      auto const high = std::int64_t(Kokkos::floor((u + half_chord) / spacing));
      std::int64_t const reach_u = run.line.reach;
      run.low = low > -reach_u ? low : -reach_u;
      run.high = high < reach_u ? high : reach_u;
      if (run.count() > 0) {
        f(run);
      }
    }
  }
};

/// Everything that is planned on the host.
struct planned_field {
  field_plan plan;
  std::int64_t spots = 0;
  std::vector<beam_layer> layers;
  std::vector<spot_line> lines;
  std::vector<double> dose;
  std::vector<double> variance;
};

void check(pencil_beams const& f) {
  validate(f.voxels, function);
  auto const finite = [](vec3<double> p) {
    return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
  };
  ISO_VALIDATE(f.voxels.size() <= std::numeric_limits<std::int32_t>::max(),
               "{}: {} voxels (a matrix has at most 2^31 - 1 rows); take larger voxels, or fewer",
               function, f.voxels.size());
  ISO_VALIDATE(std::isfinite(f.angle) && std::abs(f.angle) <= 1e5 && finite(f.target),
               "{}: angle {} rad, target at ({}, {}, {}) (must be finite, the angle at most 1e5); "
               "give the angle in radians and the target in mm",
               function, f.angle, f.target.x, f.target.y, f.target.z);
  ISO_VALIDATE(f.radius > 0 && f.radius <= 1000 && f.margin >= 0 && f.margin <= 1000,
               "{}: target radius {} mm, margin {} mm (must be at most 1000, the radius above 0, "
               "the margin not negative); give both in mm",
               function, f.radius, f.margin);
  ISO_VALIDATE(f.spot_spacing >= 0.1 && f.spot_spacing <= 1000 && f.layer_spacing >= 0.1 &&
                   f.layer_spacing <= 1000,
               "{}: spots {} mm, layers {} mm apart (must be from 0.1 to 1000); give both in mm",
               function, f.spot_spacing, f.layer_spacing);
  ISO_VALIDATE(f.lateral_loss > 0 && f.lateral_loss < 1,
               "{}: lateral loss {} (must be between 0 and 1); give the share of a spot's dose "
               "that is cut off",
               function, f.lateral_loss);
  ISO_VALIDATE(std::int64_t(f.slabs.size()) <= max_slabs,
               "{}: {} slabs (at most {} can be taken); join slabs of one material", function,
               f.slabs.size(), max_slabs);
  ISO_VALIDATE(std::isfinite(f.entrance),
               "{}: entrance {} mm (must be finite); give the phantom's depth before the isocentre",
               function, f.entrance);
  for (std::size_t i = 0; i < f.slabs.size(); ++i) {
    auto const& s = f.slabs[i];
    ISO_VALIDATE(
        s.thickness > 0 && s.thickness <= 1e4 && s.stopping_power > 0 && s.stopping_power <= 100,
        "{}: slab {} is {} mm thick and stops {} times as much as water (both must be positive, at "
        "most 1e4 and 100); give a thickness and a stopping power for each slab",
        function, i, s.thickness, s.stopping_power);
  }
}

depth_scale scale_of(std::vector<slab> const& slabs) {
  depth_scale scale;
  scale.count = int(slabs.size());
  scale.power[scale.count] = 1;
  for (int i = 0; i < scale.count; ++i) {
    auto const& s = slabs[std::size_t(i)];
    scale.power[i] = s.stopping_power;
    scale.begin[i + 1] = scale.begin[i] + s.thickness;
    scale.water[i + 1] = scale.water[i] + s.thickness * s.stopping_power;
  }
  return scale;
}

/// The lattice's lines within `radius` mm, one for each v.
void add_lines(planned_field& field, beam_layer& layer, double radius, double spacing) {
  auto const last = std::int64_t(std::floor(radius / spacing));
  layer.line = std::int32_t(field.lines.size());
  layer.lines = std::int32_t(2 * last + 1);
  layer.first_v = std::int32_t(-last);
  for (std::int64_t v = -last; v <= last; ++v) {
    double const off = spacing * double(v);
    auto const reach =
        std::int64_t(std::floor(std::sqrt(std::max(radius * radius - off * off, 0.0)) / spacing));
    bool const forwards = (v + last) % 2 == 0;
    field.lines.push_back(
        {std::int32_t(reach), forwards ? 1 : -1, std::int32_t(field.spots + reach)});
    field.spots += 2 * reach + 1;
    ISO_VALIDATE(field.spots < std::int64_t(1) << 28,
                 "{}: 2^28 spots or more (a layer has {} lines); put spots farther apart", function,
                 layer.lines);
  }
}

/// The spots of all lines, once it is known how many there are.
void add_spots(planned_field& field, double spacing, job const& asked) {
  field.plan.spots.reserve(std::size_t(field.spots));
  for (std::size_t n = 0; n < field.layers.size(); ++n) {
    beam_layer const& layer = field.layers[n];
    asked.step(0);
    for (std::int32_t l = 0; l < layer.lines; ++l) {
      spot_line const& line = field.lines[std::size_t(layer.line) + std::size_t(l)];
      double const off = spacing * double(layer.first_v + l);
      for (std::int64_t i = -line.reach; i <= line.reach; ++i) {
        field.plan.spots.push_back({std::int64_t(n), spacing * double(line.way * i), off});
      }
    }
  }
}

planned_field plan_field(pencil_beams const& f, job const& control) {
  job const asked = iso::detail::asked_only(control);
  check(f);
  depth_scale const scale = scale_of(f.slabs);
  double const centre = dot(f.target, ct::detail::on_circle(f.angle)) + f.entrance;
  ISO_VALIDATE(centre - f.radius > 0,
               "{}: the target begins {} mm before the phantom (it must lie inside); move the "
               "entrance or the target",
               function, f.radius - centre);
  double const deepest = scale(centre + f.radius);
  double const nearest = scale(centre - f.radius);
  ISO_VALIDATE((deepest - nearest) / f.layer_spacing < double(max_layers),
               "{}: {} layers (at most {}); put layers farther apart", function,
               (deepest - nearest) / f.layer_spacing, max_layers);
  planned_field field;
  for (int n = 0; deepest - n * f.layer_spacing >= nearest; ++n) {
    asked.step(0);
    proton_beam beam;
    beam.range = deepest - n * f.layer_spacing;
    beam.energy_spread = f.energy_spread;
    beam.initial_sigma = f.initial_sigma;
    auto const table = tabulate(beam, f.distal_cut);
    double const off = scale.depth_of(beam.range) - centre;
    double const section = std::sqrt(std::max(f.radius * f.radius - off * off, 0.0));
    beam_layer layer;
    layer.step = table.step;
    layer.end = table.end;
    layer.table = std::int64_t(field.dose.size());
    layer.samples = std::int32_t(table.dose.size());
    std::int64_t const before = field.spots;
    add_lines(field, layer, section + f.margin, f.spot_spacing);
    field.layers.push_back(layer);
    field.plan.layers.push_back(
        {energy_of_range(beam.range), beam.range, table.peak_depth, field.spots - before, before});
    field.dose.insert(field.dose.end(), table.dose.begin(), table.dose.end());
    field.variance.insert(field.variance.end(), table.variance.begin(), table.variance.end());
  }
  add_spots(field, f.spot_spacing, asked);
  return field;
}

/// Reads the arrays of `field`, where `exec` reaches them, or copies.
template <class Exec>
pencil_beam_law<typename Exec::memory_space> law_of(Exec const& exec, pencil_beams const& f,
                                                    planned_field const& field) {
  pencil_beam_law<typename Exec::memory_space> law;
  law.voxels = f.voxels;
  law.along = ct::detail::on_circle(f.angle);
  law.across = {-law.along.y, law.along.x, 0};
  law.target = f.target;
  law.entrance = f.entrance;
  law.spacing = f.spot_spacing;
  law.reach = std::sqrt(-2 * std::log(f.lateral_loss));
  // MeV/g to Gy, 1e11 protons, and variances in mm2 where fluence is per cm2.
  law.gray = 1.602176634e-10 * 1e11 * 100 / (2 * std::numbers::pi);
  law.water = scale_of(f.slabs);
  auto const staged = [&]<class T>(std::vector<T> const& from) {
    using array = Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    return stage<access::read>(exec, array(from.data(), from.size())).view();
  };
  law.layers = staged(field.layers);
  law.lines = staged(field.lines);
  law.dose = staged(field.dose);
  law.variance = staged(field.variance);
  exec.fence("iso::synthetic::generate: tables");
  return law;
}

}  // namespace
}  // namespace detail

field_plan plan_of(pencil_beams const& field, job const& control) {
  return detail::plan_field(field, control).plan;
}

template <stored_real Value, execution_space Exec>
generated<Value, Exec> generate(Exec const& exec, pencil_beams const& field, job const& control) {
  auto const planned = detail::plan_field(field, control);
  return detail::generate_by<Value>(exec, field.voxels.size(),
                                    std::int64_t(planned.plan.spots.size()),
                                    detail::law_of(exec, field, planned), control);
}
ISO_FOR_EACH_VALUE(ISO_SYNTHETIC_GENERATE, pencil_beams)

}  // namespace iso::synthetic
