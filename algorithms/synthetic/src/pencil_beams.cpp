// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>

#include <iso/core/allocate.hpp>
#include <iso/ct/detail/on_circle.hpp>
#include <iso/synthetic/bragg_curve.hpp>
#include <iso/synthetic/detail/generate_impl.hpp>
#include <iso/synthetic/detail/pencil_beam_kernel.hpp>
#include <iso/synthetic/generate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace iso::synthetic {
namespace detail {
namespace {

constexpr char const* function = "iso::synthetic::generate: pencil beams";
constexpr std::int64_t most_layers = 1000;

/// Counts the spots that reach a voxel; computes their doses.
template <class Space>
struct pencil_beam_rows {
  pencil_beam_law<Space> law;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t length(std::int64_t row) const {
    std::int64_t count = 0;
    law.visit(row, [&](layer_dose const&, spot_run const& run, double) { count += run.count(); });
    return count;
  }
  template <class Group, class Value>
  KOKKOS_FUNCTION void fill(Group const& group, std::int64_t row, std::int32_t* columns,
                            Value* values) const {
    std::int64_t done = 0;
    double const spacing = law.spacing;
    law.visit(row, [&](layer_dose const& here, spot_run const& run, double u) {
      group.strided(std::int64_t(0), run.count(), [&](int, std::int64_t i) {
        double const off = Kokkos::fma(-spacing, double(run.place(i)), u);
        double const square = Kokkos::fma(off, off, run.across);
        columns[done + i] = run.column(i);
        values[done + i] = Value(here.on_axis * iso::math::exp(here.exponent * square));
      });
      done += run.count();
    });
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
               "{}: {} voxels (a matrix has at most 2^31 - 1 rows)", function, f.voxels.size());
  ISO_VALIDATE(std::isfinite(f.angle) && std::abs(f.angle) <= 1e5 && finite(f.target),
               "{}: angle {} rad, target at ({}, {}, {}) (must be finite, the angle at most 1e5)",
               function, f.angle, f.target.x, f.target.y, f.target.z);
  ISO_VALIDATE(f.radius > 0 && f.radius <= 1000 && f.margin >= 0 && f.margin <= 1000,
               "{}: target radius {} mm, margin {} mm (from above 0 and from 0, to 1000)", function,
               f.radius, f.margin);
  ISO_VALIDATE(f.spot_spacing >= 0.1 && f.spot_spacing <= 1000 && f.layer_spacing >= 0.1 &&
                   f.layer_spacing <= 1000,
               "{}: spots {} mm, layers {} mm apart (from 0.1 to 1000)", function, f.spot_spacing,
               f.layer_spacing);
  ISO_VALIDATE(f.lateral_loss > 0 && f.lateral_loss < 1,
               "{}: lateral loss {} (must be between 0 and 1)", function, f.lateral_loss);
  ISO_VALIDATE(std::int64_t(f.slabs.size()) <= most_slabs, "{}: {} slabs (at most {})", function,
               f.slabs.size(), most_slabs);
  ISO_VALIDATE(std::isfinite(f.entrance), "{}: entrance {} mm (must be finite)", function,
               f.entrance);
  for (std::size_t i = 0; i < f.slabs.size(); ++i) {
    auto const& s = f.slabs[i];
    ISO_VALIDATE(
        s.thickness > 0 && s.thickness <= 1e4 && s.stopping_power > 0 && s.stopping_power <= 100,
        "{}: slab {} is {} mm thick and stops {} times as much as water (both must be "
        "positive, at most 1e4 and 100)",
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

double depth_of(depth_scale const& scale, double water) {
  int s = 0;
  while (s < scale.count && water >= scale.water[s + 1]) {
    ++s;
  }
  return scale.begin[s] + (water - scale.water[s]) / scale.power[s];
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
    bool const backwards = (v + last) % 2 != 0;
    field.lines.push_back(
        {std::int32_t(-reach), std::int32_t(reach), std::int32_t(field.spots), backwards ? 1 : 0});
    field.spots += 2 * reach + 1;
    ISO_VALIDATE(field.spots < std::int64_t(1) << 28,
                 "{}: 2^28 spots or more (a layer has {} lines) put them farther apart", function,
                 layer.lines);
  }
}

/// The spots of all lines, once it is known how many there are.
void add_spots(planned_field& field, double spacing) {
  field.plan.spots.reserve(std::size_t(field.spots));
  for (std::size_t n = 0; n < field.layers.size(); ++n) {
    beam_layer const& layer = field.layers[n];
    for (std::int32_t l = 0; l < layer.lines; ++l) {
      spot_line const& line = field.lines[std::size_t(layer.line) + std::size_t(l)];
      double const off = spacing * double(layer.first_v + l);
      for (std::int64_t i = line.first_u; i <= line.last_u; ++i) {
        field.plan.spots.push_back(
            {std::int64_t(n), spacing * double(line.backwards != 0 ? -i : i), off});
      }
    }
  }
}

planned_field plan_field(pencil_beams const& f) {
  check(f);
  depth_scale const scale = scale_of(f.slabs);
  double const centre = dot(f.target, ct::detail::on_circle(f.angle)) + f.entrance;
  ISO_VALIDATE(centre - f.radius > 0,
               "{}: the target begins {} mm before the phantom (it must lie inside) move the "
               "entrance or the target",
               function, f.radius - centre);
  double const deepest = scale(centre + f.radius);
  double const nearest = scale(centre - f.radius);
  ISO_VALIDATE((deepest - nearest) / f.layer_spacing < double(most_layers),
               "{}: {} layers (at most {}) put them farther apart", function,
               (deepest - nearest) / f.layer_spacing, most_layers);
  planned_field field;
  for (int n = 0; deepest - n * f.layer_spacing >= nearest; ++n) {
    proton_beam beam;
    beam.range = deepest - n * f.layer_spacing;
    beam.energy_spread = f.energy_spread;
    beam.initial_sigma = f.initial_sigma;
    auto const table = tabulate(beam, f.distal_cut);
    double const off = depth_of(scale, beam.range) - centre;
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
  add_spots(field, f.spot_spacing);
  return field;
}

/// Copied to `exec`, which is fenced: the host's arrays end with the caller.
template <class T, class Exec>
Kokkos::View<T const*, typename Exec::memory_space> staged(Exec const& exec, char const* label,
                                                           std::vector<T> const& values) {
  using space = typename Exec::memory_space;
  auto const copy = allocate<Kokkos::View<T*, space>>(label, {std::int64_t(values.size())}, exec,
                                                      Kokkos::WithoutInitializing);
  Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(values.data(),
                                                                                values.size());
  Kokkos::deep_copy(exec, copy, host);
  exec.fence(label);
  return copy;
}

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
  law.layers = staged(exec, "iso::synthetic::generate: layers", field.layers);
  law.lines = staged(exec, "iso::synthetic::generate: lines", field.lines);
  law.dose = staged(exec, "iso::synthetic::generate: depth dose", field.dose);
  law.variance = staged(exec, "iso::synthetic::generate: variance", field.variance);
  return law;
}

}  // namespace
}  // namespace detail

field_plan plan_of(pencil_beams const& field) { return detail::plan_field(field).plan; }

template <stored_real Value, execution_space Exec>
sparse::csr_view<Value, std::int32_t, typename Exec::memory_space> generate(
    Exec const& exec, pencil_beams const& field) {
  auto const planned = detail::plan_field(field);
  detail::pencil_beam_rows<typename Exec::memory_space> const rows{
      detail::law_of(exec, field, planned)};
  return detail::generate_by<Value>(exec, field.voxels.size(),
                                    std::int64_t(planned.plan.spots.size()), rows);
}

#define ISO_INSTANTIATE_VALUE(Exec, Value)                                            \
  template sparse::csr_view<Value, std::int32_t, Exec::memory_space> generate<Value>( \
      Exec const&, pencil_beams const&);
#define ISO_INSTANTIATE(Exec)           \
  ISO_INSTANTIATE_VALUE(Exec, half)     \
  ISO_INSTANTIATE_VALUE(Exec, bfloat16) \
  ISO_INSTANTIATE_VALUE(Exec, float)    \
  ISO_INSTANTIATE_VALUE(Exec, double)
ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE)
#undef ISO_INSTANTIATE_VALUE
#undef ISO_INSTANTIATE

}  // namespace iso::synthetic
