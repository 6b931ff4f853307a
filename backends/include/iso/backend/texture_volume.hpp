// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/texture_volume.hpp
//! Provides a volume as a GPU's texture units read it: they blend four neighbouring voxels in one
//! instruction, with weights of 8 fractional bits.
#pragma once

#include <iso/backend/detail/cuda_lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/volume_view.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace iso::backend {

namespace detail {
class cuda_textures;
#if ISO_HAS_CUDA
/// Makes a volume of three stacks of planes, set on the stream of `exec`.
std::shared_ptr<cuda_textures> make_cuda_textures(Kokkos::Cuda const& exec, float const* volume,
                                                  grid const& g);
void copy_to_textures(Kokkos::Cuda const& exec, float const* volume, grid const& g,
                      cuda_textures const& to);
std::uint64_t texture_of(cuda_textures const& of, int axis);
#endif
}  // namespace detail

/// The planes across one axis, as a kernel on the GPU reads them.
class texture_planes {
 public:
  explicit KOKKOS_FUNCTION texture_planes(std::uint64_t texture) : texture_(texture) {}
  /// Interpolates between four voxels of a plane, at (p, q) along the lower and the higher of its
  /// axes, centres at whole numbers; zero from one spacing outside on.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION float operator()(std::int32_t plane, float p,
                                                             float q) const {
    static_cast<void>(plane);
    static_cast<void>(p);
    static_cast<void>(q);
    KOKKOS_IF_ON_DEVICE(
        (return tex2DLayered<float>(cudaTextureObject_t(texture_), q + 0.5F, p + 0.5F, plane);))
    KOKKOS_IF_ON_HOST((return 0;))
  }

 private:
  std::uint64_t texture_;
};

/// A copy of a volume for texture units, in CUDA arrays of its own: the planes across x, those
/// across y and those across z, three times the volume's memory, so that steps along any axis find
/// their planes. Cheap to copy; copies share the arrays. Present on all backends, to be made on
/// CUDA alone.
/// Determinism: not_guaranteed (hardware rounds the weights of whoever reads it to 8 bits).
class texture_volume {
 public:
  // No moves: an object that was moved from would have no arrays, and a copy shares them.
  texture_volume(texture_volume const&) = default;
  texture_volume& operator=(texture_volume const&) = default;
  ~texture_volume() = default;

  /// Allocates and copies; the copy is enqueued on `exec`, which does not fence.
  ///
  /// \param[in] volume  [nx, ny, nz], each at most 2048
  /// \throws iso::invalid_argument  `Exec` has no texture units; more than 2048 voxels along an
  ///                                axis; an invalid volume, or one with gaps
  /// \throws iso::out_of_memory     with the bytes asked for
  template <execution_space Exec>
  texture_volume(Exec const& exec,
                 volume_view<float const, typename Exec::memory_space> const& volume);

  /// Copies the voxels of another volume on the same grid, after what `exec` does before.
  /// \throws iso::invalid_argument  another grid, or as the constructor
  template <execution_space Exec>
  void update(Exec const& exec,
              volume_view<float const, typename Exec::memory_space> const& volume) const;

  [[nodiscard]] iso::grid const& grid() const { return grid_; }
  /// Returns the planes across axis m, planes(m), for kernels.
  [[nodiscard]] texture_planes planes([[maybe_unused]] int axis) const {
#if ISO_HAS_CUDA
    return texture_planes(detail::texture_of(*textures_, axis));
#else
    return texture_planes(0);
#endif
  }

 private:
  template <class Exec>
  static void check(volume_view<float const, typename Exec::memory_space> const& volume) {
    ISO_VALIDATE(detail::is_cuda<Exec>,
                 "iso::backend::texture_volume: the backend {} has no texture units (only cuda "
                 "has); use the volume itself",
                 tag<Exec>::name);
    validate(volume, "iso::backend::texture_volume");
    validate_contiguous(volume.data, "volume data", "iso::backend::texture_volume");
    auto const& n = volume.grid.extent;
    constexpr std::int64_t most = 2048;  // layers of a texture
    ISO_VALIDATE(n[0] <= most && n[1] <= most && n[2] <= most,
                 "iso::backend::texture_volume: volume of [{}, {}, {}] voxels (a texture has at "
                 "most 2048 layers); use the volume itself",
                 n[0], n[1], n[2]);
  }

  iso::grid grid_;
  std::shared_ptr<detail::cuda_textures> textures_;
};

template <execution_space Exec>
texture_volume::texture_volume([[maybe_unused]] Exec const& exec,
                               volume_view<float const, typename Exec::memory_space> const& volume)
    : grid_(volume.grid) {
  check<Exec>(volume);
#if ISO_HAS_CUDA
  if constexpr (detail::is_cuda<Exec>) {
    textures_ = detail::make_cuda_textures(exec, volume.data.data(), grid_);
  }
#endif
}

template <execution_space Exec>
void texture_volume::update(
    [[maybe_unused]] Exec const& exec,
    volume_view<float const, typename Exec::memory_space> const& volume) const {
  check<Exec>(volume);
  auto const& n = volume.grid.extent;
  ISO_VALIDATE(n == grid_.extent,
               "iso::backend::texture_volume: volume of [{}, {}, {}] voxels (the texture has [{}, "
               "{}, {}]); make another texture for this grid",
               n[0], n[1], n[2], grid_.extent[0], grid_.extent[1], grid_.extent[2]);
#if ISO_HAS_CUDA
  if constexpr (detail::is_cuda<Exec>) {
    detail::copy_to_textures(exec, volume.data.data(), grid_, *textures_);
  }
#endif
}

}  // namespace iso::backend
