// SPDX-License-Identifier: BSD-3-Clause
// A volume and a stack of more than 2^31 numbers: written and read by blocks, projected and
// back-projected on the host, and streamed; every number is looked at.
#include "file_support.hpp"
#include "not_run.hpp"

#include <iso/core/detail/host_memory.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/stored_readings.hpp>
#include <iso/ct/streamed_pair.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/volume_view.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace files = iso::files;
namespace fs = std::filesystem;
using exec_space = Kokkos::DefaultHostExecutionSpace;
using space = exec_space::memory_space;

namespace {

constexpr std::int64_t n = 1300;
static_assert(n * n * n > std::int64_t(1) << 31);

/// A whole number for each place, exact as a float; neighbours, and places 2^31 or 2^32 apart, have
/// different ones.
KOKKOS_FUNCTION float number_at(std::int64_t i) { return float(i % 9973 + i / n % 1009); }

/// Returns whether memory holds one array and the disk one file of such; says so where they do not.
/// \param beside  bytes beside the array
bool has_room(std::uint64_t beside = std::uint64_t(1) << 30) {
  auto const bytes = std::uint64_t(n * n * n) * sizeof(float) + beside;
  std::error_code unknown;
  auto const disk = fs::space(fs::temp_directory_path(), unknown).available;
  auto const memory = iso::detail::read_host_memory().available;
  if (memory < bytes || disk < bytes) {
    iso::test::not_run("an array of more than 2^31 numbers (" + std::to_string(memory) +
                       " bytes of memory and " + std::to_string(disk) +
                       " of disk are free); free " + std::to_string(bytes) + " of each");
    return false;
  }
  return true;
}

template <class F>
void fill(exec_space const& exec, float* values, F const& f) {
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<exec_space, Kokkos::IndexType<std::int64_t>>(exec, 0, n * n * n),
      [=](std::int64_t i) { values[i] = f(i); });
  exec.fence("fill");
}

/// Counts the numbers that are not f of their place.
template <class F>
std::int64_t count_others(exec_space const& exec, float const* values, F const& f) {
  std::int64_t others = 0;
  Kokkos::parallel_reduce(
      "count", Kokkos::RangePolicy<exec_space, Kokkos::IndexType<std::int64_t>>(exec, 0, n * n * n),
      [=](std::int64_t i, std::int64_t& sum) { sum += values[i] != f(i) ? 1 : 0; }, others);
  return others;
}

constexpr auto numbers = [](std::int64_t i) { return number_at(i); };
constexpr auto zeros = [](std::int64_t) { return 0.0F; };

/// Rays along x through the middles of all voxels of a cube, in so many equal views.
iso::ct::geometry along_x(std::int64_t views) {
  return iso::ct::circular_parallel({n, n, 1, 1}, std::vector<double>(std::size_t(views), 0.0));
}

}  // namespace

TEST_CASE("a volume of more than 2^31 voxels is written, read, projected and back-projected") {
  if (!has_room()) {
    return;
  }
  iso::test::scratch_folder const folder;
  exec_space const exec;
  auto const volume =
      iso::make_volume<float, space>(exec, "huge volume", iso::grid::centred({n, n, n}, {1, 1, 1}));
  float* const voxels = volume.data.data();
  auto of = files::make_host_volume(volume.grid);
  for (auto const* name : {"v.mha", "v.nrrd"}) {
    CAPTURE(name);
    fill(exec, voxels, numbers);
    files::prepare_voxels(folder / name, of, {voxels, std::size_t(n * n * n)}).commit();
    CHECK(fs::file_size(folder / name) > std::uintmax_t(n * n * n) * sizeof(float));
    fill(exec, voxels, zeros);
    files::read_voxels(folder / name, {voxels, std::size_t(n * n * n)});
    CHECK(count_others(exec, voxels, numbers) == 0);
    fs::remove(folder / name);
  }

  // A ray along x adds the first and the last plane across x, which lie at both ends of the array.
  auto const g = along_x(1);
  auto const image = iso::make_projections<float, space>(exec, "image", 1, n, n);
  float* const pixels = image.data.data();
  auto const ends = [](std::int64_t i) {
    return i < n * n || i >= (n - 1) * n * n ? number_at(i) : 0.0F;
  };
  fill(exec, voxels, ends);
  iso::workspace<space> const work(
      std::max(iso::ct::forward_project_bytes_needed<float>(exec, g, volume.grid),
               iso::ct::back_project_bytes_needed<float>(exec, g, volume.grid)));
  iso::ct::forward_project<exec_space, float>(exec, iso::ct::stage(exec, g), volume, image, work);
  exec.fence("projected");
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < n * n; ++i) {
    others += pixels[i] != number_at(i) + number_at((n - 1) * n * n + i) ? 1 : 0;
  }
  CHECK(others == 0);

  // And gives each of its voxels its reading.
  for (std::int64_t i = 0; i < n * n; ++i) {
    pixels[i] = number_at(i);
  }
  iso::ct::back_project<exec_space, float>(exec, iso::ct::stage(exec, g), image, volume, work);
  exec.fence("back-projected");
  CHECK(count_others(exec, voxels, [](std::int64_t i) { return number_at(i % (n * n)); }) == 0);
}

TEST_CASE("a stack of more than 2^31 readings is written, read, projected and back-projected") {
  if (!has_room()) {
    return;
  }
  iso::test::scratch_folder const folder;
  exec_space const exec;
  auto const stack = iso::make_projections<float, space>(exec, "huge stack", n, n, n);
  float* const readings = stack.data.data();
  std::span<float> const all(readings, std::size_t(n * n * n));
  fill(exec, readings, numbers);
  files::prepare_readings<float>(folder / "p.h5", {{n, n, n}, {}, "1", "{}"}, all).commit();
  fill(exec, readings, zeros);
  files::read_readings<float>(folder / "p.h5", all);
  CHECK(count_others(exec, readings, numbers) == 0);
  fs::remove(folder / "p.h5");
  files::prepare_projection_image<float>(folder / "p.mha", std::span<float const>(all), {n, n, n},
                                         {1, 1})
      .commit();
  // u lies along x of the image, v along y, the views along z.
  files::read_voxels(folder / "p.mha", all);
  CHECK(count_others(exec, readings, [](std::int64_t i) {
          std::int64_t const u = i / (n * n), v = i / n % n, view = i % n;
          return number_at((view * n + u) * n + v);
        }) == 0);
  fs::remove(folder / "p.mha");

  auto const volume = iso::make_volume<float, space>(exec, "small volume",
                                                     iso::grid::centred({4, 6, 8}, {1, 1, 1}));
  for (std::int64_t i = 0; i < volume.grid.size(); ++i) {
    volume.data.data()[i] = number_at(i + 1);
  }
  auto const g = along_x(n);
  auto const last = g.subset(n - 1, 1);
  iso::workspace<space> const work(
      std::max(iso::ct::forward_project_bytes_needed<float>(exec, g, volume.grid),
               iso::ct::back_project_bytes_needed<float>(exec, g, volume.grid)));
  auto const staged = iso::ct::stage(exec, g);
  iso::ct::forward_project<exec_space, float>(exec, staged, volume, stack, work);
  exec.fence("projected");
  CHECK(readings[n * n / 2 + n / 2] > 0);
  CHECK(count_others(exec, readings, [=](std::int64_t i) { return readings[i % (n * n)]; }) == 0);

  // Only the last view is not zero: it alone is what the volume gets.
  fill(exec, readings, [](std::int64_t i) { return i < (n - 1) * n * n ? 0 : number_at(i); });
  iso::ct::back_project<exec_space, float>(exec, staged, stack, volume, work);
  auto const alone = iso::make_volume<float, space>(exec, "of one view", volume.grid);
  auto const image = iso::wrap_projections<space>(readings + (n - 1) * n * n, 1, n, n);
  iso::ct::back_project<exec_space, float>(exec, iso::ct::stage(exec, last), image, alone, work);
  exec.fence("back-projected");
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < volume.grid.size(); ++i) {
    others += volume.data.data()[i] != alone.data.data()[i] ? 1 : 0;
  }
  CHECK(others == 0);
  CHECK(alone.data.data()[0] > 0);
}

namespace {

/// What streams all views of a scan through 1.5 GiB.
iso::ct::streamed_pair<exec_space, float> streamed(exec_space const& exec,
                                                   iso::ct::geometry const& g,
                                                   iso::grid const& volume,
                                                   bool stored_readings = false) {
  auto const views = g.num_views();
  return {exec,
          g,
          volume,
          iso::ct::split_views(views, views, iso::ct::block_order::sequential),
          {.sum = iso::summation::reproducible},
          {.device_bytes = std::int64_t(3) << 29, .stored_readings = stored_readings}};
}

/// Returns the adjoint of one view along x whose reading at (u, v) is f(u, v).
template <class F>
auto adjoint_of_one(exec_space const& exec, iso::grid const& volume, F const& f) {
  auto const g = along_x(1);
  auto const image = iso::make_projections<float, space>(exec, "one image", 1, n, n);
  for (std::int64_t i = 0; i < n * n; ++i) {
    image.data.data()[i] = f(i / n, i % n);
  }
  auto const sums = iso::make_volume<float, space>(exec, "of one image", volume);
  iso::workspace<space> const work(iso::ct::back_project_bytes_needed<float>(exec, g, volume));
  iso::ct::back_project<exec_space, float>(exec, iso::ct::stage(exec, g), image, sums, work);
  exec.fence("back-projected");
  return sums;
}

}  // namespace

TEST_CASE("a volume of more than 2^31 voxels is streamed: both ends of a ray, and every voxel") {
  if (!has_room(std::uint64_t(3) << 30)) {
    return;
  }
  exec_space const exec;
  auto const box = iso::grid::centred({n, n, n}, {1, 1, 1});
  auto const g = along_x(1);
  auto const volume = iso::make_volume<float, space>(exec, "huge volume", box);
  float* const voxels = volume.data.data();
  auto const image = iso::make_projections<float, space>(exec, "image", 1, n, n);
  float* const pixels = image.data.data();
  fill(exec, voxels,
       [](std::int64_t i) { return i < n * n || i >= (n - 1) * n * n ? number_at(i) : 0.0F; });
  auto pair = streamed(exec, g, box);
  CHECK(pair.report().adjoint.planes < n);
  pair.forward(0, volume, image);
  CHECK(pair.report().bytes_in >= n * n * n * std::int64_t(sizeof(float)));
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < n * n; ++i) {
    others += pixels[i] != number_at(i) + number_at((n - 1) * n * n + i) ? 1 : 0;
  }
  CHECK(others == 0);
  for (std::int64_t i = 0; i < n * n; ++i) {
    pixels[i] = number_at(i);
  }
  pair.adjoint(0, image, volume);
  CHECK(count_others(exec, voxels, [](std::int64_t i) { return number_at(i % (n * n)); }) == 0);
}

TEST_CASE("a stack of more than 2^31 integers of 16 bits is streamed") {
  if (!has_room()) {
    return;
  }
  exec_space const exec;
  auto const g = along_x(n);
  Kokkos::View<std::uint16_t***, Kokkos::LayoutRight, space> const integers("huge stack", n, n, n);
  // Of all views the first and the last read anything, at both ends of the array.
  auto const integer = [](std::int64_t i) { return std::uint16_t(i % 60013); };
  for (std::int64_t i = 0; i < n * n; ++i) {
    integers.data()[i] = integer(i);
    integers.data()[(n - 1) * n * n + i] = integer((n - 1) * n * n + i);
  }
  auto const small = iso::grid::centred({4, 6, 8}, {1, 1, 1});
  auto const sums = iso::make_volume<float, space>(exec, "small volume", small);
  auto pair = streamed(exec, g, small, true);
  pair.adjoint(0, {integers, 0.25, 0}, sums);
  CHECK(pair.report().bytes_in >= 2 * n * n * n);
  auto const expected = adjoint_of_one(exec, small, [&](std::int64_t u, std::int64_t v) {
    std::int64_t const i = u * n + v;
    return 0.25F * (float(integer(i)) + float(integer((n - 1) * n * n + i)));
  });
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < small.size(); ++i) {
    others += sums.data.data()[i] != expected.data.data()[i] ? 1 : 0;
  }
  CHECK(others == 0);
  CHECK(sums.data.data()[0] > 0);
}

TEST_CASE("a stack of more than 2^31 readings comes out of a stream") {
  if (!has_room(std::uint64_t(3) << 30)) {
    return;
  }
  exec_space const exec;
  auto const small = iso::grid::centred({4, 6, 8}, {1, 1, 1});
  auto const volume = iso::make_volume<float, space>(exec, "small volume", small);
  for (std::int64_t i = 0; i < small.size(); ++i) {
    volume.data.data()[i] = number_at(i + 1);
  }
  auto const stack = iso::make_projections<float, space>(exec, "huge stack", n, n, n);
  float* const readings = stack.data.data();
  streamed(exec, along_x(n), small).forward(0, volume, stack);
  auto const image = iso::make_projections<float, space>(exec, "image", 1, n, n);
  streamed(exec, along_x(1), small).forward(0, volume, image);
  float const* const pixels = image.data.data();
  CHECK(pixels[n * n / 2 + n / 2] > 0);
  CHECK(count_others(exec, readings, [=](std::int64_t i) { return pixels[i % (n * n)]; }) == 0);
}
