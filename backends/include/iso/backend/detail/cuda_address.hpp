// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/backends.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

#if ISO_HAS_CUDA
namespace iso::backend::detail {

template <class T>
class cuda_near_address;

/// The address where an array begins, as the machine's own number: one wide multiply-add a step,
/// which the compiler, left alone with pointers, makes two or three of.
template <class T>
class cuda_address {
 public:
  KOKKOS_FUNCTION explicit cuda_address(T const* p) : value_(0) {
    KOKKOS_IF_ON_DEVICE((value_ = __cvta_generic_to_global(p);))
    KOKKOS_IF_ON_HOST((static_cast<void>(p);))
  }
  /// Returns the address `count` times `bytes` further on.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION cuda_address plus(std::uint32_t count,
                                                              std::uint32_t bytes) const {
    cuda_address to = *this;
    KOKKOS_IF_ON_DEVICE((asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(to.value_) : "r"(count),
                             "r"(bytes), "l"(value_));))
    KOKKOS_IF_ON_HOST((to.value_ += std::uint64_t(count) * bytes;))
    return to;
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION cuda_address plus(std::uint64_t bytes) const {
    cuda_address to = *this;
    to.value_ += bytes;
    return to;
  }
  /// Returns the address `count` values further on, or back.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION cuda_address at(std::int32_t count) const {
    cuda_address to = *this;
    KOKKOS_IF_ON_DEVICE((asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(to.value_) : "r"(count),
                             "n"(int(sizeof(T))), "l"(value_));))
    KOKKOS_IF_ON_HOST((to.value_ += std::uint64_t(std::int64_t(count)) * sizeof(T);))
    return to;
  }
  /// Returns the value `Index` further on.
  template <int Index>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T read() const {
    T x{};
    KOKKOS_IF_ON_DEVICE((
        if constexpr (sizeof(T) == 4) {
          asm("ld.global.nc.f32 %0, [%1 + %2];" : "=f"(x) : "l"(value_), "n"(4 * Index));
        } else {
          asm("ld.global.nc.f64 %0, [%1 + %2];" : "=d"(x) : "l"(value_), "n"(8 * Index));
        }))
    return x;
  }
  /// Returns the two values from `2 Index` further on, of an array whose pairs are aligned.
  template <int Index>
  KOKKOS_FORCEINLINE_FUNCTION void read_two(T& a, T& b) const {
    KOKKOS_IF_ON_DEVICE((
        if constexpr (sizeof(T) == 4) {
          asm("ld.global.nc.v2.f32 {%0, %1}, [%2 + %3];"
              : "=f"(a), "=f"(b)
              : "l"(value_), "n"(8 * Index));
        } else {
          asm("ld.global.nc.v2.f64 {%0, %1}, [%2 + %3];"
              : "=d"(a), "=d"(b)
              : "l"(value_), "n"(16 * Index));
        }))
    KOKKOS_IF_ON_HOST((static_cast<void>(a); static_cast<void>(b);))
  }
  /// Reads the same where i < limit, else zero: a guarded load, no branch.
  template <int Index>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T read_if_below(std::uint32_t i,
                                                            std::uint32_t limit) const {
    T x{};
    KOKKOS_IF_ON_DEVICE((
        if constexpr (sizeof(T) == 4) {
          asm("{.reg .pred p; setp.lt.u32 p, %2, %3; mov.f32 %0, 0f00000000;"
              " @p ld.global.nc.f32 %0, [%1 + %4];}"
              : "=f"(x)
              : "l"(value_), "r"(i), "r"(limit), "n"(4 * Index));
        } else {
          asm("{.reg .pred p; setp.lt.u32 p, %2, %3; mov.f64 %0, 0d0000000000000000;"
              " @p ld.global.nc.f64 %0, [%1 + %4];}"
              : "=d"(x)
              : "l"(value_), "r"(i), "r"(limit), "n"(8 * Index));
        }))
    KOKKOS_IF_ON_HOST((static_cast<void>(i); static_cast<void>(limit);))
    return x;
  }

 private:
  template <class>
  friend class cuda_near_address;
  std::uint64_t value_;
};

/// The same near a `place`: 32 bits to reckon with, the others are its own.
template <class T>
class cuda_near_address {
 public:
  KOKKOS_FUNCTION cuda_near_address(cuda_address<T> const& a, T const* place)
      : low_(std::uint32_t(a.value_)),
        high_(std::uint32_t(reinterpret_cast<std::uintptr_t>(place) >> 32U)) {}
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION cuda_near_address plus(std::uint32_t count,
                                                                   std::uint32_t bytes) const {
    return plus(count * bytes);
  }
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION cuda_near_address plus(std::uint32_t bytes) const {
    cuda_near_address to = *this;
    // Opaque, so that sums are formed in the order in which they are written.
    KOKKOS_IF_ON_DEVICE((asm("add.u32 %0, %1, %2;" : "=r"(to.low_) : "r"(low_), "r"(bytes));))
    KOKKOS_IF_ON_HOST((to.low_ += bytes;))
    return to;
  }
  template <int Index>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T read() const {
    cuda_address<T> whole(nullptr);
    KOKKOS_IF_ON_DEVICE(
        (asm("mov.b64 %0, {%1, %2};" : "=l"(whole.value_) : "r"(low_), "r"(high_));))
    return whole.template read<Index>();
  }
  template <int Index>
  KOKKOS_FORCEINLINE_FUNCTION void read_two(T& a, T& b) const {
    cuda_address<T> whole(nullptr);
    KOKKOS_IF_ON_DEVICE(
        (asm("mov.b64 %0, {%1, %2};" : "=l"(whole.value_) : "r"(low_), "r"(high_));))
    whole.template read_two<Index>(a, b);
  }

 private:
  std::uint32_t low_;
  std::uint32_t high_;
};

}  // namespace iso::backend::detail
#endif
