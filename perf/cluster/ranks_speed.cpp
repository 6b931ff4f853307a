// SPDX-License-Identifier: BSD-3-Clause
// Projects and reconstructs on the ranks that mpirun starts, in turn with the same calls in the
// memory of one: how much faster they are together. Both with reproducible sums, float, N^3 voxels,
// upright cone views of cases::cone_scan. The calls of one run on every rank at the same time,
// each on its own device; the slowest counts.
//
//   mpirun -n 2 iso_ranks_speed --backend cuda --size 1024 --views 720
//
// Rank 0 prints a line a row: medians of alternating runs in ms, `speedup`, the first over the
// second, `sent`, the bytes that all ranks send in one call, beside those of the table in
// docs/algorithms/ranks.md, and whether every rank's part has the bits of the whole. `--json FILE`
// has the same. With `--alone` ranks are timed by themselves, for volumes that one memory cannot
// hold.
#include "ranks_rows.hpp"
#include "support/program.hpp"

#include <iso/backend/carrier.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/cases/times.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/detail/rank_windows.hpp>
#include <iso/ct/detail/streamed_impl.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

using T = float;

struct settings : ranks_settings {
  std::int64_t size = 64;
  std::int64_t views = 64;
  double pitch = 0;  ///< of the detector, degrees
  bool alone = false;
  bool staged = false;

  settings() { rows = {"forward", "adjoint", "fdk", "sirt", "cgls", "os_sart", "total_variation"}; }
};

/// Returns the bytes that a call, or an iteration, sends by the table in docs/algorithms/ranks.md:
/// of planes, words and readings. Every voxel is finite.
std::int64_t bytes_by_table(std::string const& what, ct::rank_plan const& plan,
                            std::int64_t blocks) {
  ct::geometry const& scan = plan.scan();
  auto const pixels_elsewhere = [&](ct::detail::rank_windows const& needed) {
    std::int64_t pixels = 0;
    for (int rank = 0; rank < plan.size(); ++rank) {
      ct::row_range const rows = plan.rows(rank);
      for (ct::pixel_window const& w : needed[std::size_t(rank)]) {
        if (!w.empty()) {
          std::int64_t const own = std::max<std::int64_t>(
              0, std::min(w.last_v, rows.last) - std::max(w.first_v, rows.first));
          pixels += (w.last_u - w.first_u) * (w.last_v - w.first_v - own);
        }
      }
    }
    return pixels;
  };
  std::int64_t const halo = ct::detail::largest_halo(
      scan, plan.grid(), ct::detail::streamed_forward<T>({}, scan, plan.grid()));
  auto const planes = [&](std::int64_t of_halo) {
    std::int64_t count = 0;
    for (int rank = 0; rank < plan.size(); ++rank) {
      slab const own = plan.planes(rank);
      count += std::min(of_halo, own.first) + std::min(of_halo, plan.grid().extent[2] - own.last);
    }
    return count * plan.grid().extent[0] * plan.grid().extent[1];
  };
  auto const forward = blocks * planes(halo) + pixels_elsewhere(ct::detail::windows_of(plan, halo));
  auto const adjoint = pixels_elsewhere(ct::detail::windows_of(plan, 0));
  std::int64_t const numbers =
      what == "forward"   ? forward
      : what == "adjoint" ? adjoint
      : what == "fdk"
          ? pixels_elsewhere(ct::detail::fdk_windows_of(plan))
          : forward + adjoint + (what == "total_variation" ? 3 * planes(1) / 2 : std::int64_t(0));
  return numbers * std::int64_t(sizeof(T));
}

template <execution_space Exec>
class measurement {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;
  using projections = projection_view<T, space>;

  measurement(settings const& s, backend::communicator& ranks)
      : settings_(s),
        rows_(exec_, ranks, s.repeats),
        phantom_(cases::smooth_volume(s.size)),
        scan_(ct::turn_detector(cases::cone_scan(s.size, s.views),
                                {.pitch = s.pitch * std::numbers::pi / 180})),
        plan_(scan_, phantom_.box, divide_planes(phantom_.box, ranks.size())),
        x_part_(ct::make_volume_part<T>(exec_, "x", plan_, ranks.rank())),
        p_part_(ct::make_projections_part<T>(exec_, "p", plan_, ranks.rank())) {
    if (!settings_.alone) {
      x_ = make_volume<T, space>(exec_, "x", phantom_.box);
      p_ = make_projections<T, space>(exec_, "p", s.views, scan_.num_u(), scan_.num_v());
    }
  }

  json run() {
    for (std::string const& what : settings_.rows) {
      if (what == "forward" || what == "adjoint") {
        pair(what == "forward");
      } else if (what == "fdk") {
        fdk();
      } else if (what == "sirt") {
        method<ct::sart<Exec, T>>(what, ct::sart_options{});
      } else if (what == "os_sart") {
        method<ct::sart<Exec, T>>(what,
                                  ct::sart_options{.block_views = settings_.views / 4,
                                                   .columns = ct::column_sums::of_scan},
                                  4);
      } else if (what == "blocks_of_8") {
        method<ct::sart<Exec, T>>(
            what, ct::sart_options{.block_views = 8, .columns = ct::column_sums::of_scan},
            settings_.views / 8);
      } else if (what == "cgls") {
        method<ct::cgls<Exec, T>>(what, ct::cgls_options{});
      } else if (what == "total_variation") {
        method<ct::total_variation<Exec, T>>(
            what, ct::total_variation_options{.weight = 0.01, .box = {.lower = 0, .upper = 0.1}});
      } else {
        throw std::runtime_error("row '" + what + "' (there is none of that name); choose another");
      }
    }
    return rows_.said();
  }

 private:
  /// Puts the volume and its projections into x_ and p_, and this rank's parts of them.
  void reset() {
    if (settings_.alone) {
      auto const whole = phantom_.template on<T>(exec_);
      Kokkos::deep_copy(exec_, x_part_.data,
                        cases::part_of(whole.data, plan_.planes(ranks().rank())));
      ct::ranked_pair<Exec, T>(exec_, ranks(), plan_).forward(0, x_part_, p_part_);
      exec_.fence("iso_ranks_speed: the parts are there");
      return;
    }
    if (given_x_.data.size() == 0) {
      given_x_ = make_volume<T, space>(exec_, "given x", phantom_.box);
      given_p_ = make_projections<T, space>(exec_, "given p", scan_.num_views(), scan_.num_u(),
                                            scan_.num_v());
      Kokkos::deep_copy(exec_, given_x_.data, phantom_.template on<T>(exec_).data);
      ct::projector_pair<Exec, T>(exec_, scan_, phantom_.box, in_one_block(),
                                  {.sum = summation::reproducible})
          .forward(0, given_x_, given_p_);
    }
    Kokkos::deep_copy(exec_, x_.data, given_x_.data);
    Kokkos::deep_copy(exec_, p_.data, given_p_.data);
    take_parts();
  }
  ct::view_blocks in_one_block() const {
    return ct::split_views(settings_.views, settings_.views, ct::block_order::sequential);
  }
  void take_parts() {
    Kokkos::deep_copy(exec_, x_part_.data, whole_planes());
    Kokkos::deep_copy(exec_, p_part_.data, whole_rows());
    exec_.fence("iso_ranks_speed: the parts are there");
  }
  auto whole_planes() { return cases::part_of(x_.data, plan_.planes(ranks().rank())); }
  auto whole_rows() {
    ct::row_range const rows = plan_.rows(ranks().rank());
    return cases::part_of(p_.data, {rows.first, rows.last});
  }

  void row(std::string const& what, std::int64_t blocks, std::function<void()> const& one,
           std::function<void()> const& all, std::function<bool()> const& same) {
    rows_.row(what, one, all, same, bytes_by_table(what, plan_, blocks));
  }

  void pair(bool forward) {
    reset();
    ct::projector_options const options{.sum = summation::reproducible};
    std::optional<ct::projector_pair<Exec, T>> one;
    if (!settings_.alone) {
      one.emplace(exec_, scan_, phantom_.box, in_one_block(), options);
    }
    ct::ranked_pair<Exec, T> all(exec_, ranks(), plan_, options);
    if (forward) {
      rows_.spoil(p_part_.data);
      row(
          "forward", 1, one ? [&] { one->forward(0, x_, p_); } : std::function<void()>(),
          [&] { all.forward(0, x_part_, p_part_); },
          [&] { return rows_.agree(whole_rows(), p_part_.data); });
    } else {
      rows_.spoil(x_part_.data);
      row(
          "adjoint", 1, one ? [&] { one->adjoint(0, p_, x_); } : std::function<void()>(),
          [&] { all.adjoint(0, p_part_, x_part_); },
          [&] { return rows_.agree(whole_planes(), x_part_.data); });
    }
  }
  void fdk() {
    reset();
    std::optional<ct::fdk_reconstructor<Exec, T>> one;
    if (!settings_.alone) {
      one.emplace(exec_, scan_, phantom_.box);
    }
    ct::ranked_fdk<Exec, T> all(exec_, ranks(), plan_);
    rows_.spoil(x_part_.data);
    row(
        "fdk", 1, one ? [&] { one->apply(p_, x_); } : std::function<void()>(),
        [&] { all.apply(p_part_, x_part_); },
        [&] { return rows_.agree(whole_planes(), x_part_.data); });
  }
  template <class Method, class Options>
  void method(std::string const& what, Options options, std::int64_t blocks = 1) {
    reset();
    options.projector.sum = summation::reproducible;
    if (!settings_.alone) {
      Kokkos::deep_copy(exec_, x_.data, T(0));
    }
    Kokkos::deep_copy(exec_, x_part_.data, T(0));
    std::optional<Method> one;
    if (!settings_.alone) {
      one.emplace(exec_, scan_, p_, x_, options);
    }
    Method all(exec_, scan_, p_part_, x_part_, options, {}, {}, ct::ranked(exec_, ranks(), plan_));
    row(
        what, blocks, one ? [&] { one->step(); } : std::function<void()>(), [&] { all.step(); },
        [&] { return rows_.agree(whole_planes(), x_part_.data); });
  }

  counting_ranks& ranks() { return rows_.ranks(); }

  settings settings_;
  Exec exec_;
  rank_rows<Exec> rows_;
  cases::input_volume phantom_;
  ct::geometry scan_;
  ct::rank_plan plan_;
  volume given_x_;
  projections given_p_;
  volume x_;
  projections p_;
  volume x_part_;
  projections p_part_;
};

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("Ranks beside one memory", "iso_ranks_speed");
  app.add_option("--size", s.size, "voxels along a side, and pixels")->capture_default_str();
  app.add_option("--views", s.views, "a multiple of 4")->capture_default_str();
  app.add_option("--pitch", s.pitch, "of the detector, degrees")->capture_default_str();
  app.add_flag("--alone", s.alone, "time ranks by themselves");
  s.add_to(app, "what to time: also blocks_of_8");
  return iso::perf::run_ranks(app, argc, argv, s, [&]<class Exec>(Exec const&, auto& ranks) {
    iso::perf::json said = iso::perf::measurement<Exec>(s, ranks).run();
    said["size"] = s.size;
    said["views"] = s.views;
    said["pitch"] = s.pitch;
    return said;
  });
}
