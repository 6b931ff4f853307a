// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/streamed_fdk.hpp declares.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/ct/detail/streamed_slabs.hpp>
#include <iso/ct/streamed_fdk.hpp>
#include <iso/detail/job_parts.hpp>

#include <algorithm>

namespace iso::ct {
namespace detail {

/// The views that are filtered and go to the first slab at a time: as many as the kernels take.
inline constexpr std::int64_t fdk_chunk_views = 2 * chunk_views;

/// The parts of the device's memory of a streamed reconstruction. All behind them is scratch.
template <class Exec, class T>
struct streamed_fdk_memory {
  T* stack;  ///< filtered; its rows are extended
  slab_buffers<T> slabs;
  chunk_buffers<T> chunks;  ///< not filtered
  chunk_buffers<std::uint16_t> stored;

  template <class Space>
  streamed_fdk_memory(workspace_parts& memory, fdk_plan<Space> const& of, iso::grid const& volume,
                      streaming_plan const& plan, bool stored_readings)
      : stack(memory.take<T>(
            {plan.views, of.geometry().host().num_u(), of.geometry().host().num_v()})),
        slabs(memory, volume, plan.planes),
        chunks(memory, std::min(plan.views, fdk_chunk_views), of.num_u(),
               of.geometry().host().num_v()),
        stored(memory, stored_readings ? std::min(plan.views, fdk_chunk_views) : 0, of.num_u(),
               of.geometry().host().num_v()) {}
};

}  // namespace detail

template <execution_space Exec, real T>
template <class Space>
streaming_report streamed_fdk<Exec, T>::division(Exec const& exec, fdk_plan<Space> const& of,
                                                 iso::ct::geometry const& g,
                                                 iso::grid const& volume,
                                                 fdk_options const& options,
                                                 streaming_options const& limits) {
  char const* const function = "iso::ct::streamed_fdk";
  validate(volume, function);
  streaming_report report;
  report.fixed_bytes = of.bytes_held();
  std::int64_t const scratch = std::max(filter_projections_bytes_needed<T>(exec, g, options),
                                        weighted_back_project_bytes_needed<T>(exec, g, options));
  auto const bytes_of = [&](std::int64_t v, std::int64_t planes) {
    workspace_parts parts(function);
    detail::streamed_fdk_memory<Exec, T>(parts, of, volume, {v, planes, 0}, limits.stored_readings);
    return report.fixed_bytes + parts.bytes() + scratch;
  };
  std::int64_t const min_views = std::min<std::int64_t>(g.num_views(), detail::chunk_views);
  detail::validate_limits(function, limits, min_views, bytes_of(min_views, 1));
  std::int64_t const image = g.num_u() * g.num_v();
  std::int64_t const reading = limits.stored_readings ? sizeof(std::uint16_t) : sizeof(T);
  report.adjoint =
      detail::streamed_sizes{volume, {g.num_views()}, image, sizeof(T), reading}.of_adjoint(
          detail::divide(volume.extent[2], g.num_views(), limits, detail::slab_grain<Exec>,
                         bytes_of));
  report.device_bytes = report.adjoint.device_bytes;
  auto const [in, out] = detail::staging_bytes<T>(
      volume, report.adjoint.planes, report.adjoint.planes, report.adjoint.views, image);
  detail::set_host_bytes<Exec>(report, in, out);
  return report;
}

template <execution_space Exec, real T>
streaming_report streamed_fdk<Exec, T>::division(Exec const& exec, iso::ct::geometry const& g,
                                                 iso::grid const& volume,
                                                 fdk_options const& options,
                                                 streaming_options const& limits) {
  fdk_plan<Kokkos::HostSpace> const of(Kokkos::DefaultHostExecutionSpace(), g, options);
  return division(exec, of, g, volume, options, limits);
}

template <execution_space Exec, real T>
streamed_fdk<Exec, T>::streamed_fdk(Exec const& exec, iso::ct::geometry const& g,
                                    iso::grid const& volume, fdk_options const& options,
                                    streaming_options const& limits)
    : exec_(exec),
      grid_(volume),
      stored_readings_(limits.stored_readings),
      plan_(exec, g, options),
      report_(division(exec, plan_, g, volume, options, limits)) {
  if (limits.told) {
    limits.told(report_);
  }
  memory_.reserve(report_.device_bytes - report_.fixed_bytes);
  auto const& by = report_.adjoint;
  auto const [in, out] =
      detail::staging_bytes<T>(volume, by.planes, by.planes, by.views, g.num_u() * g.num_v());
  bus_ = iso::detail::bus<Exec>(exec, in, out);
}

template <execution_space Exec, real T>
streaming_report streamed_fdk<Exec, T>::report() const {
  return detail::with_traffic(report_, bus_);
}

template <execution_space Exec, real T>
void streamed_fdk<Exec, T>::apply(const_projections const& p, volume const& x, job const& control) {
  apply_to(p, x, control);
}

template <execution_space Exec, real T>
void streamed_fdk<Exec, T>::apply(stored_readings<Kokkos::HostSpace> const& p, volume const& x,
                                  job const& control) {
  apply_to({p, stored_readings_, "iso::ct::streamed_fdk"}, x, control);
}

template <execution_space Exec, real T>
void streamed_fdk<Exec, T>::apply_to(detail::incoming_readings<Exec, T> const& p, volume const& x,
                                     job const& control) {
  char const* const function = "iso::ct::streamed_fdk";
  geometry const& wide = plan_.geometry().host();
  detail::validate_streamed_arrays(x, grid_, p, {wide.num_views(), plan_.num_u(), wide.num_v()},
                                   function);
  auto const& division = report_.adjoint;
  workspace_parts parts(memory_, function);
  detail::streamed_fdk_memory<Exec, T> const m(parts, plan_, grid_, division, stored_readings_);
  auto const scratch = detail::rest_of(memory_, parts.bytes());
  std::int64_t const image = wide.num_u() * wide.num_v();
  auto const stack_of = [&](std::int64_t begin, std::int64_t views) {
    return detail::views_at<space>(m.stack + begin * image, views, wide.num_u(), wide.num_v());
  };
  detail::slab_pieces<Exec, T, T> const slabs{m.slabs, x, all_planes(grid_), division.planes, 0};
  detail::for_each_view_batch(
      wide.num_views(), division.views, control,
      [&](std::int64_t first, std::int64_t count, job const& part) {
        onto const to = first == 0 ? onto::zero : onto::stored;
        detail::pass_first_slab(
            exec_, bus_, slabs, to, count, detail::fdk_chunk_views,
            detail::step_of(part, 0, slabs.count()),
            [&](std::int64_t n, std::int64_t begin, std::int64_t views) {
              return p.piece(m.stored, n, first + begin, views, m.chunks.place(n));
            },
            [&](std::int64_t n, std::int64_t begin, std::int64_t views, onto on, job const& step) {
              auto const plan = plan_.subset(first + begin, views);
              p.arrive(exec_, m.stored, n, m.chunks.template at<space>(n, views));
              filter_projections<Exec, T>(exec_, plan, m.chunks.template at<space>(n, views),
                                          stack_of(begin, views), scratch);
              weighted_back_project<Exec, T>(exec_, plan, stack_of(begin, views), slabs.at(0),
                                             scratch, on, step);
            });
        auto const plan = plan_.subset(first, count);
        detail::pass_other_slabs(exec_, bus_, slabs, to, [&](std::int64_t n) {
          weighted_back_project<Exec, T>(exec_, plan, stack_of(0, count), slabs.at(n), scratch, to,
                                         detail::step_of(part, n, slabs.count()));
        });
      });
}

#define ISO_CT_STREAMED_FDK(linkage, Exec, T) linkage template class streamed_fdk<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_CT_STREAMED_FDK, extern)

}  // namespace iso::ct
