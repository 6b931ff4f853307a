// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/event.hpp
//! Orders the work of several execution space instances, so that copies run beside kernels.
#pragma once

#include <iso/backend/registry.hpp>
#if ISO_HAS_CUDA
#include <iso/backend/cuda_check.hpp>
#endif

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace iso::backend {

/// The host's memory that a device copies from and to while kernels run.
template <execution_space Exec>
using staging_space =
    std::conditional_t<is_device<Exec>, Kokkos::SharedHostPinnedSpace, Kokkos::HostSpace>;

/// Which work goes first where the device has room for a part of what waits.
enum class urgency {
  same,   ///< what came first
  first,  ///< that of the new instance: its kernels do not wait for the last blocks of a long one
};

/// Returns an instance whose work runs beside that of `exec`: on a GPU another stream. A processor
/// has one, as it works while its caller waits.
/// Determinism: backend_to_backend; it changes the order of no sum.
template <execution_space Exec>
Exec another_instance(Exec const& exec, [[maybe_unused]] urgency of = urgency::same) {
#if ISO_HAS_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    if (of == urgency::first) {
      ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
      int least = 0;
      int greatest = 0;
      ISO_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
      cudaStream_t made{};
      ISO_CUDA_CHECK(cudaStreamCreateWithPriority(&made, cudaStreamDefault, greatest));
      // The last copy of the instance destroys the stream, as that of partition_space.
      return {made, Kokkos::Impl::ManageStream::yes};
    }
  }
#endif
  if constexpr (is_device<Exec>) {
    return Kokkos::Experimental::partition_space(exec, 1)[0];
  } else {
    return exec;
  }
}

/// A mark in the work of an instance, for which other instances and the host may wait. Without a
/// record nobody waits. On a processor nobody needs to.
template <execution_space Exec>
class event {
 public:
  void record(Exec const&) {}
  void hold(Exec const&) const {}
  void wait() const {}
};

/// Rows of bytes of the same length.
struct byte_rows {
  std::byte* first;
  std::int64_t stride;  ///< from a row to the next
};

/// Copies `count` rows of so many bytes at once: a processor has one memory.
/// Determinism: backend_to_backend, a copy.
template <execution_space Exec>
  requires(!is_device<Exec>)
void copy_rows(Exec const&, byte_rows to, byte_rows from, std::int64_t length, std::int64_t count) {
  for (std::int64_t row = 0; row < count; ++row) {
    std::memcpy(to.first + row * to.stride, from.first + row * from.stride, std::size_t(length));
  }
}
/// Returns whether the device copies from and to host memory from `first` to `last`, a byte of it,
/// while kernels run. Determinism: not_guaranteed, memory may be page-locked at any time.
template <execution_space Exec>
  requires(!is_device<Exec>)
bool is_page_locked(Exec const&, void const*, void const*) {
  return false;
}
/// The bytes below which page_lock() leaves an array as it is. Large arrays have pages of their
/// own, while small ones share theirs with others, which would seem to be locked too.
inline constexpr std::size_t page_lock_bytes = std::size_t(64) << 20;
/// Page-locks an array in host memory until what it returns is gone, which owns the array too: a
/// device then copies it where it lies. Nothing is locked, and nothing returned, of an array of
/// less than `page_lock_bytes`, of one that a View does not own (who frees it does not know of the
/// lock), where the system refuses, and on a processor. Determinism: backend_to_backend, it changes
/// no number.
template <execution_space Exec, class Array>
  requires(!is_device<Exec>)
std::shared_ptr<void> page_lock(Exec const&, Array const&) {
  return {};
}

#if ISO_HAS_CUDA
template <>
class event<Kokkos::Cuda> {
 public:
  event() = default;
  // No moves: what was moved from would lose its mark, and a copy is the same mark.
  event(event const&) = default;
  event& operator=(event const&) = default;
  ~event() = default;
  /// Marks the end of what is enqueued on `exec`.
  void record(Kokkos::Cuda const& exec) {
    ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
    if (event_ == nullptr) {
      cudaEvent_t made{};
      ISO_CUDA_CHECK(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
      event_ = {made, [](cudaEvent_t old) { static_cast<void>(cudaEventDestroy(old)); }};
    }
    ISO_CUDA_CHECK(cudaEventRecord(event_.get(), exec.cuda_stream()));
  }
  /// Has what is enqueued on `exec` from now on wait for the mark.
  void hold(Kokkos::Cuda const& exec) const {
    if (event_ != nullptr) {
      ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
      ISO_CUDA_CHECK(cudaStreamWaitEvent(exec.cuda_stream(), event_.get(), 0));
    }
  }
  /// Has the host wait.
  void wait() const {
    if (event_ != nullptr) {
      ISO_CUDA_CHECK(cudaEventSynchronize(event_.get()));
    }
  }

 private:
  std::shared_ptr<std::remove_pointer_t<cudaEvent_t>> event_;
};

/// Copies rows between the device's memory and page-locked memory of the host, in the order of what
/// else is enqueued on `exec`. Determinism: backend_to_backend, a copy.
inline void copy_rows(Kokkos::Cuda const& exec, byte_rows to, byte_rows from, std::int64_t length,
                      std::int64_t count) {
  ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
  if (count == 1 || (to.stride == length && from.stride == length)) {
    // A row may be longer than two-dimensional copies take.
    ISO_CUDA_CHECK(cudaMemcpyAsync(to.first, from.first, std::size_t(length * count),
                                   cudaMemcpyDefault, exec.cuda_stream()));
    return;
  }
  ISO_CUDA_CHECK(cudaMemcpy2DAsync(to.first, std::size_t(to.stride), from.first,
                                   std::size_t(from.stride), std::size_t(length),
                                   std::size_t(count), cudaMemcpyDefault, exec.cuda_stream()));
}
/// As above. Determinism: not_guaranteed, memory may be page-locked at any time.
inline bool is_page_locked(Kokkos::Cuda const&, void const* first, void const* last) {
  // A page may hold the end of a locked array and the beginning of another.
  for (void const* memory : {first, last}) {
    cudaPointerAttributes found{};
    ISO_CUDA_CHECK(cudaPointerGetAttributes(&found, memory));
    if (found.type != cudaMemoryTypeHost) {
      return false;
    }
  }
  return true;
}
/// As above. Determinism: backend_to_backend, it changes no number.
template <class Array>
std::shared_ptr<void> page_lock(Kokkos::Cuda const& exec, Array const& array) {
  using value = std::remove_const_t<typename Array::value_type>;
  std::size_t const bytes = array.size() * sizeof(value);
  if (array.use_count() == 0 || bytes < page_lock_bytes) {
    return {};
  }
  ISO_CUDA_CHECK(cudaSetDevice(exec.cuda_device()));
  auto* const first = const_cast<value*>(array.data());
  if (cudaHostRegister(first, bytes, cudaHostRegisterPortable) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());  // or the next call would tell it
    return {};
  }
  return {first, [array](void* locked) { static_cast<void>(cudaHostUnregister(locked)); }};
}
#endif

}  // namespace iso::backend
