// SPDX-License-Identifier: BSD-3-Clause
//! Iterative reconstruction.
#include <iso/cases/catalogue.hpp>
#include <iso/cases/inputs.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/oracle/iterations.hpp>

#include <functional>
#include <vector>

namespace iso::cases {
namespace {

/// A few iterations of `Method` from the readings of a scan.
template <class T, template <class, class> class Method, class Options>
struct iteration_case {
  ct::geometry scan;
  grid volume;
  Options options;
  std::int64_t steps;
  std::function<oracle::numbers(oracle::linear_pair const&, oracle::numbers const&)> exact;

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const readings =
        input_projections{
            .bodies = {{.centre = {}, .half_axes = {25, 20, 30}, .density = 0.02},
                       {.centre = {8, 3, 5}, .half_axes = {9, 7, 8}, .density = 0.03}}}
            .on<T>(exec, scan);
    auto const with = *this;
    return {volume.size(),
            [=](Exec const& on, variant const&, T* out) {
              auto const x = wrap_volume<space>(out, with.volume);
              Kokkos::deep_copy(on, x.data, T(0));
              Method<Exec, T> method(on, with.scan, readings, x, with.options);
              ct::iterate(method, {.iterations = with.steps});
              on.fence("iso::cases: the method may go");
            },
            {},
            [=](std::int64_t) {
              auto const host = fetch(exec, readings.data);
              return with.exact({with.scan, with.volume}, {host.begin(), host.end()});
            }};
  }
};

template <class T>
struct sart_case : iteration_case<T, ct::sart, ct::sart_options> {};
template <class T>
struct cgls_case : iteration_case<T, ct::cgls, ct::cgls_options> {};
template <class T>
struct lsqr_case : iteration_case<T, ct::lsqr, ct::lsqr_options> {};
template <class T>
struct mlem_case : iteration_case<T, ct::mlem, ct::mlem_options> {};
template <class T>
struct total_variation_case : iteration_case<T, ct::total_variation, ct::total_variation_options> {
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

}  // namespace

void add_iterations(catalogue& all) {
  using answer = std::function<oracle::numbers(oracle::linear_pair const&, oracle::numbers const&)>;
  auto const scan = small_tilted();
  auto const box = grid::centred({11, 10, 12}, {6, 6.5, 7});
  std::int64_t const steps = 3;
  auto const text = [](std::string const& name, std::string const& method) {
    return operation_text{name,
                          {method, "iso::ct::iterate", "iso::ct::projector_pair",
                           "iso::ct::split_views", "iso::dot", "iso::sum_of"},
                          {{}}};
  };
  auto const sart = [&](std::string const& name, ct::sart_options const& options) {
    answer const exact = [=, blocks = parts(scan.num_views(), options.block_views)](auto const& a,
                                                                                    auto const& b) {
      return oracle::exact_sart(a, b, blocks, options.relaxation, steps);
    };
    all.add<sart_case>(text(name, "iso::ct::sart"), scan, box, options, steps, exact);
  };
  sart("sirt_tilted", {});
  sart("os_sart_tilted", {.block_views = 3, .relaxation = 0.7});
  sart("sart_tilted", {.block_views = 1, .relaxation = 0.5});

  auto const mlem = [&](std::string const& name, ct::mlem_options const& options) {
    answer const exact = [=, blocks = parts(scan.num_views(), options.block_views)](auto const& a,
                                                                                    auto const& b) {
      return oracle::exact_osem(a, b, blocks, steps);
    };
    all.add<mlem_case>(text(name, "iso::ct::mlem"), scan, box, options, steps, exact);
  };
  mlem("mlem_tilted", {});
  mlem("osem_tilted", {.block_views = 3});

  answer const least_squares = [=](auto const& a, auto const& b) {
    return oracle::exact_normal(a, b, 0, steps);
  };
  all.add<cgls_case>(text("cgls_tilted", "iso::ct::cgls"), scan, box, ct::cgls_options{}, steps,
                     least_squares);
  double const damping = 30;
  answer const damped = [=](auto const& a, auto const& b) {
    return oracle::exact_normal(a, b, damping, steps);
  };
  all.add<lsqr_case>(text("lsqr_tilted", "iso::ct::lsqr"), scan, box,
                     ct::lsqr_options{.damping = damping}, steps, damped);
  ct::total_variation_options const tv{.weight = 20, .box = {-1, 1}};
  answer const varied = [=](auto const& a, auto const& b) {
    return oracle::exact_total_variation(a, b, tv.weight, tv.box.lower, tv.box.upper, steps);
  };
  all.add<total_variation_case>(text("total_variation_tilted", "iso::ct::total_variation"), scan,
                                box, tv, steps, varied);
}

}  // namespace iso::cases
