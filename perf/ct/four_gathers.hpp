// SPDX-License-Identifier: BSD-3-Clause
// Joseph's projector on a processor with four reads a sample, a lane at a time, as a compiler
// vectorises the plain loop: gathers, where the machine has them. The numbers, the borders and the
// order of the sums are those of forward_project's own kernel, at the same register width, and so
// are the bits. What it lacks is the columns' blend in a window of registers and, plain, the tiles.
#pragma once

#include <iso/backend/detail/host_lane_group.hpp>
#include <iso/ct/detail/forward_project_impl.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::perf {

/// A group of the host whose lanes each read their own four voxels.
template <int VectorBytes>
class gathering_group : public backend::detail::host_lane_group<VectorBytes> {
  using base = backend::detail::host_lane_group<VectorBytes>;

 public:
  template <class T>
  using per_lane = typename base::template per_lane<T>;

  static constexpr bool walks_columns = false;

  template <class T, class Blend>
  [[gnu::always_inline]] void blend_columns(typename base::template columns<T> const& c, T w,
                                            per_lane<T> const& fraction, per_lane<T>& out,
                                            Blend const& blend) const {
    T const* const lower = c.lower;
    T const* const upper = c.upper;
    this->each([&](int lane) {
      // A gather takes 32-bit indices when they are signed.
      auto const k = std::int32_t((*c.z)[lane]);
      out[lane] =
          blend(fraction[lane], blend(w, lower[k], upper[k]), blend(w, lower[k + 1], upper[k + 1]));
    });
  }

  template <class T, class Blend>
  [[gnu::always_inline]] void blend_columns_at_edge(typename base::template address<T> lower_column,
                                                    typename base::template address<T> upper_column,
                                                    std::int32_t lower_height,
                                                    std::int32_t upper_height, T w,
                                                    per_lane<std::int32_t> const& z,
                                                    per_lane<T> const& fraction, per_lane<T>& out,
                                                    Blend const& blend) const {
    T const* const lower = lower_column.pointer();
    T const* const upper = upper_column.pointer();
    auto const read = [](T const* column, std::int32_t height, std::int32_t k) {
      return std::uint32_t(k) < std::uint32_t(height) ? column[k] : T(0);
    };
    this->each([&](int lane) {
      std::int32_t const k = z[lane];
      T const below = blend(w, read(lower, lower_height, k), read(upper, upper_height, k));
      T const above = blend(w, read(lower, lower_height, k + 1), read(upper, upper_height, k + 1));
      out[lane] = blend(fraction[lane], below, above);
    });
  }
};

/// How the work is cut up, which changes no bit: neighbouring u that are walked together, and rows
/// of 32 pixels along v.
template <int Fans, int Rows>
struct gathering_tiles {
  static constexpr int fans = Fans;
  static constexpr int rows = Rows;
};
/// The plain loop: a row of pixels after the other.
using plain_tiles = gathering_tiles<1, 1>;
/// Those of forward_project.
using library_tiles =
    gathering_tiles<ct::detail::joseph_on_host.fans, ct::detail::joseph_on_gpu.rows>;

/// Enqueues on `exec`. `scratch` as for forward_project.
template <class Tiles, class Exec>
void four_gathers(Exec const& exec, ct::staged_geometry<typename Exec::memory_space> const& g,
                  volume_view<float const, typename Exec::memory_space> const& volume,
                  projection_view<float, typename Exec::memory_space> const& projections,
                  workspace<typename Exec::memory_space> const& scratch) {
  using sum = ct::detail::ordered_sum<float>;
  using kernel_type = ct::detail::joseph_fast_kernel<float, sum, Tiles::fans, Tiles::rows>;
  auto const plan = ct::detail::joseph_plan::make<Exec>(g.host(), volume.grid, 0);
  workspace_parts memory(scratch, "four_gathers");
  ct::detail::joseph_scratch<float> const parts(memory, g.host(), plan);
  kernel_type const kernel{
      {volume.data.data(), volume.grid, {volume.grid, boundary::zero}},
      ct::detail::prepare_fans(exec, g, volume.grid, projections.data.data(), parts),
      {0, plan.planes},
      ct::detail::slab_place::only};
  using policy =
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("iso::perf::four_gathers", policy(exec, 0, kernel.num_groups()),
                       backend::detail::host_body<kernel_type, gathering_group>{
                           kernel, backend::detail::host_vector_bytes()});
}

}  // namespace iso::perf
