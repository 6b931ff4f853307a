// SPDX-License-Identifier: BSD-3-Clause
//! The part of verify's table that reconstructs.
#include "verify_inputs.hpp"
#include "verify_plan.hpp"

#include <iso/core/workspace.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/oracle/reconstruction.hpp>

namespace iso::jobs {
namespace {

template <class T>
std::vector<T> readings(ct::geometry const& g) {
  std::vector<T> values(std::size_t(g.num_views() * g.num_u() * g.num_v()));
  for (std::size_t n = 0; n < values.size(); ++n) {
    values[n] = T(in_unit(n));
  }
  return values;
}

/// With a `cut`, the views before it by fdk, the others by fdk_add.
template <class T>
struct fdk_case {
  ct::geometry scan;
  ct::fdk_options options;
  std::int64_t cut = 0;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const g = grid::centred({23, 19, 70}, {3, 2.5, 1.25});
    auto const plan = ct::fdk_plan<space>(exec, scan, options);
    auto const values = readings<T>(scan);
    auto const pixels = make_projections<T, space>(exec, "iso::jobs::verify::readings",
                                                   scan.num_views(), scan.num_u(), scan.num_v());
    auto const host = projections_at<T const, Kokkos::HostSpace>(values.data(), scan);
    Kokkos::deep_copy(exec, pixels.data, host.data);
    exec.fence("iso::jobs::verify: readings in place");
    workspace<space> const work(ct::fdk_bytes_needed<Exec, T>(scan, options));
    auto const with = *this;
    return {
        g.size(),
        [=](Exec const& on, variant const&, T* out) {
          auto const volume = wrap_volume<space>(out, g);
          auto const scratch = wrap_workspace<space>(work.data(), work.size());
          if (with.cut == 0) {
            ct::fdk_reconstructor<Exec, T> const reconstructor(on, with.scan, g, with.options);
            reconstructor.apply(pixels, volume);
            on.fence("iso::jobs::verify: the scratch may go");
            return;
          }
          auto const first = plan.subset(0, with.cut);
          auto const rest = plan.subset(with.cut, with.scan.num_views() - with.cut);
          T* const later = pixels.data.data() + with.cut * with.scan.num_u() * with.scan.num_v();
          ct::fdk<Exec, T>(on, first,
                           projections_at<T, space>(pixels.data.data(), first.geometry().host()),
                           volume, scratch);
          ct::fdk_add<Exec, T>(on, rest, projections_at<T, space>(later, rest.geometry().host()),
                               volume, scratch);
        },
        reconstruction_work<T>(scan, g),
        [=] {
          return exact_fdk<T>(with.scan,
                              projections_at<T const, Kokkos::HostSpace>(values.data(), with.scan),
                              g, with.options, 7);
        }};
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

}  // namespace

void add_reconstruction(plan& all) {
  std::vector<std::string> const functions = {"iso::ct::fdk",       "iso::ct::fdk_reconstructor",
                                              "iso::ct::ramp_taps", "iso::ct::weigh_scan",
                                              "iso::ct::factor_of", "iso::cross"};
  auto with_add = functions;
  with_add.push_back("iso::ct::fdk_add");
  all.add<fdk_case>({"fdk_cone", functions, {{}}}, verify_cone(), ct::fdk_options{});
  all.add<fdk_case>({"fdk_cone_hann", functions, {{}}}, verify_cone(),
                    ct::fdk_options{ct::ramp_window::hann, 0.75});
  all.add<fdk_case>({"fbp_parallel", functions, {{}}}, verify_parallel(),
                    ct::fdk_options{ct::ramp_window::shepp_logan});
  all.add<fdk_case>({"fdk_tilted", functions, {{}}}, verify_tilted(), ct::fdk_options{});
  all.add<fdk_case>({"fdk_turned_detector", functions, {{}}}, turned_detector(verify_cone()),
                    ct::fdk_options{});
  auto const cone = [](double arc, double offset, std::int64_t views) {
    return ct::circular_cone({31, 37, 4, 4, offset}, 200, 320, ct::even_angles(views, arc, 0.25));
  };
  all.add<fdk_case>({"fdk_short_scan", functions, {{}}}, cone(4, 0, 24), ct::fdk_options{});
  all.add<fdk_case>({"fdk_offset_detector", functions, {{}}}, cone(6.25, 30, 23),
                    ct::fdk_options{.scan = {.continuation = 6}});
  all.add<fdk_case>({"fdk_leaning_offset_detector", functions, {{}}},
                    turned_detector(cone(6.25, 30, 23)),
                    ct::fdk_options{.scan = {.max_roll = 0.125}});
  all.add<fdk_case>({"fdk_leaning_short_scan", functions, {{}}}, turned_detector(cone(4, 0, 24)),
                    ct::fdk_options{.scan = {.max_roll = 0.125}});
  all.add<fdk_case>({"fdk_subsets", with_add, {{}}}, cone(6.25, 0, 40), ct::fdk_options{},
                    std::int64_t(16));
}

}  // namespace iso::jobs
