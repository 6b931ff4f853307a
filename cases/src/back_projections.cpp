// SPDX-License-Identifier: BSD-3-Clause
//! The adjoint of the projectors.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/slabs.hpp>

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

  auto const add_sized = [&](std::string_view name, std::string_view about,
                             ct::geometry (*scan)(std::int64_t n)) {
    all.add_sized({name,
                   about,
                   "voxels along each side",
                   16,
                   2048,
                   {number_type::f32, number_type::f64},
                   4,
                   shapes::any,
                   [](double n) { return 4 * n * n * n; },
                   [](double n) { return 64 * n * n; },
                   [](double n) { return 2 * n * n * n * n; }},
                  [scan](auto const& exec, point const& p) {
                    return in_precision(p, [&]<class T>(T) {
                      auto const volume = smooth_volume(p.size);
                      back_projection_case<T> const what{{volume}, scan(p.size), volume.box};
                      return ready_of(exec, what.prepare(exec), p);
                    });
                  });
  };
  add_sized("back_project", "the adjoint of forward_project", upright_scan);
  add_sized("back_project_tilted", "the adjoint of forward_project_tilted", tilted_scan);
}

}  // namespace iso::cases
