// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dose/detail/lattice.hpp>

#include <iso/core/check.hpp>
#include <iso/dose/convolution_plan.hpp>
#include <iso/dose/detail/table/bins.hpp>

#include "cosine_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

namespace iso::dose::detail {
namespace {

/// Slopes are multiples of 2^-14: displacements are then whole numbers, the same for a line and its
/// mirror image.
constexpr int slope_bits = 14;

/// Displacement of a line `twice` half planes behind where it has none: round(slope twice / 2),
/// halves away from zero.
std::int32_t displacement(std::int64_t slope, std::int64_t twice) {
  std::int64_t const product = slope * twice;
  std::int64_t const half = std::int64_t(1) << slope_bits;
  std::int64_t const size = ((product < 0 ? -product : product) + half) >> (slope_bits + 1);
  return std::int32_t(product < 0 ? -size : size);
}

void validate_region(iso::grid const& region) {
  validate(region, "iso::dose::convolution_plan");
  for (auto const extent : region.extent) {
    ISO_VALIDATE(extent <= std::int64_t(1) << 22,
                 "iso::dose::convolution_plan: {} voxels along an axis (at most 2^22 are counted "
                 "exactly); crop the region, or take larger voxels",
                 extent);
  }
}

void validate_source(iso::grid const& region, beam_frame const& frame) {
  double nearest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double const reach = 0.5 * region.spacing[axis] * double(region.extent[std::size_t(axis)] - 1);
    double const apart =
        std::max(std::fabs(region.origin[axis] + reach - frame.source[axis]) - reach, 0.0);
    nearest += apart * apart;
  }
  nearest = std::sqrt(nearest);
  ISO_VALIDATE(nearest >= min_source_to_voxel,
               "iso::dose::convolution_plan: the source is {} mm from a voxel (the photons' "
               "direction changes too much within voxels nearer than {} mm); move the source away, "
               "or crop the volume to the patient",
               nearest, min_source_to_voxel);
}

vec3<double> middle_of(iso::grid const& region) {
  vec3<double> out;
  for (int axis = 0; axis < 3; ++axis) {
    out[axis] = region.origin[axis] +
                0.5 * region.spacing[axis] * double(region.extent[std::size_t(axis)] - 1);
  }
  return out;
}

/// Twice the plane's number, along a direction, to which the isocentre is nearest. Lines have no
/// displacement there, wherever the region begins.
std::int64_t twice_isocentre(iso::grid const& region, beam_frame const& frame, int axis, int way) {
  vec3<double> const isocentre = frame.source + frame.source_distance * frame.along;
  double const twice =
      2 * way * (isocentre[axis] - middle_of(region)[axis]) / region.spacing[axis] +
      double(region.extent[std::size_t(axis)] - 1);
  ISO_VALIDATE(std::fabs(twice) < double(1 << 24),
               "iso::dose::convolution_plan: an isocentre {} planes from the region's border (at "
               "most 2^23 can be counted); check isocentre and origin",
               0.5 * std::fabs(twice));
  // The odd fraction keeps middles and borders of voxels, and quarters between them, from ties.
  return std::llround(twice - 0.137);
}

/// The largest tangent of the angle between a ray of the field and the beam's axis.
double half_angle(fluence_map const& map, double source_distance) {
  auto const field = map.open_edges();
  double const x = std::max(std::fabs(field.x_low), std::fabs(field.x_high));
  double const y = std::max(std::fabs(field.y_low), std::fabs(field.y_high));
  return std::sqrt(x * x + y * y) / source_distance;
}

struct axes {
  int lanes;
  int rows;
  int planes;
};

/// Of a direction in voxels. The sums have no order, so that a tie changes no more than the line.
axes axes_of(vec3<double> const& in_voxels) {
  int m = 0;
  for (int axis = 1; axis < 3; ++axis) {
    m = std::fabs(in_voxels[axis]) > std::fabs(in_voxels[m]) ? axis : m;
  }
  int const lanes = m == 2 ? 0 : 2;
  return {lanes, 3 - m - lanes, m};
}

/// The dot product, rounded alike in whatever order the axes stand.
double symmetric_dot(vec3<double> const& a, vec3<double> const& b) {
  double const x = a.x * b.x;
  double const y = a.y * b.y;
  double const z = a.z * b.z;
  double const low = std::min(std::min(x, y), z);
  double const high = std::max(std::max(x, y), z);
  double const middle = std::max(std::min(x, y), std::min(std::max(x, y), z));
  return (low + high) + middle;
}

/// Rounds the parts of lattice_line::toward to multiples of a power of two, so that all their sums
/// are exact in numbers of `digits` bits. Middles of planes may lie between voxels, in halves.
void make_exact(lattice_plane<double>* planes, lattice_path const& l, double& of_lane,
                double& of_row, int digits) {
  // Groups reach past the region by less than 32 voxels.
  double most = (0.5 * l.lanes + 32) * std::fabs(of_lane) + (0.5 * l.rows + 32) * std::fabs(of_row);
  double of_planes = 0;
  for (std::int32_t k = 0; k < l.planes; ++k) {
    of_planes = std::max(of_planes, std::fabs(planes[k].toward));
  }
  most += of_planes;
  double const unit = std::ldexp(1.0, std::ilogb(most) + 1 - digits);
  auto const rounded = [](double x, double to) { return std::nearbyint(x / to) * to; };
  for (std::int32_t k = 0; k < l.planes; ++k) {
    planes[k].toward = rounded(planes[k].toward, unit);
  }
  of_lane = rounded(of_lane, 2 * unit);
  of_row = rounded(of_row, 2 * unit);
}

/// The terms of a cone's direction.
struct direction_terms {
  std::size_t count;
  std::array<double, max_kernel_terms> rate;    ///< 1/cm at 1 g/cm3
  std::array<double, max_kernel_terms> energy;  ///< that kernels compute with
  std::array<double, max_kernel_terms> given;   ///< by a term, to infinity
};
direction_terms terms_of(exponential_cones const& cones, std::size_t cone) {
  auto const& t = cones.terms[cone];
  return {std::size_t(cones.num_terms), t.rate, t.energy, t.energy};
}
direction_terms terms_of(tabulated_cones const& cones, std::size_t cone) {
  // A table goes by the length itself, mm, as if by a rate of 1/mm.
  return {1, {10}, {}, {cones.within[cone].back()}};
}

/// A bound of what a tilt multiplies a term by.
double max_of(cone_tilt const& tilt, std::size_t term) {
  int const parts = 64;
  double const step = (tilt.most - tilt.least) / parts;
  double const furthest = std::max(tilt.most, -tilt.least);
  double most = 0;
  for (int i = 0; i <= parts; ++i) {
    most = std::max(most, std::fabs(tilt.factor(term, tilt.least + i * step)));
  }
  // Between two places it changes by no more than its derivative's bound says.
  double slope = 0;
  double power = 1;
  for (std::size_t p = 0; p < tilt_degree; ++p) {
    slope += double(p + 1) * std::fabs(tilt.coefficients[term][p]) * power;
    power *= furthest;
  }
  return most + 0.5 * step * slope;
}

/// A direction of a cone, as it lies in the region.
struct lattice_direction {
  vec3<double> along;  ///< of length 1
  vec3<double> in_voxels;
  axes of;
  std::size_t cone;

  [[nodiscard]] int way() const { return in_voxels[of.planes] > 0 ? 1 : -1; }
  /// Voxels along the axis of the planes, of a mm.
  [[nodiscard]] double march() const { return std::fabs(in_voxels[of.planes]); }
  /// The number of the lattice_class: an axis and a way.
  [[nodiscard]] int number_of_class() const { return 2 * of.planes + (way() < 0 ? 1 : 0); }
  /// Displacement from a plane to the next along another axis, in multiples of 2^-slope_bits.
  [[nodiscard]] std::int64_t slope(int axis) const {
    return std::llrint(std::ldexp(in_voxels[axis] / march(), slope_bits));
  }
};

/// Tilts of the cones, for rays within an angle of this tangent from the axis.
std::vector<cone_tilt> tilts_within(cone_set const& cones, double widest) {
  std::vector<cone_tilt> tilts;
  for (auto const& cone : cones.cones) {
    cosine_range const range(cone.cosine, widest);
    tilts.push_back(cone.tilt);
    tilts.back().least = range.least - cone.cosine;
    tilts.back().most = range.most - cone.cosine;
  }
  return tilts;
}

/// A direction's way through the lattice, with its planes put behind the others'.
lattice_path add_path(iso::grid const& region, lattice_layout const& layout,
                      beam_frame const& frame, lattice_direction const& d,
                      std::vector<lattice_plane<double>>& planes) {
  axes const a = d.of;
  lattice_path l{};
  l.copy = a.planes == 2 ? 1 : 0;
  l.lanes = std::int32_t(region.extent[std::size_t(a.lanes)]);
  l.rows = std::int32_t(region.extent[std::size_t(a.rows)]);
  l.planes = std::int32_t(region.extent[std::size_t(a.planes)]);
  l.row_stride = std::int32_t(layout.stride(l.copy, a.rows));
  l.plane_stride = std::int32_t(layout.stride(l.copy, a.planes));
  l.way = d.way();
  l.table = std::int32_t(planes.size());
  std::int64_t const lane_slope = d.slope(a.lanes);
  std::int64_t const row_slope = d.slope(a.rows);
  std::int64_t const anchor = twice_isocentre(region, frame, a.planes, l.way);
  vec3<double> const from_source = middle_of(region) - frame.source;
  for (std::int32_t k = 0; k < l.planes; ++k) {
    lattice_plane<double> p{};
    std::int32_t const lane_shift = displacement(lane_slope, 2 * k - anchor);
    std::int32_t const row_shift = displacement(row_slope, 2 * k - anchor);
    p.set_shifts(lane_shift, row_shift,
                 k == 0 ? 0 : lane_shift - displacement(lane_slope, 2 * (k - 1) - anchor));
    l.min_lane_shift = k == 0 ? lane_shift : std::min(l.min_lane_shift, lane_shift);
    l.max_lane_shift = k == 0 ? lane_shift : std::max(l.max_lane_shift, lane_shift);
    l.min_row_shift = k == 0 ? row_shift : std::min(l.min_row_shift, row_shift);
    l.max_row_shift = k == 0 ? row_shift : std::max(l.max_row_shift, row_shift);
    vec3<double> at = from_source;
    at[a.planes] += l.way * region.spacing[a.planes] * (k - 0.5 * (l.planes - 1));
    p.toward = symmetric_dot(d.along, at);
    planes.push_back(p);
  }
  return l;
}

/// The kernel of a cone's directions, for lines through voxels.
struct cone_kernel {
  direction_terms terms;
  line_terms<double> of_voxels;
  double gives;  ///< a direction, at most
};
std::vector<cone_kernel> kernels_of(cone_set const& cones, std::vector<cone_tilt> const& tilts) {
  std::vector<cone_kernel> kernels;
  for (std::size_t cone = 0; cone < tilts.size(); ++cone) {
    cone_tilt const& tilt = tilts[cone];
    cone_kernel k{
        std::visit([&](auto const& of) { return terms_of(of, cone); }, cones.absorbed), {}, 0};
    for (std::size_t c = 0; c < k.terms.count; ++c) {
      // mm to cm.
      k.of_voxels.rate[c] = 0.1 * k.terms.rate[c];
      k.of_voxels.energy[c] = k.terms.energy[c];
      for (std::size_t p = 0; p < tilt_degree; ++p) {
        k.of_voxels.tilt.coefficients[p][c] = tilt.coefficients[c][p];
      }
      k.gives += std::fabs(k.terms.given[c]) * max_of(tilt, c);
    }
    k.of_voxels.tilt.least = tilt.least;
    k.of_voxels.tilt.most = tilt.most;
    kernels.push_back(k);
  }
  return kernels;
}

/// Returns the terms of a direction's lines through the lattice.
line_terms<double> terms_of_step(cone_kernel const& kernel, lattice_direction const& d) {
  double const half_length = 0.5 * 0.1 / d.march();
  line_terms<double> out = kernel.of_voxels;
  for (std::size_t c = 0; c < kernel.terms.count; ++c) {
    out.rate[c] = kernel.terms.rate[c] * half_length;
  }
  return out;
}

/// Energies in units of the sums, and bins of tables.
void put_in_units(cone_set const& cones, lattice_tables& out) {
  if (auto const* const table = std::get_if<tabulated_cones>(&cones.absorbed)) {
    for (auto const& within : table->within) {
      add_bins(table->radii, within, out.unit, out.bins);
    }
  }
  for (std::size_t n = 0; n < out.lines.size(); ++n) {
    for (std::size_t c = 0; c < max_kernel_terms; ++c) {
      out.lines[n].terms.energy[c] /= out.unit;
      out.directions[n].terms.energy[c] /= out.unit;
    }
  }
}

}  // namespace

lattice_layout::lattice_layout(iso::grid const& region, std::int64_t border_rows,
                               std::int64_t lane_multiple, std::int64_t room)
    : extent{region.extent[0], region.extent[1], region.extent[2]}, border(border_rows) {
  for (int copy = 0; copy < 2; ++copy) {
    std::int64_t const fast = extent[copy == 0 ? 2 : 0];
    pitch[copy] = (fast + lane_multiple - 1) / lane_multiple * lane_multiple;
    double const elements =
        double(planes(copy)) * double(rows()) * double(pitch[copy]) + double(room);
    ISO_VALIDATE(elements < double(std::numeric_limits<std::int32_t>::max()),
                 "iso::dose::convolution_plan: region of [{}, {}, {}] voxels (its copies must have "
                 "fewer than 2^31 elements); crop it, or take larger voxels",
                 extent[0], extent[1], extent[2]);
    size[copy] = planes(copy) * rows() * pitch[copy] + room;
  }
}

lattice_tables make_lattice(iso::grid const& region, lattice_layout const& layout,
                            beam_frame const& frame, fluence_map const& field,
                            cone_set const& cones, bool tilt, int direction_bits, int total_bits,
                            int digits, direction_range const& some) {
  validate_region(region);
  validate_source(region, frame);
  // Of the field's rays, and of those of a voxel that its edge cuts.
  double const widest = std::min(max_tilt, half_angle(field, frame.source_distance) +
                                               2 * norm(region.spacing) / frame.source_distance);
  auto const tilts =
      tilt ? tilts_within(cones, widest) : std::vector<cone_tilt>(cones.cones.size());
  auto const kernels = kernels_of(cones, tilts);
  lattice_tables out;
  double most = 0;   // that one direction gives
  double total = 0;  // that all do
  std::int64_t number = -1;
  std::int64_t const count = std::min(cones.size(), some.last) - some.first;
  out.planes.reserve(std::size_t(std::max<std::int64_t>(count, 0) *
                                 *std::max_element(region.extent.begin(), region.extent.end())));
  for (int which = 0; which < 6; ++which) {
    lattice_class lines{std::int32_t(out.lines.size()), 0};
    for (std::size_t cone = 0; cone < cones.cones.size(); ++cone) {
      for (int azimuth = 0; azimuth < cones.azimuths; ++azimuth) {
        vec3<double> const own = cones.direction(cone, azimuth);
        vec3<double> const along = own.x * frame.x + own.y * frame.y + own.z * frame.along;
        vec3<double> const in_voxels = region.to_index_vector(along);
        lattice_direction const d{along, in_voxels, axes_of(in_voxels), cone};
        if (d.number_of_class() != which) {
          continue;
        }
        cone_kernel const& kernel = kernels[cone];
        most = std::max(most, kernel.gives);
        total += kernel.gives;
        if (++number < some.first || number >= some.last) {
          continue;
        }
        lattice_path const l = add_path(region, layout, frame, d, out.planes);
        double toward_lane = along[d.of.lanes] * region.spacing[d.of.lanes];
        double toward_row = along[d.of.rows] * region.spacing[d.of.rows];
        make_exact(out.planes.data() + l.table, l, toward_lane, toward_row, digits);
        out.lines.push_back({l, terms_of_step(kernel, d), own.z, toward_lane, toward_row});
        out.directions.push_back({{along, std::int32_t(cone)}, own.z, kernel.of_voxels});
      }
    }
    lines.last = std::int32_t(out.lines.size());
    out.classes.push_back(lines);
  }
  // The next power of two above either.
  auto const power_above = [](double x) { return std::ilogb(x) + 1; };
  out.unit = std::ldexp(
      1.0, std::max(power_above(most) - direction_bits, power_above(total) - total_bits));
  put_in_units(cones, out);
  return out;
}

}  // namespace iso::dose::detail
