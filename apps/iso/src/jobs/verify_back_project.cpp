// SPDX-License-Identifier: BSD-3-Clause
//! The part of verify's table that applies the adjoint of the projectors.
#include "verify_inputs.hpp"
#include "verify_plan.hpp"

#include <iso/core/workspace.hpp>
#include <iso/ct/back_project.hpp>

namespace iso::jobs {
namespace {

template <class T>
struct back_projection_case {
  ct::geometry scan;
  ct::back_project_options options;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const g = grid::centred({23, 19, 70}, {3, 2.5, 1.25});
    auto const staged = ct::stage(exec, scan);
    std::vector<T> values(std::size_t(scan.num_views() * scan.num_u() * scan.num_v()));
    for (std::size_t n = 0; n < values.size(); ++n) {
      values[n] = T(in_unit(n));
    }
    auto const pixels = make_projections<T, space>(exec, "iso::jobs::verify::readings",
                                                   scan.num_views(), scan.num_u(), scan.num_v());
    auto const host = projections_at<T const, Kokkos::HostSpace>(values.data(), scan);
    Kokkos::deep_copy(exec, pixels.data, host.data);
    exec.fence("iso::jobs::verify: readings in place");
    workspace<space> const work(ct::back_project_bytes_needed<Exec, T>(scan, g, options));
    auto const with = *this;
    return {g.size(),
            [=](Exec const& on, variant const& how, T* out) {
              auto chosen = with.options;
              chosen.shape.groups_per_launch = how.groups;
              ct::back_project<Exec, T>(on, staged, pixels, wrap_volume<space>(out, g),
                                        wrap_workspace<space>(work.data(), work.size()), chosen);
            },
            projection_work<T>({.method = options.method}, scan, g),
            [=] {
              return exact_back_projection<T>(values, with.scan, g,
                                              {.method = with.options.method,
                                               .edge = with.options.edge,
                                               .oversampling = with.options.oversampling});
            }};
  }
};

}  // namespace

void add_back_projections(plan& all) {
  using ct::joseph_path;
  using ct::projector;
  std::vector<std::string> const functions = {"iso::ct::back_project"};
  auto const add = [&](std::string const& name, ct::geometry const& scan,
                       ct::back_project_options const& options) {
    all.add<back_projection_case>({"back_project_" + name, functions}, scan, options);
  };
  add("cone", verify_cone(), {});
  add("cone_truncate", verify_cone(), {.edge = boundary::truncate});
  add("cone_general", verify_cone(), {.path = joseph_path::general});
  add("parallel", verify_parallel(), {});
  add("tilted", verify_tilted(), {});
  add("spline_tilted", verify_tilted(), {.method = projector::joseph_spline});
  add("siddon_cone", verify_cone(), {.method = projector::siddon});
  add("branchless_tilted_oversampled", verify_tilted(),
      {.method = projector::branchless, .oversampling = 2});
}

}  // namespace iso::jobs
