// SPDX-License-Identifier: BSD-3-Clause
// Objects that were moved from: those that own what they change refuse every call, those that
// nothing changes stay whole. check_calls.py finds a public class, or a member of one, that is left
// out.
#include "calls.hpp"

#include <iso/backend/texture_volume.hpp>
#include <iso/core/error.hpp>
#include <iso/core/stage.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/dose/calculator.hpp>
#include <iso/dose/cones.hpp>
#include <iso/dose/convolution.hpp>
#include <iso/dose/density.hpp>
#include <iso/dose/kernel.hpp>
#include <iso/dose/spectrum.hpp>
#include <iso/dose/terma.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/structure.hpp>
#include <iso/gamma/gamma_index.hpp>
#include <iso/sparse/dose_matrix.hpp>
#include <iso/sparse/row_block_csr.hpp>

#include <numbers>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace calls;

iso::grid const small_cube = iso::grid::centred({8, 8, 8}, {1, 1, 1});

iso::ct::geometry small_scan() {
  return iso::ct::circular_cone({.num_u = 12, .num_v = 12}, 100, 120,
                                iso::ct::even_angles(8, 2 * std::numbers::pi));
}

auto readings() {
  exec_space const exec;
  auto const views = iso::make_projections<float, space>(exec, "views", 8, 12, 12);
  Kokkos::deep_copy(exec, views.data, 1.0F);
  return views;
}

iso::dose::beam small_field() {
  return {.gantry = 0.1, .fluence = iso::dose::fluence_map::rectangle(-40, 40, -40, 40)};
}

/// The call says by whom it was refused and why.
template <class Call>
void check_refused(std::string const& object, Call const& call) {
  try {
    call();
    FAIL_CHECK(object << ": a call was taken");
  } catch (iso::invalid_argument const& refused) {
    std::string const sentence = refused.what();
    CAPTURE(sentence);
    CHECK(sentence.rfind(object, 0) == 0);
    CHECK(sentence.find("moved from") != std::string::npos);
  }
}

/// Moves `whole` away, for good, and checks each call of what is left; then assigns anew.
template <class Object, class... Calls>
void check_owner(std::string const& object, Object whole, Calls const&... calls) {
  constexpr bool copies = std::is_copy_constructible_v<Object>;
  Object copy = [&]() -> Object {
    if constexpr (copies) {
      return whole;
    } else {
      return std::move(whole);
    }
  }();
  if constexpr (copies) {
    Object const other = std::move(whole);
  }
  (check_refused(object, [&] { calls(whole); }), ...);
  if constexpr (copies) {
    check_refused(object, [&] {
      Object again(whole);  // a copy of nothing is nothing
      (calls(again), ...);
    });
  }
  whole = std::move(copy);
  (calls(whole), ...);
  (check_refused(object, [&] { calls(copy); }), ...);
}

/// Moves `whole` away, for good; it and what it is assigned to are as before.
template <class Object, class Look>
void check_plan(Object whole, Look const& look) {
  static_assert(std::is_copy_constructible_v<Object>);
  auto const before = look(whole);
  {
    Object const other = std::move(whole);
  }
  bool stays = look(whole) == before;
  Object other = std::move(whole);
  other = std::move(whole);
  stays = stays && look(whole) == before && look(other) == before;
  CHECK(stays);
}

auto first_number = [](auto const& view) {
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return copy.size() == 0 ? 0.0 : double(copy.data()[0]);
};

template <class T>
Kokkos::View<T*, space> on_device(std::vector<T> const& numbers) {
  Kokkos::View<T*, space> const copy("numbers", numbers.size());
  Kokkos::deep_copy(copy, Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                              numbers.data(), numbers.size()));
  return copy;
}

}  // namespace

TEST_CASE("methods and pairs that were moved from refuse every call") {
  exec_space const exec;
  auto const scan = small_scan();
  auto const views = readings();
  auto const x = volume_of(small_cube, 0.5);
  auto const step = [](auto& method) { method.step(); };
  auto const visit = [](auto& method) { method.visit([](char const*, auto&) {}); };
  auto const streaming = [](auto& of) { return of.streaming(); };
  check_owner("iso::ct::sart", iso::ct::sart(exec, scan, views, x), step, visit, streaming);
  check_owner("iso::ct::cgls", iso::ct::cgls(exec, scan, views, x), step, visit, streaming);
  check_owner("iso::ct::lsqr", iso::ct::lsqr<exec_space, float>(exec, scan, views, x), step, visit,
              streaming);
  check_owner("iso::ct::mlem", iso::ct::mlem(exec, scan, views, x), step, visit, streaming);
  check_owner(
      "iso::ct::total_variation", iso::ct::total_variation(exec, scan, views, x, {.weight = 0.1}),
      step, visit, streaming, [](auto& tv) { return tv.box(); },
      [](auto& tv) { return tv.gradient_scale(); });
  check_owner(
      "iso::ct::projector_pair", iso::ct::projector_pair<exec_space, float>(exec, scan, small_cube),
      [&](auto& pair) { pair.forward(0, x, views); },
      [&](auto& pair) { pair.adjoint(0, views, x); },
      [&](auto& pair) { return pair.part(views, 0); }, [](auto& pair) { return pair.exec(); },
      [](auto& pair) { return pair.grid(); }, [](auto& pair) { return pair.blocks(); },
      [](auto& pair) { return pair.scan(); }, [](auto& pair) { return pair.scatters(); },
      [](auto& pair) { return pair.bytes_held(); }, streaming);
  check_owner(
      "iso::ct::fdk_reconstructor",
      iso::ct::fdk_reconstructor<exec_space, float>(exec, scan, small_cube),
      [&](auto& fdk) { fdk.apply(views, x); }, [](auto& fdk) { return fdk.plan(); },
      [](auto& fdk) { return fdk.grid(); }, [](auto& fdk) { return fdk.bytes_held(); });
  iso::ct::ray_sums<float, space> others(exec, iso::ct::stage(exec, scan), small_cube, {1, false});
  check_owner(
      "iso::ct::ray_sums",
      iso::ct::ray_sums<float, space>(exec, iso::ct::stage(exec, scan), small_cube, {1, false}),
      [&](auto& sums) { sums.add(exec, others); }, [&](auto& sums) { sums.add(exec, x, {0, 8}); },
      [&](auto& sums) { sums.finish(exec, views); }, [](auto& sums) { return sums.planes(); },
      [](auto& sums) { return sums.words(); }, [](auto& sums) { return sums.flags(); },
      [](auto& sums) { return sums.of_views(0, 1); }, [](auto& sums) { sums.count_added({}); });
  exec.fence();
}

TEST_CASE("a dose calculator and a dose matrix that were moved from refuse every call") {
  exec_space const exec;
  auto const patient = iso::grid::centred({6, 6, 6}, {20, 20, 20});
  auto const density = volume_of(patient, 1);
  auto const dose = volume_of(patient, 0);
  check_owner(
      "iso::dose::calculator",
      iso::dose::calculator<exec_space, float>(exec, patient, iso::dose::named_kernel("6mv"),
                                               iso::dose::named_spectrum("mohan_6mv")),
      [&](auto& doses) { doses.add(small_field(), density, dose); },
      [](auto& doses) { return doses.bytes_needed(small_field()); },
      [](auto& doses) { return doses.bytes_held(); },
      [](auto& doses) { return doses.num_directions(); },
      [](auto& doses) { return doses.num_kernels(); });
  exec.fence();
  // Sizes of no matrix are 0; products and reports refuse.
  std::vector<std::int64_t> const offsets{0, 1, 2};
  std::vector<std::int32_t> indices{0, 1};
  iso::sparse::dose_matrix matrix(
      exec, iso::sparse::csr_arrays(2, 2, offsets, indices, std::vector<float>{1, 1}));
  {
    auto const other = std::move(matrix);
  }
  CHECK(matrix.num_rows() == 0);
  CHECK(matrix.num_cols() == 0);
  CHECK(matrix.num_entries() == 0);
  CHECK(matrix.bytes() == 0);
  check_refused("iso::sparse::dose_matrix", [&] { return matrix.report(); });
  Kokkos::View<double*, space> const x("x", 2);
  Kokkos::View<double*, space> const y("y", 2);
  check_refused("iso::sparse::dose_matrix", [&] { matrix.apply(exec, x, y); });
  check_refused("iso::sparse::dose_matrix", [&] { matrix.apply(exec, 1, x, 0, y); });
  check_refused("iso::sparse::dose_matrix", [&] { matrix.apply_transposed(exec, x, y); });
  check_refused("iso::sparse::dose_matrix", [&] { matrix.apply_transposed(exec, 1, x, 0, y); });
}

TEST_CASE("a workspace that was moved from is empty and may be used again") {
  iso::workspace<space> work(1 << 20);
  {
    auto const other = std::move(work);
  }
  CHECK(work.size() == 0);
  CHECK(work.data() == nullptr);
  work.reserve(1 << 10);
  CHECK(work.size() == 1 << 10);
  Kokkos::deep_copy(Kokkos::View<std::byte*, space, Kokkos::MemoryUnmanaged>(work.data(), 1024),
                    std::byte(1));
  iso::workspace<space> next;
  next = std::move(work);
  CHECK(next.size() == 1 << 10);
  CHECK(work.size() == 0);
}

TEST_CASE("plans and staged numbers that were moved from stay whole") {
  exec_space const exec;
  auto const scan = small_scan();
  check_plan(iso::ct::fdk_plan<space>(exec, scan), [](auto const& plan) {
    return std::tuple(first_number(plan.taps()), first_number(plan.weights()),
                      first_number(plan.redundancy_weights()), plan.geometry().host().num_views(),
                      plan.num_u(), plan.before(), plan.bytes_held(), plan.odd_taps_only(),
                      plan.shares().overlaps, plan.shares().begins, plan.arc(), plan.detector(),
                      first_number(plan.subset(1, 2).weights()));
  });
  check_plan(iso::ct::staged_geometry<space>(exec, scan), [](auto const& staged) {
    auto const views = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), staged.views());
    return std::tuple(views(0).source.x, staged.host().num_views(),
                      staged.subset(1, 2).views().data());
  });
  auto const patient = iso::grid::centred({6, 6, 6}, {20, 20, 20});
  auto const region = iso::dose::region_around(small_field(), patient);
  check_plan(
      iso::dose::convolution_plan<float, space>(
          exec, region, small_field(), iso::dose::make_cones(iso::dose::named_kernel("6mv"))),
      [](auto const& plan) {
        return std::tuple(plan.num_directions(), plan.unit(), plan.is_table(), plan.region().size(),
                          plan.frame().source_distance, plan.options().ray_spacing,
                          plan.storage().lines.data(), plan.storage().lines.use_count() > 0);
      });
  check_plan(
      iso::dose::terma_plan<space>(exec, small_field(), iso::dose::named_spectrum("mohan_6mv")),
      [](auto const& plan) {
        return std::tuple(first_number(plan.curve()), first_number(plan.fluence()),
                          plan.field().gantry, plan.frame().source_distance);
      });
  check_plan(iso::dose::staged_density_table<space>(
                 exec, iso::dose::named_density_table("schneider_2000")),
             [](auto const& table) {
               return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), table.segments())(0)
                   .density;
             });
  iso::volume_view<float const, space> const dose = volume_of(small_cube, 1);
  check_plan(
      iso::gamma::gamma_plan<float, space>(exec, dose, dose, {{0.03, 2}}), [](auto const& plan) {
        return std::tuple(plan.reference_maximum(), plan.cut_off_dose(),
                          first_number(plan.reference().data), first_number(plan.evaluated().data),
                          plan.criteria().size(), plan.options().max_gamma, plan.search().ranges,
                          plan.search().num_offsets);
      });
  check_plan(iso::dvh::structure_plan({"square",
                                       {{{{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}}},
                                        {{{-2, -2, 1}, {2, -2, 1}, {2, 2, 1}, {-2, 2, 1}}}}}),
             [](auto const& plan) {
               return std::tuple(&plan.held(), iso::dvh::voxel_fractions(plan, small_cube)[220]);
             });
  check_plan(iso::dvh::histogrammer(exec, dose, iso::dvh::region(dose)), [](auto const& placed) {
    return std::tuple(placed.bytes_needed(small_cube, small_cube), placed.statistics().mean,
                      placed.volumes_at({0.5}), placed.doses_at({10}),
                      placed.evaluate({iso::dvh::quantity_named("D95")}),
                      placed.make_histogram().volume, placed.conformity(1));
  });
  Kokkos::View<float*, Kokkos::HostSpace> const numbers("numbers", 3);
  Kokkos::deep_copy(numbers, 2.0F);
  check_plan(iso::stage<iso::access::read_write>(exec, numbers), [](auto const& staged) {
    staged.commit();
    return first_number(staged.view());
  });
  std::vector<std::int64_t> const offsets{0, 1, 2};
  std::vector<std::int32_t> const columns{0, 1};
  std::vector<iso::half> const ones(2, iso::half(1.0));
  iso::sparse::csr_view<iso::half, std::int32_t, space> rows;
  rows.num_rows = rows.num_cols = 2;
  rows.row_offsets = on_device(offsets);
  rows.columns = on_device(columns);
  rows.values = on_device(ones);
  check_plan(
      iso::sparse::row_block_csr<iso::half, 4, space>(iso::sparse::make_row_blocks<4>(exec, rows)),
      [](auto const& blocks) {
        return std::tuple(blocks.num_rows(), blocks.num_cols(), blocks.num_entries(),
                          blocks.num_blocks(), blocks.num_chunks(),
                          first_number(blocks.chunk_offsets()), first_number(blocks.bases()),
                          first_number(blocks.offsets()), first_number(blocks.values()),
                          blocks.row_scales().size());
      });
#if ISO_HAS_CUDA
  Kokkos::Cuda const cuda;
  auto const volume = iso::make_volume<float, Kokkos::CudaSpace>(cuda, "volume", small_cube);
  check_plan(iso::backend::texture_volume(cuda, volume), [&](auto const& texture) {
    texture.update(cuda, volume);
    static_cast<void>(texture.planes(0));
    return texture.grid().size();
  });
#else
  static_assert(std::is_copy_constructible_v<iso::backend::texture_volume>);
#endif
}
