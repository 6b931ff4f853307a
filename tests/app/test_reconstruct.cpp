// SPDX-License-Identifier: BSD-3-Clause
#include "kokkos_events.hpp"

#include <iso/core/error.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ct = iso::ct;
namespace files = iso::files;
namespace jobs = iso::jobs;

namespace {

/// The Shepp-Logan head, 60 mm wide.
jobs::reconstruct_request head(std::string const& angles = R"({"range": 360, "count": 90})",
                               int pixels = 48, double offset = 0) {
  jobs::reconstruct_request request;
  request.backend = "serial";
  request.phantom_width = 60;
  request.geometry = files::parse_geometry(
      R"({"type": "circular_cone", "detector": {"pixels": [)" + std::to_string(pixels) +
          R"(, 48], "pitch_mm": [2, 2], "offset_mm": [)" + std::to_string(offset) +
          R"(, 0]}, "source_axis_mm": 300, "source_detector_mm": 450, "angles_deg": )" + angles +
          "}",
      "test");
  request.extent = {40, 40, 40};
  request.spacing = {1.5, 1.5, 1.5};
  return request;
}

}  // namespace

TEST_CASE("the phantom is reconstructed, with the same hash on every backend") {
  std::string first;
  for (auto const& backend : jobs::backend_names()) {
    auto request = head();
    request.backend = backend;
    auto const result = jobs::reconstruct(request, {});
    first = first.empty() ? result.hash : first;
    CHECK(result.hash == first);
    CHECK(result.arc == ct::scan_arc::full);
    CHECK(result.detector == ct::detector_placement::centred);
    REQUIRE(result.error);
    CHECK((*result.error)[0] < 0.03);
    CHECK((*result.error)[1] < 0.09);
    CHECK((*result.error)[0] > 0.001);
  }
}

TEST_CASE("short scans and displaced detectors are seen from the geometry") {
  auto const full = jobs::reconstruct(head(), {});
  auto const brief = jobs::reconstruct(head(R"({"range": 210, "count": 53})"), {});
  CHECK(brief.arc == ct::scan_arc::short_scan);
  CHECK((*brief.error)[0] < 1.3 * (*full.error)[0]);
  auto const half = jobs::reconstruct(head(R"({"range": 360, "count": 90})", 30, 18), {});
  CHECK(half.detector == ct::detector_placement::displaced);
  CHECK((*half.error)[0] < 1.3 * (*full.error)[0]);

  auto ignored = head(R"({"range": 360, "count": 90})", 30, 18);
  ignored.filter.scan.detector = ct::detector_placement::centred;
  CHECK((*jobs::reconstruct(ignored, {}).error)[0] > 3 * (*half.error)[0]);
  auto forced = head(R"({"range": 210, "count": 53})");
  forced.filter.scan.arc = ct::scan_arc::full;
  CHECK_THROWS_WITH_AS(jobs::reconstruct(forced, {}), doctest::Contains("full circle"),
                       iso::invalid_argument);
  auto narrow = head(R"({"range": 183, "count": 60})");
  CHECK_THROWS_WITH_AS(jobs::reconstruct(narrow, {}), doctest::Contains("with a fan of 11.93"),
                       iso::invalid_argument);
  // The head is wider than this detector.
  auto truncated = head(R"({"range": 360, "count": 90})", 28);
  truncated.extent = {20, 20, 40};
  double const without = (*jobs::reconstruct(truncated, {}).error)[0];
  truncated.filter.scan.truncation_correction = 14;
  CHECK((*jobs::reconstruct(truncated, {}).error)[0] < 0.7 * without);
}

TEST_CASE("Hounsfield units for a given attenuation of water") {
  auto request = head();
  auto const plain = jobs::reconstruct(request, {});
  request.table = {0.25, 0};
  auto const hounsfield = jobs::reconstruct(request, {});
  CHECK(hounsfield.hash == plain.hash);  // of what was reconstructed, in 1/mm
  CHECK(plain.volume.unit == "1/mm");
  CHECK(hounsfield.volume.unit == "HU");
  REQUIRE(hounsfield.volume.values.size() == plain.volume.values.size());
  for (std::size_t n = 0; n < plain.volume.values.size(); ++n) {
    CHECK(hounsfield.volume.values[n] ==
          doctest::Approx(1000 * (double(plain.volume.values[n]) - 0.25) / 0.25).epsilon(1e-6));
  }
  request.table = {0, 0};
  CHECK_THROWS_WITH_AS(jobs::reconstruct(request, {}), doctest::Contains("attenuation of water 0"),
                       iso::invalid_argument);
}

TEST_CASE("a volume placed anywhere holds what lies there") {
  auto request = head();
  request.extent = {40, 40, 40};
  request.spacing = {2, 2, 4};
  auto const whole = jobs::reconstruct(request, {}).volume;
  CHECK(whole.origin == std::array<double, 3>{-39, -39, -78});
  CHECK(whole.spacing == std::array<double, 3>{2, 2, 4});
  // A box of it, voxel upon voxel: the same numbers.
  request.extent = {7, 9, 5};
  request.origin = {whole.origin[0] + 2 * 11, whole.origin[1] + 2 * 20, whole.origin[2] + 4 * 16};
  auto const part = jobs::reconstruct(request, {}).volume;
  CHECK(part.origin == *request.origin);
  double most = 0;
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 9; ++j) {
      for (int k = 0; k < 5; ++k) {
        float const there = whole.values[std::size_t(((i + 11) * 40 + j + 20) * 40 + k + 16)];
        float const here = part.values[std::size_t((i * 9 + j) * 5 + k)];
        most = std::max(most, std::abs(double(there)));
        CHECK(here == doctest::Approx(there).epsilon(1e-5).scale(1));
      }
    }
  }
  CHECK(most > 0.01);
}

TEST_CASE("what a reconstruction cannot use is refused") {
  auto const refused = [](auto const& change, char const* words) {
    auto request = head();
    change(request);
    CHECK_THROWS_WITH_AS(jobs::reconstruct(request, {}), doctest::Contains(words),
                         iso::invalid_argument);
  };
  refused([](auto& r) { r.filter.scan.arc = ct::scan_arc(3); }, "arc");
  refused([](auto& r) { r.filter.window = ct::ramp_window(5); }, "window");
  refused([](auto& r) { r.precision = iso::precision(2); }, "precision 2");
  refused(
      [](auto& r) {
        r.phantom_width.reset();
        r.projections.assign(7, 1);
        r.shape = {1, 7, 1};
      },
      "1 views of 7 x 1 readings (the geometry has 90 views of 48 x 48 pixels)");
  // The source stands 300 mm from the axis.
  refused([](auto& r) { r.spacing = {20, 20, 20}; }, "source lies within the volume");
}

TEST_CASE("readings that say nothing are refused") {
  auto request = head();
  request.phantom_width.reset();
  request.shape = {90, 48, 48};
  request.projections.assign(std::size_t(90 * 48 * 48), 0.F);
  CHECK_THROWS_WITH_AS(jobs::reconstruct(request, {}),
                       doctest::Contains("all 207360 readings are zero"), iso::invalid_argument);
  for (float const bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    request.projections[std::size_t((3 * 48 + 5) * 48 + 7)] = bad;
    CHECK_THROWS_WITH_AS(jobs::reconstruct(request, {}),
                         doctest::Contains("view 3, pixel (5, 7): the reading is"),
                         iso::invalid_argument);
  }
  request.projections[std::size_t((3 * 48 + 5) * 48 + 7)] = 1;
  CHECK_NOTHROW(jobs::reconstruct(request, {}));
  request.projections.pop_back();
  CHECK_THROWS_WITH_AS(jobs::reconstruct(request, {}), doctest::Contains("207359 readings"),
                       iso::invalid_argument);
}

TEST_CASE(
    "integers of 16 bits are held and streamed, with the bits of the numbers they stand for") {
  auto request = head();
  request.phantom_width.reset();
  request.shape = {90, 48, 48};
  files::stored_stack stored{request.shape, {}, 1e-4, -0.25};
  std::mt19937 random(7);
  for (int i = 0; i < 90 * 48 * 48; ++i) {
    stored.values.push_back(std::uint16_t(random() % 40000));
    request.projections.push_back(float(std::fma(1e-4, double(stored.values.back()), -0.25)));
  }
  struct call {
    bool adjoint;
    double width;  ///< by which rows are extended
    std::int64_t memory;
  };
  for (auto const& what :
       {call{false, 0, 2'600'000}, call{false, 6, 2'600'000}, call{true, 0, 6'000'000}}) {
    CAPTURE(what.adjoint);
    CAPTURE(what.width);
    auto numbers = request;
    if (what.adjoint) {
      numbers.adjoint_of = ct::projector::joseph_linear;
    }
    numbers.filter.scan.truncation_correction = what.width;
    auto integers = numbers;
    integers.projections.clear();
    integers.stored = stored;
    integers.memory = numbers.memory = what.memory;
    auto const expected = jobs::reconstruct(numbers, {});
    jobs::reconstruct_result found;
    std::int64_t const taken =
        iso::test::peak_bytes_of([&] { found = jobs::reconstruct(integers, {}); });
    CHECK(found.hash == expected.hash);
    CHECK(found.volume.values == expected.volume.values);
    CHECK(found.part_cut == expected.part_cut);
    numbers.memory.reset();
    CHECK(jobs::reconstruct(numbers, {}).hash == expected.hash);
    // Of the stack, Kokkos holds no more than passes through the backend: neither these integers
    // nor numbers of them.
    REQUIRE(found.streaming);
    std::int64_t const volume = 4 * 40 * 40 * 40;
    CHECK(taken <= volume + found.streaming->device_bytes + found.streaming->staging_bytes + 65536);
    // Planned to be carried, and carried: each once.
    auto const& plan = found.streaming->adjoint;
    CHECK(found.streaming->bytes_in == plan.bytes_in);
    std::int64_t const batches = (90 + plan.views - 1) / plan.views;
    CHECK(plan.bytes_in == 2 * 90 * 48 * 48 + (batches - 1) * volume);
  }
  auto refused = request;
  refused.projections.clear();
  refused.stored = stored;
  CHECK_THROWS_WITH_AS(jobs::reconstruct(refused, {}), doctest::Contains("readings of 16 bits"),
                       iso::invalid_argument);
  refused.memory = 2'600'000;
  refused.precision = iso::precision::f64;
  CHECK_THROWS_WITH_AS(jobs::reconstruct(refused, {}), doctest::Contains("in float"),
                       iso::invalid_argument);
}

TEST_CASE("a detector beside the volume is refused, one that sees its end is not") {
  // Parallel beams. The highest voxels lie at 29.25 mm; the lowest row reaches 2 mm, the distance
  // of rows, below the centre of its pixels, which lies 47 mm below the detector's middle.
  auto const blind = [](double offset) {
    auto request = head();
    request.geometry = files::parse_geometry(
        R"({"type": "circular_parallel", "detector": {"pixels": [48, 48], "pitch_mm": [2, 2],
            "offset_mm": [0, )" +
            std::to_string(offset) + R"(]}, "angles_deg": {"range": 180, "count": 30}})",
        "test");
    return jobs::reconstruct(request, {}).blind_views;
  };
  CHECK(blind(0) == 0);
  CHECK(blind(78.2) == 0);
  CHECK(blind(-78.2) == 0);
  for (double const offset : {78.3, -78.3, 2000.0}) {
    CHECK_THROWS_WITH_AS(blind(offset),
                         doctest::Contains("none of the 30 views sees any voxel of the volume"),
                         iso::invalid_argument);
  }
}

TEST_CASE("a reconstruction tells how far it is, and can be stopped") {
  std::vector<double> fractions;
  jobs::observer watch;
  watch.progress = [&](double fraction, std::string const&) { fractions.push_back(fraction); };
  jobs::reconstruct(head(), watch);
  REQUIRE(fractions.size() >= 4);
  CHECK(fractions.front() == 0);
  CHECK(fractions.back() == 1);
  int asked = 0;
  watch.cancelled = [&] { return ++asked == 3; };
  CHECK_THROWS_AS(jobs::reconstruct(head(), watch), iso::cancelled);
}

namespace {

/// Checks that a reconstruction takes the bytes that it says, and no tenth less; of one that is
/// streamed that it tells of these before it runs.
void check_bytes(jobs::reconstruct_request const& request) {
  jobs::observer watch;
  std::vector<std::int64_t> told;
  watch.streams = [&](ct::streaming_report const&, std::int64_t host_bytes) {
    told.push_back(host_bytes);
  };
  std::int64_t asked = 0;
  std::int64_t const taken =
      iso::test::peak_bytes_of([&] { asked = jobs::reconstruct(request, watch).bytes_needed; });
  CHECK(taken <= 1.02 * double(asked));
  CHECK(double(asked) <= 1.1 * double(taken));
  REQUIRE(told.size() == (request.memory ? 1 : 0));
  if (request.memory) {
    // The result is compared with the phantom: with its floats three copies at most, which Kokkos
    // does not count.
    CHECK(told[0] >= asked);
    CHECK(told[0] <= asked + 3 * 4 * 40 * 40 * 40);
  }
}

}  // namespace

TEST_CASE("iterations take the memory that they ask for, and no tenth less") {
  struct method_of {
    ct::iterative_method method;
    ct::iterative_options options;
  };
  auto const of_scan = ct::column_sums::of_scan;
  using enum ct::iterative_method;
  for (auto const& of :
       {method_of{sirt, ct::sart_options{}}, method_of{sart, ct::sart_options{.block_views = 1}},
        method_of{sart, ct::sart_options{.block_views = 1, .columns = of_scan}},
        method_of{os_sart, ct::sart_options{.block_views = 8}},
        method_of{os_sart, ct::sart_options{.block_views = 30}},
        method_of{os_sart, ct::sart_options{.block_views = 5, .columns = of_scan}},
        method_of{cgls, ct::cgls_options{}}, method_of{lsqr, ct::lsqr_options{}},
        method_of{mlem, ct::mlem_options{}}, method_of{osem, ct::mlem_options{.block_views = 8}},
        method_of{osem, ct::mlem_options{.block_views = 20}},
        method_of{tv, ct::total_variation_options{.weight = 0.01}}}) {
    // A turned detector is scattered, with more scratch a view.
    for (double const roll : {0.0, 2.0}) {
      CAPTURE(iso::to_word(of.method));
      CAPTURE(roll);
      auto request = head();
      request.geometry = files::parse_geometry(
          R"({"type": "circular_cone", "detector": {"pixels": [48, 48], "pitch_mm": [2, 2],
              "turn_deg": {"roll": )" +
              std::to_string(roll) + R"(}}, "source_axis_mm": 300, "source_detector_mm": 450,
              "angles_deg": {"range": 360, "count": 40}})",
          "test");
      request.iterative = jobs::iterative_request{
          .method = of.method, .options = of.options, .rules = {.iterations = 2}};
      check_bytes(request);
      std::visit([](auto& options) { options.projector.sum = iso::summation::reproducible; },
                 request.iterative->options);
      // What passes through the backend is in this memory too, and buffers to copy from.
      request.memory = 1;
      try {
        jobs::reconstruct(request, {});
        FAIL("a limit of one byte was taken");
      } catch (iso::out_of_memory const& refusal) {
        request.memory = std::int64_t(refusal.requested()) * 3 / 2;
      }
      check_bytes(request);
    }
  }
}

TEST_CASE("a phantom that is larger than the volume is told of") {
  auto request = head(R"({"range": 360, "count": 12})");
  request.iterative = jobs::iterative_request{.rules = {.iterations = 1}};
  CHECK(jobs::reconstruct(request, {}).voxels_wanted[0] == 0);
  request.extent = {16, 16, 16};
  CHECK(jobs::reconstruct(request, {}).voxels_wanted[0] > 16);
}

TEST_CASE("readings that equal the largest are told of where noise is to end a run") {
  auto request = head(R"({"range": 360, "count": 12})");
  request.phantom_width.reset();
  request.shape = {12, 48, 48};
  request.iterative = jobs::iterative_request{.rules = {.iterations = 1}, .stop_noise = 100};
  // Counts of nothing that were put to one read ln 100.
  auto const opaque = float(std::log(100.0));
  files::projection_stack<float> mask;
  mask.extent = {12, 48, 48};
  std::int64_t number = 0;
  for (int i = 0; i < 12 * 48 * 48; ++i) {
    bool const clipped = i % 50 == 7;
    number += clipped ? 1 : 0;
    request.projections.push_back(clipped ? opaque : 0.5F + 1e-4F * float(i % 4001));
    mask.values.push_back(clipped ? 0.0F : 1.0F);
  }
  auto const told = jobs::reconstruct(request, {});
  CHECK(told.clipped_readings == number);
  CHECK(told.largest_reading == double(opaque));
  CHECK(told.are_clipped_left_out);
  CHECK(told.dark_readings == 0);
  auto masked = request;
  masked.iterative->reading_mask = mask;
  // Six of the rest equal its largest.
  CHECK(jobs::reconstruct(masked, {}).clipped_readings == 0);
  // Below the reading of one photon it is a count; above it, none in any case.
  request.iterative->stop_noise = 200;
  auto const counted = jobs::reconstruct(request, {});
  CHECK(counted.clipped_readings == number);
  CHECK(!counted.are_clipped_left_out);
  request.iterative->stop_noise = 50;
  auto const above = jobs::reconstruct(request, {});
  CHECK(above.clipped_readings == 0);
  CHECK(above.dark_readings == number);
  request.iterative->stop_noise.reset();
  CHECK(jobs::reconstruct(request, {}).clipped_readings == 0);
}

TEST_CASE("counts of nothing that were put to one add nothing to the noise that ends a run") {
  double const photons = 100;
  auto request = head(R"({"range": 360, "count": 12})");
  request.phantom_width.reset();
  request.shape = {12, 48, 48};
  request.iterative = jobs::iterative_request{.rules = {.iterations = 1}, .stop_noise = photons};
  std::mt19937 random(7);
  double squares = 0;
  int dark = 0;
  int const all = 12 * 48 * 48;
  for (int i = 0; i < all; ++i) {
    double const truth = 5.3 * double(i) / double(all);
    std::poisson_distribution<int> counts(photons * std::exp(-truth));
    int const count = counts(random);
    request.projections.push_back(float(std::log(photons / std::max(count, 1))));
    double const off = double(request.projections.back()) - truth;
    squares += count > 1 ? off * off : 0;
    dark += count == 0 ? 1 : 0;
  }
  CHECK(dark > 0.10 * all);
  CHECK(dark < 0.12 * all);
  for (auto const precision : {iso::precision::f32, iso::precision::f64}) {
    request.precision = precision;
    // To first order; counted like the others they would make it 1.72.
    CHECK(jobs::reconstruct(request, {}).noise / std::sqrt(squares) ==
          doctest::Approx(1).epsilon(0.1));
  }
}
