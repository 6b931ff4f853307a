// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"
#include "kokkos_events.hpp"

#include <iso/files/geometry_file.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/device_lock.hpp>
#include <iso/jobs/dvh.hpp>
#include <iso/jobs/gamma.hpp>
#include <iso/jobs/info.hpp>
#include <iso/jobs/matrix_product.hpp>
#include <iso/jobs/project.hpp>
#include <iso/jobs/ranks.hpp>
#include <iso/jobs/verify.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

namespace files = iso::files;
namespace jobs = iso::jobs;

namespace {

jobs::project_request phantom_request(std::string const& backend) {
  jobs::project_request request;
  request.backend = backend;
  request.phantom_size = 24;
  request.geometry = files::parse_geometry(
      R"({"type": "circular_cone", "detector": {"pixels": [20, 16], "pitch_mm": [24, 24]},
          "source_axis_mm": 1000, "source_detector_mm": 1536,
          "angles_deg": {"range": 360, "count": 6}})",
      "test");
  return request;
}

}  // namespace

TEST_CASE("a GPU is one process' until that ends; another GPU is another matter") {
  iso::test::scratch_folder const folder;
  auto const refused = [&](std::string const& device) {
    try {
      jobs::device_lock const lock(folder.path(), device);
    } catch (iso::invalid_argument const& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  {
    jobs::device_lock const first(folder.path(), "0:27:0");
    CHECK(iso::test::names(refused("0:27:0"), {"0:27:0", "another process", "--backend"}));
    CHECK(refused("0:155:0").empty());
  }
  CHECK(refused("0:27:0").empty());
}

TEST_CASE("one voxel of a file lands on its own pixel") {
  iso::test::scratch_folder const folder;
  // Voxel (x, y, z) = (1, 2, 3) of 5 x 5 x 5 is 1, the others 0: a file with x fastest.
  std::vector<float> voxels(125, 0.0F);
  voxels[1 + 5 * (2 + 5 * 3)] = 1;
  iso::test::put(folder / "v.mha",
                 "NDims = 3\nDimSize = 5 5 5\nElementSpacing = 1 1 1\nOffset = -2 -2 -2\n"
                 "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n" +
                     iso::test::bytes_of(voxels));
  for (auto const& backend : jobs::backend_names()) {
    for (auto const& [method, name] : words(iso::ct::projector{})) {
      CAPTURE(backend);
      CAPTURE(name);
      jobs::project_request request;
      request.backend = backend;
      request.method = method;
      request.volume = files::read_volume(folder / "v.mha");
      // At 0 degrees rays run along -x, u along +y, v along +z: y = 2 and z = 3 are u = 2 and v
      // = 3. At 90 degrees u runs along -x: x = 1 is u = 3.
      request.geometry = files::parse_geometry(
          R"({"type": "circular_parallel", "detector": {"pixels": [5, 5], "pitch_mm": [1, 1]},
              "angles_deg": [0, 90]})",
          "test");
      auto const result = jobs::project(request, {});
      auto const& values = std::get<std::vector<float>>(result.values);
      REQUIRE(values.size() == 50);
      for (std::size_t i = 0; i < 50; ++i) {
        bool const hit = i == 2 * 5 + 3 || i == 25 + 3 * 5 + 3;
        CAPTURE(i);
        CHECK(values[i] == doctest::Approx(hit ? 1 : 0).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("projections have the same hash on every backend") {
  std::string first;
  for (auto const& backend : jobs::backend_names()) {
    auto const result = jobs::project(phantom_request(backend), {});
    first = first.empty() ? result.hash : first;
    CHECK(result.hash == first);
    CHECK(result.extent == std::array<std::int64_t, 3>{6, 20, 16});
  }
}

TEST_CASE("too much memory is a typed error with both figures, and the next call works") {
  auto request = phantom_request(jobs::backend_names().back());
  request.phantom_size = 8192;
  try {
    jobs::project(request, {});
    FAIL("2 TB were allocated");
  } catch (iso::out_of_memory const& failure) {
    CHECK(failure.requested() > std::uint64_t(1) << 41);
    CHECK(failure.available() > 0);
    CHECK(failure.available() < failure.requested());
  }
  request.phantom_size = 8;
  CHECK_NOTHROW(jobs::project(request, {}));
}

TEST_CASE("a job stops where it is asked to, and tells how far it is") {
  auto const request = phantom_request("serial");
  jobs::observer watch;
  double last = -1;
  watch.progress = [&](double fraction, std::string const&) {
    CHECK(fraction >= last);
    last = fraction;
  };
  jobs::project(request, watch);
  CHECK(last == 1);
  watch.progress = nullptr;
  watch.cancelled = [] { return true; };
  CHECK_THROWS_AS(jobs::project(request, watch), iso::cancelled);
}

TEST_CASE("a structure beside the doses is refused before any other is evaluated") {
  auto const square = [](std::string const& name, double x, double z) {
    files::rt_structure s;
    s.name = name;
    s.contours = {{{{x, -4, z}, {x + 8, -4, z}, {x + 8, 4, z}, {x, 4, z}}}};
    s.contours.push_back(s.contours.front());
    for (auto& point : s.contours.back().points) {
      point.z += 2;
    }
    return s;
  };
  jobs::dvh_request request;
  request.backend = "serial";
  request.structures = {square("near", -4, 0), square("far", 96, 0)};
  request.doses.push_back({{8, 8, 8}, {2, 2, 2}, {-7, -7, -7}, std::vector<float>(512, 1.0F)});
  jobs::observer watch;
  watch.progress = [](double, std::string const& what) { CHECK(what == "preparing"); };
  CHECK_THROWS_WITH_AS(jobs::evaluate_structures(request, watch),
                       doctest::Contains("'far' goes from 96 to 104 mm"), iso::invalid_argument);
}

TEST_CASE("all members of a row of matrix bench are described") {
  using namespace iso::detail;
  CHECK(count_described<jobs::bench_row>() == count_members<jobs::bench_row>());
}

TEST_CASE("records that agree on what is no number do not pass") {
  jobs::record good;
  good.error = 1e-7;
  jobs::record without;
  CHECK(jobs::judge({good, without}, 2) == std::optional(true));
  CHECK(jobs::judge({good, without}, 1) == std::nullopt);
  for (double const error :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto bad = good;
    bad.error = error;
    CHECK(jobs::judge({good, bad}, 2) == std::optional(false));
    CHECK(jobs::judge({bad}, 1) == std::optional(false));
  }
}

TEST_CASE("unknown names are refused with the choices") {
  CHECK_THROWS_WITH_AS(jobs::choose_backends("tpu"), doctest::Contains("serial"),
                       iso::invalid_argument);
  auto request = phantom_request("serial");
  request.precision = iso::precision(2);
  CHECK_THROWS_WITH_AS(jobs::project(request, {}), doctest::Contains("double"),
                       iso::invalid_argument);
}

TEST_CASE("every backend of the host has the same ceilings of its memory") {
  auto const machine = jobs::info(jobs::backend_names(), jobs::ceilings_wanted::yes, {});
  for (std::string const name : {"read", "copy", "triad"}) {
    CAPTURE(name);
    double first = 0;
    for (auto const& one : machine) {
      if (one.backend == "cuda") {
        continue;
      }
      for (auto const& ceiling : one.ceilings) {
        if (ceiling.name == name) {
          first = first == 0 ? std::get<double>(ceiling.value) : first;
          CHECK(std::get<double>(ceiling.value) == first);
        }
      }
    }
    CHECK(first > 0);
  }
}

TEST_CASE("info names a processor for every backend") {
  auto const machine = jobs::info(jobs::backend_names(), jobs::ceilings_wanted::no, {});
  REQUIRE(machine.size() == jobs::backend_names().size());
  for (auto const& one : machine) {
    CHECK_FALSE(one.facts.empty());
    CHECK(one.ceilings.empty());
  }
}

TEST_CASE("each process of a node computes on the GPU of its number, and none shares one") {
  jobs::devices_seen const four{4, std::nullopt};
  CHECK(jobs::choose_device(1, 4, four) == 1);
  CHECK(!jobs::choose_device({}, 1, four));
  CHECK(!jobs::choose_device(3, 4, {1, "2"}));  // its launcher lets it see its own alone
  CHECK(!jobs::choose_device(3, 4, {0, std::nullopt}));
  CHECK(jobs::choose_device(3, 4, {2, std::nullopt}, true) == 1);
  CHECK(!jobs::choose_device(3, 4, {0, ""}));  // a build for processors
  auto const refused = [](std::optional<int> local_rank, jobs::devices_seen const& seen) {
    try {
      jobs::choose_device(local_rank, 4, seen);
    } catch (iso::invalid_argument const& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  CHECK(iso::test::names(refused(2, {2, std::nullopt}),
                         {"process 2", "there are 2", "at most 2", "--share-gpus"}));
  CHECK(iso::test::names(refused({}, {2, std::nullopt}),
                         {"4 processes share 2 GPUs", "CUDA_VISIBLE_DEVICES"}));
  CHECK(iso::test::names(refused(1, {0, "", true}),
                         {"CUDA_VISIBLE_DEVICES is empty", "for each of 4 processes"}));
}

TEST_CASE("two ranks of one GPU are found by its number") {
  CHECK(jobs::find_same({3, 5, 4}) == std::pair(-1, -1));
  CHECK(jobs::find_same({3, 5, 4, 5}) == std::pair(1, 3));
  CHECK(jobs::find_same({0, 0}) == std::pair(-1, -1));  // ranks without a GPU
}

TEST_CASE("ranks of one memory must fit it together") {
  using need = jobs::rank_need;
  CHECK(jobs::find_lacking({need{1, 60, 100}, need{2, 60, 100}}).rank == -1);
  auto const shared = jobs::find_lacking({need{1, 60, 100}, need{2, 60, 100}, need{2, 50, 90}});
  CHECK(shared.rank == 1);
  CHECK(shared.bytes == 110);
  CHECK(shared.free == 90);
  CHECK(jobs::find_lacking({need{1, 100, 100}}).rank == -1);
  CHECK(jobs::find_lacking({need{1, 101, 100}}).rank == 0);
  CHECK(jobs::find_lacking({need{1, 101, 0}}).rank == -1);  // nobody says what is free
}

TEST_CASE("a limit of one process is for its own bytes") {
  using need = jobs::rank_need;
  // Each fits its own limit, and both fit the machine.
  CHECK(jobs::find_lacking({need{1, 60, 200, 70}, need{1, 60, 200, 70}}).rank == -1);
  auto const limited = jobs::find_lacking({need{1, 60, 200, 0}, need{1, 60, 200, 50}});
  CHECK(limited.rank == 1);
  CHECK(limited.alone);
  CHECK(limited.bytes == 60);
  CHECK(limited.free == 50);
  auto const both = jobs::find_lacking({need{1, 60, 100, 70}, need{1, 60, 100, 70}});
  CHECK(both.rank == 0);
  CHECK(!both.alone);
  CHECK(both.bytes == 120);
}

TEST_CASE("a structure's shares of the voxels of slices, whatever lies beyond") {
  files::host_volume const patient{{8, 8, 8}, {1, 1, 1}, {0.5, 0.5, 0.5}, {}};
  auto across_z = patient;
  across_z.extent[2] = 1;
  across_z.origin[2] = 2.5;
  auto across_y = patient;
  across_y.extent[1] = 1;
  auto const square = [](double low, double z) {
    return iso::dvh::contour{{{low, 1, z}, {4, 1, z}, {4, 9, z}, {low, 9, z}}};
  };
  files::rt_structure s;
  s.name = "Box";
  s.contours = {square(0.5, 1), square(0.5, 3)};  // with its caps from z = 0 to 4
  auto const shares = jobs::structure_shares(s, patient, {across_z, across_y});
  REQUIRE(shares.size() == 2);
  CHECK(shares[0][0 * 8 + 2] == doctest::Approx(0.5));
  CHECK(shares[0][1 * 8 + 7] == 1);
  CHECK(shares[0][1 * 8 + 0] == 0);
  CHECK(shares[0][4 * 8 + 2] == 0);
  CHECK(*std::max_element(shares[1].begin(), shares[1].end()) == 0);
  // One plane is as thick as a voxel.
  s.contours = {square(1, 2.5)};
  CHECK(jobs::structure_shares(s, patient, {across_z})[0][1 * 8 + 2] == 1);
  for (auto& point : s.contours[0].points) {
    point.x += 100;
  }
  CHECK_THROWS_WITH_AS(jobs::structure_shares(s, patient, {across_z}),
                       doctest::Contains("do not overlap"), iso::invalid_argument);
}

namespace {

/// Checks that a job takes the bytes that it returns, and no tenth less.
template <class Job>
void check_bytes(Job const& job) {
  std::int64_t asked = 0;
  std::int64_t const taken = iso::test::peak_bytes_of([&] { asked = job(); });
  CHECK(taken <= 1.02 * double(asked));
  CHECK(double(asked) <= 1.1 * double(taken));
}

/// Returns the least bytes of a backend's memory that a request's doses may pass through.
template <class Request, class Run>
std::int64_t smallest_limit(Request& request, Run const& run) {
  request.memory = 1;
  try {
    run();
  } catch (iso::out_of_memory const& refusal) {
    return std::int64_t(refusal.requested());
  }
  FAIL("a limit of one byte was taken");
  return 0;
}

}  // namespace

TEST_CASE("doses that pass through a limit take the memory that they say, and no tenth less") {
  jobs::gamma_request request;
  request.backend = "serial";
  std::vector<float> dose(std::size_t(20 * 24 * 40));
  for (std::size_t at = 0; at < dose.size(); ++at) {
    dose[at] = float(40 + at % 61);
  }
  request.reference = {{20, 24, 40}, {2, 2, 2}, {0, 0, 0}, dose, "Gy"};
  request.evaluated = request.reference;
  request.evaluated.origin[2] = 0.5;
  for (auto const& criteria : {std::vector<iso::gamma::criterion>{{0.03, 3}},
                               std::vector<iso::gamma::criterion>{{0.03, 2}, {0.01, 1}}}) {
    request.criteria = criteria;
    auto const run = [&] { return jobs::compare_doses(request, {}); };
    std::int64_t const least = smallest_limit(request, run);
    request.memory = least;
    run();  // Kokkos keeps what it takes for reductions
    for (std::int64_t const limit : {least, 2 * least}) {
      CAPTURE(limit);
      request.memory = limit;
      check_bytes([&] {
        auto const streamed = run().streamed.value();
        CHECK(streamed.planes < 40);
        CHECK(streamed.device_bytes <= limit);
        return streamed.device_bytes;
      });
    }
  }
}

TEST_CASE("histograms take the memory that they ask for, and no tenth less") {
  jobs::dvh_request request;
  request.backend = "serial";
  files::rt_structure cuboid;
  cuboid.name = "cuboid";
  for (double const z : {-8.0, 0.0, 8.0}) {
    cuboid.contours.push_back({{{-11, -9, z}, {10, -9, z}, {10, 9, z}, {-11, 9, z}}});
  }
  request.structures = {cuboid};
  for (double const spacing : {2.0, 5.0}) {
    for (auto const* const quantity : {"D95", "CI40Gy"}) {
      for (auto const surface : {iso::dvh::extremes::surface, iso::dvh::extremes::whole_voxels}) {
        for (std::int64_t const bins : {0, 1000}) {
          CAPTURE(spacing);
          CAPTURE(quantity);
          CAPTURE(bins);
          auto const n = std::int64_t(60 / spacing);
          std::vector<float> dose(std::size_t(n * n * n));
          for (std::size_t at = 0; at < dose.size(); ++at) {
            dose[at] = float(at % 97);
          }
          double const first = -0.5 * spacing * double(n - 1);
          request.doses = {
              {{n, n, n}, {spacing, spacing, spacing}, {first, first, first}, dose, "Gy"}};
          request.quantities = {iso::dvh::quantity_named(quantity)};
          request.surface = surface;
          request.bins = bins;
          request.memory.reset();
          auto const run = [&] { return jobs::evaluate_structures(request, {}); };
          check_bytes([&] { return run().bytes_needed; });
          if (spacing > 4) {
            request.memory = 2 * smallest_limit(request, run);
            check_bytes([&] {
              auto const streamed = run().streamed.value();
              CHECK(streamed.planes < n);
              CHECK(streamed.device_bytes <= *request.memory);
              return streamed.device_bytes;
            });
          }
        }
      }
    }
  }
}
