// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/projection_view.hpp
#pragma once

#include <iso/core/volume_view.hpp>

namespace iso {

/// The detector readings of a scan. The shape is [views, u, v], v fastest; cheap to copy. `T` may
/// be const. The place of each pixel is in the geometry (iso/ct/geometry.hpp).
template <class T, class Space>
struct projection_view {
  using value_type = std::remove_const_t<T>;
  using memory_space = Space;
  using data_type = Kokkos::View<T***, Kokkos::LayoutRight, Space>;

  data_type data;

  template <class U = T>
    requires(!std::is_const_v<U>)
  operator projection_view<U const, Space>() const {
    return {data};
  }
};

/// Checks that projections have the shape of a scan, and memory.
/// Determinism: backend_to_backend; a check made on the host.
/// \throws iso::invalid_argument  naming `function`: storage of other extents than the scan's
///                                views, u and v, or without memory
template <class T, class Space>
void validate(projection_view<T, Space> const& p, Kokkos::Array<std::int64_t, 3> const& scan,
              char const* function) {
  ISO_VALIDATE(
      std::int64_t(p.data.extent(0)) == scan[0] && std::int64_t(p.data.extent(1)) == scan[1] &&
          std::int64_t(p.data.extent(2)) == scan[2],
      "{}: projections of [{}, {}, {}] (geometry has [{}, {}, {}]: views, u, v); give them the "
      "geometry's extents",
      function, p.data.extent(0), p.data.extent(1), p.data.extent(2), scan[0], scan[1], scan[2]);
  validate_memory({memory_of(p.data, "projections")}, function);
}

namespace detail {

inline void validate_projection_shape(std::int64_t views, std::int64_t u, std::int64_t v,
                                      char const* function = "iso::make_projections") {
  ISO_VALIDATE(views >= 1 && u >= 1 && v >= 1,
               "{}: projections of [{}, {}, {}] (every extent must be at least 1); give the "
               "numbers of views and of pixels along u and v",
               function, views, u, v);
  std::int64_t const most = std::int64_t(1) << 59;
  ISO_VALIDATE(u <= most / v && views <= most / v / u,
               "{}: projections of [{}, {}, {}] (2^59 pixels at most); take fewer views", function,
               views, u, v);
}

}  // namespace detail

/// Makes projections of `views` x `u` x `v` pixels, set to zero on `exec`; does not fence.
/// Determinism: backend_to_backend, zeros.
/// \throws iso::invalid_argument  an extent below 1, or more than 2^59 pixels
/// \throws iso::out_of_memory     as iso::allocate
template <class T, class Space, execution_space Exec>
  requires accesses<Exec, Space>
projection_view<T, Space> make_projections(Exec const& exec, std::string const& label,
                                           std::int64_t views, std::int64_t u, std::int64_t v) {
  detail::validate_projection_shape(views, u, v);
  using data_type = typename projection_view<T, Space>::data_type;
  return {allocate<data_type>(label, {views, u, v}, exec)};
}

/// Makes zeroed projections of `views` x `u` x `v` pixels. Kokkos fences every instance when it
/// sets them: where an instance is at hand, the overload with it does not. Throws as that one.
template <class T, class Space>
projection_view<T, Space> make_projections(std::string const& label, std::int64_t views,
                                           std::int64_t u, std::int64_t v) {
  detail::validate_projection_shape(views, u, v);
  using data_type = typename projection_view<T, Space>::data_type;
  return {allocate<data_type>(label, {views, u, v})};
}

}  // namespace iso
