// SPDX-License-Identifier: BSD-3-Clause
// Fields on water, the classical slab phantom and lung: 8 x 8 directions on the lattice against
// exact lines of 48 x 48 directions, in voxels that are spread over the region, and against exact
// lines of the same directions, in every voxel.
#include "dose_support.hpp"

#include <iso/dose/slab_phantom.hpp>
#include <iso/oracle/dose.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace dose_support;
using exec_space = Kokkos::DefaultHostExecutionSpace;

/// Density at a depth, g/cm3.
double water_everywhere(double) { return 1; }
double lung(double depth) { return depth > 60 && depth < 140 ? 0.26 : 1.0; }
double slabs(double depth) {
  static auto const layers = slab_phantom();
  return mean_density(layers, depth - 0.5, depth + 0.5);
}

/// The dose of a field on a cube of 256 mm, and what exact lines of many directions give in some of
/// its voxels.
struct compared {
  beam_frame frame;
  grid patient;
  grid region;
  host_volume<double> dose;   ///< on the region
  std::vector<double> exact;  ///< NaN where it was not asked for
  std::vector<double> same;   ///< of the lattice's own directions, in every voxel
  double most;

  template <class Density>
  compared(double side, Density const& at_depth, std::int64_t samples, bool oblique) : most(0) {
    auto s =
        turned(setup::square(grid::centred({128, 128, 128}, {2, 2, 2}), side, surface), oblique);
    frame = frame_of(s.field);
    patient = s.phantom;
    auto const density = volume_of<double>(s.phantom, [&](auto i, auto j, auto k) {
      // Of an oblique beam the layers lie across it, and its surface is the cube's: where a corner
      // stands out, the first layer goes on.
      return at_depth(std::max(frame.of(middle_of(patient, i, j, k)).depth - surface, 1.0));
    });
    calculation<double, exec_space> const c({}, s, density);
    region = c.region;
    auto const all = c.dose_on_host();
    vec3<double> const first = s.phantom.to_index(region.origin);
    auto const from = [&](int axis) { return std::int64_t(std::lround(first[axis])); };
    auto const cut = [&](host_volume<double> const& v) {
      return volume_of<double>(region, [&](auto i, auto j, auto k) {
        return v.data(i + from(0), j + from(1), k + from(2));
      });
    };
    dose = cut(all);
    auto const rho = cut(density);
    auto const terma = c.terma_on_host();
    // An odd stride meets all places of rows and planes.
    std::int64_t const stride = region.size() / samples | 1;
    iso::oracle::host_density const of_terma{terma.grid, terma.data};
    iso::oracle::host_density const of_density{rho.grid, rho.data};
    exact = iso::oracle::exact_dose(s.field, make_cones(s.kernel, {48, 48}), true, of_terma,
                                    of_density, stride);
    s.options.engine = dose_engine::voxel_lines;
    same = numbers(cut(calculation<double, exec_space>({}, s, density).dose_on_host()));
    for (std::int64_t v = 0; v < region.size(); ++v) {
      most = std::max(most, dose.data.data()[v]);
    }
  }

  /// Share of the voxels of `reference` near which, within 2 mm, some interpolated dose lies within
  /// 2 per cent of the maximum: the ellipsoid of gamma 1.
  [[nodiscard]] double pass(std::vector<double> const& reference) const {
    auto const& n = region.extent;
    std::int64_t passed = 0;
    std::int64_t count = 0;
    for (std::int64_t v = 0; v < region.size(); ++v) {
      if (std::isnan(reference[std::size_t(v)])) {
        continue;
      }
      ++count;
      vec3<double> const at{double(v / n[2] / n[1]), double(v / n[2] % n[1]), double(v % n[2])};
      passed += gamma_below_one(at, reference[std::size_t(v)]) ? 1 : 0;
    }
    return double(passed) / double(count);
  }
  struct differences {
    double worst = 0;         ///< of the maximum
    std::int64_t above = 0;   ///< voxels in which they exceed 1 per cent
    std::int64_t voxels = 0;  ///< compared
  };
  /// From the same directions, in voxels further than 4.5 mm from an edge of the field and the
  /// surface.
  [[nodiscard]] differences beyond_edges(double side) const {
    auto const& n = region.extent;
    differences found;
    for (std::int64_t v = 0; v < region.size(); ++v) {
      vec3<double> const at = middle_of(region, v / n[2] / n[1], v / n[2] % n[1], v % n[2]);
      auto const p = frame.of(at);
      auto const to_edge = [&](double x) {
        return std::fabs(std::fabs(x) - side / 2) * p.depth / frame.source_distance;
      };
      if (std::min(to_edge(p.x), to_edge(p.y)) > 4.5 && inside(at) > 4.5) {
        double const d = std::fabs(dose.data.data()[v] - same[std::size_t(v)]) / most;
        found.worst = std::max(found.worst, d);
        found.above += d > 0.01 ? 1 : 0;
        ++found.voxels;
      }
    }
    return found;
  }

 private:
  static constexpr double surface = 900;  ///< mm from the source

  /// How far from the faces through which the beam enters, mm.
  [[nodiscard]] double inside(vec3<double> const& at) const {
    double nearest = INFINITY;
    for (int axis = 0; axis < 3; ++axis) {
      double const half = 128;
      double const middle = patient.origin[axis] + half - 1;
      double const forward = frame.along[axis] > 0 ? 1 : -1;
      if (std::fabs(frame.along[axis]) > 1e-9) {
        nearest = std::min(nearest, half + forward * (at[axis] - middle));
      }
    }
    return nearest;
  }
  [[nodiscard]] bool gamma_below_one(vec3<double> const& at, double reference) const {
    if (std::fabs(iso::oracle::trilinear(dose, at) - reference) <= 0.02 * most) {
      return true;
    }
    double const step = 0.125;  // voxels
    int const reach = 8;        // 2 mm
    for (int a = -reach; a <= reach; ++a) {
      for (int b = -reach; b <= reach; ++b) {
        for (int c = -reach; c <= reach; ++c) {
          double const square = double(a * a + b * b + c * c) / (reach * reach);
          if (square > 1) {
            continue;
          }
          double const difference =
              (iso::oracle::trilinear(dose, {at.x + step * a, at.y + step * b, at.z + step * c}) -
               reference) /
              (0.02 * most);
          if (square + difference * difference <= 1) {
            return true;
          }
        }
      }
    }
    return false;
  }
};

template <class Density>
void check_field(std::string const& name, double side, Density const& density, double beyond,
                 bool oblique = false) {
  compared const c(side, density, 300, oblique);
  double const few = c.pass(c.exact);
  double const equal = c.pass(c.same);
  auto const far = c.beyond_edges(side);
  MESSAGE((name + (oblique ? ", oblique, " : ", ")), side, " mm: ", 100 * few,
          " % within 2 %/2 mm of 48 x 48 directions, ", 100 * equal,
          " % of the same directions; beyond 4.5 mm of an edge at most ", 100 * far.worst,
          " % of the maximum, above 1 % in ", far.above, " of ", far.voxels, " voxels");
  CHECK(few >= 0.99);
  CHECK(equal == 1);
  CHECK(far.worst < beyond);
  CHECK(double(far.above) < 5e-5 * double(far.voxels));
}

}  // namespace

TEST_CASE("dose: few directions on the lattice against many exact lines") {
  check_field("water", 50, water_everywhere, 0.01);
  check_field("water", 200, water_everywhere, 0.01);
  // In lung behind denser layers what the field's corners do reaches further than 4.5 mm (docs).
  check_field("slab phantom", 100, slabs, 0.012);
  check_field("lung", 50, lung, 0.012);
  check_field("water", 50, water_everywhere, 0.01, true);
  check_field("lung", 50, lung, 0.012, true);
  check_field("slab phantom", 100, slabs, 0.012, true);
}

TEST_CASE("dose: what the box about the field leaves out") {
  auto const dose_of = [](double side, double margin) {
    auto s = setup::square(slab_phantom_grid(2), side, 900);
    s.margin = margin;
    auto const density = volume_of<double>(
        s.phantom, [](auto, std::int64_t j, auto) { return slabs(2 * double(j) + 1); });
    calculation<double, exec_space> const c({}, s, density);
    return numbers(c.dose_on_host());
  };
  auto const sum = [](std::vector<double> const& v) {
    double total = 0;
    for (double const x : v) {
      total += x;
    }
    return total;
  };
  for (auto const& [side, share] : {std::pair(100.0, 0.06), std::pair(40.0, 0.1)}) {
    auto const whole = dose_of(side, 1000);
    double const most = *std::max_element(whole.begin(), whole.end());
    auto const cropped = dose_of(side, default_margin);
    double outside = 0;
    for (std::size_t n = 0; n < whole.size(); ++n) {
      outside = cropped[n] == 0 ? std::max(outside, whole[n] / most) : outside;
    }
    double const lost = 1 - sum(cropped) / sum(whole);
    MESSAGE(side, " mm: outside at most ", 100 * outside, " % of the maximum, ", 100 * lost,
            " % of the integral dose");
    CHECK(outside < 0.04);
    CHECK(lost < share);
  }
  // Lines count their displacements from the border of the box.
  auto const a = dose_of(100, default_margin);
  auto const b = dose_of(100, default_margin + 2);
  double const most = *std::max_element(a.begin(), a.end());
  double anywhere = 0;
  double far = 0;
  for (std::int64_t i = 0; i < 128; ++i) {
    for (std::int64_t j = 0; j < 128; ++j) {
      for (std::int64_t k = 0; k < 128; ++k) {
        auto const n = std::size_t((i * 128 + j) * 128 + k);
        if (a[n] == 0) {
          continue;
        }
        double const d = std::fabs(a[n] - b[n]) / most;
        double const depth = 2 * double(j) + 1;
        double const half = 50 * (900 + depth) / 1000;
        auto const to_edge = [&](double index) {
          return std::fabs(std::fabs(2 * index - 127) - half);
        };
        anywhere = std::max(anywhere, d);
        if (std::min(to_edge(double(i)), to_edge(double(k))) > 4.5 && depth > 4.5) {
          far = std::max(far, d);
        }
      }
    }
  }
  MESSAGE("a margin of 29 mm: at most ", 100 * anywhere, " % of the maximum, ", 100 * far,
          " % beyond 4.5 mm of an edge");
  CHECK(anywhere < 0.04);
  CHECK(far < 0.008);
}
