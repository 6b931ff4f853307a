// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/cuda_check.hpp>
#include <iso/backend/texture_volume.hpp>
#include <iso/core/allocate.hpp>

#include <Kokkos_Core.hpp>

#include <cuda_runtime.h>

#include <array>
#include <cstddef>

namespace iso::backend::detail {

namespace {

/// The axes of the planes across `axis`: the lower one, then the higher one.
struct plane_axes {
  int low;
  int high;
};
KOKKOS_INLINE_FUNCTION plane_axes axes_across(int axis) {
  return {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
}

struct copy_kernel {
  float const* volume;
  std::int64_t ny;
  std::int64_t nz;
  cudaSurfaceObject_t stack;
  int axis;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const row = i / nz;
    int const at[3] = {int(row / ny), int(row % ny), int(i - row * nz)};
    auto const [low, high] = axes_across(axis);
    [[maybe_unused]] int const column = at[high] * int(sizeof(float));
    KOKKOS_IF_ON_DEVICE((surf2DLayeredwrite(volume[i], stack, column, at[low], at[axis]);))
  }
};

/// Of the planes across one axis. Freed by its destructor, which waits for the GPU.
class stack_of_planes {
 public:
  stack_of_planes(grid const& g, int axis) {
    auto const [low, high] = axes_across(axis);
    auto const n = [&](int a) { return std::size_t(g.extent[std::size_t(a)]); };
    auto const format = cudaCreateChannelDesc<float>();
    cudaError_t const status =
        cudaMalloc3DArray(&array_, &format, make_cudaExtent(n(high), n(low), n(axis)),
                          cudaArrayLayered | cudaArraySurfaceLoadStore);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // handled here
      std::size_t free = 0;
      std::size_t total = 0;
      cudaMemGetInfo(&free, &total);
      iso::detail::throw_out_of_memory("iso::backend::texture_volume",
                                       std::uint64_t(g.size()) * sizeof(float),
                                       Kokkos::CudaSpace::name(), free);
    }
    ISO_CUDA_CHECK(status);
    try {
      cudaResourceDesc resource{};
      resource.resType = cudaResourceTypeArray;
      resource.res.array.array = array_;
      cudaTextureDesc reading{};
      reading.addressMode[0] = cudaAddressModeBorder;  // zero
      reading.addressMode[1] = cudaAddressModeBorder;
      reading.filterMode = cudaFilterModeLinear;
      reading.readMode = cudaReadModeElementType;
      reading.normalizedCoords = 0;
      ISO_CUDA_CHECK(cudaCreateTextureObject(&texture_, &resource, &reading, nullptr));
      ISO_CUDA_CHECK(cudaCreateSurfaceObject(&surface_, &resource));
    } catch (...) {
      release();
      throw;
    }
  }
  ~stack_of_planes() { release(); }
  stack_of_planes(stack_of_planes const&) = delete;
  stack_of_planes& operator=(stack_of_planes const&) = delete;

  [[nodiscard]] cudaTextureObject_t texture() const { return texture_; }
  [[nodiscard]] cudaSurfaceObject_t surface() const { return surface_; }

 private:
  void release() const {
    // Handles that were not made are zero.
    if (surface_ != 0) {
      cudaDestroySurfaceObject(surface_);
    }
    if (texture_ != 0) {
      cudaDestroyTextureObject(texture_);
    }
    cudaFreeArray(array_);
  }

  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  cudaSurfaceObject_t surface_ = 0;
};

}  // namespace

class cuda_textures {
 public:
  explicit cuda_textures(grid const& g) : across{{{g, 0}, {g, 1}, {g, 2}}} {}
  std::array<stack_of_planes, 3> across;
};

void copy_to_textures(Kokkos::Cuda const& exec, float const* volume, grid const& g,
                      cuda_textures const& to) {
  for (int axis = 0; axis < 3; ++axis) {
    using policy = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("iso::backend::texture_volume", policy(exec, 0, g.size()),
                         copy_kernel{volume, g.extent[1], g.extent[2],
                                     to.across[std::size_t(axis)].surface(), axis});
  }
}

std::shared_ptr<cuda_textures> make_cuda_textures(Kokkos::Cuda const& exec, float const* volume,
                                                  grid const& g) {
  ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
  auto made = std::make_shared<cuda_textures>(g);
  copy_to_textures(exec, volume, g, *made);
  return made;
}

std::uint64_t texture_of(cuda_textures const& of, int axis) {
  return of.across[std::size_t(axis)].texture();
}

}  // namespace iso::backend::detail
