// SPDX-License-Identifier: BSD-3-Clause
//! Holds the launches of iso/area_name/area_name.hpp, for the files that instantiate them.
#pragma once

#include <iso/area_name/area_name.hpp>
#include <iso/area_name/detail/area_name_kernel.hpp>
#include <iso/backend/for_each_index.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/check.hpp>
#include <iso/core/view_checks.hpp>

namespace iso::area_name {

template <execution_space Exec, real T>
void scale(Exec const& exec,
           volume_view<std::type_identity_t<T> const, typename Exec::memory_space> const& in,
           volume_view<T, typename Exec::memory_space> const& out,
           area_name_options const& options) {
  char const* const function = "iso::area_name::scale";
  check_fields(options, function);
  iso::validate(in, function);
  iso::validate(out, function);
  auto const& n = in.grid.extent;
  auto const& m = out.grid.extent;
  ISO_VALIDATE(n == m,
               "{}: out of [{}, {}, {}] voxels (in has [{}, {}, {}]); give both the same extents",
               function, m[0], m[1], m[2], n[0], n[1], n[2]);
  validate_contiguous(in.data, "in", function);
  validate_contiguous(out.data, "out", function);
  backend::for_each_index(
      function, exec, in.grid.size(),
      detail::scale_kernel<T>{in.data.data(), out.data.data(), T(options.factor)});
}

#define ISO_AREA_NAME(linkage, Exec, T)                                                   \
  linkage template void scale<Exec, T>(                                                   \
      Exec const&, volume_view<std::type_identity_t<T> const, Exec::memory_space> const&, \
      volume_view<T, Exec::memory_space> const&, area_name_options const&);
ISO_FOR_EACH_INSTANCE(ISO_AREA_NAME, extern)

}  // namespace iso::area_name
