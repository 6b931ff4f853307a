// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/wrap.hpp
//! Wraps a program's own arrays as volumes, projections and workspaces. Nothing is copied.
//!
//! The functions take a pointer or a Kokkos::View.
//!
//! - A pointer comes with the memory space `Space` that it points into. This is not checked. The
//!   memory must outlive every object that is made of it.
//! - A view has its memory space in its type. Where its layout is LayoutRight, the result shares
//!   the ownership of the memory. Where it is another one, such as a LayoutStride view whose last
//!   index is fastest, the view must outlive the result.
#pragma once

#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace iso {

namespace detail {

void validate_alignment(void const* data, std::size_t bytes, char const* function);
/// Checks that three extents and strides are those of an array whose last index is fastest, without
/// gaps.
void validate_strides(std::int64_t const (&extents)[3], std::int64_t const (&strides)[3],
                      char const* function);

template <view V>
auto wrap_data(V const& data, char const* function) {
  static_assert(V::rank() == 3, "iso::wrap: volumes and projections have three indices");
  using data_type =
      Kokkos::View<typename V::value_type***, Kokkos::LayoutRight, typename V::memory_space>;
  validate_strides(
      {std::int64_t(data.extent(0)), std::int64_t(data.extent(1)), std::int64_t(data.extent(2))},
      {std::int64_t(data.stride(0)), std::int64_t(data.stride(1)), std::int64_t(data.stride(2))},
      function);
  if constexpr (std::is_convertible_v<V, data_type>) {
    return data_type(data);
  } else {
    return data_type(data.data(), data.extent(0), data.extent(1), data.extent(2));
  }
}

}  // namespace detail

/// Returns the array at `data` as a volume on `g`. Its shape is [nx, ny, nz], the extents of `g`,
/// with z fastest. `T` may be const.
/// Determinism: backend_to_backend; nothing is copied.
/// \throws iso::invalid_argument  an invalid grid; a null pointer; a pointer that is not aligned
///                                for `T`
template <class Space, class T>
volume_view<T, Space> wrap_volume(T* data, grid const& g) {
  detail::validate_alignment(data, alignof(T), "iso::wrap_volume");
  using data_type = typename volume_view<T, Space>::data_type;
  auto const n = [&](std::size_t axis) { return std::size_t(g.extent[axis]); };
  validate(g, "iso::wrap_volume");
  volume_view<T, Space> const result{g, data_type(data, n(0), n(1), n(2))};
  validate(result, "iso::wrap_volume");
  return result;
}

/// Returns the view `data`, of shape [nx, ny, nz], as a volume on `g`.
/// Determinism: backend_to_backend; nothing is copied.
/// \throws iso::invalid_argument  an invalid grid; a view whose extents are not those of the grid,
///                                without memory, whose last index is not the fastest, or with gaps
template <view V>
auto wrap_volume(V const& data, grid const& g) {
  volume_view<typename V::value_type, typename V::memory_space> const result{
      g, detail::wrap_data(data, "iso::wrap_volume")};
  validate(result, "iso::wrap_volume");
  return result;
}

/// Returns the array at `data` as projections. Its shape is [views, u, v], with v fastest. `T` may
/// be const.
/// Determinism: backend_to_backend; nothing is copied.
/// \throws iso::invalid_argument  an extent below 1; 2^59 pixels or more; a null pointer; a pointer
///                                that is not aligned for `T`
template <class Space, class T>
projection_view<T, Space> wrap_projections(T* data, std::int64_t views, std::int64_t u,
                                           std::int64_t v) {
  detail::validate_alignment(data, alignof(T), "iso::wrap_projections");
  detail::validate_projection_shape(views, u, v, "iso::wrap_projections");
  using data_type = typename projection_view<T, Space>::data_type;
  projection_view<T, Space> const result{
      data_type(data, std::size_t(views), std::size_t(u), std::size_t(v))};
  validate(result, {views, u, v}, "iso::wrap_projections");
  return result;
}

/// Returns the view `data`, of shape [views, u, v], as projections.
/// Determinism: backend_to_backend; nothing is copied.
/// \throws iso::invalid_argument  a view with an extent below 1, without memory, whose last index
///                                is not the fastest, or with gaps
template <view V>
auto wrap_projections(V const& data) {
  projection_view<typename V::value_type, typename V::memory_space> const result{
      detail::wrap_data(data, "iso::wrap_projections")};
  std::int64_t const n[3] = {std::int64_t(data.extent(0)), std::int64_t(data.extent(1)),
                             std::int64_t(data.extent(2))};
  detail::validate_projection_shape(n[0], n[1], n[2], "iso::wrap_projections");
  validate(result, {n[0], n[1], n[2]}, "iso::wrap_projections");
  return result;
}

/// Returns the `bytes` bytes at `data` as scratch memory. `reserve` of the result, called for more
/// bytes, allocates memory of its own and no longer uses these.
/// Determinism: backend_to_backend; nothing is copied.
/// \throws iso::invalid_argument  a negative size; a null pointer with a size above 0; an address
///                                that is not a multiple of 64
template <class Space>
workspace<Space> wrap_workspace(void* data, std::int64_t bytes) {
  ISO_VALIDATE(bytes >= 0,
               "iso::wrap_workspace: {} bytes (must not be negative); pass the size of the memory",
               bytes);
  detail::validate_alignment(data, 64, "iso::wrap_workspace");
  validate_memory({{data, std::uint64_t(bytes), "scratch"}}, "iso::wrap_workspace");
  using storage = typename workspace<Space>::storage;
  return workspace<Space>(storage(static_cast<std::byte*>(data), std::size_t(bytes)));
}

}  // namespace iso
