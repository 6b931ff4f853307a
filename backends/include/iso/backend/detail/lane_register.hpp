// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_LANE_REGISTER_HPP
#define ISO_BACKEND_DETAIL_LANE_REGISTER_HPP

#include <cstdint>
#include <type_traits>

#define ISO_SET_HEADER <iso/backend/detail/lane_register.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

/// The compiler's own vector. Written out, because nvcc's front end fails on a vector_size that
/// depends on a template parameter.
template <class T, int W>
struct native_register;
#define ISO_NATIVE_REGISTER(T, W)                               \
  template <>                                                   \
  struct native_register<T, W> {                                \
    typedef T type __attribute__((vector_size(W * sizeof(T)))); \
  };
#define ISO_NATIVE_REGISTERS(T32, T64) \
  ISO_NATIVE_REGISTER(T32, 4)          \
  ISO_NATIVE_REGISTER(T32, 8)          \
  ISO_NATIVE_REGISTER(T32, 16)         \
  ISO_NATIVE_REGISTER(T64, 2)          \
  ISO_NATIVE_REGISTER(T64, 4)          \
  ISO_NATIVE_REGISTER(T64, 8)
ISO_NATIVE_REGISTERS(float, double)
ISO_NATIVE_REGISTERS(std::int32_t, std::int64_t)
ISO_NATIVE_REGISTERS(std::uint32_t, std::uint64_t)
#undef ISO_NATIVE_REGISTER

/// A vector register of `W` lanes; an array to nvcc, which takes no vectors in what may be device
/// code. Operations load and store an array whole, and the compiler keeps it in a register.
template <class T, int W>
struct alignas(W * sizeof(T)) lane_register {
  using element = T;
  static constexpr int width = W;
#ifdef __CUDACC__
  T x[W];
#else
  typename native_register<T, W>::type x;
#endif
};

// Laid out here: where GCC 12 meets a struct of 64 bytes first outside of the set avx512, a
// function that returns it in a register clears the register's upper part.
#define ISO_NATIVE_REGISTER(T, W) template struct lane_register<T, W>;
ISO_NATIVE_REGISTERS(float, double)
ISO_NATIVE_REGISTERS(std::int32_t, std::int64_t)
ISO_NATIVE_REGISTERS(std::uint32_t, std::uint64_t)
#undef ISO_NATIVE_REGISTERS
#undef ISO_NATIVE_REGISTER

template <class R>
using native = typename native_register<typename R::element, R::width>::type;

/// The operation that a register of R takes: its element and its bytes.
template <class R, class T, int Bytes>
inline constexpr bool is_register = false;
template <class T, int W, int Bytes>
inline constexpr bool is_register<lane_register<T, W>, T, Bytes> = W * sizeof(T) == Bytes;

}  // namespace iso::backend::ISO_SET

#endif
