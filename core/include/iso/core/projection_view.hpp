// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/projection_view.hpp
#pragma once

#include <iso/core/volume_view.hpp>

namespace iso {

/// Detector readings of a scan. Shape [views, u, v], v fastest; cheap to copy. `T` may be const.
/// Where each pixel stands is the geometry's business (iso/ct/geometry.hpp).
template <class T, class Space>
struct projection_view {
  using value_type = std::remove_const_t<T>;
  using memory_space = Space;
  using data_type = Kokkos::View<T***, Kokkos::LayoutRight, Space>;

  data_type data;
  iso::unit unit = iso::unit::none;

  template <class U = T>
    requires(!std::is_const_v<U>)
  operator projection_view<U const, Space>() const {
    return {data, unit};
  }
};

namespace detail {

inline void validate_projection_shape(std::int64_t views, std::int64_t u, std::int64_t v) {
  ISO_VALIDATE(views >= 1 && u >= 1 && v >= 1,
               "iso::make_projections: [{}, {}, {}] (every extent must be at least 1)", views, u,
               v);
}

}  // namespace detail

/// Projections of `views` x `u` x `v` pixels, set to zero on `exec`; does not fence.
/// Determinism: backend_to_backend, zeros.
/// \throws iso::invalid_argument  an extent below 1
/// \throws iso::out_of_memory     as iso::allocate
template <class T, class Space, execution_space Exec>
  requires accesses<Exec, Space>
projection_view<T, Space> make_projections(Exec const& exec, std::string const& label,
                                           std::int64_t views, std::int64_t u, std::int64_t v) {
  detail::validate_projection_shape(views, u, v);
  using data_type = typename projection_view<T, Space>::data_type;
  return {allocate<data_type>(label, {views, u, v}, exec)};
}

/// Zeroed projections of `views` x `u` x `v` pixels. Kokkos fences every instance when it sets
/// them: where an instance is at hand, the overload with it does not. Throws as that one.
template <class T, class Space>
projection_view<T, Space> make_projections(std::string const& label, std::int64_t views,
                                           std::int64_t u, std::int64_t v) {
  detail::validate_projection_shape(views, u, v);
  using data_type = typename projection_view<T, Space>::data_type;
  return {allocate<data_type>(label, {views, u, v})};
}

}  // namespace iso
