// SPDX-License-Identifier: BSD-3-Clause
//! Fields on phantoms in slabs, as the tests of dose want them.
#pragma once

#include "volume_of.hpp"

#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/kernel.hpp>
#include <iso/dose/spectrum.hpp>
#include <iso/dose/terma.hpp>
#include <iso/oracle/interpolation.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dose_support {

using iso::grid;
using iso::vec3;
using iso::test::volume_of;
using namespace iso::dose;

inline constexpr double pi = 3.14159265358979323846;

template <class T>
using host_volume = iso::volume_view<T, Kokkos::HostSpace>;

/// Neither cube nor water: numbers that differ along every axis.
inline double mixed(std::int64_t i, std::int64_t j, std::int64_t k) {
  return 0.05 + double((7919 * (i / 3) + 104729 * (j / 4) + 1299709 * (k / 5)) % 101) * 0.018;
}

/// Of voxel (i, j, k), mm.
inline vec3<double> middle_of(grid const& g, std::int64_t i, std::int64_t j, std::int64_t k) {
  return {g.origin.x + g.spacing.x * double(i), g.origin.y + g.spacing.y * double(j),
          g.origin.z + g.spacing.z * double(k)};
}

/// Linear between the middles of voxels, at a point in mm; the nearest on the border beyond it.
template <class T>
double interpolated(host_volume<T> const& v, vec3<double> const& at) {
  return iso::oracle::trilinear(v, v.grid.to_index(at));
}

template <class T>
std::vector<T> numbers(host_volume<T> const& v) {
  return {v.data.data(), v.data.data() + v.data.size()};
}

/// A square field (mm) onto a phantom whose surface lies `ssd` from the source, gantry at 0: the
/// beam goes along +y.
struct setup {
  grid phantom;
  beam field;
  point_kernel kernel = named_kernel("6mv");
  double margin = default_margin;
  std::string photons = "mohan_6mv";
  cone_options cones = {};
  std::optional<cone_set> own_cones =
      std::nullopt;  ///< instead of what `cones` makes of the kernel
  terma_options hardening = {};
  convolution_options options = {};

  /// `surface` is the y of the phantom's upper face.
  static setup square(grid const& phantom, double side, double ssd) {
    setup s{phantom, {}};
    s.field.fluence = fluence_map::rectangle(-side / 2, side / 2, -side / 2, side / 2);
    double const surface = phantom.origin.y - 0.5 * phantom.spacing.y;
    s.field.isocentre = {0, surface + (s.field.source_distance - ssd), 0};
    return s;
  }
};

/// The same cones, with their exponentials as tables of thin shells.
inline cone_set tabulated(cone_set cones) {
  auto const sums = std::get<exponential_cones>(cones.absorbed);
  tabulated_cones table;
  for (double r = 0.02; r < 60; r *= 1.03) {
    table.radii.push_back(r);
  }
  for (auto const& terms : sums.terms) {
    auto& of_cone = table.within.emplace_back();
    for (double const r : table.radii) {
      double within = 0;
      for (std::size_t c = 0; c < std::size_t(sums.num_terms); ++c) {
        within -= terms.energy[c] * std::expm1(-terms.rate[c] * r);
      }
      of_cone.push_back(within);
    }
  }
  cones.absorbed = std::move(table);
  return cones;
}

/// The angles of `s`, or those of a beam that is oblique to all axes of the grid.
inline setup turned(setup s, bool oblique) {
  if (oblique) {
    s.field.gantry = 0.6;
    s.field.couch = 0.5;
    s.field.collimator = 0.2;
  }
  return s;
}

/// What a dose calculation wants where `Exec` computes, made before it.
template <class T, class Exec>
struct prepared {
  using space = typename Exec::memory_space;
  Exec exec;
  grid region;
  iso::volume_view<T, space> density;
  iso::volume_view<T, space> released;
  iso::volume_view<T, space> dose;
  terma_plan<space> beam;
  convolution_plan<T, space> plan;

  prepared(Exec const& e, setup const& s, host_volume<T> const& rho)
      : exec(e),
        region(region_around(s.field, s.phantom, s.margin)),
        density(iso::make_volume<T, space>("density", s.phantom)),
        released(iso::make_volume<T, space>("terma", region)),
        dose(iso::make_volume<T, space>("dose", s.phantom)),
        beam(exec, s.field, named_spectrum(s.photons), s.hardening),
        plan(exec, region, s.field, s.own_cones ? *s.own_cones : make_cones(s.kernel, s.cones),
             s.options) {
    Kokkos::deep_copy(density.data, rho.data);
  }
  [[nodiscard]] std::int64_t bytes() const { return convolve_bytes_needed<T>(exec, plan); }
  void release() const { terma<Exec, T>(exec, beam, density, released); }
  void run(iso::workspace<space> const& scratch, iso::job const& control = {}) const {
    convolve<Exec, T>(exec, plan, released, density, dose, scratch, iso::onto::stored, control);
  }
};

template <class T, class Space>
host_volume<T> on_host(iso::volume_view<T, Space> const& v) {
  auto out = iso::make_volume<T, Kokkos::HostSpace>("copy", v.grid);
  Kokkos::deep_copy(out.data, v.data);
  return out;
}

/// TERMA alone.
template <class T, class Exec>
host_volume<T> terma_of(Exec const& exec, setup const& s, host_volume<T> const& rho) {
  prepared<T, Exec> const p(exec, s, rho);
  p.release();
  exec.fence();
  return on_host(p.released);
}

/// TERMA and dose.
template <class T, class Exec>
struct calculation : prepared<T, Exec> {
  using typename prepared<T, Exec>::space;

  calculation(Exec const& e, setup const& s, host_volume<T> const& rho)
      : prepared<T, Exec>(e, s, rho) {
    this->release();
    iso::workspace<space> const scratch(this->bytes());
    this->run(scratch);
    this->exec.fence();
  }
  [[nodiscard]] host_volume<T> dose_on_host() const { return on_host(this->dose); }
  [[nodiscard]] host_volume<T> terma_on_host() const { return on_host(this->released); }
};

}  // namespace dose_support
