// SPDX-License-Identifier: BSD-3-Clause
//! Filtered backprojection.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/reconstruction.hpp>
#include <iso/cases/scan_rows.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/stored_readings.hpp>
#include <iso/ct/streamed_fdk.hpp>
#include <iso/ct/streamed_ranked.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace iso::cases {
namespace {

/// The class that holds plan and scratch.
template <class T>
struct reconstructor_case {
  fdk_case<T> what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto ready = what.prepare(exec);
    auto const pixels = what.projections.template on<T>(exec, what.scan);
    ready.run = [pixels, with = what](Exec const& on, variant const&, T* out) {
      ct::fdk_reconstructor<Exec, T> const reconstructor(on, with.scan, with.volume, with.options);
      reconstructor.apply(pixels, wrap_volume<space>(out, with.volume));
      on.fence("iso::cases: the scratch may go");
    };
    return ready;
  }
};

/// The views before `cut` onto zero, the others onto what is stored.
template <class T>
struct fdk_subsets_case {
  fdk_case<T> what;
  std::int64_t cut = 0;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto ready = what.prepare(exec);
    auto const pixels = what.projections.template on<T>(exec, what.scan);
    ct::fdk_plan<space> const plan(exec, what.scan, what.options);
    auto const first = plan.subset(0, cut);
    auto const rest = plan.subset(cut, what.scan.num_views() - cut);
    workspace<space> const work(ct::fdk_bytes_needed<T>(exec, what.scan, what.options));
    T* const later = pixels.data.data() + cut * what.scan.num_u() * what.scan.num_v();
    ready.run = [=, box = what.volume](Exec const& on, variant const&, T* out) {
      auto const volume = wrap_volume<space>(out, box);
      auto const scratch = wrap_workspace<space>(work.data(), work.size());
      ct::fdk<Exec, T>(on, first,
                       projections_at<T, space>(pixels.data.data(), first.geometry().host()),
                       volume, scratch);
      ct::fdk<Exec, T>(on, rest, projections_at<T, space>(later, rest.geometry().host()), volume,
                       scratch, onto::stored);
    };
    return ready;
  }
};

/// The two halves, one after the other.
template <class T>
struct fdk_halves_case {
  fdk_case<T> what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto ready = what.prepare(exec);
    auto const pixels = what.projections.template on<T>(exec, what.scan);
    ct::fdk_plan<space> const plan(exec, what.scan, what.options);
    auto const& wide = plan.geometry().host();
    auto const filtered = make_projections<T, space>(exec, "iso::cases::filtered", wide.num_views(),
                                                     wide.num_u(), wide.num_v());
    workspace<space> const work(
        std::max(ct::filter_projections_bytes_needed<T>(exec, what.scan, what.options),
                 ct::weighted_back_project_bytes_needed<T>(exec, what.scan, what.options)));
    exec.fence("iso::cases: memory for filtered projections");
    ready.run = [=, box = what.volume](Exec const& on, variant const&, T* out) {
      auto const scratch = wrap_workspace<space>(work.data(), work.size());
      ct::filter_projections<Exec, T>(on, plan, pixels, filtered, scratch);
      ct::weighted_back_project<Exec, T>(on, plan, filtered, wrap_volume<space>(out, box), scratch);
    };
    return ready;
  }
};

/// Returns a run that reconstructs readings in host memory, numbers or integers, through the
/// backend's.
template <class Exec, class T, class Readings>
auto streamed_run(fdk_case<T> const& with, Readings const& readings, bool stored) {
  using host = Kokkos::HostSpace;
  return [=](Exec const& on, variant const&, T* out) {
    ct::streamed_fdk<Exec, T> fdk(
        on, with.scan, with.volume, with.options,
        {.device_bytes = std::int64_t(1) << 28, .max_planes = 32, .stored_readings = stored});
    auto const x = make_volume<T, host>(Kokkos::DefaultHostExecutionSpace(), "iso::cases::streamed",
                                        with.volume);
    fdk.apply(readings, x);
    Kokkos::deep_copy(on, wrap_volume<typename Exec::memory_space>(out, with.volume).data, x.data);
    on.fence("iso::cases: the volume may go");
  };
}

/// Slab by slab.
template <class T>
struct slab_fdk_case {
  fdk_case<T> what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto ready = what.prepare(exec);
    auto const pixels = what.projections.template on<T>(exec, what.scan);
    ct::fdk_plan<space> const plan(exec, what.scan, what.options);
    workspace<space> const work(ct::fdk_bytes_needed<T>(exec, what.scan, what.options));
    ready.run = [=, box = what.volume](Exec const& on, variant const&, T* out) {
      fill_by_slabs(on, out, box, [&](volume_view<T, space> const& some) {
        ct::fdk<Exec, T>(on, plan, pixels, some, wrap_workspace<space>(work.data(), work.size()));
      });
    };
    return ready;
  }
};

/// By what ranks do, of a job of one: the second half of the voxels along x by slabs that pass
/// through. tests/ranks compares several with it.
template <class T>
struct ranked_fdk_case {
  fdk_case<T> what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    auto ready = what.prepare(exec);
    auto const pixels = what.projections.template on<T>(exec, what.scan);
    ready.least = {};
    ready.run = [pixels, with = what](Exec const& on, variant const&, T* out) {
      backend::one_rank ranks;
      ct::rank_plan const plan(with.scan, with.volume, divide_planes(with.volume, ranks.size()));
      if (!backend::carries_well(ranks)) {
        throw std::logic_error(
            "iso::backend::carries_well: a job of one rank (its words came back changed); check "
            "the build");
      }
      auto const p = ct::make_projections_part<T>(on, "iso::cases::ranked", plan, ranks.rank());
      Kokkos::deep_copy(on, p.data, pixels.data);
      auto const result = wrap_volume<typename Exec::memory_space>(out, with.volume);
      ct::ranked_fdk<Exec, T>(on, ranks, plan, with.options).apply(p, result);
      on.fence("iso::cases: the projections may go");

      using host = Kokkos::HostSpace;
      projection_view<T, host> const here{Kokkos::create_mirror_view_and_copy(host(), p.data)};
      auto const passed = make_volume<T, host>(Kokkos::DefaultHostExecutionSpace(),
                                               "iso::cases::ranked", with.volume);
      ct::streamed_ranked_fdk<Exec, T>(on, ranks, plan, with.options,
                                       {.device_bytes = std::int64_t(1) << 28, .max_planes = 32})
          .apply(here, passed);
      auto const n = with.volume.extent[0];
      auto const second = Kokkos::make_pair(n / 2, n);
      Kokkos::deep_copy(on, Kokkos::subview(result.data, second, Kokkos::ALL, Kokkos::ALL),
                        Kokkos::subview(passed.data, second, Kokkos::ALL, Kokkos::ALL));
      on.fence("iso::cases: what passed may go");
    };
    return ready;
  }
};

/// Of projections and a volume in host memory that pass through the backend's.
template <class T>
struct streamed_fdk_case {
  fdk_case<T> what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using host = Kokkos::HostSpace;
    auto ready = what.prepare(exec);
    auto const pixels = what.projections.template on<T>(exec, what.scan);
    projection_view<T, host> const p{Kokkos::create_mirror_view_and_copy(host(), pixels.data)};
    ready.least = {};
    ready.run = streamed_run<Exec>(what, p, false);
    return ready;
  }
};

/// The same where only streaming counts: of what comes out, the middle plane is looked at.
template <class T>
struct streamed_volume_case {
  fdk_case<T> what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using host = Kokkos::HostSpace;
    Kokkos::DefaultHostExecutionSpace const on_host;
    auto thin = what;
    auto const& box = what.volume;
    std::int64_t const middle = box.extent[2] / 2;
    thin.volume.extent[2] = 1;
    thin.volume.origin.z = box.origin.z + double(middle) * box.spacing.z;
    auto result = thin.prepare(exec);
    auto const pixels = what.projections.template on<T>(exec, what.scan);
    projection_view<T, host> const p{Kokkos::create_mirror_view_and_copy(host(), pixels.data)};
    auto const x = make_volume<T, host>(on_host, "iso::cases::streamed", box);
    auto const plane = make_volume<T, host>(on_host, "iso::cases::plane", thin.volume);
    auto const fdk = std::make_shared<ct::streamed_fdk<Exec, T>>(
        exec, what.scan, box, what.options,
        ct::streaming_options{.device_bytes = streaming_limit<T>(box.extent[2])});
    result.least = reconstruction_work<T>(what.scan, box, filter_taps(fdk->plan(), what.scan));
    result.run = [=](Exec const& on, variant const&, T* out) {
      fdk->apply(p, x);
      Kokkos::deep_copy(on_host, Kokkos::subview(plane.data, Kokkos::ALL, Kokkos::ALL, 0),
                        Kokkos::subview(x.data, Kokkos::ALL, Kokkos::ALL, middle));
      on_host.fence("iso::cases: the plane is here");
      Kokkos::deep_copy(on, wrap_volume<typename Exec::memory_space>(out, plane.grid).data,
                        plane.data);
      on.fence("iso::cases: the plane is there");
    };
    return result;
  }
};

/// Of the same, whose readings are integers of 16 bits.
template <class T>
struct stored_fdk_case {
  fdk_case<T> what;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using host = Kokkos::HostSpace;
    using space = typename Exec::memory_space;
    auto ready = what.prepare(exec);
    auto const pixels = fetch(exec, what.projections.template on<T>(exec, what.scan).data);
    auto const& g = what.scan;
    double const most = *std::max_element(pixels.begin(), pixels.end());
    Kokkos::View<std::uint16_t***, Kokkos::LayoutRight, host> const integers(
        "iso::cases::stored", g.num_views(), g.num_u(), g.num_v());
    ct::stored_readings<host> const stored{integers, most / 65000, most * 0x1p-10};
    std::transform(pixels.begin(), pixels.end(), integers.data(),
                   [&](T pixel) { return std::uint16_t(double(pixel) / stored.scale); });
    // Numbers again where the exact answer looks.
    auto const on_device = Kokkos::create_mirror_view_and_copy(space(), stored.data);
    auto const numbers = make_projections<T, space>(exec, "iso::cases::numbers", g.num_views(),
                                                    g.num_u(), g.num_v());
    ct::decode_readings<Exec, T>(exec, {on_device, stored.scale, stored.offset}, numbers);
    auto const decoded = fetch(exec, numbers.data);
    ready.exact = [=, with = what](std::int64_t count) { return with.exact(decoded, count); };
    ready.least = {};
    ready.run = streamed_run<Exec>(what, stored, true);
    return ready;
  }
};

/// A detector that is yawed, pitched and a little rolled.
ct::geometry turned_detector(ct::geometry const& straight) {
  auto views = straight.views();
  for (auto& view : views) {
    vec3<double> const u = view.u_step;
    vec3<double> const v = view.v_step;
    view.u_step = u + (0.25 * norm(u) / norm(view.source)) * view.source + 0.0625 * v;
    view.v_step = v - (0.5 * norm(v) / norm(view.source)) * view.source;
    view.detector_origin = view.detector_origin +
                           (0.5 * double(straight.num_u() - 1)) * (u - view.u_step) +
                           (0.5 * double(straight.num_v() - 1)) * (v - view.v_step);
  }
  return {ct::beam::cone, straight.num_u(), straight.num_v(), std::move(views)};
}

/// At the sizes of sweeps.
void add_sized_reconstructions(catalogue& all) {
  scan_model const model{[](double n) { return 4.2 * n * n * n; },
                         [](double n) { return 2 * n * n * n * n; }};
  auto const add = [&](scan_row const& row) {
    add_scan_row(all, row, shapes::fixed, model,
                 []<class T>(T, std::int64_t n, ct::geometry const& scan) {
                   auto const volume = smooth_volume(n);
                   return fdk_case<T>{{volume}, scan, volume.box};
                 });
  };
  add({"fdk", "filtered backprojection (Ram-Lak) of as many views as voxels along a side",
       upright_scan});
  add({"fdk_tilted", tilted_alike, tilted_scan});
  auto const add_streamed = [&](scan_row const& row) {
    add_scan_row(all, row, shapes::fixed, model,
                 []<class T>(T, std::int64_t n, ct::geometry const& scan) {
                   auto const volume = smooth_volume(n);
                   return streamed_volume_case<T>{{{volume}, scan, volume.box}};
                 });
  };
  add_streamed({"fdk_streamed", "fdk of readings in host memory, through 4 GiB a 1024^3 floats",
                upright_scan});
  add_streamed({"fdk_streamed_tilted", tilted_alike, tilted_scan});
}

}  // namespace

void add_reconstructions(catalogue& all) {
  std::vector<std::string> const functions = {"iso::ct::fdk", "iso::ct::ramp_taps",
                                              "iso::ct::weigh_scan", "iso::ct::redundancy_weight",
                                              "iso::cross"};
  auto const box = grid::centred({23, 19, 70}, {3, 2.5, 1.25});
  auto const add = [&](std::string const& name, ct::geometry const& scan,
                       ct::fdk_options const& options) {
    all.add<fdk_case>({name, functions, {{}}}, input_projections{}, scan, box, options);
  };
  auto const cone = [](double arc, double offset, std::int64_t views) {
    return ct::circular_cone({31, 37, 4, 4, offset}, 200, 320, ct::even_angles(views, arc, 0.25));
  };
  add("fdk_cone", small_cone(), {});
  add("fdk_cone_hann", small_cone(), {ct::ramp_window::hann, 0.75});
  add("fbp_parallel", small_parallel(), {ct::ramp_window::shepp_logan});
  add("fdk_tilted", small_tilted(), {});
  add("fdk_turned_detector", turned_detector(small_cone()), {});
  add("fdk_short_scan", cone(4, 0, 24), {});
  add("fdk_displaced_detector", cone(6.25, 30, 23), {.scan = {.truncation_correction = 6}});
  add("fdk_leaning_displaced_detector", turned_detector(cone(6.25, 30, 23)),
      {.scan = {.max_roll = 0.125}});
  add("fdk_leaning_short_scan", turned_detector(cone(4, 0, 24)), {.scan = {.max_roll = 0.125}});

  auto const take = [&]<template <class> class Case>(operation_text const& text,
                                                     auto const&... more) {
    auto const scan = cone(6.25, 0, 40);
    auto& line = all.operations.emplace_back(text);
    line.take(Case<float>{fdk_case<float>{{}, scan, box}, more...});
    line.take(Case<double>{fdk_case<double>{{}, scan, box}, more...});
  };
  take.operator()<reconstructor_case>({"fdk_reconstructor", {"iso::ct::fdk_reconstructor"}, {{}}});
  take.operator()<fdk_halves_case>(
      {"fdk_halves", {"iso::ct::filter_projections", "iso::ct::weighted_back_project"}, {{}}});
  take.operator()<fdk_subsets_case>({"fdk_subsets", {"iso::ct::fdk"}, {{}}}, std::int64_t(16));
  take.operator()<slab_fdk_case>({"fdk_slabs", {"iso::ct::fdk"}, {{}}});
  take.operator()<streamed_fdk_case>({.name = "fdk_streamed",
                                      .functions = {"iso::ct::streamed_fdk"},
                                      .variants = {{}},
                                      .has_model = false});
  take.operator()<ranked_fdk_case>(
      {.name = "fdk_ranked",
       .functions = {"iso::ct::ranked_fdk", "iso::ct::streamed_ranked_fdk",
                     "iso::backend::carries_well"},
       .variants = {{}},
       .has_model = false});
  take.operator()<stored_fdk_case>({.name = "fdk_stored_readings",
                                    .functions = {"iso::ct::decode_readings"},
                                    .variants = {{}},
                                    .has_model = false});

  add_sized_reconstructions(all);
}

}  // namespace iso::cases
