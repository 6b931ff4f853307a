// SPDX-License-Identifier: BSD-3-Clause
#include "body_outside.hpp"
#include "coverage.hpp"
#include "given_readings.hpp"
#include "iterative.hpp"
#include "memory.hpp"
#include "precision.hpp"
#include "rank_parts.hpp"
#include "rank_scan.hpp"
#include "repeats.hpp"
#include "scan.hpp"

#include <iso/cases/bits.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/jobs/project.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace iso::jobs {
namespace {

// By default as many voxels as pixels, at the pixels' distance at the z axis, about the isocentre;
// across it as many as a displaced detector sees in a whole turn.
grid grid_of(reconstruct_request const& request, ct::geometry const& g,
             ct::fdk_options const& options) {
  auto const& w = g.views().front();
  double magnification = 1;
  if (g.kind() == ct::beam::cone) {
    vec3<double> const n = cross(w.u_step, w.v_step);
    magnification = dot(n, w.detector_origin - w.source) / -dot(n, w.source);
  }
  double const of_pixels = std::abs(norm(w.u_step) / magnification);
  auto const step = [&](std::size_t axis) {
    return request.spacing[axis] > 0 ? request.spacing[axis] : of_pixels;
  };
  auto const n = [&](int axis, std::int64_t pixels) {
    auto const wanted = request.extent[std::size_t(axis)];
    return wanted > 0 ? wanted : pixels;
  };
  std::int64_t across = g.num_u();
  if (!request.iterative && !request.adjoint_of) {
    auto scan = options.scan;
    scan.truncation_correction = 0;
    auto const weights = ct::weigh_scan(g, scan);
    across += weights.before + weights.after;
  }
  auto placed =
      grid::centred({n(0, across), n(1, across), n(2, g.num_v())}, {step(0), step(1), step(2)});
  if (request.origin) {
    auto const& o = *request.origin;
    placed.origin = {o[0], o[1], o[2]};
  }
  return placed;
}

template <class T>
files::host_volume on_host(grid const& g, std::span<T const> values,
                           std::optional<files::attenuation_table> const& table, char const* unit) {
  auto v = files::make_host_volume(g);
  v.unit = table ? "HU" : unit;
  v.values.resize(values.size());
  std::transform(values.begin(), values.end(), v.values.begin(), [&](T x) {
    return table ? files::hounsfield_units(double(x), *table) : float(x);
  });
  return v;
}

/// Likewise, without a copy where the numbers are those of the result.
template <class T>
files::host_volume on_host(grid const& g, std::vector<T> values,
                           std::optional<files::attenuation_table> const& table, char const* unit) {
  if constexpr (std::is_same_v<T, float>) {
    if (!table) {
      auto v = files::make_host_volume(g);
      v.unit = unit;
      v.values = std::move(values);
      return v;
    }
  }
  return on_host(g, std::span<T const>(values), table, unit);
}

/// Returns the readings of a request as they are held.
given_readings given_to(reconstruct_request const& request) {
  return request.stored ? given_readings(*request.stored) : given_readings(request.projections);
}

/// Whether an execution space reads numbers of a request, in T, where they lie.
template <class T, class Exec>
constexpr bool reads_in_place =
    std::is_same_v<T, float> &&
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

/// The readings of a request, or those of its phantom, where `exec` reads them. The request stays.
template <class T, class Exec>
projection_view<T const, typename Exec::memory_space> readings_of(
    Exec const& exec, reconstruct_request const& request, ct::geometry const& g, job const& asked) {
  using space = typename Exec::memory_space;
  if constexpr (reads_in_place<T, Exec>) {
    if (!request.phantom_width) {
      return projections_at<T const, space>(request.projections.data(), g);
    }
  }
  auto const pixels = make_projections<T, space>(exec, "iso::jobs::projections", g.num_views(),
                                                 g.num_u(), g.num_v());
  if (request.phantom_width) {
    ct::project_ellipsoids<Exec, T>(exec, ct::shepp_logan(*request.phantom_width / 2),
                                    ct::stage(exec, g), pixels, {}, asked);
    exec.fence("iso::jobs::reconstruct: the phantom's projections");
    return pixels;
  }
  put(exec, pixels.data, request.projections);
  return pixels;
}

/// Returns the bytes of the readings that readings_of() allocates.
template <class T, class Exec>
double readings_bytes(Exec const&, reconstruct_request const& request, ct::geometry const& g) {
  bool const held = request.stored || (reads_in_place<T, Exec> && !request.phantom_width);
  return held ? 0 : double(g.num_views()) * double(g.num_u()) * double(g.num_v()) * sizeof(T);
}

/// Returns the bytes of the readings that a request holds on the host.
double given_bytes(reconstruct_request const& request) {
  return double(request.projections.size()) * sizeof(float) +
         (request.stored ? double(request.stored->values.size()) * sizeof(std::uint16_t) : 0);
}

/// Returns whether a result is compared with the phantom.
bool compares(reconstruct_request const& request) {
  return request.phantom_width && !request.adjoint_of;
}

/// Returns the bytes that a result takes of the host beside the volume while it is made: its
/// floats, and where it is copied there first, or compared, that copy and the phantom.
template <class T, class Exec>
double result_bytes(reconstruct_request const& request, grid const& box) {
  double const copies = compares(request) ? 2 : backend::is_device<Exec> ? 1 : 0;
  return double(box.size()) * (sizeof(float) + copies * double(sizeof(T)));
}

/// How far values are from the phantom's voxels.
struct phantom_error {
  double apart = 0;
  double squares = 0;
  double count = 0;

  template <class T>
  void add(std::vector<T> const& values, std::vector<T> const& truth) {
    for (std::size_t n = 0; n < values.size(); ++n) {
      double const d = double(values[n]) - double(truth[n]);
      apart += std::abs(d);
      squares += d * d;
    }
    count += double(values.size());
  }
  [[nodiscard]] std::array<double, 2> value() const {
    return {apart / count, std::sqrt(squares / count)};
  }
};

/// Names the command that asks, for messages.
char const* command_of(reconstruct_request const& request) {
  return request.adjoint_of ? "iso back-project" : "iso reconstruct";
}

/// Returns how far beyond the volume's voxels a ray meets them still, in voxels.
double reach_of(reconstruct_request const& request) {
  auto const method =
      request.iterative ? request.iterative->projector().method : *request.adjoint_of;
  // Joseph's samples blend over a voxel, half of which lies outside.
  return method == ct::projector::joseph_linear || method == ct::projector::joseph_spline ? 0.5 : 0;
}

/// Throws iso::invalid_argument where a volume lies on other voxels than the result.
void check_placed(files::host_volume const& given, grid const& box, char const* what) {
  auto const& n = given.extent;
  ISO_VALIDATE(n[0] == box.extent[0] && n[1] == box.extent[1] && n[2] == box.extent[2],
               "iso reconstruct: --{} has {} x {} x {} voxels (the result has {} x {} x {}); give "
               "--like with it",
               what, n[0], n[1], n[2], box.extent[0], box.extent[1], box.extent[2]);
  auto const on = make_grid(given);
  for (int axis = 0; axis < 3; ++axis) {
    char const* const name = axis == 0 ? "x" : axis == 1 ? "y" : "z";
    double const step = box.spacing[axis];
    double const near = 1e-3 * step;
    ISO_VALIDATE(std::abs(on.spacing[axis] - step) * double(n[std::size_t(axis)]) < near &&
                     std::abs(on.origin[axis] - box.origin[axis]) < near,
                 "iso reconstruct: --{}: the volume lies on other voxels than the result (axis {}: "
                 "voxels of {} mm from {} mm, the result's of {} from {}); give --like with it",
                 what, name, on.spacing[axis], on.origin[axis], step, box.origin[axis]);
  }
}

void check_shapes(reconstruct_request const& request, ct::geometry const& g) {
  auto const& n = request.shape;
  ISO_VALIDATE(
      request.phantom_width || (n[0] == g.num_views() && n[1] == g.num_u() && n[2] == g.num_v()),
      "{}: {} views of {} x {} readings (the geometry has {} views of {} x {} pixels); give the "
      "geometry of these projections",
      command_of(request), n[0], n[1], n[2], g.num_views(), g.num_u(), g.num_v());
  if (!request.iterative) {
    return;
  }
  auto const& given = *request.iterative;
  if (given.reading_mask) {
    auto const& m = given.reading_mask->extent;
    ISO_VALIDATE(m[0] == g.num_views() && m[1] == g.num_u() && m[2] == g.num_v(),
                 "iso reconstruct: --reading-mask has {} views of {} x {} numbers (the scan has {} "
                 "of {} x {}); write the mask in the scan's shape",
                 m[0], m[1], m[2], g.num_views(), g.num_u(), g.num_v());
  }
  auto const box = grid_of(request, g, {});
  if (given.start) {
    check_placed(*given.start, box, "start");
  }
  if (given.mask) {
    check_placed(*given.mask, box, "mask");
  }
}

/// Throws where a mask of the readings' shape leaves nothing to reconstruct.
void check_counted(std::vector<float> const& readings, std::vector<float> const& mask) {
  std::size_t counted = 0;
  std::size_t told = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    counted += mask[i] != 0 ? 1 : 0;
    told += mask[i] != 0 && readings[i] != 0 ? 1 : 0;
  }
  ISO_VALIDATE(told > 0,
               "iso reconstruct: --reading-mask leaves {} of {} readings, none of which differs "
               "from zero (there is nothing to reconstruct); check where the mask is 0",
               counted, mask.size());
}

void check_readings(reconstruct_request const& request) {
  auto const& n = request.shape;
  auto const readings = given_to(request);
  ISO_VALIDATE(std::int64_t(readings.size()) == n[0] * n[1] * n[2],
               "{}: {} readings ({} views of {} x {} pixels were announced); give as many",
               command_of(request), readings.size(), n[0], n[1], n[2]);
  std::vector<float> const all;
  auto const& mask = request.iterative && request.iterative->reading_mask
                         ? request.iterative->reading_mask->values
                         : all;
  bool const masked = mask.size() == readings.size();
  bool is_told = false;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    is_told = is_told || readings[i] != 0;
    if (std::isfinite(readings[i]) || (masked && mask[i] == 0)) {
      continue;
    }
    auto const at = std::int64_t(i);
    fail_argument(
        "{}: view {}, pixel ({}, {}): the reading is {} (every one must be finite, or it would "
        "spoil its row); replace it by a number",
        command_of(request), at / (n[1] * n[2]), at / n[2] % n[1], at % n[2], readings[i]);
  }
  if (masked) {
    check_counted(request.projections, mask);
  }
  ISO_VALIDATE(request.adjoint_of || is_told,
               "iso reconstruct: all {} readings are zero (nothing lay in the beam, so that there "
               "is nothing to reconstruct); check where the projections come from",
               readings.size());
}

/// Tells of readings that equal the largest, as they do where a number took the place of logarithms
/// of nothing. Those above the reading of one photon are no counts in any case.
void tell_clipped(largest_readings const& found, double photons, reconstruct_result& result) {
  double const one_photon = std::log(photons);
  result.largest_reading = double(found.most);
  if (found.equal > 1 && found.equal * 1000 > found.all && found.most > 0 &&
      double(found.most) <= one_photon + reading_rounding) {
    result.clipped_readings = found.equal;
    result.are_clipped_left_out = double(found.most) >= one_photon - reading_rounding;
  }
}

void check(reconstruct_request const& request, ct::geometry const& g) {
  check_shapes(request, g);
  ISO_VALIDATE(!request.stored || (request.memory && !request.iterative && num_ranks() == 1 &&
                                   request.precision == precision::f32),
               "{}: readings of 16 bits (they pass through a part of a backend's memory, in float, "
               "to a filtered backprojection or an adjoint of one process); give numbers",
               command_of(request));
  if (!request.phantom_width && !request.read_views.read) {
    check_readings(request);
  }
  if (request.table) {
    files::validate(*request.table);
  }
}

/// Throws where no view sees a voxel's middle, or a voxel.
void check_views(reconstruct_request const& request, ct::geometry const& g, grid const& box,
                 bool filtered, reconstruct_result const& result) {
  ISO_VALIDATE(
      !filtered || result.blind_views < result.views || g.num_v() > 1 || box.extent[2] % 2 != 0,
      "iso reconstruct: none of the {} views sees the middle of any voxel of the volume (its {} "
      "slices lie beside the only row of pixels, and the result would be zero); choose an odd "
      "number of slices by --extent, or an iterative method with the adjoint",
      result.views, box.extent[2]);
  ISO_VALIDATE(result.blind_views < result.views,
               "{}: none of the {} views sees any voxel of the volume (the result would be zero); "
               "check the detector's place in the geometry, --extent and --spacing, and give "
               "--isocentre for a volume in the patient's coordinates",
               command_of(request), result.views);
}

/// Tells what of the scanned body a volume and the detector do not hold.
void tell_outside(reconstruct_request const& request, ct::geometry const& scan, grid const& box,
                  given_readings const& readings, std::span<float const> mask,
                  reconstruct_result& result) {
  auto const outside = find_body_outside(scan, box, readings, mask);
  result.part_cut = outside.cut;
  // Filtered backprojection makes each voxel by itself.
  if (request.iterative && outside.volume_too_small()) {
    result.part_outside = outside.part;
    result.voxels_wanted = outside.voxels;
  }
}

/// Looks into the readings for what they tell of the noise and of what was scanned.
void examine_readings(reconstruct_request const& request, given_readings const& readings,
                      ct::geometry const& given, grid const& box, reconstruct_result& result) {
  bool const masked = request.iterative && request.iterative->reading_mask;
  std::span<float const> const mask =
      masked ? std::span<float const>(request.iterative->reading_mask->values)
             : std::span<float const>();
  if (request.iterative && request.iterative->stop_noise) {
    largest_readings found;
    found.add(readings, mask);
    tell_clipped(found, *request.iterative->stop_noise, result);
  }
  std::int64_t const step = sample_step(given);
  if (step == 1) {
    tell_outside(request, given, box, readings, mask, result);
    return;
  }
  std::int64_t const image = given.num_u() * given.num_v();
  tell_outside(request, sampled_geometry(given, step), box, sampled_images(readings, image, step),
               sampled_images(mask, image, step), result);
}

/// Returns the options of a pair whose adjoint is asked for.
ct::projector_options adjoint_of(reconstruct_request const& request) {
  ct::projector_options options{.sum = summation::reproducible,
                                .oversampling = request.oversampling};
  options.method = request.adjoint_of.value_or(options.method);
  return options;
}

/// Returns how back_project_scan will pass through the device of `through`, if there is one.
template <class T>
std::optional<ct::streaming_report> backprojection_plan(ct::streamed const& through,
                                                        reconstruct_request const& request,
                                                        ct::geometry const& g, grid const& box) {
  if (!through) {
    return {};
  }
  return request.adjoint_of ? through.plan<T>(g, box, all_views(g), adjoint_of(request))
                            : through.plan_fdk<T>(g, box, request.filter);
}

/// Returns what back_project_scan does by the device of `through`, as a call.
/// \param readings  numbers, or integers of 16 bits
template <class T, class Readings, class Volume>
std::function<void(job const&)> streamed_backprojection(
    ct::streamed const& through, reconstruct_request const& request, ct::geometry const& g,
    grid const& box, Readings const& readings, Volume const& volume, reconstruct_result& result) {
  if (request.adjoint_of) {
    auto const pair = through.make<T>(g, box, all_views(g), adjoint_of(request));
    return [=, &result](job const& control) {
      pair->adjoint(0, readings, volume, onto::zero, control, 0);
      result.streaming = streamed_calls{.adjoint = true}.of(pair->streaming().value());
    };
  }
  auto const fdk = through.make_fdk<T>(g, box, request.filter);
  result.arc = fdk->arc();
  result.detector = fdk->detector();
  return [=, &result](job const& control) {
    fdk->apply(readings, volume, control);
    result.streaming = fdk->report();
  };
}

/// Returns the filtered backprojection or the adjoint of a projection, in the memory where `exec`
/// computes, as a call.
template <class T, class Exec, class Projections, class Volume>
std::function<void(job const&)> backprojection_in_memory(
    Exec const& exec, reconstruct_request const& request, ct::geometry const& g,
    Projections const& projections, Volume const& volume,
    workspace<typename Exec::memory_space> const& work, ct::back_project_options const& adjoint,
    reconstruct_result& result) {
  if (request.adjoint_of) {
    return [=, staged = ct::stage(exec, g)](job const& told) {
      ct::back_project<Exec, T>(exec, staged, projections, volume, work, adjoint, onto::zero, told);
    };
  }
  ct::fdk_plan<typename Exec::memory_space> const plan(exec, g, request.filter);
  result.arc = plan.arc();
  result.detector = plan.detector();
  return [=](job const& told) {
    ct::fdk<Exec, T>(exec, plan, projections, volume, work, onto::zero, told);
  };
}

/// Does filtered backprojection or the adjoint of a projection; `keep` takes the volume.
template <class T, class Exec, class Keep>
void back_project_scan(Exec const& exec, reconstruct_request const& request, ct::geometry const& g,
                       grid const& box, observer const& watch, ct::streamed const& through,
                       reconstruct_result& result, Keep const& keep) {
  using space = typename Exec::memory_space;
  ct::back_project_options adjoint;
  if (request.adjoint_of) {
    adjoint.method = *request.adjoint_of;
    adjoint.oversampling = request.oversampling;
  }
  std::int64_t const scratch = through ? 0
                               : request.adjoint_of
                                   ? ct::back_project_bytes_needed<T>(exec, g, box, adjoint)
                                   : ct::fdk_bytes_needed<T>(exec, g, request.filter);
  auto const streamed = backprojection_plan<T>(through, request, g, box);
  double const wanted = double(box.size()) * double(sizeof(T)) +
                        readings_bytes<T>(exec, request, g) +
                        double(streamed ? streamed->host_bytes : scratch);
  auto const copied = whole_bytes(result_bytes<T, Exec>(request, box));
  watch.step(0, "preparing");
  guard_memory(exec, whole_bytes(wanted), copied, command_of(request), [&] {
    tell_streamed(watch, streamed, {.adjoint = true},
                  wanted + double(copied) + given_bytes(request));
    projection_view<T const, space> projections;
    if (!request.stored) {
      projections = readings_of<T>(exec, request, g, job{{}, watch.cancelled});
    }
    auto const volume = make_volume<T, space>(exec, "iso::jobs::volume", box);
    workspace<space> const work(scratch);
    job control;
    control.progress = [&](double fraction) {
      // So that progress is of what has been done.
      exec.fence("iso::jobs::reconstruct: a batch of views");
      watch.step(fraction, "reconstructing");
    };
    std::function<void(job const&)> compute;
    if constexpr (!backend::is_device<Exec>) {
      if (through) {
        control.cancelled = watch.cancelled;
        compute =
            request.stored
                ? streamed_backprojection<T>(through, request, g, box, stored_in(*request.stored),
                                             volume, result)
                : streamed_backprojection<T>(through, request, g, box, projections, volume, result);
      }
    }
    if (!compute) {
      compute =
          backprojection_in_memory<T>(exec, request, g, projections, volume, work, adjoint, result);
    }
    result.time_ms = 1e3 * seconds_of(exec, [&] { compute(control); });
    keep(volume);
    result.repeats = repeat(exec, request.repeats, watch, compute);
    return 0;
  });
}

/// Does it on the ranks that share the job: each has its planes and its rows. `take` fills the
/// rows, `keep` takes the planes.
template <class T, class Exec, class Take, class Keep>
void back_project_on_ranks(Exec const& exec, reconstruct_request const& request,
                           rank_parts const& parts, observer const& watch,
                           passing<T> const& through, reconstruct_result& result, Take const& take,
                           Keep const& keep) {
  using space = typename Exec::memory_space;
  auto const& plan = parts.plan();
  auto const all = all_views(plan.scan());
  auto const by = adjoint_of(request);
  result.bytes_needed = parts.check_memory<T>(
      exec,
      through.fdk ? (request.adjoint_of ? through.pairs.bytes(plan, all, by, false)
                                        : through.fdk_bytes(plan, request.filter))
      : request.adjoint_of
          ? ct::ranked_pair<Exec, T>::bytes_needed(exec, parts.rank(), plan, all, by)
          : ct::ranked_fdk<Exec, T>::bytes_needed(exec, parts.rank(), plan, request.filter),
      command_of(request));
  watch.step(0, "preparing");
  auto const p = parts.readings<T>(exec, "iso::jobs::projections");
  take(p.data, decltype(p.data)());
  auto const x = parts.volume<T>(exec, "iso::jobs::volume");
  auto const time = [&](auto const& compute) {
    job const control{[&](double fraction) { watch.step(fraction, "reconstructing"); },
                      watch.cancelled};
    result.time_ms = 1e3 * seconds_of(exec, [&] { compute(control); });
    keep(x);
    result.repeats = repeat(exec, request.repeats, watch, compute);
  };
  if (request.adjoint_of) {
    auto const pair =
        parts.place(exec, through.pairs).template make<T, space>(plan.scan(), plan.grid(), all, by);
    time([&](job const& asked) { pair->adjoint(0, p, x, onto::zero, asked, 0); });
    result.streaming = pair->streaming();
    if (result.streaming) {
      result.streaming = streamed_calls{.adjoint = true}.of(*result.streaming);
    }
    return;
  }
  if constexpr (!backend::is_device<Exec>) {
    if (through.fdk) {
      auto const fdk = through.fdk(plan, request.filter);
      result.arc = fdk.arc;
      result.detector = fdk.detector;
      time([&](job const& asked) { fdk.apply(p, x, asked); });
      result.streaming = fdk.report();
      return;
    }
  }
  ct::ranked_fdk<Exec, T> fdk(exec, parts.ranks(), parts.plan(), request.filter);
  result.arc = fdk.filter().arc();
  result.detector = fdk.filter().detector();
  time([&](job const& asked) { fdk.apply(p, x, onto::zero, asked); });
}

/// Keeps what ranks have made: this rank's planes, or all of them on rank 0, which has their hash
/// and how far they are from the phantom's.
/// \param truth  this rank's planes of the phantom; empty: there is none
template <class T>
void keep_volume(reconstruct_request const& request, rank_parts const& parts, std::vector<T> here,
                 std::vector<T> const& truth, reconstruct_result& result) {
  auto const& box = parts.plan().grid();
  auto const& n = box.extent;
  std::vector<T> whole;
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  phantom_error error;
  // Some columns at a time: rank 0 need not hold them all.
  std::int64_t const step = std::max<std::int64_t>((std::int64_t(1) << 22) / n[2], 1);
  for (std::int64_t first = 0; first < n[0] * n[1]; first += step) {
    column_range const columns{first, std::min(first + step, n[0] * n[1])};
    auto const some = parts.gather_voxels(here, columns);
    hash = hash_bits<T>(some, hash);
    if (compares(request)) {
      error.add(some, parts.gather_voxels(truth, columns));
    }
    if (!request.keeps_planes) {
      whole.insert(whole.end(), some.begin(), some.end());
    }
  }
  result.planes = request.keeps_planes ? parts.plan().planes(parts.rank()) : slab();
  result.volume = on_host<T>(box, std::move(request.keeps_planes ? here : whole), request.table,
                             request.adjoint_of ? "mm" : "1/mm");
  result.hash = hash_text(hash);
  if (compares(request) && is_first_rank()) {
    result.error = error.value();
  }
}

/// Fills a rank's readings, and its mask of readings where that has memory, and looks through them.
/// All ranks call it. Returns the hashes of the whole arrays, where a checkpoint wants them.
template <class T, class Exec, class View>
ct::detail::given_hashes take_scan(Exec const& exec, reconstruct_request const& request,
                                   rank_parts const& parts, ct::geometry const& given,
                                   grid const& box, observer const& watch, View const& readings,
                                   View const& mask, reconstruct_result& result) {
  job const asked{{}, watch.cancelled};
  auto const host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, readings);
  scan_rows<T> rows(request, parts, std::span<T>(host.data(), host.size()));
  rows.read(asked);
  Kokkos::deep_copy(exec, readings, host);
  exec.fence("iso::jobs::reconstruct: readings in place");
  if (mask.size() > 0) {
    cases::put(exec, mask, ones_of(rows.mask()));
  }
  if (request.iterative && request.iterative->stop_noise) {
    largest_readings found;
    found.add(rows.rows(), rows.mask());
    found.join(parts);
    tell_clipped(found, *request.iterative->stop_noise, result);
  }
  if (!request.adjoint_of && (request.iterative || !request.phantom_width)) {
    auto const some = rows.sample(given);
    iso::detail::check_together(parts.ranks(), "iso reconstruct", [&] {
      if (is_first_rank()) {
        tell_outside(request, some.scan, box, some.readings, some.mask, result);
      }
    });
  }
  ct::detail::given_hashes hashes;
  if (request.iterative && !request.iterative->checkpoint.empty()) {
    hashes.readings = rows.hash();
    hashes.reading_mask = rows.hash_of_mask();
  }
  return hashes;
}

/// Does what run() does on the ranks that share the job. Each reads its share, and keeps its part
/// where it computes; the volume comes to rank 0, or stays.
template <class T, class Exec>
void reconstruct_on_ranks(Exec const& exec, reconstruct_request const& request,
                          ct::geometry const& given, ct::geometry const& g, grid const& box,
                          observer const& watch, passing<T> const& through,
                          reconstruct_result& result) {
  rank_parts const parts(g, box);
  auto const take = [&](auto const& readings, auto const& mask) {
    return take_scan<T>(exec, request, parts, given, box, watch, readings, mask, result);
  };
  auto const keep = [&](volume_view<T, typename Exec::memory_space> const& x) {
    std::vector<T> truth;
    if (compares(request)) {
      auto const phantom = parts.volume<T>(exec, "iso::jobs::phantom");
      if (phantom.data.size() > 0) {
        ct::rasterise_ellipsoids<Exec, T>(exec, ct::shepp_logan(*request.phantom_width / 2),
                                          phantom, {}, job{{}, watch.cancelled});
      }
      truth = fetch(exec, phantom.data);
    }
    keep_volume(request, parts, fetch(exec, x.data), truth, result);
  };
  if (request.iterative) {
    iterate_on_ranks<T>(exec, *request.iterative, g, parts, request.repeats, watch, through.pairs,
                        result, take, keep);
  } else {
    back_project_on_ranks<T>(exec, request, parts, watch, through, result, take, keep);
  }
}

template <class T, class Exec>
reconstruct_result run(Exec const& exec, reconstruct_request const& request, observer const& watch,
                       passing<T> const& by) {
  using space = typename Exec::memory_space;
  auto const& through = by.alone;
  auto const given = ct::make_geometry(request.geometry.scan);
  check(request, given);
  auto const& options = request.filter;
  auto const volume_grid = grid_of(request, given, options);
  validate(volume_grid, command_of(request));
  reconstruct_result result;
  result.views = given.num_views();
  bool const filtered =
      request.iterative ? request.iterative->projector().backprojection == ct::backprojection::fdk
                        : !request.adjoint_of;
  auto const g = request.iterative || request.adjoint_of
                     ? behind_volume(given, volume_grid, request.extend_rays, result.views_within)
                     : given;
  // A ray reaches voxels whose middles lie beside it. Filtered backprojection goes by middles
  // alone.
  result.blind_views =
      filtered ? blind_views(g, volume_grid) : missed_views(g, volume_grid, reach_of(request));
  check_views(request, g, volume_grid, filtered, result);
  auto const keep = [&](volume_view<T, space> const& volume) {
    std::vector<T> copy;
    std::span<T const> values(volume.data.data(), volume.data.size());
    if (compares(request) || backend::is_device<Exec>) {
      copy = fetch(exec, volume.data);
      values = copy;
    }
    result.hash = hash_text(hash_bits<T>(values));
    result.volume =
        on_host<T>(volume_grid, values, request.table, request.adjoint_of ? "mm" : "1/mm");
    if (compares(request)) {
      ct::rasterise_ellipsoids<Exec, T>(exec, ct::shepp_logan(*request.phantom_width / 2), volume,
                                        {}, job{{}, watch.cancelled});
      phantom_error error;
      error.add(copy, fetch(exec, volume.data));
      result.error = error.value();
    }
  };
  if (num_ranks() > 1) {
    reconstruct_on_ranks<T>(exec, request, given, g, volume_grid, watch, by, result);
    watch.step(1, "done");
    return result;
  }
  if (!request.adjoint_of && !request.phantom_width) {
    examine_readings(request, given_to(request), given, volume_grid, result);
  }
  if (request.iterative) {
    auto const readings = [&] {
      auto const made = readings_of<T>(exec, request, g, job{{}, watch.cancelled});
      if (request.phantom_width) {
        auto const numbers = fetch(exec, made.data);
        examine_readings(request, std::vector<float>(numbers.begin(), numbers.end()), given,
                         volume_grid, result);
      }
      return made;
    };
    iterate_scan<T>(exec, *request.iterative, g, volume_grid, request.repeats, watch, through,
                    result, readings,
                    {readings_bytes<T>(exec, request, g), given_bytes(request),
                     result_bytes<T, Exec>(request, volume_grid)},
                    keep);
    watch.step(1, "done");
    return result;
  }
  back_project_scan<T>(exec, request, g, volume_grid, watch, through, result, keep);
  watch.step(1, "done");
  return result;
}

}  // namespace

std::vector<std::string> iterative_projector_names() {
  auto names = texts_of<ct::projector>();
  names.emplace_back(texture_projector);
  return names;
}

std::string name_of(ct::projector_options const& options) {
  return options.projection == ct::projection::texture ? texture_projector
                                                       : std::string(to_word(options.method));
}

ct::projector_options projector_named(std::string const& name, ct::projector_options options) {
  bool const by_texture = name == texture_projector;
  auto const known = by_texture ? ct::projector::joseph_linear : from_word<ct::projector>(name);
  ISO_VALIDATE(known,
               "projector '{}' is not known (it is none of those there are); choose one of {}",
               name, all_words<ct::projector>());
  options.method = *known;
  options.projection = by_texture ? ct::projection::texture : ct::projection::exact;
  return options;
}

void check_shapes(reconstruct_request const& request) {
  check_shapes(request, ct::make_geometry(request.geometry.scan));
}

reconstruct_result reconstruct(reconstruct_request const& request, observer const& watch) {
  return in_precision(request.backend, request.precision, request.memory,
                      request.stored.has_value(),
                      [&](auto const& exec, auto zero, auto const& through) {
                        return run<decltype(zero)>(exec, request, watch, through);
                      });
}

}  // namespace iso::jobs
