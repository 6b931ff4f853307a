// SPDX-License-Identifier: BSD-3-Clause
//! Iterative reconstruction.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/iteration.hpp>
#include <iso/cases/scan_rows.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/ct/noise_of_counts.hpp>
#include <iso/ct/streamed.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iso::cases {
namespace {

/// One number.
template <class T>
struct noise_case {
  input_projections readings;
  ct::geometry scan;
  double photons;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const pixels = readings.on<T>(exec, scan);
    auto const with = *this;
    double const count = double(pixels.data.size());
    return {1,
            [=](Exec const& on, variant const&, T* out) {
              projection_view<T const, space> const b = pixels;
              put_at(on, out, std::vector<T>{T(ct::noise_of_counts<Exec, T>(on, b, with.photons))});
            },
            min_work{count * sizeof(T), 20 * count, arithmetic::fp64},
            [=](std::int64_t) {
              long double sum = 0;
              for (T const b : fetch(exec, pixels.data)) {
                sum += std::exp(static_cast<long double>(b));
              }
              return std::vector<double>{double(std::sqrt(sum / with.photons))};
            }};
  }
};

/// SIRT of readings and a volume in host memory that pass through the backend's.
template <class T>
struct streamed_sirt_case {
  sart_case<T> whole;
  ct::streaming_options limits;
  bool all_voxels = true;  ///< or some of them are looked at

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using host = Kokkos::HostSpace;
    using on_host = Kokkos::DefaultHostExecutionSpace;
    auto const pixels = whole.readings.template on<T>(exec, whole.scan);
    projection_view<T, host> const p{Kokkos::create_mirror_view_and_copy(host(), pixels.data)};
    auto result = whole.prepare(exec);
    sampled const some(all_voxels ? 1 : whole.volume.size());
    if (all_voxels) {
      result.least = {};
    } else {
      result.size = some.count();
      result.exact = [some, exact = result.exact](std::int64_t count) {
        return some.of(exact(count).data());
      };
    }
    result.run = [=, with = whole, through = ct::streamed(exec, limits), all = all_voxels](
                     Exec const& on, variant const&, T* out) {
      auto chosen = with.options;
      chosen.projector.sum = summation::reproducible;
      auto const x = make_volume<T, host>(on_host(), "iso::cases::streamed", with.volume);
      ct::sart<on_host, T> method(on_host(), with.scan, p, x, chosen, {}, {}, through);
      ct::iterate(method, {.iterations = with.steps});
      if (!all) {
        put_at(on, out, some.of(x.data.data()));
        return;
      }
      Kokkos::deep_copy(on, wrap_volume<typename Exec::memory_space>(out, with.volume).data,
                        x.data);
      on.fence("iso::cases: the volume may go");
    };
    return result;
  }
};

/// Returns the views of each block.
std::vector<std::vector<std::int64_t>> parts(std::int64_t views, std::int64_t size) {
  auto const blocks = ct::split_views(views, size == 0 ? views : size, ct::block_order::golden);
  std::vector<std::vector<std::int64_t>> all;
  for (std::int64_t b = 0; b < blocks.count(); ++b) {
    auto const begin = blocks.views.begin() + blocks.begins[std::size_t(b)];
    all.emplace_back(begin, begin + blocks.size(b));
  }
  return all;
}

/// The tilted scan of few pixels, which the plain loops of the answers go through often.
ct::geometry few_pixels() {
  auto views = small_tilted().views();
  for (auto& view : views) {
    view.u_step = 3.75 * view.u_step;
    view.v_step = 4.5 * view.v_step;
  }
  return {ct::beam::cone, 12, 11, std::move(views)};
}

/// Returns the phantom of a sweep's iterations.
answer truth_of(input_volume const& volume) {
  return [=](auto const&, auto const&) {
    auto const there = volume.template on<double>(Kokkos::DefaultHostExecutionSpace());
    return oracle::numbers(there.data.data(), there.data.data() + there.data.size());
  };
}

/// One iteration from zero with what comes before it; the error is the distance to the phantom.
/// \param numbers  of n^3 arrays that are held
template <class Make>
void add_sized_row(catalogue& all, scan_row const& row, shapes shape, double (*numbers)(double),
                   Make const& make) {
  add_scan_row(all, row, shape,
               {numbers, [](double n) { return 8 * n * n * n * n; },
                [](double n) { return 8 * n * n * n + 64 * n * n; }},
               make);
}

/// Adds that of an upright scan, and of a tilted one.
template <template <class> class Case, int Arrays, class Options>
void add_sized(catalogue& all, std::string_view name, std::string_view tilted,
               std::int64_t made_before, Options const& options) {
  auto const add = [&](scan_row const& row) {
    add_sized_row(
        all, row, shapes::any, [](double n) { return Arrays * n * n * n; },
        [=]<class T>(T, std::int64_t n, ct::geometry const& scan) {
          auto const volume = smooth_volume(n);
          return Case<T>{{{volume}, scan, volume.box, options, 1, made_before, truth_of(volume)}};
        });
  };
  add({name,
       "an iteration of that method, and what comes before the first, of as many views as voxels "
       "along a side",
       upright_scan});
  add({tilted, tilted_alike, tilted_scan});
}

/// Adds a few iterations of SIRT of few views in host memory, in slabs of 5, 5 and 2 planes.
void add_streamed_sirt(catalogue& all, input_projections const& readings, ct::geometry const& scan,
                       grid const& box, std::int64_t steps) {
  answer const by_all_views = [=, all_views = parts(scan.num_views(), 0)](auto const& a,
                                                                          auto const& b) {
    return oracle::exact_sart(a, b, all_views, 1, steps);
  };
  all.add<streamed_sirt_case>(
      {.name = "sirt_streamed_tilted",
       .functions = {"iso::ct::sart", "iso::ct::streamed_pair", "iso::ct::iterate"},
       .variants = {{}},
       .has_model = false},
      readings, scan, box, ct::sart_options{}, steps, std::int64_t(2), by_all_views,
      ct::streaming_options{.device_bytes = std::int64_t(1) << 28, .max_planes = 5});
}

/// Adds an iteration of SIRT, and what comes before the first, whose arrays lie in host memory.
void add_streamed_sirt(catalogue& all) {
  auto const add = [&](scan_row const& row) {
    add_sized_row(
        all, row, shapes::fixed, [](double n) { return 12 * n * n * n; },
        []<class T>(T, std::int64_t n, ct::geometry const& scan) {
          auto const volume = smooth_volume(n);
          return streamed_sirt_case<T>{{{{volume}, scan, volume.box, {}, 1, 2, truth_of(volume)}},
                                       {.device_bytes = streaming_limit<T>(n)},
                                       false};
        });
  };
  add({"sirt_streamed",
       "sirt with reproducible sums of arrays in host memory, through 4 GiB a 1024^3 floats",
       upright_scan});
  add({"sirt_streamed_tilted", tilted_alike, tilted_scan});
}

}  // namespace

void add_iterations(catalogue& all) {
  auto const scan = few_pixels();
  input_projections const readings{
      .bodies = {{.centre = {}, .half_axes = {25, 20, 30}, .density = 0.02},
                 {.centre = {8, 3, 5}, .half_axes = {9, 7, 8}, .density = 0.03}}};
  auto const box = grid::centred({11, 10, 12}, {6, 6.5, 7});
  std::int64_t const steps = 3;
  auto const text = [](std::string const& name, std::string const& method) {
    return operation_text{name,
                          {method, "iso::ct::iterate", "iso::ct::projector_pair",
                           "iso::ct::split_views", "iso::dot", "iso::sum_of"}};
  };
  auto const sart = [&](std::string const& name, ct::sart_options const& options) {
    answer const exact = [=, blocks = parts(scan.num_views(), options.block_views)](auto const& a,
                                                                                    auto const& b) {
      return oracle::exact_sart(a, b, blocks, options.relaxation, steps);
    };
    all.add<sart_case>(text(name, "iso::ct::sart"), readings, scan, box, options, steps,
                       std::int64_t(2), exact);
  };
  sart("sirt_tilted", {});
  sart("os_sart_tilted", {.block_views = 3, .relaxation = 0.7});
  sart("sart_tilted", {.block_views = 1, .relaxation = 0.5});
  add_streamed_sirt(all, readings, scan, box, steps);

  auto const mlem = [&](std::string const& name, ct::mlem_options const& options) {
    answer const exact = [=, blocks = parts(scan.num_views(), options.block_views)](auto const& a,
                                                                                    auto const& b) {
      return oracle::exact_osem(a, b, blocks, steps);
    };
    all.add<mlem_case>(text(name, "iso::ct::mlem"), readings, scan, box, options, steps,
                       std::int64_t(1), exact);
  };
  mlem("mlem_tilted", {});
  mlem("osem_tilted", {.block_views = 3});

  answer const least_squares = [=](auto const& a, auto const& b) {
    return oracle::exact_normal(a, b, 0, steps);
  };
  auto const by_axpby = [&](std::string const& name, std::string const& method) {
    auto it = text(name, method);
    it.functions.emplace_back("iso::axpby");
    return it;
  };
  all.add<cgls_case>(by_axpby("cgls_tilted", "iso::ct::cgls"), readings, scan, box,
                     ct::cgls_options{}, steps, std::int64_t(2), least_squares);
  double const damping = 30;
  answer const damped = [=](auto const& a, auto const& b) {
    return oracle::exact_normal(a, b, damping, steps);
  };
  all.add<lsqr_case>(by_axpby("lsqr_tilted", "iso::ct::lsqr"), readings, scan, box,
                     ct::lsqr_options{.damping = damping}, steps, std::int64_t(2), damped);
  ct::total_variation_options const tv{.weight = 20, .box = {-1, 1}};
  answer const varied = [=](auto const& a, auto const& b) {
    return oracle::exact_total_variation(a, b, tv.weight, tv.box.lower, tv.box.upper, steps);
  };
  all.add<total_variation_case>(text("total_variation_tilted", "iso::ct::total_variation"),
                                readings, scan, box, tv, steps, std::int64_t(3), varied);

  all.add<noise_case>({"noise_of_counts", {"iso::ct::noise_of_counts"}, {{}}}, readings, scan, 1e5);

  add_sized<sart_case, 8>(all, "sirt", "sirt_tilted", 2, ct::sart_options{});
  add_streamed_sirt(all);
  add_sized<sart_case, 8>(all, "sart", "sart_tilted", 2,
                          ct::sart_options{.block_views = 1, .columns = ct::column_sums::of_scan});
  add_sized<sart_case, 8>(all, "os_sart", "os_sart_tilted", 2,
                          ct::sart_options{.block_views = 8, .columns = ct::column_sums::of_scan});
  add_sized<cgls_case, 8>(all, "cgls", "cgls_tilted", 2, ct::cgls_options{});
  add_sized<lsqr_case, 9>(all, "lsqr", "lsqr_tilted", 2, ct::lsqr_options{});
  add_sized<mlem_case, 8>(all, "mlem", "mlem_tilted", 1, ct::mlem_options{});
  add_sized<mlem_case, 8>(all, "osem", "osem_tilted", 1, ct::mlem_options{.block_views = 8});
  add_sized<total_variation_case, 17>(all, "total_variation", "total_variation_tilted", 3,
                                      ct::total_variation_options{.weight = 1, .box = {0, 1}});
}

}  // namespace iso::cases
