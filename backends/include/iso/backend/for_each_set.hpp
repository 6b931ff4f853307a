// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/backend/for_each_set.hpp
//! Compiles a header for every instruction set of this processor family: it includes
//! ISO_SET_HEADER once for each, and the compiler makes the code of that set whatever the options
//! of the build are.
//!
//! A header of kernels, or of what kernels call with lane values, is written as
//!
//!     #ifndef ISO_SET
//!     #ifndef MY_KERNEL_HPP
//!     #define MY_KERNEL_HPP
//!     #include <...>                            // everything that it needs
//!     struct my_data { ... };                   // what is the same in all sets
//!     #define ISO_SET_HEADER "my_kernel.hpp"    // itself
//!     #include <iso/backend/for_each_set.hpp>
//!     #endif
//!     #else
//!     namespace my::ISO_SET {
//!     namespace backend = ISO_SET_OF(iso::backend);    // lane values of the set
//!     template <class T>
//!     struct my_kernel {
//!       ISO_KERNEL(my_kernel<T>);
//!       ...
//!     };
//!     }
//!     #endif
//!
//! so that `my_kernel` stands in the namespaces my::avx512, my::avx2 and my::portable. The last is
//! inline: `my::my_kernel` is what a program launches, and for_each_lane_group takes the form of
//! the set that iso::backend::host_vector_bytes names. Forms have the same members in the same
//! order.
//!
//! Everything between a kernel and its lane values must stand in such a header: a function that
//! is compiled for a lesser set cannot inline one of a greater. Standard headers, those of Kokkos
//! and of iso/core are included before, never within.
//!
//! | macro | portable | avx2 | avx512 |
//! | --- | --- | --- | --- |
//! | ISO_SET | inline portable | avx2 | avx512 |
//! | ISO_SET_BYTES, of a vector register | 0 | 32 | 64 |

#ifndef ISO_SET_HEADER
#error "iso/backend/for_each_set.hpp: define ISO_SET_HEADER first, as the header to compile"
#endif

#if defined(__x86_64__)
namespace iso::backend {
namespace avx512 {
using namespace iso::backend;  // what is the same in all sets
}
namespace avx2 {
using namespace iso::backend;
}
}  // namespace iso::backend

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-clang-attribute"  // a header without functions
#pragma clang attribute push(                                                                   \
    __attribute__((                                                                             \
        target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512bw,avx512dq"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target( \
    "avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt,avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")
#endif
#define ISO_SET avx512
#define ISO_OF_SET(...) typename __VA_ARGS__::in_avx512
#define ISO_SET_BYTES 64
#define ISO_SET_OF(...) __VA_ARGS__::avx512
#define ISO_KERNEL(...) static_assert(true)
#include ISO_SET_HEADER
#undef ISO_SET
#undef ISO_OF_SET
#undef ISO_SET_BYTES
#undef ISO_SET_OF
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))), \
                             apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx,avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#define ISO_SET avx2
#define ISO_OF_SET(...) typename __VA_ARGS__::in_avx2
#define ISO_SET_BYTES 32
#define ISO_SET_OF(...) __VA_ARGS__::avx2
#include ISO_SET_HEADER
#undef ISO_SET
#undef ISO_OF_SET
#undef ISO_SET_BYTES
#undef ISO_SET_OF
#undef ISO_KERNEL
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang diagnostic pop
#else
#pragma GCC pop_options
#endif
// Says where the other forms of a kernel are.
#define ISO_KERNEL(...)              \
  using in_avx2 = avx2::__VA_ARGS__; \
  using in_avx512 = avx512::__VA_ARGS__
#else
#define ISO_KERNEL(...) static_assert(true)
#endif

#define ISO_SET inline portable
#define ISO_OF_SET(...) __VA_ARGS__
#define ISO_SET_BYTES 0
#define ISO_SET_OF(...) __VA_ARGS__
#include ISO_SET_HEADER
#undef ISO_SET
#undef ISO_OF_SET
#undef ISO_SET_BYTES
#undef ISO_SET_OF
#undef ISO_KERNEL
#undef ISO_SET_HEADER
