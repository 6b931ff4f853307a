// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/dose/terma.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/detail/copied.hpp>
#include <iso/detail/timed_batches.hpp>
#include <iso/dose/detail/terma_kernel.hpp>
#include <iso/dose/detail/terma_share.hpp>
#include <iso/dose/terma.hpp>
#include <iso/ray/detail/traversal_tuning.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <vector>

namespace iso::dose {
namespace detail {

/// Returns the coefficients of a depth_curve.
std::vector<double> curve_of(spectrum const& s, terma_options const& options);
/// Returns the shadow of a voxel along `axis`: its three sides as they stand there, the two smaller
/// ones as one of the same variance.
voxel_shadow shadow_of(iso::grid const& g, vec3<double> const& axis);
void validate_source(beam_frame const& frame, iso::grid const& density, std::int64_t max_planes);

}  // namespace detail

template <class Space>
template <execution_space Exec>
terma_plan<Space>::terma_plan(Exec const& exec, beam const& b, spectrum const& s,
                              terma_options const& options)
    : beam_(b),
      frame_(frame_of(b)),
      fluence_(iso::detail::copied<Space>(exec, "iso::dose::terma_plan", b.fluence.values)),
      curve_(iso::detail::copied<Space>(exec, "iso::dose::terma_plan",
                                        detail::curve_of(s, options))) {}

template <class Space>
template <execution_space Exec>
terma_plan<Space>::terma_plan(Exec const& exec, beam const& b, terma_plan const& of_same_spectrum,
                              iso::detail::reused_copy<Exec>* memory)
    : beam_(b), frame_(frame_of(b)), curve_(of_same_spectrum.curve_) {
  std::vector<double> const& values = b.fluence.values;
  if (memory == nullptr) {
    fluence_ = iso::detail::copied<Space>(exec, "iso::dose::terma_plan", values);
  } else {
    iso::detail::packed_arrays arrays;
    auto const place = arrays.add(values);
    fluence_ = numbers(place.in(memory->take(exec, arrays.bytes())).data(), values.size());
  }
}

namespace detail {

template <execution_space Exec, real T>
void terma_across(
    Exec const& exec, terma_plan<typename Exec::memory_space> const& plan,
    volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
    volume_view<T, typename Exec::memory_space> const& terma,
    Kokkos::View<std::int32_t const*, typename Exec::memory_space> const& some_x,
    job const& control) {
  validate(density, "iso::dose::terma");
  validate(terma, "iso::dose::terma");
  validate_contiguous(density.data, "density", "iso::dose::terma");
  validate_contiguous(terma.data, "terma", "iso::dose::terma");
  validate_apart(memory_of(terma.data, "terma"), {memory_of(density.data, "density")},
                 "iso::dose::terma");
  validate_source(plan.frame(), density.grid,
                  sizeof(T) == 4 ? std::int64_t(1) << 24 : std::int64_t(1) << 53);
  Kokkos::Profiling::ScopedRegion const region("iso::dose::terma");
  fluence_map const& f = plan.field().fluence;
  using method = ray::detail::fastest_walk<Exec>;
  auto const launch = [&](auto index) {
    terma_kernel<method, decltype(index), T> kernel{
        {plan.curve().data()},
        {plan.fluence().data(), f.x_low, f.y_low, f.pixel_x, f.pixel_y, f.columns, f.rows},
        plan.frame(),
        shadow_of(terma.grid, plan.frame().x),
        shadow_of(terma.grid, plan.frame().y),
        plan.field().weight,
        terma.grid,
        ray::traversal_grid(density.grid),
        density.data.data(),
        terma.data.data(),
        0,
        some_x.data(),
        std::int64_t(some_x.extent(0))};
    // The set-up of a ray takes twice the registers of its walk: some are spilled, so that more
    // rays are under way.
    constexpr unsigned blocks = !backend::is_device<Exec> ? 0 : sizeof(T) == 4 ? 6 : 4;
    iso::detail::in_timed_batches(
        exec, kernel.num_groups(), control, [&](std::int64_t first, std::int64_t last) {
          kernel.first_group = first;
          backend::for_each_lane_group<256, blocks, backend::sharing::on_demand>(
              "iso::dose::terma", exec, last - first, kernel);
        });
  };
  if (density.grid.size() < std::int64_t(1) << 31) {
    launch(std::int32_t(0));
  } else {
    launch(std::int64_t(0));
  }
}

}  // namespace detail

template <execution_space Exec, real T>
void terma(Exec const& exec, terma_plan<typename Exec::memory_space> const& plan,
           volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& density,
           volume_view<T, typename Exec::memory_space> const& terma, job const& control) {
  detail::terma_across<Exec, T>(exec, plan, density, terma, {}, control);
}

#define ISO_DOSE_TERMA(linkage, Exec, T)                                     \
  linkage template void terma<Exec, T>(                                      \
      Exec const&, terma_plan<Exec::memory_space> const&,                    \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      volume_view<T, Exec::memory_space> const&, job const&);                \
  linkage template void detail::terma_across<Exec, T>(                       \
      Exec const&, terma_plan<Exec::memory_space> const&,                    \
      volume_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      volume_view<T, Exec::memory_space> const&,                             \
      Kokkos::View<std::int32_t const*, Exec::memory_space> const&, job const&);
#define ISO_DOSE_TERMA_PLAN(Exec, ...)                                  \
  __VA_ARGS__ template terma_plan<Exec::memory_space>::terma_plan(      \
      Exec const&, beam const&, spectrum const&, terma_options const&); \
  __VA_ARGS__ template terma_plan<Exec::memory_space>::terma_plan(      \
      Exec const&, beam const&, terma_plan<Exec::memory_space> const&,  \
      iso::detail::reused_copy<Exec>*);
ISO_FOR_EACH_INSTANCE(ISO_DOSE_TERMA, extern)
ISO_FOR_EACH_BACKEND(ISO_DOSE_TERMA_PLAN, extern)

}  // namespace iso::dose
