// SPDX-License-Identifier: BSD-3-Clause
// The real CT of scripts/get_example_data.sh, where it is: its projections against sums of its
// voxels, read here by another way.
#include "file_support.hpp"
#include "not_run.hpp"

#include <iso/files/geometry_file.hpp>
#include <iso/files/hounsfield.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/project.hpp>

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace files = iso::files;
namespace jobs = iso::jobs;

namespace {

std::string inflated(char const* path) {
  gzFile const file = gzopen(path, "rb");
  std::string bytes;
  std::vector<char> piece(std::size_t(1) << 20);
  for (int got = 1; file != nullptr && got > 0;) {
    got = gzread(file, piece.data(), unsigned(piece.size()));
    bytes.append(piece.data(), std::size_t(std::max(got, 0)));
  }
  gzclose(file);
  return bytes;
}

template <class T>
T number(std::string const& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// CT number to 1/mm as docs/formats.md has it, with the bone of 100 keV: lines through three
/// points, the last one goes on.
double attenuation(double hu) {
  double const water = 0.01707;
  return hu <= -1000 ? 0.0
         : hu <= 0   ? water * (hu + 1000) / 1000
                     : water + (0.035616 - water) * hu / 1590;
}

/// Voxels as NIfTI-1 has them, x fastest, along axes whose signs `srow` gives.
struct ct {
  explicit ct(char const* path) : bytes(inflated(path)) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      n[axis] = number<std::int16_t>(bytes, 42 + 2 * axis);
      spacing[axis] = number<float>(bytes, 80 + 4 * axis);
      forward[axis] = (number<float>(bytes, 280 + 20 * axis) < 0) == (axis < 2);
    }
    slope = number<float>(bytes, 112);
    shift = number<float>(bytes, 116);
    first = std::size_t(number<float>(bytes, 108));
  }
  /// Of the voxel (x, y, z) counted from the right, front and foot ends, HU.
  [[nodiscard]] double at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    std::int64_t const i = forward[0] ? x : n[0] - 1 - x;
    std::int64_t const j = forward[1] ? y : n[1] - 1 - y;
    std::int64_t const k = forward[2] ? z : n[2] - 1 - z;
    double const stored =
        number<std::int16_t>(bytes, first + 2 * std::size_t(i + n[0] * (j + n[1] * k)));
    return slope == 0 ? stored : double(slope) * stored + double(shift);
  }

  std::string bytes;
  std::array<std::int64_t, 3> n{};
  std::array<double, 3> spacing{};
  std::array<bool, 3> forward{};
  float slope = 0, shift = 0;
  std::size_t first = 0;
};

char const* ct_path() {
  char const* const path = std::getenv("ISO_TEST_CT");
  if (path == nullptr || !std::filesystem::exists(path)) {
    iso::test::not_run(
        "rays through the chest CT (it is not there); run scripts/get_example_data.sh");
    return nullptr;
  }
  return path;
}

files::host_volume read_centred(char const* path) {
  auto volume = files::read_volume(path);
  files::to_attenuation(volume.values, {0.01707, 0.035616});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    volume.origin[axis] = -0.5 * double(volume.extent[axis] - 1) * volume.spacing[axis];
  }
  return volume;
}

}  // namespace

TEST_CASE("rays along the axes of the chest CT are the sums of its columns") {
  char const* const path = ct_path();
  if (path == nullptr) {
    return;
  }
  ct const own(path);
  REQUIRE(number<std::int16_t>(own.bytes, 70) == 4);  // 16-bit integers
  jobs::project_request request;
  request.volume = read_centred(path);
  auto const [nx, ny, nz] = own.n;
  REQUIRE(request.volume.extent == own.n);
  // At 0 degrees rays run along x and u along +y; at 90 degrees along y, and u along -x. Pixels are
  // voxels as seen from there.
  for (int const quarter : {0, 1}) {
    std::int64_t const nu = quarter == 0 ? ny : nx;
    request.geometry = files::parse_geometry(
        R"({"type": "circular_parallel", "detector": {"pixels": [)" + std::to_string(nu) + ", " +
            std::to_string(nz) + R"(], "pitch_mm": [)" + std::to_string(own.spacing[1 - quarter]) +
            ", " + std::to_string(own.spacing[2]) + R"(]}, "angles_deg": [)" +
            std::to_string(90 * quarter) + "]}",
        "test");
    std::vector<double> sums;
    for (std::int64_t u = 0; u < nu; ++u) {
      for (std::int64_t z = 0; z < nz; ++z) {
        double sum = 0;
        for (std::int64_t s = 0; s < (quarter == 0 ? nx : ny); ++s) {
          sum += attenuation(quarter == 0 ? own.at(s, u, z) : own.at(nx - 1 - u, s, z));
        }
        sums.push_back(sum * own.spacing[std::size_t(quarter)]);
      }
    }
    double const largest = *std::max_element(sums.begin(), sums.end());
    CHECK(largest > 1);
    for (auto const& backend : jobs::backend_names()) {
      for (auto const method : {iso::ct::projector::siddon, iso::ct::projector::joseph_linear}) {
        CAPTURE(backend);
        CAPTURE(iso::to_word(method));
        CAPTURE(quarter);
        request.backend = backend;
        request.method = method;
        request.precision = iso::precision::f64;
        auto const result = jobs::project(request, {});
        auto const& values = std::get<std::vector<double>>(result.values);
        REQUIRE(values.size() == sums.size());
        double worst = 0;
        double least = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
          worst = std::max(worst, std::abs(values[i] - sums[i]));
          least = std::min(least, values[i]);
        }
        // Voxels are floats: each is right to 2^-24 of itself, and so is their sum.
        CHECK(worst <= 2 * 0x1p-24 * largest);
        CHECK(least >= 0);
      }
    }
  }
}

TEST_CASE("cone-beam projections of the chest CT are finite, not negative, and the same bits") {
  char const* const path = ct_path();
  if (path == nullptr) {
    return;
  }
  jobs::project_request request;
  request.volume = read_centred(path);
  request.geometry =
      files::read_geometry(std::filesystem::path(ISO_EXAMPLE_GEOMETRIES) / "chest_ct.json");
  // No ray is longer than the volume's diagonal through its densest voxel.
  double diagonal = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double const side = double(request.volume.extent[axis]) * request.volume.spacing[axis];
    diagonal += side * side;
  }
  double const most = std::sqrt(diagonal) * double(*std::max_element(request.volume.values.begin(),
                                                                     request.volume.values.end()));
  std::optional<std::string> hash;
  for (auto const& backend : jobs::backend_names()) {
    CAPTURE(backend);
    request.backend = backend;
    auto const result = jobs::project(request, {});
    auto const& values = std::get<std::vector<float>>(result.values);
    CHECK(std::all_of(values.begin(), values.end(), [&](float x) { return x >= 0 && x <= most; }));
    CHECK(std::any_of(values.begin(), values.end(), [](float x) { return x > 1; }));
    CHECK(hash.value_or(result.hash) == result.hash);
    hash = result.hash;
  }
}
