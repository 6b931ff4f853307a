// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/dose.hpp
//! A square field of 6 MV in water: TERMA and its convolution.
#pragma once

#include <iso/backend/lane_group.hpp>
#include <iso/cases/work.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/terma.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace iso::cases {

struct field_problem {
  Kokkos::Array<std::int64_t, 3> extent;
  double voxel;
  double side;
  double gantry;
  dose::cone_options cones;
  dose::dose_engine engine = dose::dose_engine::lattice;
  bool table = false;  ///< a tabulated kernel, mixed for the spectrum, instead of exponentials
  backend::launch_shape shape = {};

  [[nodiscard]] bool walks() const { return engine == dose::dose_engine::lattice && !table; }
};

/// Root mean square distance of two volumes on the host, over the maximum of the second.
template <class Found, class Exact>
double distance_of(Found const& found, Exact const& exact) {
  double apart = 0;
  double most = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    double const d = double(found.data()[i]) - exact.data()[i];
    apart += d * d;
    most = std::max(most, exact.data()[i]);
  }
  return std::sqrt(apart / double(exact.size())) / most;
}

template <class Exec, class T>
class dose_problem {
 public:
  using space = typename Exec::memory_space;

  dose_problem(Exec const& exec, field_problem const& p)
      : exec_(exec),
        walks_(p.walks()),
        spectrum_(dose::named_spectrum("mohan_6mv")),
        kernel_(p.table ? dose::point_kernel(dose::mix_kernels(dose::water_kernels(), spectrum_))
                        : dose::point_kernel(dose::named_kernel("6mv"))),
        beam_(beam_of(p)),
        terma_plan_(exec, beam_, spectrum_),
        grid_(grid::centred(p.extent, {p.voxel, p.voxel, p.voxel})),
        density_(make_volume<T, space>("density", grid_)),
        terma_(make_volume<T, space>("terma", grid_)),
        dose_(make_volume<T, space>("dose", grid_)),
        plan_(exec, grid_, beam_, dose::make_cones(kernel_, p.cones),
              {.engine = p.engine, .shape = p.shape}),
        scratch_(dose::convolution_bytes_needed<Exec, T>(exec, plan_)) {
    Kokkos::deep_copy(density_.data, T(1));
    release();
  }

  void release() const { dose::terma<Exec, T>(exec_, terma_plan_, density_, terma_); }
  void convolve() const {
    dose::convolve<Exec, T>(exec_, plan_, terma_, density_, dose_, scratch_);
  }
  [[nodiscard]] auto dose_once() const {
    Kokkos::deep_copy(exec_, dose_.data, T(0));
    convolve();
    exec_.fence("iso::cases: dose is there");
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dose_.data);
  }
  /// Of TERMA: root mean square distance from double precision, over the maximum.
  [[nodiscard]] double release_error() const {
    auto const density = make_volume<double, space>("density", grid_);
    auto const exact = make_volume<double, space>("terma", grid_);
    Kokkos::deep_copy(density.data, 1.0);
    dose::terma<Exec, double>(exec_, terma_plan_, density, exact);
    exec_.fence("iso::cases: TERMA in double is there");
    return distance_of(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), terma_.data),
                       Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), exact.data));
  }
  [[nodiscard]] double voxels() const { return double(grid_.size()); }
  [[nodiscard]] double directions() const { return double(plan_.num_directions()); }
  [[nodiscard]] least_work work() const {
    return convolution_work<T>(voxels(), walks_ ? directions() : 0);
  }
  [[nodiscard]] least_work release_work() const { return terma_work<T>(voxels(), voxels()); }
  [[nodiscard]] volume_view<T, space> const& dose_volume() const { return dose_; }
  [[nodiscard]] volume_view<T, space> const& terma_volume() const { return terma_; }

 private:
  static dose::beam beam_of(field_problem const& p) {
    dose::beam b;
    b.fluence = dose::fluence_map::rectangle(-p.side / 2, p.side / 2, -p.side / 2, p.side / 2);
    b.gantry = p.gantry;
    return b;
  }

  Exec exec_;
  bool walks_;
  dose::spectrum spectrum_;
  dose::point_kernel kernel_;
  dose::beam beam_;
  dose::terma_plan<space> terma_plan_;
  grid grid_;
  volume_view<T, space> density_;
  volume_view<T, space> terma_;
  volume_view<T, space> dose_;
  dose::convolution_plan<T, space> plan_;
  workspace<space> scratch_;
};

/// Of a smaller field with the same voxels and directions.
template <class Exec, class T>
double error_of(Exec const& exec, field_problem p) {
  for (auto& n : p.extent) {
    n = std::max<std::int64_t>(n / 4, 16);
  }
  p.side /= 4;
  auto const mine = dose_problem<Exec, T>(exec, p).dose_once();
  p.engine = dose::dose_engine::voxel_lines;
  auto const exact = dose_problem<Exec, double>(exec, p).dose_once();
  return distance_of(mine, exact);
}

}  // namespace iso::cases
