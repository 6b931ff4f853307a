// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/error.hpp>
#include <iso/ct/detail/streamed_impl.hpp>

namespace iso::ct {
namespace detail {
namespace {

/// The slabs of a volume that copies need to hide behind kernels: the first copy in and the last
/// one out have none to hide behind.
constexpr std::int64_t slabs_wanted = 8;
/// The batches up to which slabs are whole grains.
constexpr std::int64_t whole_grain_batches = 4;

}  // namespace

void validate_streamed(projector_options const& options) {
  ISO_VALIDATE(options.sum == summation::reproducible,
               "iso::ct::streamed_pair: ordered sums (sums of slabs have no order); choose "
               "reproducible sums, which have the same bits in one memory");
  ISO_VALIDATE(options.projection == projection::exact,
               "iso::ct::streamed_pair: a projection by texture units (they read whole volumes); "
               "choose the exact projection");
}

void validate_limits(char const* function, streaming_options const& limits, std::int64_t views,
                     std::int64_t bytes_needed) {
  ISO_VALIDATE(limits.device_bytes > 0,
               "{}: a limit of {} bytes (it must be positive); give the bytes of the device's "
               "memory that may be used",
               function, limits.device_bytes);
  ISO_VALIDATE(limits.max_planes >= 0,
               "{}: slabs of at most {} planes (must not be negative); give 0 to have it chosen",
               function, limits.max_planes);
  if (bytes_needed > limits.device_bytes) {
    throw out_of_memory(
        message("{}: a limit of {} bytes (slabs of one plane, with what projections read about it, "
                "and {} views need {}); give that or more",
                {function, limits.device_bytes, views, bytes_needed}),
        std::uint64_t(bytes_needed), std::uint64_t(limits.device_bytes));
  }
}

namespace {

/// Returns the planes of a slab, where the limit allows all views.
std::int64_t wanted_planes(std::int64_t depth, streaming_options const& limits,
                           std::int64_t grain) {
  return limits.max_planes > 0
             ? std::min(depth, limits.max_planes)
             : std::min(depth, grain * pieces_of(pieces_of(depth, slabs_wanted), grain));
}

}  // namespace

std::int64_t planes_within(std::int64_t depth, std::int64_t views, streaming_options const& limits,
                           std::int64_t grain, plan_bytes const& bytes_of) {
  std::int64_t const half = grain / 2;
  std::int64_t planes = wanted_planes(depth, limits, grain);
  while (planes > 1 && bytes_of(views, planes) > limits.device_bytes) {
    planes = planes > half ? (planes - 1) / half * half : planes * 7 / 8;
  }
  return planes;
}

streaming_plan divide(std::int64_t depth, std::int64_t num_views, streaming_options const& limits,
                      std::int64_t grain, plan_bytes const& bytes_of) {
  std::int64_t const blocks = pieces_of(num_views, chunk_views);
  std::int64_t const most = wanted_planes(depth, limits, grain);
  // With each batch the volume passes once more: so few batches come before many planes.
  auto const fit = [&](std::int64_t max_batches, std::int64_t least, auto const& next) {
    for (std::int64_t batches = 0; batches < max_batches;) {
      batches = std::min(batches + (batches + 8) / 8, max_batches);
      std::int64_t const views = std::min(num_views, chunk_views * pieces_of(blocks, batches));
      for (std::int64_t planes = most; planes >= least; planes = next(planes)) {
        std::int64_t const bytes = bytes_of(views, planes);
        if (bytes <= limits.device_bytes) {
          return streaming_plan{views, planes, bytes};
        }
      }
    }
    return streaming_plan{};
  };
  streaming_plan plan;
  for (std::int64_t part = grain; plan.views == 0 && part >= grain / 2; part /= 2) {
    plan = fit(std::min(blocks, whole_grain_batches), std::min(part, most),
               [&](std::int64_t planes) { return (planes - 1) / part * part; });
  }
  if (plan.views == 0) {
    plan = fit(blocks, 1, [](std::int64_t planes) { return planes * 7 / 8; });
  }
  if (plan.views == 0) {
    std::int64_t const min_views = std::min<std::int64_t>(num_views, chunk_views);
    plan = {min_views, 1, bytes_of(min_views, 1)};
  }
  return plan;
}

streaming_plan streamed_sizes::of_forward(streaming_plan plan, std::int64_t halo) const {
  slab const all = all_planes(volume);
  std::int64_t planes = 0;
  for (std::int64_t n = 0; n < pieces_of(all.count(), plan.planes); ++n) {
    slab const own = slab_of(all, plan.planes, n);
    planes += std::min(own.last + halo, all.last) - std::max(own.first - halo, all.first);
  }
  std::int64_t const plane = volume.extent[0] * volume.extent[1] * voxel_bytes;
  plan.bytes_in = plan.bytes_out = 0;
  for (std::int64_t const count : views) {
    plan.bytes_in += pieces_of(count, plan.views) * planes * plane;
    plan.bytes_out += count * pixels * voxel_bytes;
  }
  return plan;
}

streaming_plan streamed_sizes::of_adjoint(streaming_plan plan, std::int64_t beside) const {
  std::int64_t const whole = volume.size() * voxel_bytes;
  plan.bytes_in = plan.bytes_out = 0;
  for (std::int64_t const count : views) {
    std::int64_t const batches = pieces_of(count, plan.views);
    plan.bytes_in += count * pixels * reading_bytes + (batches - 1 + beside) * whole;
    plan.bytes_out += batches * whole;
  }
  return plan;
}

}  // namespace detail

streamed::streamed(std::shared_ptr<maker const> const& make) : elsewhere(make), make_(make) {}

template <>
std::shared_ptr<detail::fdk_elsewhere<float>> streamed::make_fdk<float>(
    geometry const& g, iso::grid const& volume, fdk_options const& options) const {
  return make_->fdk_of_float(g, volume, options);
}
template <>
std::shared_ptr<detail::fdk_elsewhere<double>> streamed::make_fdk<double>(
    geometry const& g, iso::grid const& volume, fdk_options const& options) const {
  return make_->fdk_of_double(g, volume, options);
}

template <>
streaming_report streamed::plan<float>(geometry const& g, iso::grid const& volume,
                                       view_blocks const& blocks,
                                       projector_options const& options) const {
  return make_->plan(0.0F, g, volume, blocks, options);
}
template <>
streaming_report streamed::plan<double>(geometry const& g, iso::grid const& volume,
                                        view_blocks const& blocks,
                                        projector_options const& options) const {
  return make_->plan(0.0, g, volume, blocks, options);
}
template <>
streaming_report streamed::plan_fdk<float>(geometry const& g, iso::grid const& volume,
                                           fdk_options const& options) const {
  return make_->plan_fdk(0.0F, g, volume, options);
}
template <>
streaming_report streamed::plan_fdk<double>(geometry const& g, iso::grid const& volume,
                                            fdk_options const& options) const {
  return make_->plan_fdk(0.0, g, volume, options);
}

ISO_FOR_EACH_INSTANCE(ISO_CT_STREAMED, )
ISO_FOR_EACH_INSTANCE(ISO_CT_STREAMED_FDK, )
ISO_FOR_EACH_BACKEND(ISO_CT_STREAMED_ON)

}  // namespace iso::ct
