// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernel and launch of iso/ct/stored_readings.hpp, for files that instantiate them.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/for_each_index.hpp>
#include <iso/core/numerics.hpp>
#include <iso/ct/stored_readings.hpp>

namespace iso::ct {
namespace detail {

template <class T, class Space>
struct decode_kernel {
  stored_readings<Space> from;
  T* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    to[i] = from.template number<T>(from.data.data()[i]);
  }
};

/// Throws, naming `function`, unless readings have a scan's shape, no gaps, and numbers to scale
/// by.
template <class Space>
void validate(stored_readings<Space> const& stored, Kokkos::Array<std::int64_t, 3> const& scan,
              char const* function) {
  iso::validate(projection_view<std::uint16_t const, Space>{stored.data}, scan, function);
  validate_contiguous(stored.data, "stored readings", function);
  ISO_VALIDATE(is_finite(stored.scale) && is_finite(stored.offset),
               "{}: scale {} and offset {} of stored readings (must be finite); give those of the "
               "file",
               function, stored.scale, stored.offset);
}

}  // namespace detail

template <execution_space Exec, real T>
void decode_readings(Exec const& exec, stored_readings<typename Exec::memory_space> const& stored,
                     projection_view<T, typename Exec::memory_space> const& readings) {
  char const* const function = "iso::ct::decode_readings";
  auto const& to = readings.data;
  validate(readings,
           {std::int64_t(to.extent(0)), std::int64_t(to.extent(1)), std::int64_t(to.extent(2))},
           function);
  detail::validate(
      stored, {std::int64_t(to.extent(0)), std::int64_t(to.extent(1)), std::int64_t(to.extent(2))},
      function);
  validate_contiguous(to, "readings", function);
  validate_apart(memory_of(to, "readings"), {memory_of(stored.data, "stored readings")}, function);
  backend::for_each_index(function, exec, std::int64_t(to.size()),
                          detail::decode_kernel<T, typename Exec::memory_space>{stored, to.data()});
}

#define ISO_CT_DECODE_READINGS(linkage, Exec, T)                                             \
  linkage template void decode_readings<Exec, T>(Exec const&,                                \
                                                 stored_readings<Exec::memory_space> const&, \
                                                 projection_view<T, Exec::memory_space> const&);
ISO_FOR_EACH_INSTANCE(ISO_CT_DECODE_READINGS, extern)

}  // namespace iso::ct
