// SPDX-License-Identifier: BSD-3-Clause
//! The adjoint of the projectors.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/scan_rows.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/ct/streamed_pair.hpp>

#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>

namespace iso::cases {

namespace {

/// Voxels that are made slab by slab.
template <class T>
struct slab_back_projection_case {
  back_projection_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const staged = ct::stage(exec, whole.scan);
    auto const pixels = whole.projections.template on<T>(exec, whole.scan);
    auto result = whole.prepare(exec);
    result.run = [=, options = whole.options, box = whole.volume](Exec const& on, variant const&,
                                                                  T* out) {
      fill_by_slabs(on, out, box, [&](volume_view<T, space> const& some) {
        slab const planes = some.planes();
        workspace<space> const work(
            ct::back_project_bytes_needed<T>(on, staged.host(), box, planes, options));
        ct::back_project<Exec, T>(on, staged, pixels, some, work, options);
        on.fence("iso::cases: the memory may go");
      });
    };
    return result;
  }
};

/// Of projections and a volume in host memory that pass through the backend's, in slabs of 24, 24
/// and 22 planes.
template <class T>
struct streamed_back_projection_case {
  back_projection_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using host = Kokkos::HostSpace;
    auto const pixels = whole.projections.template on<T>(exec, whole.scan);
    projection_view<T, host> const p{Kokkos::create_mirror_view_and_copy(host(), pixels.data)};
    auto result = whole.prepare(exec);
    result.least = {};
    result.run = [p, with = whole](Exec const& on, variant const&, T* out) {
      auto const views = with.scan.num_views();
      ct::streamed_pair<Exec, T> pair(
          on, with.scan, with.volume, ct::split_views(views, views, ct::block_order::sequential),
          {.method = with.options.method, .sum = summation::reproducible},
          {.device_bytes = std::int64_t(1) << 28, .max_planes = 24});
      auto const x = make_volume<T, host>(Kokkos::DefaultHostExecutionSpace(),
                                          "iso::cases::streamed", with.volume);
      pair.adjoint(0, p, x);
      Kokkos::deep_copy(on, wrap_volume<typename Exec::memory_space>(out, with.volume).data,
                        x.data);
      on.fence("iso::cases: the volume may go");
    };
    return result;
  }
};

/// The same where only streaming counts: of what comes out, some voxels are looked at.
template <class T>
struct streamed_voxels_case {
  back_projection_case<T> whole;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using host = Kokkos::HostSpace;
    auto const& scan = whole.scan;
    auto const& box = whole.volume;
    auto const pixels = whole.projections.template on<T>(exec, scan);
    projection_view<T, host> const p{Kokkos::create_mirror_view_and_copy(host(), pixels.data)};
    auto const x =
        make_volume<T, host>(Kokkos::DefaultHostExecutionSpace(), "iso::cases::streamed", box);
    auto const views = scan.num_views();
    auto const pair = std::make_shared<ct::streamed_pair<Exec, T>>(
        exec, scan, box, ct::split_views(views, views, ct::block_order::sequential),
        ct::projector_options{.sum = summation::reproducible},
        ct::streaming_options{.device_bytes = streaming_limit<T>(box.extent[2])});
    sampled const some(box.size());
    return {
        some.count(),
        [=](Exec const& on, variant const&, T* out) {
          pair->adjoint(0, p, x);
          put_at(on, out, some.of(x.data.data()));
        },
        projection_work<T>({}, scan, box),
        [=](std::int64_t count) {
          auto const stride = some.step * stride_for(some.count(), count);
          return some.of(oracle::exact_back_projection<T>(
                             {p.data.data(), p.data.data() + p.data.size()}, scan, box, {}, stride)
                             .data());
        }};
  }
};

/// At the sizes of sweeps.
void add_sized_back_projections(catalogue& all) {
  auto const steps = [](double n) { return 2 * n * n * n * n; };
  auto const add = [&](scan_row const& row) {
    add_scan_row(all, row, shapes::any, {[](double n) { return 4 * n * n * n; }, steps},
                 []<class T>(T, std::int64_t n, ct::geometry const& scan) {
                   auto const volume = smooth_volume(n);
                   return back_projection_case<T>{{volume}, scan, volume.box};
                 });
  };
  add({"back_project", "the adjoint of forward_project", upright_scan});
  add({"back_project_tilted", "the adjoint of forward_project_tilted", tilted_scan});
  auto const add_streamed = [&](scan_row const& row) {
    add_scan_row(all, row, shapes::fixed, {[](double n) { return 5.2 * n * n * n; }, steps},
                 []<class T>(T, std::int64_t n, ct::geometry const& scan) {
                   auto const volume = smooth_volume(n);
                   return streamed_voxels_case<T>{{{volume}, scan, volume.box}};
                 });
  };
  add_streamed({"back_project_streamed",
                "the adjoint of forward_project_streamed: readings and volume in host memory, "
                "through 4 GiB a 1024^3 floats",
                upright_scan});
  add_streamed({"back_project_streamed_tilted", tilted_alike, tilted_scan});
}

}  // namespace

void add_back_projections(catalogue& all) {
  using ct::joseph_path;
  using ct::projector;
  auto const add = [&](std::string const& name, ct::geometry const& scan,
                       ct::back_project_options const& options) {
    operation_text text{"back_project_" + name, {"iso::ct::back_project"}};
    if (options.path == joseph_path::general) {
      text.functions.emplace_back("iso::backend::for_each_team");  // the scatter
    }
    all.add<back_projection_case>(std::move(text), input_projections{}, scan,
                                  grid::centred({23, 19, 70}, {3, 2.5, 1.25}), options);
  };
  add("cone", small_cone(), {});
  add("cone_truncate", small_cone(), {.edge = boundary::truncate});
  add("cone_general", small_cone(), {.path = joseph_path::general});
  add("coarse",
      ct::circular_cone({5, 33, 40, 12}, 300, 500, ct::even_angles(3, 2 * std::numbers::pi, 0.1)),
      {});
  add("parallel", small_parallel(), {});
  add("tilted", small_tilted(), {});
  add("spline_tilted", small_tilted(), {.method = projector::joseph_spline});
  add("siddon_cone", small_cone(), {.method = projector::siddon});
  add("branchless_tilted_oversampled", small_tilted(),
      {.method = projector::branchless, .oversampling = 2});

  // In slabs: the hashes are those of the whole volumes.
  auto const add_slabs = [&](std::string const& name, ct::geometry const& scan) {
    all.add<slab_back_projection_case>(
        {"back_project_slabs_" + name, {"iso::ct::back_project"}}, input_projections{}, scan,
        grid::centred({23, 19, 70}, {3, 2.5, 1.25}), ct::back_project_options{});
  };
  add_slabs("cone", small_cone());
  add_slabs("tilted", small_tilted());
  all.add<streamed_back_projection_case>({.name = "back_project_streamed_cone",
                                          .functions = {"iso::ct::streamed_pair"},
                                          .variants = {{}},
                                          .has_model = false},
                                         input_projections{}, small_cone(),
                                         grid::centred({23, 19, 70}, {3, 2.5, 1.25}));

  add_sized_back_projections(all);
}

}  // namespace iso::cases
